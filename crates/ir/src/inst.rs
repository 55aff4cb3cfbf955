//! Instructions and terminators.
//!
//! Arithmetic wraps (assumption A-WRAP); shifts by the width or more give 0 (or the sign); division by zero is a run-time problem.

use crate::{BlockId, DebugTypeId, FunctionId, GlobalId, PlaceId, Reg, Ty};
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StoreOrder, Symbol};

/// A register or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    Reg(Reg),
    /// Bits of an integer or float, zero-extended. For `F80` the low 80 bits.
    Const(u128),
    /// The address of a global plus bytes. Not for thread-locals: see [`Inst::TlsAddr`].
    Global(GlobalId, i64),
    Function(FunctionId),
    /// The address of a block of this function (computed goto).
    Block(BlockId),
    Null,
    /// A value that the program must not depend on; reads as 0.
    Undef,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Inst {
    Bin {
        dst: Reg,
        op: BinOp,
        ty: Ty,
        a: Operand,
        b: Operand,
    },
    FBin {
        dst: Reg,
        op: FBinOp,
        ty: Ty,
        a: Operand,
        b: Operand,
    },
    FNeg {
        dst: Reg,
        ty: Ty,
        a: Operand,
    },
    Icmp {
        dst: Reg,
        pred: IcmpPred,
        ty: Ty,
        a: Operand,
        b: Operand,
    },
    Fcmp {
        dst: Reg,
        pred: FcmpPred,
        ty: Ty,
        a: Operand,
        b: Operand,
    },
    Cast {
        dst: Reg,
        op: CastOp,
        from: Ty,
        to: Ty,
        a: Operand,
    },
    Select {
        dst: Reg,
        ty: Ty,
        cond: Operand,
        a: Operand,
        b: Operand,
    },
    Copy {
        dst: Reg,
        ty: Ty,
        a: Operand,
    },
    /// A local variable in memory: `bytes` may be computed (VLA). A fresh object each time; lives until the function returns or
    /// the matching `StackRestore`.
    Alloca {
        dst: Reg,
        bytes: Operand,
        align: u32,
        name: Option<Symbol>,
        debug_type: Option<DebugTypeId>,
    },
    /// `dst` = the address of this thread's copy of a thread-local global.
    TlsAddr {
        dst: Reg,
        global: GlobalId,
    },
    Load {
        dst: Reg,
        ty: Ty,
        ptr: Operand,
        atomic: Option<LoadOrder>,
        volatile: bool,
        place: PlaceId,
    },
    Store {
        ty: Ty,
        value: Operand,
        ptr: Operand,
        atomic: Option<StoreOrder>,
        volatile: bool,
        place: PlaceId,
    },
    /// `dst` = old value.
    Rmw {
        dst: Reg,
        op: RmwOp,
        ty: Ty,
        ptr: Operand,
        value: Operand,
        order: RmwOrder,
        place: PlaceId,
    },
    CmpXchg(Box<CmpXchg>),
    Fence {
        order: FenceOrder,
    },
    /// A fence between a thread and its own signal handlers: orders nothing between threads.
    SignalFence,
    Gep(Box<Gep>),
    /// `memcpy`, `memmove` as instructions; the bytes may overlap for `Move`.
    MemCopy {
        kind: MemKind,
        dst: Operand,
        src: Operand,
        len: Operand,
        dst_place: PlaceId,
        src_place: PlaceId,
    },
    MemSet {
        dst: Operand,
        byte: Operand,
        len: Operand,
        place: PlaceId,
    },
    /// `dsts` are the returned values, in order; shorter than the callee's when unused.
    Call {
        dsts: Vec<Reg>,
        callee: Callee,
        args: Vec<CallArg>,
    },
    /// A pure operation of the compiler on scalars.
    Intrinsic {
        dsts: Vec<Reg>,
        op: IntrinsicOp,
        ty: Ty,
        args: Vec<Operand>,
    },
    /// Makes `list` (a `va_list` in memory) start at the first variadic argument.
    VaStart {
        list: Operand,
    },
    VaEnd {
        list: Operand,
    },
    VaCopy {
        dst: Operand,
        src: Operand,
    },
    /// `dst` = next argument of type `ty` (only where the compiler leaves it as an instruction).
    VaArg {
        dst: Reg,
        ty: Ty,
        list: Operand,
    },
    StackSave {
        dst: Reg,
    },
    StackRestore {
        mark: Operand,
    },
    /// Inline assembly: `dsts` and what `writes` point to (bytes each) become arbitrary, `reads` are read. `reads` are values: memory
    /// that it reads is loaded into registers before it.
    Asm {
        dsts: Vec<Reg>,
        text: Symbol,
        writes: Vec<(Operand, u64)>,
        reads: Vec<Operand>,
    },
    /// A construct that is not understood. Matters only when reached.
    Unsupported {
        dsts: Vec<Reg>,
        reason: Symbol,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct CmpXchg {
    pub old: Reg,
    /// 1 bit: whether the exchange took place.
    pub success: Reg,
    pub ty: Ty,
    pub ptr: Operand,
    pub expected: Operand,
    pub new: Operand,
    pub on_success: RmwOrder,
    pub on_failure: LoadOrder,
    pub weak: bool,
    pub place: PlaceId,
}

/// `dst` = `base` + `offset` + sum of index times scale, in bytes; indices are sign-extended from their type.
#[derive(Clone, Debug, PartialEq)]
pub struct Gep {
    pub dst: Reg,
    pub base: Operand,
    pub offset: i64,
    pub indices: Vec<(Operand, Ty, i64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    Direct(FunctionId),
    Indirect(Operand),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallArg {
    pub value: Operand,
    pub ty: Ty,
    /// Passed by value as a copy of that many bytes with that alignment.
    pub by_value: Option<(u64, u32)>,
    /// The expression of the object that a pointer argument points to (`q->m` for `&q->m`), where known.
    pub place: Option<PlaceId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemKind {
    Copy,
    Move,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FBinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IcmpPred {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

/// Ordered (false on NaN) and unordered (true on NaN) comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FcmpPred {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Uno,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    True,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    PtrToInt,
    IntToPtr,
    /// Same bits, other type.
    Bitcast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    FAdd,
    FSub,
    FMax,
    FMin,
}

/// `ty` of the instruction is the operand type. Results in order: value, then the overflow bit where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntrinsicOp {
    Bswap,
    BitReverse,
    CtPop,
    CtLz,
    CtTz,
    /// Funnel shifts: a, b, amount.
    Fshl,
    Fshr,
    Abs,
    SMin,
    SMax,
    UMin,
    UMax,
    SAddOverflow,
    UAddOverflow,
    SSubOverflow,
    USubOverflow,
    SMulOverflow,
    UMulOverflow,
    SAddSat,
    UAddSat,
    SSubSat,
    USubSat,
    FAbs,
    Sqrt,
    Floor,
    Ceil,
    FTrunc,
    Rint,
    Round,
    RoundEven,
    CopySign,
    FMin,
    FMax,
    /// a * b + c with one rounding.
    Fma,
    /// a * b + c with one rounding or two, as the implementation likes (C11 6.5p8).
    MulAdd,
    Pow,
    /// Float to the power of an `i32` (second operand).
    Powi,
    Exp,
    Exp2,
    Log,
    Log2,
    Log10,
    Sin,
    Cos,
    /// The class test of `isnan` and friends: value, mask (32-bit constant); result 1 bit.
    IsFpClass,
    /// A value that something outside the program may have changed (`const volatile`): any of its type; where the program is run, the
    /// argument.
    Outside,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    Br(BlockId),
    CondBr {
        cond: Operand,
        then: BlockId,
        other: BlockId,
    },
    Switch {
        value: Operand,
        ty: Ty,
        cases: Vec<(u128, BlockId)>,
        default: BlockId,
    },
    /// Computed goto.
    IndirectBr {
        target: Operand,
        targets: Vec<BlockId>,
    },
    Ret {
        values: Vec<Operand>,
    },
    Unreachable,
    /// Not understood (exception handling, …). Matters only when reached.
    Unsupported {
        reason: Symbol,
    },
}
