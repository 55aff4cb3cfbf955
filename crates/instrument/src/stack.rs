//! The shadow stack: functions push a frame, calls note where they stand.
//!
//! A function needs a frame if something in it or below it can be reported: a check, an atomic, a call out of the program. An
//! exception or `longjmp` leaves frames behind; whoever catches it sets the top back to its own frame.

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMOpcode;

use crate::emit::Emitter;
use crate::hooks::{hook_name, library_name};
use crate::llvm::{Module, Value};
use crate::marks::{Marks, Role};
use crate::reach::{Effect, without};

/// Functions in and below which nothing can be reported, the hooks themselves among them.
pub(crate) struct Silent(HashSet<Value>);

/// Library functions that only compute.
const PURE: [&str; 40] = [
    "sqrt", "sqrtf", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "exp2", "log", "log2",
    "log10", "pow", "powf", "fabs", "floor", "ceil", "round", "fmod", "sinf", "cosf", "expf", "logf",
    "floorf", "ceilf", "abs", "labs", "llabs", "isalpha", "isdigit", "isspace", "toupper", "tolower",
    "hypot", "cbrt", "sinh", "cosh", "tanh",
];

pub(crate) fn is_pure_library(callee: Value) -> bool {
    callee.is_declaration() && PURE.contains(&library_name(&callee.name()))
}

impl Silent {
    /// Reads the program after checks and atomics have been written.
    pub(crate) fn find(module: &Module) -> Silent {
        let functions = module.functions();
        let declared = functions.iter().copied().filter(|function| function.is_declaration());
        let mut silent = Silent(HashSet::new());
        let mut hooks = HashSet::new();
        for function in declared {
            let name = function.name();
            if hook_name(&name).is_some() {
                hooks.insert(function);
            } else if name.starts_with("llvm.") || is_pure_library(function) {
                silent.0.insert(function);
            }
        }
        let defined = without(module, |inst| match inst.direct_callee() {
            Some(callee) if callee.is_exact() => Effect::Of(callee),
            Some(callee) if hooks.contains(&callee) => Effect::Here,
            _ if silent.needs_stack(inst) => Effect::Here,
            _ => Effect::Nothing,
        });
        silent.0.extend(defined);
        silent.0.extend(hooks);
        silent
    }

    /// Whether a call goes to where something may be reported.
    fn needs_stack(&self, inst: Value) -> bool {
        inst.callee().is_some_and(|callee| !callee.is_inline_asm() && !self.0.contains(&callee))
    }
}

/// Writes frames and call marks into a function.
pub(crate) fn instrument(emitter: &Emitter<'_>, function: Value, silent: &Silent, marks: &mut Marks) {
    if silent.0.contains(&function) {
        return;
    }
    let Some(entry) = function.blocks().first().copied() else { return };
    let builder = &emitter.builder;
    let instructions: Vec<Value> =
        function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
    let Some(first) = first_after_allocas(entry.instructions()) else { return };
    let site = marks.function(function);
    builder.before(first);
    let site = emitter.site(site);
    let old = builder.call(emitter.hooks.enter, &[site]);
    for &inst in &instructions {
        match inst.opcode() {
            Some(LLVMOpcode::LLVMRet | LLVMOpcode::LLVMResume) => {
                // A tail call that must stay one is followed by its return at once.
                let call = inst.previous().filter(|previous| previous.is_must_tail());
                builder.before(call.unwrap_or(inst));
                builder.call(emitter.hooks.exit, &[old]);
            }
            Some(LLVMOpcode::LLVMLandingPad) => {
                if let Some(next) = inst.block().and_then(|block| block.first_insertion_point()) {
                    builder.before_at(next, inst.location());
                    builder.call(emitter.hooks.again, &[old]);
                }
            }
            Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr) => {
                if silent.needs_stack(inst) {
                    let site = marks.site(emitter.module, inst, Role::Call);
                    builder.before(inst);
                    let site = emitter.site(site);
                    builder.call(emitter.hooks.call, &[site]);
                }
                if inst.call_has(None, "returns_twice")
                    && let Some(next) = inst.next()
                {
                    builder.before_at(next, inst.location());
                    builder.call(emitter.hooks.again, &[old]);
                }
            }
            _ => {}
        }
    }
}

/// Locals stay at the beginning, where LLVM looks for them.
fn first_after_allocas(instructions: Vec<Value>) -> Option<Value> {
    instructions.into_iter().find(|inst| {
        let debug = inst.direct_callee().is_some_and(|callee| callee.name().starts_with("llvm.dbg."));
        !inst.is(LLVMOpcode::LLVMAlloca) && !debug
    })
}
