//! A machine that stops at once when time or memory is used up or the user interrupts.
//!
//! A search looks at its limits now and then, between steps; one step can run a million instructions and report as many events. Here
//! the limits are looked at after every step. Once stopped, the machine idles: one choice is open, which does nothing, until the
//! search looks at its interrupt flag and ends. [`without_idling`] takes these choices off again.

use crate::watchdog::Watch;
use raddle_event::{Addr, Choice, Loc, ObjectId, Problem, Schedule, ThreadId};
use raddle_machine::{Machine, ObjectInfo, Operation, Sink, Status, ThreadInfo, Visibility};
use std::collections::BTreeSet;

/// What a stopped machine does.
const IDLE: Choice = Choice { thread: ThreadId(u32::MAX), variant: 0 };

/// The schedule up to where the machine was stopped, if it was.
pub(crate) fn without_idling(schedule: &Schedule) -> Schedule {
    Schedule { choices: schedule.choices.iter().copied().filter(|choice| *choice != IDLE).collect() }
}

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
        self.inner.status()
    }

    fn pending(&self, thread: ThreadId) -> Option<Operation> {
        if thread == IDLE.thread { None } else { self.inner.pending(thread) }
    }

    fn enabled(&self, choices: &mut Vec<Choice>) {
        self.inner.enabled(choices);
        if self.stopped && !choices.is_empty() {
            choices.clear();
            choices.push(IDLE);
        }
    }

    fn step(&mut self, choice: Choice, sink: &mut dyn Sink) {
        if choice != IDLE {
            self.inner.step(choice, sink);
            self.stopped |= self.watch.is_over();
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

#[cfg(test)]
mod tests {
    use super::{Bounded, Covers, IDLE, without_idling};
    use crate::watchdog::{Bounds, watched};
    use raddle_explore::enumerate::{Coverage, Gap, Goal, Limits, sync};
    use raddle_testkit::script::{Profile, ScriptMachine, generate};
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicBool;

    impl Covers for ScriptMachine {
        fn uncovered(&self) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn a_stopped_machine_ends_the_search_soon() {
        let interrupt = AtomicBool::new(true);
        // A script that is over after one step is searched all the same.
        let mut complete = 0;
        for seed in 0..50 {
            let script = generate(seed, &Profile::EVERYTHING);
            let exploration = watched(&interrupt, Bounds::none(), |watch| {
                let limits =
                    Limits { goal: Goal::AllRaces, interrupt: Some(watch.flag()), ..Limits::default() };
                sync(&mut Bounded::new(ScriptMachine::new(&script), watch), &limits)
            });
            assert!(exploration.steps <= 2_048, "{}", exploration.steps);
            if exploration.coverage == Coverage::Complete {
                complete += 1;
            } else {
                assert_eq!(exploration.unknown_reasons, BTreeSet::from([Gap::Interrupted]));
            }
            let schedules = exploration.problems.iter().map(|found| &found.schedule);
            for schedule in schedules.chain(exploration.races.iter().map(|found| &found.schedule)) {
                assert!(!without_idling(schedule).choices.contains(&IDLE));
            }
        }
        assert!(complete < 10, "{complete} of 50 scripts are searched in one step");
    }

    #[test]
    fn a_machine_within_bounds_is_searched_as_it_is() {
        let interrupt = AtomicBool::new(false);
        for seed in 0..20 {
            let script = generate(seed, &Profile::TINY);
            let limits = Limits { goal: Goal::AllRaces, ..Limits::default() };
            let bounded = watched(&interrupt, Bounds::none(), |watch| {
                sync(&mut Bounded::new(ScriptMachine::new(&script), watch), &limits)
            });
            assert_eq!(bounded, sync(&mut ScriptMachine::new(&script), &limits), "seed {seed}");
        }
    }
}
