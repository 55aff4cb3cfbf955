//! Accesses to many granules: two cells at a time, a cache line of cells before its contexts.
//!
//! A locked instruction waits for all earlier stores. Contexts are stored after the cells of the same line were changed, and both are
//! fetched ahead, so that it has nothing to wait for.

use crate::cells::{Reach, WHOLE, granule, pair, side, simple, stamp, swap_pair, touch};
use crate::flights::{self, LINE};
use crate::lanes::Kind;
use crate::layout::{self, GRANULE};
use crate::thread::Thread;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// How far ahead cells are fetched.
const AHEAD: usize = 12 * LINE;

/// One access of `bytes` bytes, all with the same context. Inside the gate.
pub fn span(thread: &mut Thread, address: usize, bytes: usize, kind: Kind, context: u32) {
    let end = address + bytes;
    let mut at = address - address % GRANULE;
    if at < address {
        let mask = (WHOLE << (address - at)) & WHOLE;
        let cut = (at + GRANULE).saturating_sub(end).min(GRANULE);
        granule(thread, at, mask & (WHOLE >> cut), kind, context, Reach::Range);
        at += GRANULE;
    }
    let last = end - end % GRANULE;
    let from = at.next_multiple_of(LINE).min(last);
    short(thread, at, from, kind, context);
    at = at.max(from);
    lines(thread, at, last, kind, context);
    let rest = at + last.saturating_sub(at) / LINE * LINE;
    short(thread, rest, last, kind, context);
    at = at.max(last);
    if at < end {
        granule(thread, at, WHOLE >> (GRANULE - (end - at)), kind, context, Reach::Range);
    }
}

/// Whole granules, fewer than a line has.
fn short(thread: &mut Thread, mut at: usize, end: usize, kind: Kind, context: u32) {
    while at < end {
        if at.is_multiple_of(2 * GRANULE) && at + GRANULE < end {
            pair(thread, at, kind, context, Reach::Range);
            at += 2 * GRANULE;
        } else {
            granule(thread, at, WHOLE, kind, context, Reach::Range);
            at += GRANULE;
        }
    }
}

/// Whole lines from `start`, which is the start of one.
fn lines(thread: &mut Thread, start: usize, end: usize, kind: Kind, context: u32) {
    let side = side(kind);
    let word = stamp(context, thread.epoch);
    // Neighbours mostly have the same history.
    let mut known = (u64::MAX, 0);
    let mut at = start;
    while at + LINE <= end {
        if at + AHEAD < end {
            layout::fetch_cells(at + AHEAD);
            layout::fetch_context(at + AHEAD, side);
        }
        let mut changed = 0_u32;
        let mut harder = 0_u32;
        let before = flights::depart(thread, at);
        for pair in 0..4 {
            let place = at + pair * 2 * GRANULE;
            let old = (layout::cell(place).load(Acquire), layout::cell(place + GRANULE).load(Acquire));
            for cell in [old.0, old.1] {
                if cell != known.0
                    && let Some(new) = simple(thread, cell, kind)
                {
                    known = (cell, new);
                }
            }
            if old.0 != known.0 || old.1 != known.0 {
                harder |= 0b11 << (2 * pair);
            } else if known.0 != known.1 {
                thread.used = true;
                if swap_pair(place, old, (known.1, known.1)) {
                    changed |= 0b11 << (2 * pair);
                    touch(place, old.0);
                } else {
                    harder |= 0b11 << (2 * pair);
                }
            }
        }
        if changed == 0xff {
            for cell in 0..8 {
                layout::context(at + cell * GRANULE, side).store(word, Relaxed);
            }
        } else if changed != 0 {
            for cell in (0..8).filter(|cell| changed & 1 << cell != 0) {
                layout::context(at + cell * GRANULE, side).store(word, Relaxed);
            }
        }
        flights::arrive(thread, before);
        if harder != 0 {
            for cell in (0..8).filter(|cell| harder & 1 << cell != 0) {
                granule(thread, at + cell * GRANULE, WHOLE, kind, context, Reach::Range);
            }
        }
        at += LINE;
    }
}
