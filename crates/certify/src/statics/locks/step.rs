//! What one instruction does to the locks held.

use super::super::calls::{Call, Way};
use super::super::code::At;
use super::super::places::{self, Named};
use super::super::returning::ends;
use super::Locks;
use super::crossing::Crossing;
use super::kinds::is_one_more;
use super::state::State;
use raddle_facts::{ATOMIC_SECTION, Guard, HeldLock, LockMode, Released, Term};
use raddle_ir::{CallArg, FunctionId, Inst, Reg};
use raddle_libmodel::{Arg, CondOp, Effect, How, LockFamily, Mode, Returns, SemOp, SyncKind, VerifierOp};

/// An acquisition.
pub(super) struct Taking {
    pub lock: Term,
    pub mode: LockMode,
    pub guard: Option<Guard>,
    /// Taking it again while it is held is one more acquisition.
    pub counts: bool,
    pub in_histories: bool,
}

impl Locks<'_, '_> {
    /// `false`: control does not come past it.
    pub(super) fn step(&self, at: At, state: &mut State) -> bool {
        let body = &self.code.program.functions[at.function].blocks[at.block];
        let inst = &body.insts[at.index];
        if !matches!(inst, Inst::Call { .. }) {
            inst.each_dst(|dst| state.assign(at.function, dst));
            self.word_step(at.function, inst, state);
            return true;
        }
        match self.code.calls.at(at.function, self.code.site(at)) {
            Some(call) => self.call(at.function, call, state),
            None => {
                state.forget();
                true
            }
        }
    }

    fn call(&self, function: FunctionId, call: &Call, state: &mut State) -> bool {
        let (dsts, args) = call.parts(self.code, function);
        let mut outcomes: Vec<State> = Vec::new();
        for (_, effect) in call.effects.iter().filter(|(_, effect)| !ends(effect)) {
            let mut after = state.clone();
            dsts.iter().for_each(|dst| after.assign(function, *dst));
            self.library(function, args, dsts.first().copied(), effect, &mut after);
            for run in call.runs.iter().filter(|run| matches!(run.way, Way::Callback | Way::Once)) {
                if self.returning.returns(run.function) {
                    self.lose(&State::of(&self.code.facts.locks.functions[run.function].at_exit), &mut after);
                }
            }
            outcomes.push(after);
        }
        for run in call.runs.iter().filter(|run| matches!(run.way, Way::Call | Way::AtomicCall)) {
            if !self.returning.returns(run.function) {
                continue;
            }
            let mut after = state.clone();
            if run.way == Way::AtomicCall {
                self.enter_section(&mut after);
            }
            self.run(&Crossing { locks: self, caller: function, call, run }, dsts, &mut after);
            if run.way == Way::AtomicCall {
                leave_section(&mut after);
            }
            outcomes.push(after);
        }
        let nothing_known = call.effects.is_empty() && call.runs.is_empty() && call.unknown.is_empty();
        if !call.unknown.is_empty() || nothing_known {
            let mut after = state.clone();
            dsts.iter().for_each(|dst| after.assign(function, *dst));
            if nothing_known {
                after.forget();
            } else {
                // What it was given or was handed out is not held any more, all else is (A-EXTLOCK).
                let used = Released::These(self.code.used_memory(function, args));
                self.lose(&State { released: used.clone(), renewed: used, ..State::default() }, &mut after);
            }
            outcomes.push(after);
        }
        let Some(first) = outcomes.pop() else { return false };
        *state = outcomes.iter().fold(first, |so_far, other| so_far.met(other));
        true
    }

    /// An ordinary call: what the callee loses, then what it leaves held, in the caller's words.
    fn run(&self, crossing: &Crossing<'_, '_, '_>, dsts: &[Reg], state: &mut State) {
        let exit = State::of(&self.code.facts.locks.functions[crossing.run.function].at_exit);
        self.lose(&exit, state);
        let taken: Vec<HeldLock> = exit.held.values().filter_map(|held| crossing.up(held, dsts)).collect();
        dsts.iter().for_each(|dst| state.assign(crossing.caller, *dst));
        for term in &exit.acquired {
            self.note(state, *term);
        }
        for held in &taken {
            if held.guard.is_none() && self.has_history(held) && self.code.is_global(held.lock) {
                self.note(state, held.lock);
            }
        }
        taken.into_iter().for_each(|held| state.add(held));
    }

    fn library(
        &self,
        function: FunctionId,
        args: &[CallArg],
        result: Option<Reg>,
        effect: &Effect,
        state: &mut State,
    ) {
        let named = |arg: Arg| self.code.named(function, args, arg);
        let success = |returns: Returns| {
            let zero = match returns {
                Returns::Errno | Returns::Thrd | Returns::MinusOne | Returns::ZeroOnSuccess => true,
                Returns::OneOnSuccess => false,
                Returns::Nothing | Returns::Flags => return None,
            };
            Some(Guard { function, reg: result?, zero })
        };
        match *effect {
            Effect::Lock { family, lock, mode, how, returns } => {
                let Some(Named { term, places }) = named(lock) else { return };
                let fallible = how != How::Block
                    || family == LockFamily::PthreadMutex && self.kinds.may_fail(self.code, &places)
                    || family.is_kernel() && returns == Returns::Errno && result.is_some();
                let guard = if fallible { success(returns) } else { None };
                if fallible && guard.is_none() {
                    return;
                }
                let mode = match mode {
                    Mode::Exclusive => LockMode::Exclusive,
                    Mode::Shared => LockMode::Shared,
                };
                let counts = state.held.get(&term).is_some_and(|held| is_one_more(family, held.mode, mode));
                self.acquire(state, Taking { lock: term, mode, guard, counts, in_histories: true });
            }
            Effect::Unlock { family, lock, .. } => match named(lock) {
                Some(named) => self.release(state, &named, family),
                None => state.forget(),
            },
            Effect::SyncInit { kind, object, .. } | Effect::SyncDestroy { kind, object, .. } => {
                let is_lock = match kind {
                    SyncKind::Mutex
                    | SyncKind::Rwlock
                    | SyncKind::Spin
                    | SyncKind::C11Mutex
                    | SyncKind::KernelLock => true,
                    SyncKind::Semaphore | SyncKind::KernelSemaphore => {
                        !self.code.facts.locks.semaphores.is_empty()
                    }
                    SyncKind::Cond | SyncKind::C11Cond | SyncKind::Barrier => false,
                };
                match named(object) {
                    _ if !is_lock => {}
                    Some(Named { term, places }) => {
                        state.held.retain(|lock, _| {
                            *lock != term && !self.code.may_mean(*lock, &places, Some(term))
                        });
                        places::add(&mut state.released, &places);
                    }
                    None => state.forget(),
                }
            }
            Effect::Cond(CondOp::Wait { mutex, .. }, returns) => match named(mutex) {
                // A wait with a robust mutex can return without it.
                Some(named) if self.kinds.may_fail(self.code, &named.places) => {
                    state.held.remove(&named.term);
                    self.release(state, &named, LockFamily::PthreadMutex);
                    if let Some(guard) = success(returns) {
                        let lock = named.term;
                        let mode = LockMode::Exclusive;
                        let guard = Some(guard);
                        self.acquire(state, Taking { lock, mode, guard, counts: false, in_histories: true });
                    }
                }
                Some(named) => self.wait(state, &named),
                None => state.forget(),
            },
            Effect::Sem(SemOp::Wait { sem, how }, returns) => {
                let Some(Named { term, places }) = named(sem) else { return };
                let guard = if how == How::Block { None } else { success(returns) };
                if self.are_semaphores(&places) && (how == How::Block || guard.is_some()) {
                    let mode = LockMode::Exclusive;
                    self.acquire(
                        state,
                        Taking { lock: term, mode, guard, counts: false, in_histories: false },
                    );
                }
            }
            Effect::Sem(SemOp::Post { sem }, _) => match named(sem) {
                Some(named) if self.may_be_semaphore(&named.places) => {
                    self.release(state, &named, LockFamily::Custom);
                }
                Some(_) => {}
                None => state.forget(),
            },
            Effect::Verifier(VerifierOp::AtomicBegin) => self.enter_section(state),
            Effect::Verifier(VerifierOp::AtomicEnd) => leave_section(state),
            _ => {}
        }
    }

    pub(super) fn acquire(&self, state: &mut State, new: Taking) {
        let Taking { lock, mode, guard, counts, in_histories } = new;
        let taken = HeldLock { lock, mode, depth: 1, guard, history: Vec::new() };
        match state.held.get_mut(&lock) {
            None => drop(state.held.insert(lock, taken)),
            Some(held) if held.guard.is_some() => *held = taken,
            Some(held) if counts && guard.is_none() => {
                held.depth = (held.depth + 1).min(HeldLock::DEEPEST);
            }
            Some(_) => {}
        }
        if guard.is_none() && mode == LockMode::Exclusive && in_histories && self.code.is_global(lock) {
            self.note(state, lock);
        }
    }

    /// A lock that all threads name alike was acquired exclusively, on every path to here.
    fn note(&self, state: &mut State, lock: Term) {
        for held in state.held.values_mut() {
            if held.lock != lock && self.has_history(held) && !held.history.contains(&lock) {
                held.history.push(lock);
                held.history.sort_unstable();
            }
        }
        state.acquired.insert(lock);
    }

    pub(super) fn release(&self, state: &mut State, named: &Named, family: LockFamily) {
        // A read lock inside a write lock of POSIX fails at once, and its unlock releases the write lock.
        let counted = family != LockFamily::PthreadRwlock;
        if counted && state.held.get(&named.term).is_some_and(|held| held.guard.is_none()) {
            state.take_one(named.term);
            return;
        }
        state.held.retain(|lock, held| {
            if *lock == named.term {
                return false;
            }
            if !self.code.may_mean(*lock, &named.places, Some(named.term)) {
                return true;
            }
            held.depth = held.depth.saturating_sub(1);
            counted && held.depth > 0
        });
        places::add(&mut state.released, &named.places);
    }

    /// The mutex is given up, whole, and taken back as it was.
    fn wait(&self, state: &mut State, named: &Named) {
        let mut certain = false;
        for held in state.held.values_mut() {
            if held.lock == named.term {
                certain = held.guard.is_none() && held.mode == LockMode::Exclusive;
                held.history.clear();
            } else if self.code.may_mean(held.lock, &named.places, Some(named.term)) {
                held.history.clear();
            }
        }
        if certain && self.code.is_global(named.term) {
            self.note(state, named.term);
        }
        places::add(&mut state.renewed, &named.places);
    }

    pub(super) fn enter_section(&self, state: &mut State) {
        let (lock, mode) = (ATOMIC_SECTION, LockMode::Exclusive);
        self.acquire(state, Taking { lock, mode, guard: None, counts: true, in_histories: false });
    }
}

fn leave_section(state: &mut State) {
    if state.held.get(&ATOMIC_SECTION).is_some_and(|held| held.guard.is_none()) {
        state.take_one(ATOMIC_SECTION);
    } else {
        // No place stands for the section of a caller.
        state.held.remove(&ATOMIC_SECTION);
        state.released = Released::Anything;
    }
}
