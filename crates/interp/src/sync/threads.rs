//! Creating, joining, detaching and naming threads.
//!
//! The id of a new thread is written before the thread exists, as glibc does, so reading it in the new thread is ordered. The
//! write of a joined thread's result belongs to the step of the join. Cancelling a thread is not supported.

use super::{Errno, lock_how};
use crate::exec::{Cx, Flow, Halt};
use crate::memory::Named;
use crate::thread::{Action, OnReturn, Stand, Thread};
use crate::world::Origin;
use raddle_event::{AccessKind, EventKind, ProblemKind, ThreadId};
use raddle_ir::{FunctionId, Ty};
use raddle_libmodel::{ATTR_FLAGS_OFFSET, Arg, Detail, How, Returns, SleepUnit, ThreadOp};
use raddle_machine::{OpKind, Operation};
use std::sync::Arc;

impl Cx<'_> {
    pub(crate) fn pending_thread(&mut self, op: ThreadOp) -> Result<Option<OpKind>, Halt> {
        Ok(match op {
            ThreadOp::Create { id, .. } => {
                let bytes = self.memory.layout.pointer_bytes;
                let at = self.writable(self.pointer_arg(id), u64::from(bytes))?;
                self.let_through(at, bytes as usize, AccessKind::Write)?;
                Some(OpKind::Create)
            }
            ThreadOp::CreateReturning { .. } => Some(OpKind::Create),
            ThreadOp::Join { thread, how, .. } => {
                self.handle(thread).map(|child| OpKind::Join { child, how: lock_how(how) })
            }
            ThreadOp::Detach { thread } => self.handle(thread).map(|child| OpKind::Detach { child }),
            ThreadOp::Exit { .. }
            | ThreadOp::SelfId
            | ThreadOp::Equal { .. }
            | ThreadOp::Cancel { .. }
            | ThreadOp::TestCancel
            | ThreadOp::SetCancel { .. }
            | ThreadOp::CleanupRegister
            | ThreadOp::CleanupUnregister
            | ThreadOp::Yield
            | ThreadOp::Sleep { .. } => None,
        })
    }

    fn handle(&self, thread: Arg) -> Option<ThreadId> {
        let thread = self.memory.layout.thread_at(self.pointer_arg(thread))?;
        ((thread.0 as usize) < self.world.state.lives().len()).then_some(thread)
    }

    pub(crate) fn perform_thread(
        &mut self,
        op: ThreadOp,
        returns: Returns,
        variant: u32,
    ) -> Result<Flow, Halt> {
        let value = match op {
            ThreadOp::Create { id, attribute, function, argument } => {
                let detached = self.is_detached(attribute)?;
                let child = self.create(function, argument)?;
                if detached {
                    self.event(EventKind::Detach { child });
                    self.world.state.change_life(child, |life| life.detached = true);
                }
                let handle = self.memory.layout.thread_handle(child);
                let bytes = self.memory.layout.pointer_bytes as usize;
                let at = self.writable(self.pointer_arg(id), bytes as u64)?;
                self.memory.store_bytes(at, &handle.to_le_bytes()[..bytes], Named::Name);
                self.answer(returns, Ok(()))
            }
            ThreadOp::CreateReturning { function, argument } => {
                let child = self.create(function, argument)?;
                u128::from(self.memory.layout.thread_handle(child))
            }
            ThreadOp::Join { thread, result, how } => {
                let outcome = self.join(thread, result, how, returns, variant)?;
                self.answer(returns, outcome)
            }
            ThreadOp::Detach { thread } => {
                let outcome = self.detach(thread);
                self.answer(returns, outcome)
            }
            ThreadOp::Exit { result } => {
                let value = result.map_or(0, |arg| self.arg(arg));
                self.thread.exiting = Some(value);
                self.unwind()?;
                return Ok(Flow::GoOn);
            }
            ThreadOp::SelfId => {
                let handle = self.memory.layout.thread_handle(self.thread.id);
                if self.call_desc().result_computed_with {
                    self.expose_value(handle);
                }
                u128::from(handle)
            }
            ThreadOp::Equal { a, b } => {
                if self.call_desc().result_look > Detail::Zero {
                    self.assume("A-RESULT");
                }
                let (a, b) = (self.pointer_arg(a), self.pointer_arg(b));
                self.compare_handles(a, b);
                u128::from(a == b)
            }
            ThreadOp::Cancel { .. } => return Err(self.unsupported("cancelling a thread".to_owned())),
            ThreadOp::SetCancel { old, .. } => {
                // Without cancelling, the settings are never looked at again: the defaults are enabled and deferred, both 0.
                let into = self.pointer_arg(old);
                if into != 0 {
                    let at = self.writable(into, 4)?;
                    self.report(at, 4, AccessKind::Write);
                    self.memory.store::<4>(at, 0, Named::Number);
                }
                self.answer(returns, Ok(()))
            }
            ThreadOp::CleanupRegister => {
                self.register_cleanup();
                0
            }
            ThreadOp::CleanupUnregister => {
                self.thread.cleanups.pop();
                0
            }
            ThreadOp::Sleep { amount, unit } => {
                self.sleep(amount, unit)?;
                0
            }
            ThreadOp::TestCancel | ThreadOp::Yield => 0,
        };
        Ok(Flow::Return(value))
    }

    /// The handle of a thread that is gone may be that of a later one (POSIX `pthread_create`); here it never is.
    pub(crate) fn compare_handles(&mut self, a: u64, b: u64) {
        let is_gone = |handle| {
            let thread = self.memory.layout.thread_at(handle);
            let life = thread.and_then(|thread| self.world.state.lives().get(thread.0 as usize));
            life.is_some_and(|life| life.joined || life.detached && life.ended)
        };
        if a != b && (is_gone(a) || is_gone(b)) {
            self.assume("A-ADDRESS");
        }
    }

    fn create(&mut self, function: Arg, argument: Arg) -> Result<ThreadId, Halt> {
        self.assume("A-THREAD");
        let (function, argument) = (self.pointer_arg(function), self.arg(argument));
        let function = self.function_at(function)?;
        let Some(function) = self.image.entry(function) else {
            let name = self.image.name(function).to_owned();
            return Err(self.unsupported(format!("a thread that runs `{name}`, which has no body")));
        };
        if self.world.state.lives().len() >= self.world.options.thread_limit as usize {
            return Err(self.limit("number of threads"));
        }
        let child = ThreadId(self.world.state.lives().len() as u32);
        self.event(EventKind::Create { child });
        let created = Some((self.thread.id, self.site(), Arc::from(self.call_sites())));
        self.world.state.create(Origin { entry: function, argument, created });
        let thread = self.new_thread(child, function, argument)?;
        self.world.spawned.push(thread);
        Ok(child)
    }

    fn is_detached(&mut self, attribute: Option<Arg>) -> Result<bool, Halt> {
        match attribute.map(|arg| self.pointer_arg(arg)) {
            None | Some(0) => Ok(false),
            Some(address) => Ok(self.attribute_word(address + ATTR_FLAGS_OFFSET)? & 1 == 1),
        }
    }

    /// Virtual time moves on; nothing waits for it.
    fn sleep(&mut self, amount: Arg, unit: SleepUnit) -> Result<(), Halt> {
        let count = match unit {
            SleepUnit::Seconds | SleepUnit::Milliseconds | SleepUnit::Microseconds => {
                u64::from(self.arg(amount) as u32)
            }
            SleepUnit::Nanoseconds => self.arg(amount),
            SleepUnit::Timespec { remainder } => {
                // Written when a signal comes.
                if self.pointer_arg(remainder) != 0 {
                    self.assume("A-SIGNAL");
                }
                let word = u64::from(self.memory.layout.pointer_bytes);
                let at = self.readable(self.pointer_arg(amount), 2 * word)?;
                self.report(at, 2 * word as usize, AccessKind::Read);
                let seconds = self.memory.pointer_at(at.slot, at.offset);
                let rest = self.memory.pointer_at(at.slot, at.offset + word as usize);
                seconds.saturating_mul(1_000_000_000).saturating_add(rest)
            }
        };
        let factor = match unit {
            SleepUnit::Seconds => 1_000_000_000,
            SleepUnit::Milliseconds => 1_000_000,
            SleepUnit::Microseconds => 1000,
            SleepUnit::Nanoseconds | SleepUnit::Timespec { .. } => 1,
        };
        let state = &mut self.world.state;
        state.time = state.time.saturating_add(count.saturating_mul(factor).min(1 << 50));
        Ok(())
    }

    fn new_thread(&mut self, id: ThreadId, function: FunctionId, argument: u64) -> Result<Thread, Halt> {
        let mut thread = Thread::new(id);
        std::mem::swap(self.thread, &mut thread);
        let entered = self.enter_with(function, &[(u128::from(argument), Ty::Ptr)], OnReturn::ThreadEnd);
        let site = self.site();
        std::mem::swap(self.thread, &mut thread);
        entered?;
        thread.stand =
            Stand::Before { operation: Operation { site, kind: OpKind::Begin }, action: Action::Begin };
        Ok(thread)
    }

    fn join(
        &mut self,
        thread: Arg,
        result: Option<Arg>,
        how: How,
        returns: Returns,
        variant: u32,
    ) -> Result<Result<(), Errno>, Halt> {
        let Some(child) = self.handle(thread) else {
            self.problem(ProblemKind::InvalidJoin, None, "no such thread");
            return Ok(Err(Errno::NoSuchThread));
        };
        let life = self.world.state.life(child);
        if child == self.thread.id {
            self.problem(ProblemKind::InvalidJoin, None, "a thread joins itself");
            return Ok(Err(Errno::Deadlock));
        }
        if life.detached || life.joined {
            let what =
                if life.detached { "the thread is detached" } else { "the thread has been joined before" };
            self.problem(ProblemKind::InvalidJoin, None, what);
            return Ok(Err(Errno::Invalid));
        }
        if !life.ended {
            debug_assert!(variant == 1 || how == How::Try);
            return Ok(Err(if variant == 1 { Errno::TimedOut } else { Errno::Busy }));
        }
        let value = life.result;
        self.event(EventKind::Join { child });
        self.world.state.change_life(child, |life| life.joined = true);
        let into = result.map_or(0, |arg| self.pointer_arg(arg));
        if into != 0 {
            let pointer_bytes = self.memory.layout.pointer_bytes as usize;
            let len = if returns == Returns::Thrd { 4 } else { pointer_bytes };
            let at = self.writable(into, len as u64)?;
            if !self.memory.object(at.slot).quiet {
                let loc = self.memory.loc(at, len as u64);
                self.event(EventKind::Access { loc, kind: AccessKind::Write });
            }
            let named = if len == pointer_bytes { Named::Name } else { Named::Number };
            self.memory.store_bytes(at, &value.to_le_bytes()[..len], named);
        }
        Ok(Ok(()))
    }

    fn detach(&mut self, thread: Arg) -> Result<(), Errno> {
        let Some(child) = self.handle(thread) else {
            self.problem(ProblemKind::InvalidJoin, None, "detach of no thread");
            return Err(Errno::NoSuchThread);
        };
        let life = self.world.state.life(child);
        if life.detached || life.joined {
            self.problem(ProblemKind::InvalidJoin, None, "detach of a thread that is detached or joined");
            return Err(Errno::Invalid);
        }
        self.event(EventKind::Detach { child });
        self.world.state.change_life(child, |life| life.detached = true);
        Ok(())
    }
}
