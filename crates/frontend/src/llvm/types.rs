//! LLVM types.

use std::marker::PhantomData;

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::{
    LLVMCountParamTypes, LLVMCountStructElementTypes, LLVMGetArrayLength2, LLVMGetElementType,
    LLVMGetIntTypeWidth, LLVMGetParamTypes, LLVMGetPointerAddressSpace, LLVMGetReturnType, LLVMGetStructName,
    LLVMGetTypeKind, LLVMGetVectorSize, LLVMIsFunctionVarArg, LLVMStructGetTypeAtIndex, LLVMTypeIsSized,
};
use inkwell::llvm_sys::prelude::LLVMTypeRef;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Type<'m> {
    pub(super) raw: LLVMTypeRef,
    marker: PhantomData<&'m ()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeKind {
    Void,
    Half,
    BFloat,
    Float,
    Double,
    X86Fp80,
    Fp128,
    Integer(u32),
    Function,
    Struct,
    Array(u64),
    /// The address space.
    Pointer(u32),
    Vector(u32),
    Other(&'static str),
}

impl<'m> Type<'m> {
    /// The caller vouches that `raw` is a type of the module behind `'m`.
    pub(super) fn new(raw: LLVMTypeRef) -> Self {
        debug_assert!(!raw.is_null());
        Self { raw, marker: PhantomData }
    }

    pub(crate) fn kind(self) -> TypeKind {
        match unsafe { LLVMGetTypeKind(self.raw) } {
            LLVMTypeKind::LLVMVoidTypeKind => TypeKind::Void,
            LLVMTypeKind::LLVMHalfTypeKind => TypeKind::Half,
            LLVMTypeKind::LLVMBFloatTypeKind => TypeKind::BFloat,
            LLVMTypeKind::LLVMFloatTypeKind => TypeKind::Float,
            LLVMTypeKind::LLVMDoubleTypeKind => TypeKind::Double,
            LLVMTypeKind::LLVMX86_FP80TypeKind => TypeKind::X86Fp80,
            LLVMTypeKind::LLVMFP128TypeKind => TypeKind::Fp128,
            LLVMTypeKind::LLVMPPC_FP128TypeKind => TypeKind::Other("ppc_fp128"),
            LLVMTypeKind::LLVMLabelTypeKind => TypeKind::Other("label"),
            LLVMTypeKind::LLVMIntegerTypeKind => TypeKind::Integer(unsafe { LLVMGetIntTypeWidth(self.raw) }),
            LLVMTypeKind::LLVMFunctionTypeKind => TypeKind::Function,
            LLVMTypeKind::LLVMStructTypeKind => TypeKind::Struct,
            LLVMTypeKind::LLVMArrayTypeKind => TypeKind::Array(unsafe { LLVMGetArrayLength2(self.raw) }),
            LLVMTypeKind::LLVMPointerTypeKind => {
                TypeKind::Pointer(unsafe { LLVMGetPointerAddressSpace(self.raw) })
            }
            LLVMTypeKind::LLVMVectorTypeKind => TypeKind::Vector(unsafe { LLVMGetVectorSize(self.raw) }),
            LLVMTypeKind::LLVMMetadataTypeKind => TypeKind::Other("metadata"),
            LLVMTypeKind::LLVMX86_MMXTypeKind => TypeKind::Other("x86_mmx"),
            LLVMTypeKind::LLVMTokenTypeKind => TypeKind::Other("token"),
            LLVMTypeKind::LLVMScalableVectorTypeKind => TypeKind::Other("scalable vector"),
            LLVMTypeKind::LLVMX86_AMXTypeKind => TypeKind::Other("x86_amx"),
            LLVMTypeKind::LLVMTargetExtTypeKind => TypeKind::Other("target type"),
        }
    }

    pub(crate) fn is_sized(self) -> bool {
        unsafe { LLVMTypeIsSized(self.raw) != 0 }
    }

    /// The element type of an array or vector.
    pub(crate) fn element(self) -> Option<Type<'m>> {
        match self.kind() {
            TypeKind::Array(_) | TypeKind::Vector(_) => {
                Some(Type::new(unsafe { LLVMGetElementType(self.raw) }))
            }
            _ => None,
        }
    }

    /// The field types of a struct; none for other types.
    pub(crate) fn fields(self) -> Vec<Type<'m>> {
        let count = match self.kind() {
            TypeKind::Struct => unsafe { LLVMCountStructElementTypes(self.raw) },
            _ => 0,
        };
        (0..count).map(|index| Type::new(unsafe { LLVMStructGetTypeAtIndex(self.raw, index) })).collect()
    }

    pub(crate) fn field(self, index: u32) -> Option<Type<'m>> {
        let in_range =
            self.kind() == TypeKind::Struct && index < unsafe { LLVMCountStructElementTypes(self.raw) };
        in_range.then(|| Type::new(unsafe { LLVMStructGetTypeAtIndex(self.raw, index) }))
    }

    /// The tag of a named struct, `struct.item`.
    pub(crate) fn struct_name(self) -> Option<String> {
        if self.kind() != TypeKind::Struct {
            return None;
        }
        let name = unsafe { LLVMGetStructName(self.raw) };
        if name.is_null() {
            return None;
        }
        Some(unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    pub(crate) fn param_types(self) -> Vec<Type<'m>> {
        if self.kind() != TypeKind::Function {
            return Vec::new();
        }
        let count = unsafe { LLVMCountParamTypes(self.raw) } as usize;
        let mut raw = vec![std::ptr::null_mut(); count];
        unsafe { LLVMGetParamTypes(self.raw, raw.as_mut_ptr()) };
        raw.into_iter().map(Type::new).collect()
    }

    pub(crate) fn return_type(self) -> Option<Type<'m>> {
        (self.kind() == TypeKind::Function).then(|| Type::new(unsafe { LLVMGetReturnType(self.raw) }))
    }

    pub(crate) fn is_variadic(self) -> bool {
        self.kind() == TypeKind::Function && unsafe { LLVMIsFunctionVarArg(self.raw) != 0 }
    }
}
