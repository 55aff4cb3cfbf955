//! A 128-bit hash whose value is the same on every machine and in every version of the standard library.
//!
//! Two 64-bit lanes of multiply-and-rotate mixing with a final avalanche. Not cryptographic: it names programs and states; where a
//! verdict rests on two different states never colliding, that is assumption A-HASH.

use std::hash::Hasher;

/// Deterministic 128-bit hasher; also a [`Hasher`] so that `#[derive(Hash)]` types can feed it.
#[derive(Clone, Debug)]
pub struct StableHasher {
    a: u64,
    b: u64,
    length: u64,
}

const K1: u64 = 0x9E37_79B9_7F4A_7C15;
const K2: u64 = 0xC2B2_AE3D_27D4_EB4F;

impl StableHasher {
    pub fn new() -> Self {
        Self { a: 0x2545_F491_4F6C_DD1D, b: 0x6A09_E667_F3BC_C908, length: 0 }
    }

    pub fn word(&mut self, word: u64) {
        self.a = (self.a ^ word).wrapping_mul(K1).rotate_left(29) ^ self.b;
        self.b = (self.b.rotate_left(17) ^ word.wrapping_mul(K2)).wrapping_mul(K1).wrapping_add(self.a);
        self.length += 1;
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(u64::from_le_bytes(chunk.try_into().expect("chunk of 8")));
        }
        let rest = chunks.remainder();
        let mut last = [0u8; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    pub fn finish128(&self) -> u128 {
        let low = avalanche(self.a ^ self.length.wrapping_mul(K2));
        let high = avalanche(self.b.wrapping_add(low));
        (u128::from(high) << 64) | u128::from(low)
    }
}

impl Default for StableHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl Hasher for StableHasher {
    fn finish(&self) -> u64 {
        self.finish128() as u64
    }
    fn write(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
    }
    fn write_u8(&mut self, v: u8) {
        self.word(u64::from(v));
    }
    fn write_u16(&mut self, v: u16) {
        self.word(u64::from(v));
    }
    fn write_u32(&mut self, v: u32) {
        self.word(u64::from(v));
    }
    fn write_u64(&mut self, v: u64) {
        self.word(v);
    }
    fn write_usize(&mut self, v: usize) {
        self.word(v as u64);
    }
}

fn avalanche(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^= x >> 29;
    x = x.wrapping_mul(0xA5A3_564E_27F8_8639);
    x ^ (x >> 32)
}
