//! Instructions.

use inkwell::llvm_sys::core::{
    LLVMCountIncoming, LLVMGetAlignment, LLVMGetAllocatedType, LLVMGetArgOperand, LLVMGetAtomicRMWBinOp,
    LLVMGetCallSiteEnumAttribute, LLVMGetCalledFunctionType, LLVMGetCalledValue,
    LLVMGetCmpXchgFailureOrdering, LLVMGetCmpXchgSuccessOrdering, LLVMGetEnumAttributeValue,
    LLVMGetFCmpPredicate, LLVMGetGEPSourceElementType, LLVMGetICmpPredicate, LLVMGetIncomingBlock,
    LLVMGetIncomingValue, LLVMGetIndices, LLVMGetInlineAsmAsmString, LLVMGetInlineAsmConstraintString,
    LLVMGetInstructionOpcode, LLVMGetMaskValue, LLVMGetNormalDest, LLVMGetNumArgOperands, LLVMGetNumIndices,
    LLVMGetNumMaskElements, LLVMGetNumSuccessors, LLVMGetOrdering, LLVMGetSuccessor,
    LLVMGetTypeAttributeValue, LLVMGetUnwindDest, LLVMGetVolatile, LLVMGetWeak, LLVMIsAtomicSingleThread,
    LLVMIsTypeAttribute,
};
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate,
};

use super::value::attribute_kind;
use super::{Block, ConstKind, Type, Value, ValueKind, copy_bytes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordering {
    NotAtomic,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

pub(crate) struct CmpXchgOrders {
    pub(crate) success: Ordering,
    pub(crate) failure: Ordering,
    pub(crate) weak: bool,
}

impl<'m> Value<'m> {
    pub(crate) fn opcode(self) -> Option<LLVMOpcode> {
        (self.kind() == ValueKind::Instruction).then(|| unsafe { LLVMGetInstructionOpcode(self.raw) })
    }

    fn is(self, opcode: LLVMOpcode) -> bool {
        self.opcode() == Some(opcode)
    }

    fn is_call(self) -> bool {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr))
    }

    pub(crate) fn called_value(self) -> Option<Value<'m>> {
        if !self.is_call() {
            return None;
        }
        Value::maybe(unsafe { LLVMGetCalledValue(self.raw) })
    }

    pub(crate) fn called_type(self) -> Option<Type<'m>> {
        self.is_call().then(|| Type::new(unsafe { LLVMGetCalledFunctionType(self.raw) }))
    }

    pub(crate) fn args(self) -> Vec<Value<'m>> {
        if !self.is_call() {
            return Vec::new();
        }
        let count = unsafe { LLVMGetNumArgOperands(self.raw) };
        (0..count).map(|index| Value::new(unsafe { LLVMGetArgOperand(self.raw, index) })).collect()
    }

    /// The type that `byval`, `elementtype`, … on an argument carry.
    pub(crate) fn arg_type_attribute(self, arg: u32, name: &str) -> Option<Type<'m>> {
        if !self.is_call() {
            return None;
        }
        let attribute = unsafe { LLVMGetCallSiteEnumAttribute(self.raw, arg + 1, attribute_kind(name)) };
        if attribute.is_null() || unsafe { LLVMIsTypeAttribute(attribute) } == 0 {
            return None;
        }
        Some(Type::new(unsafe { LLVMGetTypeAttributeValue(attribute) }))
    }

    pub(crate) fn arg_int_attribute(self, arg: u32, name: &str) -> Option<u64> {
        if !self.is_call() {
            return None;
        }
        let attribute = unsafe { LLVMGetCallSiteEnumAttribute(self.raw, arg + 1, attribute_kind(name)) };
        (!attribute.is_null()).then(|| unsafe { LLVMGetEnumAttributeValue(attribute) })
    }

    pub(crate) fn normal_destination(self) -> Option<Block<'m>> {
        self.is(LLVMOpcode::LLVMInvoke).then(|| Block::new(unsafe { LLVMGetNormalDest(self.raw) }))
    }

    pub(crate) fn unwind_destination(self) -> Option<Block<'m>> {
        self.is(LLVMOpcode::LLVMInvoke).then(|| Block::new(unsafe { LLVMGetUnwindDest(self.raw) }))
    }

    /// The text and constraints of inline assembly.
    pub(crate) fn inline_asm(self) -> Option<(String, String)> {
        if self.kind() != ValueKind::InlineAsm {
            return None;
        }
        let (mut text_length, mut constraints_length) = (0, 0);
        unsafe {
            let text = LLVMGetInlineAsmAsmString(self.raw, &mut text_length);
            let constraints = LLVMGetInlineAsmConstraintString(self.raw, &mut constraints_length);
            Some((copy_bytes(text, text_length), copy_bytes(constraints, constraints_length)))
        }
    }

    pub(crate) fn allocated_type(self) -> Option<Type<'m>> {
        self.is(LLVMOpcode::LLVMAlloca).then(|| Type::new(unsafe { LLVMGetAllocatedType(self.raw) }))
    }

    pub(crate) fn alloca_alignment(self) -> u32 {
        if self.is(LLVMOpcode::LLVMAlloca) { unsafe { LLVMGetAlignment(self.raw) } } else { 0 }
    }

    /// For `getelementptr`, as an instruction or a constant expression.
    pub(crate) fn gep_source_type(self) -> Option<Type<'m>> {
        let is_gep = self.is(LLVMOpcode::LLVMGetElementPtr)
            || self.const_kind() == ConstKind::Expression(LLVMOpcode::LLVMGetElementPtr);
        is_gep.then(|| Type::new(unsafe { LLVMGetGEPSourceElementType(self.raw) }))
    }

    pub(crate) fn is_volatile(self) -> bool {
        matches!(
            self.opcode(),
            Some(
                LLVMOpcode::LLVMLoad
                    | LLVMOpcode::LLVMStore
                    | LLVMOpcode::LLVMAtomicRMW
                    | LLVMOpcode::LLVMAtomicCmpXchg
            )
        ) && unsafe { LLVMGetVolatile(self.raw) != 0 }
    }

    /// The memory order of a load, store, fence or `atomicrmw`.
    pub(crate) fn ordering(self) -> Ordering {
        match self.opcode() {
            Some(
                LLVMOpcode::LLVMLoad
                | LLVMOpcode::LLVMStore
                | LLVMOpcode::LLVMFence
                | LLVMOpcode::LLVMAtomicRMW,
            ) => ordering(unsafe { LLVMGetOrdering(self.raw) }),
            _ => Ordering::NotAtomic,
        }
    }

    pub(crate) fn cmpxchg_orders(self) -> Option<CmpXchgOrders> {
        self.is(LLVMOpcode::LLVMAtomicCmpXchg).then(|| unsafe {
            CmpXchgOrders {
                success: ordering(LLVMGetCmpXchgSuccessOrdering(self.raw)),
                failure: ordering(LLVMGetCmpXchgFailureOrdering(self.raw)),
                weak: LLVMGetWeak(self.raw) != 0,
            }
        })
    }

    pub(crate) fn rmw_op(self) -> Option<LLVMAtomicRMWBinOp> {
        self.is(LLVMOpcode::LLVMAtomicRMW).then(|| unsafe { LLVMGetAtomicRMWBinOp(self.raw) })
    }

    /// Whether an atomic operation or fence is only against the thread's own signal handlers.
    pub(crate) fn is_single_thread(self) -> bool {
        let atomic = match self.opcode() {
            Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore) => self.ordering() != Ordering::NotAtomic,
            Some(LLVMOpcode::LLVMFence | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg) => true,
            _ => false,
        };
        atomic && unsafe { LLVMIsAtomicSingleThread(self.raw) != 0 }
    }

    pub(crate) fn int_predicate(self) -> Option<LLVMIntPredicate> {
        self.is(LLVMOpcode::LLVMICmp).then(|| unsafe { LLVMGetICmpPredicate(self.raw) })
    }

    pub(crate) fn float_predicate(self) -> Option<LLVMRealPredicate> {
        self.is(LLVMOpcode::LLVMFCmp).then(|| unsafe { LLVMGetFCmpPredicate(self.raw) })
    }

    pub(crate) fn incoming(self) -> Vec<(Block<'m>, Value<'m>)> {
        if !self.is(LLVMOpcode::LLVMPHI) {
            return Vec::new();
        }
        let count = unsafe { LLVMCountIncoming(self.raw) };
        (0..count)
            .map(|index| unsafe {
                (
                    Block::new(LLVMGetIncomingBlock(self.raw, index)),
                    Value::new(LLVMGetIncomingValue(self.raw, index)),
                )
            })
            .collect()
    }

    pub(crate) fn successors(self) -> Vec<Block<'m>> {
        match self.opcode() {
            Some(
                LLVMOpcode::LLVMBr
                | LLVMOpcode::LLVMSwitch
                | LLVMOpcode::LLVMIndirectBr
                | LLVMOpcode::LLVMInvoke
                | LLVMOpcode::LLVMCallBr,
            ) => {
                let count = unsafe { LLVMGetNumSuccessors(self.raw) };
                (0..count).map(|index| Block::new(unsafe { LLVMGetSuccessor(self.raw, index) })).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The constant indices of `extractvalue` and `insertvalue`.
    pub(crate) fn indices(self) -> Vec<u32> {
        if !self.is(LLVMOpcode::LLVMExtractValue) && !self.is(LLVMOpcode::LLVMInsertValue) {
            return Vec::new();
        }
        unsafe {
            let count = LLVMGetNumIndices(self.raw) as usize;
            std::slice::from_raw_parts(LLVMGetIndices(self.raw), count).to_vec()
        }
    }

    /// The mask of `shufflevector`; `None` for undefined lanes.
    pub(crate) fn shuffle_mask(self) -> Vec<Option<u32>> {
        if !self.is(LLVMOpcode::LLVMShuffleVector) {
            return Vec::new();
        }
        let count = unsafe { LLVMGetNumMaskElements(self.raw) };
        (0..count).map(|lane| u32::try_from(unsafe { LLVMGetMaskValue(self.raw, lane) }).ok()).collect()
    }
}

fn ordering(raw: LLVMAtomicOrdering) -> Ordering {
    match raw {
        LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic => Ordering::NotAtomic,
        LLVMAtomicOrdering::LLVMAtomicOrderingUnordered | LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic => {
            Ordering::Relaxed
        }
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquire => Ordering::Acquire,
        LLVMAtomicOrdering::LLVMAtomicOrderingRelease => Ordering::Release,
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease => Ordering::AcqRel,
        LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent => Ordering::SeqCst,
    }
}
