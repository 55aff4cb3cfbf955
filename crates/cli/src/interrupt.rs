//! Ctrl-C: the first one stops the search and reports what was covered, the second one ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit status of a process that Ctrl-C ended.
const KILLED: i32 = 130;

pub(crate) fn install() -> &'static AtomicBool {
    let installed = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(KILLED);
        }
        eprintln!("raddle: stopping; once more to quit at once");
    });
    if let Err(error) = installed {
        eprintln!("raddle: Ctrl-C will end the search without a report: {error}");
    }
    &INTERRUPTED
}
