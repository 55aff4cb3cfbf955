//! Which write each read reads from: the last one to each of its bytes in the trace.
//!
//! Plain accesses of a recorded native run that race have no certain order, so for those it is one of the possible values.

use crate::prepared::{Edge, Why};
use crate::reordering::Deciding;
use raddle_base::fast_hash::FastMap;
use raddle_event::{AccessKind, Event, EventKind, Loc};

/// The last write to each byte, by granules of 8 bytes.
#[derive(Default)]
pub(crate) struct Writers {
    granules: FastMap<(u32, u32), Vec<Writer>>,
}

#[derive(Clone, Copy)]
struct Writer {
    bytes: u8,
    thread: u32,
    position: u32,
}

impl Writers {
    /// Notes the access, and gives an edge for each write that it reads from.
    pub(crate) fn access(
        &mut self,
        event: &Event,
        at: u32,
        deciding: &Deciding,
        give: &mut impl FnMut(Edge),
    ) {
        let (loc, reads, writes, atomic) = match event.kind {
            EventKind::Access { loc, kind } => {
                (loc, kind == AccessKind::Read, kind == AccessKind::Write, false)
            }
            EventKind::Atomic { loc, op } => (loc, op.reads(), op.writes(), true),
            _ => return,
        };
        let decides = reads && deciding.contains(event.site);
        let why = match (decides, atomic) {
            (true, true) => Why::DecidingAtomic,
            (true, false) => Why::Deciding,
            (false, _) => Why::Data,
        };
        let thread = event.thread.0;
        for (granule, bytes) in granules(loc) {
            if !writes {
                let Some(writers) = self.granules.get(&(loc.object.0, granule)) else { continue };
                for writer in writers.iter().filter(|writer| writer.bytes & bytes != 0) {
                    give(Edge { at, thread: writer.thread, upto: writer.position + 1, why });
                }
                continue;
            }
            let writers = self.granules.entry((loc.object.0, granule)).or_default();
            if reads {
                for writer in writers.iter().filter(|writer| writer.bytes & bytes != 0) {
                    give(Edge { at, thread: writer.thread, upto: writer.position + 1, why });
                }
            }
            writers.retain_mut(|writer| {
                writer.bytes &= !bytes;
                writer.bytes != 0
            });
            writers.push(Writer { bytes, thread, position: at });
        }
    }
}

/// The granules of a range with the bytes of each that are in it.
pub(crate) fn granules(loc: Loc) -> impl Iterator<Item = (u32, u8)> {
    let start = u64::from(loc.offset);
    let end = start + u64::from(loc.len);
    (start / 8..end.div_ceil(8)).map(move |granule| {
        let first = start.max(granule * 8) - granule * 8;
        let last = end.min(granule * 8 + 8) - granule * 8;
        let mask = ((1_u16 << last) - 1) as u8 & !(((1_u16 << first) - 1) as u8);
        (granule as u32, mask)
    })
}
