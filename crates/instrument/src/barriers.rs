//! Where threads may synchronise: between two barriers of one thread nothing it does is ordered anew with other threads.
//!
//! A barrier is an atomic operation, a fence, inline assembly, and any call that is not known to reach none of these. Errs to
//! barriers.

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMOpcode;

use crate::hooks::{hook_name, library_name};
use crate::llvm::{Module, Value};
use crate::reach::{Effect, without};
use crate::stack::is_pure_library;

pub(crate) struct Barriers {
    /// Functions that reach no barrier.
    free: HashSet<Value>,
}

/// Beginnings of the names of hooks that order nothing: checks, the shadow stack, marks of loops. Others do, the annotations of a program
/// among them.
const FREE_HOOKS: [&str; 7] = ["read", "write", "enter", "exit", "again", "call", "loop_"];

/// Library functions that take no lock and give up no memory.
const FREE: [&str; 22] = [
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strchr",
    "strrchr",
    "strstr",
    "strcpy",
    "strncpy",
    "strcat",
    "strncat",
    "memcmp",
    "bcmp",
    "memcpy",
    "memmove",
    "memset",
    "memchr",
    "atoi",
    "atol",
    "strspn",
];

impl Barriers {
    pub(crate) fn find(module: &Module) -> Barriers {
        let functions = module.functions();
        let declared = functions.iter().copied().filter(|function| function.is_declaration());
        let mut barriers = Barriers { free: declared.filter(|function| is_free(*function)).collect() };
        let defined = without(module, |inst| match inst.direct_callee() {
            Some(callee) if callee.is_exact() => Effect::Of(callee),
            _ if barriers.is(inst) => Effect::Here,
            _ => Effect::Nothing,
        });
        barriers.free.extend(defined);
        barriers
    }

    pub(crate) fn is(&self, inst: Value) -> bool {
        match inst.opcode() {
            Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr) => {
                inst.direct_callee().is_none_or(|callee| !self.free.contains(&callee))
            }
            Some(LLVMOpcode::LLVMFence) => !inst.is_single_thread(),
            Some(LLVMOpcode::LLVMResume) => true,
            _ => inst.order().is_some(),
        }
    }
}

/// Whether a function without a body is known not to synchronise.
fn is_free(function: Value) -> bool {
    let name = function.name();
    match hook_name(&name) {
        Some(hook) => FREE_HOOKS.iter().any(|free| hook.starts_with(free)),
        None => name.starts_with("llvm.") || FREE.contains(&library_name(&name)) || is_pure_library(function),
    }
}
