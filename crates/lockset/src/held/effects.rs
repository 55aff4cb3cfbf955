//! What library calls do to the locks held.

use super::kinds::counts;
use super::{Locks, places};
use raddle_facts::{ATOMIC_SECTION, Guard, HeldLock, LocalLocks, LockMode, Released, Term};
use raddle_ir::{CallArg, FunctionId, Operand, Reg};
use raddle_libmodel::{Arg, CondOp, Effect, How, LockFamily, Mode, Returns, SemOp, SyncKind, VerifierOp};

/// A call of a library function in the text of a function; what names its results is no longer in the state.
pub(super) struct LibraryCall<'a> {
    pub function: FunctionId,
    pub args: &'a [CallArg],
    pub result: Option<Reg>,
}

/// What acquiring means for a lock of some kind.
pub(super) struct Taking {
    pub lock: Term,
    pub mode: LockMode,
    pub guard: Option<Guard>,
    /// Whether taking it again while it is held is one more acquisition.
    pub counts: bool,
    pub in_histories: bool,
}

impl Locks<'_> {
    pub(super) fn library_call(&self, call: &LibraryCall<'_>, effect: &Effect, state: &mut LocalLocks) {
        match *effect {
            Effect::Lock { family, lock, mode, how, returns } => {
                let Some((lock, places)) = self.lock_argument(call, lock) else { return };
                let fallible = how != How::Block
                    || self.kinds.may_fail(self, family, &places)
                    || family.is_kernel() && returns == Returns::Errno && call.result.is_some();
                let guard = if fallible {
                    let Some(guard) = success(call, returns) else { return };
                    Some(guard)
                } else {
                    None
                };
                let held = state.held.iter().find(|held| held.lock == lock).map(|held| held.mode);
                let counts = held.is_some_and(|held| counts(family, model_mode(held), mode));
                let mode = fact_mode(mode);
                self.acquire(state, Taking { lock, mode, guard, counts, in_histories: true });
            }
            Effect::Unlock { family, lock, .. } => match self.lock_argument(call, lock) {
                Some((lock, places)) => self.release(state, lock, &places, family),
                None => forget_all(state),
            },
            Effect::SyncInit { kind, object, .. } | Effect::SyncDestroy { kind, object, .. } => {
                self.renew_object(call, kind, object, state);
            }
            Effect::Cond(CondOp::Wait { mutex, .. }, returns) => match self.lock_argument(call, mutex) {
                // A wait with a robust mutex can return without it.
                Some((lock, places)) if self.kinds.may_fail(self, LockFamily::PthreadMutex, &places) => {
                    state.held.retain(|held| held.lock != lock);
                    self.release(state, lock, &places, LockFamily::PthreadMutex);
                    if let Some(guard) = success(call, returns) {
                        let mode = LockMode::Exclusive;
                        let guard = Some(guard);
                        self.acquire(state, Taking { lock, mode, guard, counts: false, in_histories: true });
                    }
                }
                Some((lock, places)) => self.wait(state, lock, &places),
                None => forget_all(state),
            },
            Effect::Sem(SemOp::Wait { sem, how }, returns) => {
                let Some((lock, places)) = self.lock_argument(call, sem) else { return };
                if !self.are_semaphores(&places) {
                    return;
                }
                let guard = match how {
                    How::Block => None,
                    How::Try | How::Timed { .. } => {
                        let Some(guard) = success(call, returns) else { return };
                        Some(guard)
                    }
                };
                let mode = LockMode::Exclusive;
                self.acquire(state, Taking { lock, mode, guard, counts: false, in_histories: false });
            }
            Effect::Sem(SemOp::Post { sem }, _) if !self.semaphores.is_empty() => {
                if let Some((lock, places)) = self.lock_argument(call, sem)
                    && self.may_be_semaphore(&places)
                {
                    self.release(state, lock, &places, LockFamily::Custom);
                }
            }
            Effect::Verifier(VerifierOp::AtomicBegin) => self.enter_section(state),
            Effect::Verifier(VerifierOp::AtomicEnd) => self.leave_section(state),
            _ => {}
        }
    }

    pub(super) fn enter_section(&self, state: &mut LocalLocks) {
        self.acquire(
            state,
            Taking {
                lock: ATOMIC_SECTION,
                mode: LockMode::Exclusive,
                guard: None,
                counts: true,
                in_histories: false,
            },
        );
    }

    pub(super) fn leave_section(&self, state: &mut LocalLocks) {
        match state.held.iter().position(|held| held.lock == ATOMIC_SECTION) {
            Some(at) if state.held[at].guard.is_none() => take_one(state, at),
            other => {
                // No place stands for the section of a caller.
                other.into_iter().for_each(|at| drop(state.held.remove(at)));
                state.released = Released::Anything;
            }
        }
    }

    fn lock_argument(&self, call: &LibraryCall<'_>, arg: Arg) -> Option<(Term, Released)> {
        let operand: Operand = call.args.get(usize::from(arg.0))?.value;
        Some((self.term(call.function, operand), self.places_of(call.function, operand)))
    }

    pub(super) fn acquire(&self, state: &mut LocalLocks, new: Taking) {
        let Taking { lock, mode, guard, counts, in_histories } = new;
        let taken = HeldLock { lock, mode, depth: 1, guard, history: Vec::new() };
        match state.held.binary_search_by_key(&lock, |held| held.lock) {
            Err(at) => state.held.insert(at, taken),
            Ok(at) => {
                let held = &mut state.held[at];
                if held.guard.is_some() {
                    *held = taken;
                } else if counts && guard.is_none() {
                    held.depth = (held.depth + 1).min(HeldLock::DEEPEST);
                }
            }
        }
        if guard.is_none() && mode == LockMode::Exclusive && in_histories && self.is_global(lock) {
            self.note(state, lock);
        }
    }

    /// A global term was acquired exclusively, on every path to here.
    pub(super) fn note(&self, state: &mut LocalLocks, lock: Term) {
        for held in &mut state.held {
            if held.lock != lock && self.has_history(held) {
                insert(&mut held.history, lock);
            }
        }
        insert(&mut state.acquired, lock);
    }

    pub(super) fn has_history(&self, held: &HeldLock) -> bool {
        held.mode == LockMode::Exclusive
            && held.lock != ATOMIC_SECTION
            && (self.semaphores.is_empty() || !self.may_be_semaphore(&self.places(held.lock)))
            && (self.words.is_empty() || !self.may_be_word(&self.places(held.lock)))
    }

    pub(super) fn release(&self, state: &mut LocalLocks, lock: Term, places: &Released, family: LockFamily) {
        let counted = family != LockFamily::PthreadRwlock;
        if let Ok(at) = state.held.binary_search_by_key(&lock, |held| held.lock)
            && state.held[at].guard.is_none()
            && counted
        {
            take_one(state, at);
            return;
        }
        state.held.retain_mut(|held| {
            if held.lock == lock {
                return false;
            }
            if !self.may_be(held.lock, places, Some(lock)) {
                return true;
            }
            held.depth -= 1;
            counted && held.depth > 0
        });
        places::add(&mut state.released, places);
    }

    /// Initialised or destroyed: whoever held it does no longer.
    fn renew_object(&self, call: &LibraryCall<'_>, kind: SyncKind, object: Arg, state: &mut LocalLocks) {
        match kind {
            SyncKind::Mutex
            | SyncKind::Rwlock
            | SyncKind::Spin
            | SyncKind::C11Mutex
            | SyncKind::KernelLock => {}
            SyncKind::Semaphore | SyncKind::KernelSemaphore if !self.semaphores.is_empty() => {}
            SyncKind::Semaphore
            | SyncKind::KernelSemaphore
            | SyncKind::Cond
            | SyncKind::C11Cond
            | SyncKind::Barrier => return,
        }
        match self.lock_argument(call, object) {
            Some((lock, places)) => {
                state.held.retain(|held| held.lock != lock && !self.may_be(held.lock, &places, Some(lock)));
                places::add(&mut state.released, &places);
            }
            None => forget_all(state),
        }
    }

    /// The mutex is given up, whole, and taken back as it was.
    fn wait(&self, state: &mut LocalLocks, lock: Term, places: &Released) {
        let mut certain = false;
        for held in &mut state.held {
            if held.lock == lock {
                certain = held.guard.is_none() && held.mode == LockMode::Exclusive;
                held.history.clear();
            } else if self.may_be(held.lock, places, Some(lock)) {
                held.history.clear();
            }
        }
        if certain && self.is_global(lock) {
            self.note(state, lock);
        }
        places::add(&mut state.renewed, places);
    }

    /// The register is assigned: what names it means something else from here.
    pub(super) fn assign(&self, function: FunctionId, reg: Reg, state: &mut LocalLocks) {
        state.held.retain(|held| {
            !held.lock.registers().any(|named| named == (function, reg))
                && held.guard.is_none_or(|guard| (guard.function, guard.reg) != (function, reg))
        });
    }
}

/// After a call that may have done anything. What was acquired before it, was.
pub(super) fn forget_all(state: &mut LocalLocks) {
    state.held.clear();
    state.released = Released::Anything;
    state.renewed = Released::Anything;
}

pub(super) fn insert(list: &mut Vec<Term>, term: Term) {
    if let Err(at) = list.binary_search(&term) {
        list.insert(at, term);
    }
}

fn take_one(state: &mut LocalLocks, at: usize) {
    state.held[at].depth -= 1;
    if state.held[at].depth == 0 {
        state.held.remove(at);
    }
}

/// The condition under which the call did what it says.
fn success(call: &LibraryCall<'_>, returns: Returns) -> Option<Guard> {
    let zero = match returns {
        Returns::Errno | Returns::Thrd | Returns::MinusOne | Returns::ZeroOnSuccess => true,
        Returns::OneOnSuccess => false,
        Returns::Nothing | Returns::Flags => return None,
    };
    Some(Guard { function: call.function, reg: call.result?, zero })
}

pub(super) fn fact_mode(mode: Mode) -> LockMode {
    match mode {
        Mode::Exclusive => LockMode::Exclusive,
        Mode::Shared => LockMode::Shared,
    }
}

fn model_mode(mode: LockMode) -> Mode {
    match mode {
        LockMode::Exclusive => Mode::Exclusive,
        LockMode::Shared => Mode::Shared,
    }
}
