//! *May*: which functions can return, and which calls come back.

use super::calls::{Call, Way};
use super::code::Code;
use raddle_base::{Id, IdVec};
use raddle_ir::{BlockId, FunctionId, Terminator};
use raddle_libmodel::Effect;
use raddle_libmodel::memory::Ending;

pub(crate) struct Returning {
    functions: IdVec<FunctionId, bool>,
}

impl Returning {
    /// The least solution: a function that only calls itself does not return.
    pub fn of(code: &Code<'_>) -> Returning {
        let mut this = Returning { functions: code.program.functions.ids().map(|_| false).collect() };
        let mut changed = true;
        while changed {
            changed = false;
            for function in code.program.functions.ids() {
                if !this.functions[function] && code.is_run(function) && this.reaches_return(code, function) {
                    this.functions[function] = true;
                    changed = true;
                }
            }
        }
        this
    }

    pub fn returns(&self, function: FunctionId) -> bool {
        self.functions[function]
    }

    /// Whether control can come past a call.
    pub fn goes_on(&self, call: &Call) -> bool {
        let mut bodies =
            call.runs.iter().filter(|run| matches!(run.way, Way::Call | Way::AtomicCall)).peekable();
        !call.unknown.is_empty()
            || call.effects.is_empty() && bodies.peek().is_none()
            || bodies.any(|run| self.functions[run.function])
            || call.effects.iter().any(|(_, effect)| !ends(effect))
    }

    fn reaches_return(&self, code: &Code<'_>, function: FunctionId) -> bool {
        let body = &code.program.functions[function];
        let flow = &code.flows[function];
        let mut seen = vec![false; body.blocks.len()];
        let mut work = if code.reachable(function, BlockId(0)) { vec![BlockId(0)] } else { Vec::new() };
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut seen[block.index()], true) {
                continue;
            }
            if code.calls.from[function].iter().any(|call| call.block == block && !self.goes_on(call)) {
                continue;
            }
            if matches!(body.blocks[block].terminator, Terminator::Ret { .. }) {
                return true;
            }
            work.extend(&flow.successors[block.index()]);
        }
        false
    }
}

/// Whether a library call never comes back.
pub(crate) fn ends(effect: &Effect) -> bool {
    matches!(effect.memory().ending, Ending::Exits | Ending::Aborts | Ending::EndsThread)
}
