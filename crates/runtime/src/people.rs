//! Who is who: what reports say about a thread, kept by its number after its record has gone.

use crate::layout::TABLES;
use crate::table::TABLE_BYTES;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

const TABLE: usize = TABLES + 8 * TABLE_BYTES;
const MOST: u32 = 1 << 30;

/// Zeroed memory is a thread that nobody knows.
#[repr(C)]
pub struct Person {
    parent: AtomicU32,
    /// The context of its creation.
    made_at: AtomicU32,
    /// A site of the function that it runs.
    function: AtomicU32,
    told: AtomicU32,
}

/// A new thread.
pub fn enter(id: u32, parent: u32, made_at: u32) {
    if let Some(person) = get(id) {
        person.parent.store(parent, Relaxed);
        person.made_at.store(made_at, Release);
    }
}

pub fn runs(id: u32, function: u32) {
    if let Some(person) = get(id) {
        person.function.store(function, Relaxed);
    }
}

pub fn get(id: u32) -> Option<&'static Person> {
    (id < MOST).then(|| unsafe { &*((TABLE + id as usize * size_of::<Person>()) as *const Person) })
}

impl Person {
    pub fn parent(&self) -> u32 {
        self.parent.load(Relaxed)
    }

    pub fn made_at(&self) -> u32 {
        self.made_at.load(Acquire)
    }

    pub fn function(&self) -> u32 {
        self.function.load(Relaxed)
    }

    /// Whether nobody has told of it yet.
    pub fn is_news(&self) -> bool {
        self.told.swap(1, Relaxed) == 0
    }
}
