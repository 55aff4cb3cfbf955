//! Synchronisation objects: mutexes, read-write locks, spin locks, semaphores, barriers, once objects, by address.
//!
//! What each operation orders is the documentation of `raddle_order::closure`: releases order later acquires unless both are shared,
//! posts order later waits, arrivals order departures of the same round, the end of an initialiser orders later passes. Initialising or
//! destroying an object, or handing out its memory again, begins a new life of it.

use crate::clocks::Clock;
use crate::collect;
use crate::contexts::LastSets;
use crate::gate;
use crate::layout::{self, GRANULE, HAS_OBJECTS, TABLES};
use crate::log::{self, What};
use crate::rounds::{Place, Rounds};
use crate::spin::{Owned, Spin, Taken};
use crate::stable::{Link, Stable};
use crate::table::TABLE_BYTES;
use crate::thread::{Mode, Thread};
use std::collections::BTreeMap;
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed},
};

static OBJECTS: Stable<Object> = Stable::at(TABLES + 7 * TABLE_BYTES, 1 << 27);

/// Words of objects at odd addresses. They stay.
static ODD: Spin<BTreeMap<usize, &'static AtomicU32>> = Spin::new(BTreeMap::new());
static ANY_ODD: AtomicBool = AtomicBool::new(false);

/// Zeroed memory is an object that nothing was done with.
#[repr(C)]
pub struct Object {
    lock: Owned,
    /// The thread that holds it exclusively: index of its record plus one.
    owner: u32,
    /// How often the owner has locked it.
    depth: u32,
    /// The locks that were held when it was taken lately, and it.
    last_sets: LastSets,
    /// Releases in exclusive mode; posts; ends of initialisers.
    clock: Clock,
    /// Releases in shared mode.
    shared: Clock,
    rounds: Rounds,
    link: Link,
}

/// A lock was acquired. Nobody else changes the object while the real lock is held exclusively.
pub fn acquired(thread: &mut Thread, address: usize, mode: Mode) {
    if mode == Mode::Shared {
        return with(thread, address, |thread, object| {
            thread.acquire(&object.clock);
            log::event(thread, What::AcquireShared, address, 0, 0);
            thread.hold(address, mode, &mut object.last_sets);
        });
    }
    if thread.apart > 0 {
        return;
    }
    gate::enter(thread);
    let object = OBJECTS.get(id_of(address));
    if object.owner == thread.index + 1 {
        object.depth += 1;
    } else {
        thread.acquire(&object.clock);
        thread.acquire(&object.shared);
        object.owner = thread.index + 1;
        object.depth = 1;
        log::event(thread, What::Acquire, address, 0, 0);
        thread.hold(address, mode, &mut object.last_sets);
    }
    gate::leave(thread);
}

/// A lock is about to be released. If the thread does not hold it exclusively, `works` says whether that will work.
pub fn release(thread: &mut Thread, address: usize, works: impl FnOnce() -> bool) {
    if thread.apart > 0 {
        return;
    }
    gate::enter(thread);
    let object = OBJECTS.get(id_of(address));
    if object.owner == thread.index + 1 {
        object.depth -= 1;
        if object.depth == 0 {
            object.release_exclusive(thread, address);
        }
        gate::leave(thread);
        return collect::if_needed(thread);
    }
    gate::leave(thread);
    if !works() {
        return;
    }
    with(thread, address, |thread, object| {
        if thread.held().iter().any(|held| held.address == address) {
            object.release_shared(thread, address);
        } else {
            // Unlocked by another thread than the one that locked it: undefined, but normal mutexes let it pass.
            object.release_exclusive(thread, address);
        }
    });
}

/// A lock of the program's own was acquired; it need not exclude anybody.
pub fn acquired_own(thread: &mut Thread, address: usize, mode: Mode) {
    with(thread, address, |thread, object| {
        thread.acquire(&object.clock);
        match mode {
            Mode::Shared => log::event(thread, What::AcquireShared, address, 0, 0),
            Mode::Exclusive => {
                thread.acquire(&object.shared);
                log::event(thread, What::Acquire, address, 0, 0);
            }
        }
        thread.hold(address, mode, &mut object.last_sets);
    });
}

/// A lock of the program's own is about to be released.
pub fn release_own(thread: &mut Thread, address: usize) {
    with(thread, address, |thread, object| {
        let held = thread.held().iter().rfind(|held| held.address == address).map(|held| held.mode);
        match held {
            Some(Mode::Shared) => object.release_shared(thread, address),
            _ => object.release_exclusive(thread, address),
        }
    });
}

/// The thread ends with a lock held: whoever gets a robust mutex from it is ordered after it.
pub fn abandoned(thread: &mut Thread, address: usize) {
    gate::enter(thread);
    let object = OBJECTS.get(id_of(address));
    if object.owner == thread.index + 1 {
        object.release_exclusive(thread, address);
    }
    gate::leave(thread);
}

/// A condition wait gives the mutex up, however often it is locked. The depth is for [`reacquired`].
pub fn release_for_wait(thread: &mut Thread, address: usize, cond: usize) -> u32 {
    let mut depth = 1;
    with(thread, address, |thread, object| {
        log::event(thread, What::WaitBegin, cond, address as u64, 0);
        depth = object.depth.max(1);
        object.release_exclusive(thread, address);
    });
    depth
}

pub fn reacquired(thread: &mut Thread, address: usize, depth: u32) {
    acquired(thread, address, Mode::Exclusive);
    with(thread, address, |_, object| object.depth = depth);
}

/// What later [`hear`]s of the object are ordered after: a post, the end of an initialiser, an annotation.
pub fn tell(thread: &mut Thread, address: usize, what: What) {
    with(thread, address, |thread, object| {
        log::event(thread, what, address, 0, 0);
        object.clock.join_from(thread);
        thread.after_release();
    });
}

pub fn hear(thread: &mut Thread, address: usize, what: What) {
    with(thread, address, |thread, object| {
        log::event(thread, what, address, 0, 0);
        thread.acquire(&object.clock);
    });
}

/// The thread arrives at a barrier; `None` in a signal handler that interrupted an operation on it.
pub fn arrive(thread: &mut Thread, address: usize, parties: u32) -> Option<Place> {
    let mut place = None;
    with(thread, address, |thread, object| {
        let here = object.rounds.arrive(thread, parties);
        log::event(thread, What::Arrive, address, u64::from(here.number()), 0);
        thread.after_release();
        place = Some(here);
    });
    place
}

/// The round of the thread is complete.
pub fn depart(thread: &mut Thread, address: usize, place: Place) {
    with(thread, address, |thread, object| {
        log::event(thread, What::Depart, address, u64::from(place.number()), 0);
        thread.acquire(place.clock());
        object.rounds.left();
        place.leave();
    });
}

/// Waits until everybody has left a barrier that is about to go, as the C library does.
pub fn wait_until_left(thread: &mut Thread, address: usize) {
    let mut empty = false;
    while !empty {
        empty = true;
        with(thread, address, |_, object| empty = object.rounds.is_empty());
        if !empty {
            gate::pause();
        }
    }
}

/// The object is initialised ([`What::Init`]) or destroyed: a barrier for so many threads, a semaphore with a value.
pub fn new_life(thread: &mut Thread, address: usize, parties: u32, value: u32, what: What) {
    gate::enter(thread);
    log::event(thread, what, address, value.into(), 0);
    forget(thread, address);
    gate::leave(thread);
    if parties != 0 {
        with(thread, address, |_, object| object.rounds.set_parties(parties));
    }
}

/// The memory is somebody else's from now on.
pub fn forget_range(thread: &Thread, start: usize, end: usize) {
    let mut page = start & !4095;
    while page < end {
        if layout::presence(page).load(Relaxed) & HAS_OBJECTS != 0 {
            let from = page.max(start).next_multiple_of(GRANULE);
            for address in (from..end.min(page + 4096)).step_by(GRANULE) {
                forget(thread, address);
            }
        }
        page += 4096;
    }
    if ANY_ODD.load(Relaxed) {
        let odd: Vec<usize> = gate::undisturbed(|| ODD.lock().range(start..end).map(|(at, _)| *at).collect());
        odd.into_iter().for_each(|address| forget(thread, address));
    }
}

/// Values of these slots no longer tell whose they are.
pub fn forget_sources(slots: &[usize]) {
    OBJECTS.each(|object| {
        object.clock.forget_source(slots);
        object.shared.forget_source(slots);
        object.rounds.forget_sources(slots);
    });
}

/// For the child of a fork.
pub fn reset_locks() {
    ODD.reset();
    OBJECTS.each(|object| object.lock.free());
}

fn forget(thread: &Thread, address: usize) {
    let word = word_of(address);
    let id = word.load(Acquire);
    if id == 0 || word.compare_exchange(id, 0, AcqRel, Relaxed).is_err() {
        return;
    }
    let object = OBJECTS.get(id);
    let taken = object.lock.take(thread.index, thread.is_nested());
    object.owner = 0;
    object.depth = 0;
    object.last_sets = LastSets::default();
    object.clock.clear();
    object.shared.clear();
    object.rounds.forget();
    if taken == Taken::Locked {
        object.lock.free();
    }
    OBJECTS.give(id);
}

fn with(thread: &mut Thread, address: usize, work: impl FnOnce(&mut Thread, &mut Object)) {
    if thread.apart > 0 {
        return;
    }
    gate::enter(thread);
    let object = loop {
        let id = id_of(address);
        let object = OBJECTS.get(id);
        let taken = object.lock.take(thread.index, thread.is_nested());
        if taken != Taken::Locked {
            // A signal handler that interrupted an operation on the same object: left out.
            gate::leave(thread);
            return;
        }
        if word_of(address).load(Relaxed) == id {
            break object;
        }
        object.lock.free();
    };
    work(thread, object);
    object.lock.free();
    gate::leave(thread);
    collect::if_needed(thread);
}

/// Where the number of the object at this address is. Locks of the program's own may be bytes next to each other.
#[inline(always)]
fn word_of(address: usize) -> &'static AtomicU32 {
    if address.is_multiple_of(GRANULE) { layout::object(address) } else { odd_word(address) }
}

#[cold]
fn odd_word(address: usize) -> &'static AtomicU32 {
    ANY_ODD.store(true, Relaxed);
    gate::undisturbed(|| *ODD.lock().entry(address).or_insert_with(|| Box::leak(Box::default())))
}

fn id_of(address: usize) -> u32 {
    let word = word_of(address);
    let id = word.load(Acquire);
    if id != 0 {
        return id;
    }
    let Some(new) = OBJECTS.take() else { crate::start::give_up("too many synchronisation objects") };
    layout::presence(address).fetch_or(HAS_OBJECTS, Relaxed);
    match word.compare_exchange(0, new, AcqRel, Acquire) {
        Ok(_) => new,
        Err(other) => {
            OBJECTS.give(new);
            other
        }
    }
}

impl Object {
    fn release_shared(&mut self, thread: &mut Thread, address: usize) {
        log::event(thread, What::ReleaseShared, address, 0, 0);
        self.shared.join_from(thread);
        thread.let_go(address);
        thread.after_release();
    }

    fn release_exclusive(&mut self, thread: &mut Thread, address: usize) {
        log::event(thread, What::Release, address, 0, 0);
        self.clock.join_from(thread);
        self.owner = 0;
        self.depth = 0;
        thread.let_go(address);
        thread.after_release();
    }
}
