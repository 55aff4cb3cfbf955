//! The locations of a certificate, read: where each is, and its invariant as a term. What does not parse, or leads nowhere, is refused.

use super::cells::Cell;
use super::names::{Lock, Variable};
use crate::statics::{Refusal, Spot, Standing, Way};
use raddle_facts::{Location, Phase, ThreadId};
use raddle_ir::Inst;
use raddle_libmodel::{CondOp, Effect};
use raddle_logic::Term;
use std::collections::{BTreeSet, HashMap};

/// A place where a thread may stand.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub thread: ThreadId,
    /// The innermost activation last; all others stand at their calls.
    pub frames: Vec<Spot>,
    pub phase: Phase,
    pub invariant: Term,
}

pub(super) struct Places {
    pub list: Vec<Place>,
    index: HashMap<(ThreadId, Vec<Spot>, Phase), usize>,
    pub mentioned: Mentioned,
}

/// What some invariant speaks of.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentioned {
    pub cells: BTreeSet<Cell>,
    pub locks: BTreeSet<Lock>,
}

impl Place {
    pub fn spot(&self) -> Spot {
        *self.frames.last().expect("a place is in a function")
    }
}

impl Places {
    pub fn of(standing: &Standing<'_>, locations: &[(Location, String)]) -> Result<Places, Refusal> {
        let mut places = Places { list: Vec::new(), index: HashMap::new(), mentioned: Mentioned::default() };
        for (location, text) in locations {
            let frames = frames(standing, location)?;
            let invariant = places.read(standing, text)?;
            let key = (location.thread, frames.clone(), location.phase);
            if places.index.insert(key, places.list.len()).is_some() {
                return refuse(format!("{location:?} is there twice"));
            }
            let Location { thread, phase, .. } = *location;
            places.list.push(Place { thread, frames, phase, invariant });
        }
        Ok(places)
    }

    pub fn find(&self, thread: ThreadId, frames: &[Spot], phase: Phase) -> Option<usize> {
        self.index.get(&(thread, frames.to_vec(), phase)).copied()
    }

    fn read(&mut self, standing: &Standing<'_>, text: &str) -> Result<Term, Refusal> {
        let term = raddle_logic::parse(text, &mut |name: &str| {
            let variable = Variable::named(name)?;
            let sort = variable.sort(standing)?;
            match variable {
                Variable::Memory(cell) | Variable::Writer(cell) => drop(self.mentioned.cells.insert(cell)),
                Variable::Lock(lock) | Variable::Owner(lock) => drop(self.mentioned.locks.insert(lock)),
                Variable::Register(..) | Variable::Thread | Variable::Address(_) | Variable::Function(_) => {}
            }
            Some(sort)
        });
        match term {
            Ok(term) if term.sort() == raddle_logic::Sort::Bool => Ok(term),
            Ok(_) => refuse(format!("`{text}` is no formula")),
            Err(error) => refuse(format!("`{text}`: {error}")),
        }
    }
}

fn frames(standing: &Standing<'_>, location: &Location) -> Result<Vec<Spot>, Refusal> {
    let code = standing.code();
    let Some(thread) = code.facts.threads.threads.get(location.thread) else {
        return refuse(format!("there is no thread {}", location.thread));
    };
    let mut function = thread.entry;
    let mut frames = Vec::new();
    for (depth, site) in location.stack.iter().enumerate() {
        let Some(call) = code.calls.at(function, *site) else {
            return refuse(format!("{site} is no call of {function}"));
        };
        frames.push(call.at(function));
        // The function in which the next call of the stack is, or the location itself.
        let next = match location.stack.get(depth + 1) {
            Some(next) => code.program.sites.get(*next).map(|info| info.function),
            None => Some(location.function),
        };
        let runs = |run: &&crate::statics::Run| matches!(run.way, Way::Call | Way::AtomicCall);
        match call.runs.iter().filter(runs).find(|run| Some(run.function) == next) {
            Some(run) => function = run.function,
            None => return refuse(format!("{site} does not call what comes next on the stack")),
        }
    }
    let spot = Spot { function: location.function, block: location.block, index: location.index as usize };
    let block = code.program.functions.get(spot.function).and_then(|body| body.blocks.get(spot.block));
    let Some(block) =
        block.filter(|_| function == spot.function && code.reachable(spot.function, spot.block))
    else {
        return refuse(format!("{location:?} is not in reachable code of its thread"));
    };
    if spot.index > block.insts.len() {
        return refuse(format!("{location:?} is behind the end of its block"));
    }
    if location.phase == Phase::Waiting && !is_wait(standing, spot, block.insts.get(spot.index)) {
        return refuse(format!("{location:?} is no condition wait"));
    }
    frames.push(spot);
    Ok(frames)
}

fn is_wait(standing: &Standing<'_>, spot: Spot, inst: Option<&Inst>) -> bool {
    let is_call = matches!(inst, Some(Inst::Call { .. }));
    let waits = |effect: &Effect| matches!(effect, Effect::Cond(CondOp::Wait { .. }, _));
    is_call && standing.call(spot).is_some_and(|call| call.effects.iter().any(|(_, effect)| waits(effect)))
}

fn refuse<T>(text: String) -> Result<T, Refusal> {
    Err(Refusal { place: None, rule: "locations", text })
}
