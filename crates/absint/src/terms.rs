//! Terms of operands, and which of them mean the same to every thread.

use crate::values::{of_block, of_undefined};
use raddle_base::{Id, IdVec};
use raddle_facts::{Root, Term, ThreadFacts, Times, Values};
use raddle_ir::{BlockId, FunctionId, Operand, Program, Reg};

/// The canonical term of an operand: equal terms are equal values ([`raddle_facts::term`] says when). A register without another term
/// stands for itself. Constants are taken as 64 bits wide: for narrower integers use [`crate::values::typed_term_of`].
pub fn term_of(values: &Values, function: FunctionId, operand: Operand) -> Term {
    match operand {
        Operand::Reg(reg) => {
            values.terms[function].get(reg.index()).copied().flatten().unwrap_or(Term::reg(function, reg))
        }
        Operand::Const(bits) => Term::constant(bits as i64),
        Operand::Global(global, offset) => Term::root(Root::Global(global)).plus(offset),
        Operand::Function(target) => Term::root(Root::Function(target)),
        Operand::Null => Term::constant(0),
        Operand::Undef => of_undefined(function),
        Operand::Block(block) => of_block(function, block),
    }
}

/// Where every register of the program is assigned.
#[derive(Clone, Debug)]
pub struct Definitions {
    blocks: IdVec<FunctionId, Vec<BlockId>>,
}

impl Definitions {
    pub fn new(program: &Program) -> Definitions {
        let blocks = program
            .functions
            .values()
            .map(|function| {
                let mut list = vec![BlockId(0); function.regs.len()];
                for (id, block) in function.blocks.iter() {
                    block.phis.iter().for_each(|phi| list[phi.dst.index()] = id);
                    block.insts.iter().for_each(|inst| inst.each_dst(|dst| list[dst.index()] = id));
                }
                list
            })
            .collect();
        Definitions { blocks }
    }

    /// The block that assigns it; parameters are assigned by the entry block.
    pub fn block(&self, function: FunctionId, reg: Reg) -> BlockId {
        self.blocks[function][reg.index()]
    }

    pub fn times(&self, facts: &ThreadFacts, function: FunctionId, reg: Reg) -> Times {
        facts.times[function].get(self.block(function, reg).index()).copied().unwrap_or(Times::Many)
    }

    /// Whether the term has one value in the whole run.
    pub fn is_global(&self, facts: &ThreadFacts, term: Term) -> bool {
        term.registers().all(|(function, reg)| self.times(facts, function, reg) == Times::Once)
    }
}
