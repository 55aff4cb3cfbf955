//! What a function's first result is, in its own words: so that callers can say it in theirs.

use super::Locks;
use super::condition::Zero;
use super::shape::Shape;
use raddle_facts::{Guard, Term};
use raddle_ir::{FunctionId, Operand, Reg, Terminator};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ResultOf {
    /// It is zero exactly if this holds.
    pub zero: Option<Guard>,
    /// It is this.
    pub term: Option<Term>,
    /// It is this unless it is zero: `return found ? p : NULL`.
    pub unless_zero: Option<Term>,
}

impl Locks<'_> {
    pub(super) fn result_of(&self, id: FunctionId) -> ResultOf {
        let Some(shape) = &self.shapes[id] else { return ResultOf::default() };
        let mut returned = shape.order.iter().filter_map(|block| {
            match &self.program.functions[id].blocks[*block].terminator {
                Terminator::Ret { values } => Some(values.first().copied()),
                _ => None,
            }
        });
        let Some(Some(value)) = returned.next() else { return ResultOf::default() };
        if returned.any(|other| other != Some(value)) {
            return ResultOf::default();
        }
        let zero = match self.zero_when(id, value) {
            Zero::If(guard) => Some(guard),
            Zero::Always | Zero::Never => None,
        };
        let unless_zero = match value {
            Operand::Reg(reg) => self.unless_zero(shape, id, reg),
            _ => None,
        };
        ResultOf { zero, term: Some(self.term(id, value)), unless_zero }
    }

    /// The one value other than zero that a phi can get.
    fn unless_zero(&self, shape: &Shape, id: FunctionId, reg: Reg) -> Option<Term> {
        let block = self.definitions.block(id, reg);
        let phi = self.program.functions[id].blocks[block].phis.iter().find(|phi| phi.dst == reg)?;
        let mut found = None;
        for (from, value) in &phi.incoming {
            let term = self.term(id, *value);
            if !shape.predecessors[block.0 as usize].contains(from) || term.as_constant() == Some(0) {
                continue;
            }
            if found.is_some_and(|other| other != term) {
                return None;
            }
            found = Some(term);
        }
        found
    }
}
