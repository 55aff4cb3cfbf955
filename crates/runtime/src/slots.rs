//! Which entry of the vector clocks belongs to which thread, and when the entry of an ended thread goes to a new one.
//!
//! A slot is used again when the maker of the new thread is ordered after everything the old thread did: then the two are to everybody
//! else like one thread that paused. Or when no cell names an epoch of the old thread any more ([`crate::collect`]).

use crate::collect;
use crate::options;
use crate::spin::Spin;
use crate::thread::Thread;

/// Clocks have this many entries at most.
pub const SLOTS: usize = 1 << 16;
/// How many ended threads are looked at when a new one is made.
const LOOK: usize = 256;
const CROWD: usize = 4096;
/// A thread whose clock gets here goes on in another slot, as if it had ended and made its own successor. The slot is not used again.
pub const LAST: u32 = u32::MAX - 1;

struct Ended {
    slot: usize,
    /// The last clock value under which the thread did anything.
    last: u32,
    /// No cell names an epoch of it.
    gone: bool,
}

struct Slots {
    next: usize,
    ended: Vec<Ended>,
    records: Vec<u32>,
    /// So many ended threads are worth a collection.
    crowd: usize,
}

static STATE: Spin<Slots> =
    Spin::new(Slots { next: 0, ended: Vec::new(), records: Vec::new(), crowd: CROWD });

/// A slot for a thread that `maker` makes, and the clock value at which it starts.
pub fn take(maker: Option<&Thread>) -> (usize, u32) {
    let mut state = STATE.lock();
    let recent = state.ended.len().saturating_sub(LOOK);
    let found = state.ended[recent..].iter().rposition(|ended| {
        ended.last < LAST - 1
            && (ended.gone || maker.is_some_and(|maker| maker.knows_value(ended.slot, ended.last)))
    });
    if let Some(at) = found {
        let ended = state.ended.remove(recent + at);
        return (ended.slot, ended.last + 1);
    }
    let slot = state.next;
    if slot == SLOTS {
        drop(state);
        crate::start::give_up("more than 65536 threads that are not ordered before each other");
    }
    state.next += 1;
    (slot, options::get().clock.clamp(1, LAST - 1))
}

pub fn ended(slot: usize, last: u32) {
    let mut state = STATE.lock();
    state.ended.push(Ended { slot, last, gone: false });
    if state.ended.len() > state.crowd {
        collect::want();
    }
}

/// Slots of ended threads that no epoch in use belongs to can be used by anybody from now on: these.
pub fn release_unless(mut live: impl FnMut(usize) -> bool) -> Vec<usize> {
    let mut gone = Vec::new();
    let mut state = STATE.lock();
    for ended in state.ended.iter_mut().filter(|ended| !ended.gone && !live(ended.slot)) {
        ended.gone = true;
        gone.push(ended.slot);
    }
    state.crowd = (state.ended.len() * 2).max(CROWD);
    gone
}

pub fn each_ended(mut visit: impl FnMut(usize, u32)) {
    STATE.lock().ended.iter().for_each(|ended| visit(ended.slot, ended.last));
}

/// For a fork.
pub fn hold() -> bool {
    STATE.hold()
}

/// After a fork, on both sides.
pub fn reset() {
    STATE.reset();
}

pub fn free_record() -> Option<u32> {
    STATE.lock().records.pop()
}

pub fn record_is_free(index: u32) {
    STATE.lock().records.push(index);
}
