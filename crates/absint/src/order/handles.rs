//! Handles of threads: which cell or register holds the handle of which single thread, so that a join is known to be of that thread.
//!
//! *Must*. A creation sets the cell that it is given; a load takes the handle into a register, a store puts it into another cell; any
//! other write that may touch the cell makes it unknown. Only cells that one single thread writes are followed.

use super::Input;
use super::gates::Gates;
use super::local::{Registers, State};
use crate::terms::term_of;
use raddle_facts::{ObjectId, ObjectKind, Offsets, Root, Start, Term, ThreadId};
use raddle_ir::{BlockId, FunctionId, Inst, Operand, Reg};
use raddle_libmodel::{Effect, ThreadOp};
use std::sync::Arc;

/// Where a cell may be.
pub(super) fn places(input: Input<'_>, cell: Term) -> Vec<(ObjectId, Offsets)> {
    let base: Vec<(ObjectId, Offsets)> = match cell.root {
        Root::Reg(function, reg) => {
            let set = input.points_to.regs[function][reg.0 as usize];
            input.points_to.targets_of(set).to_vec()
        }
        Root::Global(global) => {
            let object = input.holders.objects.of(ObjectKind::Global(global));
            object.map(|id| (id, Offsets::exact(0))).into_iter().collect()
        }
        Root::Zero | Root::Function(_) => Vec::new(),
    };
    base.into_iter()
        .map(|(object, at)| {
            let moved = match (cell.index, at.is_exact()) {
                (None, true) => Offsets::exact(at.anchor.wrapping_add(cell.offset)),
                (Some(index), true) => Offsets {
                    anchor: at.anchor.wrapping_add(cell.offset),
                    stride: index.scale.unsigned_abs(),
                    low: i64::MIN,
                    high: i64::MAX,
                },
                (_, false) => Offsets::ANY,
            };
            (object, moved)
        })
        .collect()
}

/// The thread whose handle an operand holds.
pub(super) fn of_operand(
    input: Input<'_>,
    found: &Registers,
    known: &Registers,
    function: FunctionId,
    operand: Operand,
) -> Option<ThreadId> {
    let of = |function: FunctionId, reg: Reg| {
        found.get(&(function, reg)).or_else(|| known.get(&(function, reg))).copied()
    };
    if let Operand::Reg(reg) = operand
        && let Some(thread) = of(function, reg)
    {
        return Some(thread);
    }
    let term = term_of(input.values, function, operand);
    match (term.root, term.index, term.offset) {
        (Root::Reg(owner, reg), None, 0) => of(owner, reg),
        _ => None,
    }
}

/// Follows handles through one instruction.
pub(super) fn instruction(
    input: Input<'_>,
    gates: &Gates,
    found: &mut Registers,
    known: &Registers,
    (function, block, index): (FunctionId, BlockId, usize),
    entry: Option<&State>,
    state: &mut State,
) {
    let code = &input.program.functions[function].blocks[block];
    match &code.insts[index] {
        Inst::Load { dst, ptr, .. } => {
            let cell = term_of(input.values, function, *ptr);
            match state.handles.get(&cell).copied().or_else(|| at_entry(input, state, entry, cell)) {
                Some(thread) => {
                    found.insert((function, *dst), thread);
                }
                None => {
                    found.remove(&(function, *dst));
                }
            }
        }
        Inst::Store { ptr, value, .. } => {
            let thread = of_operand(input, found, known, function, *value);
            write(input, gates, function, *ptr, thread, state);
        }
        Inst::MemCopy { dst, .. } | Inst::MemSet { dst, .. } => {
            // However long it is.
            for (object, _) in input.holders.followed(input.points_to, function, *dst, u64::MAX).iter() {
                void(input, (*object, Offsets::ANY), state);
            }
        }
        Inst::Rmw { ptr, .. } => write(input, gates, function, *ptr, None, state),
        Inst::CmpXchg(x) => write(input, gates, function, x.ptr, None, state),
        Inst::Call { .. } => {
            let Some(call) = input.calls.at(function, code.site_of(index)) else { return };
            let (dsts, args) = call.parts(input.program, function);
            for at in input.holders.call_writes.get(&call.site).into_iter().flatten() {
                void(input, *at, state);
            }
            for effect in &call.effects {
                let mut threads = input
                    .threads
                    .threads
                    .iter()
                    .filter(|(_, thread)| thread.start == Start::Created(call.site));
                let single = match (threads.next(), threads.next()) {
                    (Some((id, thread)), None)
                        if !thread.many && call.effects.len() == 1 && call.runs.len() == 1 =>
                    {
                        Some(id)
                    }
                    _ => None,
                };
                match effect {
                    Effect::Thread(ThreadOp::Create { id, .. }, _) => {
                        if let Some(arg) = args.get(usize::from(id.0)) {
                            write(input, gates, function, arg.value, single, state);
                        }
                    }
                    Effect::Thread(ThreadOp::CreateReturning { .. }, _) => {
                        if let (Some(dst), Some(thread)) = (dsts.first(), single) {
                            found.insert((function, *dst), thread);
                        }
                    }
                    _ => {}
                }
            }
            returned(input, found, known, call, dsts, function);
        }
        _ => {}
    }
}

/// What the entry says of a cell that nothing wrote since.
fn at_entry(input: Input<'_>, state: &State, entry: Option<&State>, cell: Term) -> Option<ThreadId> {
    let thread = *entry?.handles.get(&cell)?;
    let written = places(input, cell).iter().any(|(object, offsets)| {
        state.overwritten.iter().any(|(other, at)| other == object && at.may_overlap(8, *offsets, 8))
    });
    (!written).then_some(thread)
}

/// A call of one function that returns the handle of the same thread everywhere.
fn returned(
    input: Input<'_>,
    found: &mut Registers,
    known: &Registers,
    call: &crate::calls::Call,
    dsts: &[Reg],
    function: FunctionId,
) {
    let ([(target, crate::calls::Way::Call)], [dst]) = (call.runs.as_slice(), dsts) else { return };
    if !call.effects.is_empty() || !call.unknown.is_empty() {
        return;
    }
    let mut thread = None;
    for (id, block) in input.program.functions[*target].blocks.iter() {
        if !input.values.is_reachable(*target, id) {
            continue;
        }
        if let raddle_ir::Terminator::Ret { values } = &block.terminator {
            let one = values.first().and_then(|value| of_operand(input, found, known, *target, *value));
            if one.is_none() || thread.is_some_and(|before| Some(before) != one) {
                return;
            }
            thread = one;
        }
    }
    if let Some(thread) = thread {
        found.insert((function, *dst), thread);
    }
}

/// A store to an address: sets the cell if it is one term and followed, else makes what it may touch unknown.
fn write(
    input: Input<'_>,
    gates: &Gates,
    function: FunctionId,
    ptr: Operand,
    thread: Option<ThreadId>,
    state: &mut State,
) {
    let followed = input.holders.followed(input.points_to, function, ptr, 8);
    for at in followed.iter() {
        void(input, *at, state);
    }
    let cell = term_of(input.values, function, ptr);
    if let Some(thread) = thread
        && !followed.is_empty()
        && followed.len()
            == input.holders.objects.targets(input.points_to, function, ptr).of(input.points_to).len()
        && gates.is_global(input, cell)
    {
        state.handles.insert(cell, thread);
    }
}

fn void(input: Input<'_>, (object, at): (ObjectId, Offsets), state: &mut State) {
    if !state.overwritten.contains(&(object, at)) {
        Arc::make_mut(&mut state.overwritten).insert((object, at));
    }
    state.handles.retain(|cell, _| {
        !places(input, *cell)
            .iter()
            .any(|(other, offsets)| *other == object && at.may_overlap(8, *offsets, 8))
    });
}
