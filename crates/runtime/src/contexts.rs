//! Where an access was made: call stack, site, size and kind, each different combination with a number of 24 bits.
//!
//! A stack is a node in the tree of calling contexts. The node of a frame is computed when it is first needed and kept in the frame, so
//! the cost is per frame and not per access. When the table is nearly full, stacks are left out of new contexts; a race is never
//! lost by it.
//!
//! Locks are not part of the table: only a few times in an epoch does a thread take a lock more, and [`crate::epochs`] knows the last set
//! of each epoch. A context has the number of these times above its 24 bits of the table; so the set that was held then is found.

use crate::block::{Frame, SHORT_CONTEXTS, SHORT_NODES, ShortContext, ShortNode};
use crate::epochs;
use crate::layout::TABLES;
use crate::table::{TABLE_BYTES, Table};
use crate::thread::{Mode, Thread};

pub const NO_LOCKS: u32 = 0;
/// When the table had no room for them.
pub const UNKNOWN_LOCKS: u32 = u32::MAX >> PHASE_BITS;
/// How often a thread may take a lock more in an epoch in which it has accessed something.
pub const LAST_PHASE: u32 = (1 << PHASE_BITS) - 1;
pub const PHASE_BITS: u32 = 2;

const LEAF_LIMIT: u32 = 1 << 24;
const LOCK_CACHE: usize = 4096;
/// How many places a lock remembers.
const PLACES: usize = 4;

/// Parent node, call site in the parent, function.
static NODES: Table<3> = Table::at(TABLES + TABLE_BYTES, 1 << 28);
/// Node, site, kind.
static LEAVES: Table<3> = Table::at(TABLES + 2 * TABLE_BYTES, LEAF_LIMIT);
/// The rest of the locks, address in two halves with the mode on top, site.
static LOCKS: Table<4> = Table::at(TABLES + 3 * TABLE_BYTES, 1 << 27);

/// How an access touches memory, in one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shape(u32);

/// The contexts that the thread needed last.
#[repr(C)]
pub struct LeafCache {
    /// For the steps that hot.c makes, too.
    pub contexts: [ShortContext; SHORT_CONTEXTS],
    pub nodes: [ShortNode; SHORT_NODES],
    locks: [[u32; 5]; LOCK_CACHE],
}

/// A context as it is reported.
#[derive(Clone)]
pub struct Context {
    pub site: u32,
    pub shape: Shape,
    /// Call sites, innermost first.
    pub stack: Vec<u32>,
}

#[derive(Clone)]
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
    let node = node(thread, thread.top());
    if thread.function == 0 {
        thread.note_function();
    }
    cached(thread, [site, node, shape.0]) << PHASE_BITS | thread.phase()
}

/// The place of the call that the thread is making.
pub fn of_call(thread: &mut Thread) -> u32 {
    let node = node(thread, thread.top());
    cached(thread, [thread.call_site(), node, 0]) << PHASE_BITS
}

#[inline(always)]
fn cached(thread: &Thread, key: [u32; 3]) -> u32 {
    let [site, node, shape] = key;
    // As in hot.c.
    let slot = site.wrapping_add(node.wrapping_mul(0x9e37_79b1) >> 19).wrapping_add(shape.wrapping_mul(181));
    let slot = slot as usize % SHORT_CONTEXTS;
    let short = &mut thread.caches().leaves.contexts[slot];
    if short.key != key || short.id == 0 {
        *short = ShortContext { key, id: leaf([node, site, shape]) };
    }
    short.id
}

pub fn get(context: u32) -> Context {
    let id = context >> PHASE_BITS;
    if id == 0 {
        return Context { site: 0, shape: Shape(0), stack: Vec::new() };
    }
    let [mut node, site, shape] = LEAVES.get(id);
    let mut stack = Vec::new();
    while node != 0 {
        let [parent, call, _] = NODES.get(node);
        if call != 0 {
            stack.push(call);
        }
        node = parent;
    }
    Context { site, shape: Shape(shape), stack }
}

/// The locks that a thread held at an access, the last one first; `None` if that is not known.
pub fn locks_of(epoch: u32, context: u32) -> Option<Vec<Lock>> {
    let (mut set, last) = epochs::locks(epoch);
    for _ in context & LAST_PHASE..last {
        if set != UNKNOWN_LOCKS && set != NO_LOCKS {
            [set, ..] = LOCKS.get(set);
        }
    }
    let mut locks = Vec::new();
    while set != NO_LOCKS {
        if set == UNKNOWN_LOCKS {
            return None;
        }
        let [rest, low, high, site] = LOCKS.get(set);
        let mode = if high >> 31 == 0 { Mode::Exclusive } else { Mode::Shared };
        let address = (high as usize & 0x7fff_ffff) << 32 | low as usize;
        locks.push(Lock { address, mode, site });
        set = rest;
    }
    Some(locks)
}

/// What [`with_lock`] said last for a lock, kept with it: by the places where it is taken. Zeroed memory says nothing.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct LastSets {
    sets: [LastSet; PLACES],
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct LastSet {
    before: u32,
    site: u32,
    shared: u32,
    set: u32,
}

impl LastSets {
    /// The set and the lock together.
    #[inline(always)]
    pub fn with(&mut self, thread: &Thread, before: u32, lock: &Lock) -> u32 {
        let shared = u32::from(lock.mode == Mode::Shared);
        let last = &mut self.sets[(lock.site.wrapping_mul(0x9e37_79b1) >> 16) as usize % PLACES];
        if last.set == 0 || (last.before, last.site, last.shared) != (before, lock.site, shared) {
            *last = LastSet { before, site: lock.site, shared, set: with_lock(thread, before, lock) };
        }
        last.set
    }
}

/// A set of locks and one more.
pub fn with_lock(thread: &Thread, set: u32, lock: &Lock) -> u32 {
    let mode = if lock.mode == Mode::Shared { 1 << 31 } else { 0 };
    let record = [set, lock.address as u32, (lock.address >> 32) as u32 | mode, lock.site];
    let hash = (lock.address >> 3 ^ (lock.site as usize) << 20 ^ (set as usize) << 40)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let entry = &mut thread.caches().leaves.locks[(hash >> 40) % LOCK_CACHE];
    if entry[..4] != record || entry[4] == 0 {
        let Some(id) = LOCKS.intern(record) else { return UNKNOWN_LOCKS };
        *entry = [record[0], record[1], record[2], record[3], id];
    }
    entry[4]
}

fn leaf(mut key: [u32; 3]) -> u32 {
    if LEAVES.len() > LEAF_LIMIT - LEAF_LIMIT / 16 {
        key[0] = 0;
    }
    LEAVES.intern(key).unwrap_or(0)
}

fn node(thread: &Thread, top: *mut Frame) -> u32 {
    unsafe {
        let frame = &mut *top;
        // The lowest frame stands for the thread itself.
        if frame.node == 0 && frame.function != 0 {
            let parent = node(thread, top.sub(1));
            let key = [parent, (*top.sub(1)).call, frame.function];
            // As in hot.c.
            let slot = key[2].wrapping_add(key[1]).wrapping_add(parent.wrapping_mul(0x9e37_79b1) >> 21);
            let short = &mut thread.caches().leaves.nodes[slot as usize % SHORT_NODES];
            if short.key != key || short.id == 0 {
                *short = ShortNode { key, id: NODES.intern(key).unwrap_or(0) };
            }
            frame.node = short.id;
        }
        frame.node
    }
}
