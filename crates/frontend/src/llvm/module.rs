//! Modules: reading, linking, promoting locals to registers, and the data layout.

use std::ffi::{CStr, CString, c_void};
use std::path::Path;
use std::sync::Once;

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use inkwell::llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use inkwell::llvm_sys::core::{
    LLVMConstInt, LLVMContextSetDiagnosticHandler, LLVMCreateMemoryBufferWithMemoryRangeCopy,
    LLVMDisposeMemoryBuffer, LLVMDisposeModule, LLVMGetBufferSize, LLVMGetBufferStart, LLVMGetDataLayoutStr,
    LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity, LLVMGetFirstFunction, LLVMGetFirstGlobal,
    LLVMGetMDKindIDInContext, LLVMGetModuleContext, LLVMGetModuleInlineAsm, LLVMGetNamedFunction,
    LLVMGetNextFunction, LLVMGetNextGlobal, LLVMGetTarget, LLVMInt32TypeInContext, LLVMMDNodeInContext2,
    LLVMMetadataAsValue, LLVMSetDataLayout, LLVMSetIsNewDbgInfoFormat, LLVMSetMetadata, LLVMSetTarget,
    LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::ir_reader::LLVMParseIRInContext;
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMDiagnosticInfoRef, LLVMMemoryBufferRef, LLVMModuleRef};
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use inkwell::llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMByteOrder, LLVMByteOrdering, LLVMGetModuleDataLayout,
    LLVMOffsetOfElement, LLVMPointerSize, LLVMSizeOfTypeInBits, LLVMTargetDataRef,
};
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses,
};
use inkwell::memory_buffer::MemoryBuffer;

use super::unassigned::Unassigned;
use super::{Type, TypeKind, Value, copy_bytes, take_message};

pub(crate) struct Module<'c> {
    raw: LLVMModuleRef,
    context: &'c Context,
}

/// A symbol that other modules can see.
pub(crate) struct ExternalSymbol {
    pub(crate) name: String,
    pub(crate) is_definition: bool,
}

/// Sizes and offsets by the module's data layout.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'m> {
    raw: LLVMTargetDataRef,
    marker: std::marker::PhantomData<&'m ()>,
}

/// LLVM's own handler ends the process on an error; this one keeps the messages for [`Module::link`].
pub(crate) fn new_context() -> Context {
    let context = Context::create();
    unsafe { LLVMContextSetDiagnosticHandler(context.raw(), Some(ignore), std::ptr::null_mut()) };
    context
}

impl<'c> Module<'c> {
    /// Reads bitcode or textual IR. Neither code nor debug information is verified.
    pub(crate) fn read(context: &'c Context, path: &Path) -> Result<Self, String> {
        do_not_verify_twice();
        let buffer = MemoryBuffer::create_from_file(path).map_err(|error| error.to_string())?;
        let raw = buffer.as_mut_ptr();
        // The reader takes the buffer.
        std::mem::forget(buffer);
        unsafe { Self::parse(context, raw) }
    }

    /// Reads bitcode or textual IR from memory, like [`Module::read`].
    pub(crate) fn read_bytes(context: &'c Context, bytes: &[u8]) -> Result<Self, String> {
        do_not_verify_twice();
        unsafe {
            let start = bytes.as_ptr().cast();
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(start, bytes.len(), c"unit".as_ptr());
            Self::parse(context, buffer)
        }
    }

    /// # Safety
    /// `buffer` is a buffer that nobody else frees.
    unsafe fn parse(context: &'c Context, buffer: LLVMMemoryBufferRef) -> Result<Self, String> {
        let (mut raw, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        let failed = unsafe { LLVMParseIRInContext(context.raw(), buffer, &mut raw, &mut message) };
        if failed != 0 || raw.is_null() {
            return Err(unsafe { take_message(message) });
        }
        Ok(Self { raw, context })
    }

    /// The module as bitcode.
    pub(crate) fn write(&self) -> Vec<u8> {
        unsafe {
            let buffer = LLVMWriteBitcodeToMemoryBuffer(self.raw);
            let start = LLVMGetBufferStart(buffer).cast::<u8>();
            let bytes = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer)).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            bytes
        }
    }

    /// Attaches a number to instructions, as metadata of a kind of its own.
    pub(crate) fn attach(&self, kind: &str, numbers: &[(Value<'_>, u32)]) {
        unsafe {
            let context = self.context.raw();
            let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
            let ty = LLVMInt32TypeInContext(context);
            for (inst, number) in numbers {
                let mut number = LLVMValueAsMetadata(LLVMConstInt(ty, u64::from(*number), 0));
                let node = LLVMMDNodeInContext2(context, &mut number, 1);
                LLVMSetMetadata(inst.raw, kind, LLVMMetadataAsValue(context, node));
            }
        }
    }

    /// The context takes the module apart when it is dropped.
    pub(crate) fn leave_to_context(self) {
        std::mem::forget(self);
    }

    /// Whether the module is well formed: what was read from a damaged file may not be.
    pub(crate) fn verify(&self) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        let broken = unsafe { LLVMVerifyModule(self.raw, action, &mut message) } != 0;
        let text = unsafe { take_message(message) };
        if broken { Err(text) } else { Ok(()) }
    }

    /// Without debug information, as LLVM does when it is broken.
    pub(crate) fn strip(&mut self) {
        unsafe { LLVMStripModuleDebugInfo(self.raw) };
    }

    /// Links `other` into this module. After an error this module is not to be used.
    pub(crate) fn link(&mut self, other: Module<'c>) -> Result<(), String> {
        let mut messages: Vec<String> = Vec::new();
        let sink = (&raw mut messages).cast::<c_void>();
        let failed = unsafe {
            LLVMContextSetDiagnosticHandler(self.context.raw(), Some(collect), sink);
            let failed = LLVMLinkModules2(self.raw, other.raw);
            LLVMContextSetDiagnosticHandler(self.context.raw(), Some(ignore), std::ptr::null_mut());
            failed
        };
        // The linker has taken the other module.
        std::mem::forget(other);
        if failed == 0 { Ok(()) } else { Err(messages.join("\n")) }
    }

    /// Locals whose address is not taken become registers, and debug records become readable calls.
    pub(crate) fn promote_locals(&mut self) -> Result<(), String> {
        unsafe {
            let unassigned = Unassigned::mark(self.raw);
            let options = LLVMCreatePassBuilderOptions();
            let error = LLVMRunPasses(self.raw, c"function(mem2reg)".as_ptr(), std::ptr::null_mut(), options);
            LLVMDisposePassBuilderOptions(options);
            unassigned.unmark();
            if !error.is_null() {
                let message = LLVMGetErrorMessage(error);
                let text = CStr::from_ptr(message).to_string_lossy().into_owned();
                LLVMDisposeErrorMessage(message);
                return Err(text);
            }
            LLVMSetIsNewDbgInfoFormat(self.raw, 0);
        }
        Ok(())
    }

    pub(crate) fn triple(&self) -> String {
        unsafe { CStr::from_ptr(LLVMGetTarget(self.raw)) }.to_string_lossy().into_owned()
    }

    pub(crate) fn layout_text(&self) -> String {
        unsafe { CStr::from_ptr(LLVMGetDataLayoutStr(self.raw)) }.to_string_lossy().into_owned()
    }

    pub(crate) fn set_target(&mut self, triple: &str, layout: &str) {
        let (Ok(triple), Ok(layout)) = (CString::new(triple), CString::new(layout)) else { return };
        unsafe {
            LLVMSetTarget(self.raw, triple.as_ptr());
            LLVMSetDataLayout(self.raw, layout.as_ptr());
        }
    }

    pub(crate) fn symbols(&self) -> impl Iterator<Item = ExternalSymbol> {
        let all = self.functions().chain(self.globals());
        all.filter(|value| !value.is_local()).map(|value| ExternalSymbol {
            name: value.name(),
            is_definition: !value.is_declaration() && !value.is_inline_definition(),
        })
    }

    pub(crate) fn function(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        Value::maybe(unsafe { LLVMGetNamedFunction(self.raw, name.as_ptr()) })
    }

    /// Assembly outside of functions.
    pub(crate) fn assembly(&self) -> String {
        let mut length = 0;
        unsafe { copy_bytes(LLVMGetModuleInlineAsm(self.raw, &mut length), length) }
    }

    pub(crate) fn layout(&self) -> Layout<'_> {
        Layout { raw: unsafe { LLVMGetModuleDataLayout(self.raw) }, marker: std::marker::PhantomData }
    }

    pub(crate) fn context(&self) -> LLVMContextRef {
        unsafe { LLVMGetModuleContext(self.raw) }
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = Value<'_>> {
        let mut next = unsafe { LLVMGetFirstFunction(self.raw) };
        std::iter::from_fn(move || {
            let current = Value::maybe(next)?;
            next = unsafe { LLVMGetNextFunction(next) };
            Some(current)
        })
    }

    pub(crate) fn globals(&self) -> impl Iterator<Item = Value<'_>> {
        let mut next = unsafe { LLVMGetFirstGlobal(self.raw) };
        std::iter::from_fn(move || {
            let current = Value::maybe(next)?;
            next = unsafe { LLVMGetNextGlobal(next) };
            Some(current)
        })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        unsafe { LLVMDisposeModule(self.raw) };
    }
}

impl<'m> Layout<'m> {
    pub(crate) fn pointer_bytes(self) -> u32 {
        unsafe { LLVMPointerSize(self.raw) }
    }

    pub(crate) fn is_little_endian(self) -> bool {
        matches!(unsafe { LLVMByteOrder(self.raw) }, LLVMByteOrdering::LLVMLittleEndian)
    }

    /// Bytes from one array element to the next; 0 for types without a size.
    pub(crate) fn size(self, ty: Type<'m>) -> u64 {
        if ty.is_sized() { unsafe { LLVMABISizeOfType(self.raw, ty.raw) } } else { 0 }
    }

    pub(crate) fn bits(self, ty: Type<'m>) -> u64 {
        if ty.is_sized() { unsafe { LLVMSizeOfTypeInBits(self.raw, ty.raw) } } else { 0 }
    }

    pub(crate) fn alignment(self, ty: Type<'m>) -> u32 {
        if ty.is_sized() { unsafe { LLVMABIAlignmentOfType(self.raw, ty.raw) } } else { 1 }
    }

    /// The byte offset of a struct's field.
    pub(crate) fn field_offset(self, ty: Type<'m>, index: u32) -> Option<u64> {
        let known = ty.kind() == TypeKind::Struct && ty.is_sized() && ty.field(index).is_some();
        known.then(|| unsafe { LLVMOffsetOfElement(self.raw, ty.raw, index) })
    }
}

/// The reader verifies every module to find out whether to drop its debug information, unless it is told not to, once for the process.
fn do_not_verify_twice() {
    static TOLD: Once = Once::new();
    let arguments = [c"raddle".as_ptr(), c"-disable-auto-upgrade-debug-info".as_ptr()];
    TOLD.call_once(|| unsafe { LLVMParseCommandLineOptions(2, arguments.as_ptr(), c"".as_ptr()) });
}

extern "C" fn ignore(_: LLVMDiagnosticInfoRef, _: *mut c_void) {}

extern "C" fn collect(info: LLVMDiagnosticInfoRef, sink: *mut c_void) {
    unsafe {
        if matches!(LLVMGetDiagInfoSeverity(info), LLVMDiagnosticSeverity::LLVMDSError) {
            let messages = &mut *sink.cast::<Vec<String>>();
            messages.push(take_message(LLVMGetDiagInfoDescription(info)));
        }
    }
}
