//! One granule, one word: how plain accesses change cells, by compare-and-swap and without locks.
//!
//! A cell holds the last write (low half) and the last reads (high half). The low half may instead name a record of bytes that differ
//! ([`crate::mixed`]) or of atomics ([`crate::atomics`]); the high half is zero then. Contexts are stored after the cell was
//! changed; who sees the cell in between waits. A word of context carries 6 bits of its epoch, so that a reader notices when it came in
//! between; where that is not enough, the owner says so ([`crate::flights`]).

use crate::atomics;
use crate::block::LOOPS;
use crate::collect;
use crate::contexts::{self, Shape};
use crate::epochs::TAG;
use crate::flights;
use crate::fronts::Front;
use crate::gate;
use crate::lanes::{Conflicts, Full, Kind, Lane};
use crate::layout::{self, GRANULE};
use crate::memo::{Key, Step};
use crate::mixed;
use crate::observe;
use crate::report;
use crate::spans;
use crate::thread::{self, Thread};
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// With [`TAG`] in the low half of a cell: a record of atomics.
pub const ATOMIC: u32 = 1 << 30;
pub const WHOLE: u8 = 0b1111;
/// Accesses this many bytes apart may be of a loop, of which so many steps ahead are fetched.
const NEAR: usize = 64;
const AHEAD: usize = 64;
/// Whether a granule is accessed by itself, or as a part of many that will be treated alike.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Single,
    Range,
}

/// How often a context is looked at before it counts as unknown, some seconds: its owner may be put aside by the system for a while, or for
/// ever by a signal handler that jumps away or waits itself.
const PATIENCE: u32 = 20_000;
/// The same for an owner who has stored: others may change the cell to and fro.
const LOOKS: u32 = 16;

/// An access of `bytes` bytes from `address`.
#[inline]
pub fn access(thread: &mut Thread, address: usize, bytes: usize, kind: Kind, site: u32) {
    if thread.apart > 0 {
        return;
    }
    if observe::is_on() {
        let range = observe::Access { first: address, stride: 0, count: 1, size: bytes, kind, site };
        return observe::access(thread, range);
    }
    step(thread, address, bytes, kind, site);
}

/// The detector's part of an access.
#[inline]
pub fn step(thread: &mut Thread, address: usize, bytes: usize, kind: Kind, site: u32) {
    fetch_ahead(thread, address, side(kind), site);
    gate::enter(thread);
    let context = contexts::of(thread, site, Shape::plain(bytes, kind == Kind::Write));
    let offset = address % GRANULE;
    if offset + bytes <= GRANULE {
        granule(thread, address - offset, ((1 << bytes) - 1) << offset, kind, context, Reach::Single);
    } else if bytes == 2 * GRANULE && address.is_multiple_of(2 * GRANULE) {
        pair(thread, address, kind, context, Reach::Single);
    } else {
        spans::span(thread, address, bytes, kind, context);
    }
    gate::leave(thread);
    collect::if_needed(thread);
}

/// Loops go on as they went: what they need next should be there when it is needed, because a locked instruction waits for it.
#[inline(always)]
fn fetch_ahead(thread: &Thread, address: usize, side: usize, site: u32) {
    let last = unsafe { &mut (*thread.block).last[site as usize % LOOPS] };
    let step = address.wrapping_sub(*last);
    *last = address;
    layout::fetch_context(address, side);
    if step.wrapping_add(NEAR) <= 2 * NEAR {
        let ahead = address.wrapping_add(step.wrapping_mul(AHEAD));
        layout::fetch_cells(ahead);
        layout::fetch_context(ahead, side);
    }
}

/// An access to some bytes of one granule.
#[inline(always)]
pub fn granule(thread: &mut Thread, at: usize, mask: u8, kind: Kind, context: u32, reach: Reach) {
    let cell = layout::cell(at);
    let old = cell.load(Acquire);
    if mask == WHOLE
        && let Some(new) = simple(thread, old, kind)
    {
        if new == old {
            return;
        }
        thread.used = true;
        let before = flights::depart(thread, at);
        let done = swap(cell, old, new);
        if done {
            touch(at, old);
            layout::context(at, side(kind)).store(stamp(context, thread.epoch), Relaxed);
        }
        flights::arrive(thread, before);
        if done {
            return;
        }
    }
    general(thread, at, mask, kind, context, reach);
}

/// An access to two granules whose cells can be changed in one step.
#[inline(always)]
pub fn pair(thread: &mut Thread, at: usize, kind: Kind, context: u32, reach: Reach) {
    let next = at + GRANULE;
    let old = (layout::cell(at).load(Acquire), layout::cell(next).load(Acquire));
    if let (Some(first), Some(second)) = (simple(thread, old.0, kind), simple(thread, old.1, kind)) {
        if (first, second) == old {
            return;
        }
        thread.used = true;
        let before = flights::depart(thread, at);
        let done = swap_pair(at, old, (first, second));
        if done {
            touch(at, old.0 & old.1);
            let (side, word) = (side(kind), stamp(context, thread.epoch));
            if first != old.0 {
                layout::context(at, side).store(word, Relaxed);
            }
            if second != old.1 {
                layout::context(next, side).store(word, Relaxed);
            }
        }
        flights::arrive(thread, before);
        if done {
            return;
        }
    }
    granule(thread, at, WHOLE, kind, context, reach);
    granule(thread, next, WHOLE, kind, context, reach);
}

/// The cell after an access to the whole granule, when that needs no list and no report: what it says is known to the thread.
#[inline(always)]
pub fn simple(thread: &Thread, old: u64, kind: Kind) -> Option<u64> {
    let (write, read) = halves(old);
    let epoch = thread.epoch;
    if write == epoch || (kind == Kind::Read && read == epoch) {
        return Some(old);
    }
    // The empty word is an epoch that everybody knows.
    if (write | read) & TAG != 0 || !thread.knows_epoch(write) || !thread.knows_epoch(read) {
        return None;
    }
    Some(match kind {
        Kind::Write => whole(epoch, 0),
        Kind::Read => whole(write, epoch),
    })
}

/// Changes a cell if it is as it was. As long as there is one thread only, nobody else could have changed it.
#[inline(always)]
fn swap(cell: &AtomicU64, old: u64, new: u64) -> bool {
    if thread::is_alone() {
        cell.store(new, Relaxed);
        return true;
    }
    cell.compare_exchange(old, new, AcqRel, Relaxed).is_ok()
}

/// Changes two neighbouring cells at once if they are as they were.
#[inline(always)]
pub fn swap_pair(at: usize, old: (u64, u64), new: (u64, u64)) -> bool {
    if thread::is_alone() {
        layout::cell(at).store(new.0, Relaxed);
        layout::cell(at + GRANULE).store(new.1, Relaxed);
        return true;
    }
    let cells = layout::cell(at) as *const _ as usize;
    let done: u8;
    unsafe {
        // The compiler keeps rbx for itself, but may give it to an operand that is not named: so all are.
        std::arch::asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "sete r8b",
            "mov rbx, rsi",
            in("rdi") cells,
            inout("rsi") new.0 => _,
            out("r8b") done,
            in("rcx") new.1,
            inout("rax") old.0 => _,
            inout("rdx") old.1 => _,
            options(nostack),
        );
    }
    done != 0
}

#[cold]
fn general(thread: &mut Thread, at: usize, mask: u8, kind: Kind, context: u32, reach: Reach) {
    let cell = layout::cell(at);
    loop {
        let old = cell.load(Acquire);
        let (write, read) = halves(old);
        if write == thread.epoch || (kind == Kind::Read && read == thread.epoch) {
            return;
        }
        // Who reads by itself again what others read, too, will do so in every epoch: a list that changes is better than ever new ones.
        let again =
            reach == Reach::Single && kind == Kind::Read && read & TAG != 0 && knows_some(thread, read);
        if mask != WHOLE || write & TAG != 0 || again {
            let done = match write & (TAG | ATOMIC) {
                0 | ATOMIC => mixed::begin(thread, at, old, mask, kind, context),
                TAG => mixed::access(thread, at, mask, kind, context, write),
                _ => atomics::plain_access(thread, at, mask, kind, context, write),
            };
            if done {
                return;
            }
            continue;
        }
        await_contexts(thread, at, old);
        let contexts = context_words(at);
        let key = Key { cell: old, contexts, context, write: u32::from(kind == Kind::Write) };
        let mut conflicts = Conflicts::none();
        let step = match thread.caches().memo.get(&key) {
            Some(step) => step,
            None => match transition(thread, at, old, kind, context, &mut conflicts) {
                Ok(step) => step,
                Err(Full) => return collect::no_room(thread),
            },
        };
        if step.cell == old {
            remember_reading(thread, old, kind);
            thread.caches().memo.put(key, step);
            return;
        }
        thread.used = true;
        let before = flights::depart(thread, at);
        if cell.compare_exchange(old, step.cell, AcqRel, Relaxed).is_err() {
            flights::arrive(thread, before);
            continue;
        }
        touch(at, old);
        // Only words of the thread's own epoch: a late store must never hit what somebody else has stored since.
        let (wrote, has_read) = halves(step.cell);
        if wrote == thread.epoch && wrote != write {
            layout::context(at, 0).store(step.contexts as u32, Relaxed);
        }
        if has_read == thread.epoch && has_read != read {
            layout::context(at, 1).store((step.contexts >> 32) as u32, Relaxed);
        }
        flights::arrive(thread, before);
        remember_reading(thread, step.cell, kind);
        if conflicts.is_empty() {
            thread.caches().memo.put(key, step);
        } else {
            report::races(thread, at, &conflicts, context);
        }
        return;
    }
}

fn knows_some(thread: &Thread, set: u32) -> bool {
    Front { word: set, context: 0 }.each().any(|one| thread.knows_epoch(one.word))
}

/// What becomes of the cell, and of its contexts, by an access to all of its bytes.
fn transition(
    thread: &Thread,
    at: usize,
    old: u64,
    kind: Kind,
    context: u32,
    conflicts: &mut Conflicts,
) -> Result<Step, Full> {
    let lane = lane_of(thread, at, old).after(thread, kind, context, WHOLE, conflicts)?;
    let word = |front: Front| match front.word & TAG {
        0 => stamp(front.context, front.word),
        _ => 0,
    };
    Ok(Step {
        cell: whole(lane.write.word, lane.read.word),
        contexts: whole(word(lane.write), word(lane.read)),
    })
}

/// The cell gets this state. It names a record that the caller has locked: nobody else changes it, or stores contexts next to it, because
/// whoever made the record has waited for those that were on their way.
pub fn settle(at: usize, lane: Lane) {
    for (side, front) in [lane.write, lane.read].into_iter().enumerate() {
        layout::context(at, side).store(stamp(front.context, front.word), Relaxed);
    }
    layout::cell(at).store(whole(lane.write.word, lane.read.word), Release);
}

/// What a cell says of its bytes, if it names no record.
pub fn lane_of(thread: &Thread, at: usize, cell: u64) -> Lane {
    let (write, read) = halves(cell);
    let side = |word: u32, side: usize| match word {
        0 => Front::default(),
        set if set & TAG != 0 => Front { word: set, context: 0 },
        epoch => Front::one(epoch, context_of(thread, at, cell, side)),
    };
    Lane { write: side(write, 0), read: side(read, 1) }
}

/// The context of the last write (0) or read (1), an epoch, once its owner has stored it. 0 if it is not known, or if the cell has changed.
fn context_of(thread: &Thread, at: usize, cell: u64, side: usize) -> u32 {
    let epoch = [halves(cell).0, halves(cell).1][side];
    // Who made a known access has stored.
    let known = thread.knows_epoch(epoch);
    for tries in 0..if known { LOOKS } else { PATIENCE } {
        if known || !flights::is_under_way(epoch, at) {
            let word = layout::context(at, side).load(Relaxed);
            if word & 0x3f == stamp(0, epoch) {
                return word >> 6;
            }
            if layout::cell(at).load(Acquire) != cell {
                return 0;
            }
        }
        match tries {
            0..100 => std::hint::spin_loop(),
            100..200 => gate::pause(),
            _ => gate::sleep(),
        }
    }
    0
}

/// Waits until those that the cell names have stored their contexts.
fn await_contexts(thread: &Thread, at: usize, cell: u64) {
    let (write, read) = halves(cell);
    for (side, word) in [write, read].into_iter().enumerate() {
        if word & TAG == 0 && !thread.knows_epoch(word) {
            context_of(thread, at, cell, side);
        }
    }
}

/// Lets the test in hot.c pass for this set of readers.
fn remember_reading(thread: &mut Thread, cell: u64, kind: Kind) {
    let read = halves(cell).1;
    if kind == Kind::Read && read & TAG != 0 {
        thread.remember_set(read);
    }
}

fn context_words(at: usize) -> u64 {
    whole(layout::context(at, 0).load(Relaxed), layout::context(at, 1).load(Relaxed))
}

/// Which of the words of context an access has.
#[inline(always)]
pub fn side(kind: Kind) -> usize {
    usize::from(kind == Kind::Read)
}

#[inline(always)]
pub fn stamp(context: u32, epoch: u32) -> u32 {
    context << 6 | epoch.wrapping_mul(0x9e37_79b1) >> 26
}

/// Notes that a cell that was clean is not any more.
#[inline(always)]
pub fn touch(at: usize, old: u64) {
    if old == 0 {
        layout::touch(at);
    }
}

#[inline(always)]
pub fn halves(cell: u64) -> (u32, u32) {
    (cell as u32, (cell >> 32) as u32)
}

#[inline(always)]
pub fn whole(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
