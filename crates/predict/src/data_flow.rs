//! Which deciding reads of a reordering may read another value than the recorded one: the definition of *concrete*, step by step.

use crate::Error;
use crate::prepared::Prepared;
use crate::reads_from::granules;
use raddle_base::fast_hash::FastMap;
use raddle_event::{AccessKind, EventKind, Loc, Trace};

/// Which write of the trace a byte has its value from, and whether that value is the recorded one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Value {
    writer: u32,
    concrete: bool,
}

/// The last write to each byte.
#[derive(Default)]
struct Memory {
    granules: FastMap<(u32, u32), Granule>,
}

/// One bit of `concrete` for each byte.
struct Granule {
    writers: [u32; 8],
    concrete: u8,
}

impl Memory {
    fn read(&self, loc: Loc, mut visit: impl FnMut(Value)) {
        for (granule, bytes) in granules(loc) {
            let granule = self.granules.get(&(loc.object.0, granule)).unwrap_or(&Granule::UNWRITTEN);
            for byte in (0..8).filter(|byte| bytes & 1 << byte != 0) {
                visit(Value { writer: granule.writers[byte], concrete: granule.concrete & 1 << byte != 0 });
            }
        }
    }

    fn write(&mut self, loc: Loc, value: Value) {
        for (granule, bytes) in granules(loc) {
            let granule = self.granules.entry((loc.object.0, granule)).or_insert(Granule::UNWRITTEN);
            let written = (0..8).filter(|byte| bytes & 1 << byte != 0);
            written.for_each(|byte| granule.writers[byte] = value.writer);
            granule.concrete = granule.concrete & !bytes | if value.concrete { bytes } else { 0 };
        }
    }
}

impl Granule {
    /// As at the beginning of the trace.
    const UNWRITTEN: Self = Self { writers: [NOBODY; 8], concrete: u8::MAX };
}

/// Where each read of the trace has its bytes from.
pub(crate) struct Recorded {
    /// By event: the write that all bytes are from.
    single: Vec<u32>,
    /// Of reads with several, in order of the bytes.
    several: FastMap<u32, Vec<u32>>,
}

/// What nobody has written in the trace.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

impl Recorded {
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut memory = Memory::default();
        let mut recorded = Self { single: vec![NOBODY; trace.events.len()], several: FastMap::default() };
        let mut from = Vec::new();
        for (index, event) in trace.events.iter().enumerate() {
            let Some((loc, reads, writes)) = touch(&event.kind) else { continue };
            if reads {
                from.clear();
                memory.read(loc, |value| from.push(value.writer));
                recorded.single[index] = match from.iter().all(|source| *source == from[0]) {
                    true => from[0],
                    false => SEVERAL,
                };
                if recorded.single[index] == SEVERAL {
                    recorded.several.insert(index as u32, from.clone());
                }
            }
            if writes {
                memory.write(loc, Value { writer: index as u32, concrete: true });
            }
        }
        recorded
    }

    fn source(&self, index: usize, byte: usize) -> u32 {
        match self.single[index] {
            SEVERAL => self.several[&(index as u32)][byte],
            single => single,
        }
    }
}

/// The deciding reads of this order that are not concrete, and those of read-modify-writes in the error; sorted. The same as
/// [`legality::uncertain`](crate::legality::uncertain), in linear time. `None`: the time is over.
pub(crate) fn uncertain(
    prepared: &Prepared<'_>,
    recorded: &Recorded,
    order: &[usize],
    error: &Error,
) -> Option<Vec<usize>> {
    let mut memory = Memory::default();
    let mut concrete = vec![true; prepared.threads()];
    let mut found = Vec::new();
    let ends = match *error {
        Error::Race { first, second } => [first, second].map(Some),
        Error::Deadlock { .. } => [None; 2],
    };
    for (place, &index) in order.iter().chain(ends.iter().flatten()).enumerate() {
        if prepared.clock.step_is_last() {
            return None;
        }
        let event = prepared.event(index);
        let Some((loc, reads, writes)) = touch(&event.kind) else { continue };
        let of_error = place >= order.len();
        if of_error && !(reads && writes) {
            continue;
        }
        let thread = event.thread.0 as usize;
        if reads {
            let mut byte = 0;
            let mut is_concrete = true;
            memory.read(loc, |value| {
                is_concrete &= value.concrete && value.writer == recorded.source(index, byte);
                byte += 1;
            });
            if !is_concrete {
                concrete[thread] &= of_error;
                if prepared.input.deciding.contains(event.site) {
                    found.push(index);
                }
            }
        }
        if writes && !of_error {
            memory.write(loc, Value { writer: index as u32, concrete: concrete[thread] });
        }
    }
    found.sort_unstable();
    Some(found)
}

/// The bytes of an access, whether it reads and whether it writes.
fn touch(kind: &EventKind) -> Option<(Loc, bool, bool)> {
    match *kind {
        EventKind::Access { loc, kind } => Some((loc, kind == AccessKind::Read, kind == AccessKind::Write)),
        EventKind::Atomic { loc, op } => Some((loc, op.reads(), op.writes())),
        _ => None,
    }
}
