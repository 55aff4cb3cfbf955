//! Elements of locksets: points that what follows them is ordered after.

use raddle_event::{Addr, ThreadId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// The rest of the thread. `Tid` of the paper.
    Thread(ThreadId),
    /// The next acquisition, in any mode, of a lock that is free or held shared; the rest of the holder of one that is held
    /// exclusively. `Addr` of the paper.
    Lock(Addr),
    /// The next exclusive acquisition of a lock that was released by a reader.
    ReadLock(Addr),
    /// Later waits for the semaphore.
    Semaphore(Addr),
    /// Later passes of the once object.
    Once(Addr),
    /// Departures of this round of the barrier.
    Round(Addr, u32),
    /// Acquire reads of bytes that carry this message, and acquire fences after relaxed reads of them.
    Message(MessageId),
    /// Relaxed atomic writes of the thread: a release fence of it came after the access.
    ReleaseFence(ThreadId),
    /// Acquire fences of the thread: a relaxed read of it has seen a message that came after the access.
    RelaxedRead(ThreadId),
}

raddle_base::define_id! {
    /// One store's part in a release sequence, at bytes that have all their history in common.
    pub struct MessageId, "msg"
}
