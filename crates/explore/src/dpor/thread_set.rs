//! A set of threads: those with small numbers as bits, since there are seldom others.

use raddle_base::Id;
use raddle_event::ThreadId;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ThreadSet {
    low: u64,
    /// Sorted; none of the first 64.
    high: Vec<ThreadId>,
}

impl ThreadSet {
    pub(super) fn insert(&mut self, thread: ThreadId) {
        match thread.index() {
            low @ 0..64 => self.low |= 1 << low,
            _ => {
                if let Err(at) = self.high.binary_search(&thread) {
                    self.high.insert(at, thread);
                }
            }
        }
    }

    #[inline]
    pub(super) fn contains(&self, thread: ThreadId) -> bool {
        match thread.index() {
            low @ 0..64 => self.low >> low & 1 == 1,
            _ => self.high.binary_search(&thread).is_ok(),
        }
    }

    /// Bits of which one is that of each thread; those with large numbers have one together.
    pub(super) fn low_bits(&self) -> u64 {
        self.low | if self.high.is_empty() { 0 } else { 1 << 63 }
    }

    pub(super) fn low_bit(thread: ThreadId) -> u64 {
        1 << thread.index().min(63)
    }

    /// In order.
    pub(super) fn iter(&self) -> impl Iterator<Item = ThreadId> {
        let low = (0..64).filter(|bit| self.low >> bit & 1 == 1).map(ThreadId);
        low.chain(self.high.iter().copied())
    }
}

impl Extend<ThreadId> for ThreadSet {
    fn extend<I: IntoIterator<Item = ThreadId>>(&mut self, threads: I) {
        threads.into_iter().for_each(|thread| self.insert(thread));
    }
}

impl FromIterator<ThreadId> for ThreadSet {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> Self {
        let mut set = ThreadSet::default();
        set.extend(threads);
        set
    }
}
