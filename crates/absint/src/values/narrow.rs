//! What the branches that lead to a place say about a register there.

use super::interval::{int_bits, meet, mirrored, narrow, negated, single};
use super::shape::Shape;
use super::terms::constant;
use raddle_facts::Interval;
use raddle_ir::{BlockId, CastOp, Function, IcmpPred, Inst, Operand, Reg, Terminator, Ty};

/// Branches looked at per operand: those further away are not.
const MOST_GUARDS: usize = 32;

/// Where an operand is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    Block(BlockId),
    Edge(BlockId, BlockId),
}

/// One function, with what is known of its registers anywhere.
pub(crate) struct Narrowing<'a, F: Fn(Reg) -> Option<Interval>> {
    pub body: &'a Function,
    pub shape: &'a Shape,
    /// `None`: nothing is known yet.
    pub interval: F,
}

/// A comparison that holds, seen from its left side.
#[derive(Clone, Copy)]
struct Fact {
    pred: IcmpPred,
    ty: Ty,
    left: Operand,
    right: Operand,
}

/// What the left side of a comparison is to the register in question.
enum Seen {
    Itself,
    /// As an unsigned number of so many bits.
    Unsigned(u32),
}

impl<F: Fn(Reg) -> Option<Interval>> Narrowing<'_, F> {
    pub fn at(&self, reg: Reg, interval: Interval, at: At) -> Interval {
        let (edge, block) = match at {
            At::Block(block) => (None, block),
            At::Edge(from, to) => (Some((from, to)), from),
        };
        let above = self.shape.guards(block).map(|guard| (guard.from, guard.to));
        let mut interval = interval;
        for (from, to) in edge.into_iter().chain(above).take(MOST_GUARDS) {
            interval = self.past_branch(reg, interval, from, to);
        }
        interval
    }

    /// The comparisons that hold in a block because of the branches that lead there.
    pub fn comparisons(&self, block: BlockId) -> Vec<(Operand, IcmpPred, Operand)> {
        let guards = self.shape.guards(block).take(MOST_GUARDS);
        guards
            .filter_map(|guard| match &self.body.blocks[guard.from].terminator {
                Terminator::CondBr { cond: Operand::Reg(cond), then, other } if then != other => {
                    let Some(Inst::Icmp { pred, a, b, .. }) = self.shape.definition(self.body, *cond) else {
                        return None;
                    };
                    Some((*a, if guard.to == *then { *pred } else { negated(*pred) }, *b))
                }
                _ => None,
            })
            .collect()
    }

    /// A branch that cannot be taken says nothing here: what follows is not run.
    fn past_branch(&self, reg: Reg, interval: Interval, from: BlockId, to: BlockId) -> Interval {
        match &self.body.blocks[from].terminator {
            Terminator::CondBr { cond: Operand::Reg(cond), then, other } if then != other => {
                let Some(Inst::Icmp { pred, ty, a, b, .. }) = self.shape.definition(self.body, *cond) else {
                    return interval;
                };
                let pred = if to == *then { *pred } else { negated(*pred) };
                let fact = Fact { pred, ty: *ty, left: *a, right: *b };
                let mirror = Fact { pred: mirrored(pred), ty: *ty, left: *b, right: *a };
                self.past_comparison(reg, self.past_comparison(reg, interval, fact), mirror)
            }
            Terminator::Switch { value: Operand::Reg(value), ty, cases, default } if value == &reg => {
                let mut taken = cases.iter().filter(|(_, target)| *target == to);
                match (taken.next(), taken.next()) {
                    (Some((case, _)), None) if *default != to => {
                        let case = constant(Operand::Const(*case), *ty);
                        case.and_then(|case| meet(interval, single(case))).unwrap_or(interval)
                    }
                    _ => interval,
                }
            }
            _ => interval,
        }
    }

    fn past_comparison(&self, reg: Reg, interval: Interval, fact: Fact) -> Interval {
        let Operand::Reg(compared) = fact.left else { return interval };
        if int_bits(fact.ty).is_none() {
            return interval;
        }
        let extended = (compared != reg).then(|| self.extended(compared)).flatten();
        let seen_as = match extended {
            _ if compared == reg => Seen::Itself,
            Some((CastOp::SExt, narrower, _)) if narrower == reg => Seen::Itself,
            Some((CastOp::ZExt, narrower, bits)) if narrower == reg => Seen::Unsigned(bits),
            _ => return interval,
        };
        let other = match fact.right {
            Operand::Reg(other) => (self.interval)(other),
            _ => constant(fact.right, fact.ty).map(single),
        };
        let Some(other) = other else { return interval };
        let narrowed = match seen_as {
            Seen::Itself => narrow(fact.pred, interval, other),
            Seen::Unsigned(bits) => {
                let largest = (1 << bits) - 1;
                let natural = if interval.low >= 0 { interval } else { Interval { low: 0, high: largest } };
                // Back to signed numbers: possible if the sign bit is not reached.
                narrow(fact.pred, natural, other).filter(|n| n.high <= largest >> 1)
            }
        };
        narrowed.and_then(|narrowed| meet(interval, narrowed)).unwrap_or(interval)
    }

    /// A register that is the extension of a narrower one, and from how many bits.
    fn extended(&self, reg: Reg) -> Option<(CastOp, Reg, u32)> {
        match self.shape.definition(self.body, reg)? {
            Inst::Cast {
                op: op @ (CastOp::SExt | CastOp::ZExt), from, a: Operand::Reg(narrower), ..
            } => int_bits(*from).filter(|bits| *bits < 64).map(|bits| (*op, *narrower, bits)),
            _ => None,
        }
    }
}
