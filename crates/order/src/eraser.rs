//! Eraser (Savage et al., SOSP 1997): every shared variable must be protected by one lock throughout. Wrong on purpose.
//!
//! [`Form::Plain`] is `std` of section 2 of the 2006 paper: a byte's candidate set is the intersection of the locks held at all its
//! accesses, and an access that empties it is reported. [`Form::States`] is the published tool: no refinement while one thread alone
//! has accessed the byte, no report while it is only read, and only locks held for writing protect a write. Both report accesses
//! that are ordered (the protecting lock changes, the data is handed over) and know no order but locks. Atomics are not looked at.

use raddle_event::{AccessKind, Addr, Event, EventKind, Loc, LockMode, ThreadId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The first access reported for every byte.
pub fn warnings(trace: &Trace, form: Form) -> BTreeMap<Addr, usize> {
    let mut eraser = Eraser { form, held: BTreeMap::new(), bytes: BTreeMap::new() };
    let mut warnings = BTreeMap::new();
    for (index, event) in trace.events.iter().enumerate() {
        for byte in eraser.observe(event) {
            warnings.entry(byte).or_insert(index);
        }
    }
    warnings
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Plain,
    States,
}

struct Eraser {
    form: Form,
    held: BTreeMap<ThreadId, BTreeMap<Addr, LockMode>>,
    bytes: BTreeMap<Addr, Byte>,
}

struct Byte {
    state: State,
    candidates: BTreeSet<Addr>,
}

/// States of the tool; a byte that was never accessed has none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Exclusive(ThreadId),
    Shared,
    SharedModified,
}

impl Eraser {
    fn observe(&mut self, event: &Event) -> Vec<Addr> {
        let held = self.held.entry(event.thread).or_default();
        match event.kind {
            EventKind::Acquire { lock, mode } => {
                held.insert(lock, mode);
            }
            EventKind::Release { lock, .. } => {
                held.remove(&lock);
            }
            EventKind::Access { loc, kind } => return self.access(event.thread, loc, kind),
            _ => {}
        }
        Vec::new()
    }

    fn access(&mut self, thread: ThreadId, loc: Loc, kind: AccessKind) -> Vec<Addr> {
        let protecting = |mode: &LockMode| kind == AccessKind::Read || *mode == LockMode::Exclusive;
        let locks: BTreeSet<Addr> =
            self.held[&thread].iter().filter(|(_, mode)| protecting(mode)).map(|(lock, _)| *lock).collect();
        (0..loc.len)
            .map(|i| Addr { object: loc.object, offset: loc.offset + i })
            .filter(|&byte| match self.form {
                Form::Plain => refine(&mut self.bytes, byte, &locks),
                Form::States => advance(&mut self.bytes, byte, thread, kind, &locks),
            })
            .collect()
    }
}

fn refine(bytes: &mut BTreeMap<Addr, Byte>, byte: Addr, locks: &BTreeSet<Addr>) -> bool {
    let entry =
        bytes.entry(byte).or_insert_with(|| Byte { state: State::SharedModified, candidates: locks.clone() });
    entry.candidates.retain(|lock| locks.contains(lock));
    entry.candidates.is_empty()
}

fn advance(
    bytes: &mut BTreeMap<Addr, Byte>,
    byte: Addr,
    thread: ThreadId,
    kind: AccessKind,
    locks: &BTreeSet<Addr>,
) -> bool {
    let fresh = Byte { state: State::Exclusive(thread), candidates: BTreeSet::new() };
    let entry = bytes.entry(byte).or_insert(fresh);
    match entry.state {
        State::Exclusive(owner) if owner == thread => return false,
        State::Exclusive(_) => entry.candidates = locks.clone(),
        State::Shared | State::SharedModified => entry.candidates.retain(|lock| locks.contains(lock)),
    }
    entry.state = match kind {
        AccessKind::Read if entry.state != State::SharedModified => State::Shared,
        _ => State::SharedModified,
    };
    entry.state == State::SharedModified && entry.candidates.is_empty()
}
