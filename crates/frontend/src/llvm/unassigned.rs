//! Locals that some paths leave unassigned.
//!
//! mem2reg takes such a local, where the paths meet, to have the value of those that assign it: a branch on the value of the others is gone
//! before anybody has seen it. So every local that may become a register first gets a value that LLVM knows nothing of; afterwards this
//! is undefined again, and the phi stays.

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::{
    LLVMBuildFreeze, LLVMBuildStore, LLVMCountBasicBlocks, LLVMCreateBuilderInContext, LLVMDisposeBuilder,
    LLVMGetAllocatedType, LLVMGetEntryBasicBlock, LLVMGetFirstFunction, LLVMGetMDKindIDInContext,
    LLVMGetMetadata, LLVMGetModuleContext, LLVMGetNextFunction, LLVMGetNextInstruction, LLVMGetUndef,
    LLVMInstructionEraseFromParent, LLVMMDNodeInContext2, LLVMMetadataAsValue, LLVMPositionBuilderBefore,
    LLVMReplaceAllUsesWith, LLVMSetMetadata, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMModuleRef, LLVMValueRef};

use super::{Block, Value};

/// The name of what is attached to the stores that are not the program's.
const KIND: &[u8] = b"raddle.unassigned";

/// The values that stand for "not assigned".
pub(super) struct Unassigned {
    marks: Vec<LLVMValueRef>,
    kind: u32,
}

impl Unassigned {
    pub(super) fn mark(module: LLVMModuleRef) -> Unassigned {
        unsafe {
            let context = LLVMGetModuleContext(module);
            let kind = LLVMGetMDKindIDInContext(context, KIND.as_ptr().cast(), KIND.len() as u32);
            let node = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
            let node = LLVMMetadataAsValue(context, node);
            let builder = LLVMCreateBuilderInContext(context);
            let mut marks = Vec::new();
            let mut function = LLVMGetFirstFunction(module);
            while !function.is_null() {
                if LLVMCountBasicBlocks(function) > 0 {
                    let entry = Block::new(LLVMGetEntryBasicBlock(function));
                    let locals: Vec<Value<'_>> =
                        entry.instructions().filter(|inst| is_register(*inst)).collect();
                    for local in locals {
                        let (mark, store) = mark_local(builder, local);
                        LLVMSetMetadata(store, kind, node);
                        marks.push(mark);
                    }
                }
                function = LLVMGetNextFunction(function);
            }
            LLVMDisposeBuilder(builder);
            Unassigned { marks, kind }
        }
    }

    /// mem2reg has run: what stays in memory is not written, and what is in registers is undefined.
    pub(super) fn unmark(self) {
        for mark in self.marks {
            let users: Vec<Value<'_>> = Value::new(mark).users().collect();
            unsafe {
                for user in users.into_iter().filter(|user| user.opcode() == Some(LLVMOpcode::LLVMStore)) {
                    if !LLVMGetMetadata(user.raw, self.kind).is_null() {
                        LLVMInstructionEraseFromParent(user.raw);
                    }
                }
                LLVMReplaceAllUsesWith(mark, LLVMGetUndef(LLVMTypeOf(mark)));
                LLVMInstructionEraseFromParent(mark);
            }
        }
    }
}

/// Whether an instruction is a local that is only loaded and stored; mem2reg asks for more.
fn is_register(local: Value<'_>) -> bool {
    local.opcode() == Some(LLVMOpcode::LLVMAlloca)
        && local.users().all(|user| match user.opcode() {
            Some(LLVMOpcode::LLVMLoad) => !user.is_volatile(),
            Some(LLVMOpcode::LLVMStore) => user.operand(0) != Some(local) && !user.is_volatile(),
            Some(LLVMOpcode::LLVMCall) => {
                user.called_value().is_some_and(|callee| callee.name().starts_with("llvm.lifetime."))
            }
            _ => false,
        })
}

/// The value that a local begins with, and the store of it.
unsafe fn mark_local(builder: LLVMBuilderRef, local: Value<'_>) -> (LLVMValueRef, LLVMValueRef) {
    unsafe {
        LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(local.raw));
        let undefined = LLVMGetUndef(LLVMGetAllocatedType(local.raw));
        let mark = LLVMBuildFreeze(builder, undefined, c"".as_ptr());
        (mark, LLVMBuildStore(builder, mark, local.raw))
    }
}
