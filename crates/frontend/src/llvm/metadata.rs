//! Debug metadata: nodes, their operands, and source locations.

use std::marker::PhantomData;

use inkwell::llvm_sys::core::{
    LLVMDisposeValueMetadataEntries, LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands, LLVMGetMDString,
    LLVMGlobalCopyAllMetadata, LLVMMetadataAsValue, LLVMValueAsMetadata, LLVMValueMetadataEntriesGetKind,
    LLVMValueMetadataEntriesGetMetadata,
};
use inkwell::llvm_sys::debuginfo::{
    LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDIGlobalVariableExpressionGetVariable,
    LLVMDILocationGetColumn, LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile,
    LLVMDISubprogramGetLine, LLVMDITypeGetFlags, LLVMDITypeGetOffsetInBits, LLVMDITypeGetSizeInBits,
    LLVMDIVariableGetFile, LLVMDIVariableGetLine, LLVMDIVariableGetScope, LLVMGetDINodeTag,
    LLVMGetMetadataKind, LLVMGetSubprogram, LLVMInstructionGetDebugLoc,
};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef};

use super::{Value, ValueKind, copy_bytes};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Meta<'m> {
    raw: LLVMMetadataRef,
    context: LLVMContextRef,
    marker: PhantomData<&'m ()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetaKind {
    Value,
    Location,
    GlobalVariableExpression,
    Subrange,
    BasicType,
    DerivedType,
    CompositeType,
    SubroutineType,
    File,
    CompileUnit,
    Subprogram,
    LexicalBlock,
    GlobalVariable,
    LocalVariable,
    Other,
}

const BIT_FIELD_FLAG: u32 = 1 << 19;

impl<'m> Meta<'m> {
    pub(super) fn maybe(raw: LLVMMetadataRef, context: LLVMContextRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self { raw, context, marker: PhantomData })
    }

    pub(crate) fn kind(self) -> MetaKind {
        // Positions in LLVMMetadataKind, which is not Copy.
        match unsafe { LLVMGetMetadataKind(self.raw) } as u32 {
            1 | 2 => MetaKind::Value,
            5 => MetaKind::Location,
            7 => MetaKind::GlobalVariableExpression,
            9 => MetaKind::Subrange,
            11 => MetaKind::BasicType,
            12 => MetaKind::DerivedType,
            13 => MetaKind::CompositeType,
            14 => MetaKind::SubroutineType,
            15 => MetaKind::File,
            16 => MetaKind::CompileUnit,
            17 => MetaKind::Subprogram,
            18 | 19 => MetaKind::LexicalBlock,
            24 => MetaKind::GlobalVariable,
            25 => MetaKind::LocalVariable,
            _ => MetaKind::Other,
        }
    }

    fn as_value(self) -> Value<'m> {
        Value::new(unsafe { LLVMMetadataAsValue(self.context, self.raw) })
    }

    fn is_node(self) -> bool {
        // Strings, values as metadata, placeholders and argument lists are not nodes.
        !matches!(unsafe { LLVMGetMetadataKind(self.raw) } as u32, 0..=3 | 34)
    }

    /// Operands by position; null operands are `None`.
    pub(crate) fn operands(self) -> Vec<Option<Value<'m>>> {
        if !self.is_node() {
            return Vec::new();
        }
        let node = self.as_value();
        let count = unsafe { LLVMGetMDNodeNumOperands(node.raw) } as usize;
        let mut raw = vec![std::ptr::null_mut(); count];
        unsafe { LLVMGetMDNodeOperands(node.raw, raw.as_mut_ptr()) };
        raw.into_iter().map(Value::maybe).collect()
    }

    pub(crate) fn operand_value(self, index: usize) -> Option<Value<'m>> {
        self.operands().get(index).copied().flatten()
    }

    pub(crate) fn operand(self, index: usize) -> Option<Meta<'m>> {
        self.operand_value(index)?.as_metadata(self.context)
    }

    pub(crate) fn operand_string(self, index: usize) -> Option<String> {
        let value = self.operand_value(index)?;
        let mut length = 0;
        let start = unsafe { LLVMGetMDString(value.raw, &mut length) };
        (!start.is_null()).then(|| unsafe { copy_bytes(start, length as usize) })
    }

    /// The programmer's name: operand 2 of types and subprograms, operand 1 of variables.
    pub(crate) fn name(self) -> Option<String> {
        let position = match self.kind() {
            MetaKind::LocalVariable | MetaKind::GlobalVariable => 1,
            MetaKind::BasicType | MetaKind::DerivedType | MetaKind::CompositeType | MetaKind::Subprogram => 2,
            _ => return None,
        };
        self.operand_string(position).filter(|name| !name.is_empty())
    }

    /// The DWARF tag of a debug node.
    pub(crate) fn tag(self) -> u16 {
        match self.kind() {
            MetaKind::Value | MetaKind::Location | MetaKind::Other => 0,
            _ => unsafe { LLVMGetDINodeTag(self.raw) },
        }
    }

    fn is_type(self) -> bool {
        matches!(
            self.kind(),
            MetaKind::BasicType | MetaKind::DerivedType | MetaKind::CompositeType | MetaKind::SubroutineType
        )
    }

    pub(crate) fn size_in_bits(self) -> u64 {
        if self.is_type() { unsafe { LLVMDITypeGetSizeInBits(self.raw) } } else { 0 }
    }

    pub(crate) fn offset_in_bits(self) -> u64 {
        if self.is_type() { unsafe { LLVMDITypeGetOffsetInBits(self.raw) } } else { 0 }
    }

    pub(crate) fn is_bit_field(self) -> bool {
        self.is_type() && (unsafe { LLVMDITypeGetFlags(self.raw) } as u32) & BIT_FIELD_FLAG != 0
    }

    pub(crate) fn variable_line(self) -> u32 {
        match self.kind() {
            MetaKind::GlobalVariable | MetaKind::LocalVariable => unsafe { LLVMDIVariableGetLine(self.raw) },
            _ => 0,
        }
    }

    pub(crate) fn variable_file(self) -> Option<Meta<'m>> {
        match self.kind() {
            MetaKind::GlobalVariable | MetaKind::LocalVariable => {
                Meta::maybe(unsafe { LLVMDIVariableGetFile(self.raw) }, self.context)
            }
            _ => None,
        }
    }

    pub(crate) fn variable_scope(self) -> Option<Meta<'m>> {
        match self.kind() {
            MetaKind::GlobalVariable | MetaKind::LocalVariable => {
                Meta::maybe(unsafe { LLVMDIVariableGetScope(self.raw) }, self.context)
            }
            _ => None,
        }
    }

    pub(crate) fn subprogram_line(self) -> u32 {
        if self.kind() == MetaKind::Subprogram { unsafe { LLVMDISubprogramGetLine(self.raw) } } else { 0 }
    }

    /// Line, column and scope of a location.
    pub(crate) fn location(self) -> Option<(u32, u32, Meta<'m>)> {
        if self.kind() != MetaKind::Location {
            return None;
        }
        unsafe {
            let scope = Meta::maybe(LLVMDILocationGetScope(self.raw), self.context)?;
            Some((LLVMDILocationGetLine(self.raw), LLVMDILocationGetColumn(self.raw), scope))
        }
    }

    pub(crate) fn scope_file(self) -> Option<Meta<'m>> {
        match self.kind() {
            MetaKind::File => Some(self),
            MetaKind::Subprogram | MetaKind::LexicalBlock | MetaKind::CompileUnit => {
                Meta::maybe(unsafe { LLVMDIScopeGetFile(self.raw) }, self.context)
            }
            _ => None,
        }
    }

    /// File name and directory of a file node.
    pub(crate) fn file(self) -> Option<(String, String)> {
        if self.kind() != MetaKind::File {
            return None;
        }
        let (mut name_length, mut directory_length) = (0, 0);
        unsafe {
            let name = LLVMDIFileGetFilename(self.raw, &mut name_length);
            let directory = LLVMDIFileGetDirectory(self.raw, &mut directory_length);
            Some((copy_bytes(name, name_length as usize), copy_bytes(directory, directory_length as usize)))
        }
    }
}

impl<'m> Value<'m> {
    pub(crate) fn as_metadata(self, context: LLVMContextRef) -> Option<Meta<'m>> {
        Meta::maybe(unsafe { LLVMValueAsMetadata(self.raw) }, context)
    }

    pub(crate) fn debug_location(self, context: LLVMContextRef) -> Option<Meta<'m>> {
        if self.kind() != ValueKind::Instruction {
            return None;
        }
        Meta::maybe(unsafe { LLVMInstructionGetDebugLoc(self.raw) }, context)
    }

    pub(crate) fn subprogram(self, context: LLVMContextRef) -> Option<Meta<'m>> {
        if self.kind() != ValueKind::Function {
            return None;
        }
        Meta::maybe(unsafe { LLVMGetSubprogram(self.raw) }, context)
    }

    /// The value inside a metadata operand of a `llvm.dbg` call: `None` for lists and emptied ones.
    pub(crate) fn wrapped_value(self, context: LLVMContextRef) -> Option<Value<'m>> {
        if self.kind() != ValueKind::Metadata || self.as_metadata(context)?.kind() != MetaKind::Value {
            return None;
        }
        let mut raw = std::ptr::null_mut();
        unsafe {
            if LLVMGetMDNodeNumOperands(self.raw) != 1 {
                return None;
            }
            LLVMGetMDNodeOperands(self.raw, &mut raw);
        }
        Value::maybe(raw)
    }

    /// The debug node of a global variable.
    pub(crate) fn global_variable_debug(self, context: LLVMContextRef) -> Option<Meta<'m>> {
        if self.kind() != ValueKind::GlobalVariable {
            return None;
        }
        let mut count = 0;
        let mut found = None;
        unsafe {
            let entries = LLVMGlobalCopyAllMetadata(self.raw, &mut count);
            for index in 0..count as u32 {
                // Kind 0 is `dbg`.
                if found.is_none() && LLVMValueMetadataEntriesGetKind(entries, index) == 0 {
                    let node = LLVMValueMetadataEntriesGetMetadata(entries, index);
                    found = Meta::maybe(node, context)
                        .filter(|node| node.kind() == MetaKind::GlobalVariableExpression);
                }
            }
            LLVMDisposeValueMetadataEntries(entries);
        }
        let variable = unsafe { LLVMDIGlobalVariableExpressionGetVariable(found?.raw) };
        Meta::maybe(variable, context)
    }
}
