//! The version of an execution's shared state: a hash of all memory that several threads can see, and of the model.
//!
//! Every page that counts has a copy of what it was when it was last looked at; only pages that differ from theirs are hashed anew. The sum
//! is over what pages are now against what they were before `main`, so it does not matter which pages earlier executions have written.
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
    /// A mirror of the heap, and what each page of it adds to the sum: nothing as long as it is zero.
    heap_seen: *mut u8,
    heap_tokens: *mut u64,
    /// How far each thread's part of it was looked at.
    heap_ends: [usize; MOST_THREADS],
}

struct Page {
    at: usize,
    seen: *mut u8,
    token: u64,
}

impl Versions {
    pub unsafe fn new(memory: &mut Memory) -> Self {
        const HEAP_BYTES: usize = MOST_THREADS * PER_THREAD;
        Self {
            pages: memory.take(MOST_DIRTY * size_of::<Page>()).cast(),
            count: 0,
            known: 0,
            sum: 0,
            heap_seen: memory.take(HEAP_BYTES),
            heap_tokens: memory.take(HEAP_BYTES / PAGE * size_of::<u64>()).cast(),
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
                copy_page(copy as usize, seen);
            }
            let token = token(page, seen as usize);
            self.pages.add(self.count).write(Page { at: page, seen, token });
            self.count += 1;
        }
    }

    unsafe fn look_at_pages(&mut self) {
        for page in std::slice::from_raw_parts_mut(self.pages, self.count) {
            if !is_same(page.at, page.seen) {
                copy_page(page.at, page.seen);
                let token = token(page.at, page.at);
                self.sum = self.sum.wrapping_add(token).wrapping_sub(page.token);
                page.token = token;
            }
        }
    }

    unsafe fn look_at_heap(&mut self, heap: &Heap) {
        for thread in 0..MOST_THREADS {
            let (start, end) = heap.used(thread);
            for at in (start..end.max(self.heap_ends[thread])).step_by(PAGE) {
                let offset = Heap::offset(at);
                let seen = self.heap_seen.add(offset);
                if !is_same(at, seen) {
                    copy_page(at, seen);
                    let token = if is_zero(at) { 0 } else { token(at, at) };
                    let old = self.heap_tokens.add(offset / PAGE).replace(token);
                    self.sum = self.sum.wrapping_add(token).wrapping_sub(old);
                }
            }
            self.heap_ends[thread] = end;
        }
    }
}

/// What the page at `page` adds if its bytes are those at `bytes`.
unsafe fn token(page: usize, bytes: usize) -> u64 {
    // Words of the runtime that lie among the program's.
    let mut holes =
        [control::model_place(), arena::places()[0], arena::places()[1], (usize::MAX, usize::MAX)];
    holes.sort_unstable();
    let (mut at, end, mut part) = (page, page + PAGE, 0);
    let moved = |address: usize| address - page + bytes;
    for (from, to) in holes {
        if from < end && to > at {
            part = of_bytes(part, moved(at), moved(from.max(at)));
            at = to.min(end);
        }
    }
    part = of_bytes(part, moved(at), moved(end));
    mix(part, page as u64)
}

unsafe fn page_at<'a>(at: usize) -> &'a [u8] {
    std::slice::from_raw_parts(at as *const u8, PAGE)
}

unsafe fn is_same(at: usize, seen: *const u8) -> bool {
    page_at(at) == page_at(seen as usize)
}

unsafe fn is_zero(at: usize) -> bool {
    page_at(at).iter().all(|byte| *byte == 0)
}

unsafe fn copy_page(from: usize, to: *mut u8) {
    std::ptr::copy_nonoverlapping(from as *const u8, to, PAGE);
}
