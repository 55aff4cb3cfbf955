//! The version of an execution's shared state: a hash of all memory that several threads can see, and of the model.
//!
//! Every page that counts has a copy of what it was when it was last looked at; only words that differ from theirs are hashed. The sum
//! is over what words are now against what they were before `main`, so it does not matter which pages earlier executions have written.
//! Not counted: stacks but for what is shared of them, the runtime's own tables, virtual time.

use super::hashing::{mix, of_bytes};
use super::heap::{Heap, PER_THREAD};
use super::memory::{Dirty, MOST_DIRTY, Memory, PAGE};
use super::session::{self, Session};
use crate::explore::channel::MOST_THREADS;
use crate::{arena, control, layout};

pub struct Versions {
    pages: *mut Page,
    count: usize,
    /// How many of the dirty pages were taken over.
    known: usize,
    sum: u64,
    /// A mirror of the heap.
    heap_seen: *mut u8,
    /// How far each thread's part of it was looked at.
    heap_ends: [usize; MOST_THREADS],
}

struct Page {
    at: usize,
    seen: *mut u8,
}

impl Versions {
    pub unsafe fn new(memory: &mut Memory) -> Self {
        Self {
            pages: memory.take(MOST_DIRTY * size_of::<Page>()).cast(),
            count: 0,
            known: 0,
            sum: 0,
            heap_seen: memory.take(MOST_THREADS * PER_THREAD),
            heap_ends: [0; MOST_THREADS],
        }
    }
}

/// Never 0.
pub unsafe fn version(session: &mut Session) -> u64 {
    let Session { versions, memory, heap, .. } = session;
    versions.take_over(memory);
    versions.look_at_pages();
    versions.look_at_heap(heap);
    let mut sum = mix(control::with(|model| model.hash()), versions.sum);
    heap.each_used(|_, end| sum = mix(sum, end as u64));
    // In whatever order they were first written.
    for &(start, end) in &session.shared[..session.shared_count] {
        let part = of_bytes(start as u64, start & !3, end.next_multiple_of(4));
        sum = sum.wrapping_add(mix(part, start as u64));
    }
    sum | 1
}

impl Versions {
    unsafe fn take_over(&mut self, memory: &mut Memory) {
        while let Some(&Dirty { page, copy }) = memory.dirty().get(self.known) {
            self.known += 1;
            if layout::is_table(page) || session::is_stack(page) {
                continue;
            }
            let seen = memory.take(PAGE);
            if !copy.is_null() {
                std::ptr::copy_nonoverlapping(copy, seen, PAGE);
            }
            self.pages.add(self.count).write(Page { at: page, seen });
            self.count += 1;
        }
    }

    unsafe fn look_at_pages(&mut self) {
        for page in std::slice::from_raw_parts(self.pages, self.count) {
            self.sum = self.sum.wrapping_add(change(page.at, page.seen));
        }
    }

    unsafe fn look_at_heap(&mut self, heap: &Heap) {
        for thread in 0..MOST_THREADS {
            let (start, end) = heap.used(thread);
            for at in (start..end.max(self.heap_ends[thread])).step_by(PAGE) {
                self.sum = self.sum.wrapping_add(change(at, self.heap_seen.add(Heap::offset(at))));
            }
            self.heap_ends[thread] = end;
        }
    }
}

/// What the page adds to the sum against what was seen of it, which is brought up to date.
unsafe fn change(at: usize, seen: *mut u8) -> u64 {
    const LINE: usize = 8;
    let now = std::slice::from_raw_parts(at as *const u64, PAGE / size_of::<u64>());
    let seen = std::slice::from_raw_parts_mut(seen.cast::<u64>(), now.len());
    if now == seen {
        return 0;
    }
    let mut sum = 0_u64;
    for (line, (now, seen)) in now.chunks_exact(LINE).zip(seen.chunks_exact_mut(LINE)).enumerate() {
        if now == seen {
            continue;
        }
        for (word, (now, seen)) in now.iter().zip(seen).enumerate() {
            let address = at + (line * LINE + word) * size_of::<u64>();
            let old = std::mem::replace(seen, *now);
            if old != *now && !is_of_runtime(address) {
                sum = sum.wrapping_add(token(address, *now)).wrapping_sub(token(address, old));
            }
        }
    }
    sum
}

fn token(address: usize, word: u64) -> u64 {
    mix(mix(address as u64, 0), word)
}

/// Words of the runtime that lie among the program's.
fn is_of_runtime(address: usize) -> bool {
    let [next, free] = arena::places();
    [control::model_place(), next, free].iter().any(|(start, end)| (*start..*end).contains(&address))
}
