//! One instruction's effect on the state, calls included.

use super::condition::Zero;
use super::effects::{LibraryCall, forget_all, insert};
use super::join::meet;
use super::translate::Crossing;
use super::{Locks, places, returning};
use raddle_absint::calls::{Call, Way};
use raddle_facts::{HeldLock, LocalLocks, LockMode, Released};
use raddle_ir::{BlockId, FunctionId, Inst, Reg};

/// What is known about callees so far: `None` while nothing is, as in the first round of a recursion.
pub(super) trait Summaries {
    fn at_exit(&self, function: FunctionId) -> Option<&LocalLocks>;
}

impl Locks<'_> {
    /// Runs one instruction; `false` if control does not come past it.
    pub(super) fn step(
        &self,
        summaries: &impl Summaries,
        function: FunctionId,
        block: BlockId,
        index: usize,
        state: &mut LocalLocks,
    ) -> bool {
        let text = &self.program.functions[function].blocks[block];
        let inst = &text.insts[index];
        if !matches!(inst, Inst::Call { .. }) {
            if !state.held.is_empty() {
                inst.each_dst(|dst| self.assign(function, dst, state));
            }
            if !self.words.is_empty() {
                self.atomic_step(function, inst, state);
            }
            return true;
        }
        match self.calls.at(function, text.site_of(index)) {
            Some(call) => self.call(summaries, function, call, state),
            None => true,
        }
    }

    fn call(
        &self,
        summaries: &impl Summaries,
        function: FunctionId,
        call: &Call,
        state: &mut LocalLocks,
    ) -> bool {
        let (dsts, args) = call.parts(self.program, function);
        if self.unresolved.contains(&call.site)
            || call.effects.is_empty() && call.runs.is_empty() && call.unknown.is_empty()
        {
            forget_all(state);
            return true;
        }
        let assign = |state: &mut LocalLocks| dsts.iter().for_each(|dst| self.assign(function, *dst, state));
        let result = dsts.first().copied();
        let mut outcomes: Vec<LocalLocks> = Vec::new();
        for effect in &call.effects {
            if returning::ends(effect) {
                continue;
            }
            let mut after = state.clone();
            assign(&mut after);
            self.library_call(&LibraryCall { function, args, result }, effect, &mut after);
            let mut alive = true;
            for (target, _) in call.runs.iter().filter(|(_, way)| matches!(way, Way::Callback | Way::Once)) {
                alive &= self.maybe_run(summaries, *target, &mut after);
            }
            if alive {
                outcomes.push(after);
            }
        }
        for (target, way) in &call.runs {
            let mut after = state.clone();
            let crossing = Crossing { caller: function, callee: *target, args: Some(args), result };
            let alive = match way {
                Way::Call => self.run(summaries, &crossing, call.block, dsts, &mut after),
                Way::AtomicCall => {
                    self.enter_section(&mut after);
                    let alive = self.run(summaries, &crossing, call.block, dsts, &mut after);
                    self.leave_section(&mut after);
                    alive
                }
                Way::Callback | Way::Thread | Way::Once | Way::Handler => continue,
            };
            if alive {
                outcomes.push(after);
            }
        }
        if !call.unknown.is_empty() {
            let mut after = state.clone();
            assign(&mut after);
            let used = Released::These(self.foreign.of_call(function, args).memory);
            self.lose(
                &LocalLocks { released: used.clone(), renewed: used, ..LocalLocks::default() },
                &mut after,
            );
            outcomes.push(after);
        }
        let Some(first) = outcomes.pop() else { return false };
        *state = outcomes.iter().fold(first, |so_far, other| meet(&so_far, other));
        true
    }

    /// A callback runs any number of times, none included: what it acquires may not be held, what it releases may be gone.
    fn maybe_run(&self, summaries: &impl Summaries, target: FunctionId, state: &mut LocalLocks) -> bool {
        if !self.relevant[target] || !self.returns[target] {
            return true;
        }
        let Some(exit) = summaries.at_exit(target) else { return false };
        self.lose(exit, state);
        true
    }

    /// What the callee may release, or give up for a while.
    pub(super) fn lose(&self, exit: &LocalLocks, state: &mut LocalLocks) {
        state.held.retain(|held| !self.may_be(held.lock, &exit.released, None));
        for held in &mut state.held {
            if self.may_be(held.lock, &exit.renewed, None) {
                held.history.clear();
            }
        }
        places::add(&mut state.released, &exit.released);
        places::add(&mut state.renewed, &exit.renewed);
    }

    /// An ordinary call of a function of the program.
    fn run(
        &self,
        summaries: &impl Summaries,
        crossing: &Crossing<'_>,
        block: BlockId,
        dsts: &[Reg],
        state: &mut LocalLocks,
    ) -> bool {
        if !self.returns[crossing.callee] {
            return false;
        }
        let caller = crossing.caller;
        if !self.relevant[crossing.callee] {
            dsts.iter().for_each(|dst| self.assign(caller, *dst, state));
            return true;
        }
        let Some(exit) = summaries.at_exit(crossing.callee) else { return false };
        self.lose(exit, state);
        let taken: Vec<HeldLock> =
            exit.held.iter().filter_map(|held| self.lock_up(crossing, block, dsts, held)).collect();
        dsts.iter().for_each(|dst| self.assign(caller, *dst, state));
        for term in &exit.acquired {
            self.note(state, *term);
        }
        for held in &taken {
            if held.guard.is_none()
                && held.mode == LockMode::Exclusive
                && self.has_history(held)
                && self.is_global(held.lock)
            {
                self.note(state, held.lock);
            }
        }
        for mut held in taken {
            held.history.retain(|term| self.is_global(*term));
            self.add(state, held);
        }
        true
    }

    /// A lock that the callee leaves held, in the caller's words.
    fn lock_up(
        &self,
        crossing: &Crossing<'_>,
        block: BlockId,
        dsts: &[Reg],
        held: &HeldLock,
    ) -> Option<HeldLock> {
        let lock = match self.term_by_result(crossing, held) {
            Some(lock) => lock,
            None => {
                // What it names is from before the call: results are assigned by it.
                let lock = self.term_up(crossing, held.lock)?;
                let stale = |(f, reg): (FunctionId, Reg)| f == crossing.caller && dsts.contains(&reg);
                if lock.registers().any(stale) {
                    return None;
                }
                lock
            }
        };
        let guard = match held.guard {
            None => None,
            Some(guard) => match self.guard_up(crossing, guard) {
                Zero::Always => None,
                Zero::Never => return None,
                Zero::If(guard) => {
                    let shape = self.shapes[crossing.caller].as_ref();
                    match shape.and_then(|shape| shape.decides(block, guard)) {
                        Some(true) => None,
                        Some(false) => return None,
                        None => Some(guard),
                    }
                }
            },
        };
        Some(HeldLock { lock, guard, ..held.clone() })
    }

    /// One more lock with its own acquisitions.
    pub(super) fn add(&self, state: &mut LocalLocks, new: HeldLock) {
        match state.held.binary_search_by_key(&new.lock, |held| held.lock) {
            Err(at) => state.held.insert(at, new),
            Ok(at) => {
                let held = &mut state.held[at];
                match (held.guard, new.guard) {
                    (None, None) => {
                        held.depth = held.depth.saturating_add(new.depth).min(HeldLock::DEEPEST);
                        if new.mode < held.mode {
                            held.mode = new.mode;
                            held.history = new.history;
                        } else {
                            new.history.into_iter().for_each(|term| insert(&mut held.history, term));
                        }
                    }
                    (None, Some(_)) => {}
                    (Some(_), _) => *held = new,
                }
            }
        }
    }
}
