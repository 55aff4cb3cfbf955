//! Vector clocks and epochs.
//!
//! An epoch `c@t` names the point of thread `t` after its `c - 1`-th release. It happens before whatever has a clock that covers it.
//! The clocks of few threads lie in place: there are many of them, and searches make and drop one with every step.

use raddle_event::ThreadId;

/// How much of each thread is known to have happened before; components that were never set are 0.
#[derive(Clone, Debug, Default)]
pub struct VectorClock {
    counts: Counts,
}

#[derive(Clone, Debug)]
enum Counts {
    Few { len: u32, counts: [u32; FEW] },
    Many(Vec<u32>),
}

/// Threads whose counts lie in place.
const FEW: usize = 19;

impl Default for Counts {
    fn default() -> Self {
        Counts::Few { len: 0, counts: [0; FEW] }
    }
}

impl Counts {
    #[inline]
    fn all(&self) -> &[u32] {
        match self {
            Counts::Few { len, counts } => &counts[..*len as usize],
            Counts::Many(counts) => counts,
        }
    }

    /// At least this many of them.
    #[inline]
    fn reaching(&mut self, wanted: usize) -> &mut [u32] {
        if let Counts::Few { counts, .. } = self
            && wanted > FEW
        {
            *self = Counts::Many(counts.to_vec());
        }
        match self {
            Counts::Few { len, counts } => {
                *len = (*len).max(wanted as u32);
                &mut counts[..*len as usize]
            }
            Counts::Many(counts) => {
                if counts.len() < wanted {
                    counts.resize(wanted, 0);
                }
                counts
            }
        }
    }
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
        self.counts.all().get(thread.0 as usize).copied().unwrap_or(0)
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
        let own = self.counts.all();
        let known = |index: usize| own.get(index).copied().unwrap_or(0);
        other.counts.all().iter().enumerate().all(|(index, &count)| count <= known(index))
    }

    #[inline]
    pub fn join(&mut self, other: &VectorClock) {
        let theirs = other.counts.all();
        for (mine, &theirs) in self.counts.reaching(theirs.len()).iter_mut().zip(theirs) {
            *mine = (*mine).max(theirs);
        }
    }

    /// Lowers each thread's count to the one known here.
    pub fn lower(&self, counts: &mut [u32]) {
        let own = self.counts.all();
        let (known, unknown) = counts.split_at_mut(own.len().min(counts.len()));
        for (count, &own) in known.iter_mut().zip(own) {
            *count = (*count).min(own);
        }
        unknown.fill(0);
    }

    #[inline]
    pub fn set(&mut self, epoch: Epoch) {
        let index = epoch.thread.0 as usize;
        self.counts.reaching(index + 1)[index] = epoch.count;
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
