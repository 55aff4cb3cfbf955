//! Cleanup handlers of a thread that exits, as glibc's headers do it in C: `pthread_cleanup_push` calls `__sigsetjmp` and registers its
//! buffer; `pthread_exit` makes the `setjmp` that was registered last return a second time, in its frame, whose code then runs the handler and
//! calls `__pthread_unwind_next`.
//!
//! Locals that were changed after the first return are indeterminate at the second (C11 7.13.2.1); here those in registers are as the last
//! execution of their definition left them.

use super::{Cx, Halt};
use crate::code::{CallTarget, Code, Pc};
use crate::thread::{Cleanup, OnReturn};

const SETJMP: [&str; 4] = ["__sigsetjmp", "_setjmp", "setjmp", "sigsetjmp"];

/// How the code of a handler goes on to the next one.
const UNWIND_NEXT: &str = "__pthread_unwind_next";

impl Cx<'_> {
    pub(crate) fn register_cleanup(&mut self) {
        let jump = self.registered_jump();
        let (depth, function) = (self.thread.frames.len() as u32, self.thread.top().function);
        self.thread.cleanups.push(Cleanup { depth, function, jump });
    }

    /// The `setjmp` of this function with the buffer that the call registers, if there is just one.
    fn registered_jump(&self) -> Option<Pc> {
        let buffer = self.call_desc().args.first().map(|arg| self.value_of(arg.slot, arg.ty))?;
        let func = self.func();
        let mut jumps = func.code.iter().enumerate().filter_map(|(pc, code)| {
            let Code::Call { desc, .. } = code else { return None };
            let desc = &func.calls[*desc as usize];
            let CallTarget::Direct(callee) = desc.callee else { return None };
            let own = desc.args.first().is_some_and(|arg| self.value_of(arg.slot, arg.ty) == buffer);
            (own && SETJMP.contains(&self.image.name(callee))).then_some(pc as Pc)
        });
        jumps.next().filter(|_| jumps.next().is_none())
    }

    /// Whether the call at the present position is the end of a handler's code.
    pub(super) fn goes_on_unwinding(&mut self) -> bool {
        let desc = self.call_desc();
        self.thread.exiting.is_some()
            && self.callee(desc).is_ok_and(|callee| self.image.name(callee) == UNWIND_NEXT)
    }

    /// Goes to the last cleanup handler, or ends the thread after the first.
    pub(crate) fn unwind(&mut self) -> Result<(), Halt> {
        let Some(cleanup) = self.thread.cleanups.pop() else {
            let result = self.thread.exiting.unwrap_or(0);
            return self.leave_thread(result);
        };
        let depth = cleanup.depth as usize;
        let frames = &self.thread.frames;
        let own = frames.get(depth - 1).is_some_and(|frame| frame.function == cleanup.function)
            && frames[depth..].iter().all(|frame| frame.on_return == OnReturn::Caller);
        let Some(jump) = cleanup.jump.filter(|_| own) else {
            let reason = "a thread that exits with a cleanup handler registered".to_owned();
            return Err(self.unsupported(reason));
        };
        while self.thread.frames.len() > depth {
            self.end_branches_of_frame();
            self.pop_frame();
        }
        self.end_branches_of_frame();
        self.thread.top_mut().pc = jump;
        self.return_value(1);
        Ok(())
    }
}
