//! Interval arithmetic on registers as signed numbers of their own width.
//!
//! *May*: a result includes what the instruction gives for every pair of operand values. What would leave the type's range wraps
//! around (A-WRAP), and then the result is the whole range.

use raddle_facts::Interval;
use raddle_ir::{BinOp, IcmpPred, Ty};

/// Bits of an integer type that intervals and terms speak of; `None` for pointers, floats and integers beyond 64 bits.
pub(crate) fn int_bits(ty: Ty) -> Option<u32> {
    match ty {
        Ty::Int(bits) if bits <= 64 => Some(u32::from(bits)),
        _ => None,
    }
}

/// All values of the type.
pub(crate) fn range(ty: Ty) -> Interval {
    match int_bits(ty) {
        Some(bits) => range_of_bits(bits),
        None => Interval::ANY,
    }
}

fn range_of_bits(bits: u32) -> Interval {
    Interval { low: i64::MIN >> (64 - bits), high: i64::MAX >> (64 - bits) }
}

pub(crate) fn single(value: i64) -> Interval {
    Interval { low: value, high: value }
}

pub(crate) fn join(a: Interval, b: Interval) -> Interval {
    Interval { low: a.low.min(b.low), high: a.high.max(b.high) }
}

/// `None` if they share no value.
pub(crate) fn meet(a: Interval, b: Interval) -> Option<Interval> {
    let (low, high) = (a.low.max(b.low), a.high.min(b.high));
    (low <= high).then_some(Interval { low, high })
}

pub(crate) fn includes(outer: Interval, inner: Interval) -> bool {
    outer.low <= inner.low && inner.high <= outer.high
}

/// The result, or `None` if some result leaves the signed range of the type.
pub(crate) fn exact(op: BinOp, bits: u32, a: Interval, b: Interval) -> Option<Interval> {
    let wide = |v: i64| i128::from(v);
    let (low, high) = match op {
        BinOp::Add => (wide(a.low) + wide(b.low), wide(a.high) + wide(b.high)),
        BinOp::Sub => (wide(a.low) - wide(b.high), wide(a.high) - wide(b.low)),
        BinOp::Mul => corners(a, b, |x, y| x * y),
        BinOp::Shl if 0 <= b.low && b.high < i64::from(bits) => {
            corners(a, b, |x, y| x.checked_mul(1 << y).unwrap_or(if x < 0 { i128::MIN } else { i128::MAX }))
        }
        _ => return None,
    };
    let range = range_of_bits(bits);
    let fits = wide(range.low) <= low && high <= wide(range.high);
    fits.then_some(Interval { low: low as i64, high: high as i64 })
}

fn corners(a: Interval, b: Interval, f: impl Fn(i128, i128) -> i128) -> (i128, i128) {
    let all = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)]
        .map(|(x, y)| f(i128::from(x), i128::from(y)));
    (all.into_iter().min().expect("four corners"), all.into_iter().max().expect("four corners"))
}

pub(crate) fn binary(op: BinOp, ty: Ty, a: Interval, b: Interval) -> Interval {
    let Some(bits) = int_bits(ty) else { return Interval::ANY };
    let all = range_of_bits(bits);
    let positive_constant = (b.low == b.high && b.low > 0).then_some(b.low);
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl => exact(op, bits, a, b).unwrap_or(all),
        BinOp::And if a.low >= 0 && b.low >= 0 => Interval { low: 0, high: a.high.min(b.high) },
        BinOp::And if b.low >= 0 => Interval { low: 0, high: b.high },
        BinOp::And if a.low >= 0 => Interval { low: 0, high: a.high },
        BinOp::Or | BinOp::Xor if a.low >= 0 && b.low >= 0 => {
            Interval { low: 0, high: ones(a.high.max(b.high)) }
        }
        BinOp::LShr if a.low >= 0 && b.low >= 0 => Interval { low: 0, high: a.high >> b.low.min(63) },
        BinOp::LShr if positive_constant.is_some_and(|by| by < i64::from(bits)) => {
            let by = positive_constant.expect("just seen");
            Interval { low: 0, high: (all.high >> (by - 1)).max(0) }
        }
        BinOp::AShr if b.low == b.high && (0..64).contains(&b.low) => {
            let by = b.low.min(i64::from(bits) - 1);
            Interval { low: a.low >> by, high: a.high >> by }
        }
        BinOp::URem | BinOp::SRem if a.low >= 0 && positive_constant.is_some() => {
            let by = positive_constant.expect("just seen");
            Interval { low: 0, high: a.high.min(by - 1) }
        }
        BinOp::URem if positive_constant.is_some() => {
            Interval { low: 0, high: positive_constant.expect("just seen") - 1 }
        }
        BinOp::SRem if positive_constant.is_some() => {
            let by = positive_constant.expect("just seen");
            let low = if a.low >= 0 { 0 } else { a.low.max(1 - by) };
            Interval { low, high: a.high.clamp(0, by - 1) }
        }
        BinOp::UDiv if a.low >= 0 && positive_constant.is_some() => {
            let by = positive_constant.expect("just seen");
            Interval { low: a.low / by, high: a.high / by }
        }
        BinOp::SDiv if positive_constant.is_some() => {
            let by = positive_constant.expect("just seen");
            Interval { low: a.low / by, high: a.high / by }
        }
        _ => all,
    }
}

/// The smallest number of the form 2^k - 1 that is not below `value`.
fn ones(value: i64) -> i64 {
    debug_assert!(value >= 0);
    match value {
        0 => 0,
        _ => i64::MAX >> (value.leading_zeros() - 1),
    }
}

/// What a comparison gives for all pairs of values, if it is the same for all.
pub(crate) fn compare(pred: IcmpPred, a: Interval, b: Interval) -> Option<bool> {
    // Signed and unsigned order agree on numbers that are not negative.
    let natural = a.low >= 0 && b.low >= 0;
    match pred {
        IcmpPred::Eq | IcmpPred::Ne => {
            let equal = if a.high < b.low || b.high < a.low {
                false
            } else if a.low == a.high && a == b {
                true
            } else {
                return None;
            };
            Some(equal == (pred == IcmpPred::Eq))
        }
        IcmpPred::Ult | IcmpPred::Ule | IcmpPred::Ugt | IcmpPred::Uge if !natural => None,
        IcmpPred::Slt | IcmpPred::Ult => less(a, b),
        IcmpPred::Sge | IcmpPred::Uge => less(a, b).map(|is| !is),
        IcmpPred::Sgt | IcmpPred::Ugt => less(b, a),
        IcmpPred::Sle | IcmpPred::Ule => less(b, a).map(|is| !is),
    }
}

fn less(a: Interval, b: Interval) -> Option<bool> {
    if a.high < b.low {
        Some(true)
    } else if a.low >= b.high {
        Some(false)
    } else {
        None
    }
}

/// The values of `a` for which `a pred b` can hold for some `b`; `None` if there is none.
pub(crate) fn narrow(pred: IcmpPred, a: Interval, b: Interval) -> Option<Interval> {
    let up_to = |high: Option<i64>| meet(a, Interval { low: i64::MIN, high: high? });
    let from = |low: Option<i64>| meet(a, Interval { low: low?, high: i64::MAX });
    match pred {
        IcmpPred::Eq => meet(a, b),
        IcmpPred::Ne if b.low == b.high => {
            let low = if a.low == b.low { a.low.checked_add(1)? } else { a.low };
            let high = if a.high == b.low { a.high.checked_sub(1)? } else { a.high };
            (low <= high).then_some(Interval { low, high })
        }
        IcmpPred::Ne => Some(a),
        IcmpPred::Slt => up_to(b.high.checked_sub(1)),
        IcmpPred::Sle => up_to(Some(b.high)),
        IcmpPred::Sgt => from(b.low.checked_add(1)),
        IcmpPred::Sge => from(Some(b.low)),
        // Below a number that is not negative, as unsigned numbers: not negative either.
        IcmpPred::Ult if b.low >= 0 => meet(a, Interval { low: 0, high: b.high.checked_sub(1)? }),
        IcmpPred::Ule if b.low >= 0 => meet(a, Interval { low: 0, high: b.high }),
        IcmpPred::Ugt if a.low >= 0 && b.low >= 0 => from(b.low.checked_add(1)),
        IcmpPred::Uge if a.low >= 0 && b.low >= 0 => from(Some(b.low)),
        IcmpPred::Ult | IcmpPred::Ule | IcmpPred::Ugt | IcmpPred::Uge => Some(a),
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
    use super::{binary, compare, exact, includes, narrow};
    use raddle_facts::Interval;
    use raddle_ir::{BinOp, IcmpPred, Ty};

    const BITS: u32 = 4;

    fn wrap(v: i64) -> i64 {
        v << (64 - BITS) >> (64 - BITS)
    }

    fn unsigned(v: i64) -> i64 {
        v & ((1 << BITS) - 1)
    }

    fn apply(op: BinOp, a: i64, b: i64) -> Option<i64> {
        let (ua, ub) = (unsigned(a), unsigned(b));
        Some(wrap(match op {
            BinOp::Add => a + b,
            BinOp::Sub => a - b,
            BinOp::Mul => a * b,
            BinOp::UDiv => ua.checked_div(ub)?,
            BinOp::SDiv => a.checked_div(b)?,
            BinOp::URem => ua.checked_rem(ub)?,
            BinOp::SRem => a.checked_rem(b)?,
            BinOp::Shl => {
                if ub >= i64::from(BITS) {
                    0
                } else {
                    ua << ub
                }
            }
            BinOp::LShr => {
                if ub >= i64::from(BITS) {
                    0
                } else {
                    ua >> ub
                }
            }
            BinOp::AShr => a >> ub.min(i64::from(BITS) - 1),
            BinOp::And => a & b,
            BinOp::Or => a | b,
            BinOp::Xor => a ^ b,
        }))
    }

    fn holds(pred: IcmpPred, a: i64, b: i64) -> bool {
        let (ua, ub) = (unsigned(a), unsigned(b));
        match pred {
            IcmpPred::Eq => a == b,
            IcmpPred::Ne => a != b,
            IcmpPred::Ult => ua < ub,
            IcmpPred::Ule => ua <= ub,
            IcmpPred::Ugt => ua > ub,
            IcmpPred::Uge => ua >= ub,
            IcmpPred::Slt => a < b,
            IcmpPred::Sle => a <= b,
            IcmpPred::Sgt => a > b,
            IcmpPred::Sge => a >= b,
        }
    }

    fn intervals() -> Vec<Interval> {
        (-8..8).flat_map(|low| (low..8).map(move |high| Interval { low, high })).collect()
    }

    #[test]
    fn results_of_four_bit_operations_are_included() {
        use BinOp::{AShr, Add, And, LShr, Mul, Or, SDiv, SRem, Shl, Sub, UDiv, URem, Xor};
        for op in [Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor] {
            for a in intervals() {
                for b in intervals() {
                    let said = binary(op, Ty::Int(BITS as u8), a, b);
                    let exact = exact(op, BITS, a, b);
                    for x in a.low..=a.high {
                        for y in b.low..=b.high {
                            let Some(value) = apply(op, x, y) else { continue };
                            assert!(said.low <= value && value <= said.high, "{op:?} {x} {y}: {said:?}");
                            if exact.is_some() {
                                let plain = match op {
                                    Add => x + y,
                                    Sub => x - y,
                                    Mul => x * y,
                                    _ => x << y,
                                };
                                assert_eq!(plain, value, "{op:?} {x} {y} does not wrap");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn comparisons_are_decided_and_narrowed_by_all_values() {
        use IcmpPred::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        for pred in [Eq, Ne, Ult, Ule, Ugt, Uge, Slt, Sle, Sgt, Sge] {
            for a in intervals() {
                for b in intervals() {
                    let said = compare(pred, a, b);
                    let narrowed = narrow(pred, a, b);
                    assert!(narrowed.is_none_or(|n| includes(a, n)));
                    for x in a.low..=a.high {
                        for y in b.low..=b.high {
                            let holds = holds(pred, x, y);
                            assert!(said.is_none_or(|said| said == holds), "{x} {pred:?} {y}: {said:?}");
                            let kept = narrowed.is_some_and(|n| n.low <= x && x <= n.high);
                            assert!(kept || !holds, "{x} {pred:?} {y}: {narrowed:?}");
                        }
                    }
                }
            }
        }
    }
}
