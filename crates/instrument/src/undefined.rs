//! Values that the program leaves undefined become 0, the value that uninitialised memory has in the interpreter (A-UNINIT).
//!
//! For LLVM a branch on an undefined value is undefined behaviour, so that it removes the branch and all code behind it, and the program
//! runs into whatever function comes next. C says so of locals whose address is never taken; for others the value is merely unknown. A
//! program that goes the same way as in the interpreter can be replayed. Large locals stay as they are: clearing them would cost time.

use crate::llvm::{Builder, Module, Value};
use inkwell::llvm_sys::LLVMOpcode;

/// Locals up to this many bytes are cleared.
const LARGEST: u64 = 256;

/// Marks what clears a local: no access of the program.
const CLEARS: &str = "raddle.clears";

/// Before any pass learns that nothing was stored in a local.
pub(crate) fn define_all(module: &Module, functions: &[Value]) {
    define_values(functions);
    let (builder, kind) = (Builder::new(module), module.metadata_kind(CLEARS));
    for local in instructions(functions) {
        let Some(bytes) = module.local_bytes(local).filter(|bytes| (1..=LARGEST).contains(bytes)) else {
            continue;
        };
        let begins: Vec<Value> = local.users().into_iter().filter(|user| begins_life(*user)).collect();
        let places = if begins.is_empty() { vec![local] } else { begins };
        for next in places.into_iter().filter_map(Value::next) {
            builder.before(next);
            module.set_number(builder.clear(local, bytes), kind, 1);
        }
    }
}

/// Operands that are undefined, once more locals are values.
pub(crate) fn define_values(functions: &[Value]) {
    for inst in instructions(functions) {
        for index in 0..inst.operand_count() {
            if let Some(zero) = inst.operand(index).and_then(Value::zero_for_undefined) {
                inst.set_operand(index, zero);
            }
        }
    }
}

/// For the instructions of a function: those that were added here.
pub(crate) fn clears(module: &Module) -> impl Fn(Value) -> bool {
    let kind = module.metadata_kind(CLEARS);
    move |inst| module.number(inst, kind).is_some()
}

fn instructions(functions: &[Value]) -> impl Iterator<Item = Value> {
    functions.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions())
}

fn begins_life(inst: Value) -> bool {
    inst.is(LLVMOpcode::LLVMCall)
        && inst.direct_callee().is_some_and(|callee| callee.name().starts_with("llvm.lifetime.start"))
}
