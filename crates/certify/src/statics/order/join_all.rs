//! Loops that create any number of threads, and loops that join them all.
//!
//! The shape: a loop that runs once in the whole run creates, in every round and once, an instance and puts its handle into the cell
//! `base + i * scale`. When it is left at its head, all were created. A loop of the same thread over the same numbers (type, start,
//! step, comparison and bound, and the way from the number to the cell) joins, in every round, the handle in that cell. Nothing else
//! writes the cells. A loop that is left has had no number twice (its test depends on nothing else), so no cell was set twice.
//! Loops by ones to a bound are compared by their first number and the one behind the last, whether they count up or down.

use super::super::accesses::Access;
use super::super::code::Code;
use super::super::flow::Definition;
use super::super::places::add;
use super::gates::{Gates, creations, is_alone, starts_one};
use raddle_base::Id;
use raddle_facts::{GateKind, Index, Released, Root, Start, Term, ThreadId, Times};
use raddle_ir::{BinOp, BlockId, CastOp, FunctionId, IcmpPred, Inst, Operand, Reg, SiteId, Terminator, Ty};
use raddle_libmodel::{Effect, How, ThreadOp};

/// Cells of neighbouring handles are no further apart.
const FURTHEST: u64 = 1 << 22;

pub(super) fn find(code: &Code<'_>, accesses: &[Access<'_>], gates: &mut Gates) {
    let threads = code.facts.threads.threads.iter();
    let many: Vec<_> = threads.filter(|(id, thread)| thread.many && !gates.detached.contains(id)).collect();
    for (id, thread) in many {
        let mut starts = creations(code, id);
        let (Some((function, call)), None) = (starts.next(), starts.next()) else { continue };
        let (Start::Created(_), [(_, Effect::Thread(ThreadOp::Create { id: out, .. }, _))]) =
            (thread.start, &call.effects[..])
        else {
            continue;
        };
        if !starts_one(call) {
            continue;
        }
        let (_, args) = call.parts(code, function);
        let Some(arg) = args.get(usize::from(out.0)) else { continue };
        let Some(cell) = code.term(function, arg.value, arg.ty) else { continue };
        let Some(creating) = Round::of(code, function, call.block, cell) else { continue };
        if !written_only_at(code, accesses, cell, call.site) {
            continue;
        }
        for (gate, facts) in code.facts.order.gates.iter() {
            if facts.kind == GateKind::Started(id) {
                gates.on_edge.entry((function, creating.header, creating.leave)).or_default().push(gate);
            }
        }
        joins(code, gates, id, function, &creating);
    }
}

fn joins(code: &Code<'_>, gates: &mut Gates, thread: ThreadId, creator: FunctionId, creating: &Round) {
    for (function, calls) in code.calls.from.iter() {
        for call in calls.iter().filter(|call| is_alone(call)) {
            let [(_, Effect::Thread(ThreadOp::Join { thread: handle, how: How::Block, .. }, _))] =
                &call.effects[..]
            else {
                continue;
            };
            let (_, args) = call.parts(code, function);
            let Some(Operand::Reg(reg)) = args.get(usize::from(handle.0)).map(|arg| arg.value) else {
                continue;
            };
            let Definition::Inst(block, index) = code.flows[function].definition(reg) else { continue };
            let Inst::Load { ptr, ty, .. } = &code.program.functions[function].blocks[block].insts[index]
            else {
                continue;
            };
            let Some(cell) = code.term(function, *ptr, Ty::Ptr) else { continue };
            let (at_join, at_load) =
                (Round::of(code, function, call.block, cell), Round::of(code, function, block, cell));
            let whole = ty.access_bytes(code.pointer_bytes()) == code.pointer_bytes();
            if let (Some(joining), Some(loading)) = (at_join, at_load)
                && whole
                && joining.header == loading.header
                && joining.numbers == creating.numbers
            {
                let edge = (function, joining.header, joining.leave);
                gates.joined_on_edge.entry(edge).or_default().push((thread, creator));
            }
        }
    }
}

/// A loop of which every whole round handles one cell.
struct Round {
    header: BlockId,
    /// Where the header goes when it is done.
    leave: BlockId,
    numbers: Numbers,
}

/// The cells of a loop: equal ones are the same cells.
#[derive(Clone, PartialEq)]
struct Numbers {
    ty: Ty,
    start: Term,
    step: i64,
    test: IcmpPred,
    bound: Term,
    stays_if: bool,
    compared: Vec<(CastOp, Ty)>,
    base: Term,
    scale: i64,
    indexed: Vec<(CastOp, Ty)>,
    /// How the index of the bound is widened.
    bound_index: Vec<(CastOp, Ty)>,
}

impl Round {
    /// The loop around a block that is executed once in each of its rounds.
    fn of(code: &Code<'_>, function: FunctionId, block: BlockId, cell: Term) -> Option<Round> {
        let (flow, body) = (&code.flows[function], &code.program.functions[function]);
        if code.facts.threads.times[function].first() != Some(&Times::Once) {
            return None;
        }
        let (base, reg, scale) = match (cell.index, cell.root) {
            (Some(index), _) if index.function == function => {
                (Term { index: None, ..cell }, index.reg, index.scale)
            }
            (None, Root::Reg(owner, reg)) if owner == function => (Term::constant(cell.offset), reg, 1),
            _ => return None,
        };
        let (number, indexed) = source(code, function, reg);
        let before = one_more(code, function, number);
        let (number, one_less) = before.map_or((number, false), |before| (before, true));
        let Definition::Phi(header) = flow.definition(number) else { return None };
        // The whole component of the header: so no other loop is around it.
        let inside = component(code, function, header);
        let latches: Vec<BlockId> =
            flow.predecessors[header.index()].iter().copied().filter(|from| inside.contains(from)).collect();
        let single_entry = inside.iter().all(|member| flow.dominates(header, *member));
        let every_round =
            inside.contains(&block) && latches.iter().all(|latch| flow.dominates(block, *latch));
        if latches.is_empty()
            || !single_entry
            || !every_round
            || repeats_inside(code, function, block, header)
        {
            return None;
        }
        let (start, step) = induction(code, function, header, number, &latches)?;
        let Terminator::CondBr { cond: Operand::Reg(condition), then, other } =
            &body.blocks[header].terminator
        else {
            return None;
        };
        let (stays_if, leave) = match (inside.contains(then), inside.contains(other)) {
            (true, false) => (true, *other),
            (false, true) => (false, *then),
            _ => return None,
        };
        let Definition::Inst(at, index) = flow.definition(*condition) else { return None };
        let Inst::Icmp { pred, ty, a: Operand::Reg(a), b, .. } = &body.blocks[at].insts[index] else {
            return None;
        };
        let (tested, compared) = source(code, function, *a);
        let bound = code.term(function, *b, *ty)?;
        // A counter from a number up to a bound, by ones, does not wrap: its width does not matter, nor that of the bound.
        let widens = |steps: &[(CastOp, Ty)]| steps.iter().all(|(op, _)| *op == CastOp::SExt);
        let counts = *pred == IcmpPred::Slt && stays_if && step == 1 && widens(&compared) && widens(&indexed);
        // One that counts down to a bound does not wrap either, nor does one less than it while it is above the bound.
        let down = stays_if && step == -1 && widens(&compared) && widens(&indexed);
        let range = match (*pred, one_less) {
            (IcmpPred::Slt, false) if counts => Some((start, unwidened(code, function, *b, bound))),
            (IcmpPred::Sgt, true) if down => Some((bound, start)),
            (IcmpPred::Sgt, false) if down => Some((bound.plus(1), start.plus(1))),
            (IcmpPred::Sge, false) if down && bound.as_constant() == Some(0) => Some((bound, start.plus(1))),
            (_, true) => return None,
            _ => None,
        };
        let (bound, bound_index) = match range {
            Some(_) => (bound, Vec::new()),
            None => narrow_index(code, function, bound),
        };
        let numbers = match range {
            Some((first, behind)) => Numbers {
                ty: Ty::Int(64),
                start: first,
                step: 1,
                test: IcmpPred::Slt,
                bound: behind,
                stays_if: true,
                compared: Vec::new(),
                base,
                scale,
                indexed: Vec::new(),
                bound_index,
            },
            None => Numbers {
                ty: body.regs[number].ty,
                start,
                step,
                test: *pred,
                bound,
                stays_if,
                compared,
                base,
                scale,
                indexed,
                bound_index,
            },
        };
        let word = u64::from(code.pointer_bytes());
        let (by, scaled) = (step.unsigned_abs(), scale.unsigned_abs());
        // In fewer than 2^40 rounds (A-THREAD) no address of a cell is the same again modulo 2^64.
        let near = scaled <= FURTHEST && by.saturating_mul(scaled) <= FURTHEST;
        let apart = near && (scaled >= word || by >= word && by.is_power_of_two());
        let fixed = [base, numbers.bound, numbers.start].into_iter().all(|term| code.is_global(term));
        (at == header && tested == number && apart && fixed && step != 0).then_some(Round {
            header,
            leave,
            numbers,
        })
    }
}

/// The register that one is widened from, and how: such steps keep different numbers different.
fn source(code: &Code<'_>, function: FunctionId, mut reg: Reg) -> (Reg, Vec<(CastOp, Ty)>) {
    let mut steps = Vec::new();
    while let Definition::Inst(block, index) = code.flows[function].definition(reg)
        && let Inst::Cast { op: op @ (CastOp::SExt | CastOp::ZExt), to, a: Operand::Reg(from), .. } =
            &code.program.functions[function].blocks[block].insts[index]
    {
        steps.push((*op, *to));
        reg = *from;
    }
    (reg, steps)
}

/// The register of which this is one less.
fn one_more(code: &Code<'_>, function: FunctionId, reg: Reg) -> Option<Reg> {
    let Definition::Inst(block, index) = code.flows[function].definition(reg) else { return None };
    match &code.program.functions[function].blocks[block].insts[index] {
        Inst::Bin { op, ty, a: Operand::Reg(a), b: b @ Operand::Const(_), .. } => {
            let number = code.term(function, *b, *ty)?.as_constant()?;
            matches!((op, number), (BinOp::Add, -1) | (BinOp::Sub, 1)).then_some(*a)
        }
        _ => None,
    }
}

/// The term with the register that its index is widened from, and how.
fn narrow_index(code: &Code<'_>, function: FunctionId, term: Term) -> (Term, Vec<(CastOp, Ty)>) {
    match term.index {
        Some(index) if index.function == function => {
            let (reg, steps) = source(code, function, index.reg);
            (Term { index: Some(Index { reg, ..index }), ..term }, steps)
        }
        _ => (term, Vec::new()),
    }
}

/// The bound before it was sign-extended.
fn unwidened(code: &Code<'_>, function: FunctionId, operand: Operand, bound: Term) -> Term {
    let Operand::Reg(reg) = operand else { return bound };
    let (from, steps) = source(code, function, reg);
    let widened = !steps.is_empty() && steps.iter().all(|(op, _)| *op == CastOp::SExt);
    if widened { code.reg_term(function, from) } else { bound }
}

/// What a phi of the header starts with, and what every round adds.
fn induction(
    code: &Code<'_>,
    function: FunctionId,
    header: BlockId,
    number: Reg,
    latches: &[BlockId],
) -> Option<(Term, i64)> {
    let (flow, body) = (&code.flows[function], &code.program.functions[function]);
    let phi = body.blocks[header].phis.iter().find(|phi| phi.dst == number)?;
    let ty = body.regs[number].ty;
    let (mut start, mut step) = (None, None);
    for from in &flow.predecessors[header.index()] {
        let (_, value) = phi.incoming.iter().find(|(incoming, _)| incoming == from)?;
        if latches.contains(from) {
            let Operand::Reg(next) = value else { return None };
            let Definition::Inst(block, index) = flow.definition(*next) else { return None };
            let added = match &body.blocks[block].insts[index] {
                Inst::Bin { op: BinOp::Add, a: Operand::Reg(a), b, .. } if *a == number => {
                    code.term(function, *b, ty)?.as_constant()?
                }
                Inst::Gep(gep) if gep.base == Operand::Reg(number) && gep.indices.is_empty() => gep.offset,
                _ => return None,
            };
            if step.is_some_and(|before| before != added) {
                return None;
            }
            step = Some(added);
        } else {
            let first = code.term(function, *value, ty)?;
            if start.is_some_and(|before| before != first) {
                return None;
            }
            start = Some(first);
        }
    }
    Some((start?, step?))
}

/// Blocks that the header leads to and that lead back to it.
fn component(code: &Code<'_>, function: FunctionId, header: BlockId) -> Vec<BlockId> {
    let flow = &code.flows[function];
    let reach = |edges: &[Vec<BlockId>]| {
        let mut seen = vec![false; edges.len()];
        let mut work = vec![header];
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[at.index()], true) {
                work.extend(&edges[at.index()]);
            }
        }
        seen
    };
    let (ahead, back) = (reach(&flow.successors), reach(&flow.predecessors));
    let both = (0..ahead.len()).filter(|at| ahead[*at] && back[*at]);
    both.map(BlockId::from_index).collect()
}

/// Whether a path leads from the block back to it that does not pass the header.
fn repeats_inside(code: &Code<'_>, function: FunctionId, block: BlockId, header: BlockId) -> bool {
    let flow = &code.flows[function];
    let mut seen = vec![false; flow.successors.len()];
    let mut work: Vec<BlockId> =
        if block == header { Vec::new() } else { flow.successors[block.index()].clone() };
    while let Some(at) = work.pop() {
        if at == block {
            return true;
        }
        if at != header && !std::mem::replace(&mut seen[at.index()], true) {
            work.extend(&flow.successors[at.index()]);
        }
    }
    false
}

/// Whether the creation is the only access that may write the handles. Memory that was freed is not read again (A-BOUNDS).
fn written_only_at(code: &Code<'_>, accesses: &[Access<'_>], cell: Term, site: SiteId) -> bool {
    let mut places = Released::default();
    add(&mut places, &code.places(cell));
    let Released::These(places) = places else { return false };
    let word = u64::from(code.pointer_bytes());
    accesses.iter().filter(|access| access.is_write() && access.site != site).all(|access| {
        access.kind == super::super::accesses::Kind::Free
            || !places.iter().any(|(object, at)| access.may_touch(*object, *at, word))
    })
}
