//! The program's heap: blocks for the reports, clean cells for memory that is handed out, a write of the whole block when it goes.

use crate::atomics;
use crate::blocks;
use crate::cells::ATOMIC;
use crate::contexts::{self, Shape};
use crate::control;
use crate::epochs::TAG;
use crate::gate;
use crate::lanes::Kind;
use crate::layout::{self, CELL_PAGE, GRANULE, HAS_RECORDS};
use crate::log::{self, What};
use crate::mixed;
use crate::objects;
use crate::observe::Access;
use crate::record;
use crate::spans;
use crate::thread::Thread;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// From this size on, the shadow of a block that goes is given back to the system.
const LARGE: usize = 4 << 20;

/// New memory, about to be handed to the program.
pub fn made(thread: &mut Thread, address: usize, bytes: usize, usable: usize) {
    if thread.busy > 0 {
        return blocks::forget(address);
    }
    gate::enter(thread);
    clean(thread, address, address + usable.max(bytes));
    let context = contexts::of_call(thread);
    blocks::put(address, bytes, thread.id, context);
    log::event(thread, What::Alloc, address, bytes as u64, 0);
    gate::leave(thread);
}

/// The program gives the block back; nothing was done to it yet. Its size, if it is known.
pub fn gone(thread: &mut Thread, address: usize) -> Option<usize> {
    if thread.busy > 0 {
        return None;
    }
    gate::enter(thread);
    let bytes = blocks::free(address);
    if let Some(bytes) = bytes.filter(|bytes| *bytes > 0) {
        let site = thread.call_site();
        let context = contexts::of(thread, site, Shape::plain(bytes, true));
        if record::is_on() {
            let (first, size, kind) = (address, bytes, Kind::Write);
            record::access(thread, &Access { first, stride: 0, count: 1, size, kind, site });
        }
        write_all(thread, address, bytes, context);
    }
    if bytes.is_some() {
        log::event(thread, What::Free, address, 0, 0);
    }
    gate::leave(thread);
    bytes
}

/// Forgets everything about some memory. Inside the gate; nobody else may use the memory.
pub fn clean(thread: &mut Thread, start: usize, end: usize) {
    objects::forget_range(thread, start, end);
    thread.caches().walks.forget_range(start, end);
    control::forget_range(start, end);
    let (first, last) = (start & !(GRANULE - 1), end.next_multiple_of(GRANULE));
    let mut at = first;
    while at < last {
        let next = (at + 1).next_multiple_of(CELL_PAGE).min(last);
        if layout::is_touched(at) {
            clean_cells(thread, at, next);
            if next - at == CELL_PAGE {
                layout::untouch(at);
            }
        }
        at = next;
    }
    let (from, to) = (first.next_multiple_of(CELL_PAGE), last & !(CELL_PAGE - 1));
    if from < to && to - from >= LARGE {
        layout::drop_shadow(from, to);
    }
}

/// What was ever accessed of the block is written. Bytes of large blocks that nobody touched stay clean, page by page.
fn write_all(thread: &mut Thread, address: usize, bytes: usize, context: u32) {
    if bytes < 2 * CELL_PAGE {
        return spans::span(thread, address, bytes, Kind::Write, context);
    }
    let end = address + bytes;
    let mut at = address;
    while at < end {
        let next = (at + 1).next_multiple_of(CELL_PAGE).min(end);
        if layout::is_touched(at) {
            spans::span(thread, at, next - at, Kind::Write, context);
        }
        at = next;
    }
}

/// Cells of one page.
fn clean_cells(thread: &mut Thread, start: usize, end: usize) {
    if layout::presence(start).load(Relaxed) & HAS_RECORDS != 0 {
        for at in (start..end).step_by(GRANULE) {
            let word = layout::cell(at).load(Relaxed) as u32;
            match word & (TAG | ATOMIC) {
                TAG => drop(mixed::replace(thread, at, word, 0)),
                0 | ATOMIC => {}
                _ => atomics::forget(thread, at, word),
            }
        }
    }
    let cells = layout::cell(start) as *const AtomicU64 as *mut u64;
    unsafe { std::ptr::write_bytes(cells, 0, (end - start) / GRANULE) };
}
