//! Rules of [`raddle_facts::locks`]: what is held follows from every way in, point by point.
//!
//! A lock that the facts say is held at the start of a block must be held, as much and with as long a history, at the end of every
//! predecessor; under a guard it is enough that the guard is false there. What callers hold at every call bounds the entry; what is held
//! at every return bounds `at_exit`. Own transfer functions ([`step`]) say what instructions do.
//!
//! Refused though true: guards that a caller learns from anything but the plain result of its callee, conditions about locks of
//! callers that only the callee tests.

mod crossing;
mod kinds;
mod overwritten;
mod semaphores;
mod state;
mod step;
mod words;

use super::Refusal;
use super::accesses::Access;
use super::calls::Way;
use super::code::{At, Code};
use super::conditions::{edge_says, is_impossible, known};
use super::places::covers;
use super::returning::Returning;
use crossing::Crossing;
use kinds::Kinds;
use raddle_base::Id;
use raddle_facts::{Guard, HeldLock, LockMode, ObjectId, Offsets, Released};
use raddle_ir::{BlockId, FunctionId, Operand, Phi, Terminator};
use raddle_libmodel::{CondOp, Effect, SemOp};
use state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const RULE: &str = "locks";

/// What must be held right before the points asked for. What is not in it is never executed.
pub(crate) type HeldAt = BTreeMap<At, Rc<Vec<HeldLock>>>;

/// The code as the rules about locks see it.
pub(crate) struct Locks<'c, 'a> {
    code: &'c Code<'a>,
    kinds: Kinds,
    returning: &'c Returning,
}

/// Checks all facts about locks; what must be held at each of `points`.
pub(crate) fn check(
    code: &Code<'_>,
    returning: &Returning,
    accesses: &[Access<'_>],
    points: &BTreeSet<At>,
) -> Result<HeldAt, Refusal> {
    let locks = Locks { code, kinds: Kinds::of(code, accesses), returning };
    let mut found = HeldAt::new();
    let free = locks.entered_with_nothing();
    for function in code.program.functions.ids().filter(|function| code.is_run(*function)) {
        if !code.facts.locks.functions[function].entry.is_empty() && free.contains(&function) {
            let text = format!("{function} is started from outside and is said to hold locks");
            return code.refuse_at(At { function, block: BlockId(0), index: 0 }, RULE, text);
        }
        for block in code.reachable_blocks(function) {
            locks.block(function, block, points, &mut found)?;
        }
    }
    locks.semaphores()?;
    locks.words(accesses)?;
    Ok(found)
}

/// What must be held right after each library call that may acquire a lock, also under conditions. Says something only of facts that
/// [`check`] has accepted.
pub(crate) fn after_acquisitions(code: &Code<'_>, returning: &Returning, accesses: &[Access<'_>]) -> HeldAt {
    let locks = Locks { code, kinds: Kinds::of(code, accesses), returning };
    let mut found = HeldAt::new();
    for (function, calls) in code.calls.from.iter() {
        for call in calls.iter().filter(|call| call.effects.iter().any(|(_, effect)| acquires(effect))) {
            let at = call.at(function);
            if let Some(state) = locks.full_at(At { index: at.index + 1, ..at }) {
                found.insert(at, Rc::new(state.held.into_values().collect()));
            }
        }
    }
    found
}

fn acquires(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Lock { .. } | Effect::Cond(CondOp::Wait { .. }, _) | Effect::Sem(SemOp::Wait { .. }, _)
    )
}

/// Mutexes that may be error-checking, robust or with a priority ceiling.
pub(crate) struct Fallible(Kinds);

impl Fallible {
    pub fn of(code: &Code<'_>, accesses: &[Access<'_>]) -> Fallible {
        Fallible(Kinds::of(code, accesses))
    }

    /// *May*.
    pub fn may_be(&self, code: &Code<'_>, (object, offset): (ObjectId, i64)) -> bool {
        self.0.may_fail(code, &Released::These(vec![(object, Offsets::exact(offset))]))
    }
}

/// An edge as a lock sees it: where it comes from and what it says.
struct Edge<'p> {
    function: FunctionId,
    from: BlockId,
    says: Vec<Guard>,
    phis: &'p [Phi],
}

impl<'a> Locks<'_, 'a> {
    fn start(&self, function: FunctionId, block: BlockId) -> State {
        let facts = &self.code.facts.locks.functions[function];
        facts.blocks.get(block.index()).map_or_else(State::default, State::of)
    }

    fn block(
        &self,
        function: FunctionId,
        block: BlockId,
        points: &BTreeSet<At>,
        found: &mut HeldAt,
    ) -> Result<(), Refusal> {
        let code = self.code;
        let body = &code.program.functions[function].blocks[block];
        let mut state = self.start(function, block);
        let said = self.said_at(function, block);
        if block == BlockId(0) {
            let edge = Edge { function, from: block, says: Vec::new(), phis: &[] };
            self.follows(At { function, block, index: 0 }, &State::default(), &edge, &state)?;
        }
        let mut last: Option<Rc<Vec<HeldLock>>> = None;
        for index in 0..body.insts.len() {
            let at = At { function, block, index };
            let call = code.calls.at(function, code.site(at));
            if points.contains(&at) || call.is_some_and(|call| call.nested().next().is_some()) {
                let full = self.full(function, &state, &said);
                if let Some(call) = call {
                    self.enters(function, call, &full)?;
                }
                if points.contains(&at) {
                    let held: Vec<HeldLock> =
                        full.held.into_values().filter(|held| held.guard.is_none()).collect();
                    let shared = match &last {
                        Some(before) if **before == held => before.clone(),
                        _ => Rc::new(held),
                    };
                    last = Some(shared.clone());
                    found.insert(at, shared);
                }
            }
            if !self.step(at, &mut state) {
                return Ok(());
            }
        }
        let at = At { function, block, index: body.insts.len() };
        if matches!(body.terminator, Terminator::Ret { .. }) {
            let exit = State::of(&code.facts.locks.functions[function].at_exit);
            let edge = Edge { function, from: block, says: Vec::new(), phis: &[] };
            self.follows(at, &state, &edge, &exit)?;
        }
        for to in &code.flows[function].successors[block.index()] {
            let says = edge_says(code, function, block, *to);
            let phis = &code.program.functions[function].blocks[*to].phis[..];
            let mut out = state.clone();
            out.decide(&says);
            phis.iter().for_each(|phi| out.assign(function, phi.dst));
            let edge = Edge { function, from: block, says, phis };
            self.follows(at, &out, &edge, &self.start(function, *to)).or_else(
                |refusal| match is_impossible(code, function, block, &edge.says) {
                    true => Ok(()),
                    false => Err(refusal),
                },
            )?;
        }
        Ok(())
    }

    /// Whether all that `said` claims is so in `state`, at the end of the edge.
    fn follows(&self, at: At, state: &State, edge: &Edge<'_>, said: &State) -> Result<(), Refusal> {
        let code = self.code;
        for fact in said.held.values() {
            let held = state.held.get(&fact.lock).is_some_and(|held| {
                implies(held, fact) && (held.guard.is_none() || held.guard == fact.guard)
            });
            if !held && !fact.guard.is_some_and(|guard| self.is_false(edge, guard)) {
                return code.refuse_at(
                    at,
                    RULE,
                    format!("{:?} is said to be held and need not be", fact.lock),
                );
            }
        }
        if !covers(&said.released, &state.released) || !covers(&said.renewed, &state.renewed) {
            return code.refuse_at(at, RULE, "more may be released than is said");
        }
        if !said.acquired.is_subset(&state.acquired) {
            return code.refuse_at(at, RULE, "a lock is said to be acquired and need not be");
        }
        Ok(())
    }

    /// Whether the guard cannot hold behind the edge.
    fn is_false(&self, edge: &Edge<'_>, guard: Guard) -> bool {
        let phi = edge.phis.iter().find(|phi| (edge.function, phi.dst) == (guard.function, guard.reg));
        if let Some(phi) = phi {
            let value = phi.incoming.iter().find(|(from, _)| *from == edge.from).map(|(_, value)| *value);
            let zero = match value {
                Some(Operand::Const(bits)) => Some(bits == 0),
                Some(Operand::Null) => Some(true),
                Some(Operand::Reg(reg)) => {
                    self.code.reg_term(edge.function, reg).as_constant().map(|number| number == 0)
                }
                _ => None,
            };
            return zero.is_some_and(|zero| zero != guard.zero);
        }
        let opposite = Guard { zero: !guard.zero, ..guard };
        edge.says.contains(&opposite) || known(self.code, edge.function, edge.from).contains(&opposite)
    }

    /// What callers hold and cannot have been released, and what was acquired since.
    fn full(&self, function: FunctionId, local: &State, said: &[Guard]) -> State {
        let mut all = local.clone();
        let mut inherited = State::default();
        for held in &self.code.facts.locks.functions[function].entry {
            inherited.held.insert(held.lock, held.clone());
        }
        inherited.decide(said);
        for (_, mut held) in inherited.held {
            if self.code.may_mean(held.lock, &local.released, None) {
                continue;
            }
            if self.code.may_mean(held.lock, &local.renewed, None) {
                held.history.clear();
            } else if self.has_history(&held) {
                let more = local.acquired.iter().filter(|term| **term != held.lock).copied();
                let all: BTreeSet<_> = held.history.iter().copied().chain(more).collect();
                held.history = all.into_iter().collect();
            }
            all.add(held);
        }
        all
    }

    /// What must be held right before an instruction; `None` if it is never executed.
    fn full_at(&self, at: At) -> Option<State> {
        let mut state = self.start(at.function, at.block);
        let alive = (0..at.index).all(|index| self.step(At { index, ..at }, &mut state));
        alive.then(|| self.full(at.function, &state, &self.said_at(at.function, at.block)))
    }

    /// What branches say at the start of a block, where locks of callers depend on it.
    fn said_at(&self, function: FunctionId, block: BlockId) -> Vec<Guard> {
        let entry = &self.code.facts.locks.functions[function].entry;
        let depends = entry.iter().any(|held| held.guard.is_some());
        if depends { known(self.code, function, block) } else { Vec::new() }
    }

    /// Functions that run with nothing held, whoever else calls them.
    fn entered_with_nothing(&self) -> BTreeSet<FunctionId> {
        let code = self.code;
        let outside = code.program.functions.ids().filter(|function| code.is_called_from_outside(*function));
        let mut free: BTreeSet<FunctionId> = outside.collect();
        free.extend(code.facts.threads.threads.values().map(|thread| thread.entry));
        let runs = code.calls.from.values().flatten().flat_map(|call| &call.runs);
        free.extend(runs.filter(|run| !run.way.is_nested()).map(|run| run.function));
        free
    }

    /// What the functions that a call runs are said to be entered with must be held there.
    fn enters(&self, caller: FunctionId, call: &super::calls::Call, full: &State) -> Result<(), Refusal> {
        for run in call.nested() {
            let entry = &self.code.facts.locks.functions[run.function].entry;
            if entry.is_empty() {
                continue;
            }
            let mut held = full.clone();
            match run.way {
                Way::AtomicCall => self.enter_section(&mut held),
                Way::Callback => {
                    // An earlier run of it may have released some, or given some up for a while.
                    let exit = State::of(&self.code.facts.locks.functions[run.function].at_exit);
                    self.lose(&exit, &mut held);
                }
                Way::Call | Way::Thread | Way::Once | Way::Handler => {}
            }
            let crossing = Crossing { locks: self, caller, call, run };
            for fact in entry {
                if !crossing.is_held(&held, fact) {
                    let text =
                        format!("{:?} is said to be held by all callers of {}", fact.lock, run.function);
                    return self.code.refuse(call.site, RULE, text);
                }
            }
        }
        Ok(())
    }

    fn has_history(&self, held: &HeldLock) -> bool {
        held.mode == LockMode::Exclusive
            && held.lock != raddle_facts::ATOMIC_SECTION
            && !self.may_be_semaphore(&self.code.places(held.lock))
            && !self.may_be_word(&self.code.places(held.lock))
    }

    /// What a callee may release, or give up for a while.
    fn lose(&self, exit: &State, state: &mut State) {
        state.held.retain(|lock, _| !self.code.may_mean(*lock, &exit.released, None));
        for held in state.held.values_mut() {
            if self.code.may_mean(held.lock, &exit.renewed, None) {
                held.history.clear();
            }
        }
        super::places::add(&mut state.released, &exit.released);
        super::places::add(&mut state.renewed, &exit.renewed);
        if matches!(exit.released, Released::Anything) {
            state.held.clear();
        }
    }
}

/// Whether the first says at least as much as the second; guards aside.
fn implies(held: &HeldLock, fact: &HeldLock) -> bool {
    held.mode <= fact.mode
        && held.depth >= fact.depth
        && fact.history.iter().all(|term| held.history.contains(term))
}
