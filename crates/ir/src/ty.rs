//! Machine types of registers and memory accesses: scalars only.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ty {
    /// An integer of 1 to 128 bits. Registers hold it zero-extended; the unused high bits are always 0.
    Int(u8),
    Float(FloatTy),
    /// 4 or 8 bytes, by the data model.
    Ptr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FloatTy {
    F16,
    BF16,
    F32,
    F64,
    /// x87 extended precision (`long double`): 10 bytes of value in 16 (LP64) or 12 (ILP32) bytes of memory.
    F80,
    F128,
}

impl FloatTy {
    /// Bytes that a load or store touches.
    pub fn access_bytes(self) -> u32 {
        match self {
            FloatTy::F16 | FloatTy::BF16 => 2,
            FloatTy::F32 => 4,
            FloatTy::F64 => 8,
            FloatTy::F80 => 10,
            FloatTy::F128 => 16,
        }
    }
}

impl Ty {
    /// Bytes that a load or store of this type touches.
    pub fn access_bytes(self, pointer_bytes: u32) -> u32 {
        match self {
            Ty::Int(bits) => u32::from(bits).div_ceil(8),
            Ty::Float(float) => float.access_bytes(),
            Ty::Ptr => pointer_bytes,
        }
    }

    /// Whether a register of this type needs more than 64 bits.
    pub fn is_wide(self) -> bool {
        match self {
            Ty::Int(bits) => bits > 64,
            Ty::Float(float) => matches!(float, FloatTy::F80 | FloatTy::F128),
            Ty::Ptr => false,
        }
    }
}
