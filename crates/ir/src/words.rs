//! The word of every enum variant in the text form: one table, used by the printer and by the parser.

use crate::{
    BinOp, CastOp, DataModel, FBinOp, FcmpPred, FloatTy, IcmpPred, IntrinsicOp, MemKind, RecordKind, RmwOp,
};
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

pub(crate) trait Word: Copy + 'static {
    fn word(self) -> &'static str;
    fn of_word(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($ty:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl Word for $ty {
            fn word(self) -> &'static str {
                match self { $($ty::$variant => $word),* }
            }
            fn of_word(word: &str) -> Option<Self> {
                match word { $($word => Some($ty::$variant),)* _ => None }
            }
        }
    };
}

words!(DataModel { Lp64 = "LP64", Ilp32 = "ILP32" });
words!(RecordKind { Struct = "struct", Union = "union", Class = "class" });
words!(FloatTy { F16 = "f16", BF16 = "bf16", F32 = "f32", F64 = "f64", F80 = "f80", F128 = "f128" });
words!(MemKind { Copy = "memcopy", Move = "memmove" });
words!(LoadOrder { Relaxed = "relaxed", Acquire = "acquire", SeqCst = "seq_cst" });
words!(StoreOrder { Relaxed = "relaxed", Release = "release", SeqCst = "seq_cst" });
words!(RmwOrder {
    Relaxed = "relaxed",
    Acquire = "acquire",
    Release = "release",
    AcqRel = "acq_rel",
    SeqCst = "seq_cst",
});
words!(FenceOrder { Acquire = "acquire", Release = "release", AcqRel = "acq_rel", SeqCst = "seq_cst" });
words!(BinOp {
    Add = "add",
    Sub = "sub",
    Mul = "mul",
    UDiv = "udiv",
    SDiv = "sdiv",
    URem = "urem",
    SRem = "srem",
    Shl = "shl",
    LShr = "lshr",
    AShr = "ashr",
    And = "and",
    Or = "or",
    Xor = "xor",
});
words!(FBinOp { Add = "fadd", Sub = "fsub", Mul = "fmul", Div = "fdiv", Rem = "frem" });
words!(IcmpPred {
    Eq = "eq",
    Ne = "ne",
    Ult = "ult",
    Ule = "ule",
    Ugt = "ugt",
    Uge = "uge",
    Slt = "slt",
    Sle = "sle",
    Sgt = "sgt",
    Sge = "sge",
});
words!(FcmpPred {
    False = "false",
    Oeq = "oeq",
    Ogt = "ogt",
    Oge = "oge",
    Olt = "olt",
    Ole = "ole",
    One = "one",
    Ord = "ord",
    Uno = "uno",
    Ueq = "ueq",
    Ugt = "ugt",
    Uge = "uge",
    Ult = "ult",
    Ule = "ule",
    Une = "une",
    True = "true",
});
words!(CastOp {
    Trunc = "trunc",
    ZExt = "zext",
    SExt = "sext",
    FpTrunc = "fptrunc",
    FpExt = "fpext",
    FpToUi = "fptoui",
    FpToSi = "fptosi",
    UiToFp = "uitofp",
    SiToFp = "sitofp",
    PtrToInt = "ptrtoint",
    IntToPtr = "inttoptr",
    Bitcast = "bitcast",
});
words!(RmwOp {
    Xchg = "xchg",
    Add = "add",
    Sub = "sub",
    And = "and",
    Nand = "nand",
    Or = "or",
    Xor = "xor",
    Max = "max",
    Min = "min",
    UMax = "umax",
    UMin = "umin",
    FAdd = "fadd",
    FSub = "fsub",
    FMax = "fmax",
    FMin = "fmin",
});
words!(IntrinsicOp {
    Bswap = "bswap",
    BitReverse = "bitreverse",
    CtPop = "ctpop",
    CtLz = "ctlz",
    CtTz = "cttz",
    Fshl = "fshl",
    Fshr = "fshr",
    Abs = "abs",
    SMin = "smin",
    SMax = "smax",
    UMin = "umin",
    UMax = "umax",
    SAddOverflow = "sadd_overflow",
    UAddOverflow = "uadd_overflow",
    SSubOverflow = "ssub_overflow",
    USubOverflow = "usub_overflow",
    SMulOverflow = "smul_overflow",
    UMulOverflow = "umul_overflow",
    SAddSat = "sadd_sat",
    UAddSat = "uadd_sat",
    SSubSat = "ssub_sat",
    USubSat = "usub_sat",
    FAbs = "fabs",
    Sqrt = "sqrt",
    Floor = "floor",
    Ceil = "ceil",
    FTrunc = "ftrunc",
    Rint = "rint",
    Round = "round",
    RoundEven = "roundeven",
    CopySign = "copysign",
    FMin = "fmin",
    FMax = "fmax",
    Fma = "fma",
    MulAdd = "fmuladd",
    Pow = "pow",
    Powi = "powi",
    Exp = "exp",
    Exp2 = "exp2",
    Log = "log",
    Log2 = "log2",
    Log10 = "log10",
    Sin = "sin",
    Cos = "cos",
    IsFpClass = "is_fpclass",
    Outside = "outside",
});
