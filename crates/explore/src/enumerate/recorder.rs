//! The trace of the present path of [`sync`](super::sync): all events that matter to order and races, and no others.
//!
//! Left out, because no race needs them: plain accesses of the main thread before it has created another (they happen before
//! everything), and an access that the thread has made before, at the same site to the same bytes, with no synchronisation in
//! between (whatever is unordered with one of the two is unordered with the other). So a loop costs its distinct accesses only.

use raddle_base::fast_hash::FastSet;
use raddle_base::{LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{AccessKind, AtomicOp, Event, EventKind, Loc, ThreadId, Trace};
use raddle_machine::{Sink, StackSource};

#[derive(Default)]
pub(crate) struct Recorder {
    trace: Trace,
    /// What has not been taken back since this was last asked for.
    lasting: usize,
    /// Position of the first creation of a thread.
    first_create: Option<usize>,
    recent: FastSet<(ThreadId, SiteId, Loc, AccessKind)>,
    /// The assumption that the answer rests on once an atomic weaker than seq_cst was met.
    pub(crate) weak_atomics: Option<&'static str>,
}

impl Recorder {
    /// For a part of a run: threads may have been created before.
    pub(crate) fn from_the_middle() -> Self {
        Self { first_create: Some(0), ..Self::default() }
    }

    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    pub(crate) fn len(&self) -> usize {
        self.trace.events.len()
    }

    /// How many events have not been taken back since this was last asked for.
    pub(crate) fn lasting(&mut self) -> usize {
        std::mem::replace(&mut self.lasting, self.trace.events.len())
    }

    /// Forgets the events from this position on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.trace.events.truncate(len);
        self.lasting = self.lasting.min(len);
        self.recent.clear();
        self.first_create = self.first_create.filter(|create| *create < len);
    }
}

impl Sink for Recorder {
    fn event(&mut self, event: Event, _stack: &dyn StackSource) {
        match event.kind {
            EventKind::Access { loc, kind } => {
                if self.first_create.is_none() || !self.recent.insert((event.thread, event.site, loc, kind)) {
                    return;
                }
            }
            EventKind::Create { .. } => {
                self.first_create.get_or_insert(self.trace.events.len());
                self.recent.clear();
            }
            EventKind::Atomic { op, .. } => {
                if is_weak(op) {
                    self.weak_atomics = Some("A-SC");
                }
                self.recent.clear();
            }
            _ => self.recent.clear(),
        }
        self.trace.events.push(event);
    }
}

pub(crate) fn is_weak(op: AtomicOp) -> bool {
    match op {
        AtomicOp::Load(order) => order != LoadOrder::SeqCst,
        AtomicOp::Store(order) => order != StoreOrder::SeqCst,
        AtomicOp::Rmw(order) => order != RmwOrder::SeqCst,
    }
}
