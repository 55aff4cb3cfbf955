//! One memory object: its bytes and what is known about each word of them.

use raddle_event::ObjectId;
use raddle_machine::ObjectKind;

/// Words of content and of the initialisation map are 8 bytes in both data models.
pub(crate) const WORD: usize = 8;

/// Bytes of a piece that is saved as a whole before its first change after a checkpoint.
pub(crate) const CHUNK: usize = 512;

/// What never-written memory holds.
pub(crate) const FILL: u8 = 0xA5;

#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// 0 when nothing lives here, so that no access succeeds.
    pub size: u64,
    /// Of the present or, when dead, of the last tenant.
    pub generation: u32,
    pub id: ObjectId,
    pub live: bool,
    /// No other thread can reach it (or it is constant): accesses are neither reported nor visible.
    pub quiet: bool,
    pub constant: bool,
    /// Its address has been looked at as a number.
    pub exposed: bool,
    /// A synchronisation object has been used inside.
    pub has_sync: bool,
    pub kind: ObjectKind,
    /// Padded to whole words.
    pub data: Vec<u8>,
    /// One bit per byte, one byte per word; empty: all is initialised.
    pub init: Vec<u8>,
    /// One byte per pointer-size word, 1 where it holds a pointer or a thread handle; empty: none does.
    pub names: Vec<u8>,
    /// When the bytes were last saved, for objects of one chunk.
    pub saved: u64,
    /// The same per chunk, for larger ones.
    pub saved_chunks: Vec<u64>,
    /// When the slot's tenancy was last saved.
    pub tenancy_saved: u64,
    /// What stands for this object's address in content hashes: the address, or for locals their place in the stack.
    pub canon: u64,
    /// Sum of the content hashes of words that differ from the initial content.
    pub hash: u64,
}

impl Object {
    pub fn vacant(generation: u32) -> Self {
        Self {
            size: 0,
            generation,
            id: ObjectId(u32::MAX),
            live: false,
            quiet: false,
            constant: false,
            exposed: false,
            has_sync: false,
            kind: ObjectKind::Heap,
            data: Vec::new(),
            init: Vec::new(),
            names: Vec::new(),
            saved: 0,
            saved_chunks: Vec::new(),
            tenancy_saved: 0,
            canon: 0,
            hash: 0,
        }
    }

    #[inline(always)]
    pub fn word(&self, index: usize) -> u64 {
        let at = index * WORD;
        u64::from_le_bytes(self.data[at..at + WORD].try_into().expect("a word"))
    }

    /// Little-endian value of up to 8 bytes.
    #[inline(always)]
    pub fn value<const N: usize>(&self, offset: usize) -> u64 {
        let mut bytes = [0u8; 8];
        bytes[..N].copy_from_slice(&self.data[offset..offset + N]);
        u64::from_le_bytes(bytes)
    }

    #[inline(always)]
    pub fn is_initialised(&self, offset: usize, len: usize) -> bool {
        self.init.is_empty() || self.all_bits(offset, len)
    }

    fn all_bits(&self, offset: usize, len: usize) -> bool {
        (offset..offset + len).all(|at| self.init[at / WORD] >> (at % WORD) & 1 == 1)
    }

    #[inline(always)]
    pub fn set_initialised(&mut self, offset: usize, len: usize) {
        if self.init.is_empty() {
            return;
        }
        let (first, shift) = (offset / WORD, offset % WORD);
        if shift + len <= WORD {
            self.init[first] |= (((1u32 << len) - 1) << shift) as u8;
        } else {
            for at in offset..offset + len {
                self.init[at / WORD] |= 1 << (at % WORD);
            }
        }
    }

    /// Bytes that it takes up in this process, roughly; the same through its whole life.
    pub fn weight(&self) -> u64 {
        2 * self.data.len() as u64
    }
}

/// Contribution of one word to the hash of all content.
#[inline(always)]
pub(crate) fn word_hash(canon: u64, index: usize, value: u64) -> u64 {
    mix(value, canon.wrapping_add((index as u64) << 32 | 1))
}

/// Folds a full product: every bit of either side reaches every bit of the result.
#[inline(always)]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let other = b.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ (b >> 31) ^ 0xC2B2_AE3D_27D4_EB4F;
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(other);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::mix;
    use std::collections::HashSet;

    #[test]
    fn small_numbers_mix_to_different_values() {
        let mut seen = HashSet::new();
        for a in 0..300 {
            for b in 0..300 {
                assert!(seen.insert(mix(a, b)), "{a} {b}");
                assert!(mix(a, b) != 0);
            }
        }
    }
}
