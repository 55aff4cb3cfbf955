//! No address that is used was made of numbers: where the facts lead into no object, it must be a known number, and none of the values that
//! it is chosen from in its function may be an integer of which the facts know nothing.
//!
//! Through memory and calls this is not followed (A-BOUNDS).

use super::super::code::Code;
use super::super::flow::Definition;
use super::super::terms::constant_in;
use raddle_base::Id;
use raddle_facts::Values;
use raddle_ir::{CastOp, FunctionId, Inst, Operand, Reg, Ty};
use std::collections::BTreeSet;

/// Whether one of the addresses that an instruction, calls excepted, reads from and writes to may be such a one.
pub(super) fn is_used_by(code: &Code<'_>, function: FunctionId, inst: &Inst) -> bool {
    let used = match inst {
        Inst::Load { ptr, .. } | Inst::Store { ptr, .. } | Inst::Rmw { ptr, .. } => vec![*ptr],
        Inst::CmpXchg(exchange) => vec![exchange.ptr],
        Inst::MemCopy { dst, src, .. } => vec![*src, *dst],
        Inst::MemSet { dst, .. } => vec![*dst],
        _ => Vec::new(),
    };
    used.into_iter().any(|address| may_be_number(code, function, address))
}

pub(super) fn may_be_number(code: &Code<'_>, function: FunctionId, address: Operand) -> bool {
    if is_nowhere(code, function, address) {
        return true;
    }
    // Backwards to where its values come from.
    let mut seen: BTreeSet<Reg> = BTreeSet::new();
    let mut work = vec![address];
    while let Some(operand) = work.pop() {
        let Operand::Reg(reg) = operand else { continue };
        if !seen.insert(reg) {
            continue;
        }
        let body = &code.program.functions[function];
        match code.flows[function].definition(reg) {
            Definition::Phi(block) => {
                let phi = body.blocks[block].phis.iter().find(|phi| phi.dst == reg);
                let incoming = phi.into_iter().flat_map(|phi| &phi.incoming);
                work.extend(
                    incoming.filter(|(from, _)| code.reachable(function, *from)).map(|(_, from)| *from),
                );
            }
            Definition::Inst(block, index) => match &body.blocks[block].insts[index] {
                Inst::Cast { op: CastOp::IntToPtr, a, .. } if is_nowhere(code, function, *a) => return true,
                Inst::Cast { op: CastOp::Bitcast, a, .. } | Inst::Copy { a, .. } => work.push(*a),
                Inst::Select { a, b, .. } => work.extend([*a, *b]),
                Inst::Gep(gep) => work.push(gep.base),
                _ => {}
            },
            _ => {}
        }
    }
    false
}

/// A value that the facts lead into no object, although it is not one known number.
fn is_nowhere(code: &Code<'_>, function: FunctionId, operand: Operand) -> bool {
    let Operand::Reg(reg) = operand else { return false };
    code.set(function, reg).is_empty() && !is_one_number(&code.facts.values, function, reg)
}

fn is_one_number(values: &Values, function: FunctionId, reg: Reg) -> bool {
    let interval = values.intervals[function][reg.index()];
    interval.low == interval.high || constant_in(values, function, Operand::Reg(reg), Ty::Ptr).is_some()
}
