//! A machine that stops at once when time or memory is used up or the user interrupts.
//!
//! A search looks at its limits now and then, between steps; one step can run a million instructions and report as many events. Here
//! the limits are looked at after every step. Once stopped, the machine takes no further step and every run ends with a limit.

use crate::watchdog::Watch;
use raddle_event::{Addr, Choice, Loc, ObjectId, Problem, ThreadId};
use raddle_machine::{Machine, ObjectInfo, Operation, Sink, Status, ThreadInfo, Visibility};
use std::collections::BTreeSet;

pub(crate) struct Bounded<'a, M> {
    inner: M,
    watch: &'a Watch<'a>,
    stopped: bool,
    uncovered: BTreeSet<String>,
}

/// A machine that knows what it left out.
pub(crate) trait Covers {
    /// What this run did not cover so far: values of the environment that are never tried.
    fn uncovered(&self) -> Vec<String>;
}

impl<'a, M: Machine + Covers> Bounded<'a, M> {
    pub(crate) fn new(inner: M, watch: &'a Watch<'a>) -> Self {
        Self { inner, watch, stopped: false, uncovered: BTreeSet::new() }
    }

    /// What any run did not cover. Runs are undone, this is not.
    pub(crate) fn uncovered(&self) -> &BTreeSet<String> {
        &self.uncovered
    }
}

impl<M: Machine + Covers> Machine for Bounded<'_, M> {
    type Checkpoint = M::Checkpoint;

    fn thread_count(&self) -> u32 {
        self.inner.thread_count()
    }

    fn status(&self) -> Status {
        match self.inner.status() {
            Status::Running if self.stopped => Status::Limit { reason: self.watch.reason() },
            status => status,
        }
    }

    fn pending(&self, thread: ThreadId) -> Option<Operation> {
        self.inner.pending(thread)
    }

    fn enabled(&self, choices: &mut Vec<Choice>) {
        match self.stopped {
            true => choices.clear(),
            false => self.inner.enabled(choices),
        }
    }

    fn step(&mut self, choice: Choice, sink: &mut dyn Sink) {
        if !self.stopped {
            self.inner.step(choice, sink);
            self.stopped = self.watch.is_over();
            self.uncovered.extend(self.inner.uncovered());
        }
    }

    fn checkpoint(&mut self) -> Self::Checkpoint {
        self.inner.checkpoint()
    }

    fn restore(&mut self, checkpoint: &Self::Checkpoint) {
        self.inner.restore(checkpoint);
    }

    fn discard(&mut self, checkpoint: Self::Checkpoint) {
        self.inner.discard(checkpoint);
    }

    fn fingerprint(&mut self) -> u128 {
        self.inner.fingerprint()
    }

    fn problems(&self) -> &[Problem] {
        self.inner.problems()
    }

    fn assumptions(&self) -> Vec<&'static str> {
        self.inner.assumptions()
    }

    fn output(&self) -> &[u8] {
        self.inner.output()
    }

    fn set_visibility(&mut self, visibility: Visibility) {
        self.inner.set_visibility(visibility);
    }

    fn thread_info(&self, thread: ThreadId) -> ThreadInfo {
        self.inner.thread_info(thread)
    }

    fn object_info(&self, object: ObjectId) -> ObjectInfo {
        self.inner.object_info(object)
    }

    fn place_name(&self, loc: Loc) -> String {
        self.inner.place_name(loc)
    }

    fn held_locks(&self, thread: ThreadId) -> Vec<Addr> {
        self.inner.held_locks(thread)
    }
}
