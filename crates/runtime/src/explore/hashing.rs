//! Hashes of memory, registers and answers: 64 bits, fast, the same in every run.

use super::channel::Event;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Of plain words, one after the other.
pub fn of_words<T: Copy>(sum: u64, words: &[T]) -> u64 {
    let start = words.as_ptr() as usize;
    unsafe { of_bytes(sum, start, start + size_of_val(words)) }
}

/// Where their call sites lie in the channel is no part of it.
pub fn of_events(sum: u64, events: &[Event]) -> u64 {
    events
        .iter()
        .fold(sum, |sum, event| of_words(sum, std::slice::from_ref(&Event { stack: 0, depth: 0, ..*event })))
}

#[inline(always)]
pub fn mix(sum: u64, word: u64) -> u64 {
    let product = u128::from(sum ^ word) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

/// Of the bytes from `start` to `end`; both a multiple of 4.
pub unsafe fn of_bytes(sum: u64, start: usize, end: usize) -> u64 {
    let mut lanes = [sum ^ (end - start) as u64, sum.rotate_left(17) ^ 1, sum ^ 2, sum.rotate_left(31) ^ 3];
    let mut at = start;
    while at + 32 <= end {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum = mix(*sum, ((at + lane * 8) as *const u64).read_unaligned().wrapping_add(FACTOR));
        }
        at += 32;
    }
    while at + 8 <= end {
        lanes[0] = mix(lanes[0], (at as *const u64).read_unaligned().wrapping_add(FACTOR));
        at += 8;
    }
    if at + 4 <= end {
        lanes[1] = mix(lanes[1], u64::from((at as *const u32).read_unaligned()).wrapping_add(FACTOR));
    }
    lanes.into_iter().fold(FACTOR, mix)
}
