//! Errors that LLVM tells its context and nobody else: bad inline assembly, modules that do not fit.
//!
//! Without a handler LLVM prints them and ends the process.

use std::ffi::c_void;

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;

use super::take_message;

/// Collects the errors of a context, as long as it lives.
pub(crate) struct Problems<'c> {
    context: &'c Context,
    messages: *mut Vec<String>,
}

impl<'c> Problems<'c> {
    pub(crate) fn of(context: &'c Context) -> Self {
        let messages = Box::into_raw(Box::<Vec<String>>::default());
        unsafe { LLVMContextSetDiagnosticHandler(context.raw(), Some(collect), messages.cast()) };
        Self { context, messages }
    }

    /// An error if there was one.
    pub(crate) fn none(&self) -> Result<(), String> {
        // Only `collect` writes, and it runs only inside LLVM.
        let messages = unsafe { &*self.messages };
        if messages.is_empty() { Ok(()) } else { Err(messages.join("\n")) }
    }
}

impl Drop for Problems<'_> {
    fn drop(&mut self) {
        unsafe {
            LLVMContextSetDiagnosticHandler(self.context.raw(), None, std::ptr::null_mut());
            drop(Box::from_raw(self.messages));
        }
    }
}

extern "C" fn collect(info: LLVMDiagnosticInfoRef, messages: *mut c_void) {
    unsafe {
        if matches!(LLVMGetDiagInfoSeverity(info), LLVMDiagnosticSeverity::LLVMDSError) {
            let messages = &mut *messages.cast::<Vec<String>>();
            messages.push(take_message(LLVMGetDiagInfoDescription(info)));
        }
    }
}
