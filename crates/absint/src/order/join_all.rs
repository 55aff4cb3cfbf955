//! Loops that join every thread that another loop created, for any number of threads.
//!
//! The shape: in one function that runs once, a loop creates a thread in every round and puts its handle into `base + i * scale`; later
//! a loop over the same numbers (same start, step, comparison and bound) joins `base + j * scale` in every round; nothing else
//! writes those cells; and the second loop is reached only by leaving the first at its head. After the second loop, all are joined.

use super::Input;
use super::gates::Gates;
use crate::calls::{Call, Way};
use crate::cfg::Cfg;
use crate::induction::{Induction, induction};
use crate::terms::term_of;
use raddle_base::Id;
use raddle_facts::{Start, Term, Times};
use raddle_ir::{BlockId, FunctionId, IcmpPred, Inst, Operand, Reg, Terminator};
use raddle_libmodel::{Effect, How, ThreadOp};

pub(super) fn find(input: Input<'_>, gates: &mut Gates) {
    for (id, thread) in input.threads.threads.iter() {
        let Start::Created(site) = thread.start else { continue };
        if !thread.many {
            continue;
        }
        let function = input.program.sites[site].function;
        let Some(create) = input.calls.at(function, site) else { continue };
        let only = create.effects.len() == 1
            && create.runs.iter().filter(|(_, way)| *way == Way::Thread).count() == 1
            && crate::threads::starting_calls(input.calls, thread).len() == 1;
        if !only || input.threads.times[function].first() != Some(&Times::Once) {
            continue;
        }
        let cfg =
            Cfg::new(&input.program.functions[function], |_, to| input.values.is_reachable(function, to));
        let Some(exited) = gates.exited(id).filter(|_| cfg.is_reducible()) else { continue };
        for edge in joined_after(input, function, &cfg, create) {
            gates.on_edge.entry((function, edge.0, edge.1)).or_default().push(exited);
        }
    }
}

/// The edges out of loops that have joined all threads of a creation.
fn joined_after(input: Input<'_>, function: FunctionId, cfg: &Cfg, create: &Call) -> Vec<(BlockId, BlockId)> {
    let shape = Shape { input, function, cfg };
    let (_, args) = create.parts(input.program, function);
    let handle = match create.effects.as_slice() {
        [Effect::Thread(ThreadOp::Create { id, .. }, _)] => args.get(usize::from(id.0)),
        _ => None,
    };
    let Some(cell) = handle.map(|arg| term_of(input.values, function, arg.value)) else { return Vec::new() };
    let Some(first) = shape.round(create.block, cell) else { return Vec::new() };
    if !shape.written_only_by(cell, create) {
        return Vec::new();
    }
    let mut edges = Vec::new();
    for join in &input.calls.from[function] {
        let (_, args) = join.parts(input.program, function);
        let handle = match join.effects.as_slice() {
            [Effect::Thread(ThreadOp::Join { thread, how: How::Block, .. }, _)] if join.runs.is_empty() => {
                args.get(usize::from(thread.0))
            }
            _ => None,
        };
        let Some(joined) = handle.and_then(|arg| shape.loaded_from(join.block, arg.value)) else { continue };
        let Some(second) = shape.round(join.block, joined) else { continue };
        let same = first.base == second.base
            && first.scale == second.scale
            && first.induction.start == second.induction.start
            && first.induction.step == second.induction.step
            && first.test == second.test;
        if same && shape.follows(&first, &second) {
            edges.push((second.induction.header, second.leave));
        }
    }
    edges
}

/// A loop whose every round handles one cell.
struct Round {
    induction: Induction,
    /// The cell without its index.
    base: Term,
    scale: i64,
    /// Comparison and bound under which the loop goes on.
    test: (IcmpPred, Term, bool),
    /// Where the header goes when it is done.
    leave: BlockId,
}

struct Shape<'a> {
    input: Input<'a>,
    function: FunctionId,
    cfg: &'a Cfg,
}

impl Shape<'_> {
    /// The loop around a block that is executed once in every round and touches `cell`.
    fn round(&self, block: BlockId, cell: Term) -> Option<Round> {
        let input = self.input;
        let body = &input.program.functions[self.function];
        let index = cell.index.filter(|index| index.function == self.function)?;
        let natural = &self.cfg.loops[self.cfg.innermost_loop(block)?];
        let reg = self.unextended(index.reg);
        let induction = induction(self.function, body, self.cfg, input.definitions, input.values, reg)?;
        let every_round = natural.latches.iter().all(|latch| self.cfg.dominates(block, *latch));
        if induction.header != natural.header || natural.outer.is_some() || !every_round {
            return None;
        }
        let Terminator::CondBr { cond, then, other } = &body.blocks[natural.header].terminator else {
            return None;
        };
        let (stay, leave) = match (natural.blocks.contains(then), natural.blocks.contains(other)) {
            (true, false) => (true, *other),
            (false, true) => (false, *then),
            _ => return None,
        };
        let Operand::Reg(condition) = cond else { return None };
        let test = body.blocks[natural.header].insts.iter().find_map(|inst| match inst {
            Inst::Icmp { dst, pred, a: Operand::Reg(a), b, .. }
                if dst == condition && self.unextended(*a) == reg =>
            {
                Some((*pred, term_of(input.values, self.function, *b), stay))
            }
            _ => None,
        })?;
        let outside = |term: Term| {
            term.registers().all(|(owner, reg)| {
                owner != self.function || !natural.blocks.contains(&input.definitions.block(owner, reg))
            })
        };
        let base = Term { index: None, ..cell };
        (outside(base) && outside(test.1)).then_some(Round {
            induction,
            base,
            scale: index.scale,
            test,
            leave,
        })
    }

    fn unextended(&self, mut reg: Reg) -> Reg {
        let body = &self.input.program.functions[self.function];
        loop {
            let block = &body.blocks[self.input.definitions.block(self.function, reg)];
            let source = block.insts.iter().find_map(|inst| match inst {
                Inst::Cast {
                    dst,
                    op: raddle_ir::CastOp::SExt | raddle_ir::CastOp::ZExt,
                    a: Operand::Reg(from),
                    ..
                } if *dst == reg => Some(*from),
                _ => None,
            });
            match source {
                Some(from) => reg = from,
                None => return reg,
            }
        }
    }

    /// The cell that a register was loaded from in the same round.
    fn loaded_from(&self, block: BlockId, handle: Operand) -> Option<Term> {
        let Operand::Reg(reg) = handle else { return None };
        let at = self.input.definitions.block(self.function, reg);
        if self.cfg.innermost_loop(at) != self.cfg.innermost_loop(block) {
            return None;
        }
        let body = &self.input.program.functions[self.function];
        body.blocks[at].insts.iter().find_map(|inst| match inst {
            Inst::Load { dst, ptr, .. } if *dst == reg => {
                Some(term_of(self.input.values, self.function, *ptr))
            }
            _ => None,
        })
    }

    /// Whether the creation is the only access that may write the array of handles.
    fn written_only_by(&self, cell: Term, create: &Call) -> bool {
        let places = super::handles::places(self.input, cell);
        !places.is_empty()
            && self.input.accesses.iter().filter(|access| access.is_write()).all(|access| {
                access.site == create.site
                    || !access.targets(self.input.points_to).iter().any(|(object, at)| {
                        places.iter().any(|(other, offsets)| {
                            other == object && at.may_overlap(access.bytes, *offsets, 8)
                        })
                    })
            })
    }

    /// The second loop comes after the first, which is left at its head only as far as the second is concerned.
    fn follows(&self, first: &Round, second: &Round) -> bool {
        let header = first.induction.header;
        let natural = self.cfg.loops.iter().find(|one| one.header == header).expect("the loop of a round");
        let target = second.induction.header;
        if natural.blocks.contains(&target) || !self.cfg.dominates(header, target) {
            return false;
        }
        let reaches = |from: BlockId| from == target || self.cfg.reaches(from, target);
        // Other ways out of the second loop pass nothing: only the edge out of its head does.
        natural.blocks.iter().all(|block| {
            self.cfg.successors[block.index()].iter().all(|to| {
                natural.blocks.contains(to) || (*block == header && *to == first.leave) || !reaches(*to)
            })
        })
    }
}
