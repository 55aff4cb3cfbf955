//! Which choices are open, and what a step does.

use crate::channels::{Use, UseKind};
use crate::exec::Halt;
use crate::machine::Interp;
use crate::options::SpuriousWakeups;
use crate::readiness;
use crate::stutter::{self, local_token};
use crate::sync::cond::{SIGNALLED, SPURIOUS, TIMED_OUT};
use crate::sync::{OnceState, Readiness, SyncObject};
use crate::thread::{Action, Phase, Stand, Thread, Until, Wait};
use raddle_event::{Addr, Choice, EventKind, Problem, ProblemKind, ThreadId};
use raddle_machine::{LockHow, Machine, OpKind, Operation, Place, Rest, Sink, Status};

pub(crate) fn enabled(interp: &Interp, choices: &mut Vec<Choice>) {
    let view = View::of(interp);
    for thread in interp.threads.iter() {
        view.choices(thread, choices);
    }
}

/// Performs a choice and runs the thread to its next stop. Panics when the choice is not open.
pub(crate) fn step(interp: &mut Interp, choice: Choice, sink: &mut dyn Sink) {
    if interp.open.is_none() {
        let mut choices = std::mem::take(&mut interp.room);
        interp.enabled(&mut choices);
        interp.open = Some(choices);
    }
    let own = |other: &&Choice| other.thread == choice.thread;
    let variants = interp.open.as_ref().map_or(0, |open| {
        open.iter().filter(own).fold(0, |variants, other| variants | 1 << other.variant.min(63))
    });
    let open = interp.open.as_ref().is_some_and(|open| open.contains(&choice));
    assert!(open && interp.world.state.status == Status::Running, "{choice:?} is not enabled");
    let view = View::of(interp);
    let (version, others) = (view.version, view.others(&interp.threads[choice.thread]));
    interp.forget_open();
    interp.world.state.steps += 1;
    let mut cx = interp.cx(choice.thread, sink);
    cx.thread.stutter.takes(choice.variant, variants, version, others);
    let (kind, action) = match &cx.thread.stand {
        Stand::Before { operation, action } => (operation.kind, action.clone()),
        Stand::Ended => unreachable!("ended threads have no choices"),
    };
    let outcome = match action {
        Action::Begin => {
            cx.event(EventKind::Begin);
            if cx.thread.id == ThreadId::MAIN { cx.start_constructor(0) } else { Ok(()) }
        }
        Action::End => {
            cx.perform_end();
            Err(Halt)
        }
        Action::Resume if !matches!(kind, OpKind::Access { .. }) => Ok(()),
        Action::Resume => {
            cx.thread.phase = match std::mem::replace(&mut cx.thread.phase, Phase::Start) {
                Phase::Start => Phase::Granted,
                Phase::Copied(piece) => Phase::CopiedGranted(piece),
                Phase::ByValue(pieces) => Phase::ByValueGranted(pieces),
                Phase::Library(journal) => Phase::LibraryGranted(journal),
                granted => granted,
            };
            Ok(())
        }
        Action::Decide => {
            cx.perform_decision(choice.variant);
            Ok(())
        }
        Action::Atomic => cx.perform_atomic(),
        Action::Fence => {
            cx.perform_fence();
            Ok(())
        }
        Action::Effect => cx.perform_present(choice.variant),
        Action::Channel(operation) => cx.perform_channel(&operation),
        Action::WaitEnd(wait) => cx.perform_wait_end(wait, choice.variant),
        Action::BarrierLeave { barrier, round, serial } => {
            cx.perform_leave(barrier, round, serial);
            Ok(())
        }
        Action::OnceEnd(once) => {
            cx.perform_once_end(once);
            Ok(())
        }
        Action::AtomicEnter => cx.perform_atomic_enter(),
        Action::AtomicLeave => {
            cx.perform_atomic_leave();
            Ok(())
        }
        Action::Exit(ending) => {
            cx.perform_exit(&ending);
            Err(Halt)
        }
    };
    if outcome.is_ok() {
        cx.run();
    }
    if let Some(lock) = kind.lock() {
        disturb_roused(interp, choice.thread, lock);
    }
    after_step(interp, choice.thread);
}

/// Threads that have woken up for no reason, and wait for this lock, may find something new.
fn disturb_roused(interp: &mut Interp, moved: ThreadId, lock: Addr) {
    for id in (0..interp.threads.len() as u32).map(ThreadId).filter(|id| *id != moved) {
        let roused = matches!(
            &interp.threads[id].stand,
            Stand::Before { action: Action::WaitEnd(Wait { mutex, until: Until::Spurious, .. }), .. }
                if *mutex == lock
        );
        if roused {
            interp.threads.get_mut(id).stutter.note_use_of_lock();
        }
    }
}

/// New threads join in; the thread's stop is noted; the run may be over.
fn after_step(interp: &mut Interp, moved: ThreadId) {
    for thread in std::mem::take(&mut interp.world.spawned) {
        interp.threads.push(thread);
        let id = ThreadId(interp.threads.len() as u32 - 1);
        note_stop(interp, id);
    }
    if interp.world.state.status != Status::Running {
        return;
    }
    note_stop(interp, moved);
    if interp.world.state.steps >= interp.world.options.step_limit {
        interp.world.state.status = Status::Limit { reason: "visible operations of one run".to_owned() };
        return;
    }
    if let Some(circle) = circle_of_joins(interp, moved) {
        let problems: Vec<Problem> =
            circle.iter().filter_map(|id| waiting_without_end(interp, interp.threads.get(*id)?)).collect();
        let site = problems[0].site;
        interp.world.problems.extend(problems);
        let reason = "threads that join each other, where a join may fail (EDEADLK)".to_owned();
        interp.world.state.status = Status::Unsupported { site, reason };
        return;
    }
    let mut choices = std::mem::take(&mut interp.room);
    interp.enabled(&mut choices);
    let any = !choices.is_empty();
    let others_can_move = choices.iter().any(|choice| choice.thread != moved);
    if others_can_move {
        interp.threads.get_mut(moved).stutter.note_chance();
    }
    if any {
        interp.open = Some(choices);
    } else {
        interp.room = choices;
        stuck(interp);
    }
}

/// Threads that wait for each other's end, from this one on. POSIX lets one of the joins fail, and what comes after it then runs; or they
/// wait without end.
fn circle_of_joins(interp: &Interp, moved: ThreadId) -> Option<Vec<ThreadId>> {
    let joins = |id: ThreadId| match interp.threads.get(id)?.stand {
        // One that waits for some time only goes on by itself.
        Stand::Before {
            operation: Operation { kind: OpKind::Join { child, how: LockHow::Block }, .. },
            ..
        } => (!is_joinable_now(interp, id, child)).then_some(child),
        _ => None,
    };
    let mut circle = vec![moved];
    let mut next = joins(moved)?;
    while next != moved && !circle.contains(&next) {
        circle.push(next);
        next = joins(next)?;
    }
    (next == moved).then_some(circle)
}

/// Whether a join goes on at once, with an error or not.
fn is_joinable_now(interp: &Interp, thread: ThreadId, child: ThreadId) -> bool {
    let life = interp.world.state.life(child);
    life.ended || life.detached || life.joined || child == thread
}

fn waiting_without_end(interp: &Interp, thread: &Thread) -> Option<Problem> {
    let Stand::Before { operation, .. } = &thread.stand else { return None };
    Some(Problem {
        kind: ProblemKind::Deadlock,
        thread: thread.id,
        site: operation.site,
        object: operation.kind.waited_for(),
        stack: interp.call_sites(thread.id),
        detail: String::new(),
    })
}

fn note_stop(interp: &mut Interp, id: ThreadId) {
    let mut sink = raddle_machine::IgnoreEvents;
    let mut cx = interp.cx(id, &mut sink);
    let old = cx.thread.stutter.local;
    cx.trim_registers();
    let ended = matches!(cx.thread.stand, Stand::Ended);
    let local = if ended { 1 } else { cx.stop_hash() };
    let version = cx.version();
    let locals = cx.world.state.locals.wrapping_sub(if old == 0 { 0 } else { local_token(id.0, old) });
    cx.world.state.locals = locals.wrapping_add(local_token(id.0, local));
    if ended {
        cx.thread.stutter.forget();
        cx.thread.stutter.local = local;
    } else {
        let held = cx.thread.held.len() as u32;
        let rest = match &cx.thread.stand {
            Stand::Before { operation: Operation { kind: OpKind::WaitBegin { .. }, .. }, .. } => {
                Rest::Detours
            }
            Stand::Before { action: Action::WaitEnd(Wait { until: Until::Spurious, .. }), .. } => {
                Rest::Roused
            }
            _ => Rest::WithFewestLocks,
        };
        cx.thread.stutter.stops_at(local, version, locals, Place { held, rest });
        let spin =
            matches!(cx.thread.stand, Stand::Before { operation: Operation { kind: OpKind::Spin, .. }, .. });
        if spin {
            cx.thread.stutter.sleep_now(version);
        }
        if cx.thread.stutter.sleep.is_some() && cx.world.state.status == Status::Running {
            cx.assume("A-HASH");
            cx.assume("A-LOOP");
        }
    }
}

/// Nobody can move: which kind of end is it?
fn stuck(interp: &mut Interp) {
    let view = View::of(interp);
    let mut spinning = false;
    let mut chance = false;
    let mut problems = Vec::new();
    for thread in interp.threads.iter() {
        let Some(problem) = waiting_without_end(interp, thread) else { continue };
        let asleep = view.asleep(thread);
        spinning |= asleep;
        chance |= asleep && thread.stutter.sleep.is_some_and(|sleep| sleep.chance || sleep.elsewhere);
        chance |= waits_for_outside(thread);
        problems.push(problem);
    }
    if chance {
        interp.world.state.status = Status::Infeasible;
        return;
    }
    if spinning {
        for problem in &mut problems {
            problem.kind = ProblemKind::Livelock;
        }
    }
    interp.world.problems.extend(problems);
    interp.world.state.status = if spinning { Status::Livelock } else { Status::Deadlock };
}

/// Something that happens outside of the process may let the thread go on: the environment has chosen that nothing does.
fn waits_for_outside(thread: &Thread) -> bool {
    match &thread.stand {
        Stand::Before { action: Action::Channel(Use { kind: UseKind::Waits(wait), .. }), .. } => {
            wait.until == readiness::Until::ReadyOrOutside
        }
        _ => false,
    }
}

/// What decides about choices.
struct View<'a> {
    interp: &'a Interp,
    version: u64,
}

impl<'a> View<'a> {
    fn of(interp: &'a Interp) -> Self {
        let state = &interp.world.state;
        let version = stutter::version(interp.memory.version, interp.world.sync.version, state);
        Self { interp, version }
    }

    fn others(&self, thread: &Thread) -> u64 {
        self.interp.world.state.locals.wrapping_sub(local_token(thread.id.0, thread.stutter.local))
    }

    fn choices(&self, thread: &Thread, choices: &mut Vec<Choice>) {
        let first = choices.len();
        self.possible(thread, choices);
        if thread.stutter.sleep.is_some() && choices.len() > first {
            let others = self.others(thread);
            let mut at = first;
            while at < choices.len() {
                if thread.stutter.rules_out(choices[at].variant, self.version, others) {
                    choices.remove(at);
                } else {
                    at += 1;
                }
            }
        }
    }

    /// The thread could move, but only in ways that lead nowhere.
    fn asleep(&self, thread: &Thread) -> bool {
        let mut choices = Vec::new();
        self.possible(thread, &mut choices);
        !choices.is_empty()
    }

    fn possible(&self, thread: &Thread, choices: &mut Vec<Choice>) {
        let Stand::Before { operation, action } = &thread.stand else { return };
        let mut open = |variant| choices.push(Choice { thread: thread.id, variant });
        let sync = &self.interp.world.sync;
        match operation.kind {
            OpKind::Lock { lock, mode, how } => match (how, sync.lock_readiness(lock, mode, thread.id)) {
                (_, Readiness::Ready) | (LockHow::Try, _) => open(0),
                (LockHow::Timed, Readiness::Blocked) => open(1),
                (LockHow::Block, Readiness::Blocked) => {}
            },
            OpKind::SemWait { sem, how } => {
                let empty = match sync.get(sem) {
                    Some(SyncObject::Semaphore { value }) => *value == 0,
                    Some(_) => false,
                    None => !self.kernel_semaphore(thread),
                };
                match how {
                    LockHow::Try => open(0),
                    _ if !empty => open(0),
                    LockHow::Timed => open(1),
                    LockHow::Block => {}
                }
            }
            OpKind::Join { child, how } => {
                let ready = is_joinable_now(self.interp, thread.id, child);
                match how {
                    LockHow::Try => open(0),
                    _ if ready => open(0),
                    LockHow::Timed => open(1),
                    LockHow::Block => {}
                }
            }
            OpKind::WaitEnd { cond, mutex } => {
                if sync.lock_readiness(mutex, raddle_event::LockMode::Exclusive, thread.id)
                    != Readiness::Ready
                {
                    return;
                }
                if sync.is_woken(cond, thread.id) {
                    return open(SIGNALLED);
                }
                if matches!(action, Action::WaitEnd(wait) if wait.until == Until::TimedOut) {
                    if self.interp.world.options.spurious_wakeups == SpuriousWakeups::On {
                        open(SPURIOUS);
                    }
                    open(TIMED_OUT);
                }
            }
            OpKind::WaitBegin { mutex, .. } => {
                open(SIGNALLED);
                if self.may_wake_spuriously(thread, mutex) {
                    open(SPURIOUS);
                }
            }
            OpKind::Signal { cond } => {
                let waiting = match sync.get(cond) {
                    Some(SyncObject::Cond(waiters)) => waiters.iter().filter(|w| !w.signalled).count() as u32,
                    _ => 0,
                };
                (0..waiting.max(1)).for_each(open);
            }
            OpKind::BarrierLeave { barrier } => {
                let Action::BarrierLeave { round, .. } = action else { return };
                let over = match sync.get(barrier) {
                    Some(SyncObject::Barrier(barrier)) => barrier.round > *round,
                    _ => true,
                };
                if over {
                    open(0);
                }
            }
            OpKind::Once { once } => {
                if !matches!(sync.get(once), Some(SyncObject::Once(OnceState::Running(_)))) {
                    open(0);
                }
            }
            // Destroying a barrier waits, as glibc's does, until all threads of its last round have left.
            OpKind::SyncDestroy { object } => {
                if !matches!(sync.get(object), Some(SyncObject::Barrier(barrier)) if barrier.leaving > 0) {
                    open(0);
                }
            }
            OpKind::Channel { .. } => {
                let channels = &self.interp.world.state.channels;
                if !matches!(action, Action::Channel(operation) if !channels.is_ready(operation)) {
                    open(0);
                }
            }
            OpKind::Choose { variants } => (0..variants).for_each(open),
            OpKind::Begin
            | OpKind::End
            | OpKind::Create
            | OpKind::Detach { .. }
            | OpKind::Unlock { .. }
            | OpKind::SyncInit { .. }
            | OpKind::Broadcast { .. }
            | OpKind::BarrierArrive { .. }
            | OpKind::SemPost { .. }
            | OpKind::SemRead { .. }
            | OpKind::OnceEnd { .. }
            | OpKind::Atomic { .. }
            | OpKind::Fence
            | OpKind::Access { .. }
            | OpKind::Exit
            | OpKind::Yield
            | OpKind::Spin => open(0),
        }
    }

    /// Whether the wait at which the thread stands may decide to end for no reason.
    fn may_wake_spuriously(&self, thread: &Thread, mutex: Addr) -> bool {
        use raddle_libmodel::{CondOp, Effect, How};
        self.interp.world.options.spurious_wakeups == SpuriousWakeups::On
            && thread.held.iter().any(|held| held.lock == mutex)
            && !matches!(
                self.interp.effect_of(thread),
                Some(Effect::Cond(CondOp::Wait { how: How::Timed { .. }, .. }, _))
            )
    }

    /// A semaphore that no call has touched yet: the kernel's start at 1, all others at 0.
    fn kernel_semaphore(&self, thread: &Thread) -> bool {
        self.interp.callee_of(thread).is_some_and(|function| {
            let name = self.interp.image.name(function);
            !name.starts_with("sem_") && !name.contains("complet")
        })
    }
}
