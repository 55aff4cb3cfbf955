//! Writing instructions.

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::{
    LLVMAddIncoming, LLVMBuildAdd, LLVMBuildCall2, LLVMBuildExtractValue, LLVMBuildGEP2, LLVMBuildIntCast2,
    LLVMBuildLoad2, LLVMBuildMemSet, LLVMBuildMul, LLVMBuildPhi, LLVMBuildRet, LLVMBuildRetVoid,
    LLVMBuildZExtOrBitCast, LLVMConstInt, LLVMConstNull, LLVMCreateBuilderInContext, LLVMDisposeBuilder,
    LLVMGetBasicBlockParent, LLVMGetFirstInstruction, LLVMGlobalGetValueType, LLVMInsertIntoBuilder,
    LLVMInstructionClone, LLVMInt8TypeInContext, LLVMInt32TypeInContext, LLVMInt64TypeInContext,
    LLVMPositionBuilderAtEnd, LLVMPositionBuilderBefore, LLVMPositionBuilderBeforeInstrAndDbgRecords,
    LLVMSetCurrentDebugLocation2, LLVMSetIsInBounds, LLVMSetNNeg, LLVMSetNSW, LLVMSetNUW, LLVMSetOperand,
};
use inkwell::llvm_sys::debuginfo::LLVMDIBuilderCreateDebugLocation;
use inkwell::llvm_sys::prelude::LLVMBuilderRef;

use super::{Block, Location, Module, Type, Value};

pub(crate) struct Builder<'a> {
    raw: LLVMBuilderRef,
    module: &'a Module,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(module: &'a Module) -> Self {
        Self { raw: unsafe { LLVMCreateBuilderInContext(module.context()) }, module }
    }

    /// Writes from here on before an instruction, in its source place (or, if it has none, in no line of the function).
    pub(crate) fn before(&self, inst: Value) {
        unsafe { LLVMPositionBuilderBefore(self.raw, inst.0) };
        self.locate(inst, inst.location());
    }

    /// Like [`Builder::before`], in another source place of the same function.
    pub(crate) fn before_at(&self, inst: Value, location: Option<Location>) {
        unsafe { LLVMPositionBuilderBefore(self.raw, inst.0) };
        self.locate(inst, location);
    }

    fn locate(&self, inst: Value, location: Option<Location>) {
        let Some(block) = inst.block() else { return };
        unsafe {
            let function = LLVMGetBasicBlockParent(block.0);
            let subprogram = Value(function).subprogram();
            let location = match (location, subprogram) {
                (_, None) => std::ptr::null_mut(),
                (Some(location), Some(_)) => location.0,
                (None, Some(scope)) => LLVMDIBuilderCreateDebugLocation(
                    self.module.context(),
                    0,
                    0,
                    scope.0,
                    std::ptr::null_mut(),
                ),
            };
            LLVMSetCurrentDebugLocation2(self.raw, location);
        }
    }

    /// Writes from here on at the end of a block, in no source place.
    pub(crate) fn at_end(&self, block: Block) {
        unsafe {
            LLVMPositionBuilderAtEnd(self.raw, block.0);
            LLVMSetCurrentDebugLocation2(self.raw, std::ptr::null_mut());
        }
    }

    /// Returns the result of a call, or nothing if it has none.
    pub(crate) fn ret(&self, result: Value) {
        unsafe {
            match result.ty().is_void() {
                true => LLVMBuildRetVoid(self.raw),
                false => LLVMBuildRet(self.raw, result.0),
            }
        };
    }

    pub(crate) fn call(&self, function: Value, arguments: &[Value]) -> Value {
        unsafe {
            let ty = LLVMGlobalGetValueType(function.0);
            let mut raw: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
            Value(LLVMBuildCall2(self.raw, ty, function.0, raw.as_mut_ptr(), raw.len() as u32, c"".as_ptr()))
        }
    }

    pub(crate) fn int32(&self, value: u32) -> Value {
        unsafe { Value(LLVMConstInt(LLVMInt32TypeInContext(self.module.context()), u64::from(value), 0)) }
    }

    pub(crate) fn int64(&self, value: i64) -> Value {
        unsafe { Value(LLVMConstInt(LLVMInt64TypeInContext(self.module.context()), value as u64, 1)) }
    }

    pub(crate) fn null(&self) -> Value {
        unsafe { Value(LLVMConstNull(self.module.pointer().0)) }
    }

    pub(crate) fn add(&self, a: Value, b: Value) -> Value {
        unsafe { Value(LLVMBuildAdd(self.raw, a.0, b.0, c"".as_ptr())) }
    }

    pub(crate) fn multiply(&self, a: Value, b: Value) -> Value {
        unsafe { Value(LLVMBuildMul(self.raw, a.0, b.0, c"".as_ptr())) }
    }

    pub(crate) fn zero_extend(&self, value: Value, ty: Type) -> Value {
        unsafe { Value(LLVMBuildZExtOrBitCast(self.raw, value.0, ty.0, c"".as_ptr())) }
    }

    /// To an integer of a width, with the sign.
    pub(crate) fn sign_cast(&self, value: Value, ty: Type) -> Value {
        unsafe { Value(LLVMBuildIntCast2(self.raw, value.0, ty.0, 1, c"".as_ptr())) }
    }

    pub(crate) fn extract(&self, aggregate: Value, index: u32) -> Value {
        unsafe { Value(LLVMBuildExtractValue(self.raw, aggregate.0, index, c"".as_ptr())) }
    }

    /// A copy of a pure instruction with other operands, without what it promises about overflow.
    pub(crate) fn copy_with(&self, inst: Value, operands: &[Value]) -> Value {
        unsafe {
            let copy = LLVMInstructionClone(inst.0);
            for (index, operand) in operands.iter().enumerate() {
                LLVMSetOperand(copy, index as u32, operand.0);
            }
            LLVMInsertIntoBuilder(self.raw, copy);
            match inst.opcode() {
                Some(
                    LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMMul | LLVMOpcode::LLVMShl,
                ) => {
                    LLVMSetNSW(copy, 0);
                    LLVMSetNUW(copy, 0);
                }
                Some(LLVMOpcode::LLVMZExt) => LLVMSetNNeg(copy, 0),
                Some(LLVMOpcode::LLVMGetElementPtr) => LLVMSetIsInBounds(copy, 0),
                _ => {}
            }
            Value(copy)
        }
    }

    pub(crate) fn add_incoming(&self, phi: Value, block: Block, value: Value) {
        unsafe { LLVMAddIncoming(phi.0, &mut { value.0 }, &mut { block.0 }, 1) };
    }

    pub(crate) fn add_bytes(&self, pointer: Value, bytes: u64) -> Value {
        if bytes == 0 {
            return pointer;
        }
        unsafe {
            let byte = LLVMInt8TypeInContext(self.module.context());
            let mut index = [self.int64(bytes as i64).0];
            Value(LLVMBuildGEP2(self.raw, byte, pointer.0, index.as_mut_ptr(), 1, c"".as_ptr()))
        }
    }

    /// Sets so many bytes to 0.
    pub(crate) fn clear(&self, pointer: Value, bytes: u64) -> Value {
        let bytes = self.int64(bytes as i64);
        unsafe {
            let zero = LLVMConstNull(self.module.int(8).0);
            Value(LLVMBuildMemSet(self.raw, pointer.0, zero, bytes.0, 1))
        }
    }

    pub(crate) fn load(&self, ty: Type, pointer: Value) -> Value {
        unsafe { Value(LLVMBuildLoad2(self.raw, ty.0, pointer.0, c"".as_ptr())) }
    }

    /// At the beginning of a block.
    pub(crate) fn phi(&self, block: Block, ty: Type, incoming: &[(Block, Value)]) -> Value {
        unsafe {
            LLVMPositionBuilderBeforeInstrAndDbgRecords(self.raw, LLVMGetFirstInstruction(block.0));
            LLVMSetCurrentDebugLocation2(self.raw, std::ptr::null_mut());
            let phi = LLVMBuildPhi(self.raw, ty.0, c"".as_ptr());
            let (mut blocks, mut values): (Vec<_>, Vec<_>) =
                incoming.iter().map(|(block, value)| (block.0, value.0)).unzip();
            LLVMAddIncoming(phi, values.as_mut_ptr(), blocks.as_mut_ptr(), blocks.len() as u32);
            Value(phi)
        }
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.raw) };
    }
}
