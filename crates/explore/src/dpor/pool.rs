//! Searches that share the work of one pass: what is left to explore, and who waits for it.

use super::node::{Left, Open};
use super::tally::PassEnd;
use crate::enumerate::Gap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    /// How many wait; to look at without waiting.
    waiting: AtomicUsize,
    pause: AtomicBool,
    over: AtomicBool,
}

#[derive(Default)]
struct State {
    left: Vec<Left>,
    /// When to look which of them have nothing left.
    most: usize,
    busy: usize,
    end: Option<PassEnd>,
}

impl Pool {
    pub(super) fn new(left: Vec<Left>) -> Self {
        Self {
            state: Mutex::new(State { left, ..State::default() }),
            changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
            pause: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }

    /// Whether somebody has nothing to do.
    pub(super) fn is_hungry(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether all must stop where they are.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Whether all are to put down what they have left after the run at hand.
    pub(super) fn is_paused(&self) -> bool {
        self.pause.load(Ordering::Relaxed)
    }

    pub(super) fn pause(&self) {
        let _state = self.state();
        self.pause.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// There is something left to explore from this state.
    pub(super) fn offer(&self, open: Arc<Open>) {
        let mut state = self.state();
        let known = |left: &Left| matches!(left, Left::Open(other) if Arc::ptr_eq(other, &open));
        if !state.left.iter().any(known) {
            if state.left.len() >= state.most {
                // What has nothing left in it any more only takes up room.
                state.left.retain(Left::is_open);
                state.most = 64.max(2 * state.left.len());
            }
            state.left.push(Left::Open(open));
        }
        self.changed.notify_one();
    }

    /// A run that was begun and not finished.
    pub(super) fn put_back(&self, left: Left) {
        self.state().left.push(left);
    }

    /// Ends the pass for all, with the first reason given.
    pub(super) fn stop(&self, end: PassEnd) {
        self.state().end.get_or_insert(end);
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Waits for something to explore. `None` when all is done, or all must stop.
    pub(super) fn take(&self) -> Option<Left> {
        let mut state = self.state();
        loop {
            if state.end.is_some() || self.is_paused() {
                self.changed.notify_all();
                return None;
            }
            state.left.retain(Left::is_open);
            // The oldest is nearest to the start, so there is most to do.
            if let Some(left) = state.left.first().cloned() {
                if matches!(left, Left::Fresh(_)) {
                    state.left.remove(0);
                }
                state.busy += 1;
                return Some(left);
            }
            if state.busy == 0 {
                self.changed.notify_all();
                return None;
            }
            self.waiting.fetch_add(1, Ordering::Relaxed);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// What was taken is done.
    pub(super) fn done(&self) {
        self.state().busy -= 1;
        self.changed.notify_all();
    }

    /// Why all have stopped, and what is left.
    pub(super) fn end(self) -> (Option<PassEnd>, Vec<Left>) {
        let State { mut left, end, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        left.retain(Left::is_open);
        (end, left)
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
