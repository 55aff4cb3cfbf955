//! Arithmetic on offset patterns. Results include all offsets that the operation can give; comparisons never say yes wrongly.

use raddle_facts::Offsets;

/// Every offset from the pointer on.
pub(crate) const FORWARD: Offsets = Offsets { anchor: 0, stride: 1, low: 0, high: i64::MAX };

/// Whether the pattern is written as it should be: stride 0 is the anchor alone, and the bounds are not crossed.
pub(crate) fn is_well_formed(p: Offsets) -> bool {
    p.low <= p.high && (p.stride != 0 || (p.low == p.anchor && p.high == p.anchor))
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
    Offsets { anchor, stride, low, high }
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
    Offsets { anchor: 0, stride: scale.unsigned_abs(), low: a.min(b), high: a.max(b) }
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

/// The members between two bounds; `None` if the bounds exclude all.
pub(crate) fn clipped(p: Offsets, low: i64, high: i64) -> Option<Offsets> {
    let (low, high) = (p.low.max(low), p.high.min(high));
    if low > high {
        return None;
    }
    if p.stride == 0 {
        return Some(p);
    }
    // Bounds become members, so that a comparison of bounds compares members.
    let stride = i128::from(p.stride);
    let first = i128::from(low) + (i128::from(p.anchor) - i128::from(low)).rem_euclid(stride);
    let last = i128::from(high) - (i128::from(high) - i128::from(p.anchor)).rem_euclid(stride);
    if first > last {
        return None;
    }
    let (first, last) = (i64::try_from(first).ok()?, i64::try_from(last).ok()?);
    Some(if first == last { Offsets::exact(first) } else { Offsets { low: first, high: last, ..p } })
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
