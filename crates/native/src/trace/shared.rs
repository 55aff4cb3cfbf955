//! Shared regions: bytes that two threads access, at least one writing, neighbouring ones together.
//!
//! The 2015 paper, section 3, gives each such region a number and calls it an object. One sweep over the ends of all accesses to
//! each object; nothing is rounded.

use raddle_event::{AccessKind, Event, EventKind, Loc, ObjectId, ThreadId, Trace};
use std::collections::BTreeMap;

pub(super) fn regions(trace: &Trace) -> Vec<Loc> {
    let mut objects: BTreeMap<ObjectId, Pieces> = BTreeMap::new();
    for Event { thread, kind, .. } in &trace.events {
        let (loc, writes) = match *kind {
            EventKind::Access { loc, kind } => (loc, kind == AccessKind::Write),
            EventKind::Atomic { loc, op } => (loc, op.writes()),
            _ => continue,
        };
        objects.entry(loc.object).or_default().touch(
            loc.offset,
            loc.offset.saturating_add(loc.len),
            *thread,
            writes,
        );
    }
    let mut regions: Vec<Loc> = Vec::new();
    for (object, pieces) in objects {
        for (start, piece) in pieces.by_start.into_iter().filter(|(_, piece)| piece.is_shared()) {
            let len = piece.end - start;
            match regions.last_mut() {
                Some(last) if last.object == object && last.offset + last.len == start => last.len += len,
                _ => regions.push(Loc { object, offset: start, len }),
            }
        }
    }
    regions
}

/// Disjoint pieces of an object, each with one history.
#[derive(Default)]
struct Pieces {
    by_start: BTreeMap<u32, Piece>,
}

#[derive(Clone, Copy)]
struct Piece {
    end: u32,
    /// One thread that accessed it, and whether there is another.
    thread: ThreadId,
    several: bool,
    written: bool,
}

impl Piece {
    fn is_shared(&self) -> bool {
        self.several && self.written
    }
}

impl Pieces {
    fn touch(&mut self, start: u32, end: u32, thread: ThreadId, writes: bool) {
        self.split(start);
        self.split(end);
        let mut at = start;
        while at < end {
            let next = self.by_start.range(at..end).next().map(|(next, _)| *next);
            let hole = next.unwrap_or(end);
            if hole > at {
                self.by_start.insert(at, Piece { end: hole, thread, several: false, written: writes });
                at = hole;
                continue;
            }
            let piece = self.by_start.get_mut(&at).expect("it was just found");
            piece.several |= piece.thread != thread;
            piece.written |= writes;
            at = piece.end;
        }
    }

    fn split(&mut self, at: u32) {
        if let Some((_, piece)) = self.by_start.range_mut(..at).next_back()
            && piece.end > at
        {
            let rest = *piece;
            piece.end = at;
            self.by_start.insert(at, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::regions;
    use raddle_base::SiteId;
    use raddle_event::{AccessKind, Event, EventKind, Loc, ObjectId, ThreadId, Trace};
    use std::collections::{BTreeMap, BTreeSet};

    /// Byte by byte.
    fn slowly(trace: &Trace) -> BTreeSet<(u32, u32)> {
        let mut bytes: BTreeMap<(u32, u32), (BTreeSet<ThreadId>, bool)> = BTreeMap::new();
        for event in &trace.events {
            let EventKind::Access { loc, kind } = event.kind else { continue };
            for byte in loc.offset..loc.offset + loc.len {
                let (threads, written) = bytes.entry((loc.object.0, byte)).or_default();
                threads.insert(event.thread);
                *written |= kind == AccessKind::Write;
            }
        }
        bytes
            .into_iter()
            .filter(|(_, (threads, written))| threads.len() > 1 && *written)
            .map(|(byte, _)| byte)
            .collect()
    }

    #[test]
    fn regions_are_the_shared_bytes_put_together() {
        let mut state = 1_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for _ in 0..500 {
            let events = (0..random(30)).map(|_| Event {
                thread: ThreadId(random(3)),
                site: SiteId(0),
                kind: EventKind::Access {
                    loc: Loc { object: ObjectId(random(2)), offset: random(40), len: random(12) },
                    kind: if random(3) == 0 { AccessKind::Write } else { AccessKind::Read },
                },
            });
            let trace = Trace { events: events.collect() };
            let found = regions(&trace);
            let bytes: BTreeSet<(u32, u32)> = found
                .iter()
                .flat_map(|loc| (loc.offset..loc.offset + loc.len).map(|byte| (loc.object.0, byte)))
                .collect();
            assert_eq!(bytes, slowly(&trace));
            let apart = |pair: &[Loc]| {
                pair[0].object < pair[1].object || pair[0].offset + pair[0].len < pair[1].offset
            };
            assert!(found.windows(2).all(apart), "{found:?}");
        }
    }
}
