//! Registers that are assigned at most once in the whole run.

use raddle_base::{Id, IdVec};
use raddle_facts::{Term, ThreadFacts, Times};
use raddle_ir::{FunctionId, Program, Reg};

/// *Must*: a register in it has one value for all threads and activations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnceRegs {
    functions: IdVec<FunctionId, Vec<bool>>,
}

impl OnceRegs {
    pub fn of(program: &Program, threads: &ThreadFacts) -> OnceRegs {
        let functions = program
            .functions
            .iter()
            .map(|(id, function)| {
                let mut once = vec![false; function.regs.len()];
                let times =
                    |block: usize| threads.times.get(id).and_then(|t| t.get(block)) == Some(&Times::Once);
                if times(0) {
                    function.params.iter().for_each(|param| once[param.reg.index()] = true);
                }
                for (block_id, block) in function.blocks.iter() {
                    if times(block_id.index()) {
                        block.phis.iter().for_each(|phi| once[phi.dst.index()] = true);
                        block.insts.iter().for_each(|inst| inst.each_dst(|dst| once[dst.index()] = true));
                    }
                }
                once
            })
            .collect();
        OnceRegs { functions }
    }

    pub fn contains(&self, function: FunctionId, reg: Reg) -> bool {
        self.functions.get(function).and_then(|regs| regs.get(reg.index())).copied().unwrap_or(false)
    }

    /// Whether the term means the same value in every thread and activation: constants, globals, functions and these registers.
    pub fn is_global(&self, term: Term) -> bool {
        term.registers().all(|(function, reg)| self.contains(function, reg))
    }
}
