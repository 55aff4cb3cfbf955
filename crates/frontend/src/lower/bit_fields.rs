//! Which bits of a storage unit an access to a bit-field is about.
//!
//! The compiler reads and writes the whole unit: a read shifts and masks what it loaded, a write masks the old bits out and puts the
//! new ones in. The mask tells the field that the programmer wrote; the access itself stays the whole unit.

use inkwell::llvm_sys::LLVMOpcode;

use super::types::mask;
use crate::llvm::{TypeKind, Value};

/// First bit and width within the unit.
pub(super) type Bits = (u32, u32);

/// For a loaded unit: from what is done with it.
pub(super) fn of_load(load: Value<'_>) -> Option<Bits> {
    let TypeKind::Integer(unit) = load.ty().kind() else { return None };
    let user = load.users().find(|user| user.opcode().is_some() && !is_debug(*user))?;
    match user.opcode()? {
        LLVMOpcode::LLVMAnd if goes_back(user) => cleared(user, unit),
        LLVMOpcode::LLVMAnd => ones(user.operand(1)?.int_bits()?),
        LLVMOpcode::LLVMShl => {
            let left = user.operand(1)?.int_bits()? as u32;
            let right = user.users().find_map(|next| match next.opcode() {
                Some(LLVMOpcode::LLVMAShr | LLVMOpcode::LLVMLShr) => next.operand(1)?.int_bits(),
                _ => None,
            })?;
            let width = unit.checked_sub(right as u32)?;
            Some((unit.checked_sub(left + width)?, width))
        }
        LLVMOpcode::LLVMAShr | LLVMOpcode::LLVMLShr => {
            let first = user.operand(1)?.int_bits()? as u32;
            let masked = user.users().find_map(|next| match next.opcode() {
                Some(LLVMOpcode::LLVMAnd) => ones(next.operand(1)?.int_bits()?),
                _ => None,
            });
            Some((first, masked.map_or(unit.checked_sub(first)?, |(_, width)| width)))
        }
        _ => None,
    }
}

/// For a stored unit: from the mask that made room.
pub(super) fn of_store(value: Value<'_>) -> Option<Bits> {
    let TypeKind::Integer(unit) = value.ty().kind() else { return None };
    match value.opcode()? {
        LLVMOpcode::LLVMAnd => cleared(value, unit),
        LLVMOpcode::LLVMOr => [0, 1].into_iter().find_map(|index| {
            let part = value.operand(index)?;
            (part.opcode() == Some(LLVMOpcode::LLVMAnd)).then(|| cleared(part, unit)).flatten()
        }),
        _ => None,
    }
}

/// Whether the masked value is stored again, with or without new bits.
fn goes_back(masked: Value<'_>) -> bool {
    masked.users().any(|user| matches!(user.opcode(), Some(LLVMOpcode::LLVMOr | LLVMOpcode::LLVMStore)))
}

fn cleared(masked: Value<'_>, unit: u32) -> Option<Bits> {
    ones(!masked.operand(1)?.int_bits()? & mask(unit))
}

/// A run of ones without gaps.
fn ones(bits: u128) -> Option<Bits> {
    if bits == 0 {
        return None;
    }
    let (first, count) = (bits.trailing_zeros(), bits.count_ones());
    (bits >> first == mask(count)).then_some((first, count))
}

fn is_debug(user: Value<'_>) -> bool {
    user.called_value().is_some_and(|callee| callee.name().starts_with("llvm.dbg."))
}
