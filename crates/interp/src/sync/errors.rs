//! What library calls return when they fail.

use crate::exec::{Cx, Halt};
use raddle_event::Addr;
use raddle_libmodel::Returns;

/// Error numbers of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errno {
    NotPermitted = 1,
    NoSuchThread = 3,
    TryAgain = 11,
    Busy = 16,
    Invalid = 22,
    Deadlock = 35,
    Overflow = 75,
    TimedOut = 110,
    OwnerDied = 130,
    NotRecoverable = 131,
}

impl Cx<'_> {
    /// The value that tells the caller how the call went.
    pub(crate) fn answer(&mut self, returns: Returns, result: Result<(), Errno>) -> u128 {
        let value: i64 = match (returns, result) {
            (Returns::Nothing | Returns::Flags, _) => 0,
            (Returns::OneOnSuccess, result) => i64::from(result.is_ok()),
            (Returns::ZeroOnSuccess, result) => i64::from(result.is_err()),
            (_, Ok(())) => 0,
            (Returns::Errno, Err(error)) => error as i64,
            (Returns::Thrd, Err(Errno::Busy)) => 1,
            (Returns::Thrd, Err(Errno::TimedOut)) => 4,
            (Returns::Thrd, Err(_)) => 2,
            (Returns::MinusOne, Err(error)) => {
                self.set_errno(error as i32);
                -1
            }
        };
        value as i128 as u128
    }

    /// The synchronisation object behind a pointer.
    pub(crate) fn sync_addr(&mut self, address: u64) -> Result<Addr, Halt> {
        let at = self.resolve(address, 1)?;
        let object = self.memory.identify(at.slot);
        self.memory.note_sync(at.slot);
        Ok(Addr { object, offset: at.offset as u32 })
    }
}
