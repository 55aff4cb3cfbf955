//! Where an access was made: call stack, site, locks held, size and kind, each different combination with a number of 24 bits.
//!
//! A stack is a node in the tree of calling contexts. The node of a frame is computed when it is first needed and kept in the frame, so
//! the cost is per frame and not per access. When the table is nearly full, locks and then stacks are left out of new contexts, and
//! the report says so; a race is never lost by it.

use crate::layout::TABLES;
use crate::table::{TABLE_BYTES, Table};
use crate::thread::{Frame, Mode, STALE, ShortContext, Thread};

pub const NO_LOCKS: u32 = 0;
/// Locks of an access when the table had no room for them.
pub const UNKNOWN_LOCKS: u32 = u32::MAX;

const LEAF_LIMIT: u32 = 1 << 24;
const CACHE: usize = 8192;
const LOCK_CACHE: usize = 1024;

/// Parent node, call site in the parent, function.
static NODES: Table<3> = Table::at(TABLES + TABLE_BYTES, 1 << 28);
/// Node, site, locks, kind.
static LEAVES: Table<4> = Table::at(TABLES + 2 * TABLE_BYTES, LEAF_LIMIT);
/// The rest of the locks, address in two halves with the mode on top, site.
static LOCKS: Table<4> = Table::at(TABLES + 3 * TABLE_BYTES, 1 << 27);

/// How an access touches memory, in one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shape(u32);

/// The contexts that the thread needed last.
#[repr(C)]
pub struct LeafCache {
    entries: [[u32; 5]; CACHE],
    locks: [[u32; 5]; LOCK_CACHE],
}

/// A context as it is reported.
pub struct Context {
    pub site: u32,
    pub shape: Shape,
    /// Call sites, innermost first.
    pub stack: Vec<u32>,
    pub locks: Option<Vec<Lock>>,
}

pub struct Lock {
    pub address: usize,
    pub mode: Mode,
    pub site: u32,
}

impl Shape {
    const WRITE: u32 = 1 << 31;
    const ATOMIC: u32 = 1 << 30;
    const SIZE: u32 = (1 << 24) - 1;

    pub fn plain(bytes: usize, write: bool) -> Self {
        Self((bytes as u32).min(Self::SIZE) | if write { Self::WRITE } else { 0 })
    }

    pub fn atomic(bytes: usize, write: bool) -> Self {
        Self(Self::plain(bytes, write).0 | Self::ATOMIC)
    }

    pub fn is_write(self) -> bool {
        self.0 & Self::WRITE != 0
    }

    pub fn is_atomic(self) -> bool {
        self.0 & Self::ATOMIC != 0
    }

    pub fn bytes(self) -> u32 {
        self.0 & Self::SIZE
    }
}

/// The number of the context of an access that the thread makes now.
#[inline]
pub fn of(thread: &mut Thread, site: u32, shape: Shape) -> u32 {
    let node = node(thread.top());
    if thread.function == 0 {
        thread.note_function();
    }
    if thread.locks == STALE {
        thread.locks = locks(thread);
    }
    let id = cached(thread, [node, site, thread.locks, shape.0]);
    let key = [site, node, thread.locks, shape.0];
    unsafe { (*thread.block).contexts[site as usize % 64] = ShortContext { key, id } };
    id
}

/// The place of the call that the thread is making, without locks.
pub fn of_call(thread: &mut Thread) -> u32 {
    let key = [node(thread.top()), thread.call_site(), NO_LOCKS, 0];
    cached(thread, key)
}

#[inline(always)]
fn cached(thread: &Thread, key: [u32; 4]) -> u32 {
    let [node, site, locks, shape] = key;
    let hash = site ^ shape >> 24 ^ node.wrapping_mul(0x9e37_79b1) ^ locks.wrapping_mul(0x85eb_ca6b);
    let entry = &mut thread.caches().leaves.entries[(hash ^ hash >> 15) as usize % CACHE];
    if entry[..4] == key && entry[4] != 0 {
        return entry[4];
    }
    let leaf = leaf(key);
    *entry = [key[0], key[1], key[2], key[3], leaf];
    leaf
}

pub fn get(id: u32) -> Context {
    if id == 0 {
        return Context { site: 0, shape: Shape(0), stack: Vec::new(), locks: None };
    }
    let [mut node, site, mut set, shape] = LEAVES.get(id);
    let mut stack = Vec::new();
    while node != 0 {
        let [parent, call, _] = NODES.get(node);
        if call != 0 {
            stack.push(call);
        }
        node = parent;
    }
    let mut locks = Vec::new();
    let known = set != UNKNOWN_LOCKS;
    while known && set != NO_LOCKS {
        let [rest, low, high, site] = LOCKS.get(set);
        let mode = if high >> 31 == 0 { Mode::Exclusive } else { Mode::Shared };
        let address = (high as usize & 0x7fff_ffff) << 32 | low as usize;
        locks.push(Lock { address, mode, site });
        set = rest;
    }
    Context { site, shape: Shape(shape), stack, locks: known.then_some(locks) }
}

fn leaf(mut key: [u32; 4]) -> u32 {
    let used = LEAVES.len();
    if used > LEAF_LIMIT - LEAF_LIMIT / 8 {
        key[2] = UNKNOWN_LOCKS;
    }
    if used > LEAF_LIMIT - LEAF_LIMIT / 16 {
        key[0] = 0;
    }
    LEAVES.intern(key).unwrap_or(0)
}

fn node(top: *mut Frame) -> u32 {
    unsafe {
        let frame = &mut *top;
        // The lowest frame stands for the thread itself.
        if frame.node == 0 && frame.function != 0 {
            let below = &*top.sub(1);
            let parent = node(top.sub(1));
            frame.node = NODES.intern([parent, below.call, frame.function]).unwrap_or(0);
        }
        frame.node
    }
}

fn locks(thread: &Thread) -> u32 {
    let mut set = NO_LOCKS;
    for held in thread.held() {
        let mode = if held.mode == Mode::Shared { 1 << 31 } else { 0 };
        let record = [set, held.address as u32, (held.address >> 32) as u32 | mode, held.site];
        let hash = held.address >> 3 ^ held.address >> 12 ^ held.site as usize ^ (set as usize) << 3;
        let entry = &mut thread.caches().leaves.locks[hash % LOCK_CACHE];
        if entry[..4] != record || entry[4] == 0 {
            let Some(id) = LOCKS.intern(record) else { return UNKNOWN_LOCKS };
            *entry = [record[0], record[1], record[2], record[3], id];
        }
        set = entry[4];
    }
    set
}
