//! Compiled code: what the loop in `exec` runs. One function is a flat list; operands are slots of the frame.
//!
//! A frame holds the registers of the function (wide ones in two slots), then its constants. Registers hold zero-extended values.

use crate::live::Liveness;
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder, Symbol};
use raddle_ir::{
    BinOp, BlockId, CastOp, DebugTypeId, FBinOp, FcmpPred, FloatTy, FunctionId, GlobalId, IcmpPred,
    IntrinsicOp, RmwOp, Ty,
};
use raddle_libmodel::Detail;
use std::sync::OnceLock;

/// A slot of the frame.
pub(crate) type S = u32;
/// A position in the code of the function.
pub(crate) type Pc = u32;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    Add64 {
        d: S,
        a: S,
        b: S,
    },
    Add32 {
        d: S,
        a: S,
        b: S,
    },
    Sub64 {
        d: S,
        a: S,
        b: S,
    },
    Sub32 {
        d: S,
        a: S,
        b: S,
    },
    Mul64 {
        d: S,
        a: S,
        b: S,
    },
    Mul32 {
        d: S,
        a: S,
        b: S,
    },
    And {
        d: S,
        a: S,
        b: S,
    },
    Or {
        d: S,
        a: S,
        b: S,
    },
    Xor {
        d: S,
        a: S,
        b: S,
    },
    Bin {
        op: BinOp,
        bits: u8,
        d: S,
        a: S,
        b: S,
    },
    BinWide {
        op: BinOp,
        bits: u8,
        d: S,
        a: S,
        b: S,
    },
    /// Difference of two pointers: exposes them when they are of different objects.
    PtrDiff {
        d: S,
        a: S,
        b: S,
    },
    Eq {
        d: S,
        a: S,
        b: S,
    },
    Ne {
        d: S,
        a: S,
        b: S,
    },
    Ult {
        d: S,
        a: S,
        b: S,
    },
    Ule {
        d: S,
        a: S,
        b: S,
    },
    Slt {
        shift: u8,
        d: S,
        a: S,
        b: S,
    },
    Sle {
        shift: u8,
        d: S,
        a: S,
        b: S,
    },
    /// Comparison of pointers whose result may be up to the layout of memory.
    IcmpPtr {
        pred: IcmpPred,
        d: S,
        a: S,
        b: S,
    },
    IcmpWide {
        pred: IcmpPred,
        bits: u8,
        d: S,
        a: S,
        b: S,
    },
    FBin32 {
        op: FBinOp,
        d: S,
        a: S,
        b: S,
    },
    FBin64 {
        op: FBinOp,
        d: S,
        a: S,
        b: S,
    },
    FBinOther {
        op: FBinOp,
        ty: FloatTy,
        d: S,
        a: S,
        b: S,
    },
    FNeg {
        ty: FloatTy,
        d: S,
        a: S,
    },
    Fcmp {
        pred: FcmpPred,
        ty: FloatTy,
        d: S,
        a: S,
        b: S,
    },
    /// Keeps the low bits.
    Trunc {
        bits: u8,
        d: S,
        a: S,
    },
    Sext {
        from: u8,
        to: u8,
        d: S,
        a: S,
    },
    PtrToInt {
        bits: u8,
        d: S,
        a: S,
    },
    Cast {
        desc: u32,
        d: S,
        a: S,
    },
    Select {
        d: S,
        cond: S,
        a: S,
        b: S,
    },
    SelectWide {
        d: S,
        cond: S,
        a: S,
        b: S,
    },
    Move {
        d: S,
        a: S,
    },
    Move2 {
        d: S,
        a: S,
    },
    Alloca {
        desc: u32,
        d: S,
        bytes: S,
    },
    TlsAddr {
        d: S,
        global: GlobalId,
    },
    Load1 {
        d: S,
        p: S,
    },
    Load2 {
        d: S,
        p: S,
    },
    Load4 {
        d: S,
        p: S,
    },
    Load8 {
        d: S,
        p: S,
    },
    /// A load of pointer width whose value is only compared for equality, stored or handed to thread functions.
    LoadHandle {
        d: S,
        p: S,
    },
    LoadPtr {
        d: S,
        p: S,
    },
    LoadOther {
        bits: u8,
        bytes: u8,
        d: S,
        p: S,
    },
    Store1 {
        p: S,
        v: S,
    },
    Store2 {
        p: S,
        v: S,
    },
    Store4 {
        p: S,
        v: S,
    },
    Store8 {
        p: S,
        v: S,
    },
    StorePtr {
        p: S,
        v: S,
    },
    StoreOther {
        bytes: u8,
        p: S,
        v: S,
    },
    /// `d` = `base` + sign-extended index * scale, at pointer width.
    Gep {
        shift: u8,
        d: S,
        base: S,
        index: S,
        scale: i32,
    },
    GepMany {
        desc: u32,
        d: S,
        base: S,
    },
    Jump {
        count: u16,
        target: Pc,
    },
    Goto {
        target: Pc,
    },
    JumpIf {
        count: u16,
        cond: S,
        then: Pc,
        other: Pc,
    },
    JumpEq {
        count: u16,
        a: S,
        b: S,
        then: Pc,
        other: Pc,
    },
    JumpNe {
        count: u16,
        a: S,
        b: S,
        then: Pc,
        other: Pc,
    },
    JumpUlt {
        count: u16,
        a: S,
        b: S,
        then: Pc,
        other: Pc,
    },
    JumpUle {
        count: u16,
        a: S,
        b: S,
        then: Pc,
        other: Pc,
    },
    JumpSlt {
        shift: u8,
        count: u16,
        a: S,
        b: S,
        then: Pc,
        other: Pc,
    },
    JumpSle {
        shift: u8,
        count: u16,
        a: S,
        b: S,
        then: Pc,
        other: Pc,
    },
    Switch {
        count: u16,
        desc: u32,
        value: S,
    },
    IndirectBr {
        count: u16,
        desc: u32,
        target: S,
    },
    Ret {
        count: u16,
        desc: u32,
    },
    Call {
        desc: u32,
    },
    Atomic {
        desc: u32,
    },
    Fence {
        order: FenceOrder,
    },
    MemCopy {
        d: S,
        s: S,
        len: S,
    },
    MemSet {
        d: S,
        byte: S,
        len: S,
    },
    Intrinsic {
        desc: u32,
    },
    VaStart {
        list: S,
    },
    VaCopy {
        d: S,
        s: S,
    },
    VaArg {
        desc: u32,
        d: S,
        list: S,
    },
    StackSave {
        d: S,
    },
    StackRestore {
        mark: S,
    },
    Asm {
        desc: u32,
    },
    Unsupported {
        reason: Symbol,
    },
    Unreachable,
    /// An edge of a reported branch.
    BranchBegin {
        taken: BlockId,
    },
    /// Reported branches end at this block.
    BranchEnd {
        block: BlockId,
    },
    /// The next call may come to another function another time.
    UnknownBranch,
    /// The next instruction compares these, which may be handles of threads.
    Handles {
        a: S,
        b: S,
    },
    /// The next instruction reads a local that was never assigned.
    Unassigned,
    Nop,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Func {
    pub code: Vec<Code>,
    /// Per position of `code`.
    pub sites: Vec<SiteId>,
    pub consts: Vec<u64>,
    /// First slot of the constants.
    pub registers: u32,
    /// Slots of a frame.
    pub slots: u32,
    pub params: Vec<ParamSlot>,
    pub variadic: bool,
    pub calls: Vec<CallDesc>,
    pub allocas: Vec<AllocaDesc>,
    pub casts: Vec<CastDesc>,
    pub geps: Vec<GepDesc>,
    pub switches: Vec<SwitchDesc>,
    pub indirect: Vec<IndirectDesc>,
    pub rets: Vec<Vec<RetValue>>,
    pub atomics: Vec<AtomicDesc>,
    pub intrinsics: Vec<IntrinsicDesc>,
    pub va_args: Vec<Ty>,
    pub asms: Vec<AsmDesc>,
    /// Number of this function's block 0 among all blocks of the program.
    pub first_block: u32,
    /// Slot of each register.
    pub reg_slots: Vec<S>,
    /// Where the code of each block starts, block 0 first.
    pub block_starts: Vec<Pc>,
    /// Where the terminator of each block is; the moves of its edges follow.
    pub terminator_pcs: Vec<Pc>,
    pub liveness: OnceLock<Liveness>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamSlot {
    pub slot: S,
    pub ty: Ty,
}

#[derive(Clone, Debug)]
pub(crate) struct CallDesc {
    pub callee: CallTarget,
    pub args: Vec<ArgDesc>,
    pub dsts: Vec<(S, Ty)>,
    /// Pointee type of a pointer result, where the program says it: names heap blocks.
    pub result_type: Option<DebugTypeId>,
    /// The result is used in ways other than comparing, storing and handing it to thread functions.
    pub result_computed_with: bool,
    pub result_is_used: bool,
    /// A pointer that is used otherwise than to load and store.
    pub result_is_kept: bool,
    /// How closely the program looks at the result.
    pub result_look: Detail,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum CallTarget {
    Direct(FunctionId),
    Indirect(S),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ArgDesc {
    pub slot: S,
    pub ty: Ty,
    pub by_value: Option<(u64, u32)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocaDesc {
    pub align: u32,
    /// No other thread can ever hold its address.
    pub private: bool,
    pub name: Option<Symbol>,
    pub ty: Option<DebugTypeId>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CastDesc {
    pub op: CastOp,
    pub from: Ty,
    pub to: Ty,
}

#[derive(Clone, Debug)]
pub(crate) struct GepDesc {
    pub offset: i64,
    /// Slot, bits to shift out for sign extension, scale.
    pub indices: Vec<(S, u32, i64)>,
}

#[derive(Clone, Debug)]
pub(crate) struct SwitchDesc {
    pub wide: bool,
    /// Sorted by value.
    pub cases: Vec<(u128, Pc)>,
    pub default: Pc,
}

#[derive(Clone, Debug)]
pub(crate) struct IndirectDesc {
    pub targets: Vec<(BlockId, Pc)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RetValue {
    pub slot: S,
    pub ty: Ty,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct AtomicDesc {
    pub kind: AtomicKind,
    pub ty: Ty,
    pub ptr: S,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum AtomicKind {
    Load {
        d: S,
        order: LoadOrder,
    },
    Store {
        value: S,
        order: StoreOrder,
    },
    Rmw {
        d: S,
        op: RmwOp,
        value: S,
        order: RmwOrder,
    },
    CmpXchg {
        old: S,
        success: S,
        expected: S,
        new: S,
        on_success: RmwOrder,
        on_failure: LoadOrder,
        /// It may fail for no reason.
        weak: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct IntrinsicDesc {
    pub op: IntrinsicOp,
    pub ty: Ty,
    pub dsts: Vec<(S, Ty)>,
    pub args: Vec<S>,
}

#[derive(Clone, Debug)]
pub(crate) struct AsmDesc {
    pub dsts: Vec<(S, Ty)>,
    pub writes: Vec<(S, u64)>,
}
