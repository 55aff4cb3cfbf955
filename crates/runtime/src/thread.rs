//! What the runtime knows of each thread: its clock, its epoch, where it stands, which locks it holds.
//!
//! Records lie in a region of their own, one stride each: the record, the clock's values, the shadow stack. A thread changes only its
//! own record while it runs; its maker fills it in before, and whoever joins it reads it afterwards.

use crate::atomics::Pending;
use crate::block::{APART, Block, Frame, OBSERVED, UNKNOWN};
use crate::clocks::Clock;
use crate::contexts::{self, LAST_PHASE, LastSets, LeafCache, Lock, NO_LOCKS};
use crate::control;
use crate::epochs;
use crate::layout::{self, THREADS};
use crate::memo::Memo;
use crate::mixed;
use crate::observe;
use crate::people;
use crate::record;
use crate::slots;
use crate::walks::Walks;
use std::cell::Cell;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

const STRIDE: usize = 2 << 20;
const CACHES: usize = 16 << 10;
const VALUES: usize = 512 << 10;
const FRAMES: usize = 1 << 20;
const DEEPEST: usize = (STRIDE - FRAMES) / size_of::<Frame>() - 2;
const MOST_HELD: usize = 128;
/// Lock functions of the program's own inside each other of which it is remembered where they began; more are left together.
pub const MOST_APART: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Exclusive,
    Shared,
}

#[derive(Clone, Copy)]
pub struct Held {
    pub address: usize,
    pub mode: Mode,
    pub site: u32,
    /// The set of locks held before.
    before: u32,
}

#[repr(C)]
pub struct Thread {
    /// How deep in the runtime: see [`crate::gate`].
    pub inside: AtomicU32,
    pub index: u32,
    /// Numbered in order of creation; main is 0.
    pub id: u32,
    pub slot: usize,
    pub clock: u32,
    pub epoch: u32,
    /// Some cell holds the present epoch.
    pub used: bool,
    /// The clock has grown since the epoch began.
    pub grown: bool,
    /// The block names sets of readers.
    pub knows_sets: bool,
    width: usize,
    pub block: *mut Block,
    pub life: AtomicU32,
    pub release_fence: Clock,
    pub relaxed_reads: Clock,
    held: [Held; MOST_HELD],
    held_count: usize,
    /// The set of held locks.
    pub locks: u32,
    /// A site of the function that the thread runs, once it is known.
    pub function: u32,
    pub pending: Pending,
    /// What a recorder writes of it.
    pub log: record::Log,
    /// The once object and the initialiser that the C library is about to run.
    pub once: (usize, usize),
    /// Inside a report or an interposed function that calls others.
    pub busy: u32,
    pub exit_rounds: u32,
    /// How deep in lock functions of the program's own, and the frames in which these began.
    pub apart: u32,
    pub apart_from: [*mut Frame; MOST_APART],
    /// Under control: what such a function that returns at once should come to.
    pub tried: Option<i32>,
    next_free: u32,
}

/// What a thread may forget. Not cleaned with its record: what is in it stays right, or is of an older generation.
#[repr(C)]
pub struct Caches {
    pub leaves: LeafCache,
    pub memo: Memo,
    pub walks: Walks,
}

const _: () = assert!(size_of::<Thread>() <= CACHES && CACHES + size_of::<Caches>() <= VALUES);

pub const RUNNING: u32 = 1;
pub const DETACHED: u32 = 2;
pub const ENDED: u32 = 3;
const UNUSED: u32 = 0;

static RECORDS: AtomicU32 = AtomicU32::new(0);
static NEXT_ID: AtomicU32 = AtomicU32::new(0);

/// Threads that were made and have not ended.
static LIVE: AtomicU32 = AtomicU32::new(0);

/// Whether the calling thread is the only one. Nobody else can make another.
#[inline(always)]
pub fn is_alone() -> bool {
    LIVE.load(Relaxed) == 1
}

thread_local! {
    static SELF: Cell<*mut Thread> = const { Cell::new(std::ptr::null_mut()) };
    static WAS_KNOWN: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread was ever one that the runtime knows.
pub fn was_known() -> bool {
    WAS_KNOWN.get()
}

/// The calling thread, if the runtime knows it.
#[inline(always)]
pub fn current() -> Option<&'static mut Thread> {
    unsafe { SELF.get().as_mut() }
}

/// A record for a thread that `maker` is about to start, or for the first thread.
pub fn create(maker: Option<&mut Thread>, created_at: u32) -> &'static mut Thread {
    let index = slots::free_record().unwrap_or_else(|| RECORDS.fetch_add(1, AcqRel));
    let thread = record(index);
    let inside = thread.inside.load(Relaxed);
    let (slot, clock) = slots::take(maker.as_deref());
    unsafe {
        std::ptr::write_bytes(thread.values(), 0, thread.width.max(slot + 1));
        std::ptr::write_bytes(thread as *mut Thread, 0, 1);
    }
    thread.inside.store(inside, Relaxed);
    thread.index = index;
    thread.id = NEXT_ID.fetch_add(1, Relaxed);
    thread.slot = slot;
    thread.clock = clock;
    thread.width = slot + 1;
    thread.locks = NO_LOCKS;
    thread.grown = true;
    people::enter(thread.id, maker.as_deref().map_or(0, |maker| maker.id), created_at);
    if let Some(maker) = maker {
        let mut clock = Clock::EMPTY;
        clock.copy_from(maker);
        thread.acquire(&clock);
        clock.clear();
        maker.after_release();
    }
    thread.set_own();
    LIVE.fetch_add(1, AcqRel);
    thread.life.store(RUNNING, Release);
    thread
}

/// Calls `visit` for each record that is in use.
pub fn each(mut visit: impl FnMut(&'static mut Thread)) {
    for index in 0..RECORDS.load(Acquire) {
        let thread = record(index);
        if thread.life.load(Acquire) != UNUSED {
            visit(thread);
        }
    }
}

/// In the child of a fork: the other threads do not exist, and everything that was done before is over.
pub fn keep_only(survivor: &mut Thread) {
    slots::each_ended(|slot, last| survivor.learn(slot, last));
    for index in 0..RECORDS.load(Acquire) {
        if index != survivor.index {
            let thread = record(index);
            if thread.life.load(Acquire) != UNUSED {
                survivor.learn(thread.slot, thread.clock);
            }
            thread.inside.store(0, Relaxed);
            thread.life.store(UNUSED, Release);
        }
    }
    LIVE.store(1, Relaxed);
}

impl Thread {
    /// Whether what it does now is looked at: neither the runtime itself nor a lock function of the program's own.
    #[inline(always)]
    pub fn is_followed(&self) -> bool {
        self.busy == 0 && self.apart == 0
    }

    /// The calling thread becomes this one.
    pub fn begin(&'static mut self, block: *mut Block) {
        self.block = block;
        layout::flight(self.slot).store(0, Release);
        unsafe {
            let frames = (record_address(self.index) + FRAMES) as *mut Frame;
            *frames = Frame { function: 0, call: 0, node: 0, unused: 0 };
            (*block).top = frames;
            (*block).limit = frames.add(DEEPEST);
            (*block).known = [u32::MAX; 64];
            (*block).spare_count = 0;
            (*block).used = &raw const self.used;
            (*block).values = self.values();
            (*block).inside = &raw const self.inside;
            (*block).fenced = 0;
            (*block).depth = 0;
            (*block).owner = self.index + 1;
            (*block).contexts = self.caches().leaves.contexts.as_ptr();
            (*block).nodes = self.caches().leaves.nodes.as_ptr();
        }
        self.set_flags();
        SELF.set(self);
        WAS_KNOWN.set(true);
        self.new_epoch();
    }

    /// Tells hot.c who wants to see accesses.
    pub fn set_flags(&mut self) {
        let observed = if observe::is_on() { OBSERVED } else { 0 };
        let apart = if self.apart > 0 { APART } else { 0 };
        unsafe { (*self.block).flags = observed | apart };
        self.forget_quick();
    }

    /// Tells hot.c that what relaxed stores tell is not nothing.
    pub fn show_fence(&mut self) {
        unsafe { (*self.block).fenced = 1 };
        self.forget_quick();
    }

    fn forget_quick(&mut self) {
        unsafe { (*self.block).quick.iter_mut().for_each(|quick| quick.epoch = 0) };
    }

    /// The thread has ended; its record stays until it is joined.
    pub fn end(&mut self) {
        mixed::give_back(self);
        unsafe {
            (*self.block).epoch = u32::MAX;
            (*self.block).flags = UNKNOWN;
        }
        self.block = std::ptr::null_mut();
        SELF.set(std::ptr::null_mut());
        // Whoever joins it, or gets its slot, must not know an epoch in which nothing was done.
        let last = if self.used { self.clock } else { self.clock - 1 };
        self.clock = last;
        self.set_own();
        slots::ended(self.slot, last);
        if self.life.swap(ENDED, AcqRel) == DETACHED {
            self.forget();
        }
        LIVE.fetch_sub(1, AcqRel);
    }

    /// It could not be started.
    pub fn abandon(&mut self) {
        LIVE.fetch_sub(1, AcqRel);
        slots::ended(self.slot, self.clock);
        self.forget();
    }

    /// Nobody will ask for this thread any more.
    pub fn forget(&mut self) {
        self.release_fence.clear();
        self.relaxed_reads.clear();
        self.life.store(UNUSED, Release);
        slots::record_is_free(self.index);
    }

    #[inline(always)]
    pub fn knows_epoch(&self, epoch: u32) -> bool {
        let (slot, clock) = epochs::parts(epoch);
        unsafe { *self.values().add(slot) >= clock }
    }

    #[inline(always)]
    pub fn knows_value(&self, slot: usize, clock: u32) -> bool {
        unsafe { *self.values().add(slot) >= clock }
    }

    /// Whether everything in the clock is known, as far as one look can tell.
    #[inline(always)]
    pub fn knows(&self, clock: &Clock) -> bool {
        clock.source().is_some_and(|(slot, value)| self.knows_value(slot, value))
    }

    /// Brings in what a release left.
    #[inline(always)]
    pub fn acquire(&mut self, clock: &Clock) {
        if !clock.is_empty() && !self.knows(clock) {
            self.acquire_values(clock.values());
        }
        if observe::acquires_end_epochs() {
            self.end_segment();
        }
    }

    /// What the thread did so far is noted anew when it does it again.
    #[inline(always)]
    fn end_segment(&mut self) {
        if self.used {
            self.after_release();
            // What the next release publishes need not be what the last one did.
            self.grown = true;
        }
    }

    fn acquire_values(&mut self, values: &[u32]) {
        let mine = unsafe { std::slice::from_raw_parts_mut(self.values(), values.len()) };
        let mut grown = 0;
        for (mine, theirs) in mine.iter_mut().zip(values) {
            grown |= u32::from(*theirs > *mine);
            *mine = (*mine).max(*theirs);
        }
        self.grown |= grown != 0;
        self.width = self.width.max(values.len());
    }

    fn learn(&mut self, slot: usize, clock: u32) {
        let value = unsafe { &mut *self.values().add(slot) };
        *value = (*value).max(clock);
        self.width = self.width.max(slot + 1);
        self.grown = true;
    }

    /// Joins the last clock of an ended thread.
    pub fn acquire_all_of(&mut self, other: &Thread) {
        let values = unsafe { std::slice::from_raw_parts(other.values(), other.width) };
        self.acquire_values(values);
        if observe::acquires_end_epochs() {
            self.end_segment();
        }
    }

    /// Own slot and the clock value that a release made now tells others.
    #[inline(always)]
    pub fn published(&self) -> (usize, u32) {
        (self.slot, if self.used || self.grown { self.clock } else { self.clock - 1 })
    }

    /// After something was published: what the thread does next is not part of it.
    #[inline(always)]
    pub fn after_release(&mut self) {
        if self.used || self.grown {
            self.clock += 1;
            self.set_own();
            self.used = false;
            self.grown = false;
            self.epoch += 1;
            if self.epoch.is_multiple_of(epochs::RUN) || self.clock == slots::LAST {
                self.new_run();
            }
            self.show_epoch();
        }
    }

    /// This set has the thread's present epoch in it.
    pub fn remember_set(&mut self, word: u32) {
        if !sees_all() {
            unsafe { (*self.block).known[word as usize % 64] = word };
            self.knows_sets = true;
        }
    }

    /// Whether the thread's present epoch is this word, or in the set that it names, as far as one look can tell.
    #[inline(always)]
    pub fn is_in(&self, word: u32) -> bool {
        word == self.epoch || unsafe { (*self.block).known[word as usize % 64] == word }
    }

    /// In a signal handler that interrupted the runtime. Only inside the gate.
    pub fn is_nested(&self) -> bool {
        self.inside.load(Relaxed) > 1
    }

    /// Sets may go: nothing that the thread remembers may name one. For the collector, while the thread is outside.
    pub fn forget_sets(&self) {
        self.caches().memo.forget();
        if let Some(block) = unsafe { self.block.as_mut() } {
            block.known = [u32::MAX; 64];
        }
    }

    pub fn forget_sources(&mut self, slots: &[usize]) {
        self.release_fence.forget_source(slots);
        self.relaxed_reads.forget_source(slots);
    }

    pub fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    pub fn values(&self) -> *mut u32 {
        (self as *const Thread as usize + VALUES) as *mut u32
    }

    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub fn caches(&self) -> &'static mut Caches {
        unsafe { &mut *((self as *const Thread as usize + CACHES) as *mut Caches) }
    }

    #[inline(always)]
    pub fn top(&self) -> *mut Frame {
        unsafe { (*self.block).top }
    }

    /// Calls `visit` with the sites of the calls that the thread is in, innermost first, but for the function that it runs now.
    pub fn each_call(&self, mut visit: impl FnMut(u32)) {
        let base = (record_address(self.index) + FRAMES) as *const Frame;
        let mut frame = if self.block.is_null() { base } else { self.top().cast_const() };
        while frame > base {
            frame = frame.wrapping_sub(1);
            let call = unsafe { (*frame).call };
            if call != 0 {
                visit(call);
            }
        }
    }

    /// One more than a site of the function that the thread was started with, 0 before that runs.
    pub fn first_function(&self) -> u32 {
        let base = (record_address(self.index) + FRAMES) as *const Frame;
        let runs = !self.block.is_null() && self.top().cast_const() > base;
        if runs { unsafe { (*base.wrapping_add(1)).function + 1 } } else { 0 }
    }

    /// Notes which function the thread runs: the one in its second frame.
    pub fn note_function(&mut self) {
        let frame = (record_address(self.index) + FRAMES + size_of::<Frame>()) as *const Frame;
        let first = unsafe { (*frame).function };
        if first != 0 && !std::ptr::eq(self.top(), frame.wrapping_sub(1)) {
            self.function = first;
            people::runs(self.id, first);
        }
    }

    /// The site of the call that the program is making.
    pub fn call_site(&self) -> u32 {
        unsafe { (*self.top()).call }
    }

    /// A lock is held from now on.
    pub fn hold(&mut self, address: usize, mode: Mode, last: &mut LastSets) {
        let before = self.locks;
        let site = self.call_site();
        self.held_count += 1;
        if self.held_count > MOST_HELD {
            return;
        }
        self.held[self.held_count - 1] = Held { address, mode, site, before };
        // What was accessed before was accessed with the set before.
        if self.used && self.phase() == LAST_PHASE {
            self.end_segment();
        } else if self.used {
            self.set_phase(self.phase() + 1);
        }
        self.locks = last.with(self, before, &Lock { address, mode, site });
        epochs::set_locks(self.epoch, self.locks, self.phase());
    }

    /// A lock is not held any more. A release follows, which ends the epoch.
    pub fn let_go(&mut self, address: usize) {
        let count = self.held_count.min(MOST_HELD);
        if let Some(at) = self.held[..count].iter().rposition(|held| held.address == address) {
            self.locks = self.held[at].before;
            self.held.copy_within(at + 1..count, at);
            for at in at..count - 1 {
                let Held { address, mode, site, .. } = self.held[at];
                self.held[at].before = self.locks;
                self.locks = contexts::with_lock(self, self.locks, &Lock { address, mode, site });
            }
            self.held_count = if self.held_count > MOST_HELD { MOST_HELD - 1 } else { self.held_count - 1 };
        } else if self.held_count > MOST_HELD {
            self.held_count -= 1;
        }
        if !self.used {
            epochs::set_locks(self.epoch, self.locks, self.phase());
        }
    }

    pub fn held(&self) -> &[Held] {
        &self.held[..self.held_count.min(MOST_HELD)]
    }

    /// How often the thread has taken a lock more since it first accessed something in this epoch.
    #[inline(always)]
    pub fn phase(&self) -> u32 {
        unsafe { (*self.block).phase }
    }

    fn set_phase(&mut self, phase: u32) {
        unsafe { (*self.block).phase = phase };
    }

    fn set_own(&mut self) {
        unsafe { *self.values().add(self.slot) = self.clock };
    }

    #[cold]
    fn new_run(&mut self) {
        if self.clock >= slots::LAST {
            // Nothing was done at this value yet.
            slots::ended(self.slot, self.clock - 1);
            (self.slot, self.clock) = slots::take(Some(self));
            self.width = self.width.max(self.slot + 1);
            self.grown = true;
            self.set_own();
        }
        self.new_epoch();
    }

    fn new_epoch(&mut self) {
        match epochs::new_run(self.slot as u32, self.clock, self.id) {
            Some(epoch) => self.epoch = epoch,
            None => crate::start::give_up("too many synchronisations for Raddle's table of epochs"),
        }
        // The number may have been an epoch of this thread before.
        self.forget_quick();
        self.show_epoch();
    }

    fn show_epoch(&mut self) {
        self.set_phase(0);
        epochs::set_locks(self.epoch, self.locks, 0);
        let caches = self.caches();
        caches.memo.forget();
        caches.walks.forget();
        unsafe {
            (*self.block).epoch = if sees_all() { u32::MAX } else { self.epoch };
            if self.knows_sets {
                (*self.block).known = [u32::MAX; 64];
                self.knows_sets = false;
            }
        }
    }
}

/// A replay may see every access, also those that tell the detector nothing new.
fn sees_all() -> bool {
    observe::mode() == observe::Mode::Replay && control::batons::sees_all()
}

pub fn record(index: u32) -> &'static mut Thread {
    unsafe { &mut *(record_address(index) as *mut Thread) }
}

fn record_address(index: u32) -> usize {
    THREADS + index as usize * STRIDE
}
