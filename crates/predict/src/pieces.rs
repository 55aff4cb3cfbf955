//! Memory in pieces instead of bytes: between two neighbouring ends of accesses all accesses have all bytes or none, so a piece may stand for
//! them. Which accesses overlap stays the same. For traces of large ranges, where bytes are many and pieces few.

use raddle_base::fast_hash::FastMap;
use raddle_event::{Event, EventKind, Loc, ObjectId, Trace};

/// The same trace with each piece as one byte; `None` where that would not save much.
pub(crate) fn in_pieces(trace: &Trace) -> Option<Trace> {
    let (mut accesses, mut bytes) = (0_u64, 0_u64);
    for loc in trace.events.iter().filter_map(loc) {
        accesses += 1;
        bytes += u64::from(loc.len);
    }
    if bytes < LARGE * accesses {
        return None;
    }
    let mut ends: FastMap<ObjectId, Vec<u64>> = FastMap::default();
    for loc in trace.events.iter().filter_map(loc) {
        let of_object = ends.entry(loc.object).or_default();
        of_object.extend([u64::from(loc.offset), end(loc)]);
    }
    for of_object in ends.values_mut() {
        of_object.sort_unstable();
        of_object.dedup();
    }
    let piece = |loc: Loc| {
        let of_object = &ends[&loc.object];
        let at = |offset: u64| of_object.partition_point(|end| *end < offset) as u32;
        let offset = at(loc.offset.into());
        Loc { object: loc.object, offset, len: at(end(loc)) - offset }
    };
    let events = trace.events.iter().map(|event| {
        let kind = match event.kind {
            EventKind::Access { loc, kind } => EventKind::Access { loc: piece(loc), kind },
            EventKind::Atomic { loc, op } => EventKind::Atomic { loc: piece(loc), op },
            kind => kind,
        };
        Event { kind, ..*event }
    });
    Some(Trace { events: events.collect() })
}

/// Bytes of an access, on average.
const LARGE: u64 = 32;

fn end(loc: Loc) -> u64 {
    u64::from(loc.offset) + u64::from(loc.len)
}

fn loc(event: &Event) -> Option<Loc> {
    match event.kind {
        EventKind::Access { loc, .. } | EventKind::Atomic { loc, .. } => Some(loc),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{in_pieces, loc};
    use raddle_base::SiteId;
    use raddle_event::{AccessKind, Event, EventKind, Loc, ObjectId, ThreadId, Trace};

    #[test]
    fn the_same_accesses_overlap() {
        let mut state = 7_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        let mut changed = 0;
        for _ in 0..300 {
            let events = (0..12).map(|_| {
                let loc = Loc { object: ObjectId(random(2)), offset: random(300), len: random(200) };
                let kind = EventKind::Access { loc, kind: AccessKind::Write };
                Event { thread: ThreadId(0), site: SiteId(0), kind }
            });
            let trace = Trace { events: events.collect() };
            let Some(pieces) = in_pieces(&trace) else { continue };
            changed += 1;
            let locs = |trace: &Trace| trace.events.iter().filter_map(loc).collect::<Vec<Loc>>();
            let (before, after) = (locs(&trace), locs(&pieces));
            for (a, one) in before.iter().zip(&after) {
                assert_eq!(a.len == 0, one.len == 0);
                for (b, other) in before.iter().zip(&after).filter(|(b, _)| a.len > 0 && b.len > 0) {
                    assert_eq!(a.overlaps(*b), one.overlaps(*other), "{a:?} {b:?}");
                }
            }
        }
        assert!(changed > 250);
    }
}
