//! The plain accesses of a function and the checks they ask for: loads, stores, copies, and what calls copy by value.

use std::collections::HashMap;

use inkwell::llvm_sys::LLVMOpcode;
use raddle_runtime::sites::Reads;

use crate::body::Body;
use crate::checks::Size;
use crate::deciding;
use crate::emit::Emitter;
use crate::llvm::{Module, Type, Value};
use crate::locals::Locals;
use crate::marks::{Marks, Role};
use crate::merged::Merged;
use crate::undefined;

/// Writes a check before every access of a function that others may see.
pub(crate) fn instrument(
    emitter: &Emitter<'_>,
    body: &Body,
    (locals, merged): (&mut Locals<'_>, &Merged),
    marks: &mut Marks,
) {
    // Before the first check is there: checks are users of addresses.
    let uses: HashMap<Value, Reads> = body
        .instructions
        .iter()
        .flatten()
        .filter(|inst| inst.is(LLVMOpcode::LLVMLoad) && inst.order().is_none())
        .map(|load| (*load, deciding::reads(emitter.module, *load, locals, marks)))
        .collect();
    let module = emitter.module;
    let clears = undefined::clears(module);
    for &inst in body.instructions.iter().flatten().filter(|inst| !clears(**inst)) {
        for Touched { role, address, offset, size } in touched(module, inst) {
            if size != Size::Bytes(0)
                && address.ty().is_plain_pointer()
                && marks.keeps(module, inst, role)
                && !locals.needs_no_check(address)
            {
                let site = marks.site(module, inst, role);
                match role {
                    Role::Read => {
                        let own = uses.get(&inst).copied().unwrap_or(of_call(inst));
                        marks.reads(site, own.max(merged.reads(address)));
                    }
                    Role::Write | Role::Call => {}
                }
                emitter.builder.before(inst);
                let address = emitter.builder.add_bytes(address, offset);
                emitter.check(role, address, size, site);
            }
        }
    }
}

/// What becomes of what a call reads: a copy goes into memory, an argument to a function.
fn of_call(call: Value) -> Reads {
    let copies = call.direct_callee().is_some_and(|callee| callee.name().starts_with("llvm."));
    if copies { Reads::Passes } else { Reads::Decides }
}

struct Touched {
    role: Role,
    address: Value,
    /// Bytes from the address on.
    offset: u64,
    size: Size,
}

/// The ranges that an instruction reads and writes without being atomic.
fn touched(module: &Module, inst: Value) -> Vec<Touched> {
    match inst.opcode() {
        Some(LLVMOpcode::LLVMLoad) if inst.order().is_none() => {
            value_at(module, Role::Read, inst.operand(0), Some(inst.ty()))
        }
        Some(LLVMOpcode::LLVMStore) if inst.order().is_none() => {
            value_at(module, Role::Write, inst.operand(1), inst.operand(0).map(Value::ty))
        }
        Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) => called(module, inst),
        _ => Vec::new(),
    }
}

/// A value in memory; one of several pieces without the padding between them, which may be somebody else's.
fn value_at(module: &Module, role: Role, address: Option<Value>, ty: Option<Type>) -> Vec<Touched> {
    let (Some(address), Some(ty)) = (address, ty) else { return Vec::new() };
    let mut pieces = Vec::new();
    add_pieces(module, ty, 0, &mut pieces);
    pieces
        .into_iter()
        .map(|(offset, bytes)| Touched { role, address, offset, size: Size::Bytes(bytes) })
        .collect()
}

fn add_pieces(module: &Module, ty: Type, at: u64, pieces: &mut Vec<(u64, u64)>) {
    if ty.is_struct() {
        for index in 0..ty.field_count() {
            if let (Some(offset), Some(field)) = (module.field_offset(ty, index), ty.field(index)) {
                add_pieces(module, field, at + offset, pieces);
            }
        }
    } else if let Some((element, length)) = ty.array() {
        let stride = module.stride(element).unwrap_or(0);
        (0..length).for_each(|index| add_pieces(module, element, at + index * stride, pieces));
    } else if let Some(bytes) = module.access_bytes(ty) {
        match pieces.last_mut() {
            Some((first, length)) if *first + *length == at => *length += bytes,
            _ => pieces.push((at, bytes)),
        }
    }
}

fn called(module: &Module, call: Value) -> Vec<Touched> {
    let range = |role: Role, address: u32, size: Size| {
        call.operand(address).map(|address| Touched { role, address, offset: 0, size })
    };
    let name = call.direct_callee().map(Value::name).unwrap_or_default();
    if let Some(intrinsic) = name.strip_prefix("llvm.") {
        let kind = intrinsic.split('.').next().unwrap_or_default();
        let (true, Some(length)) = (matches!(kind, "memcpy" | "memmove" | "memset"), call.operand(2)) else {
            return Vec::new();
        };
        let size = length.int_signed().map_or(Size::Computed(length), |bytes| Size::Bytes(bytes as u64));
        let source = if kind == "memset" { None } else { range(Role::Read, 1, size) };
        return source.into_iter().chain(range(Role::Write, 0, size)).collect();
    }
    // The copy that the callee gets is made here.
    (0..call.argument_count())
        .filter_map(|index| {
            let ty = call.call_type_attribute(index, "byval")?;
            range(Role::Read, index, Size::Bytes(module.access_bytes(ty)?))
        })
        .collect()
}
