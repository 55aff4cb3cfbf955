//! Searches that share the work of one pass: states with something left to explore, and who waits for one.

use super::node::Open;
use super::tally::PassEnd;
use crate::enumerate::Gap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    /// As in the state, to look at without waiting.
    waiting: AtomicUsize,
    over: AtomicBool,
}

#[derive(Default)]
struct State {
    /// States that had something left when they were offered.
    open: Vec<Arc<Open>>,
    busy: usize,
    end: Option<PassEnd>,
}

impl Pool {
    /// One of the searches starts with work.
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State { busy: 1, ..State::default() }),
            changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// Waits until this many are waiting.
    pub(super) fn gather(&self, helpers: usize) {
        let mut state = self.state();
        while self.waiting.load(Ordering::Relaxed) < helpers && state.end.is_none() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether somebody has nothing to do.
    pub(super) fn is_hungry(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether all must stop.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// There is something left to explore from this state.
    pub(super) fn offer(&self, open: Arc<Open>) {
        let mut state = self.state();
        if !state.open.iter().any(|other| Arc::ptr_eq(other, &open)) {
            state.open.push(open);
        }
        self.changed.notify_one();
    }

    /// Ends the pass for all, with the first reason given.
    pub(super) fn stop(&self, end: PassEnd) {
        self.state().end.get_or_insert(end);
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// What one has left of its work is done: waits for a state to explore from. `None` when all is done, or all must stop.
    pub(super) fn next(&self) -> Option<Arc<Open>> {
        let mut state = self.state();
        state.busy -= 1;
        self.wait(state)
    }

    /// Like [`next`](Self::next), for one that has had no work yet.
    pub(super) fn first(&self) -> Option<Arc<Open>> {
        self.wait(self.state())
    }

    pub(super) fn end(self) -> PassEnd {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.end.unwrap_or(PassEnd::Done)
    }

    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Option<Arc<Open>> {
        loop {
            if state.end.is_some() {
                return None;
            }
            state.open.retain(|open| !open.plan().tree.is_empty());
            // The oldest is nearest to the start, so there is most to do.
            if let Some(open) = state.open.first().cloned() {
                state.busy += 1;
                return Some(open);
            }
            if state.busy == 0 {
                self.changed.notify_all();
                return None;
            }
            self.waiting.fetch_add(1, Ordering::Relaxed);
            self.changed.notify_all();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the pass for the others when one of them panics.
pub(super) struct PanicEndsAll<'a>(pub(super) &'a Pool);

impl Drop for PanicEndsAll<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(PassEnd::GivenUp(Gap::Interrupted));
        }
    }
}
