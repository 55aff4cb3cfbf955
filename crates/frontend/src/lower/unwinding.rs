//! Calls with a path for unwinding (`invoke`): clean-up attributes and destructors that run when the thread exits inside the call.
//!
//! The path itself is not lowered as code that runs. In a program that exits threads, a call with such a path stands between the
//! registration of a clean-up handler and its removal, as glibc's `pthread_cleanup_push` without exceptions does it: a thread that exits in
//! between is then `Unsupported` where it is run, and a gap of the static answer. A path that only hands the exception on does nothing.
//! Exceptions that the program throws are unsupported at the throw (`libmodel`).

use inkwell::llvm_sys::LLVMOpcode;
use raddle_ir::{Callee, Inst, Terminator};

use super::Lowered;
use super::function::FunctionLowerer;
use crate::llvm::{Block, Module, Value, ValueKind};

/// Functions of the library that unwind the stack of the calling thread, or of another one.
const SOURCES: [&str; 3] = ["pthread_exit", "thrd_exit", "pthread_cancel"];
const REGISTER: &str = "__pthread_register_cancel";
const UNREGISTER: &str = "__pthread_unregister_cancel";

/// Whether threads of the program may unwind.
pub(super) fn may_unwind(module: &Module<'_>) -> bool {
    SOURCES.iter().any(|name| module.function(name).is_some())
}

impl<'m> FunctionLowerer<'_, 'm> {
    /// A call, then a branch to where it returns to.
    pub(super) fn invoke(&mut self, inst: Value<'m>) -> Lowered<()> {
        let normal = inst.normal_destination().ok_or_else(|| "invoke without a destination".to_owned())?;
        let normal = self.block_id(normal)?;
        let guarded = self.module.may_unwind && inst.unwind_destination().is_some_and(cleans_up);
        if guarded {
            self.call_library(REGISTER);
        }
        self.call(inst)?;
        if guarded {
            self.call_library(UNREGISTER);
        }
        self.terminate(Terminator::Br(normal));
        Ok(())
    }

    fn call_library(&mut self, name: &str) {
        let callee = Callee::Direct(self.module.library_function(name));
        self.emit(Inst::Call { dsts: Vec::new(), callee, args: Vec::new() });
    }

    /// Whether an instruction is a call that only marks a path for unwinding.
    pub(super) fn is_mark(&self, inst: &Inst) -> bool {
        let Inst::Call { callee: Callee::Direct(callee), args, .. } = inst else { return false };
        let program = &self.module.program;
        args.is_empty() && [REGISTER, UNREGISTER].contains(&program.text(program.functions[*callee].symbol))
    }
}

/// Whether the path from a landing pad does anything but hand the exception on.
fn cleans_up(pad: Block<'_>) -> bool {
    let mut seen = vec![pad];
    let mut next = 0;
    while let Some(&block) = seen.get(next) {
        next += 1;
        for inst in block.instructions() {
            match inst.opcode() {
                Some(
                    LLVMOpcode::LLVMLandingPad
                    | LLVMOpcode::LLVMPHI
                    | LLVMOpcode::LLVMExtractValue
                    | LLVMOpcode::LLVMInsertValue
                    | LLVMOpcode::LLVMResume
                    | LLVMOpcode::LLVMUnreachable,
                ) => {}
                Some(LLVMOpcode::LLVMBr) => {
                    for successor in inst.successors() {
                        if !seen.contains(&successor) {
                            seen.push(successor);
                        }
                    }
                }
                Some(LLVMOpcode::LLVMCall) if is_marker(inst) => {}
                _ => return true,
            }
        }
    }
    false
}

/// Debug information and the ends of lifetimes.
fn is_marker(call: Value<'_>) -> bool {
    let callee = call.called_value().filter(|callee| callee.kind() == ValueKind::Function);
    callee.is_some_and(|callee| {
        let name = callee.name();
        ["llvm.dbg.", "llvm.lifetime.", "llvm.stackrestore"].iter().any(|prefix| name.starts_with(prefix))
    })
}
