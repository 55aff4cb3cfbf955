//! Registers that differ from instance to instance of a thread that is created in a loop: the basis for "each thread has its own cell".
//!
//! *Must*. The thread's argument differs if it moves with a loop's induction register and the creation happens once per round of a
//! loop that runs once, or if it is a block allocated in the same round. A field that the creator sets in the same round, before the
//! creation, and that nothing else in the program ever writes, hands the same property on to whoever reads it in the thread.
//! That the register does not wrap around is shown by [`super::counters`].

use super::counters;
use crate::accesses::{Access, Kind};
use crate::calls::{Call, Calls, Way};
use crate::cfg::Cfg;
use crate::induction::{affine, induction};
use crate::terms::{Definitions, term_of};
use raddle_facts::{
    BeforeStart, Distinct, MOST_APART, PointsTo, Root, Spacing, Start, Term, ThreadFacts, ThreadId, Times,
    Values,
};
use raddle_ir::{BlockId, CastOp, FunctionId, Inst, Operand, Program, Reg, Ty};
use raddle_libmodel::ThreadOp;
use raddle_libmodel::memory::{Base, Life, Value};

pub(super) fn solve(
    program: &Program,
    calls: &Calls,
    definitions: &Definitions,
    values: &Values,
    points_to: &PointsTo,
    accesses: &[Access],
    facts: &ThreadFacts,
) -> (Vec<Distinct>, Vec<BeforeStart>) {
    let mut found = Vec::new();
    let mut before = Vec::new();
    for (id, thread) in facts.threads.iter() {
        let Start::Created(_) = thread.start else { continue };
        let starts = &calls.to[thread.entry];
        if !thread.many || starts.len() != 1 {
            continue;
        }
        let (creator, position) = starts[0];
        let call = &calls.from[creator][position];
        let (Some(argument), Some(param)) =
            (start_argument(program, creator, call), program.functions[thread.entry].params.first())
        else {
            continue;
        };
        let cfg = Cfg::new(&program.functions[creator], |_, to| values.is_reachable(creator, to));
        if !cfg.is_reducible() {
            continue;
        }
        let site = Site { program, calls, definitions, values, facts, cfg: &cfg, creator, call };
        if let Some(spacing) = site.spacing(argument) {
            found.push(Distinct {
                thread: id,
                function: thread.entry,
                reg: param.reg,
                source: None,
                spacing,
            });
            site.preparations(id, argument, accesses, &mut before);
            let parameter = Term::reg(thread.entry, param.reg);
            site.narrowed(id, argument, parameter, spacing, &mut found);
            site.fields(id, (argument, spacing), parameter, points_to, accesses, &mut found);
        }
    }
    (found, before)
}

/// The argument that a creation hands to the new thread; only for plain creations through one modelled function.
fn start_argument(program: &Program, function: FunctionId, call: &Call) -> Option<Operand> {
    let (_, args) = call.parts(program, function);
    match call.effects.as_slice() {
        [
            raddle_libmodel::Effect::Thread(
                ThreadOp::Create { argument, .. } | ThreadOp::CreateReturning { argument, .. },
                _,
            ),
        ] => args.get(usize::from(argument.0)).map(|arg| arg.value),
        _ => None,
    }
}

struct Site<'a> {
    program: &'a Program,
    calls: &'a Calls,
    definitions: &'a Definitions,
    values: &'a Values,
    facts: &'a ThreadFacts,
    cfg: &'a Cfg,
    creator: FunctionId,
    call: &'a Call,
}

impl Site<'_> {
    /// How far apart the values of an operand are in two rounds that each reach the creation once.
    fn spacing(&self, operand: Operand) -> Option<Spacing> {
        self.by_induction(operand).or_else(|| self.by_allocation(operand))
    }

    fn by_induction(&self, operand: Operand) -> Option<Spacing> {
        let function = &self.program.functions[self.creator];
        let moving = affine(self.creator, function, self.definitions, self.values, operand)?;
        let step = induction(self.creator, function, self.cfg, self.definitions, self.values, moving.reg)?;
        let innermost = self.cfg.innermost_loop(self.call.block)?;
        let natural = &self.cfg.loops[innermost];
        let once = self.facts.times[self.creator].first() == Some(&Times::Once);
        let fixed = moving.base.registers().all(|(owner, reg)| {
            owner != self.creator || !natural.blocks.contains(&self.definitions.block(owner, reg))
        });
        if !once || natural.outer.is_some() || natural.header != step.header || !fixed {
            return None;
        }
        let widest =
            counters::widest(self.program, self.definitions, self.values, self.cfg, self.creator, &step)?;
        let scale = moving.scale.unsigned_abs();
        let (least, most) = (step.step.unsigned_abs().checked_mul(scale)?, widest.checked_mul(scale)?);
        (least > 0 && most <= MOST_APART).then_some(Spacing::Apart { least, most })
    }

    fn by_allocation(&self, operand: Operand) -> Option<Spacing> {
        let term = term_of(self.values, self.creator, operand);
        let (Root::Reg(owner, reg), None) = (term.root, term.index) else { return None };
        if owner != self.creator || !self.is_fresh_block(reg) {
            return None;
        }
        let made = self.definitions.block(owner, reg);
        (self.cfg.innermost_loop(made) == self.cfg.innermost_loop(self.call.block))
            .then_some(Spacing::Objects)
    }

    /// Whether the register is the result of a call that returns a new heap block and nothing else.
    fn is_fresh_block(&self, reg: Reg) -> bool {
        let block = &self.program.functions[self.creator].blocks[self.definitions.block(self.creator, reg)];
        let Some(index) = block
            .insts
            .iter()
            .position(|inst| matches!(inst, Inst::Call { dsts, .. } if dsts.contains(&reg)))
        else {
            return false;
        };
        let Some(call) = self.calls.at(self.creator, block.site_of(index)) else { return false };
        match call.effects.as_slice() {
            [effect] if call.runs.is_empty() && call.unknown.is_empty() => {
                let memory = effect.memory();
                memory.allocates.is_some_and(|made| made.life == Life::Handed)
                    && memory
                        .returns
                        .iter()
                        .all(|value| matches!(value, Value::Into(place) if place.base == Base::Fresh))
            }
            _ => false,
        }
    }

    /// Reads in the thread of fields that the creator set in the same round.
    fn fields(
        &self,
        thread: ThreadId,
        (argument, apart): (Operand, Spacing),
        parameter: Term,
        points_to: &PointsTo,
        accesses: &[Access],
        found: &mut Vec<Distinct>,
    ) {
        let given = term_of(self.values, self.creator, argument);
        for read in accesses {
            let Inst::Load { dst, .. } =
                &self.program.functions[read.function].blocks[read.block].insts[read.index]
            else {
                continue;
            };
            // Else the next round overwrites the field.
            let kept = match apart {
                Spacing::Objects => true,
                Spacing::Apart { least, .. } => least >= read.bytes,
            };
            if self.facts.runs[read.function] != [thread] || !kept {
                continue;
            }
            let Some(offset) =
                read.address.and_then(|at| term_of(self.values, read.function, at).distance(parameter))
            else {
                continue;
            };
            let mut writers = accesses.iter().filter(|other| {
                other.is_write()
                    && read
                        .targets(points_to)
                        .iter()
                        .any(|(object, at)| other.may_touch(points_to, *object, *at, read.bytes))
            });
            let (Some(writer), None) = (writers.next(), writers.next()) else { continue };
            let inst = &self.program.functions[writer.function].blocks[writer.block].insts[writer.index];
            if writer.function == self.creator
                && matches!(inst, Inst::Store { .. })
                && writer.kind == Kind::Write
                && writer.bytes == read.bytes
                && self.precedes(writer.block, writer.index)
                && writer
                    .address
                    .is_some_and(|at| term_of(self.values, self.creator, at) == given.plus(offset))
                && let Some(spacing) = writer.value.and_then(|value| self.spacing(value))
            {
                found.push(Distinct {
                    thread,
                    function: read.function,
                    reg: *dst,
                    source: Some(offset),
                    spacing,
                });
            }
        }
    }

    /// The argument as an `int` again: an integer that was widened to a pointer loses nothing when it is cut to its own width.
    fn narrowed(
        &self,
        thread: ThreadId,
        argument: Operand,
        parameter: Term,
        spacing: Spacing,
        found: &mut Vec<Distinct>,
    ) {
        let function = &self.program.functions[self.creator];
        let Some(moving) = affine(self.creator, function, self.definitions, self.values, argument) else {
            return;
        };
        let (Ty::Int(own), 1, Some(0)) =
            (function.regs[moving.reg].ty, moving.scale, moving.base.as_constant())
        else {
            return;
        };
        for (id, body) in self.program.functions.iter() {
            if self.facts.runs[id] != [thread] {
                continue;
            }
            for inst in body.blocks.values().flat_map(|block| &block.insts) {
                if let Inst::Cast { dst, op: CastOp::Trunc, to: Ty::Int(width), a, .. } = inst
                    && *width >= own
                    && term_of(self.values, id, *a) == parameter
                {
                    let source = Some(i64::MIN + i64::from(*width));
                    found.push(Distinct { thread, function: id, reg: *dst, source, spacing });
                }
            }
        }
    }

    /// Accesses to the argument's memory in the same round, before the creation, by the creator or by what it calls there.
    fn preparations(
        &self,
        thread: ThreadId,
        argument: Operand,
        accesses: &[Access],
        found: &mut Vec<BeforeStart>,
    ) {
        let given = term_of(self.values, self.creator, argument);
        for access in accesses {
            let Some(address) = access.address else { continue };
            // A site that reads one place and writes another is named by the fact as a whole: only sites of one access.
            if accesses.iter().filter(|other| other.site == access.site).count() != 1 {
                continue;
            }
            let Some(offset) = term_of(self.values, access.function, address).distance(given) else {
                continue;
            };
            if let Some((block, index)) = self.in_creator(access)
                && self.precedes(block, index)
            {
                found.push(BeforeStart { thread, site: access.site, offset });
            }
        }
    }

    /// Where in the creator an access happens: at itself, or at the one call that leads to it.
    fn in_creator(&self, access: &Access) -> Option<(BlockId, usize)> {
        let mut at = (access.function, access.block, access.index);
        for _ in 0..8 {
            if at.0 == self.creator {
                return Some((at.1, at.2));
            }
            let [(caller, position)] = self.calls.to[at.0].as_slice() else { return None };
            let call = &self.calls.from[*caller][*position];
            let plain = call.runs.iter().all(|(target, way)| *target != at.0 || *way == Way::Call);
            if !plain || self.calls.recursive[at.0] {
                return None;
            }
            at = (*caller, call.block, call.index);
        }
        None
    }

    /// Executed before the creation in every round that reaches it, and at most once per round.
    fn precedes(&self, block: BlockId, index: usize) -> bool {
        self.cfg.innermost_loop(block) == self.cfg.innermost_loop(self.call.block)
            && if block == self.call.block {
                index < self.call.index
            } else {
                self.cfg.dominates(block, self.call.block)
            }
    }
}
