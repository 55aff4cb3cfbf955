//! What an operand is at a point, by the facts: a linear expression, and an interval narrowed by the branches that lead there.
//!
//! A branch says something about a register at a point if the comparison, the branch and the block behind it lie on every path to the
//! point: then the register was not assigned since (it dominates the comparison).

use super::code::Code;
use super::flow::{Definition, Flow};
use super::intervals::{int_bits, meet, mirrored, narrowed, negated, range, single};
use super::linear::{Atom, Linear};
use super::terms::number;
use raddle_base::Id;
use raddle_facts::Interval;
use raddle_ir::{
    BlockId, CastOp, DataModel, Function, FunctionId, IcmpPred, Inst, Operand, Reg, Terminator, Ty,
};

/// Branches looked at per operand.
const MOST_GUARDS: usize = 48;

/// Where an operand is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where {
    Block(BlockId),
    /// By a phi, on the way from one block to the other.
    Edge(BlockId, BlockId),
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// `None`: no expression says it.
    pub form: Option<Linear>,
    /// For integers: as a signed number of its width.
    pub interval: Interval,
}

impl Value {
    pub fn anything(ty: Ty) -> Value {
        Value { form: None, interval: range(ty) }
    }

    pub fn constant(value: i64) -> Value {
        Value { form: Some(Linear::constant(value)), interval: single(value) }
    }

    pub fn of(form: Linear) -> Value {
        let interval = form.as_constant().map_or(Interval::ANY, single);
        Value { form: Some(form), interval }
    }

    pub fn as_constant(&self) -> Option<i64> {
        self.form.as_ref().and_then(Linear::as_constant)
    }
}

impl Code<'_> {
    pub fn value(&self, function: FunctionId, operand: Operand, ty: Ty, place: Where) -> Value {
        match operand {
            Operand::Reg(reg) => {
                let form = Linear::of(self.reg_term(function, reg));
                let known = self.facts.values.intervals[function][reg.index()];
                Value { form: Some(form), interval: self.narrowed(function, reg, known, place) }
            }
            Operand::Global(global, offset) if !self.program.globals[global].thread_local => {
                Value::of(Linear::atom(Atom::Global(global)).plus(&Linear::constant(offset)))
            }
            Operand::Function(target) => Value::of(Linear::atom(Atom::Function(target))),
            Operand::Const(_) | Operand::Null | Operand::Undef => match number(operand, ty) {
                Some(value) => Value::constant(value),
                None => Value::anything(ty),
            },
            Operand::Global(..) | Operand::Block(_) => Value::anything(ty),
        }
    }

    /// Whether an expression is a number exactly. On 32 bits, addresses and what is computed from them are numbers modulo 2^32 only.
    pub fn is_exact(&self, form: &Linear) -> bool {
        let is_number = |atom: &Atom| match atom {
            Atom::Reg(function, reg) => matches!(self.program.functions[*function].regs[*reg].ty, Ty::Int(_)),
            Atom::Global(_) | Atom::Function(_) => false,
        };
        self.program.data_model == DataModel::Lp64 || form.atoms.iter().all(|(atom, _)| is_number(atom))
    }

    fn narrowed(&self, function: FunctionId, reg: Reg, known: Interval, place: Where) -> Interval {
        let body = &self.program.functions[function];
        if int_bits(body.regs[reg].ty).is_none() || known.low == known.high {
            return known;
        }
        let flow = &self.flows[function];
        let guards = Guards { body, flow, intervals: &self.facts.values.intervals[function] };
        let (edge, block) = match place {
            Where::Block(block) => (None, block),
            Where::Edge(from, to) => (Some((from, to)), from),
        };
        let above = flow.edges_above(block);
        let mut interval = known;
        for (from, to) in
            edge.into_iter().chain(above).filter(|edge| guards.is_branch(*edge)).take(MOST_GUARDS)
        {
            interval = guards.past(reg, interval, from, to);
        }
        interval
    }
}

struct Guards<'a> {
    body: &'a Function,
    flow: &'a Flow,
    intervals: &'a [Interval],
}

impl Guards<'_> {
    /// Whether exactly one case of the terminator leads along the edge.
    fn is_branch(&self, (from, to): (BlockId, BlockId)) -> bool {
        match &self.body.blocks[from].terminator {
            Terminator::CondBr { then, other, .. } => then != other,
            Terminator::Switch { cases, default, .. } => {
                *default != to && cases.iter().filter(|(_, target)| *target == to).count() == 1
            }
            _ => false,
        }
    }

    /// A branch that no value takes says nothing: what follows is not run.
    fn past(&self, reg: Reg, interval: Interval, from: BlockId, to: BlockId) -> Interval {
        let refined = match &self.body.blocks[from].terminator {
            Terminator::CondBr { cond: Operand::Reg(cond), then, .. } => {
                let Some(Inst::Icmp { pred, ty, a, b, .. }) = self.definition(*cond) else { return interval };
                let pred = if to == *then { *pred } else { negated(*pred) };
                let once = self.compared(reg, interval, pred, *ty, *a, *b);
                Some(self.compared(reg, once, mirrored(pred), *ty, *b, *a))
            }
            Terminator::Switch { value: Operand::Reg(value), ty, cases, .. } if *value == reg => {
                let case = cases.iter().find(|(_, target)| *target == to);
                case.and_then(|(case, _)| number(Operand::Const(*case), *ty))
                    .and_then(|case| meet(interval, single(case)))
            }
            _ => None,
        };
        refined.unwrap_or(interval)
    }

    /// `left pred right` holds.
    fn compared(
        &self,
        reg: Reg,
        interval: Interval,
        pred: IcmpPred,
        ty: Ty,
        left: Operand,
        right: Operand,
    ) -> Interval {
        let Operand::Reg(left) = left else { return interval };
        if int_bits(ty).is_none() {
            return interval;
        }
        let other = match right {
            Operand::Reg(other) => Some(self.intervals[other.index()]),
            _ => number(right, ty).map(single),
        };
        let Some(other) = other else { return interval };
        let refined = if left == reg {
            narrowed(pred, interval, other)
        } else {
            match self.definition(left) {
                Some(Inst::Cast { op: CastOp::SExt, a: Operand::Reg(inner), .. }) if *inner == reg => {
                    narrowed(pred, interval, other)
                }
                Some(Inst::Cast { op: CastOp::ZExt, from, a: Operand::Reg(inner), .. }) if *inner == reg => {
                    // As an unsigned number; it is the signed one if the sign bit is not reached.
                    match int_bits(*from) {
                        Some(bits) if bits < 64 => {
                            let largest = (1_i64 << bits) - 1;
                            let natural =
                                if interval.low >= 0 { interval } else { Interval { low: 0, high: largest } };
                            narrowed(pred, natural, other).filter(|n| n.high <= largest >> 1)
                        }
                        _ => None,
                    }
                }
                _ => None,
            }
        };
        refined.and_then(|refined| meet(interval, refined)).unwrap_or(interval)
    }

    fn definition(&self, reg: Reg) -> Option<&Inst> {
        match self.flow.definition(reg) {
            Definition::Inst(block, index) => self.body.blocks[block].insts.get(index),
            _ => None,
        }
    }
}
