//! Which cell or register holds the handle of which single thread, so that a join is known to be of that thread.
//!
//! *Must*. A cell has one address in the whole run, and one single thread writes it, or nobody else can reach it. A creation sets
//! it, a store of a handle too; any other write that may touch it makes it unknown.

use super::super::Refusal;
use super::super::accesses::{Access, Kind, of_instruction};
use super::super::calls::Way;
use super::super::code::{At, Code};
use super::super::flow::Definition;
use super::gates::{effects, starts_one};
use super::state::{HANDLE, State, may_touch};
use super::{Order, RULE};
use raddle_base::SiteId;
use raddle_facts::{Offsets, Released, Root, Start, Term, ThreadId};
use raddle_ir::{FunctionId, Inst, Operand, Terminator, Ty};
use raddle_libmodel::{Effect, ThreadOp};
use std::collections::BTreeSet;

/// Longest way of a handle that is followed.
const STEPS: usize = 5;

/// All cells that the facts speak of, and those that need no fact because a handle is used in the block that puts it there.
pub(super) fn cells(code: &Code<'_>, accesses: &[Access<'_>]) -> BTreeSet<Term> {
    let functions = code.facts.order.functions.values();
    let mut cells: BTreeSet<Term> = functions
        .flat_map(|function| function.blocks.iter().chain([&function.entry, &function.at_exit]))
        .flat_map(|state| state.handles.iter().map(|(cell, _)| *cell))
        .collect();
    for (function, call, effect) in effects(code) {
        if let Effect::Thread(ThreadOp::Create { id, .. }, _) = effect
            && let Some(arg) = call.parts(code, function).1.get(usize::from(id.0))
            && let Some(cell) = code.term(function, arg.value, arg.ty)
            && is_followed(code, accesses, cell, Extent::Object)
        {
            cells.insert(cell);
        }
    }
    cells
}

/// Whose writes count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Cell,
    /// Those anywhere in the object.
    Object,
}

/// Whether a cell has one address, and one single thread writes it, or nobody else can reach it.
fn is_followed(code: &Code<'_>, accesses: &[Access<'_>], cell: Term, extent: Extent) -> bool {
    let threads = &code.facts.threads;
    let Released::These(places) = code.places(cell) else { return false };
    let mut shared = places.into_iter().filter(|(object, _)| threads.shared[*object]);
    code.is_global(cell)
        && shared.all(|(object, at)| {
            let at = if extent == Extent::Object { Offsets::ANY } else { at };
            let writers =
                accesses.iter().filter(|access| access.is_write() && access.may_touch(object, at, HANDLE));
            let by: BTreeSet<ThreadId> =
                writers.flat_map(|access| threads.runs[access.at.function].iter().copied()).collect();
            by.len() <= 1 && by.iter().all(|thread| !threads.threads[*thread].many)
        })
}

impl Order<'_, '_> {
    pub(super) fn handles_are_followed(&self) -> Result<(), Refusal> {
        let code = self.code;
        match self.cells.iter().find(|cell| !is_followed(code, self.accesses, **cell, Extent::Cell)) {
            Some(cell) => {
                let text = format!("a handle in {cell:?} is not written by one thread alone");
                code.refuse(SiteId::NONE, RULE, text)
            }
            None => Ok(()),
        }
    }

    /// Follows handles through one instruction; callees are for [`Order::nested`].
    pub(super) fn handles(&self, at: At, state: &mut State) {
        self.follow(at, state, 0);
    }

    fn follow(&self, at: At, state: &mut State, depth: usize) {
        let code = self.code;
        let inst = &code.program.functions[at.function].blocks[at.block].insts[at.index];
        if !matches!(
            inst,
            Inst::Store { .. }
                | Inst::Rmw { .. }
                | Inst::CmpXchg(_)
                | Inst::MemCopy { .. }
                | Inst::MemSet { .. }
                | Inst::Asm { .. }
                | Inst::VaStart { .. }
                | Inst::VaArg { .. }
                | Inst::VaCopy { .. }
                | Inst::VaEnd { .. }
                | Inst::Call { .. }
        ) {
            return;
        }
        let set = self.set_by(at, inst, depth);
        let mut written = Vec::new();
        of_instruction(code, at, inst, &mut written);
        // Memory that was freed is not read again (A-BOUNDS).
        for access in written.iter().filter(|access| matches!(access.kind, Kind::Write | Kind::Update)) {
            for target in access.targets.iter() {
                if !self.cells.iter().any(|cell| may_touch(code, *cell, *target, access.bytes)) {
                    continue;
                }
                state.handles.retain(|cell, _| !may_touch(code, *cell, *target, access.bytes));
                let place = (target.0, widened(target.1, access.bytes));
                if !state.overwritten.contains(&place) {
                    state.overwritten.push(place);
                }
            }
        }
        if let Some((cell, thread)) = set {
            state.handles.insert(cell, thread);
        }
    }

    /// The cell that an instruction certainly puts the handle of a single thread into.
    fn set_by(&self, at: At, inst: &Inst, depth: usize) -> Option<(Term, ThreadId)> {
        let code = self.code;
        let (cell, thread) = match inst {
            Inst::Store { ptr, value, ty, .. } => {
                let cell = code.term(at.function, *ptr, Ty::Ptr)?;
                self.is_handle(*ty).then_some(())?;
                self.cells.contains(&cell).then_some(())?;
                (cell, self.handle_of(at.function, *value, depth + 1)?)
            }
            Inst::Call { args, .. } => {
                let call = code.calls.at(at.function, code.site(at))?;
                let [(_, Effect::Thread(ThreadOp::Create { id, .. }, _))] = &call.effects[..] else {
                    return None;
                };
                let arg = args.get(usize::from(id.0))?;
                (code.term(at.function, arg.value, arg.ty)?, self.created_by(at)?)
            }
            _ => return None,
        };
        code.is_global(cell).then_some((cell, thread))
    }

    fn is_handle(&self, ty: Ty) -> bool {
        ty.access_bytes(self.code.pointer_bytes()) == self.code.pointer_bytes()
    }

    /// The single thread that a call creates.
    fn created_by(&self, at: At) -> Option<ThreadId> {
        let site = self.code.site(at);
        let call = self.code.calls.at(at.function, site).filter(|call| starts_one(call))?;
        let mut threads = self.code.facts.threads.threads.iter().filter(|(_, thread)| {
            thread.start == Start::Created(site) && thread.entry == call.runs[0].function
        });
        match (threads.next(), threads.next()) {
            (Some((id, thread)), None) if !thread.many => Some(id),
            _ => None,
        }
    }

    /// The single thread whose handle an operand is.
    pub(super) fn handle_of(&self, function: FunctionId, operand: Operand, depth: usize) -> Option<ThreadId> {
        let code = self.code;
        let Operand::Reg(reg) = operand else { return None };
        if depth > STEPS {
            return None;
        }
        let term = code.reg_term(function, reg);
        if let (Root::Reg(owner, other), None, 0) = (term.root, term.index, term.offset)
            && (owner, other) != (function, reg)
            && let Some(thread) = self.handle_of(owner, Operand::Reg(other), depth + 1)
        {
            return Some(thread);
        }
        let Definition::Inst(block, index) = code.flows[function].definition(reg) else { return None };
        let at = At { function, block, index };
        match &code.program.functions[function].blocks[block].insts[index] {
            Inst::Load { ptr, ty, .. } if self.is_handle(*ty) => {
                let cell = code.term(function, *ptr, Ty::Ptr)?;
                self.cells.contains(&cell).then_some(())?;
                let mut state = self.start(function, block);
                for before in 0..index {
                    let at = At { index: before, ..at };
                    self.follow(at, &mut state, depth + 1);
                    if let Some(call) = code.calls.at(function, code.site(at)) {
                        self.nested(call, &mut state);
                    }
                }
                self.full(function, &state).handles.get(&cell).copied()
            }
            Inst::Call { .. } => {
                let call = code.calls.at(function, code.site(at))?;
                if let [(_, Effect::Thread(ThreadOp::CreateReturning { .. }, _))] = &call.effects[..] {
                    return self.created_by(at);
                }
                let [run] = &call.runs[..] else { return None };
                (run.way == Way::Call && call.is_only_bodies()).then_some(())?;
                let mut thread = None;
                for block in code.reachable_blocks(run.function) {
                    if let Terminator::Ret { values } =
                        &code.program.functions[run.function].blocks[block].terminator
                    {
                        let one = self.handle_of(run.function, *values.first()?, depth + 1)?;
                        if thread.is_some_and(|before| before != one) {
                            return None;
                        }
                        thread = Some(one);
                    }
                }
                thread
            }
            _ => None,
        }
    }
}

/// All starts of handles' bytes in a write of so many bytes.
fn widened(at: Offsets, bytes: u64) -> Offsets {
    if bytes <= HANDLE {
        return at;
    }
    let more = i64::try_from(bytes - HANDLE).unwrap_or(i64::MAX);
    let high = if at.high == i64::MAX || more == i64::MAX { i64::MAX } else { at.high.saturating_add(more) };
    Offsets { anchor: at.low, stride: 1, low: at.low, high }
}
