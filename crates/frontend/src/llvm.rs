//! The only unsafe code of the crate: LLVM's C API as `Copy` handles with total functions.
//!
//! Handles live as long as the [`Module`] they come from (its lifetime is theirs). LLVM's accessors crash when asked for what a
//! value is not (a callee of a load); every method here checks the kind first and answers `Option` or a neutral value instead.
//! inkwell supplies the context; its own value wrappers are not used because they panic on metadata operands and do not know
//! aliases, inline asm, or inlined locations.

mod constant;
mod instruction;
mod metadata;
mod module;
mod types;
mod unassigned;
mod value;

pub(crate) use constant::ConstKind;
pub(crate) use instruction::Ordering;
pub(crate) use metadata::{Meta, MetaKind};
pub(crate) use module::{Layout, Module, new_context};
pub(crate) use types::{Type, TypeKind};
pub(crate) use value::{Block, Value, ValueKind};

use std::ffi::{CStr, c_char};

use inkwell::llvm_sys::core::LLVMDisposeMessage;

/// Copies and frees a message that LLVM allocated.
///
/// # Safety
/// `message` is null or a string from LLVM that nobody else frees.
unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    unsafe { LLVMDisposeMessage(message) };
    text
}

/// Copies a string that LLVM keeps.
///
/// # Safety
/// `start` is null or points to `length` readable bytes.
unsafe fn copy_bytes(start: *const c_char, length: usize) -> String {
    if start.is_null() || length == 0 {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}
