//! Vector clocks and epochs.
//!
//! An epoch `c@t` names the point of thread `t` after its `c - 1`-th release. It happens before whatever has a clock that covers it.

use raddle_base::Id;
use raddle_event::ThreadId;

/// How much of each thread is known to have happened before; components that were never set are 0.
#[derive(Clone, Debug, Default)]
pub struct VectorClock {
    counts: Vec<u32>,
}

/// A point of one thread. A count of 0 is before everything, hence covered by every clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch {
    pub thread: ThreadId,
    pub count: u32,
}

impl VectorClock {
    #[inline]
    pub fn count(&self, thread: ThreadId) -> u32 {
        self.counts.get(thread.index()).copied().unwrap_or(0)
    }

    #[inline]
    pub fn epoch(&self, thread: ThreadId) -> Epoch {
        Epoch { thread, count: self.count(thread) }
    }

    #[inline]
    pub fn covers(&self, epoch: Epoch) -> bool {
        epoch.count <= self.count(epoch.thread)
    }

    pub fn includes(&self, other: &VectorClock) -> bool {
        other
            .counts
            .iter()
            .enumerate()
            .all(|(index, &count)| count <= self.counts.get(index).copied().unwrap_or(0))
    }

    #[inline]
    pub fn join(&mut self, other: &VectorClock) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, &theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = (*mine).max(theirs);
        }
    }

    pub fn set(&mut self, epoch: Epoch) {
        let index = epoch.thread.index();
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] = epoch.count;
    }

    pub fn increment(&mut self, thread: ThreadId) {
        let count = self.count(thread).checked_add(1).expect("more than 2^32 releases of one thread");
        self.set(Epoch { thread, count });
    }
}

impl PartialEq for VectorClock {
    fn eq(&self, other: &VectorClock) -> bool {
        self.includes(other) && other.includes(self)
    }
}

impl Eq for VectorClock {}

impl Epoch {
    pub const START: Epoch = Epoch { thread: ThreadId::MAIN, count: 0 };
}
