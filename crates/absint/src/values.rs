//! What registers must hold, which blocks can be reached, and in which bounds numbers lie: the solver of [`raddle_facts::values`].
//!
//! [`registers`] is the first round, without memory: conditional constant propagation over the whole program (Wegman, Zadeck 1991) in
//! terms. Errs towards more: a block counts as reachable, and a register stands for itself, unless the contrary is shown.
//! Beyond the rules in `facts`: an edge along which a constant condition does not lead counts for no phi; a call's result has the term that all
//! returns of all targets agree on, with the arguments of the call in the place of parameters; null is no target of a call; a
//! comparison is also decided by intervals.
//!
//! Numbers: constants and intervals are sign-extended from the register's type, so a true condition is -1.

mod bounds;
mod entry;
mod initial;
mod interval;
mod memory;
mod narrow;
mod once;
mod shape;
mod solve;
mod targets;
mod terms;
mod transfer;

pub use bounds::Bounds;
pub use initial::starts_at_zero;
pub use once::OnceRegs;
pub(crate) use terms::{of_block, of_undefined};

use crate::Roots;
use crate::accesses;
use crate::calls::Calls;
use crate::terms::term_of;
use raddle_base::{Id, SiteId};
use raddle_facts::{Interval, OrderFacts, PointsTo, Term, ThreadFacts, Values};
use raddle_ir::{BlockId, FunctionId, Inst, Operand, Program, Terminator, Ty};
use raddle_libmodel::Models;
use solve::{Input, Known, Solver};
use std::collections::BTreeMap;

/// Round 1: registers alone. Memory is read only in constant globals; any function whose address is taken is a target of a call
/// through a pointer that is not a constant.
pub fn registers(program: &Program, models: &Models, roots: &Roots) -> Values {
    let loads = BTreeMap::new();
    let input = Input { program, models, roots, points_to: None, loads: &loads, once: None };
    exported(&Solver::run(&input))
}

/// Round 2: with memory, and with calls through pointers as points-to resolved them. `first` is the solution on which the other facts
/// stand; what it says of loads is where this starts from, and is proved again.
pub fn with_memory(
    program: &Program,
    models: &Models,
    roots: &Roots,
    first: &Values,
    points_to: &PointsTo,
    threads: &ThreadFacts,
    order: &OrderFacts,
) -> Values {
    let once = OnceRegs::of(program, threads);
    let mut loads: BTreeMap<SiteId, Term> = first.loads.clone();
    let mut turn = 0;
    loop {
        let input =
            Input { program, models, roots, points_to: Some(points_to), loads: &loads, once: Some(&once) };
        let mut values = exported(&Solver::run(&input));
        let calls = Calls::new(program, models, &values, points_to);
        let accesses = accesses::collect(program, &calls, &values, points_to);
        let found = memory::find(memory::Given {
            program,
            points_to,
            threads,
            order,
            once: &once,
            values: &values,
            calls: &calls,
            accesses: &accesses,
            constructors: &roots.constructors,
            main: roots.main,
        });
        turn += 1;
        let agrees = |site: &SiteId| found.loads.get(site) == values.loads.get(site);
        let proved = loads.keys().all(agrees);
        let learned = found.loads.iter().any(|(site, term)| values.loads.get(site) != Some(term));
        if proved && (!learned || turn >= TURNS) {
            for (function, block, fact) in found.facts {
                values.memory[function][block.index()].push(fact);
            }
            for (_, blocks) in values.memory.iter_mut() {
                blocks.iter_mut().for_each(|facts| facts.sort());
            }
            return values;
        }
        // The last turns only drop what was not found again.
        match turn >= TURNS {
            true => loads.retain(|site, _| found.loads.get(site) == values.loads.get(site)),
            false => loads = found.loads,
        }
    }
}

/// Turns of registers and memory.
const TURNS: usize = 4;

/// The blocks that a terminator may lead to, given what is known of its condition.
pub(crate) fn each_open_target(
    values: &Values,
    function: FunctionId,
    terminator: &Terminator,
    mut visit: impl FnMut(BlockId),
) {
    let constant =
        |operand: &Operand, ty: Ty| typed_term_of(values, function, operand, ty).and_then(Term::as_constant);
    match terminator {
        Terminator::CondBr { cond, then, other } => match constant(cond, Ty::Int(1)) {
            Some(0) => visit(*other),
            Some(_) => visit(*then),
            None => terminator.each_target(visit),
        },
        Terminator::Switch { value, ty, cases, default } => match constant(value, *ty) {
            Some(value) => {
                let case =
                    cases.iter().find(|(case, _)| terms::constant(Operand::Const(*case), *ty) == Some(value));
                visit(case.map_or(*default, |(_, target)| *target));
            }
            None => terminator.each_target(visit),
        },
        _ => terminator.each_target(visit),
    }
}

/// Everything is reachable and nothing is known.
pub fn trivial(program: &Program) -> Values {
    let per_function = |f: &raddle_ir::Function| f.blocks.len();
    Values {
        reachable: program.functions.values().map(|f| vec![true; per_function(f)]).collect(),
        terms: program.functions.values().map(|f| vec![None; f.regs.len()]).collect(),
        intervals: program.functions.values().map(|f| vec![Interval::ANY; f.regs.len()]).collect(),
        memory: program.functions.values().map(|f| vec![Vec::new(); per_function(f)]).collect(),
        loads: BTreeMap::new(),
    }
}

/// The term of an operand of this type ([`term_of`] takes constants as 64 bits wide); `None` for float and wide constants and
/// for undefined values, which no term says.
pub fn typed_term_of(values: &Values, function: FunctionId, operand: &Operand, ty: Ty) -> Option<Term> {
    match operand {
        Operand::Const(_) | Operand::Null | Operand::Undef => {
            terms::constant(*operand, ty).map(Term::constant)
        }
        _ => Some(term_of(values, function, *operand)),
    }
}

/// Whether a term means the same value in every thread and activation: constants, globals, functions, and registers that are
/// assigned at most once in the whole run.
pub fn is_global(term: Term, once: &OnceRegs) -> bool {
    once.is_global(term)
}

fn exported(solver: &Solver) -> Values {
    let program = solver.program;
    let mut values = Values {
        reachable: program.functions.values().map(|f| vec![false; f.blocks.len()]).collect(),
        terms: program.functions.values().map(|f| vec![None; f.regs.len()]).collect(),
        intervals: program.functions.values().map(|f| vec![Interval::ANY; f.regs.len()]).collect(),
        memory: program.functions.values().map(|f| vec![Vec::new(); f.blocks.len()]).collect(),
        loads: BTreeMap::new(),
    };
    for (id, state) in solver.functions.iter() {
        let Some(state) = state else { continue };
        values.reachable[id].clone_from(&state.reached);
        for (at, cell) in state.cells.iter().enumerate() {
            if let Known::Term(term) = cell.known {
                values.terms[id][at] = Some(solve::resolved(solver, term));
            }
            if cell.known != Known::Unseen {
                values.intervals[id][at] = cell.interval;
            }
        }
        for (block_id, block) in program.functions[id].blocks.iter() {
            if !state.reached[block_id.index()] {
                continue;
            }
            for (index, inst) in block.insts.iter().enumerate() {
                if let Inst::Load { dst, .. } = inst
                    && let Some(term) = values.terms[id][dst.index()]
                {
                    values.loads.insert(block.site_of(index), term);
                }
            }
        }
    }
    values
}
