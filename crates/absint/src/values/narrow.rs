//! What the branches that lead to a place say about a register there.

use super::interval::int_bits;
use super::interval::{mirrored, narrow, negated};
use super::solve::{Solver, cell_value, constant_value};
use super::terms::constant;
use super::transfer::At;
use raddle_base::Id;
use raddle_facts::Interval;
use raddle_ir::{BlockId, CastOp, FunctionId, IcmpPred, Inst, Operand, Reg, Terminator, Ty};

/// Branches looked at per operand: those further away are not.
const MOST_GUARDS: usize = 32;

impl Solver<'_> {
    pub fn narrowed(&self, function: FunctionId, reg: Reg, interval: Interval, at: At) -> Interval {
        let shape = &self.state(function).shape;
        let (edge, block) = match at {
            At::Block(block) => (None, block),
            At::Edge(from, to) => (Some((from, to)), from),
        };
        let above = shape.guards(block).map(|guard| (guard.from, guard.to));
        let mut interval = interval;
        for (from, to) in edge.into_iter().chain(above).take(MOST_GUARDS) {
            interval = self.past_branch(function, reg, interval, from, to);
        }
        interval
    }

    /// A branch that cannot be taken says nothing here: what follows is not run.
    fn past_branch(
        &self,
        function: FunctionId,
        reg: Reg,
        interval: Interval,
        from: BlockId,
        to: BlockId,
    ) -> Interval {
        match &self.program.functions[function].blocks[from].terminator {
            Terminator::CondBr { cond: Operand::Reg(cond), then, other } if then != other => {
                let state = self.state(function);
                let body = &self.program.functions[function];
                let Some(Inst::Icmp { pred, ty, a, b, .. }) = state.shape.definition(body, *cond) else {
                    return interval;
                };
                let pred = if to == *then { *pred } else { negated(*pred) };
                let left = self.past_comparison(function, reg, interval, pred, *ty, *a, *b);
                self.past_comparison(function, reg, left, mirrored(pred), *ty, *b, *a)
            }
            Terminator::Switch { value: Operand::Reg(value), ty, cases, default } if value == &reg => {
                let mut taken = cases.iter().filter(|(_, target)| *target == to);
                match (taken.next(), taken.next()) {
                    (Some((case, _)), None) if *default != to => {
                        let case =
                            constant(Operand::Const(*case), *ty).map(|value| constant_value(value).interval);
                        case.and_then(|case| narrow(IcmpPred::Eq, interval, case)).unwrap_or(interval)
                    }
                    _ => interval,
                }
            }
            _ => interval,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn past_comparison(
        &self,
        function: FunctionId,
        reg: Reg,
        interval: Interval,
        pred: IcmpPred,
        ty: Ty,
        a: Operand,
        b: Operand,
    ) -> Interval {
        let Operand::Reg(compared) = a else { return interval };
        if int_bits(ty).is_none() {
            return interval;
        }
        let extended = (compared != reg).then(|| self.extended(function, compared)).flatten();
        let seen_as = match extended {
            _ if compared == reg => Seen::Itself,
            Some((CastOp::SExt, narrower, _)) if narrower == reg => Seen::Itself,
            Some((CastOp::ZExt, narrower, bits)) if narrower == reg => Seen::Unsigned(bits),
            _ => return interval,
        };
        let other = match b {
            Operand::Reg(other) => cell_value(function, other, &self.state(function).cells[other.index()]),
            _ => constant(b, ty).map(constant_value),
        };
        let Some(other) = other.map(|value| value.interval) else { return interval };
        let narrowed = match seen_as {
            Seen::Itself => narrow(pred, interval, other),
            Seen::Unsigned(bits) => {
                let largest = (1 << bits) - 1;
                let natural = if interval.low >= 0 { interval } else { Interval { low: 0, high: largest } };
                // Back to signed numbers: possible if the sign bit is not reached.
                narrow(pred, natural, other).filter(|n| n.high <= largest >> 1 || interval.low >= 0)
            }
        };
        narrowed.and_then(|narrowed| super::interval::meet(interval, narrowed)).unwrap_or(interval)
    }

    /// A register that is the extension of a narrower one, and from how many bits.
    fn extended(&self, function: FunctionId, reg: Reg) -> Option<(CastOp, Reg, u32)> {
        let body = &self.program.functions[function];
        match self.state(function).shape.definition(body, reg)? {
            Inst::Cast {
                op: op @ (CastOp::SExt | CastOp::ZExt), from, a: Operand::Reg(narrower), ..
            } => int_bits(*from).filter(|bits| *bits < 64).map(|bits| (*op, *narrower, bits)),
            _ => None,
        }
    }
}

enum Seen {
    Itself,
    /// As an unsigned number of so many bits.
    Unsigned(u32),
}
