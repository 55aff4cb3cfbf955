//! Calls (decision 23, "Locks" and "Other calls"): of functions of the program, which are followed into, and of modelled ones.
//!
//! A modelled call gives any result and makes what it may write any value, whatever its effect; besides that only conditions, ends, thread
//! starts and locks count. A step that creates a thread is over when the new thread is there.

use super::Model;
use super::names::{
    EXCLUSIVE, LOCK_BITS, Lock, SHARED, THREAD_BITS, Variable, held, owner, register, thread,
};
use super::state::State;
use crate::statics::returning::ends;
use crate::statics::{Call, Held, Refusal, Run, Spot, Way};
use raddle_facts::{LockMode, Phase, Start, ThreadId};
use raddle_ir::{BlockId, CallArg, Callee, FunctionId, Inst, Operand, Reg, Ty};
use raddle_libmodel::{Arg, CondOp, Effect, ThreadOp, VerifierOp};
use raddle_logic::{Op, Sort, Term};

/// One way in which a step can go.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub state: State,
    pub created: Option<Created>,
    /// It is now in a condition wait, at the call.
    pub waits: bool,
}

/// A thread that has just been started.
#[derive(Clone, Debug)]
pub(super) struct Created {
    pub thread: ThreadId,
    /// In the creator's terms; `None`: any value.
    pub parameters: Vec<(Reg, Option<Term>)>,
}

impl From<State> for Outcome {
    fn from(state: State) -> Outcome {
        Outcome { state, created: None, waits: false }
    }
}

impl Model<'_, '_> {
    /// Runs the call at the top of the stack, which `phase` of it; afterwards the thread is behind it, or in a function that it calls.
    pub fn call(&self, state: &State, at: Spot, phase: Phase) -> Result<Vec<Outcome>, Refusal> {
        let code = self.standing.code();
        let Some(call) = self.standing.call(at) else {
            return code.refuse_at(at, RULE, "a call that the facts do not have");
        };
        if !call.unknown.is_empty() {
            return code.refuse_at(at, RULE, "a function without body or model is called");
        }
        let mut outcomes = Vec::new();
        let is_wait = |effect: &Effect| matches!(effect, Effect::Cond(CondOp::Wait { .. }, _));
        let waiting = phase == Phase::Waiting;
        for (function, effect) in call.effects.iter().filter(|(_, effect)| !waiting || is_wait(effect)) {
            let mut state = state.clone();
            self.calls(&mut state, at, *function);
            outcomes.extend(self.effect(state, at, call, effect, phase)?);
        }
        for run in call.runs.iter().filter(|_| !waiting) {
            match run.way {
                Way::Call | Way::AtomicCall => {
                    let mut state = state.clone();
                    self.calls(&mut state, at, run.function);
                    outcomes.push(Outcome::from(self.enter(state, at, run)?));
                }
                // With the effect that starts it.
                Way::Thread => {}
                Way::Callback | Way::Once | Way::Handler => {
                    return code.refuse_at(at, RULE, "a function that the library calls is not followed");
                }
            }
        }
        Ok(outcomes)
    }

    /// A call through a pointer runs what the pointer points to.
    fn calls(&self, state: &mut State, at: Spot, target: FunctionId) {
        let inst = &self.standing.program().functions[at.function].blocks[at.block].insts[at.index];
        if let Inst::Call { callee: Callee::Indirect(operand), .. } = inst {
            self.points_to(state, at, *operand, target);
        }
    }

    fn points_to(&self, state: &mut State, at: Spot, operand: Operand, target: FunctionId) {
        let named = self.operand(state, at.function, Operand::Function(target), Ty::Ptr);
        if let (Some(value), Some(named)) = (self.operand(state, at.function, operand, Ty::Ptr), named) {
            state.require(value.equals(&named));
        }
    }

    fn enter(&self, mut state: State, at: Spot, run: &Run) -> Result<State, Refusal> {
        let code = self.standing.code();
        let callee = &code.program.functions[run.function];
        if code.calls.recursive[run.function] {
            return code.refuse_at(at, RULE, "a function that may call itself is not followed");
        }
        let (_, args) = parts(self, at);
        if args.iter().any(|arg| arg.by_value.is_some())
            || callee.params.iter().any(|one| one.by_value.is_some())
        {
            return code.refuse_at(at, RULE, "a structure is passed by value");
        }
        let values: Vec<Option<Term>> = (0..callee.params.len())
            .map(|index| {
                let arg = code.passed(run, args, index)?;
                self.operand(&state, at.function, arg.value, arg.ty)
            })
            .collect();
        for (param, value) in callee.params.iter().zip(values) {
            self.assign(&mut state, run.function, param.reg, value);
        }
        state.frames.push(Spot { function: run.function, block: BlockId(0), index: 0 });
        Ok(state)
    }

    fn effect(
        &self,
        mut state: State,
        at: Spot,
        call: &Call,
        effect: &Effect,
        phase: Phase,
    ) -> Result<Vec<Outcome>, Refusal> {
        let code = self.standing.code();
        let (dsts, args) = parts(self, at);
        self.overwrite(&mut state, at, None);
        for lock in &self.mentioned.locks {
            if self.standing.may_release(at, (lock.object, lock.offset)) {
                state.set(&held(*lock), Term::bits(0, LOCK_BITS));
                let now = state.now(&owner(*lock));
                let free = Term::bits(0, THREAD_BITS);
                // What another one holds is free or not afterwards.
                let other = self.any(THREAD_BITS);
                state.set(&owner(*lock), Term::ite(&now.equals(&thread()), &free, &other));
            }
        }
        if matches!(effect, Effect::Cond(CondOp::Wait { .. }, _)) && phase == Phase::Before {
            return Ok(vec![Outcome { state, created: None, waits: true }]);
        }
        if ends(effect) {
            state.frames.clear();
            return Ok(vec![Outcome::from(state)]);
        }
        let nonzero = |state: &State, arg: Arg| {
            let arg = args.get(usize::from(arg.0))?;
            self.operand(state, at.function, arg.value, arg.ty).map(|value| value.is_nonzero())
        };
        let mut boolean = false;
        match effect {
            Effect::Verifier(VerifierOp::Assume { condition } | VerifierOp::Assert { condition }) => {
                if let Some(holds) = nonzero(&state, *condition) {
                    state.require(holds);
                }
            }
            Effect::Verifier(VerifierOp::Error) => {
                state.frames.clear();
                return Ok(vec![Outcome::from(state)]);
            }
            Effect::Verifier(VerifierOp::Nondet { boolean: true, .. }) => boolean = true,
            Effect::Thread(
                ThreadOp::Create { function, .. } | ThreadOp::CreateReturning { function, .. },
                _,
            ) => {
                let function = args.get(usize::from(function.0)).map(|arg| arg.value);
                return self.create(state, at, call, function);
            }
            Effect::Once { .. } => return code.refuse_at(at, RULE, "`pthread_once` is not followed"),
            Effect::Unsupported { reason } => return code.refuse_at(at, RULE, *reason),
            Effect::Lock { .. }
            | Effect::Unlock { .. }
            | Effect::SyncInit { .. }
            | Effect::SyncDestroy { .. }
            | Effect::MutexConsistent { .. }
            | Effect::Thread(
                ThreadOp::Join { .. }
                | ThreadOp::Detach { .. }
                | ThreadOp::Exit { .. }
                | ThreadOp::SelfId
                | ThreadOp::Equal { .. }
                | ThreadOp::Cancel { .. }
                | ThreadOp::TestCancel
                | ThreadOp::SetCancel { .. }
                | ThreadOp::CleanupRegister
                | ThreadOp::CleanupUnregister
                | ThreadOp::Yield
                | ThreadOp::Sleep { .. },
                _,
            )
            | Effect::Cond(CondOp::Wait { .. } | CondOp::Signal { .. } | CondOp::Broadcast { .. }, _)
            | Effect::BarrierWait { .. }
            | Effect::Sem(..)
            | Effect::Tls(..)
            | Effect::Atomic(_)
            | Effect::Verifier(
                VerifierOp::AtomicBegin
                | VerifierOp::AtomicEnd
                | VerifierOp::Nondet { boolean: false, .. }
                | VerifierOp::NondetFloat { .. }
                | VerifierOp::NondetPointer,
            )
            | Effect::Process(_)
            | Effect::Libc(_)
            | Effect::Nothing { .. } => {}
        }
        for dst in dsts {
            let value = self.result(at.function, *dst);
            if let Some(value) = value.as_ref().filter(|_| boolean) {
                state.require(Term::app(Op::Ule, vec![value.clone(), Term::bits(1, value.width())]));
            }
            self.assign(&mut state, at.function, *dst, value);
        }
        self.acquire(&mut state, at);
        state.advance();
        Ok(vec![Outcome::from(state)])
    }

    fn result(&self, function: FunctionId, dst: Reg) -> Option<Term> {
        let ty = self.standing.program().functions[function].regs[dst].ty;
        self.width(ty).map(|bits| self.any(bits))
    }

    fn acquire(&self, state: &mut State, at: Spot) {
        let Some(taken) = self.standing.held_after(at) else { return };
        let lock = Lock { object: taken.object, offset: taken.offset };
        let value = |mode: LockMode| match mode {
            LockMode::Exclusive => Term::bits(EXCLUSIVE, LOCK_BITS),
            LockMode::Shared => Term::bits(SHARED, LOCK_BITS),
        };
        let nonzero = |state: &State, reg: Reg| {
            let bits = self.width(self.standing.program().functions[at.function].regs[reg].ty)?;
            Some(state.now(&register(at.function, reg, bits)).is_nonzero())
        };
        // Whether the facts say that it is held, and how.
        let known = match taken.held {
            Held::No => None,
            Held::Always(mode) => Some((Term::truth(true), mode)),
            Held::IfZero(reg, mode) => nonzero(state, reg).map(|condition| (condition.negated(), mode)),
            Held::IfNonZero(reg, mode) => nonzero(state, reg).map(|condition| (condition, mode)),
        };
        let none = Term::bits(0, LOCK_BITS);
        let Some((is_held, mode)) = known else { return state.set(&held(lock), none) };
        state.set(&held(lock), Term::ite(&is_held, &value(mode), &none));
        if self.mentioned.locks.contains(&lock) && self.standing.has_lasting_owner((lock.object, lock.offset))
        {
            let now = state.now(&owner(lock));
            let free = Term::or([now.equals(&Term::bits(0, THREAD_BITS)), now.equals(&thread())]);
            state.require(is_held.implies(&free));
            if mode == LockMode::Exclusive {
                state.set(&owner(lock), Term::ite(&is_held, &thread(), &now));
            }
        }
    }

    fn create(
        &self,
        mut state: State,
        at: Spot,
        call: &Call,
        function: Option<Operand>,
    ) -> Result<Vec<Outcome>, Refusal> {
        let code = self.standing.code();
        let (dsts, args) = parts(self, at);
        dsts.iter().for_each(|dst| self.assign(&mut state, at.function, *dst, None));
        let mut outcomes = Vec::new();
        for run in call.runs.iter().filter(|run| run.way == Way::Thread) {
            let threads = code.facts.threads.threads.iter();
            let is_it =
                |start: Start, entry: FunctionId| entry == run.function && start == Start::Created(call.site);
            let started: Vec<ThreadId> =
                threads.filter(|(_, one)| is_it(one.start, one.entry)).map(|(id, _)| id).collect();
            if started.is_empty() {
                return code.refuse_at(at, RULE, "a thread is started that the facts do not have");
            }
            for thread in started {
                let mut state = state.clone();
                if let Some(operand) = function {
                    self.points_to(&mut state, at, operand, run.function);
                }
                let params = &code.program.functions[run.function].params;
                let parameters = params.iter().enumerate().map(|(index, param)| {
                    let arg = code.passed(run, args, index);
                    let value = arg.and_then(|arg| self.operand(&state, at.function, arg.value, arg.ty));
                    (param.reg, value)
                });
                let created = Some(Created { thread, parameters: parameters.collect() });
                state.advance();
                outcomes.push(Outcome { state, created, waits: false });
            }
        }
        if outcomes.is_empty() {
            return code.refuse_at(at, RULE, "it is not known which function a new thread runs");
        }
        Ok(outcomes)
    }

    /// What holds of a thread at its start, besides what its creator gives it: `h` 0, intervals of parameters.
    pub fn started(&self, state: &mut State, function: FunctionId, parameters: &[(Reg, Option<Term>)]) {
        for (reg, value) in parameters {
            let ty = self.standing.program().functions[function].regs[*reg].ty;
            let value = value.clone().or_else(|| self.width(ty).map(|bits| self.any(bits)));
            self.assign(state, function, *reg, value);
        }
        for lock in &self.mentioned.locks {
            state.set(&Variable::Lock(*lock).term(LOCK_BITS), Term::bits(0, LOCK_BITS));
        }
    }

    /// The results of a call become these values.
    pub fn give(&self, state: &mut State, at: Spot, values: &[Option<Term>]) {
        let (dsts, _) = parts(self, at);
        for (position, dst) in dsts.iter().enumerate() {
            let bits = self.width(self.standing.program().functions[at.function].regs[*dst].ty);
            let value = values.get(position).cloned().flatten();
            let same = value.filter(|value| bits.is_some_and(|bits| value.sort() == Sort::Bits(bits)));
            self.assign(state, at.function, *dst, same);
        }
    }
}

const RULE: &str = "model";

/// The results and arguments of the call at a point.
fn parts<'m>(model: &'m Model<'_, '_>, at: Spot) -> (&'m [Reg], &'m [CallArg]) {
    match &model.standing.program().functions[at.function].blocks[at.block].insts[at.index] {
        Inst::Call { dsts, args, .. } => (dsts, args),
        _ => (&[], &[]),
    }
}
