//! A language as small as the paper's: global pointers, assignments between them and of addresses, calls, branches.

use raddle_absint::must_alias::{At, Effect, Entry, View};
use raddle_facts::{Root, Term};
use raddle_ir::{BlockId, FunctionId, GlobalId};

/// A global pointer, by number.
pub type Pointer = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `p = &g;`
    Address(Pointer, u32),
    /// `p = q;`
    Copy(Pointer, Pointer),
    Call(usize),
    /// Something may write the pointer.
    Clobber(Pointer),
    Skip,
}

#[derive(Clone, Debug, Default)]
pub struct Block {
    pub statements: Vec<Statement>,
    /// None: the function returns.
    pub next: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct Toy {
    /// Function 0 is `main`; block 0 of each is its entry.
    pub functions: Vec<Vec<Block>>,
    pub entries: Entries,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entries {
    /// Summaries: what is there at the entry has no name but its own.
    #[default]
    Symbolic,
    /// Pointers are 0 when `main` starts; other functions have what their callers have.
    Callers,
}

/// The address of a global.
pub fn address(global: u32) -> Term {
    Term::root(Root::Global(GlobalId(global)))
}

impl Toy {
    pub fn block(&self, function: FunctionId, block: BlockId) -> &Block {
        &self.functions[function.0 as usize][block.0 as usize]
    }

    pub fn may_write(&self, function: usize, pointer: Pointer) -> bool {
        let mut seen = vec![false; self.functions.len()];
        let mut work = vec![function];
        while let Some(function) = work.pop() {
            if std::mem::replace(&mut seen[function], true) {
                continue;
            }
            for statement in self.functions[function].iter().flat_map(|block| &block.statements) {
                match statement {
                    Statement::Address(p, _) | Statement::Copy(p, _) | Statement::Clobber(p)
                        if *p == pointer =>
                    {
                        return true;
                    }
                    Statement::Call(callee) => work.push(*callee),
                    _ => {}
                }
            }
        }
        false
    }
}

impl View for Toy {
    type Cell = Pointer;

    fn predecessors(&self, function: FunctionId, block: BlockId) -> Vec<BlockId> {
        let blocks = self.functions[function.0 as usize].iter().enumerate();
        blocks
            .filter(|(_, from)| from.next.contains(&(block.0 as usize)))
            .map(|(from, _)| BlockId(from as u32))
            .collect()
    }

    fn length(&self, function: FunctionId, block: BlockId) -> usize {
        self.block(function, block).statements.len()
    }

    fn last_effect(
        &self,
        function: FunctionId,
        block: BlockId,
        before: usize,
        pointer: Pointer,
    ) -> Option<(usize, Effect<Pointer>)> {
        let statements = &self.block(function, block).statements[..before];
        statements.iter().enumerate().rev().find_map(|(index, statement)| {
            let effect = match *statement {
                Statement::Address(p, global) if p == pointer => Effect::Sets(address(global)),
                Statement::Copy(p, q) if p == pointer => Effect::Copies(q),
                Statement::Clobber(p) if p == pointer => Effect::Loses,
                Statement::Call(callee) if self.may_write(callee, pointer) => Effect::Call {
                    function: FunctionId(callee as u32),
                    returns: self.functions[callee]
                        .iter()
                        .enumerate()
                        .filter(|(_, block)| block.next.is_empty())
                        .map(|(block, _)| (BlockId(block as u32), pointer))
                        .collect(),
                },
                _ => return None,
            };
            Some((index, effect))
        })
    }

    fn entry(&self, function: FunctionId, pointer: Pointer) -> Entry<Pointer> {
        match self.entries {
            Entries::Symbolic => Entry::Symbolic,
            Entries::Callers if function == FunctionId(0) => Entry::Value(Term::constant(0)),
            Entries::Callers => {
                let mut all = Vec::new();
                for (caller, blocks) in self.functions.iter().enumerate() {
                    for (block, code) in blocks.iter().enumerate() {
                        for (index, statement) in code.statements.iter().enumerate() {
                            if *statement == Statement::Call(function.0 as usize) {
                                let (caller, block) = (FunctionId(caller as u32), BlockId(block as u32));
                                all.push((At { function: caller, block, index }, pointer));
                            }
                        }
                    }
                }
                Entry::Callers(all)
            }
        }
    }

    fn inward(&self, _: At, _: FunctionId, value: Term) -> Option<Term> {
        Some(value)
    }

    fn outward(&self, _: At, _: FunctionId, _: BlockId, value: Term) -> Option<Term> {
        Some(value)
    }

    fn outward_cell(&self, _: At, _: FunctionId, pointer: Pointer) -> Option<Pointer> {
        Some(pointer)
    }

    fn stands(&self, _: FunctionId, _: BlockId, _: Pointer) -> bool {
        true
    }

    fn lasts(&self, _: FunctionId, _: BlockId, _: Option<usize>, _: usize, _: Term) -> bool {
        true
    }

    fn quiet(&self, _: FunctionId, _: BlockId, _: usize, _: Pointer) -> bool {
        true
    }
}
