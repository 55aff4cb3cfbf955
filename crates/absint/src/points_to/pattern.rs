//! Arithmetic on offset patterns. Everything over-approximates: a result includes all offsets that the operation can give.
//!
//! A list of patterns of one object has at most [`MOST_PATTERNS`] entries; one more, and all are merged into one strided pattern. A
//! bounded strided pattern that has to grow does so in few large steps, so pointer increments in loops settle soon.

use raddle_facts::Offsets;

pub(super) const MOST_PATTERNS: usize = 6;

/// Every offset from the pointer on.
pub(super) const FORWARD: Offsets = Offsets { anchor: 0, stride: 1, low: 0, high: i64::MAX };

pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// All multiples of the stride around the anchor, without bounds.
pub(super) fn unbounded(anchor: i64, stride: u64) -> Offsets {
    normal(Offsets { anchor, stride, low: i64::MIN, high: i64::MAX })
}

/// One form for each set of offsets, as far as that is cheap: bounds are members where they are finite, one member is exact.
pub(super) fn normal(p: Offsets) -> Offsets {
    if p.stride == 0 {
        return Offsets::exact(p.anchor);
    }
    let Ok(stride) = i64::try_from(p.stride) else { return Offsets::ANY };
    let residue = p.anchor.rem_euclid(stride);
    let low = match p.low {
        i64::MIN => i64::MIN,
        low => low.saturating_add((residue - low.rem_euclid(stride)).rem_euclid(stride)),
    };
    let high = match p.high {
        i64::MAX => i64::MAX,
        high => high.saturating_sub((high.rem_euclid(stride) - residue).rem_euclid(stride)),
    };
    if low == high {
        return Offsets::exact(low);
    }
    Offsets { anchor: residue, stride: p.stride, low, high }
}

/// The members between two bounds; `None` if there are none.
pub(super) fn clip(p: Offsets, low: i64, high: i64) -> Option<Offsets> {
    let (low, high) = (p.low.max(low), p.high.min(high));
    if low > high {
        return None;
    }
    if p.stride == 0 {
        return Some(p);
    }
    let p = normal(Offsets { low, high, ..p });
    (p.low <= p.high).then_some(p)
}

fn add_low(a: i64, b: i64) -> i64 {
    if a == i64::MIN || b == i64::MIN { i64::MIN } else { a.saturating_add(b) }
}

fn add_high(a: i64, b: i64) -> i64 {
    if a == i64::MAX || b == i64::MAX { i64::MAX } else { a.saturating_add(b) }
}

/// All sums of a member of each.
pub(super) fn sum(a: Offsets, b: Offsets) -> Offsets {
    if a == Offsets::ANY || b == Offsets::ANY {
        return Offsets::ANY;
    }
    if a.stride == 0 && b.stride == 0 {
        return match a.anchor.checked_add(b.anchor) {
            Some(anchor) => Offsets::exact(anchor),
            None => Offsets::ANY,
        };
    }
    let Some(anchor) = a.anchor.checked_add(b.anchor) else { return Offsets::ANY };
    normal(Offsets {
        anchor,
        stride: gcd(a.stride, b.stride),
        low: add_low(a.low, b.low),
        high: add_high(a.high, b.high),
    })
}

/// The members with the other sign.
pub(super) fn negated(p: Offsets) -> Offsets {
    let flip = |bound: i64| match bound {
        i64::MIN => i64::MAX,
        i64::MAX => i64::MIN,
        other => -other,
    };
    if p == Offsets::ANY || p.anchor == i64::MIN {
        return Offsets::ANY;
    }
    if p.stride == 0 {
        return Offsets::exact(-p.anchor);
    }
    normal(Offsets { anchor: -p.anchor, stride: p.stride, low: flip(p.high), high: flip(p.low) })
}

/// Whether every member of `b` is one of `a`.
pub(super) fn contains(a: Offsets, b: Offsets) -> bool {
    if a == b {
        return true;
    }
    if a.stride == 0 {
        return false;
    }
    a.low <= b.low && b.high <= a.high && same_residue(a, b)
}

/// Whether the members of `b` are `a.anchor` modulo `a.stride`, which is not 0.
fn same_residue(a: Offsets, b: Offsets) -> bool {
    b.stride.is_multiple_of(a.stride)
        && (i128::from(b.anchor) - i128::from(a.anchor)).rem_euclid(i128::from(a.stride)) == 0
}

/// One pattern that includes both.
pub(super) fn merged(a: Offsets, b: Offsets) -> Offsets {
    let distance = a.anchor.abs_diff(b.anchor);
    let stride = gcd(gcd(a.stride, b.stride), distance);
    normal(Offsets { anchor: a.anchor, stride, low: a.low.min(b.low), high: a.high.max(b.high) })
}

/// The pattern without bounds, if it is more than one offset.
pub(super) fn without_bounds(p: Offsets) -> Offsets {
    if p.stride == 0 { p } else { unbounded(p.anchor, p.stride) }
}

/// Adds a pattern to a list of at most [`MOST_PATTERNS`].
pub(super) fn insert(list: &mut Vec<Offsets>, new: Offsets) {
    if list.iter().any(|old| contains(*old, new)) {
        return;
    }
    if let Some(at) = list.iter().position(|old| old.stride != 0 && same_residue(*old, new)) {
        let old = list.remove(at);
        let low = if new.low < old.low { lower(new.low) } else { old.low };
        let high = if new.high > old.high { higher(new.high) } else { old.high };
        return insert(list, normal(Offsets { low, high, ..old }));
    }
    list.retain(|old| !contains(new, *old));
    list.push(new);
    if list.len() > MOST_PATTERNS {
        let all = list.drain(..).reduce(merged).expect("not empty");
        list.push(all);
    }
}

/// Bounds that grow stop here on their way to none.
const STOPS: [i64; 4] = [0, 1 << 8, 1 << 16, 1 << 24];

fn higher(bound: i64) -> i64 {
    STOPS.into_iter().find(|stop| bound <= *stop).unwrap_or(i64::MAX)
}

fn lower(bound: i64) -> i64 {
    STOPS.into_iter().find(|stop| bound >= -*stop).map_or(i64::MIN, |stop| -stop)
}

/// Whether a value of `bytes` written at some offset of `cell` and read at one of `view` is read whole or not at all: torn reads
/// at distances that only imprecision allows are left out.
pub(super) fn reads_whole(cell: Offsets, view: Offsets) -> bool {
    let common = gcd(cell.stride, view.stride);
    let distance = i128::from(cell.anchor) - i128::from(view.anchor);
    if common == 0 { distance == 0 } else { distance.rem_euclid(i128::from(common)) == 0 }
}
