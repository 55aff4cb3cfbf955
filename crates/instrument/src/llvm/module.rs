//! Modules: reading, declaring, running passes, emitting object code.

use std::ffi::{CStr, CString};
use std::sync::Once;

use inkwell::context::Context;
use inkwell::llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use inkwell::llvm_sys::core::{
    LLVMAddAttributeAtIndex, LLVMAddCallSiteAttribute, LLVMAddFunction, LLVMAddGlobal,
    LLVMAppendBasicBlockInContext, LLVMConstNull, LLVMCreateEnumAttribute,
    LLVMCreateMemoryBufferWithMemoryRangeCopy, LLVMDisposeMemoryBuffer, LLVMDisposeModule, LLVMFunctionType,
    LLVMGetAllocatedType, LLVMGetBufferSize, LLVMGetBufferStart, LLVMGetEnumAttributeKindForName,
    LLVMGetFirstFunction, LLVMGetFunctionCallConv, LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands,
    LLVMGetModuleFlag, LLVMGetNamedFunction, LLVMGetNamedGlobal, LLVMGetNextFunction, LLVMGetTarget,
    LLVMGlobalGetValueType, LLVMIntTypeInContext, LLVMMetadataAsValue, LLVMPointerTypeInContext,
    LLVMPrintModuleToString, LLVMRemoveEnumAttributeAtIndex, LLVMReplaceAllUsesWith, LLVMSetFunctionCallConv,
    LLVMSetInitializer, LLVMSetInstructionCallConv, LLVMSetLinkage, LLVMSetVisibility, LLVMVoidTypeInContext,
};
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::ir_reader::LLVMParseIRInContext;
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMemoryBufferRef, LLVMModuleRef};
use inkwell::llvm_sys::target::{
    LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMInitializeX86AsmParser, LLVMInitializeX86AsmPrinter,
    LLVMInitializeX86Target, LLVMInitializeX86TargetInfo, LLVMInitializeX86TargetMC, LLVMOffsetOfElement,
    LLVMStoreSizeOfType,
};
use inkwell::llvm_sys::target_machine::{
    LLVMCodeGenFileType, LLVMCodeGenOptLevel, LLVMCodeModel, LLVMCreateTargetMachine,
    LLVMDisposeTargetMachine, LLVMGetTargetFromTriple, LLVMRelocMode, LLVMTargetMachineEmitToMemoryBuffer,
    LLVMTargetMachineRef,
};
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMPassBuilderOptionsSetLoopVectorization,
    LLVMPassBuilderOptionsSetSLPVectorization, LLVMRunPasses,
};
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMVisibility};

use super::{Block, Type, Value, take_message};

pub(crate) struct Module {
    raw: LLVMModuleRef,
    context: LLVMContextRef,
}

pub(crate) struct Target {
    raw: LLVMTargetMachineRef,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptLevel {
    None,
    Less,
    Default,
    Aggressive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeModel {
    Fixed,
    PositionIndependent,
}

impl Module {
    /// Reads bitcode. The context must outlive the module.
    pub(crate) fn read(context: &Context, bytes: &[u8]) -> Result<Module, String> {
        unsafe {
            let start = bytes.as_ptr().cast();
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(start, bytes.len(), c"unit".as_ptr());
            let (mut raw, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
            if LLVMParseIRInContext(context.raw(), buffer, &mut raw, &mut message) != 0 || raw.is_null() {
                return Err(take_message(message));
            }
            Ok(Module { raw, context: context.raw() })
        }
    }

    pub(super) fn context(&self) -> LLVMContextRef {
        self.context
    }

    /// Links `other` in; its definitions take the place of declarations.
    pub(crate) fn link(&self, other: Module) -> Result<(), String> {
        let failed = unsafe { LLVMLinkModules2(self.raw, other.raw) } != 0;
        std::mem::forget(other);
        if failed { Err("modules cannot be linked".to_owned()) } else { Ok(()) }
    }

    pub(crate) fn verify(&self) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        let broken = unsafe { LLVMVerifyModule(self.raw, action, &mut message) } != 0;
        let text = unsafe { take_message(message) };
        if broken { Err(text) } else { Ok(()) }
    }

    pub(crate) fn run(&self, passes: &str, target: &Target) -> Result<(), String> {
        let passes = CString::new(passes).map_err(|error| error.to_string())?;
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
            LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
            let error = LLVMRunPasses(self.raw, passes.as_ptr(), target.raw, options);
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                return Ok(());
            }
            let message = LLVMGetErrorMessage(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(message);
            Err(text)
        }
    }

    pub(crate) fn print(&self) -> String {
        unsafe { take_message(LLVMPrintModuleToString(self.raw)) }
    }

    pub(crate) fn object(&self, target: &Target) -> Result<Vec<u8>, String> {
        unsafe {
            let (mut message, mut buffer) = (std::ptr::null_mut(), std::ptr::null_mut());
            let kind = LLVMCodeGenFileType::LLVMObjectFile;
            if LLVMTargetMachineEmitToMemoryBuffer(target.raw, self.raw, kind, &mut message, &mut buffer) != 0
            {
                return Err(take_message(message));
            }
            Ok(take_buffer(buffer))
        }
    }

    pub(crate) fn functions(&self) -> Vec<Value> {
        let mut list = Vec::new();
        unsafe {
            let mut next = LLVMGetFirstFunction(self.raw);
            while !next.is_null() {
                list.push(Value(next));
                next = LLVMGetNextFunction(next);
            }
        }
        list
    }

    pub(crate) fn function(&self, name: &str) -> Option<Value> {
        let name = CString::new(name).ok()?;
        Value::maybe(unsafe { LLVMGetNamedFunction(self.raw, name.as_ptr()) })
    }

    /// The function of this name, declared if there is none.
    pub(crate) fn declare(&self, name: &str, result: Type, parameters: &[Type]) -> Value {
        if let Some(known) = self.function(name) {
            return known;
        }
        let name = CString::new(name).unwrap_or_default();
        let mut parameters: Vec<_> = parameters.iter().map(|ty| ty.0).collect();
        unsafe {
            let ty = LLVMFunctionType(result.0, parameters.as_mut_ptr(), parameters.len() as u32, 0);
            Value(LLVMAddFunction(self.raw, name.as_ptr(), ty))
        }
    }

    /// A function of this module alone, still without a body, that everybody calls and names in place of `function` from now on.
    pub(crate) fn stand_in(&self, function: Value, name: &str) -> Value {
        let name = CString::new(name).unwrap_or_default();
        unsafe {
            let new = LLVMAddFunction(self.raw, name.as_ptr(), LLVMGlobalGetValueType(function.0));
            LLVMReplaceAllUsesWith(function.0, new);
            LLVMSetLinkage(new, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetFunctionCallConv(new, LLVMGetFunctionCallConv(function.0));
            Value(new)
        }
    }

    pub(crate) fn add_block(&self, function: Value) -> Block {
        Block(unsafe { LLVMAppendBasicBlockInContext(self.context, function.0, c"".as_ptr()) })
    }

    pub(crate) fn remove_attribute(&self, function: Value, name: &str) {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMRemoveEnumAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, kind);
        }
    }

    /// Makes functions with a body invisible outside the object.
    pub(crate) fn hide(&self, names: &[String]) {
        for function in names.iter().filter_map(|name| self.function(name)) {
            if !function.is_declaration() {
                unsafe { LLVMSetLinkage(function.0, LLVMLinkage::LLVMInternalLinkage) };
            }
        }
    }

    /// A zero variable of this module alone.
    pub(crate) fn hidden_zero(&self, name: &str, ty: Type) -> Value {
        let name = CString::new(name).unwrap_or_default();
        unsafe {
            let known = LLVMGetNamedGlobal(self.raw, name.as_ptr());
            if !known.is_null() {
                return Value(known);
            }
            let global = LLVMAddGlobal(self.raw, ty.0, name.as_ptr());
            LLVMSetInitializer(global, LLVMConstNull(ty.0));
            LLVMSetVisibility(global, LLVMVisibility::LLVMHiddenVisibility);
            Value(global)
        }
    }

    pub(crate) fn void(&self) -> Type {
        Type(unsafe { LLVMVoidTypeInContext(self.context) })
    }

    pub(crate) fn int(&self, bits: u32) -> Type {
        Type(unsafe { LLVMIntTypeInContext(self.context, bits) })
    }

    pub(crate) fn pointer(&self) -> Type {
        Type(unsafe { LLVMPointerTypeInContext(self.context, 0) })
    }

    /// Adds an attribute to a function or (from 0) one of its parameters.
    pub(crate) fn set_attribute(&self, function: Value, parameter: Option<u32>, name: &str, value: u64) {
        let index = parameter.map_or(LLVMAttributeFunctionIndex, |parameter| parameter + 1);
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMCreateEnumAttribute(self.context, kind, value);
            LLVMAddAttributeAtIndex(function.0, index, attribute);
        }
    }

    /// Adds an attribute to a call itself.
    pub(crate) fn set_call_attribute(&self, call: Value, name: &str) {
        if !call.is_call() {
            return;
        }
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMCreateEnumAttribute(self.context, kind, 0);
            LLVMAddCallSiteAttribute(call.0, LLVMAttributeFunctionIndex, attribute);
        }
    }

    /// Calls of these functions keep nearly all registers as they are. Every call of them is direct.
    pub(crate) fn preserve_registers(&self, names: &[String]) {
        // The number of `preserve_mostcc`.
        const PRESERVE_MOST: u32 = 14;
        for function in names.iter().filter_map(|name| self.function(name)) {
            unsafe { LLVMSetFunctionCallConv(function.0, PRESERVE_MOST) };
            for call in function.users() {
                if call.direct_callee() == Some(function) {
                    unsafe { LLVMSetInstructionCallConv(call.0, PRESERVE_MOST) };
                }
            }
        }
    }

    /// Bytes from one element of an array of this type to the next.
    pub(crate) fn stride(&self, ty: Type) -> Option<u64> {
        ty.is_sized().then(|| unsafe { LLVMABISizeOfType(LLVMGetModuleDataLayout(self.raw), ty.0) })
    }

    /// Bytes that a load or store of this type touches.
    /// The size of a local, unless the program computes it.
    pub(crate) fn local_bytes(&self, inst: Value) -> Option<u64> {
        let is_one = inst.is(LLVMOpcode::LLVMAlloca)
            && inst.operand(0).and_then(Value::int_signed).is_some_and(|count| count == 1);
        is_one.then(|| self.stride(Type(unsafe { LLVMGetAllocatedType(inst.0) })))?
    }

    pub(crate) fn access_bytes(&self, ty: Type) -> Option<u64> {
        ty.is_sized().then(|| unsafe { LLVMStoreSizeOfType(LLVMGetModuleDataLayout(self.raw), ty.0) })
    }

    pub(crate) fn field_offset(&self, ty: Type, index: u32) -> Option<u64> {
        (ty.is_sized() && ty.field(index).is_some())
            .then(|| unsafe { LLVMOffsetOfElement(LLVMGetModuleDataLayout(self.raw), ty.0, index) })
    }

    /// A module flag with an integer value (`PIC Level`).
    pub(crate) fn flag(&self, name: &str) -> Option<i64> {
        unsafe {
            let node = LLVMGetModuleFlag(self.raw, name.as_ptr().cast(), name.len());
            if node.is_null() {
                return None;
            }
            let value = LLVMMetadataAsValue(self.context, node);
            // An integer as metadata is a node of one operand here.
            let mut operand = std::ptr::null_mut();
            if LLVMGetMDNodeNumOperands(value) == 1 {
                LLVMGetMDNodeOperands(value, &mut operand);
            }
            Value::maybe(operand)?.int_signed()
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        unsafe { LLVMDisposeModule(self.raw) };
    }
}

impl Target {
    pub(crate) fn new(module: &Module, level: OptLevel, model: CodeModel) -> Result<Target, String> {
        static START: Once = Once::new();
        START.call_once(|| unsafe {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
            LLVMInitializeX86AsmParser();
        });
        let level = match level {
            OptLevel::None => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
            OptLevel::Less => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            OptLevel::Default => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            OptLevel::Aggressive => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
        };
        let reloc = match model {
            CodeModel::Fixed => LLVMRelocMode::LLVMRelocStatic,
            CodeModel::PositionIndependent => LLVMRelocMode::LLVMRelocPIC,
        };
        unsafe {
            let triple = LLVMGetTarget(module.raw);
            let (mut target, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
            if LLVMGetTargetFromTriple(triple, &mut target, &mut message) != 0 {
                return Err(take_message(message));
            }
            let code = LLVMCodeModel::LLVMCodeModelDefault;
            // Functions say in attributes which processor they are for.
            let cpu = c"x86-64".as_ptr();
            let raw = LLVMCreateTargetMachine(target, triple, cpu, c"".as_ptr(), level, reloc, code);
            if raw.is_null() { Err("no code generator for x86-64".to_owned()) } else { Ok(Target { raw }) }
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        unsafe { LLVMDisposeTargetMachine(self.raw) };
    }
}

unsafe fn take_buffer(buffer: LLVMMemoryBufferRef) -> Vec<u8> {
    unsafe {
        let start = LLVMGetBufferStart(buffer).cast::<u8>();
        let bytes = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer)).to_vec();
        LLVMDisposeMemoryBuffer(buffer);
        bytes
    }
}
