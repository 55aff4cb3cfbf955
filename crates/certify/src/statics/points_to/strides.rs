//! Counters that move by more than one.
//!
//! *Must*: a phi that gets numbers, and itself plus numbers, has only values that differ by multiples of the common divisor of the steps and
//! of the distances between the numbers; if no step can wrap around, or if wrapping around keeps it so.

use super::super::code::Code;
use super::super::flow::Definition;
use super::super::patterns::gcd;
use super::super::terms::constant_in;
use raddle_base::Id;
use raddle_ir::{BinOp, CastOp, FunctionId, Inst, Operand, Reg, Ty};

/// A number and a divisor: all values of the register are equal to the number modulo the divisor.
pub(super) fn residue(code: &Code<'_>, function: FunctionId, operand: Operand) -> Option<(i64, u64)> {
    let Operand::Reg(mut reg) = operand else { return None };
    while let Some(Inst::Cast { op: CastOp::SExt, a: Operand::Reg(from), .. }) = maker(code, function, reg) {
        reg = *from;
    }
    let Definition::Phi(block) = code.flows[function].definition(reg) else { return None };
    let body = &code.program.functions[function];
    let ty @ Ty::Int(bits @ 1..=64) = body.regs[reg].ty else { return None };
    let phi = body.blocks[block].phis.iter().find(|phi| phi.dst == reg)?;
    let mut firsts = Vec::new();
    let mut steps = Vec::new();
    for (_, value) in &phi.incoming {
        match step_from(code, function, *value, reg, ty) {
            Some(step) => steps.push(step.unsigned_abs()),
            None => firsts.push(constant_in(&code.facts.values, function, *value, ty)?),
        }
    }
    let first = *firsts.first()?;
    let distances = firsts.iter().map(|other| other.abs_diff(first));
    let divisor = steps.iter().copied().chain(distances).fold(0, gcd);
    let longest = i128::from(steps.iter().copied().max()?);
    let range = code.facts.values.intervals[function][reg.index()];
    let end = 1_i128 << (bits - 1);
    let stays = i128::from(range.low) - longest >= -end && i128::from(range.high) + longest < end;
    let wraps_well = divisor.is_power_of_two() && u128::from(divisor) <= 1 << bits;
    (divisor > 1 && (stays || wraps_well)).then_some((first, divisor))
}

/// What is added to the register to get the value.
fn step_from(code: &Code<'_>, function: FunctionId, value: Operand, reg: Reg, ty: Ty) -> Option<i64> {
    let Operand::Reg(next) = value else { return None };
    let Inst::Bin { op: BinOp::Add, a, b, .. } = maker(code, function, next)? else { return None };
    let by = match (*a, *b) {
        (Operand::Reg(a), by) if a == reg => by,
        (by, Operand::Reg(b)) if b == reg => by,
        _ => return None,
    };
    constant_in(&code.facts.values, function, by, ty)
}

fn maker<'c>(code: &'c Code<'_>, function: FunctionId, reg: Reg) -> Option<&'c Inst> {
    match code.flows[function].definition(reg) {
        Definition::Inst(block, index) => Some(&code.program.functions[function].blocks[block].insts[index]),
        _ => None,
    }
}
