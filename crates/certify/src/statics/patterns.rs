//! Arithmetic on offset patterns. Results include all offsets that the operation can give; comparisons never say yes wrongly.

use raddle_facts::Offsets;

/// Every offset from the pointer on.
pub(crate) const FORWARD: Offsets = Offsets { anchor: 0, stride: 1, low: 0, high: i64::MAX };

/// Whether the pattern is written as it should be: stride 0 is the anchor alone, and the bounds are not crossed.
pub(crate) fn is_well_formed(p: Offsets) -> bool {
    p.low <= p.high && (p.stride != 0 || (p.low == p.anchor && p.high == p.anchor))
}

/// The same members, with bounds that are members where they are finite.
pub(crate) fn normal(p: Offsets) -> Offsets {
    if p.stride == 0 {
        return p;
    }
    let stride = i128::from(p.stride);
    let first = i128::from(p.low) + (i128::from(p.anchor) - i128::from(p.low)).rem_euclid(stride);
    let last = i128::from(p.high) - (i128::from(p.high) - i128::from(p.anchor)).rem_euclid(stride);
    let low = if p.low == i64::MIN { i64::MIN } else { i64::try_from(first).unwrap_or(i64::MAX) };
    let high = if p.high == i64::MAX { i64::MAX } else { i64::try_from(last).unwrap_or(i64::MIN) };
    if low == high { Offsets::exact(low) } else { Offsets { low, high, ..p } }
}

/// All sums of a member of each. Bounds at the ends of the range mean "none".
pub(crate) fn sum(a: Offsets, b: Offsets) -> Offsets {
    let Some(anchor) = a.anchor.checked_add(b.anchor) else { return Offsets::ANY };
    let stride = gcd(a.stride, b.stride);
    if stride == 0 {
        return Offsets::exact(anchor);
    }
    let low = if a.low == i64::MIN || b.low == i64::MIN { i64::MIN } else { a.low.saturating_add(b.low) };
    let high =
        if a.high == i64::MAX || b.high == i64::MAX { i64::MAX } else { a.high.saturating_add(b.high) };
    normal(Offsets { anchor, stride, low, high })
}

pub(crate) fn shifted(p: Offsets, by: i64) -> Offsets {
    sum(p, Offsets::exact(by))
}

/// The members with the other sign.
pub(crate) fn negated(p: Offsets) -> Offsets {
    let flip = |bound: i64| match bound {
        i64::MIN => i64::MAX,
        i64::MAX => i64::MIN,
        other => -other,
    };
    match p.anchor.checked_neg() {
        Some(anchor) => Offsets { anchor, stride: p.stride, low: flip(p.high), high: flip(p.low) },
        None => Offsets::ANY,
    }
}

/// All products of a number between the bounds with the scale. Address arithmetic does not wrap around (A-BOUNDS): a product
/// beyond the range is no address.
pub(crate) fn scaled(low: i64, high: i64, scale: i64) -> Offsets {
    if scale == 0 {
        return Offsets::exact(0);
    }
    let (a, b) = (low.saturating_mul(scale), high.saturating_mul(scale));
    if low == high && low.checked_mul(scale).is_some() {
        return Offsets::exact(a);
    }
    normal(Offsets { anchor: 0, stride: scale.unsigned_abs(), low: a.min(b), high: a.max(b) })
}

/// Those of the products with the scale that are products of a number equal to `first` modulo `divisor`.
pub(crate) fn strided(products: Offsets, first: i64, divisor: u64, scale: i64) -> Offsets {
    match (first.checked_mul(scale), divisor.checked_mul(scale.unsigned_abs())) {
        (Some(anchor), Some(stride)) if products.stride != 0 => {
            normal(Offsets { anchor, stride, ..products })
        }
        _ => products,
    }
}

/// Whether every member of `b` is one of `a`.
pub(crate) fn contains(a: Offsets, b: Offsets) -> bool {
    if b.low > b.high || a == b {
        return true;
    }
    let inside = a.low <= b.low && b.high <= a.high;
    if a.stride == 0 {
        return b.low == b.high && b.low == a.anchor;
    }
    if b.low == b.high {
        return inside && multiple(i128::from(b.low) - i128::from(a.anchor), a.stride);
    }
    inside
        && b.stride.is_multiple_of(a.stride)
        && multiple(i128::from(b.anchor) - i128::from(a.anchor), a.stride)
}

/// Whether one of the patterns of a list contains all members, or, for few members, each is in one of them.
pub(crate) fn covered(list: &[Offsets], p: Offsets) -> bool {
    if list.iter().any(|one| contains(*one, p)) {
        return true;
    }
    const FEW: i128 = 64;
    let stride = i128::from(p.stride.max(1));
    let (low, high) = (i128::from(p.low), i128::from(p.high));
    if (high - low) / stride > FEW {
        return false;
    }
    let first = low + (i128::from(p.anchor) - low).rem_euclid(stride);
    let mut at = first;
    while at <= high {
        let Ok(offset) = i64::try_from(at) else { return false };
        if !list.iter().any(|one| contains(*one, Offsets::exact(offset))) {
            return false;
        }
        at += stride;
    }
    true
}

/// The members between two bounds; `None` if there are none.
pub(crate) fn clipped(p: Offsets, low: i64, high: i64) -> Option<Offsets> {
    let (low, high) = (p.low.max(low), p.high.min(high));
    if low > high {
        return None;
    }
    if p.stride == 0 {
        return Some(p);
    }
    let inside = normal(Offsets { low, high, ..p });
    (inside.low <= inside.high).then_some(inside)
}

pub(crate) fn multiple(number: i128, of: u64) -> bool {
    number.rem_euclid(i128::from(of.max(1))) == 0
}

pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::{clipped, contains, covered, is_well_formed, negated, normal, scaled, sum};
    use raddle_facts::Offsets;

    fn members(p: Offsets) -> Vec<i64> {
        let is = |x: i64| {
            p.low <= x
                && x <= p.high
                && if p.stride == 0 { x == p.anchor } else { (x - p.anchor).rem_euclid(p.stride as i64) == 0 }
        };
        (-60..=60).filter(|x| is(*x)).collect()
    }

    fn patterns() -> Vec<Offsets> {
        let mut all = vec![Offsets::exact(0), Offsets::exact(3), Offsets::exact(-5)];
        for (anchor, stride, low, high) in [
            (0, 4, 0, 12),
            (2, 4, 2, 14),
            (1, 6, -5, 13),
            (0, 1, 0, 9),
            (5, 8, 3, 22),
            (0, 3, -9, -9),
            (7, 2, -4, 5),
        ] {
            all.push(Offsets { anchor, stride, low, high });
        }
        all
    }

    #[test]
    fn operations_agree_with_lists_of_members() {
        for a in patterns() {
            assert!(is_well_formed(normal(a)));
            assert_eq!(members(normal(a)), members(a), "{a:?}");
            let mut mirrored: Vec<i64> = members(a).iter().map(|x| -x).collect();
            mirrored.sort_unstable();
            assert_eq!(members(negated(a)), mirrored, "{a:?}");
            for b in patterns() {
                let total = members(sum(a, b));
                for x in members(a) {
                    for y in members(b) {
                        assert!(total.contains(&(x + y)), "{a:?} + {b:?}");
                    }
                }
                let inside = members(b).iter().all(|x| members(a).contains(x));
                assert!(inside || !contains(a, b), "{a:?} in {b:?}");
                assert!(inside || !covered(&[a], b), "{a:?} in {b:?}");
                let both = [a, Offsets::exact(4)];
                let in_both = members(b).iter().all(|x| *x == 4 || members(a).contains(x));
                assert!(in_both || !covered(&both, b), "{both:?} in {b:?}");
            }
            let middle: Vec<i64> = members(a).into_iter().filter(|x| (-3..=7).contains(x)).collect();
            assert_eq!(clipped(a, -3, 7).map_or(Vec::new(), members), middle, "{a:?}");
        }
        for (low, high, scale) in [(0, 3, 4), (-2, 2, 6), (1, 1, 8), (-3, 5, -2), (0, 9, 0)] {
            let products = members(scaled(low, high, scale));
            assert!((low..=high).all(|x| products.contains(&(x * scale))));
        }
    }
}
