//! Values, blocks and functions.

use std::ffi::CStr;
use std::marker::PhantomData;

use inkwell::llvm_sys::core::{
    LLVMAliasGetAliasee, LLVMCountParams, LLVMGetAlignment, LLVMGetBasicBlockParent,
    LLVMGetEnumAttributeAtIndex, LLVMGetEnumAttributeKindForName, LLVMGetEnumAttributeValue,
    LLVMGetFirstBasicBlock, LLVMGetFirstInstruction, LLVMGetFirstUse, LLVMGetInitializer, LLVMGetLinkage,
    LLVMGetNextBasicBlock, LLVMGetNextInstruction, LLVMGetNextUse, LLVMGetNumOperands, LLVMGetOperand,
    LLVMGetParam, LLVMGetSection, LLVMGetTypeAttributeValue, LLVMGetUser, LLVMGetValueKind,
    LLVMGetValueName2, LLVMGlobalGetValueType, LLVMIsABasicBlock, LLVMIsAInstruction, LLVMIsDeclaration,
    LLVMIsGlobalConstant, LLVMIsThreadLocal, LLVMIsTypeAttribute, LLVMPrintValueToString, LLVMTypeOf,
    LLVMValueAsBasicBlock,
};
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex, LLVMLinkage, LLVMValueKind};

use super::{Type, copy_bytes, take_message};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value<'m> {
    pub(super) raw: LLVMValueRef,
    marker: PhantomData<&'m ()>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block<'m> {
    pub(super) raw: LLVMBasicBlockRef,
    marker: PhantomData<&'m ()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Argument,
    Block,
    Function,
    Alias,
    IFunc,
    GlobalVariable,
    Instruction,
    InlineAsm,
    Metadata,
    /// Any other constant: see [`super::ConstKind`].
    Constant,
    /// What LLVM has no name for in its C API.
    Other,
}

impl<'m> Value<'m> {
    /// The caller vouches that `raw` is a value of the module behind `'m`.
    pub(super) fn new(raw: LLVMValueRef) -> Self {
        debug_assert!(!raw.is_null());
        Self { raw, marker: PhantomData }
    }

    pub(super) fn maybe(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then(|| Self::new(raw))
    }

    pub(super) fn raw_kind(self) -> LLVMValueKind {
        unsafe { LLVMGetValueKind(self.raw) }
    }

    pub(crate) fn kind(self) -> ValueKind {
        match self.raw_kind() {
            LLVMValueKind::LLVMArgumentValueKind => ValueKind::Argument,
            LLVMValueKind::LLVMBasicBlockValueKind => ValueKind::Block,
            LLVMValueKind::LLVMFunctionValueKind => ValueKind::Function,
            LLVMValueKind::LLVMGlobalAliasValueKind => ValueKind::Alias,
            LLVMValueKind::LLVMGlobalIFuncValueKind => ValueKind::IFunc,
            LLVMValueKind::LLVMGlobalVariableValueKind => ValueKind::GlobalVariable,
            LLVMValueKind::LLVMInlineAsmValueKind => ValueKind::InlineAsm,
            LLVMValueKind::LLVMMetadataAsValueValueKind => ValueKind::Metadata,
            // The C API answers "instruction" for kinds it does not know.
            LLVMValueKind::LLVMInstructionValueKind => {
                if unsafe { LLVMIsAInstruction(self.raw) }.is_null() {
                    ValueKind::Other
                } else {
                    ValueKind::Instruction
                }
            }
            LLVMValueKind::LLVMMemoryUseValueKind
            | LLVMValueKind::LLVMMemoryDefValueKind
            | LLVMValueKind::LLVMMemoryPhiValueKind => ValueKind::Other,
            _ => ValueKind::Constant,
        }
    }

    pub(crate) fn ty(self) -> Type<'m> {
        Type::new(unsafe { LLVMTypeOf(self.raw) })
    }

    pub(crate) fn name(self) -> String {
        let mut length = 0;
        let start = unsafe { LLVMGetValueName2(self.raw, &mut length) };
        unsafe { copy_bytes(start, length) }
    }

    /// LLVM's text of this value. Slow: only for what the C API gives in no other way.
    pub(crate) fn print(self) -> String {
        unsafe { take_message(LLVMPrintValueToString(self.raw)) }
    }

    fn is_user(self) -> bool {
        !matches!(
            self.kind(),
            ValueKind::Argument | ValueKind::Block | ValueKind::Metadata | ValueKind::InlineAsm
        )
    }

    pub(crate) fn operand_count(self) -> u32 {
        if self.is_user() { unsafe { LLVMGetNumOperands(self.raw) }.max(0) as u32 } else { 0 }
    }

    pub(crate) fn operand(self, index: u32) -> Option<Value<'m>> {
        if index >= self.operand_count() {
            return None;
        }
        Value::maybe(unsafe { LLVMGetOperand(self.raw, index) })
    }

    pub(crate) fn users(self) -> impl Iterator<Item = Value<'m>> {
        let mut next = unsafe { LLVMGetFirstUse(self.raw) };
        std::iter::from_fn(move || {
            if next.is_null() {
                return None;
            }
            let user = unsafe { LLVMGetUser(next) };
            next = unsafe { LLVMGetNextUse(next) };
            Some(Value::new(user))
        })
    }

    pub(crate) fn as_block(self) -> Option<Block<'m>> {
        let is_block = !unsafe { LLVMIsABasicBlock(self.raw) }.is_null();
        is_block.then(|| Block::new(unsafe { LLVMValueAsBasicBlock(self.raw) }))
    }

    pub(crate) fn is_global_value(self) -> bool {
        matches!(
            self.kind(),
            ValueKind::Function | ValueKind::GlobalVariable | ValueKind::Alias | ValueKind::IFunc
        )
    }

    /// `static`, or private to the compiler.
    pub(crate) fn is_local(self) -> bool {
        self.is_global_value()
            && matches!(
                unsafe { LLVMGetLinkage(self.raw) },
                LLVMLinkage::LLVMInternalLinkage
                    | LLVMLinkage::LLVMPrivateLinkage
                    | LLVMLinkage::LLVMLinkerPrivateLinkage
                    | LLVMLinkage::LLVMLinkerPrivateWeakLinkage
            )
    }

    /// Declared `weak`: without a definition its address is null.
    pub(crate) fn may_be_absent(self) -> bool {
        self.is_declaration()
            && matches!(unsafe { LLVMGetLinkage(self.raw) }, LLVMLinkage::LLVMExternalWeakLinkage)
    }

    pub(crate) fn is_declaration(self) -> bool {
        self.is_global_value() && unsafe { LLVMIsDeclaration(self.raw) != 0 }
    }

    /// A body that serves this unit alone: the definition proper is elsewhere (`inline` of C99, `extern inline` of gnu89).
    pub(crate) fn is_inline_definition(self) -> bool {
        self.is_global_value()
            && matches!(unsafe { LLVMGetLinkage(self.raw) }, LLVMLinkage::LLVMAvailableExternallyLinkage)
    }

    /// The section that a function or variable is to be put in; empty for the usual one.
    pub(crate) fn section(self) -> String {
        if !matches!(self.kind(), ValueKind::Function | ValueKind::GlobalVariable) {
            return String::new();
        }
        let name = unsafe { LLVMGetSection(self.raw) };
        if name.is_null() {
            String::new()
        } else {
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        }
    }

    /// The type of the variable or function behind a global value.
    pub(crate) fn global_type(self) -> Option<Type<'m>> {
        self.is_global_value().then(|| Type::new(unsafe { LLVMGlobalGetValueType(self.raw) }))
    }

    pub(crate) fn aliasee(self) -> Option<Value<'m>> {
        if self.kind() != ValueKind::Alias {
            return None;
        }
        Value::maybe(unsafe { LLVMAliasGetAliasee(self.raw) })
    }

    pub(crate) fn initializer(self) -> Option<Value<'m>> {
        if self.kind() != ValueKind::GlobalVariable {
            return None;
        }
        Value::maybe(unsafe { LLVMGetInitializer(self.raw) })
    }

    pub(crate) fn is_thread_local(self) -> bool {
        self.kind() == ValueKind::GlobalVariable && unsafe { LLVMIsThreadLocal(self.raw) != 0 }
    }

    pub(crate) fn is_constant_global(self) -> bool {
        self.kind() == ValueKind::GlobalVariable && unsafe { LLVMIsGlobalConstant(self.raw) != 0 }
    }

    /// The alignment written on a global variable; 0 where none is.
    pub(crate) fn global_alignment(self) -> u32 {
        if self.kind() == ValueKind::GlobalVariable { unsafe { LLVMGetAlignment(self.raw) } } else { 0 }
    }

    pub(crate) fn params(self) -> Vec<Value<'m>> {
        if self.kind() != ValueKind::Function {
            return Vec::new();
        }
        let count = unsafe { LLVMCountParams(self.raw) };
        (0..count).map(|index| Value::new(unsafe { LLVMGetParam(self.raw, index) })).collect()
    }

    pub(crate) fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        let mut next = if self.kind() == ValueKind::Function {
            unsafe { LLVMGetFirstBasicBlock(self.raw) }
        } else {
            std::ptr::null_mut()
        };
        std::iter::from_fn(move || {
            if next.is_null() {
                return None;
            }
            let block = Block::new(next);
            next = unsafe { LLVMGetNextBasicBlock(next) };
            Some(block)
        })
    }

    pub(crate) fn function_has_attribute(self, name: &str) -> bool {
        self.function_attribute(LLVMAttributeFunctionIndex, name).is_some()
    }

    /// The type that `byval`, `sret`, … on a function's parameter carry.
    pub(crate) fn param_type_attribute(self, param: u32, name: &str) -> Option<Type<'m>> {
        let attribute = self.function_attribute(param + 1, name)?;
        (unsafe { LLVMIsTypeAttribute(attribute) } != 0)
            .then(|| Type::new(unsafe { LLVMGetTypeAttributeValue(attribute) }))
    }

    pub(crate) fn param_int_attribute(self, param: u32, name: &str) -> Option<u64> {
        let attribute = self.function_attribute(param + 1, name)?;
        Some(unsafe { LLVMGetEnumAttributeValue(attribute) })
    }

    fn function_attribute(
        self,
        index: LLVMAttributeIndex,
        name: &str,
    ) -> Option<inkwell::llvm_sys::prelude::LLVMAttributeRef> {
        if self.kind() != ValueKind::Function {
            return None;
        }
        let kind = attribute_kind(name);
        let attribute = unsafe { LLVMGetEnumAttributeAtIndex(self.raw, index, kind) };
        (!attribute.is_null()).then_some(attribute)
    }
}

impl<'m> Block<'m> {
    pub(super) fn new(raw: LLVMBasicBlockRef) -> Self {
        debug_assert!(!raw.is_null());
        Self { raw, marker: PhantomData }
    }

    pub(crate) fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        let mut next = unsafe { LLVMGetFirstInstruction(self.raw) };
        std::iter::from_fn(move || {
            let current = Value::maybe(next)?;
            next = unsafe { LLVMGetNextInstruction(next) };
            Some(current)
        })
    }

    pub(crate) fn parent(self) -> Value<'m> {
        Value::new(unsafe { LLVMGetBasicBlockParent(self.raw) })
    }
}

pub(super) fn attribute_kind(name: &str) -> u32 {
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}
