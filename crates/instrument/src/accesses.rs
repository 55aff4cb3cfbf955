//! The plain accesses of a function and the checks they ask for: loads, stores, copies, and what calls copy by value.

use inkwell::llvm_sys::LLVMOpcode;

use crate::body::Body;
use crate::checks::Size;
use crate::emit::Emitter;
use crate::llvm::{Module, Value};
use crate::locals::Locals;
use crate::marks::{Marks, Role};

/// Writes a check before every access of a function that others may see.
pub(crate) fn instrument(emitter: &Emitter<'_>, body: &Body, locals: &mut Locals<'_>, marks: &mut Marks) {
    let module = emitter.module;
    for &inst in body.instructions.iter().flatten() {
        for (role, address, size) in touched(module, inst) {
            if size != Size::Bytes(0)
                && address.ty().is_plain_pointer()
                && marks.keeps(module, inst, role)
                && !locals.needs_no_check(address)
            {
                let site = marks.site(module, inst, role);
                emitter.builder.before(inst);
                emitter.check(role, address, size, site);
            }
        }
    }
}

type Touched = (Role, Value, Size);

/// The ranges that an instruction reads and writes without being atomic.
fn touched(module: &Module, inst: Value) -> Vec<Touched> {
    match inst.opcode() {
        Some(LLVMOpcode::LLVMLoad) if inst.order().is_none() => {
            one(Role::Read, inst.operand(0), module.access_bytes(inst.ty()))
        }
        Some(LLVMOpcode::LLVMStore) if inst.order().is_none() => {
            let bytes = inst.operand(0).and_then(|value| module.access_bytes(value.ty()));
            one(Role::Write, inst.operand(1), bytes)
        }
        Some(LLVMOpcode::LLVMVAArg) => Vec::new(),
        Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) => called(module, inst),
        _ => Vec::new(),
    }
}

fn one(role: Role, address: Option<Value>, bytes: Option<u64>) -> Vec<Touched> {
    match (address, bytes) {
        (Some(address), Some(bytes)) => vec![(role, address, Size::Bytes(bytes))],
        _ => Vec::new(),
    }
}

fn called(module: &Module, call: Value) -> Vec<Touched> {
    let name = call.direct_callee().map(Value::name).unwrap_or_default();
    let argument = |index: u32| call.operand(index);
    if let Some(intrinsic) = name.strip_prefix("llvm.") {
        let size = || match argument(2)?.int_signed() {
            Some(bytes) => Some(Size::Bytes(bytes as u64)),
            None => Some(Size::Computed(argument(2)?)),
        };
        let mut list = Vec::new();
        let kind = intrinsic.split('.').next().unwrap_or_default();
        if !matches!(kind, "memcpy" | "memmove" | "memset") {
            return list;
        }
        let Some(size) = size() else { return list };
        if kind != "memset" {
            list.extend(argument(1).map(|address| (Role::Read, address, size)));
        }
        list.extend(argument(0).map(|address| (Role::Write, address, size)));
        return list;
    }
    // The copy that the callee gets is made here.
    (0..call.argument_count())
        .filter_map(|index| {
            let ty = call.call_type_attribute(index, "byval")?;
            Some((Role::Read, argument(index)?, Size::Bytes(module.access_bytes(ty)?)))
        })
        .collect()
}
