//! From a location to the next (decision 23, "The model"): one step on shared memory, then the thread's own instructions.
//!
//! A way that ends without a next location, at the end of the thread or of the process, is a step all the same: its writes count for
//! the other threads.

use super::Model;
use super::calls::Outcome;
use super::places::{Place, Places};
use super::state::State;
use crate::statics::{Refusal, Spot};
use raddle_base::Id;
use raddle_facts::{Phase, ThreadId};
use raddle_ir::{BlockId, Inst, Operand, Terminator, Ty};
use raddle_logic::Term;

/// What a thread has done when it stands at a location again, or cannot be followed.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub state: State,
    pub end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Position in the list of places.
    Location(usize),
    /// The path must be impossible.
    Stuck(Spot, &'static str),
}

impl Model<'_, '_> {
    /// *May*: whether a thread that comes to this point must stand at a location there.
    pub fn is_visible(&self, at: Spot) -> bool {
        self.standing.touches_shared(at)
            || self.standing.call(at).is_some_and(|call| !call.effects.is_empty())
    }

    fn instruction(&self, at: Spot) -> Option<&Inst> {
        self.standing.program().functions[at.function].blocks[at.block].insts.get(at.index)
    }

    /// The step that a thread takes from a place. `None`: it takes none that others could see.
    pub fn step(&self, place: &Place) -> Result<Option<Vec<Outcome>>, Refusal> {
        let at = place.spot();
        let Some(inst) = self.instruction(at).filter(|_| self.is_visible(at)) else { return Ok(None) };
        let state = State::at(place.frames.clone());
        if let Inst::Call { .. } = inst {
            return self.call(&state, at, place.phase).map(Some);
        }
        let mut states = self.access(state, at, inst);
        states.iter_mut().for_each(State::advance);
        Ok(Some(states.into_iter().map(Outcome::from).collect()))
    }

    /// From a place without a step.
    pub fn onwards(&self, places: &Places, place: &Place) -> Result<Vec<Path>, Refusal> {
        self.follow(places, place.thread, State::at(place.frames.clone()), false)
    }

    /// On from the end of a step.
    pub fn after(&self, places: &Places, thread: ThreadId, outcome: &Outcome) -> Result<Vec<Path>, Refusal> {
        let state = outcome.state.clone();
        if !outcome.waits {
            return self.follow(places, thread, state, true);
        }
        let end = match (places.find(thread, &state.frames, Phase::Waiting), state.frames.last()) {
            (Some(place), _) => End::Location(place),
            (None, Some(at)) => End::Stuck(*at, "a condition wait without a location"),
            (None, None) => return Ok(Vec::new()),
        };
        Ok(vec![Path { state, end }])
    }

    /// `moved`: whether the thread has left the place where it started, and so stops at the next.
    fn follow(
        &self,
        places: &Places,
        thread: ThreadId,
        state: State,
        moved: bool,
    ) -> Result<Vec<Path>, Refusal> {
        let code = self.standing.code();
        let mut found = Vec::new();
        let mut work = vec![(state, moved, 0)];
        let mut seen = 0;
        while let Some((mut state, moved, steps)) = work.pop() {
            let Some(at) = state.frames.last().copied() else { continue };
            if state.is_impossible() {
                continue;
            }
            if let Some(place) = places.find(thread, &state.frames, Phase::Before).filter(|_| moved) {
                found.push(Path { state, end: End::Location(place) });
                continue;
            }
            let stuck = |state: State, why| Path { state, end: End::Stuck(at, why) };
            if steps >= self.limits.steps {
                found.push(stuck(state, "a path is too long without a location"));
                continue;
            }
            seen += 1;
            if seen > self.limits.states {
                return code.refuse_at(at, "limits", "there are too many paths between locations");
            }
            match self.instruction(at) {
                Some(_) if self.is_visible(at) => {
                    found.push(stuck(state, "a visible instruction without a location"));
                }
                Some(Inst::Call { .. }) => {
                    let ways = self.call(&state, at, Phase::Before)?;
                    work.extend(ways.into_iter().map(|way| (way.state, true, steps + 1)));
                }
                Some(Inst::Unsupported { reason, .. }) => {
                    return code.refuse_at(at, "model", code.program.text(*reason));
                }
                Some(inst) => {
                    self.compute(&mut state, at, inst);
                    state.advance();
                    work.push((state, true, steps + 1));
                }
                None => {
                    let ways = self.leave(state, at)?;
                    work.extend(ways.into_iter().map(|state| (state, true, steps + 1)));
                }
            }
        }
        Ok(found)
    }

    /// Past the end of a block.
    fn leave(&self, state: State, at: Spot) -> Result<Vec<State>, Refusal> {
        let code = self.standing.code();
        let terminator = &code.program.functions[at.function].blocks[at.block].terminator;
        let go = |condition: Term, to: BlockId| {
            let mut state = state.clone();
            state.require(condition);
            self.enter_block(state, at, to)
        };
        let always = || Term::truth(true);
        let ways = match terminator {
            Terminator::Br(to) => vec![go(always(), *to)],
            Terminator::CondBr { cond, then, other } => {
                match self.operand(&state, at.function, *cond, Ty::Int(1)) {
                    Some(value) => {
                        vec![go(value.is_nonzero(), *then), go(value.is_nonzero().negated(), *other)]
                    }
                    None => vec![go(always(), *then), go(always(), *other)],
                }
            }
            Terminator::Switch { value, ty, cases, default } => {
                match self.operand(&state, at.function, *value, *ty) {
                    Some(value) => {
                        let is = |case: u128| value.equals(&Term::bits(case, value.width()));
                        let rest = Term::and(cases.iter().map(|(case, _)| is(*case).negated()));
                        let cases = cases.iter().map(|(case, to)| go(is(*case), *to));
                        cases.chain([go(rest, *default)]).collect()
                    }
                    None => {
                        let targets = cases.iter().map(|(_, to)| to).chain([default]);
                        targets.map(|to| go(always(), *to)).collect()
                    }
                }
            }
            Terminator::IndirectBr { targets, .. } => targets.iter().map(|to| go(always(), *to)).collect(),
            Terminator::Ret { values } => vec![Some(self.back(state, at, values))],
            Terminator::Unreachable => Vec::new(),
            Terminator::Unsupported { reason } => {
                return code.refuse_at(at, "model", code.program.text(*reason));
            }
        };
        Ok(ways.into_iter().flatten().collect())
    }

    /// `None`: the facts exclude the edge.
    fn enter_block(&self, mut state: State, at: Spot, to: BlockId) -> Option<State> {
        if !self.standing.successors(at.function, at.block).contains(&to) {
            return None;
        }
        let body = &self.standing.program().functions[at.function];
        let values: Vec<Option<Term>> = body.blocks[to]
            .phis
            .iter()
            .map(|phi| {
                let (_, value) = phi.incoming.iter().find(|(from, _)| *from == at.block)?;
                self.operand(&state, at.function, *value, body.regs[phi.dst].ty)
            })
            .collect();
        for (phi, value) in body.blocks[to].phis.iter().zip(values) {
            self.assign(&mut state, at.function, phi.dst, value);
        }
        *state.frames.last_mut()? = Spot { function: at.function, block: to, index: 0 };
        Some(state)
    }

    /// Back behind the call that led here; at the end of the thread there is none.
    fn back(&self, mut state: State, at: Spot, values: &[Operand]) -> State {
        let returns = &self.standing.program().functions[at.function].returns;
        let values: Vec<Option<Term>> = values
            .iter()
            .zip(returns)
            .map(|(value, ty)| self.operand(&state, at.function, *value, *ty))
            .collect();
        state.frames.pop();
        if let Some(call) = state.frames.last().copied() {
            self.give(&mut state, call, &values);
            state.advance();
        }
        state
    }
}

impl State {
    /// Past the instruction.
    pub fn advance(&mut self) {
        if let Some(at) = self.frames.last_mut() {
            at.index += 1;
        }
    }
}

/// The function whose first block a thread starts in.
pub(super) fn start(function: raddle_ir::FunctionId) -> Vec<Spot> {
    vec![Spot { function, block: BlockId::from_index(0), index: 0 }]
}
