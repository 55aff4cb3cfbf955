//! Which bits of a loaded or stored unit the program means, from the masks and shifts that clang writes around bit-fields.

use inkwell::llvm_sys::LLVMOpcode;

use crate::llvm::{TypeKind, Value};

/// First bit and width that a load is used for; `None` where it is used whole or in ways that do not tell.
pub(super) fn bits_read(load: Value<'_>) -> Option<(u32, u32)> {
    let width = int_width(load)?;
    let mut users = load.users();
    let user = users.next()?;
    if users.next().is_some() {
        return None;
    }
    let amount = || constant(user, 1);
    match user.opcode()? {
        LLVMOpcode::LLVMAnd => {
            let mask = amount()?;
            let clears = user.users().all(|next| next.opcode() == Some(LLVMOpcode::LLVMOr));
            if clears { run(!mask & ones(width)) } else { run(mask) }
        }
        LLVMOpcode::LLVMLShr => {
            let low = amount()? as u32;
            let mask = only_user(user).filter(|next| next.opcode() == Some(LLVMOpcode::LLVMAnd));
            match mask.and_then(|next| constant(next, 1)).and_then(run) {
                Some((0, bits)) => Some((low, bits)),
                _ => Some((low, width.checked_sub(low)?)),
            }
        }
        LLVMOpcode::LLVMAShr => {
            let low = amount()? as u32;
            Some((low, width.checked_sub(low)?))
        }
        LLVMOpcode::LLVMShl => {
            let up = amount()? as u32;
            let next = only_user(user).filter(|next| next.opcode() == Some(LLVMOpcode::LLVMAShr))?;
            let down = constant(next, 1)? as u32;
            Some((down.checked_sub(up)?, width.checked_sub(down)?))
        }
        _ => None,
    }
}

/// First bit and width that a store changes: `(old & ~mask) | bits`.
pub(super) fn bits_written(value: Value<'_>) -> Option<(u32, u32)> {
    let width = int_width(value)?;
    if value.opcode()? != LLVMOpcode::LLVMOr {
        return None;
    }
    let kept = value.operand(0).filter(|kept| kept.opcode() == Some(LLVMOpcode::LLVMAnd))?;
    if kept.operand(0)?.opcode()? != LLVMOpcode::LLVMLoad {
        return None;
    }
    run(!constant(kept, 1)? & ones(width))
}

fn int_width(value: Value<'_>) -> Option<u32> {
    match value.ty().kind() {
        TypeKind::Integer(width @ 1..=128) => Some(width),
        _ => None,
    }
}

fn only_user(value: Value<'_>) -> Option<Value<'_>> {
    let mut users = value.users();
    let first = users.next()?;
    users.next().is_none().then_some(first)
}

fn constant(inst: Value<'_>, index: u32) -> Option<u128> {
    inst.operand(index)?.int_bits()
}

fn ones(width: u32) -> u128 {
    super::types::mask(width)
}

/// Start and length of the one run of set bits.
fn run(mask: u128) -> Option<(u32, u32)> {
    if mask == 0 {
        return None;
    }
    let low = mask.trailing_zeros();
    let length = (mask >> low).trailing_ones();
    ((mask >> low) == ones(length)).then_some((low, length))
}
