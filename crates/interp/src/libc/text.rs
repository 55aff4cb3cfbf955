//! A string that is looked at byte by byte: of the program, and then read no further than it is looked at, each byte once; or at
//! hand already.

use super::{Host, Outcome};

pub(super) struct Text {
    bytes: Vec<u8>,
    /// Where the program has it; `None` when `bytes` is all there is, and zeros follow.
    address: Option<u64>,
}

impl Text {
    pub(super) fn at(address: u64) -> Text {
        Text { bytes: Vec::new(), address: Some(address) }
    }

    pub(super) fn of(bytes: Vec<u8>) -> Text {
        Text { bytes, address: None }
    }

    /// Byte `index`; all bytes before it are read too.
    pub(super) fn get(&mut self, host: &mut dyn Host, index: usize) -> Outcome<u8> {
        let Some(address) = self.address else {
            return Ok(self.bytes.get(index).copied().unwrap_or(0));
        };
        while self.bytes.len() <= index {
            let next = host.offset(address, self.bytes.len() as u64);
            let byte = host.read_byte(next)?;
            self.bytes.push(byte);
        }
        Ok(self.bytes[index])
    }
}
