//! Calls of functions with a body, and returns.

use super::{Cx, Halt};
use crate::code::{CallDesc, CallTarget, Code, Func};
use crate::image::Callable;
use crate::memory::{Birth, Fill, Name, Piece, StackId, mix};
use crate::sync::Errno;
use crate::thread::{Action, Frame, OnReturn, Phase, Varargs};
use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, LockMode, ProblemKind};
use raddle_ir::{FunctionId, Ty};
use raddle_libmodel::{Effect, How, LockFamily};
use raddle_machine::{LockHow, ObjectKind, OpKind};
use std::sync::Arc;

/// How an operation at a call went.
pub(crate) enum Flow {
    /// It returns this to the program.
    Return(u128),
    /// The position has been moved already, or a frame was entered.
    GoOn,
}

impl Cx<'_> {
    pub(super) fn call(&mut self, desc: u32) -> Result<(), Halt> {
        let image = self.image;
        let desc = &image.func(self.thread.top().function).calls[desc as usize];
        let function = self.callee(desc)?;
        match image.callable(function) {
            Callable::Body => self.enter_call(function, desc, OnReturn::Caller),
            Callable::AtomicBody => Err(self.stand(ATOMIC_ENTER, Action::AtomicEnter)),
            Callable::Effect(effect, assumptions) => {
                if let Effect::Lock { family: LockFamily::C11Mutex, how: How::Try, returns, .. } = *effect {
                    self.decide()?;
                    if self.fails_for_no_reason() {
                        let busy = self.answer(returns, Err(Errno::Busy));
                        self.return_value(busy);
                        return Ok(());
                    }
                }
                if let Effect::Libc(function) = *effect {
                    let operation = match self.pending_channel(function)? {
                        None => self.pending_shared(function)?,
                        operation => operation,
                    };
                    if let Some((kind, operation)) = operation {
                        return Err(self.stand(kind, Action::Channel(operation)));
                    }
                }
                match self.pending_effect(effect)? {
                    Some(kind) => Err(self.stand(kind, Action::Effect)),
                    None => self.perform_effect(effect, assumptions, 0),
                }
            }
            Callable::Unknown => self.foreign_call(function, desc),
        }
    }

    pub(crate) fn callee(&mut self, desc: &CallDesc) -> Result<FunctionId, Halt> {
        let address = match desc.callee {
            CallTarget::Direct(function) => return Ok(function),
            CallTarget::Indirect(slot) => self.value(slot),
        };
        self.function_at(address)
    }

    pub(crate) fn function_at(&mut self, address: u64) -> Result<FunctionId, Halt> {
        match self.memory.layout.function_at(address) {
            Some(function) if (function.0 as usize) < self.image.program.functions.len() => Ok(function),
            _ if address == 0 => {
                Err(self.crash(ProblemKind::NullDereference, None, "call of a null pointer".to_owned()))
            }
            _ => {
                let detail = format!("call of address {address:#x}, which is no function");
                Err(self.crash(ProblemKind::InvalidPointer, None, detail))
            }
        }
    }

    /// Enters a body with the arguments of the call at the present position.
    pub(crate) fn enter_call(
        &mut self,
        function: FunctionId,
        desc: &CallDesc,
        on_return: OnReturn,
    ) -> Result<(), Halt> {
        let pieces = self.by_value_pieces(desc)?;
        self.check_depth()?;
        let callee = self.image.func(function);
        let caller_base = self.thread.top().base as usize;
        let base = self.push_frame(function, callee, on_return);
        let mut by_value = pieces.into_iter();
        for (index, param) in callee.params.iter().enumerate() {
            let Some(arg) = desc.args.get(index) else {
                self.set(param.slot, param.ty, 0);
                continue;
            };
            if let Some((bytes, align)) = arg.by_value {
                let piece = by_value.next().expect("one piece per struct passed by value");
                let address = self.local_copy(bytes, align, &piece)?;
                self.thread.regs[base + param.slot as usize] = address;
            } else if arg.ty == param.ty && !param.ty.is_wide() {
                self.thread.regs[base + param.slot as usize] =
                    self.thread.regs[caller_base + arg.slot as usize];
            } else {
                let at = caller_base + arg.slot as usize;
                let mut value = u128::from(self.thread.regs[at]);
                if arg.ty.is_wide() {
                    value |= u128::from(self.thread.regs[at + 1]) << 64;
                }
                self.set(param.slot, param.ty, super::wide::keep(value, self.image.bits(param.ty)));
            }
        }
        if callee.variadic {
            let mut varargs = Varargs::default();
            for arg in desc.args.iter().skip(callee.params.len()) {
                let at = caller_base + arg.slot as usize;
                let mut value = u128::from(self.thread.regs[at]);
                if arg.ty.is_wide() {
                    value |= u128::from(self.thread.regs[at + 1]) << 64;
                }
                if let Some((_, align)) = arg.by_value {
                    let piece = by_value.next().expect("one piece per struct passed by value");
                    varargs.pieces.push((varargs.values.len(), piece, align));
                }
                varargs.values.push((value, arg.ty));
            }
            self.thread.top_mut().varargs = Some(Arc::new(varargs));
        }
        Ok(())
    }

    /// Enters a body with given arguments; nobody but `on_return` looks at the result.
    pub(crate) fn enter_with(
        &mut self,
        function: FunctionId,
        args: &[(u128, Ty)],
        on_return: OnReturn,
    ) -> Result<(), Halt> {
        self.check_depth()?;
        let callee = self.image.func(function);
        self.push_frame(function, callee, on_return);
        for (index, param) in callee.params.iter().enumerate() {
            let value = args.get(index).map_or(0, |(value, _)| *value);
            self.set(param.slot, param.ty, super::wide::keep(value, self.image.bits(param.ty)));
        }
        if callee.variadic {
            self.thread.top_mut().varargs = Some(Arc::new(Varargs::default()));
        }
        Ok(())
    }

    fn check_depth(&mut self) -> Result<(), Halt> {
        if self.thread.frames.len() >= self.world.options.call_depth_limit as usize {
            let detail = format!("{} calls inside each other", self.thread.frames.len());
            return Err(self.crash(ProblemKind::StackOverflow, None, detail));
        }
        Ok(())
    }

    fn push_frame(&mut self, function: FunctionId, callee: &Func, on_return: OnReturn) -> usize {
        let base = match self.thread.frames.last_mut() {
            Some(caller) => {
                caller.hash = 0;
                (caller.base + self.image.func(caller.function).slots) as usize
            }
            None => 0,
        };
        let end = base + callee.slots as usize;
        if self.thread.regs.len() < end {
            self.thread.regs.resize(end.next_multiple_of(64), 0);
        }
        self.thread.regs[base + callee.registers as usize..end].copy_from_slice(&callee.consts);
        self.thread.phase = Phase::Start;
        self.image.reached.enter(function);
        self.thread.frames.push(Frame {
            function,
            pc: 0,
            base: base as u32,
            allocas: self.thread.allocas.len() as u32,
            on_return,
            varargs: None,
            hash: 0,
        });
        base
    }

    /// Reads the structs that the call passes by value, with a visible step before each where accesses are visible.
    fn by_value_pieces(&mut self, desc: &CallDesc) -> Result<Vec<Piece>, Halt> {
        if desc.args.iter().all(|arg| arg.by_value.is_none()) {
            return Ok(Vec::new());
        }
        let mut pieces = match &self.thread.phase {
            Phase::ByValue(pieces) | Phase::ByValueGranted(pieces) => Vec::clone(pieces),
            _ => Vec::new(),
        };
        let structs = desc.args.iter().filter_map(|arg| arg.by_value.map(|(bytes, _)| (arg.slot, bytes)));
        for (slot, bytes) in structs.skip(pieces.len()) {
            let address = self.value(slot);
            let piece = if bytes == 0 {
                Piece::default()
            } else {
                let at = self.readable(address, bytes)?;
                self.let_through(at, bytes as usize, AccessKind::Read)?;
                self.take_bytes(at, bytes as usize)
            };
            pieces.push(piece);
            self.thread.phase = Phase::ByValue(Arc::new(pieces.clone()));
        }
        self.thread.phase = Phase::Start;
        Ok(pieces)
    }

    fn local_copy(&mut self, bytes: u64, align: u32, piece: &Piece) -> Result<u64, Halt> {
        let address = self.local(bytes, u64::from(align), Name::Local(None), None, false)?;
        if bytes > 0 {
            let at = self.resolve(address, bytes)?;
            self.memory.put(at, piece);
        }
        Ok(address)
    }

    /// A local variable of the innermost frame.
    pub(super) fn local(
        &mut self,
        bytes: u64,
        align: u64,
        name: Name,
        ty: Option<raddle_ir::DebugTypeId>,
        private: bool,
    ) -> Result<u64, Halt> {
        let ordinal = self.thread.allocas.len() as u64 - u64::from(self.thread.top().allocas);
        let depth = self.thread.frames.len() as u64;
        let place = u64::from(self.thread.id.0) << 44 | depth << 20 | ordinal;
        let birth = Birth {
            kind: ObjectKind::Stack,
            name,
            size: bytes,
            align,
            fill: Fill::Uninitialised,
            quiet: private,
            constant: false,
            thread: self.thread.id,
            site: self.site(),
            stack: StackId::EMPTY,
            ty,
            canon: Some(mix(place ^ 0x2545_F491_4F6C_DD1D, 0x6A09_E667_F3BC_C909) & !0xFFFF),
        };
        let Ok(address) = self.memory.allocate(birth) else {
            return Err(self.limit("memory of the program"));
        };
        let (slot, _) = self.memory.owner(address).expect("just allocated");
        self.thread.allocas.push(slot);
        Ok(address)
    }

    pub(super) fn ret(&mut self, desc: u32) -> Result<(), Halt> {
        self.end_branches_of_frame();
        if self.returns_to_caller() {
            self.finish_return(desc);
            return Ok(());
        }
        let image = self.image;
        let values = &image.func(self.thread.top().function).rets[desc as usize];
        let result = values.first().map_or(0, |value| self.value_of(value.slot, value.ty));
        match self.thread.top().on_return.clone() {
            OnReturn::Caller => unreachable!("handled before"),
            OnReturn::AtomicSection => Err(self.stand(ATOMIC_LEAVE, Action::AtomicLeave)),
            OnReturn::Once(once) => Err(self.stand(OpKind::OnceEnd { once }, Action::OnceEnd(once))),
            OnReturn::ThreadEnd => self.leave_thread(result as u64),
            OnReturn::MainEnd => {
                let signed = result as u32 as i32;
                self.leave_process(signed)
            }
            OnReturn::Constructor(done) => {
                self.pop_frame();
                self.start_constructor(done + 1)
            }
            OnReturn::Leaving => {
                self.pop_frame();
                self.go_on_leaving()
            }
            OnReturn::Nested => {
                self.pop_frame();
                self.world.nested_result = result;
                Ok(())
            }
            OnReturn::Journal(journal) => {
                self.pop_frame();
                self.journal_result(&journal, result);
                Ok(())
            }
        }
    }

    /// Hands the values of the return at the present position to the caller and goes on after its call.
    pub(crate) fn finish_return(&mut self, desc: u32) {
        let image = self.image;
        let values = &image.func(self.thread.top().function).rets[desc as usize];
        let from = self.thread.top().base as usize;
        self.pop_frame();
        let Some(caller) = self.thread.frames.last() else { return };
        let into = caller.base as usize;
        let desc = self.call_desc();
        for (index, &(slot, ty)) in desc.dsts.iter().enumerate() {
            let value = match values.get(index) {
                Some(value) => {
                    let at = from + value.slot as usize;
                    let low = u128::from(self.thread.regs[at]);
                    let high = if value.ty.is_wide() { u128::from(self.thread.regs[at + 1]) } else { 0 };
                    if value.ty == ty {
                        low | high << 64
                    } else {
                        super::wide::keep(low | high << 64, image.bits(ty))
                    }
                }
                None => 0,
            };
            let at = into + slot as usize;
            self.thread.regs[at] = value as u64;
            if ty.is_wide() {
                self.thread.regs[at + 1] = (value >> 64) as u64;
            }
        }
        self.thread.phase = Phase::Start;
        self.advance();
    }

    /// Drops the registers of frames that have returned.
    pub(crate) fn trim_registers(&mut self) {
        let needed =
            self.thread.frames.last().map_or(0, |top| top.base + self.image.func(top.function).slots);
        self.thread.regs.truncate(needed as usize);
    }

    /// Ends the innermost frame and its locals.
    pub(crate) fn pop_frame(&mut self) {
        let Some(frame) = self.thread.frames.pop() else { return };
        self.free_locals(frame.allocas as usize);
        self.forget_branches();
    }

    pub(super) fn free_locals(&mut self, down_to: usize) {
        while self.thread.allocas.len() > down_to {
            let slot = self.thread.allocas.pop().expect("longer than that");
            self.forget_sync(slot);
            self.memory.release(slot);
        }
    }

    /// Runs the next constructor, or `main` after the last.
    pub(crate) fn start_constructor(&mut self, index: u32) -> Result<(), Halt> {
        let image = self.image;
        match image.program.constructors.get(index as usize) {
            Some(&function) if image.has_body(function) => {
                let args = self.world.main_args.clone();
                self.enter_with(function, &args, OnReturn::Constructor(index))
            }
            Some(_) => Err(self.unsupported("a constructor without a body".to_owned())),
            None => {
                let args = self.world.main_args.clone();
                self.enter_with(image.main, &args, OnReturn::MainEnd)
            }
        }
    }

    /// Performs the effect of the call that the thread stands before.
    pub(crate) fn perform_present(&mut self, variant: u32) -> Result<(), Halt> {
        let image = self.image;
        let desc = self.call_desc();
        let function = self.callee(desc)?;
        match image.callable(function) {
            Callable::Effect(effect, assumptions) => self.perform_effect(effect, assumptions, variant),
            _ => unreachable!("the thread stands before a modelled call"),
        }
    }

    /// Enters the atomic section, then the body.
    pub(crate) fn perform_atomic_enter(&mut self) -> Result<(), Halt> {
        let desc = self.call_desc();
        let function = self.callee(desc)?;
        self.enter_section();
        self.enter_call(function, desc, OnReturn::AtomicSection)
    }

    /// The body stands at its return.
    pub(crate) fn perform_atomic_leave(&mut self) {
        self.leave_section();
        if let Code::Ret { desc, .. } = self.func().code[self.thread.top().pc as usize] {
            self.finish_return(desc);
        }
    }

    pub(crate) fn allocation_site(&mut self) -> (SiteId, StackId) {
        let sites = self.call_sites();
        (self.site(), self.memory.records.stack(&sites))
    }
}

pub(super) const ATOMIC_ENTER: OpKind =
    OpKind::Lock { lock: Addr::ATOMIC_SECTION, mode: LockMode::Exclusive, how: LockHow::Block };

pub(super) const ATOMIC_LEAVE: OpKind =
    OpKind::Unlock { lock: Addr::ATOMIC_SECTION, mode: LockMode::Exclusive };
