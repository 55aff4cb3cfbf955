//! Induction registers: phis of a loop that move by a constant every round.

use crate::cfg::Cfg;
use crate::terms::{Definitions, term_of};
use raddle_facts::{Root, Term, Values};
use raddle_ir::{BlockId, CastOp, Function, FunctionId, Inst, Operand, Reg, Ty};

/// A phi of a loop's header that is `start` in the first round and `step` more in every further one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Induction {
    pub header: BlockId,
    pub reg: Reg,
    pub start: Term,
    pub step: i64,
}

/// The induction that a register is, if it is one.
pub fn induction(
    function_id: FunctionId,
    function: &Function,
    cfg: &Cfg,
    definitions: &Definitions,
    values: &Values,
    reg: Reg,
) -> Option<Induction> {
    let header = definitions.block(function_id, reg);
    let natural = cfg.loops.iter().find(|one| one.header == header)?;
    let phi = function.blocks[header].phis.iter().find(|phi| phi.dst == reg)?;
    let (mut start, mut step) = (None, None);
    for (from, value) in &phi.incoming {
        if !cfg.is_reachable(*from) || !cfg.successors[from.0 as usize].contains(&header) {
            continue;
        }
        let term = term_of(values, function_id, *value);
        if natural.latches.contains(from) {
            let moved = added(function, definitions, function_id, *value, reg)
                .or_else(|| term.distance(Term::reg(function_id, reg)))?;
            if step.is_some_and(|step| step != moved) {
                return None;
            }
            step = Some(moved);
        } else {
            if start.is_some_and(|start| start != term) {
                return None;
            }
            start = Some(term);
        }
    }
    let step = step.filter(|step| *step != 0)?;
    Some(Induction { header, reg, start: start?, step })
}

/// `value` = `reg` plus a constant, as one instruction.
fn added(
    function: &Function,
    definitions: &Definitions,
    function_id: FunctionId,
    value: Operand,
    reg: Reg,
) -> Option<i64> {
    let Operand::Reg(next) = value else { return None };
    let block = &function.blocks[definitions.block(function_id, next)];
    block.insts.iter().find_map(|inst| match inst {
        Inst::Bin { dst, op: raddle_ir::BinOp::Add, ty, a, b } if *dst == next => match (*a, *b) {
            (Operand::Reg(base), Operand::Const(bits)) | (Operand::Const(bits), Operand::Reg(base))
                if base == reg =>
            {
                signed(bits, bits_of(*ty))
            }
            _ => None,
        },
        Inst::Bin { dst, op: raddle_ir::BinOp::Sub, ty, a: Operand::Reg(base), b: Operand::Const(bits) }
            if *dst == next && *base == reg =>
        {
            signed(*bits, bits_of(*ty)).map(i64::wrapping_neg)
        }
        _ => None,
    })
}

fn bits_of(ty: Ty) -> Option<u32> {
    match ty {
        Ty::Int(bits) => Some(u32::from(bits)),
        Ty::Float(_) | Ty::Ptr => None,
    }
}

fn signed(bits: u128, width: Option<u32>) -> Option<i64> {
    let width = width.filter(|width| (1..=64).contains(width))?;
    let shift = 64 - width;
    Some(((bits as i64) << shift) >> shift)
}

/// A value that moves with an integer register: `root + reg * scale + offset`, extensions of the register included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    pub base: Term,
    pub reg: Reg,
    pub scale: i64,
}

/// Reads an operand as affine in a register of the same function.
pub fn affine(
    function_id: FunctionId,
    function: &Function,
    definitions: &Definitions,
    values: &Values,
    operand: Operand,
) -> Option<Affine> {
    let term = term_of(values, function_id, operand);
    let (base, reg, scale) = match (term.index, term.root) {
        (Some(index), _) if index.function == function_id => {
            (Term { index: None, ..term }, index.reg, index.scale)
        }
        (None, Root::Reg(owner, reg)) if owner == function_id => {
            (Term { root: Root::Zero, index: None, offset: term.offset }, reg, 1)
        }
        _ => return None,
    };
    let reg = unextended(function_id, function, definitions, reg);
    (scale != 0).then_some(Affine { base, reg, scale })
}

/// Looks through sign and zero extensions and casts between integers and pointers, to no less than 32 bits.
fn unextended(function_id: FunctionId, function: &Function, definitions: &Definitions, mut reg: Reg) -> Reg {
    loop {
        let block = &function.blocks[definitions.block(function_id, reg)];
        let source = block.insts.iter().find_map(|inst| match inst {
            Inst::Cast {
                dst,
                op: CastOp::SExt | CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast,
                to: Ty::Ptr | Ty::Int(32..),
                a: Operand::Reg(from),
                ..
            }
            | Inst::Copy { dst, a: Operand::Reg(from), .. }
                if *dst == reg =>
            {
                Some(*from)
            }
            _ => None,
        });
        match source {
            Some(from) => reg = from,
            None => return reg,
        }
    }
}
