//! The values behind `...`: at the call itself, or in memory behind a `va_list`.
//!
//! The machine passes every variadic argument in memory. LP64: the structure of the System V ABI, whose overflow area holds all
//! of them in slots of 8 bytes (`long double`: 16, aligned). ILP32: a pointer to arguments packed at multiples of 4 bytes
//! (`long double`: 12).

use super::{Host, Outcome};
use raddle_ir::{DataModel, FloatTy, Ty};

pub(super) enum VarArgs {
    /// The next argument of this call.
    Call { next: usize },
    /// The next bytes; `list` is where the place is written back, on LP64.
    Memory { next: u64, list: Option<u64> },
}

/// A floating-point argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Real {
    Double(f64),
    /// Low 80 bits.
    Extended(u128),
}

/// Byte offset of the pointer to the overflow area.
const OVERFLOW_AREA: u64 = 8;

impl VarArgs {
    pub(super) fn of_call(first: usize) -> VarArgs {
        VarArgs::Call { next: first }
    }

    /// The `va_list` that is argument `index` of the call.
    pub(super) fn of_list(host: &mut dyn Host, index: usize) -> Outcome<VarArgs> {
        let list = host.pointer(index);
        Ok(match host.data_model() {
            DataModel::Lp64 => {
                let next = host.read_pointer(list.wrapping_add(OVERFLOW_AREA))?;
                VarArgs::Memory { next, list: Some(list) }
            }
            DataModel::Ilp32 => VarArgs::Memory { next: list, list: None },
        })
    }

    /// An integer of `bytes` bytes, zero-extended.
    pub(super) fn integer(&mut self, host: &mut dyn Host, bytes: u64) -> Outcome<u64> {
        let raw = match self {
            VarArgs::Call { next } => take(host, next) as u64,
            VarArgs::Memory { .. } => {
                let at = self.advance(host, bytes, 1)?;
                let mut buffer = [0; 8];
                host.read(at, &mut buffer[..bytes as usize])?;
                u64::from_le_bytes(buffer)
            }
        };
        Ok(if bytes < 8 { raw & ((1 << (8 * bytes)) - 1) } else { raw })
    }

    pub(super) fn int(&mut self, host: &mut dyn Host) -> Outcome<i32> {
        self.integer(host, 4).map(|bits| bits as i32)
    }

    pub(super) fn pointer(&mut self, host: &mut dyn Host) -> Outcome<u64> {
        match self {
            VarArgs::Call { next } => Ok(take(host, next) as u64 & host.word_max()),
            VarArgs::Memory { .. } => {
                let word = host.word_bytes();
                let at = self.advance(host, word, 1)?;
                host.read_pointer(at)
            }
        }
    }

    pub(super) fn double(&mut self, host: &mut dyn Host) -> Outcome<Real> {
        match self {
            VarArgs::Call { next } => {
                let extended = host.arg_type(*next) == Some(Ty::Float(FloatTy::F80));
                let bits = take(host, next);
                Ok(if extended { Real::Extended(bits) } else { Real::Double(f64::from_bits(bits as u64)) })
            }
            VarArgs::Memory { .. } => self.integer(host, 8).map(|bits| Real::Double(f64::from_bits(bits))),
        }
    }

    pub(super) fn long_double(&mut self, host: &mut dyn Host) -> Outcome<Real> {
        match self {
            VarArgs::Call { .. } => self.double(host),
            VarArgs::Memory { .. } => {
                let (size, align) = match host.data_model() {
                    DataModel::Lp64 => (16, 16),
                    DataModel::Ilp32 => (12, 4),
                };
                let at = self.advance(host, size, align)?;
                let mut bytes = [0; 16];
                host.read(at, &mut bytes[..10])?;
                Ok(Real::Extended(u128::from_le_bytes(bytes)))
            }
        }
    }

    /// The address of the next argument in memory; moves on behind it.
    fn advance(&mut self, host: &mut dyn Host, bytes: u64, align: u64) -> Outcome<u64> {
        let VarArgs::Memory { next, list } = self else {
            unreachable!("arguments of a call are not in memory")
        };
        let at = next.next_multiple_of(align);
        *next = host.offset(at, bytes.next_multiple_of(host.word_bytes()));
        if let Some(list) = list {
            host.write_pointer(list.wrapping_add(OVERFLOW_AREA), *next)?;
        }
        Ok(at)
    }
}

fn take(host: &dyn Host, next: &mut usize) -> u128 {
    *next += 1;
    host.arg(*next - 1)
}
