//! Gives back what no cell refers to any more.

use crate::report;
use crate::thread::Thread;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static TOLD: AtomicBool = AtomicBool::new(false);

pub fn if_needed(_thread: &mut Thread) {}

/// An access could not be noted.
#[cold]
pub fn no_room(thread: &Thread) {
    if !TOLD.swap(true, Relaxed) {
        report::gap(thread, "sets of readers");
    }
}
