//! Constants.

use inkwell::llvm_sys::core::{
    LLVMConstBitCast, LLVMConstIntGetSExtValue, LLVMConstIntGetZExtValue, LLVMGetAggregateElement,
    LLVMGetAsString, LLVMGetBlockAddressBasicBlock, LLVMGetBlockAddressFunction, LLVMGetConstOpcode,
    LLVMGetTypeContext, LLVMIntTypeInContext, LLVMIsConstantString, LLVMIsNull,
};
use inkwell::llvm_sys::{LLVMOpcode, LLVMValueKind};

use super::{Block, TypeKind, Value};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ConstKind {
    Int,
    Float,
    NullPointer,
    Undef,
    /// All zero bytes, of any aggregate or vector type.
    Zero,
    /// Elements by [`Value::element`].
    Aggregate,
    BlockAddress,
    Expression(LLVMOpcode),
    Other,
}

impl<'m> Value<'m> {
    pub(crate) fn const_kind(self) -> ConstKind {
        match self.raw_kind() {
            LLVMValueKind::LLVMConstantIntValueKind => ConstKind::Int,
            LLVMValueKind::LLVMConstantFPValueKind => ConstKind::Float,
            LLVMValueKind::LLVMConstantPointerNullValueKind => ConstKind::NullPointer,
            LLVMValueKind::LLVMUndefValueValueKind | LLVMValueKind::LLVMPoisonValueKind => ConstKind::Undef,
            LLVMValueKind::LLVMConstantAggregateZeroValueKind => ConstKind::Zero,
            LLVMValueKind::LLVMConstantArrayValueKind
            | LLVMValueKind::LLVMConstantStructValueKind
            | LLVMValueKind::LLVMConstantVectorValueKind
            | LLVMValueKind::LLVMConstantDataArrayValueKind
            | LLVMValueKind::LLVMConstantDataVectorValueKind => ConstKind::Aggregate,
            LLVMValueKind::LLVMBlockAddressValueKind => ConstKind::BlockAddress,
            LLVMValueKind::LLVMConstantExprValueKind => {
                ConstKind::Expression(unsafe { LLVMGetConstOpcode(self.raw) })
            }
            _ => ConstKind::Other,
        }
    }

    /// The bits of an integer constant of up to 128 bits, zero-extended.
    pub(crate) fn int_bits(self) -> Option<u128> {
        if self.const_kind() != ConstKind::Int {
            return None;
        }
        match self.ty().kind() {
            TypeKind::Integer(width @ 0..=64) => {
                let bits = u128::from(unsafe { LLVMConstIntGetZExtValue(self.raw) });
                Some(bits & (u128::MAX >> (128 - width.max(1))))
            }
            // No accessor for wide integers: `i128 -5`.
            TypeKind::Integer(width @ 65..=128) => {
                let text = self.print();
                let number = text.rsplit(' ').next()?;
                let bits = match number.strip_prefix('-') {
                    Some(magnitude) => magnitude.parse::<u128>().ok()?.wrapping_neg(),
                    None => number.parse::<u128>().ok()?,
                };
                Some(bits & (u128::MAX >> (128 - width)))
            }
            _ => None,
        }
    }

    /// An integer constant of up to 64 bits, sign-extended.
    pub(crate) fn int_signed(self) -> Option<i64> {
        match (self.const_kind(), self.ty().kind()) {
            (ConstKind::Int, TypeKind::Integer(0..=64)) => {
                Some(unsafe { LLVMConstIntGetSExtValue(self.raw) })
            }
            _ => None,
        }
    }

    /// Whether all bits are zero.
    pub(crate) fn is_zero(self) -> bool {
        unsafe { LLVMIsNull(self.raw) != 0 }
    }

    /// The bits of a floating-point constant.
    pub(crate) fn float_bits(self) -> Option<u128> {
        if self.const_kind() != ConstKind::Float {
            return None;
        }
        let width = match self.ty().kind() {
            TypeKind::Half | TypeKind::BFloat => 16,
            TypeKind::Float => 32,
            TypeKind::Double => 64,
            TypeKind::X86Fp80 => 80,
            TypeKind::Fp128 => 128,
            _ => return None,
        };
        // LLVM folds the bitcast of a constant float to an integer constant at once.
        let folded = unsafe {
            let int = LLVMIntTypeInContext(LLVMGetTypeContext(self.ty().raw), width);
            LLVMConstBitCast(self.raw, int)
        };
        Value::maybe(folded)?.int_bits()
    }

    /// Element of a constant aggregate or vector, of any representation.
    pub(crate) fn element(self, index: u32) -> Option<Value<'m>> {
        Value::maybe(unsafe { LLVMGetAggregateElement(self.raw, index) })
    }

    /// The bytes of a constant array of `i8`.
    pub(crate) fn string_bytes(self) -> Option<Vec<u8>> {
        let is_data = self.raw_kind() == LLVMValueKind::LLVMConstantDataArrayValueKind;
        if !is_data || unsafe { LLVMIsConstantString(self.raw) } == 0 {
            return None;
        }
        let mut length = 0;
        let start = unsafe { LLVMGetAsString(self.raw, &mut length) };
        Some(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) }.to_vec())
    }

    /// The function and block of a `blockaddress` constant.
    pub(crate) fn block_address(self) -> Option<(Value<'m>, Block<'m>)> {
        if self.const_kind() != ConstKind::BlockAddress {
            return None;
        }
        let function = Value::maybe(unsafe { LLVMGetBlockAddressFunction(self.raw) })?;
        let block = unsafe { LLVMGetBlockAddressBasicBlock(self.raw) };
        (!block.is_null()).then(|| (function, Block::new(block)))
    }
}
