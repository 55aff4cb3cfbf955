//! Source places of instructions, with what was inlined where, and the site marks of `frontend`.

use inkwell::llvm_sys::core::{
    LLVMConstInt, LLVMGetMDKindIDInContext, LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands, LLVMGetMetadata,
    LLVMInt32TypeInContext, LLVMMDNodeInContext2, LLVMMetadataAsValue, LLVMSetMetadata, LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::{
    LLVMDILocationGetColumn, LLVMDILocationGetInlinedAt, LLVMDILocationGetLine, LLVMDILocationGetScope,
    LLVMGetMetadataKind, LLVMGetSubprogram, LLVMInstructionGetDebugLoc,
};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef};

use super::{Module, Value};

/// A debug location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Location(pub(super) LLVMMetadataRef);

/// A function in debug information.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Scope(pub(super) LLVMMetadataRef);

impl Location {
    pub(crate) fn line(self) -> u32 {
        unsafe { LLVMDILocationGetLine(self.0) }
    }

    pub(crate) fn column(self) -> u32 {
        unsafe { LLVMDILocationGetColumn(self.0) }
    }

    pub(crate) fn inlined_at(self) -> Option<Location> {
        let raw = unsafe { LLVMDILocationGetInlinedAt(self.0) };
        (!raw.is_null()).then_some(Location(raw))
    }

    /// The function that the location is in, before inlining.
    pub(crate) fn function(self, module: &Module) -> Option<Scope> {
        let mut scope = unsafe { LLVMDILocationGetScope(self.0) };
        // Lexical blocks are nested; their operand 1 is the scope around them.
        for _ in 0..512 {
            if scope.is_null() {
                return None;
            }
            match unsafe { LLVMGetMetadataKind(scope) } as u32 {
                17 => return Some(Scope(scope)),
                18 | 19 => scope = operand(module.context(), scope, 1),
                _ => return None,
            }
        }
        None
    }
}

impl Value {
    pub(crate) fn location(self) -> Option<Location> {
        self.opcode()?;
        let raw = unsafe { LLVMInstructionGetDebugLoc(self.0) };
        (!raw.is_null()).then_some(Location(raw))
    }

    pub(crate) fn subprogram(self) -> Option<Scope> {
        if !self.is_function() {
            return None;
        }
        let raw = unsafe { LLVMGetSubprogram(self.0) };
        (!raw.is_null()).then_some(Scope(raw))
    }
}

impl Module {
    pub(crate) fn metadata_kind(&self, name: &str) -> u32 {
        unsafe { LLVMGetMDKindIDInContext(self.context(), name.as_ptr().cast(), name.len() as u32) }
    }

    /// The number in an instruction's metadata `!{i32 n}` of a kind.
    pub(crate) fn number(&self, inst: Value, kind: u32) -> Option<u32> {
        inst.opcode()?;
        unsafe {
            let node = LLVMGetMetadata(inst.0, kind);
            if node.is_null() || LLVMGetMDNodeNumOperands(node) != 1 {
                return None;
            }
            let mut value = std::ptr::null_mut();
            LLVMGetMDNodeOperands(node, &mut value);
            Value::maybe(value)?.int_signed().map(|number| number as u32)
        }
    }
}

impl Module {
    pub(crate) fn set_number(&self, inst: Value, kind: u32, number: u32) {
        if inst.opcode().is_none() {
            return;
        }
        unsafe {
            let ty = LLVMInt32TypeInContext(self.context());
            let mut number = LLVMValueAsMetadata(LLVMConstInt(ty, u64::from(number), 0));
            let node = LLVMMDNodeInContext2(self.context(), &mut number, 1);
            LLVMSetMetadata(inst.0, kind, LLVMMetadataAsValue(self.context(), node));
        }
    }
}

fn operand(context: LLVMContextRef, node: LLVMMetadataRef, index: usize) -> LLVMMetadataRef {
    let values = operands(context, node);
    match values.get(index) {
        Some(value) if !value.is_null() => unsafe { LLVMValueAsMetadata(*value) },
        _ => std::ptr::null_mut(),
    }
}

fn operands(context: LLVMContextRef, node: LLVMMetadataRef) -> Vec<inkwell::llvm_sys::prelude::LLVMValueRef> {
    unsafe {
        let value = LLVMMetadataAsValue(context, node);
        let count = LLVMGetMDNodeNumOperands(value) as usize;
        let mut values = vec![std::ptr::null_mut(); count];
        LLVMGetMDNodeOperands(value, values.as_mut_ptr());
        values
    }
}
