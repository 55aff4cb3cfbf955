//! Where threads may synchronise: between two barriers of one thread nothing it does is ordered anew with other threads.
//!
//! A barrier is an atomic operation, a fence, inline assembly, and any call that is not known to reach none of these. Errs to
//! barriers.

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMOpcode;

use crate::hooks::PREFIX;
use crate::llvm::{Module, Value};
use crate::stack::is_pure_library;

pub(crate) struct Barriers {
    /// Functions with a body that reach no barrier.
    free: HashSet<Value>,
}

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
        let defined = functions.iter().copied().filter(|function| !function.is_declaration());
        let mut barriers = Barriers { free: defined.collect() };
        loop {
            let before = barriers.free.len();
            for &function in &functions {
                if barriers.free.contains(&function) {
                    let mut instructions =
                        function.blocks().into_iter().flat_map(|block| block.instructions());
                    if instructions.any(|inst| barriers.is(inst)) {
                        barriers.free.remove(&function);
                    }
                }
            }
            if barriers.free.len() == before {
                return barriers;
            }
        }
    }

    pub(crate) fn is(&self, inst: Value) -> bool {
        match inst.opcode() {
            Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr) => {
                let Some(callee) = inst.direct_callee() else { return true };
                let name = callee.name();
                if name.starts_with("llvm.") {
                    return false;
                }
                if let Some(hook) = name.strip_prefix(PREFIX) {
                    return hook.starts_with("atomic") || hook == "fence";
                }
                let library = callee.is_declaration() && FREE.contains(&name.as_str());
                !library && !is_pure_library(callee) && !self.free.contains(&callee)
            }
            Some(LLVMOpcode::LLVMFence) => !inst.is_single_thread(),
            Some(LLVMOpcode::LLVMResume) => true,
            _ => inst.order().is_some(),
        }
    }
}
