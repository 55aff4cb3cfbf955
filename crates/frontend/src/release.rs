//! Gives LLVM's memory back beside whatever comes next: taking a large module apart takes as long as lowering it.

use inkwell::context::Context;
use std::thread::JoinHandle;

/// A context on its way out. Dropping waits for the end, so that nothing of LLVM runs when the process ends.
#[derive(Debug)]
pub struct Release(Option<JoinHandle<()>>);

impl Release {
    /// Modules that are still in the context go with it.
    pub(crate) fn of(context: Context) -> Release {
        let builder = std::thread::Builder::new().name("release".to_owned());
        // Without a thread the closure is dropped here, and the context with it.
        Release(builder.spawn(move || drop(context)).ok())
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // Taking LLVM apart runs no code of ours that could panic.
            let _ = thread.join();
        }
    }
}
