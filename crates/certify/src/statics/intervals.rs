//! Interval arithmetic on integers as signed numbers of their own width. Results include what the operation gives for every pair
//! of operands; whatever would leave the range wraps around, and then the result is the whole range.

use raddle_facts::Interval;
use raddle_ir::{BinOp, IcmpPred, Ty};

/// The width of integers that intervals speak of.
pub(crate) fn int_bits(ty: Ty) -> Option<u32> {
    match ty {
        Ty::Int(bits) if (1..=64).contains(&bits) => Some(u32::from(bits)),
        _ => None,
    }
}

/// All values of the type.
pub(crate) fn range(ty: Ty) -> Interval {
    int_bits(ty).map_or(Interval::ANY, range_of)
}

fn range_of(bits: u32) -> Interval {
    Interval { low: i64::MIN >> (64 - bits), high: i64::MAX >> (64 - bits) }
}

pub(crate) fn single(value: i64) -> Interval {
    Interval { low: value, high: value }
}

pub(crate) fn join(a: Interval, b: Interval) -> Interval {
    Interval { low: a.low.min(b.low), high: a.high.max(b.high) }
}

pub(crate) fn meet(a: Interval, b: Interval) -> Option<Interval> {
    let (low, high) = (a.low.max(b.low), a.high.min(b.high));
    (low <= high).then_some(Interval { low, high })
}

pub(crate) fn includes(outer: Interval, inner: Interval) -> bool {
    outer.low <= inner.low && inner.high <= outer.high
}

/// The results as numbers without width, if none of them leaves the signed range of the type.
pub(crate) fn without_wrapping(op: BinOp, bits: u32, a: Interval, b: Interval) -> Option<Interval> {
    let apply = |x: i64, y: i64| -> Option<i128> {
        let (x, y) = (i128::from(x), i128::from(y));
        match op {
            BinOp::Add => Some(x + y),
            BinOp::Sub => Some(x - y),
            BinOp::Mul => Some(x * y),
            BinOp::Shl if 0 <= y && y < i128::from(bits) => x.checked_mul(1 << y),
            _ => None,
        }
    };
    // Each of these is monotonic in either operand while the other stands still, so the corners are the extremes.
    let corners =
        [apply(a.low, b.low)?, apply(a.low, b.high)?, apply(a.high, b.low)?, apply(a.high, b.high)?];
    let (low, high) = (*corners.iter().min()?, *corners.iter().max()?);
    let all = range_of(bits);
    let fits = i128::from(all.low) <= low && high <= i128::from(all.high);
    fits.then_some(Interval { low: low as i64, high: high as i64 })
}

pub(crate) fn binary(op: BinOp, ty: Ty, a: Interval, b: Interval) -> Interval {
    let Some(bits) = int_bits(ty) else { return Interval::ANY };
    let all = range_of(bits);
    let from_zero = |high: i64| Interval { low: 0, high };
    let natural = a.low >= 0 && b.low >= 0;
    let constant = (b.low == b.high).then_some(b.low);
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl => without_wrapping(op, bits, a, b).unwrap_or(all),
        BinOp::And if natural => from_zero(a.high.min(b.high)),
        BinOp::And if b.low >= 0 => from_zero(b.high),
        BinOp::And if a.low >= 0 => from_zero(a.high),
        BinOp::Or | BinOp::Xor if natural => from_zero(all_ones(a.high.max(b.high))),
        BinOp::LShr => match constant {
            _ if natural => from_zero(a.high >> b.low.min(63)),
            // As an unsigned number the left side is below 2^bits.
            Some(by) if 0 < by && by < i64::from(bits) => from_zero(all.high >> (by - 1)),
            _ => all,
        },
        BinOp::AShr => match constant {
            Some(by) if (0..64).contains(&by) => {
                let by = by.min(i64::from(bits) - 1);
                Interval { low: a.low >> by, high: a.high >> by }
            }
            _ => all,
        },
        BinOp::URem | BinOp::SRem | BinOp::UDiv | BinOp::SDiv => match constant {
            Some(by) if by > 0 => divided(op, a, by).unwrap_or(all),
            _ => all,
        },
        BinOp::And | BinOp::Or | BinOp::Xor => all,
    }
}

/// By a positive constant.
fn divided(op: BinOp, a: Interval, by: i64) -> Option<Interval> {
    Some(match op {
        BinOp::URem if a.low < 0 => Interval { low: 0, high: by - 1 },
        BinOp::URem => Interval { low: 0, high: a.high.min(by - 1) },
        BinOp::SRem => {
            let low = if a.low >= 0 { 0 } else { a.low.max(1 - by) };
            Interval { low, high: a.high.clamp(0, by - 1) }
        }
        BinOp::UDiv if a.low < 0 => return None,
        BinOp::UDiv | BinOp::SDiv => Interval { low: a.low / by, high: a.high / by },
        _ => return None,
    })
}

/// The smallest 2^k - 1 that is not below a number that is not negative.
fn all_ones(value: i64) -> i64 {
    if value <= 0 { 0 } else { i64::MAX >> (value.leading_zeros() - 1) }
}

/// What a comparison gives, if it is the same for all pairs of values.
pub(crate) fn compare(pred: IcmpPred, a: Interval, b: Interval) -> Option<bool> {
    let below = |a: Interval, b: Interval| {
        if a.high < b.low {
            Some(true)
        } else if a.low >= b.high {
            Some(false)
        } else {
            None
        }
    };
    let equal = || {
        if meet(a, b).is_none() {
            Some(false)
        } else if a.low == a.high && a == b {
            Some(true)
        } else {
            None
        }
    };
    // Signed and unsigned order agree on numbers that are not negative.
    let natural = a.low >= 0 && b.low >= 0;
    match pred {
        IcmpPred::Eq => equal(),
        IcmpPred::Ne => equal().map(|is| !is),
        IcmpPred::Ult | IcmpPred::Ule | IcmpPred::Ugt | IcmpPred::Uge if !natural => None,
        IcmpPred::Slt | IcmpPred::Ult => below(a, b),
        IcmpPred::Sge | IcmpPred::Uge => below(a, b).map(|is| !is),
        IcmpPred::Sgt | IcmpPred::Ugt => below(b, a),
        IcmpPred::Sle | IcmpPred::Ule => below(b, a).map(|is| !is),
    }
}

/// A superset of the values of `a` for which `a pred b` holds for some `b`; `None` if there is none.
pub(crate) fn narrowed(pred: IcmpPred, a: Interval, b: Interval) -> Option<Interval> {
    let up_to = |high: i64| meet(a, Interval { low: i64::MIN, high });
    let from = |low: i64| meet(a, Interval { low, high: i64::MAX });
    match pred {
        IcmpPred::Eq => meet(a, b),
        IcmpPred::Ne if b.low == b.high => {
            let low = if a.low == b.low { a.low.checked_add(1)? } else { a.low };
            let high = if a.high == b.low { a.high.checked_sub(1)? } else { a.high };
            (low <= high).then_some(Interval { low, high })
        }
        IcmpPred::Slt => up_to(b.high.checked_sub(1)?),
        IcmpPred::Sle => up_to(b.high),
        IcmpPred::Sgt => from(b.low.checked_add(1)?),
        IcmpPred::Sge => from(b.low),
        // Below a number that is not negative, as unsigned numbers: not negative either.
        IcmpPred::Ult if b.low >= 0 => meet(a, Interval { low: 0, high: b.high.checked_sub(1)? }),
        IcmpPred::Ule if b.low >= 0 => meet(a, Interval { low: 0, high: b.high }),
        IcmpPred::Ugt if a.low >= 0 && b.low >= 0 => from(b.low.checked_add(1)?),
        IcmpPred::Uge if a.low >= 0 && b.low >= 0 => from(b.low),
        IcmpPred::Ne | IcmpPred::Ult | IcmpPred::Ule | IcmpPred::Ugt | IcmpPred::Uge => Some(a),
    }
}

/// `b pred' a` for `a pred b`.
pub(crate) fn mirrored(pred: IcmpPred) -> IcmpPred {
    match pred {
        IcmpPred::Eq | IcmpPred::Ne => pred,
        IcmpPred::Ult => IcmpPred::Ugt,
        IcmpPred::Ule => IcmpPred::Uge,
        IcmpPred::Ugt => IcmpPred::Ult,
        IcmpPred::Uge => IcmpPred::Ule,
        IcmpPred::Slt => IcmpPred::Sgt,
        IcmpPred::Sle => IcmpPred::Sge,
        IcmpPred::Sgt => IcmpPred::Slt,
        IcmpPred::Sge => IcmpPred::Sle,
    }
}

/// What holds where `pred` does not.
pub(crate) fn negated(pred: IcmpPred) -> IcmpPred {
    match pred {
        IcmpPred::Eq => IcmpPred::Ne,
        IcmpPred::Ne => IcmpPred::Eq,
        IcmpPred::Ult => IcmpPred::Uge,
        IcmpPred::Ule => IcmpPred::Ugt,
        IcmpPred::Ugt => IcmpPred::Ule,
        IcmpPred::Uge => IcmpPred::Ult,
        IcmpPred::Slt => IcmpPred::Sge,
        IcmpPred::Sle => IcmpPred::Sgt,
        IcmpPred::Sgt => IcmpPred::Sle,
        IcmpPred::Sge => IcmpPred::Slt,
    }
}

#[cfg(test)]
mod tests {
    use super::{binary, compare, mirrored, narrowed, negated, without_wrapping};
    use crate::statics::fold::{compared, folded};
    use raddle_facts::Interval;
    use raddle_ir::{BinOp, IcmpPred, Ty};

    const BITS: u32 = 4;

    fn intervals() -> Vec<Interval> {
        (-8..8).flat_map(|low| (low..8).map(move |high| Interval { low, high })).collect()
    }

    #[test]
    fn four_bit_results_are_included() {
        use BinOp::{AShr, Add, And, LShr, Mul, Or, SDiv, SRem, Shl, Sub, UDiv, URem, Xor};
        for op in [Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor] {
            for a in intervals() {
                for b in intervals() {
                    let said = binary(op, Ty::Int(BITS as u8), a, b);
                    let plain = without_wrapping(op, BITS, a, b);
                    for x in a.low..=a.high {
                        for y in b.low..=b.high {
                            let Some(value) = folded(op, BITS, x, y) else { continue };
                            assert!(said.low <= value && value <= said.high, "{op:?} {x} {y}: {said:?}");
                            if plain.is_some() {
                                let exact = match op {
                                    Add => x + y,
                                    Sub => x - y,
                                    Mul => x * y,
                                    _ => x << y,
                                };
                                assert_eq!(exact, value, "{op:?} {x} {y} does not wrap");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn four_bit_comparisons_are_decided_and_narrowed_by_all_values() {
        use IcmpPred::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        for pred in [Eq, Ne, Ult, Ule, Ugt, Uge, Slt, Sle, Sgt, Sge] {
            for a in intervals() {
                for b in intervals() {
                    let (said, left) = (compare(pred, a, b), narrowed(pred, a, b));
                    for x in a.low..=a.high {
                        for y in b.low..=b.high {
                            let holds = compared(pred, BITS, x, y);
                            assert_eq!(holds, compared(mirrored(pred), BITS, y, x));
                            assert_ne!(holds, compared(negated(pred), BITS, x, y));
                            assert!(said.is_none_or(|said| said == holds), "{x} {pred:?} {y}: {said:?}");
                            let kept = left.is_some_and(|n| n.low <= x && x <= n.high);
                            assert!(kept || !holds, "{x} {pred:?} {y}: {left:?}");
                        }
                    }
                }
            }
        }
    }
}
