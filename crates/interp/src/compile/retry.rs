//! Weak compare-exchanges that are tried again at once when they fail: there a failure for no reason changes nothing.
//!
//! From the exchange, with its result 0 and the old value equal to the expected one, control is followed by constants alone. If it comes
//! back to the exchange over arithmetic, and loads that every way to the exchange makes too, and every phi that a way to the
//! exchange passes gets the value that it had, the thread has done nothing but read what it reads again: the execution in which
//! the exchange did not fail covers what follows, with no more order.
//! Errs towards saying no: then the environment decides, and both outcomes are run.

use raddle_ir::{
    BinOp, Block, BlockId, CastOp, CmpXchg, Function, IcmpPred, Inst, Operand, Phi, Reg, Terminator,
};
use std::collections::{BTreeSet, HashMap};

/// Blocks that are looked at.
const MOST: usize = 32;

/// Whether the weak compare-exchange at this place is tried again at once when it fails.
pub(super) fn is_retried(function: &Function, block: BlockId, index: usize) -> bool {
    let Some(Inst::CmpXchg(exchange)) = function.blocks[block].insts.get(index) else { return false };
    let mut walk = Walk { exchange, known: HashMap::from([(exchange.success, 0)]) };
    let (mut at, mut from) = (block, index + 1);
    for _ in 0..MOST {
        let here: &Block = &function.blocks[at];
        for (position, inst) in here.insts.iter().enumerate().skip(from) {
            if at == block && position == index {
                return true;
            }
            if !walk.passes(inst) || matches!(inst, Inst::Load { .. }) && !dominates(function, at, block) {
                return false;
            }
        }
        let Some(next) = walk.next(&here.terminator) else { return false };
        let again = dominates(function, next, block);
        if !function.blocks[next].phis.iter().all(|phi| walk.enters(phi, at, again)) {
            return false;
        }
        (at, from) = (next, 0);
    }
    false
}

/// Whether every way from the entry to `to` leads over `over`.
fn dominates(function: &Function, over: BlockId, to: BlockId) -> bool {
    let mut seen = BTreeSet::from([over]);
    let mut open: Vec<BlockId> = function.blocks.iter().map(|(entry, _)| entry).take(1).collect();
    while let Some(block) = open.pop() {
        if seen.insert(block) {
            function.blocks[block].terminator.each_target(|target| open.push(target));
        }
    }
    over == to || !seen.contains(&to)
}

struct Walk<'a> {
    exchange: &'a CmpXchg,
    /// Registers that hold a constant on this way.
    known: HashMap<Reg, u128>,
}

impl Walk<'_> {
    fn value(&self, operand: Operand) -> Option<u128> {
        match operand {
            Operand::Const(value) => Some(value),
            Operand::Reg(reg) => self.known.get(&reg).copied(),
            _ => None,
        }
    }

    /// Whether the instruction only reads and computes; its result is known where it depends on that of the exchange alone.
    fn passes(&mut self, inst: &Inst) -> bool {
        let result = match inst {
            Inst::Bin { op: BinOp::Xor, a, b, .. } => self.both(*a, *b, |a, b| a ^ b),
            Inst::Bin { op: BinOp::And, a, b, .. } => self.both(*a, *b, |a, b| a & b),
            Inst::Icmp { pred: IcmpPred::Ne, a, b, .. } => self.both(*a, *b, |a, b| u128::from(a != b)),
            Inst::Icmp { pred: IcmpPred::Eq, a, b, .. } => self.both(*a, *b, |a, b| u128::from(a == b)),
            Inst::Cast { op: CastOp::ZExt, a, .. } => self.value(*a),
            Inst::Cast { op: CastOp::Trunc, a, .. } => {
                self.value(*a).map(|value| value & 1).filter(|_| self.is_bit(*a))
            }
            Inst::Copy { a, .. } => self.value(*a),
            Inst::Bin { op: BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, .. } => {
                return false;
            }
            Inst::Bin { .. }
            | Inst::FBin { .. }
            | Inst::FNeg { .. }
            | Inst::Icmp { .. }
            | Inst::Fcmp { .. }
            | Inst::Cast { .. }
            | Inst::Select { .. }
            | Inst::Load { .. }
            | Inst::Gep(_)
            | Inst::SignalFence => None,
            _ => return false,
        };
        inst.each_dst(|reg| {
            match result {
                Some(value) => self.known.insert(reg, value),
                None => self.known.remove(&reg),
            };
        });
        true
    }

    /// Whether what is known of the operand is 0 or 1.
    fn is_bit(&self, operand: Operand) -> bool {
        self.value(operand).is_some_and(|value| value <= 1)
    }

    fn both(&self, a: Operand, b: Operand, compute: impl Fn(u128, u128) -> u128) -> Option<u128> {
        Some(compute(self.value(a)?, self.value(b)?))
    }

    fn next(&self, terminator: &Terminator) -> Option<BlockId> {
        match terminator {
            Terminator::Br(target) => Some(*target),
            Terminator::CondBr { cond, then, other } => {
                self.value(*cond).map(|value| if value & 1 == 1 { *then } else { *other })
            }
            _ => None,
        }
    }

    /// Whether the phi gets the value that it had when control came here last. One that is met behind the exchange only (not `again`)
    /// may get any.
    fn enters(&mut self, phi: &Phi, from: BlockId, again: bool) -> bool {
        let Some(&(_, incoming)) = phi.incoming.iter().find(|(block, _)| *block == from) else {
            return false;
        };
        if !again {
            match self.value(incoming) {
                Some(value) => self.known.insert(phi.dst, value),
                None => self.known.remove(&phi.dst),
            };
            return true;
        }
        self.known.remove(&phi.dst);
        let incoming = match incoming {
            Operand::Reg(reg) if reg == self.exchange.old => self.exchange.expected,
            other => other,
        };
        incoming == Operand::Reg(phi.dst)
            || matches!(incoming, Operand::Const(_) | Operand::Null)
                && phi.incoming.iter().all(|(_, other)| *other == incoming)
    }
}
