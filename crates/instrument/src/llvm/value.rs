//! Values, types, blocks: reading.

use inkwell::llvm_sys::core::{
    LLVMConstIntGetSExtValue, LLVMConstNull, LLVMCountIncoming, LLVMCountParams, LLVMCountStructElementTypes,
    LLVMGetArrayLength2, LLVMGetBasicBlockParent, LLVMGetBasicBlockTerminator, LLVMGetCallSiteEnumAttribute,
    LLVMGetCalledValue, LLVMGetCmpXchgFailureOrdering, LLVMGetCmpXchgSuccessOrdering, LLVMGetConstOpcode,
    LLVMGetElementType, LLVMGetEnumAttributeAtIndex, LLVMGetEnumAttributeKindForName, LLVMGetFirstBasicBlock,
    LLVMGetFirstInstruction, LLVMGetFirstUse, LLVMGetGEPSourceElementType, LLVMGetICmpPredicate,
    LLVMGetIncomingBlock, LLVMGetIncomingValue, LLVMGetInstructionOpcode, LLVMGetInstructionParent,
    LLVMGetIntTypeWidth, LLVMGetLinkage, LLVMGetNNeg, LLVMGetNSW, LLVMGetNUW, LLVMGetNextBasicBlock,
    LLVMGetNextInstruction, LLVMGetNextUse, LLVMGetNumArgOperands, LLVMGetNumOperands, LLVMGetNumSuccessors,
    LLVMGetOperand, LLVMGetOrdering, LLVMGetParam, LLVMGetParamParent, LLVMGetPointerAddressSpace,
    LLVMGetPreviousInstruction, LLVMGetReturnType, LLVMGetSuccessor, LLVMGetTailCallKind,
    LLVMGetTypeAttributeValue, LLVMGetTypeKind, LLVMGetUser, LLVMGetValueName2, LLVMGetVolatile,
    LLVMGlobalGetValueType, LLVMInstructionEraseFromParent, LLVMIsAArgument, LLVMIsAConstantExpr,
    LLVMIsAConstantInt, LLVMIsAFunction, LLVMIsAGlobalValue, LLVMIsAGlobalVariable, LLVMIsAInlineAsm,
    LLVMIsAInstruction, LLVMIsATerminatorInst, LLVMIsAUser, LLVMIsAtomicSingleThread, LLVMIsDeclaration,
    LLVMIsFunctionVarArg, LLVMIsGlobalConstant, LLVMIsUndef, LLVMSetOperand, LLVMSetValueName2,
    LLVMSetVolatile, LLVMStructGetTypeAtIndex, LLVMTypeIsSized, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAttributeFunctionIndex, LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMTypeKind,
};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Value(pub(super) LLVMValueRef);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Block(pub(super) LLVMBasicBlockRef);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Type(pub(super) LLVMTypeRef);

impl Value {
    pub(super) fn maybe(raw: LLVMValueRef) -> Option<Value> {
        (!raw.is_null()).then_some(Value(raw))
    }

    pub(crate) fn opcode(self) -> Option<LLVMOpcode> {
        unsafe { (!LLVMIsAInstruction(self.0).is_null()).then(|| LLVMGetInstructionOpcode(self.0)) }
    }

    pub(crate) fn is(self, opcode: LLVMOpcode) -> bool {
        self.opcode() == Some(opcode)
    }

    pub(crate) fn is_call(self) -> bool {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr))
    }

    pub(crate) fn is_terminator(self) -> bool {
        unsafe { !LLVMIsATerminatorInst(self.0).is_null() }
    }

    pub(crate) fn is_argument(self) -> bool {
        unsafe { !LLVMIsAArgument(self.0).is_null() }
    }

    pub(crate) fn is_function(self) -> bool {
        unsafe { !LLVMIsAFunction(self.0).is_null() }
    }

    pub(crate) fn is_global_variable(self) -> bool {
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() }
    }

    /// A variable that is never written.
    pub(crate) fn is_constant_variable(self) -> bool {
        self.is_global_variable() && unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    pub(crate) fn is_declaration(self) -> bool {
        unsafe { LLVMIsAGlobalValue(self.0).is_null() || LLVMIsDeclaration(self.0) != 0 }
    }

    /// A function whose body here is the one that runs: not replaced by another definition when linking.
    pub(crate) fn is_exact(self) -> bool {
        !self.is_declaration()
            && !matches!(
                unsafe { LLVMGetLinkage(self.0) },
                LLVMLinkage::LLVMWeakAnyLinkage
                    | LLVMLinkage::LLVMLinkOnceAnyLinkage
                    | LLVMLinkage::LLVMExternalWeakLinkage
                    | LLVMLinkage::LLVMCommonLinkage
            )
    }

    /// A constant expression `getelementptr` or one that casts.
    pub(crate) fn constant_opcode(self) -> Option<LLVMOpcode> {
        unsafe { (!LLVMIsAConstantExpr(self.0).is_null()).then(|| LLVMGetConstOpcode(self.0)) }
    }

    pub(crate) fn ty(self) -> Type {
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    pub(crate) fn name(self) -> String {
        let mut length = 0;
        unsafe {
            let start = LLVMGetValueName2(self.0, &mut length);
            if start.is_null() || length == 0 {
                return String::new();
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), length)).into_owned()
        }
    }

    pub(crate) fn set_name(self, name: &str) {
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) };
    }

    pub(crate) fn operand_count(self) -> u32 {
        unsafe { if LLVMIsAUser(self.0).is_null() { 0 } else { LLVMGetNumOperands(self.0).max(0) as u32 } }
    }

    pub(crate) fn operand(self, index: u32) -> Option<Value> {
        if index >= self.operand_count() {
            return None;
        }
        Value::maybe(unsafe { LLVMGetOperand(self.0, index) })
    }

    pub(crate) fn users(self) -> Vec<Value> {
        let mut users = Vec::new();
        unsafe {
            let mut next = LLVMGetFirstUse(self.0);
            while !next.is_null() {
                users.push(Value(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        users
    }

    /// 0 of the same type, for an undefined constant.
    pub(crate) fn zero_for_undefined(self) -> Option<Value> {
        unsafe { (LLVMIsUndef(self.0) != 0).then(|| Value(LLVMConstNull(LLVMTypeOf(self.0)))) }
    }

    pub(crate) fn int_signed(self) -> Option<i64> {
        unsafe {
            let fits = !LLVMIsAConstantInt(self.0).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(self.0)) <= 64;
            fits.then(|| LLVMConstIntGetSExtValue(self.0))
        }
    }

    pub(crate) fn block(self) -> Option<Block> {
        unsafe { (!LLVMIsAInstruction(self.0).is_null()).then(|| Block(LLVMGetInstructionParent(self.0))) }
    }

    pub(crate) fn next(self) -> Option<Value> {
        Value::maybe(unsafe { LLVMGetNextInstruction(self.0) })
    }

    pub(crate) fn previous(self) -> Option<Value> {
        Value::maybe(unsafe { LLVMGetPreviousInstruction(self.0) })
    }

    pub(crate) fn erase(self) {
        unsafe { LLVMInstructionEraseFromParent(self.0) };
    }

    pub(crate) fn set_operand(self, index: u32, value: Value) {
        if index < self.operand_count() {
            unsafe { LLVMSetOperand(self.0, index, value.0) };
        }
    }

    /// For calls: the callee, through nothing.
    pub(crate) fn callee(self) -> Option<Value> {
        if self.is_call() { Value::maybe(unsafe { LLVMGetCalledValue(self.0) }) } else { None }
    }

    pub(crate) fn direct_callee(self) -> Option<Value> {
        self.callee().filter(|callee| callee.is_function())
    }

    pub(crate) fn argument_count(self) -> u32 {
        if self.is_call() { unsafe { LLVMGetNumArgOperands(self.0) } } else { 0 }
    }

    pub(crate) fn arguments(self) -> Vec<Value> {
        (0..self.argument_count()).filter_map(|index| self.operand(index)).collect()
    }

    pub(crate) fn is_inline_asm(self) -> bool {
        unsafe { !LLVMIsAInlineAsm(self.0).is_null() }
    }

    pub(crate) fn is_must_tail(self) -> bool {
        use inkwell::llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail;
        self.is(LLVMOpcode::LLVMCall) && unsafe { LLVMGetTailCallKind(self.0) } == LLVMTailCallKindMustTail
    }

    /// Whether a call site or its callee has an attribute at a position (parameters from 0).
    pub(crate) fn call_has(self, parameter: Option<u32>, name: &str) -> bool {
        let index = parameter.map_or(LLVMAttributeFunctionIndex, |parameter| parameter + 1);
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            if self.is_call() && !LLVMGetCallSiteEnumAttribute(self.0, index, kind).is_null() {
                return true;
            }
            self.direct_callee().is_some_and(|callee| {
                let fixed = parameter.is_none_or(|parameter| parameter < LLVMCountParams(callee.0));
                fixed && !LLVMGetEnumAttributeAtIndex(callee.0, index, kind).is_null()
            })
        }
    }

    /// The type named by an attribute of a call's argument: `byval(T)`.
    pub(crate) fn call_type_attribute(self, parameter: u32, name: &str) -> Option<Type> {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMGetCallSiteEnumAttribute(self.0, parameter + 1, kind);
            (!attribute.is_null()).then(|| Type(LLVMGetTypeAttributeValue(attribute)))
        }
    }

    /// Whether a function has an attribute at a position.
    pub(crate) fn function_has(self, parameter: Option<u32>, name: &str) -> bool {
        if !self.is_function() {
            return false;
        }
        let index = parameter.map_or(LLVMAttributeFunctionIndex, |parameter| parameter + 1);
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            !LLVMGetEnumAttributeAtIndex(self.0, index, kind).is_null()
        }
    }

    pub(crate) fn parameters(self) -> Vec<Value> {
        if !self.is_function() {
            return Vec::new();
        }
        unsafe { (0..LLVMCountParams(self.0)).map(|index| Value(LLVMGetParam(self.0, index))).collect() }
    }

    /// The function that an argument belongs to. Only for arguments.
    /// A function that takes more arguments than it declares.
    pub(crate) fn is_variadic(self) -> bool {
        unsafe { LLVMIsFunctionVarArg(LLVMGlobalGetValueType(self.0)) != 0 }
    }

    /// What a function returns.
    pub(crate) fn result(self) -> Type {
        Type(unsafe { LLVMGetReturnType(LLVMGlobalGetValueType(self.0)) })
    }

    pub(crate) fn argument_function(self) -> Value {
        if self.is_argument() { Value(unsafe { LLVMGetParamParent(self.0) }) } else { self }
    }

    pub(crate) fn blocks(self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if !self.is_function() {
            return blocks;
        }
        unsafe {
            let mut next = LLVMGetFirstBasicBlock(self.0);
            while !next.is_null() {
                blocks.push(Block(next));
                next = LLVMGetNextBasicBlock(next);
            }
        }
        blocks
    }

    pub(crate) fn successors(self) -> Vec<Block> {
        unsafe {
            if !self.is_terminator() {
                return Vec::new();
            }
            (0..LLVMGetNumSuccessors(self.0)).map(|index| Block(LLVMGetSuccessor(self.0, index))).collect()
        }
    }

    pub(crate) fn incoming(self) -> Vec<(Block, Value)> {
        if !self.is(LLVMOpcode::LLVMPHI) {
            return Vec::new();
        }
        unsafe {
            (0..LLVMCountIncoming(self.0))
                .map(|index| {
                    (Block(LLVMGetIncomingBlock(self.0, index)), Value(LLVMGetIncomingValue(self.0, index)))
                })
                .collect()
        }
    }

    fn is_memory_access(self) -> bool {
        matches!(
            self.opcode(),
            Some(
                LLVMOpcode::LLVMLoad
                    | LLVMOpcode::LLVMStore
                    | LLVMOpcode::LLVMAtomicRMW
                    | LLVMOpcode::LLVMAtomicCmpXchg
            )
        )
    }

    pub(crate) fn is_volatile(self) -> bool {
        self.is_memory_access() && unsafe { LLVMGetVolatile(self.0) != 0 }
    }

    pub(crate) fn set_volatile(self, volatile: bool) {
        if self.is_memory_access() {
            unsafe { LLVMSetVolatile(self.0, i32::from(volatile)) };
        }
    }

    /// The number that C11 gives a memory order; `None` for plain accesses.
    pub(crate) fn order(self) -> Option<u32> {
        match self.opcode() {
            Some(
                LLVMOpcode::LLVMLoad
                | LLVMOpcode::LLVMStore
                | LLVMOpcode::LLVMFence
                | LLVMOpcode::LLVMAtomicRMW,
            ) => c11(unsafe { LLVMGetOrdering(self.0) }),
            Some(LLVMOpcode::LLVMAtomicCmpXchg) => c11(unsafe { LLVMGetCmpXchgSuccessOrdering(self.0) }),
            _ => None,
        }
    }

    pub(crate) fn failure_order(self) -> Option<u32> {
        if self.is(LLVMOpcode::LLVMAtomicCmpXchg) {
            c11(unsafe { LLVMGetCmpXchgFailureOrdering(self.0) })
        } else {
            None
        }
    }

    /// Whether a fence or atomic operation orders a thread with its own signal handlers only.
    pub(crate) fn is_single_thread(self) -> bool {
        self.order().is_some() && unsafe { LLVMIsAtomicSingleThread(self.0) != 0 }
    }

    pub(crate) fn gep_source(self) -> Option<Type> {
        let is_gep = self.is(LLVMOpcode::LLVMGetElementPtr)
            || self.constant_opcode() == Some(LLVMOpcode::LLVMGetElementPtr);
        is_gep.then(|| Type(unsafe { LLVMGetGEPSourceElementType(self.0) }))
    }

    pub(crate) fn predicate(self) -> Option<LLVMIntPredicate> {
        self.is(LLVMOpcode::LLVMICmp).then(|| unsafe { LLVMGetICmpPredicate(self.0) })
    }

    fn is_arithmetic(self) -> bool {
        matches!(
            self.opcode(),
            Some(LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMMul | LLVMOpcode::LLVMShl)
        )
    }

    /// For arithmetic: `nsw`.
    pub(crate) fn has_no_signed_wrap(self) -> bool {
        self.is_arithmetic() && unsafe { LLVMGetNSW(self.0) != 0 }
    }

    /// For arithmetic: `nuw`.
    pub(crate) fn has_no_unsigned_wrap(self) -> bool {
        self.is_arithmetic() && unsafe { LLVMGetNUW(self.0) != 0 }
    }

    /// `zext nneg`: the sign makes no difference.
    pub(crate) fn is_of_non_negative(self) -> bool {
        self.is(LLVMOpcode::LLVMZExt) && unsafe { LLVMGetNNeg(self.0) != 0 }
    }
}

impl Block {
    pub(crate) fn instructions(self) -> Vec<Value> {
        let mut list = Vec::new();
        unsafe {
            let mut next = LLVMGetFirstInstruction(self.0);
            while !next.is_null() {
                list.push(Value(next));
                next = LLVMGetNextInstruction(next);
            }
        }
        list
    }

    pub(crate) fn terminator(self) -> Option<Value> {
        Value::maybe(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    pub(crate) fn function(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockParent(self.0) })
    }

    pub(crate) fn successors(self) -> Vec<Block> {
        self.terminator().map(Value::successors).unwrap_or_default()
    }

    /// Where an instruction may be inserted at the earliest: after phis and a landing pad. `None` where nothing may stand.
    pub(crate) fn first_insertion_point(self) -> Option<Value> {
        for inst in self.instructions() {
            match inst.opcode() {
                Some(LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMLandingPad) => {}
                Some(LLVMOpcode::LLVMCatchSwitch) => return None,
                _ => return Some(inst),
            }
        }
        None
    }
}

impl Type {
    pub(crate) fn is_pointer(self) -> bool {
        unsafe { LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMPointerTypeKind }
    }

    /// A pointer to ordinary memory.
    pub(crate) fn is_void(self) -> bool {
        unsafe { LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMVoidTypeKind }
    }

    pub(crate) fn is_plain_pointer(self) -> bool {
        self.is_pointer() && unsafe { LLVMGetPointerAddressSpace(self.0) == 0 }
    }

    pub(crate) fn int_width(self) -> Option<u32> {
        unsafe {
            (LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMIntegerTypeKind)
                .then(|| LLVMGetIntTypeWidth(self.0))
        }
    }

    pub(crate) fn is_struct(self) -> bool {
        unsafe { LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMStructTypeKind }
    }

    pub(crate) fn field(self, index: u32) -> Option<Type> {
        let inside = self.is_struct() && unsafe { index < LLVMCountStructElementTypes(self.0) };
        inside.then(|| Type(unsafe { LLVMStructGetTypeAtIndex(self.0, index) }))
    }

    pub(crate) fn element(self) -> Option<Type> {
        unsafe {
            matches!(
                LLVMGetTypeKind(self.0),
                LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind
            )
            .then(|| Type(LLVMGetElementType(self.0)))
        }
    }

    pub(crate) fn field_count(self) -> u32 {
        if self.is_struct() { unsafe { LLVMCountStructElementTypes(self.0) } } else { 0 }
    }

    /// Element type and length of an array.
    pub(crate) fn array(self) -> Option<(Type, u64)> {
        unsafe {
            (LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMArrayTypeKind)
                .then(|| (Type(LLVMGetElementType(self.0)), LLVMGetArrayLength2(self.0)))
        }
    }

    pub(crate) fn is_sized(self) -> bool {
        let scalable = unsafe { LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMScalableVectorTypeKind };
        !scalable && unsafe { LLVMTypeIsSized(self.0) != 0 }
    }
}

fn c11(ordering: LLVMAtomicOrdering) -> Option<u32> {
    match ordering {
        LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic => None,
        LLVMAtomicOrdering::LLVMAtomicOrderingUnordered | LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic => {
            Some(0)
        }
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquire => Some(2),
        LLVMAtomicOrdering::LLVMAtomicOrderingRelease => Some(3),
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease => Some(4),
        LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent => Some(5),
    }
}
