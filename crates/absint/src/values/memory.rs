//! Round 2: what memory must hold, and what loads find there.
//!
//! Every load of a scalar asks [`must_alias::Engine`] what its cell holds, with the view of [`view`]: absolute facts, over callers and
//! thread creations, at points where no parallel thread may write the cell ([`quiet`]). What loads find makes more terms, and these
//! more cells; so registers and memory are solved in turns, a few times, until the loads used are the loads found.
//!
//! Beyond the rules in `facts`: a cell of a global that no reachable access may write holds its initial value everywhere, without a
//! fact; facts of a function's exit follow from those at the starts of its returning blocks; a call's result
//! names what the callee returned. Errs towards fewer facts: each question may visit so many blocks, then it is given up.

mod cells;
mod mods;
mod names;
mod quiet;
mod view;

use super::initial::initial_value;
use super::once::OnceRegs;
use super::terms::wrap;
use crate::accesses::Access;
use crate::calls::Calls;
use crate::must_alias::{At, Engine, Held, MOST_NODES};
use cells::Cell;
use raddle_base::SiteId;
use raddle_facts::{MemoryFact, OrderFacts, PointsTo, Root, Term, ThreadFacts, Values};
use raddle_ir::{Inst, Operand, Program, Ty};
use std::collections::BTreeMap;
use view::Memory;

/// Nodes made for all questions together, per block of the program; later questions get few.
const NODES_PER_BLOCK: usize = 12;
const FEW_NODES: usize = 12;

/// What a memory round reads.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub program: &'a Program,
    pub points_to: &'a PointsTo,
    pub threads: &'a ThreadFacts,
    pub order: &'a OrderFacts,
    pub once: &'a OnceRegs,
    pub values: &'a Values,
    pub calls: &'a Calls,
    pub accesses: &'a [Access],
    pub constructors: &'a [raddle_ir::FunctionId],
    pub main: Option<raddle_ir::FunctionId>,
}

/// What was found: values of loads, and facts at starts of blocks.
pub(crate) struct Found {
    pub loads: BTreeMap<SiteId, Term>,
    pub facts: Vec<(raddle_ir::FunctionId, raddle_ir::BlockId, MemoryFact)>,
}

pub(crate) fn find(given: Given<'_>) -> Found {
    let memory = Memory::new(given);
    let everything = |_: Cell| true;
    let mut engine = Engine::new(&memory, &everything);
    let blocks: usize = given.program.functions.values().map(|f| f.blocks.len()).sum();
    let plenty = blocks.saturating_mul(NODES_PER_BLOCK).saturating_add(50_000);
    let mut loads = BTreeMap::new();
    for (function, body) in given.program.functions.iter() {
        for (block, code) in body.blocks.iter() {
            if !given.values.is_reachable(function, block) {
                continue;
            }
            for (index, inst) in code.insts.iter().enumerate() {
                let Inst::Load { ty, ptr, volatile: false, .. } = inst else { continue };
                let Some(cell) = asked(&memory, function, *ptr, *ty) else { continue };
                let found = match memory.never_written(cell) {
                    true => constant_content(given.program, cell, *ty),
                    false => {
                        let at = At { function, block, index };
                        let nodes = if engine.nodes() < plenty { MOST_NODES } else { FEW_NODES };
                        match engine.at_most(at, cell, nodes) {
                            Held::Value(value) => fitted(value, *ty),
                            Held::Never | Held::Entry(_) | Held::Unknown => None,
                        }
                    }
                };
                if let Some(term) = found {
                    loads.insert(code.site_of(index), term);
                }
            }
        }
    }
    let facts = engine
        .at_starts()
        .filter_map(|(function, block, cell, held)| match held {
            Held::Value(value) if given.values.is_reachable(function, block) => {
                Some((function, block, MemoryFact { cell: cell.address, bytes: cell.bytes, value }))
            }
            _ => None,
        })
        .collect();
    Found { loads, facts }
}

/// The cell that a load reads, if it can be followed.
fn asked(memory: &Memory, function: raddle_ir::FunctionId, ptr: Operand, ty: Ty) -> Option<Cell> {
    let bytes = cells::bytes(memory.given.program, ty)?;
    let address = crate::terms::term_of(memory.given.values, function, ptr);
    let cell = Cell { address, bytes };
    (!memory.objects(cell).is_empty()).then_some(cell)
}

fn constant_content(program: &Program, cell: Cell, ty: Ty) -> Option<Term> {
    match (cell.address.root, cell.address.index) {
        (Root::Global(global), None) => initial_value(program, global, cell.address.offset, ty),
        _ => None,
    }
}

/// The stored value as a value of the loaded type, which has as many bytes.
fn fitted(value: Term, ty: Ty) -> Option<Term> {
    match (value.as_constant(), ty) {
        (Some(constant), Ty::Int(bits)) => Some(Term::constant(wrap(constant, u32::from(bits)))),
        _ => Some(value),
    }
}
