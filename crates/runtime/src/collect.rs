//! Gives back what no cell refers to any more: sets of readers, runs of epochs, slots of ended threads.
//!
//! Happens while no other thread is inside the runtime ([`crate::gate`]); the tests in hot.c, which go on, only read. Nothing is rounded
//! or forgotten: what remains says the same as before. Slots that go to new threads without order to the old ones lose the shortcut by
//! which clocks are recognised, because a value of such a slot no longer tells whose it is.

use crate::cells::{ATOMIC, halves};
use crate::epochs::{self, RUN, TAG};
use crate::fronts;
use crate::layout::{self, CELL_PAGE, GRANULE};
use crate::{gate, mixed, objects, options, records, report, slots, thread};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Fewer sets than this are not worth a collection.
const SMALLEST: u32 = 1 << 20;

/// A run needs half a page for its locks; it may be there for so many pages of cells before somebody looks whether it is needed.
const PAGES_PER_RUN: u32 = 8;

static WANTED: AtomicBool = AtomicBool::new(false);

/// Something has grown so much that it should be looked at.
#[cold]
pub fn want() {
    WANTED.store(true, Relaxed);
}

/// Called where a thread has just left the runtime.
#[inline(always)]
pub fn if_needed(thread: &thread::Thread) {
    if WANTED.load(Relaxed) {
        collect(thread);
    }
}

/// An access could not be noted.
#[cold]
pub fn no_room(_: &thread::Thread) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    want();
    if !TOLD.swap(true, Relaxed) {
        report::gap("sets of readers");
    }
}

#[cold]
fn collect(thread: &thread::Thread) {
    // In a signal handler that interrupted the runtime nobody is ever alone.
    if thread.inside.load(Relaxed) == 0 {
        WANTED.store(false, Relaxed);
        gate::alone(|| Marks::new().mark().sweep());
    }
}

struct Marks {
    /// Pages of cells that were looked at.
    pages: u32,
    runs: Bits,
    sets: Bits,
}

impl Marks {
    fn new() -> Self {
        Self { pages: 0, runs: Bits::new(epochs::runs()), sets: Bits::new(fronts::sets().bound()) }
    }

    fn mark(mut self) -> Self {
        layout::each_touched(|page| self.mark_page(page));
        records::each_front(|front| self.mark_front(front.word));
        thread::each(|thread| {
            self.mark_front(thread.epoch);
            // What threads remember names sets that may go.
            thread.forget_sets();
        });
        self
    }

    fn mark_page(&mut self, page: usize) {
        self.pages += 1;
        let mut last = 0;
        for at in (page..page + CELL_PAGE).step_by(GRANULE) {
            let cell = layout::cell(at).load(Relaxed);
            if cell == last {
                continue;
            }
            last = cell;
            let (write, read) = halves(cell);
            match write & (TAG | ATOMIC) {
                0 | ATOMIC => self.mark_front(write),
                TAG => self.mark_mixed(write),
                _ => {}
            }
            self.mark_front(read);
        }
    }

    fn mark_mixed(&mut self, word: u32) {
        mixed::each_epoch(word, |epoch| self.mark_front(epoch));
    }

    fn mark_front(&mut self, word: u32) {
        if word & TAG == 0 {
            self.runs.set(word / RUN);
            return;
        }
        let mut rest = word & !TAG;
        while rest != 0 && self.sets.set(rest) {
            let [epoch, _, next] = fronts::sets().get(rest);
            self.runs.set(epoch / RUN);
            rest = next;
        }
    }

    fn sweep(self) {
        fronts::sets().sweep(|id| self.sets.get(id));
        epochs::sweep(self.pages / PAGES_PER_RUN, |run| self.runs.get(run));
        let live: BTreeSet<usize> =
            (1..epochs::runs()).filter(|run| self.runs.get(*run)).map(epochs::slot_of_run).collect();
        let gone = slots::release_unless(|slot| live.contains(&slot));
        if !gone.is_empty() {
            objects::forget_sources(&gone);
            records::forget_sources(&gone);
            thread::each(|thread| thread.forget_sources(&gone));
        }
        set_wishes();
    }
}

/// When the next collection is due.
pub fn set_wishes() {
    let step = match options::get().collect {
        0 => SMALLEST,
        step => step,
    };
    let sets = fronts::sets();
    sets.wish((sets.len() * 2).max(sets.len() + step));
}

struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn new(bound: u32) -> Self {
        Self { words: vec![0; bound as usize / 64 + 1] }
    }

    /// Whether it was not set yet.
    fn set(&mut self, at: u32) -> bool {
        let word = &mut self.words[at as usize / 64];
        let fresh = *word & 1 << (at % 64) == 0;
        *word |= 1 << (at % 64);
        fresh
    }

    fn get(&self, at: u32) -> bool {
        self.words[at as usize / 64] & 1 << (at % 64) != 0
    }
}
