//! The definition: which sequences of recorded events could have happened instead of the trace.
//!
//! A *reordering* is a sequence of some events of a trace such that
//!
//! 1. the events of each thread are a prefix of its events in the trace, in their order;
//! 2. the events of a thread come after its creation, if that is in the trace; a join comes after the end of the joined thread;
//! 3. a lock is acquired exclusively when no thread holds it, shared when no thread holds it exclusively. A failed acquisition comes
//!    while another thread holds the lock;
//! 4. the beginning of a condition wait and the release of its mutex are one step, and so are its end and the acquisition of the
//!    mutex. A wait that was signalled ends after a signal or broadcast on its condition that came since its beginning; a
//!    signal ends one wait at most, a broadcast those that had begun. Other waits end at any time;
//! 5. a thread leaves a barrier after all arrivals of its round, and arrives for a round after all arrivals of the round before;
//! 6. a semaphore's count never falls below zero; it starts with [`Initial`], or with the least value that the trace allows;
//! 7. the initialiser of a once object runs in the thread that ran it, and the object is passed after it has ended;
//! 8. initialisation and destruction of a synchronisation object keep their order with all operations on it; accesses to a
//!    heap block come after its allocation and before its release, and to a new life of an object after the life before;
//! 9. nothing comes after the end of the process.
//!
//! A read, plain or atomic, *reads as recorded* when each of its bytes comes from the write that it came from in the trace. A read is
//! *concrete* when it reads as recorded and each write that it reads from is concrete; a write is concrete when all reads before it in
//! its thread are. A reordering is *certain* when all deciding reads in it are concrete, and those before events of the error too: then
//! every thread of the program takes the branches that it took.
//!
//! A *race* is a reordering after which two conflicting accesses of different threads, one of them not atomic, are the next events of their
//! threads. A *deadlock* is one after which some threads wait for each other: none of their next events is possible, and no
//! other thread can make one possible.

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
