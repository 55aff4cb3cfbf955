//! Which block of the program's heap an address lies in, or lay in last: a word for each 16 bytes names the record of the block that
//! begins there. No locks; what two threads do to one block at the same moment is a race of the program's, and a report may be wrong
//! about the block then.

use crate::layout::{self, HAS_BLOCKS, PAGE, TABLES};
use crate::stable::Stable;
use crate::table::TABLE_BYTES;
use std::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// Blocks begin at multiples of this.
const STEP: usize = 16;
/// In the word of the thread: the block was given back.
const FREED: u32 = 1 << 31;
/// In blocks up to this size nothing older is left.
const TIDY: usize = 4096;

static RECORDS: Stable<Record> = Stable::at(TABLES + 9 * TABLE_BYTES, 1 << 31);
/// No block was ever larger.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// While a record is free, its context is the number of the next one.
#[repr(C)]
struct Record {
    bytes: AtomicUsize,
    thread: AtomicU32,
    context: AtomicU32,
}

/// What a report says about a block.
#[derive(Clone, Copy)]
pub struct Block {
    pub address: usize,
    pub bytes: usize,
    pub thread: u32,
    pub context: u32,
    pub freed: bool,
}

/// A block begins here.
pub fn put(address: usize, bytes: usize, thread: u32, context: u32) {
    let word = layout::block(address);
    let id = match word.load(Acquire) {
        0 => match RECORDS.take() {
            Some(id) => id,
            // Reports have to do without.
            None => return,
        },
        id => id,
    };
    let record = RECORDS.get(id);
    record.bytes.store(bytes, Relaxed);
    record.thread.store(thread & !FREED, Relaxed);
    record.context.store(context, Relaxed);
    word.store(id, Release);
    let presence = layout::presence(address);
    if presence.load(Relaxed) & HAS_BLOCKS == 0 {
        presence.fetch_or(HAS_BLOCKS, Relaxed);
    }
    if bytes > LARGEST.load(Relaxed) {
        LARGEST.fetch_max(bytes, Relaxed);
    }
    if bytes <= TIDY {
        ((address & !(STEP - 1)) + STEP..address + bytes).step_by(STEP).for_each(forget);
    }
}

/// The block goes: its size, if it is known.
pub fn free(address: usize) -> Option<usize> {
    let id = layout::block(address).load(Acquire);
    if id == 0 {
        return None;
    }
    let record = RECORDS.get(id);
    record.thread.fetch_or(FREED, Relaxed);
    Some(record.bytes.load(Relaxed))
}

/// Nothing is known of a block that begins here.
pub fn forget(address: usize) {
    let word = layout::block(address);
    if word.load(Relaxed) != 0 {
        let id = word.swap(0, AcqRel);
        if id != 0 {
            RECORDS.give(id);
        }
    }
}

/// The block that an address lies in, or lay in last.
pub fn find(address: usize) -> Option<Block> {
    let lowest = address.saturating_sub(LARGEST.load(Relaxed));
    let mut freed = None;
    let mut at = address & !(STEP - 1);
    loop {
        if layout::presence(at).load(Relaxed) & HAS_BLOCKS == 0 {
            at &= !(PAGE - 1);
        } else if let Some(block) = begins_at(at).filter(|block| address - at < block.bytes) {
            if !block.freed {
                return Some(block);
            }
            freed = freed.or(Some(block));
        }
        if at <= lowest || at < STEP {
            return freed;
        }
        at -= STEP;
    }
}

fn begins_at(address: usize) -> Option<Block> {
    let id = layout::block(address).load(Acquire);
    if id == 0 {
        return None;
    }
    let record = RECORDS.get(id);
    let thread = record.thread.load(Relaxed);
    Some(Block {
        address,
        bytes: record.bytes.load(Relaxed),
        thread: thread & !FREED,
        context: record.context.load(Relaxed),
        freed: thread & FREED != 0,
    })
}
