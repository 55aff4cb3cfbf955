//! The definition: which sequences of recorded events could have happened instead of the trace.
//!
//! A *reordering* is a sequence of some events of a trace such that
//!
//! 1. the events of each thread are a prefix of its events in the trace, in their order;
//! 2. the events of a thread come after its creation, if that is in the trace; a join comes after the end of the joined thread, which is
//!    its last event, and a detach after its creation;
//! 3. a lock is acquired exclusively when no thread holds it, shared when no thread holds it exclusively. A failed acquisition comes
//!    while some thread holds the lock, exclusively if it was held exclusively when it failed in the trace, because a shared acquisition fails only
//!    then; on a semaphore it comes while the count is zero. One that failed in the trace for neither reason comes at any time;
//! 4. the beginning of a condition wait and the release of its mutex are one step, and so are its end and the acquisition of the
//!    mutex. A wait that was signalled ends after a signal or broadcast on its condition that came since its beginning; a
//!    signal ends one wait at most, a broadcast those that had begun. Other waits end at any time;
//! 5. a thread leaves a barrier after all arrivals of its round, and arrives for a round after all arrivals of the round before;
//! 6. a semaphore's count never falls below zero; it starts with [`Initial`], or with the least value that the trace allows;
//! 7. the initialiser of a once object runs in the thread that ran it, and the object is passed after it has ended;
//! 8. initialisation and destruction of a synchronisation object keep their order with all operations on it; accesses to a
//!    heap block come after its allocation and, those that did so in the trace, before its release. An allocation comes after all uses of
//!    an earlier life of the block. An access that came after the release is a use after free, which may come before it and race with it;
//! 9. nothing comes after the end of the process.
//!
//! A read, plain or atomic, *reads as recorded* when each of its bytes comes from the write that it came from in the trace. A read is
//! *concrete* when it reads as recorded and each write that it reads from is concrete; a write is concrete when all reads before it in
//! its thread are, its own included where it is a read-modify-write. A reordering is *certain* when all deciding reads in it are concrete,
//! and those before events of the error too: then every thread of the program takes the branches that it took. The read of a
//! read-modify-write that is an event of the error counts as before it: a compare-exchange that reads something else may not write.
//!
//! A *race* is a reordering after which two conflicting accesses of different threads, one of them not atomic, are the next events of their
//! threads and may both come. A *deadlock* is one after which some threads wait for each other: none of their next events is possible, and
//! no other thread can make one possible. [`legality`](crate::legality) says which threads can. A trace does not tell an acquisition
//! or a wait with a time limit, or one that only tries, from one that blocks: whoever knows the program drops deadlocks of those.

use raddle_base::SiteId;
use raddle_event::{Addr, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A trace, and what is known besides.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub trace: &'a Trace,
    pub initial: &'a Initial,
    pub deciding: &'a Deciding,
}

/// Values of semaphores at their initialisations, by the index of that event; of those that were never initialised in the trace by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initial {
    pub at: BTreeMap<usize, u32>,
    pub before: BTreeMap<Addr, u32>,
}

/// Reads whose value may decide a branch, an address, or what is not recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Deciding {
    /// Nothing is known of the program.
    #[default]
    All,
    /// The other ones do not.
    Sites(BTreeSet<SiteId>),
}

impl Deciding {
    pub fn contains(&self, site: SiteId) -> bool {
        match self {
            Deciding::All => true,
            Deciding::Sites(sites) => sites.contains(&site),
        }
    }
}
