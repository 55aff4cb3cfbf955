//! Enforces an order of recorded events (Carril and Tichy, SEPS 2015, 2.3: confirmation by replay).
//!
//! A trace lacks what tells nothing: locks taken again by their owner, tries that fail without an event, atomics that are no news.
//! Such operations pass whenever their thread's turn comes. Where an atomic could be the recorded one or one that left no event, it is
//! the recorded one; so a loop that spins may spin less often than it did. Steps of atomics that their thread does not come to are passed
//! over, and so are those of plain accesses, which are steps only where the recorded run had a race. Anything else that does not fit is a divergence; none of this makes a race that the detector does not see.
//!
//! After the last step the threads of the error go first, until their accesses were made or they stand before an operation that would
//! have left an event; then all go on in turn. Nothing that these threads do between their last steps and their accesses orders them.

use super::{Enforcer, Next, first_variant};
use crate::control::model::{Life, Model, Mutex, MutexKind, Object, Readiness, SPURIOUS};
use crate::control::operation::{Family, How, Kind, Operation};
use crate::control::pairs::{Pair, Touch};
use crate::control::plan::Step;
use crate::control::{CONSISTENT, lock};
use crate::report::Account;
use crate::thread::Thread;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Operations that the threads of the error may pass on the way to their accesses.
const MOST_PASSED: u32 = 10_000;
/// Looks of the watch at a thread of the error that has not come to a stop before the others go on without it.
pub(super) const LATE: u32 = 300;
/// Accesses of a thread at a place that are compared with others.
const MOST_TOUCHES: u32 = 64;

/// What an enforced order of recorded events knows besides its plan.
#[derive(Default)]
pub(super) struct Recorded {
    /// Steps until each thread's last one is done.
    through: BTreeMap<u32, usize>,
    /// How many of the threads that go first are through.
    arrived: usize,
    passed: u32,
    pub(super) late: u32,
    /// Threads that made an access at one of the wanted places after their last steps, by place and how often.
    touches: BTreeMap<(u32, u32), u32>,
    /// Operations that passed one after another, and since when.
    passes: u32,
    since: Option<Instant>,
    /// Turns since the last step.
    pub(super) turns: usize,
    /// Threads that have stopped since cycles were last looked for.
    pub(super) stopped: BTreeSet<u32>,
    pub(super) reproduced: bool,
}

/// What an operation has to do with the step that is due.
enum Answer {
    /// Performed by this variant it is the step.
    Fits(u32),
    /// It has no step.
    Passes,
    /// The step does not come.
    Lacks,
    Differs,
}

impl Recorded {
    pub(super) fn of(steps: &[Step]) -> Self {
        let through = steps.iter().enumerate().map(|(at, step)| (step.thread, at + 1)).collect();
        Self { through, ..Self::default() }
    }
}

impl Enforcer {
    pub(super) fn next_recorded(&mut self, model: &Model, beside: &BTreeSet<u32>) -> Next {
        while let Some(&step) = self.plan.steps.get(self.at) {
            let Some(operation) = model.pending(step.thread) else {
                if step.kind == Kind::Access {
                    self.advance();
                    continue;
                }
                if beside.contains(&step.thread) {
                    return Next::Wait;
                }
                if step.kind == Kind::Atomic {
                    self.advance();
                    continue;
                }
                self.absent(model, step.thread);
            };
            match self.answer(model, &step, operation) {
                Answer::Fits(variant) => {
                    self.must_be_the_object(&step, operation);
                    if !model.is_enabled(step.thread, variant) {
                        self.diverge(Some(operation), "the operation is not possible in this way now");
                    }
                    self.advance();
                    self.recorded.passes = 0;
                    return self.let_go(step.thread, variant);
                }
                Answer::Passes => {
                    if self.has_passed_too_long() {
                        self.diverge(Some(operation), "nothing happened for too long");
                    }
                    return match first_variant(model, step.thread) {
                        Some(variant) => self.let_go(step.thread, variant),
                        None => self.go_round(model, beside),
                    };
                }
                Answer::Lacks => self.advance(),
                Answer::Differs => self.diverge(Some(operation), "the thread came to something else"),
            }
        }
        self.after_the_last(model, beside)
    }

    fn answer(&self, model: &Model, step: &Step, operation: &Operation) -> Answer {
        let there = step.site == 0
            || operation.site == 0
            || matches!(step.kind, Kind::Begin | Kind::End | Kind::Exit)
            || step.site == self.plan.original(operation.site);
        if step.kind == Kind::Access && operation.kind == Kind::Access && there {
            return Answer::Fits(0);
        }
        if is_silent(model, step.thread, operation) {
            return Answer::Passes;
        }
        let guards = matches!(operation.kind, Kind::Once | Kind::OnceEnd);
        match (step.kind, operation.kind) {
            (Kind::Lock, Kind::Lock) if there => as_recorded(model, step, operation),
            (Kind::WaitBegin, Kind::WaitBegin) if there => {
                Answer::Fits(if operation.how == How::Timed { 0 } else { step.variant })
            }
            // A wait that ends for no reason takes its mutex by an ordinary lock.
            (Kind::WaitEnd, Kind::Lock) if there && step.variant == SPURIOUS => Answer::Fits(0),
            (step_kind, kind) if step_kind == kind && there => Answer::Fits(step.variant),
            // Guards of static variables are atomics where nothing is under control.
            (Kind::Atomic, _) if guards && there => Answer::Fits(0),
            (Kind::Access, _) => Answer::Lacks,
            (_, Kind::Atomic) => Answer::Passes,
            _ if guards => Answer::Passes,
            (Kind::Atomic, _) => Answer::Lacks,
            // Locks that a thread holds at its end are given up then.
            (Kind::Unlock, Kind::End) => Answer::Lacks,
            _ => Answer::Differs,
        }
    }

    /// A loop that waits for what comes later in the order passes for ever. The watch alone would see it late: the loop keeps the processor busy.
    fn has_passed_too_long(&mut self) -> bool {
        const LOOKS: u32 = 1024;
        let patience = self.patience();
        let Recorded { passes, since, .. } = &mut self.recorded;
        *passes += 1;
        match *passes {
            1 => *since = Some(Instant::now()),
            count if count % LOOKS == 0 => {
                return since.is_some_and(|since| since.elapsed() > patience);
            }
            _ => {}
        }
        false
    }

    fn after_the_last(&mut self, model: &Model, beside: &BTreeSet<u32>) -> Next {
        if self.plan.steering.is_some() {
            return self.next_steered(model, beside);
        }
        while let Some(&thread) = self.plan.last.get(self.recorded.arrived) {
            if !self.has_touched(thread) && self.recorded.passed < MOST_PASSED {
                if beside.contains(&thread) && self.recorded.late < LATE {
                    return Next::Wait;
                }
                if let Some(operation) = model.pending(thread)
                    && (is_silent(model, thread, operation) || operation.kind == Kind::Atomic)
                    && let Some(variant) = first_variant(model, thread)
                {
                    self.recorded.passed += 1;
                    return self.let_go(thread, variant);
                }
            }
            self.recorded.arrived += 1;
        }
        self.must_not_be_a_cycle(model);
        self.recorded.turns += 1;
        self.go_round(model, beside)
    }

    /// Threads that have stopped since the last look may wait for each other now.
    pub(super) fn must_not_be_a_cycle(&mut self, model: &Model) {
        let stopped = std::mem::take(&mut self.recorded.stopped);
        if let Some(cycle) = stopped.into_iter().find_map(|thread| model.cycle(thread)) {
            self.deadlock(model, Some(&cycle));
        }
    }

    /// The watch has looked, and nobody's turn it was. True: the others may go on.
    pub fn is_late(&mut self) -> bool {
        let waits = self.plan.recorded.is_some()
            && self.at == self.plan.steps.len()
            && match &self.plan.steering {
                Some(_) => self.steered.waits,
                None => self.recorded.arrived < self.plan.last.len(),
            };
        self.recorded.late += u32::from(waits);
        waits && self.recorded.late == LATE
    }

    fn has_touched(&self, thread: u32) -> bool {
        self.recorded.touches.keys().any(|(toucher, _)| *toucher == thread)
    }

    /// An access at one of the wanted places; both, if they race.
    pub(super) fn touched_recorded(
        &mut self,
        thread: &mut Thread,
        touch: Touch,
        account: impl FnOnce(&mut Thread) -> Account,
    ) -> Option<Pair> {
        if self.at < self.recorded.through.get(&thread.id).copied().unwrap_or(0) {
            return None;
        }
        let count = self.recorded.touches.entry((thread.id, touch.site)).or_default();
        *count += 1;
        if *count > MOST_TOUCHES {
            return None;
        }
        self.pairs.touched(thread, touch, &self.plan.race, |thread| Some(account(thread)))
    }
}

/// Whether the operation leaves no event, performed now by its first variant.
fn is_silent(model: &Model, thread: u32, operation: &Operation) -> bool {
    let Operation { kind, how, family, object, number, .. } = *operation;
    let fails = || how != How::Block;
    let object = model.objects.get(&object);
    match kind {
        Kind::Access | Kind::Fence | Kind::Yield | Kind::Spin | Kind::SemRead | Kind::Choose => true,
        Kind::SyncInit => family == Family::Mutex && number == CONSISTENT,
        Kind::Join => {
            let ended = model.life(number as u32).is_none_or(|Life { ended, .. }| *ended);
            !ended && fails()
        }
        Kind::SemWait => fails() && !matches!(object, Some(Object::Semaphore { value }) if *value > 0),
        Kind::Lock if number == lock::BEGINS_TO_WAIT => {
            model.readiness(operation.object, operation.mode, thread) == Readiness::Blocked
        }
        Kind::Lock => match object {
            Some(Object::Mutex(Mutex { owner, kind, .. })) => {
                *owner == Some(thread) && *kind == MutexKind::Recursive
            }
            _ => false,
        },
        Kind::Unlock => match object {
            Some(Object::Mutex(Mutex { owner, depth, .. })) if *owner == Some(thread) => *depth > 1,
            Some(Object::Mutex(Mutex { kind, robust, .. })) => *kind != MutexKind::Normal || *robust,
            _ => false,
        },
        _ => false,
    }
}

/// The variant by which an acquisition comes out as the step says: 0, it has the lock; 1, it has not.
fn as_recorded(model: &Model, step: &Step, operation: &Operation) -> Answer {
    let ready = model.readiness(operation.object, operation.mode, step.thread) == Readiness::Ready;
    let variant = match (step.variant, operation.how) {
        (0, How::Try) if !ready => return Answer::Differs,
        (0, _) => 0,
        (_, How::Try) if ready => return Answer::Differs,
        (_, How::Try) => 0,
        // A lock that looks who its owner is refuses at once.
        (_, _) if ready => 0,
        (_, _) => 1,
    };
    Answer::Fits(variant)
}
