//! What branches say about registers: zero, or not.
//!
//! *Must*. What an edge says holds wherever the edge's target, with this edge as its only way in, dominates: no register that the
//! condition is made of is assigned again on a path that does not take the branch again.

use super::code::Code;
use super::flow::Definition;
use raddle_base::Id;
use raddle_facts::{Guard, ObjectId, Offsets, Root, Term};
use raddle_ir::{BinOp, BlockId, CastOp, FunctionId, IcmpPred, Inst, Operand, Reg, Terminator, Ty};

/// Longest chain of definitions that is followed.
const STEPS: usize = 16;

/// Callers of callers that are looked at.
const HIGHEST: usize = 16;

/// What is so when control goes from one block to another.
pub(crate) fn edge_says(code: &Code<'_>, function: FunctionId, from: BlockId, to: BlockId) -> Vec<Guard> {
    let mut said = Vec::new();
    match &code.program.functions[function].blocks[from].terminator {
        Terminator::CondBr { cond, then, other } if then != other => {
            imply(code, function, *cond, *other == to, STEPS, &mut said);
        }
        Terminator::Switch { value, cases, default, .. } => {
            let zero = cases.iter().any(|(case, target)| *case == 0 && *target == to)
                || *default == to && cases.iter().all(|(case, _)| *case != 0);
            let other = *default == to || cases.iter().any(|(case, target)| *case != 0 && *target == to);
            if zero != other {
                imply(code, function, *value, zero, STEPS, &mut said);
            }
        }
        _ => {}
    }
    said
}

/// What is so at the start of a block: what dominating branches say, and what they said where the function is called or started.
pub(crate) fn known(code: &Code<'_>, function: FunctionId, block: BlockId) -> Vec<Guard> {
    let mut said = known_inside(code, function, block);
    let mut at = function;
    for _ in 0..HIGHEST {
        let mut runs = code.calls.runs_of(at);
        let (Some((caller, call, _)), None) = (runs.next(), runs.next()) else { break };
        if code.is_called_from_outside(at) {
            break;
        }
        // One value in the whole run: what was said of it stays so.
        let above = known_inside(code, caller, call.block).into_iter();
        said.extend(above.filter(|guard| code.is_global(Term::reg(guard.function, guard.reg))));
        at = caller;
    }
    said
}

/// Whether control cannot go this way: what the edge says, and what is known before it, contradict each other.
pub(crate) fn is_impossible(code: &Code<'_>, function: FunctionId, from: BlockId, says: &[Guard]) -> bool {
    let mut all = known(code, function, from);
    all.extend_from_slice(says);
    all.iter().any(|guard| all.contains(&Guard { zero: !guard.zero, ..*guard }))
}

fn known_inside(code: &Code<'_>, function: FunctionId, block: BlockId) -> Vec<Guard> {
    let flow = &code.flows[function];
    let mut said = Vec::new();
    for to in flow.dominators(block) {
        if let [from] = flow.predecessors[to.index()][..]
            && to != BlockId(0)
        {
            said.extend(edge_says(code, function, from, to));
        }
    }
    said
}

/// Registers that are not zero when the operand is not.
pub(crate) fn nonzero_with(code: &Code<'_>, function: FunctionId, operand: Operand) -> Vec<Guard> {
    let mut said = Vec::new();
    imply(code, function, operand, false, STEPS, &mut said);
    said
}

/// A register that is zero exactly if the operand is (`true`), or exactly if the operand is not; the last of the chain.
pub(crate) fn same_zero(code: &Code<'_>, function: FunctionId, operand: Operand) -> Option<(Reg, bool)> {
    let Operand::Reg(mut reg) = operand else { return None };
    let mut same = true;
    for _ in 0..STEPS {
        let (next, kept) = match maker(code, function, reg) {
            Some(Inst::Copy { a, .. }) => (*a, true),
            Some(Inst::Cast { op, from, to, a, .. }) if keeps_zero(code, function, *op, *from, *to, *a) => {
                (*a, true)
            }
            Some(Inst::Icmp { pred: pred @ (IcmpPred::Eq | IcmpPred::Ne), a, b, .. }) if is_zero(*b) => {
                (*a, *pred == IcmpPred::Ne)
            }
            Some(Inst::Bin { op: BinOp::Xor, ty: Ty::Int(1), a, b: Operand::Const(1), .. }) => (*a, false),
            _ => break,
        };
        let Operand::Reg(next) = next else { break };
        reg = next;
        same ^= !kept;
    }
    Some((reg, same))
}

fn maker<'c>(code: &'c Code<'_>, function: FunctionId, reg: Reg) -> Option<&'c Inst> {
    match code.flows[function].definition(reg) {
        Definition::Inst(block, index) => Some(&code.program.functions[function].blocks[block].insts[index]),
        Definition::Parameter(_) | Definition::Phi(_) | Definition::None => None,
    }
}

/// All that follows from the operand being zero, or not.
fn imply(
    code: &Code<'_>,
    function: FunctionId,
    operand: Operand,
    zero: bool,
    steps: usize,
    said: &mut Vec<Guard>,
) {
    let Operand::Reg(reg) = operand else { return };
    let guard = Guard { function, reg, zero };
    if said.contains(&guard) {
        return;
    }
    said.push(guard);
    if steps == 0 {
        return;
    }
    let term = code.reg_term(function, reg);
    if let (Root::Reg(owner, other), None, 0) = (term.root, term.index, term.offset)
        && (owner, other) != (function, reg)
    {
        imply(code, owner, Operand::Reg(other), zero, steps - 1, said);
    }
    let Some(inst) = maker(code, function, reg) else { return };
    let mut more = |operand, zero| imply(code, function, operand, zero, steps - 1, said);
    match inst {
        Inst::Copy { a, .. } => more(*a, zero),
        Inst::Cast { op, from, to, a, .. } if keeps_zero(code, function, *op, *from, *to, *a) => {
            more(*a, zero)
        }
        Inst::Cast { op: CastOp::Trunc, a, .. } if !zero => more(*a, false),
        Inst::Bin { op: BinOp::Xor, ty: Ty::Int(1), a, b: Operand::Const(1), .. } => more(*a, !zero),
        Inst::Bin { op: BinOp::And, a, b, .. } if !zero => {
            more(*a, false);
            more(*b, false);
        }
        Inst::Bin { op: BinOp::Or, a, b, .. } if zero => {
            more(*a, true);
            more(*b, true);
        }
        Inst::Icmp { pred: IcmpPred::Eq, a, b, .. } if is_zero(*b) => more(*a, !zero),
        Inst::Icmp { pred: IcmpPred::Ne, a, b, .. } if is_zero(*b) => more(*a, zero),
        Inst::Icmp { pred, a, b, .. } => {
            if excludes_zero(*pred, !zero, *b) {
                more(*a, false);
            }
            if excludes_zero(super::intervals::mirrored(*pred), !zero, *a) {
                more(*b, false);
            }
        }
        Inst::Select { cond, a, b, .. } if !zero && is_zero(*b) => {
            more(*cond, false);
            more(*a, false);
        }
        Inst::Select { cond, a: Operand::Const(1), b, .. } if zero => {
            more(*cond, true);
            more(*b, true);
        }
        _ => {}
    }
}

/// Whether the result is zero exactly if the operand is.
fn keeps_zero(code: &Code<'_>, function: FunctionId, op: CastOp, from: Ty, to: Ty, a: Operand) -> bool {
    let pointer = code.pointer_bytes();
    match op {
        CastOp::ZExt | CastOp::SExt => true,
        CastOp::PtrToInt | CastOp::IntToPtr => to.access_bytes(pointer) >= from.access_bytes(pointer),
        CastOp::Trunc => match (to, a) {
            (Ty::Int(bits), Operand::Reg(reg)) if bits < 63 => {
                let known = code.facts.values.intervals[function][reg.index()];
                let narrow = match maker(code, function, reg) {
                    Some(Inst::Cast { op: CastOp::ZExt, from: Ty::Int(inner), .. }) => *inner <= bits,
                    Some(Inst::Rmw { ptr, .. }) => are_words(code, &code.pointees(function, *ptr)),
                    _ => false,
                };
                narrow || known.low >= 0 && known.high < 1 << bits
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether these are words that count as locks, and nothing else: each is zero or one.
pub(crate) fn are_words(code: &Code<'_>, places: &[(ObjectId, Offsets)]) -> bool {
    let words = &code.facts.locks.words;
    !places.is_empty()
        && places.iter().all(|(object, at)| {
            at.is_exact() && words.iter().any(|word| (word.object, word.offset) == (*object, at.low))
        })
}

fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Const(0) | Operand::Null)
}

/// Whether `x pred other` being `truth` means that x is not zero.
fn excludes_zero(pred: IcmpPred, truth: bool, other: Operand) -> bool {
    let number = match other {
        Operand::Const(number) => Some(number),
        Operand::Null => Some(0),
        _ => None,
    };
    match (pred, truth) {
        (IcmpPred::Eq, true) | (IcmpPred::Ne, false) => number.is_some_and(|number| number != 0),
        (IcmpPred::Ne, true) | (IcmpPred::Eq, false) => number == Some(0),
        (IcmpPred::Ugt, true) | (IcmpPred::Ule, false) => true,
        (IcmpPred::Uge, true) | (IcmpPred::Ult, false) => number.is_some_and(|number| number != 0),
        (IcmpPred::Sgt | IcmpPred::Slt, true) | (IcmpPred::Sle | IcmpPred::Sge, false) => number == Some(0),
        _ => false,
    }
}
