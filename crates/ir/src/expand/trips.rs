//! How often a loop goes round, by running its test on constants.
//!
//! A *test* is a branch of the loop that every iteration passes before it goes round, with one way out of the loop. Its condition is
//! computed for iteration 0, 1, 2, … from the header's phis, through integer operations on constants and `const` variables, in their
//! bit widths. Errs towards "not known": any other load, a call, a phi elsewhere, a shift beyond the width end the computation.

use super::loops::{Graph, Loop};
use crate::{
    BinOp, Block, BlockId, CastOp, Function, Global, IcmpPred, Inst, Operand, Phi, Program, Reg, Terminator,
    Ty,
};
use raddle_base::IdVec;
use std::collections::HashMap;

/// Longest chain of instructions looked at for one value.
const DEEPEST: usize = 400;

/// A test, and for how many iterations it stays in the loop before it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub block: BlockId,
    pub stay: BlockId,
    pub leave: BlockId,
    pub stays: u32,
}

/// The test that leaves first, if one leaves after at most `limit` iterations.
pub(super) fn test(
    program: &Program,
    function: &Function,
    graph: &Graph,
    shape: &Loop,
    limit: u32,
) -> Option<Test> {
    let definitions = definitions(function);
    let mut best: Option<Test> = None;
    for &block in &shape.blocks {
        let Terminator::CondBr { cond, then, other } = function.blocks[block].terminator else { continue };
        let (stay, leave) = match (shape.blocks.contains(&then), shape.blocks.contains(&other)) {
            (true, false) => (then, other),
            (false, true) => (other, then),
            _ => continue,
        };
        if !shape.latches.iter().all(|latch| graph.dominators.dominates(block, *latch)) {
            continue;
        }
        let stays_on = u128::from(stay == then);
        let run = Run { program, function, definitions: &definitions, shape, graph };
        let stays = run.count(cond, stays_on, best.map_or(limit, |test| test.stays.min(limit)));
        if let Some(stays) = stays
            && best.is_none_or(|test| stays < test.stays)
        {
            best = Some(Test { block, stay, leave, stays });
        }
    }
    best
}

#[derive(Clone, Copy)]
enum Definition {
    Phi(BlockId, usize),
    Inst(BlockId, usize),
}

fn definitions(function: &Function) -> IdVec<Reg, Option<Definition>> {
    let mut found: IdVec<Reg, Option<Definition>> = function.regs.ids().map(|_| None).collect();
    for (id, block) in function.blocks.iter() {
        for (index, phi) in block.phis.iter().enumerate() {
            found[phi.dst] = Some(Definition::Phi(id, index));
        }
        for (index, inst) in block.insts.iter().enumerate() {
            inst.each_dst(|dst| found[dst] = Some(Definition::Inst(id, index)));
        }
    }
    found
}

/// Values known in one iteration; the header's phis are put there first.
type Known = HashMap<Reg, Option<u128>>;

struct Run<'f> {
    program: &'f Program,
    function: &'f Function,
    definitions: &'f IdVec<Reg, Option<Definition>>,
    shape: &'f Loop,
    graph: &'f Graph,
}

impl Run<'_> {
    fn count(&self, cond: Operand, stays_on: u128, limit: u32) -> Option<u32> {
        let header: &Block = &self.function.blocks[self.shape.header];
        let next = |from_loop: bool, known: &mut Known| -> Known {
            header.phis.iter().map(|phi| (phi.dst, self.agreed(phi, from_loop, known))).collect()
        };
        let mut known = next(false, &mut Known::new());
        for round in 0..=limit {
            if self.value(cond, &mut known, 0)? != stays_on {
                return Some(round);
            }
            known = next(true, &mut known);
        }
        None
    }

    /// The value that a phi of the header gets from all edges into the loop, or from all back edges.
    fn agreed(&self, phi: &Phi, from_loop: bool, known: &mut Known) -> Option<u128> {
        let mut agreed = None;
        for (from, operand) in &phi.incoming {
            if self.shape.blocks.contains(from) != from_loop || !self.graph.dominators.reachable(*from) {
                continue;
            }
            let value = self.value(*operand, known, 0)?;
            if agreed.is_some_and(|other| other != value) {
                return None;
            }
            agreed = Some(value);
        }
        agreed
    }

    fn value(&self, operand: Operand, known: &mut Known, depth: usize) -> Option<u128> {
        let reg = match operand {
            Operand::Const(bits) => return Some(bits),
            Operand::Reg(reg) => reg,
            _ => return None,
        };
        if let Some(value) = known.get(&reg) {
            return *value;
        }
        let value = if depth < DEEPEST { self.computed(reg, known, depth + 1) } else { None };
        known.insert(reg, value);
        value
    }

    fn computed(&self, reg: Reg, known: &mut Known, depth: usize) -> Option<u128> {
        let inst = match self.definitions[reg]? {
            Definition::Phi(block, index) => match self.function.blocks[block].phis[index].incoming[..] {
                [(_, only)] => return self.value(only, known, depth),
                _ => return None,
            },
            Definition::Inst(block, index) => &self.function.blocks[block].insts[index],
        };
        match *inst {
            Inst::Copy { a, ty: Ty::Int(_), .. } => self.value(a, known, depth),
            Inst::Bin { op, ty: Ty::Int(bits), a, b, .. } => {
                binary(op, bits, self.value(a, known, depth)?, self.value(b, known, depth)?)
            }
            Inst::Icmp { pred, ty: Ty::Int(bits), a, b, .. } => {
                let (a, b) = (self.value(a, known, depth)?, self.value(b, known, depth)?);
                Some(u128::from(compare(pred, bits, a, b)))
            }
            Inst::Cast { op, from: Ty::Int(from), to: Ty::Int(to), a, .. } => {
                let value = self.value(a, known, depth)?;
                match op {
                    CastOp::Trunc => Some(masked(value, to)),
                    CastOp::ZExt => Some(value),
                    CastOp::SExt => Some(masked(signed(value, from) as u128, to)),
                    _ => None,
                }
            }
            Inst::Load {
                ty: Ty::Int(bits),
                ptr: Operand::Global(global, offset),
                atomic: None,
                volatile: false,
                ..
            } => constant_bytes(&self.program.globals[global], offset, bits),
            _ => None,
        }
    }
}

/// The value of a `const` variable.
fn constant_bytes(global: &Global, offset: i64, bits: u8) -> Option<u128> {
    let init = global.init.as_ref().filter(|init| global.constant && init.relocations.is_empty())?;
    let (from, bytes) = (u64::try_from(offset).ok()?, u64::from(bits) / 8);
    let end = from.checked_add(bytes)?;
    if !bits.is_multiple_of(8) || end > global.bytes || init.is_open(from, end) {
        return None;
    }
    let byte = |at: u64| init.data.get(at as usize).copied().unwrap_or(0);
    Some((0..bytes).rev().fold(0, |value, index| value << 8 | u128::from(byte(from + index))))
}

fn binary(op: BinOp, bits: u8, a: u128, b: u128) -> Option<u128> {
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a.checked_div(b)?,
        BinOp::URem => a.checked_rem(b)?,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl if b < u128::from(bits) => a << b,
        BinOp::LShr if b < u128::from(bits) => a >> b,
        BinOp::AShr if b < u128::from(bits) => (signed(a, bits) >> b) as u128,
        BinOp::SDiv | BinOp::SRem | BinOp::Shl | BinOp::LShr | BinOp::AShr => return None,
    };
    Some(masked(value, bits))
}

fn compare(pred: IcmpPred, bits: u8, a: u128, b: u128) -> bool {
    let (x, y) = (signed(a, bits), signed(b, bits));
    match pred {
        IcmpPred::Eq => a == b,
        IcmpPred::Ne => a != b,
        IcmpPred::Ult => a < b,
        IcmpPred::Ule => a <= b,
        IcmpPred::Ugt => a > b,
        IcmpPred::Uge => a >= b,
        IcmpPred::Slt => x < y,
        IcmpPred::Sle => x <= y,
        IcmpPred::Sgt => x > y,
        IcmpPred::Sge => x >= y,
    }
}

fn masked(value: u128, bits: u8) -> u128 {
    if bits >= 128 { value } else { value & ((1 << bits) - 1) }
}

fn signed(value: u128, bits: u8) -> i128 {
    let unused = 128 - u32::from(bits.min(128));
    ((value << unused) as i128) >> unused
}
