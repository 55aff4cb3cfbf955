//! The end of the process at once.
//!
//! Work that was left behind at a limit may be inside LLVM when the process ends. Destructors of LLVM's globals must not run under it,
//! so no exit handler runs at all.

/// Ends the process; what it has written must be flushed before.
pub fn leave(status: u8) -> ! {
    unsafe extern "C" {
        safe fn _exit(status: i32) -> !;
    }
    _exit(i32::from(status))
}
