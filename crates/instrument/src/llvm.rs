//! The unsafe code of the crate: LLVM's C API as `Copy` handles, for reading and for writing.
//!
//! A handle is valid as long as the [`Module`] it comes from and the instruction behind it has not been erased; no handle of an
//! instruction is kept across a run of passes. LLVM's accessors crash when asked for what a value is not: methods here check the kind first.

mod build;
mod module;
mod place;
mod problems;
mod value;

pub(crate) use build::Builder;
pub(crate) use module::{CodeModel, Module, OptLevel, Target};
pub(crate) use place::{Location, Scope};
pub(crate) use problems::Problems;
pub(crate) use value::{Block, Type, Value};

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
