//! Arguments, results and memory as C values.

use super::{Host, Outcome};
use raddle_ir::DataModel;

impl dyn Host + '_ {
    pub(super) fn word_bytes(&self) -> u64 {
        u64::from(self.data_model().pointer_bytes())
    }

    /// Largest `size_t`.
    pub(super) fn word_max(&self) -> u64 {
        match self.data_model() {
            DataModel::Lp64 => u64::MAX,
            DataModel::Ilp32 => u64::from(u32::MAX),
        }
    }

    pub(super) fn pointer(&self, index: usize) -> u64 {
        self.arg(index) as u64 & self.word_max()
    }

    /// `size_t`, `unsigned long`.
    pub(super) fn size(&self, index: usize) -> u64 {
        self.arg(index) as u64 & self.word_max()
    }

    pub(super) fn int(&self, index: usize) -> i32 {
        self.arg(index) as i32
    }

    /// `long`, `ssize_t`, `off_t`.
    pub(super) fn long(&self, index: usize) -> i64 {
        match self.data_model() {
            DataModel::Lp64 => self.arg(index) as i64,
            DataModel::Ilp32 => i64::from(self.arg(index) as i32),
        }
    }

    pub(super) fn long_long(&self, index: usize) -> i64 {
        self.arg(index) as i64
    }

    pub(super) fn double(&self, index: usize) -> f64 {
        f64::from_bits(self.arg(index) as u64)
    }

    pub(super) fn float(&self, index: usize) -> f32 {
        f32::from_bits(self.arg(index) as u32)
    }

    /// The address of element `index` bytes further, in the width of a pointer.
    pub(super) fn offset(&self, address: u64, bytes: u64) -> u64 {
        address.wrapping_add(bytes) & self.word_max()
    }

    /// A `long` or pointer-sized result.
    pub(super) fn word(&self, value: i64) -> u128 {
        u128::from(value as u64 & self.word_max())
    }

    pub(super) fn read_byte(&mut self, address: u64) -> Outcome<u8> {
        let mut byte = [0];
        self.read(address, &mut byte)?;
        Ok(byte[0])
    }

    pub(super) fn read_int(&mut self, address: u64) -> Outcome<i32> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(i32::from_le_bytes(bytes))
    }

    pub(super) fn write_int(&mut self, address: u64, value: i32) -> Outcome<()> {
        self.write(address, &value.to_le_bytes())
    }

    /// Reads a `long`, sign-extended.
    pub(super) fn read_long(&mut self, address: u64) -> Outcome<i64> {
        match self.data_model() {
            DataModel::Lp64 => {
                let mut bytes = [0; 8];
                self.read(address, &mut bytes)?;
                Ok(i64::from_le_bytes(bytes))
            }
            DataModel::Ilp32 => self.read_int(address).map(i64::from),
        }
    }

    pub(super) fn write_long(&mut self, address: u64, value: i64) -> Outcome<()> {
        let bytes = value.to_le_bytes();
        let width = self.word_bytes() as usize;
        self.write(address, &bytes[..width])
    }

    pub(super) fn read_bytes(&mut self, address: u64, len: u64) -> Outcome<Vec<u8>> {
        if len > MOST_BYTES {
            return Err(self.unsupported(format!("a library call over {len} bytes")));
        }
        let mut bytes = vec![0; len as usize];
        if !bytes.is_empty() {
            self.read(address, &mut bytes)?;
        }
        Ok(bytes)
    }

    pub(super) fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Outcome<()> {
        if bytes.is_empty() { Ok(()) } else { self.write(address, bytes) }
    }

    /// The bytes of a zero-terminated string, without the zero.
    pub(super) fn read_string(&mut self, address: u64) -> Outcome<Vec<u8>> {
        let len = self.string_length(address, u64::MAX)?;
        self.read_bytes(address, len)
    }

    /// The bytes, then a zero.
    pub(super) fn write_string(&mut self, address: u64, bytes: &[u8]) -> Outcome<()> {
        let mut bytes = bytes.to_vec();
        bytes.push(0);
        self.write(address, &bytes)
    }

    pub(super) fn errno(&mut self) -> Outcome<i32> {
        let address = self.errno_address()?;
        self.read_int(address)
    }

    /// -1 with `errno`, as an `int`.
    pub(super) fn error(&mut self, errno: i32) -> u128 {
        self.set_errno(errno);
        int(-1)
    }

    /// -1 with `errno`, as a `long`.
    pub(super) fn long_error(&mut self, errno: i32) -> u128 {
        self.set_errno(errno);
        self.word(-1)
    }
}

/// A limit on what one call copies out of the machine's memory.
const MOST_BYTES: u64 = 1 << 32;

/// An `int` result.
pub(super) fn int(value: i32) -> u128 {
    u128::from(value as u32)
}

pub(super) fn double(value: f64) -> u128 {
    u128::from(value.to_bits())
}

pub(super) fn float(value: f32) -> u128 {
    u128::from(value.to_bits())
}

pub(super) const NULL: u128 = 0;
