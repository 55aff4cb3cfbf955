//! What is known of a run at every step without going through it again: where each thread's steps are, which steps race, and whether a
//! thread has come back to where it stood. Grows and shrinks with the run, at its end only.

use super::deeds::Action;
use super::thread_set::ThreadSet;
use raddle_base::Id;
use raddle_base::fast_hash::FastMap;
use raddle_event::ThreadId;

#[derive(Default)]
pub(super) struct Lines {
    /// The steps of each thread.
    own: Vec<Vec<Line>>,
    /// Where each thread was created.
    created: Vec<Option<u32>>,
    /// For each step the later ones that it races with. Longer than the run: what is behind its end is empty.
    seconds: Vec<Vec<(u32, Reversal)>>,
    /// The earlier steps that each one races with, one step after the other, and where those of each step begin.
    firsts: Vec<u32>,
    starts: Vec<usize>,
}

/// What of a step tells quickly that it does not race with another.
#[derive(Clone, Copy)]
struct Line {
    /// Where it is in the run.
    at: u32,
    marks: u64,
    touches: u64,
}

impl Lines {
    /// The latest of the first `depth` steps that is the thread's own or created it.
    pub(super) fn last_of(&self, thread: ThreadId, depth: usize) -> Option<usize> {
        let own = self.own.get(thread.index()).into_iter().flatten().rev().map(|line| line.at);
        let created = self.created.get(thread.index()).copied().flatten();
        own.chain(created).map(|at| at as usize).find(|at| *at < depth)
    }

    /// Asks `races` for the steps of other threads that the next step may race with, the latest of each thread first: those that are not
    /// among the first `known` of their thread.
    pub(super) fn races(
        &mut self,
        action: &Action,
        known: impl Fn(ThreadId) -> usize,
        mut races: impl FnMut(usize) -> bool,
    ) {
        let thread = action.choice.thread;
        let marks = action.marks;
        let touched = ThreadSet::low_bit(thread);
        self.starts.push(self.firsts.len());
        for (other, own) in self.own.iter().enumerate().filter(|(other, _)| *other != thread.index()) {
            let unknown = own.get(known(ThreadId::from_index(other))..).unwrap_or(&[]);
            for line in unknown.iter().rev() {
                if (line.marks & marks | line.touches & touched) != 0 && races(line.at as usize) {
                    self.firsts.push(line.at);
                }
            }
        }
    }

    /// The step whose races were looked for is taken; it created `born.1` threads from number `born.0` on.
    pub(super) fn push(&mut self, action: &Action, born: (u32, u32)) {
        let thread = action.choice.thread;
        let depth = (self.starts.len() - 1) as u32;
        let threads = (thread.index() + 1).max((born.0 + born.1) as usize);
        if self.own.len() < threads {
            self.own.resize(threads, Vec::new());
            self.created.resize(threads, None);
        }
        let line = Line { at: depth, marks: action.marks, touches: action.touched.low_bits() };
        self.own[thread.index()].push(line);
        self.created[born.0 as usize..(born.0 + born.1) as usize].fill(Some(depth));
        if self.seconds.len() <= depth as usize {
            self.seconds.push(Vec::new());
        }
        for first in &self.firsts[self.starts[depth as usize]..] {
            self.seconds[*first as usize].push((depth, Reversal::Unknown));
        }
    }

    /// The last step is taken back.
    pub(super) fn pop(&mut self, thread: ThreadId, born: (u32, u32)) {
        let start = self.starts.pop().expect("there is a step");
        for first in self.firsts.drain(start..) {
            self.seconds[first as usize].pop();
        }
        self.own[thread.index()].pop();
        self.created[born.0 as usize..(born.0 + born.1) as usize].fill(None);
    }

    pub(super) fn seconds(&self, depth: usize) -> &[(u32, Reversal)] {
        self.seconds.get(depth).map_or(&[], |seconds| seconds)
    }

    pub(super) fn note_reversal(&mut self, depth: usize, at: usize, reversal: Reversal) {
        self.seconds[depth][at].1 = reversal;
    }
}

/// What came of reversing a race, when it was last tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reversal {
    Unknown,
    Possible,
    /// As far as known.
    Impossible,
}

impl Reversal {
    pub(super) fn of(possible: bool) -> Reversal {
        if possible { Reversal::Possible } else { Reversal::Impossible }
    }
}

/// Where threads stood before they moved.
#[derive(Default)]
pub(super) struct Standpoints {
    all: Vec<(ThreadId, u64)>,
    /// How often each was taken.
    visits: FastMap<(ThreadId, u64), u32>,
    /// How many are not the first visit, by thread.
    repeats: Vec<u32>,
}

impl Standpoints {
    pub(super) fn push(&mut self, thread: ThreadId, at: u64) {
        self.all.push((thread, at));
        let visits = self.visits.entry((thread, at)).or_default();
        *visits += 1;
        if self.repeats.len() <= thread.index() {
            self.repeats.resize(thread.index() + 1, 0);
        }
        self.repeats[thread.index()] += u32::from(*visits > 1);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        for key in self.all.drain(len..) {
            let visits = self.visits.get_mut(&key).expect("it was counted");
            *visits -= 1;
            match *visits {
                0 => drop(self.visits.remove(&key)),
                _ => self.repeats[key.0.index()] -= 1,
            }
        }
    }

    /// Whether the thread of this number has come back to where it stood before.
    pub(super) fn repeats(&self, thread: usize) -> bool {
        self.repeats.get(thread).is_some_and(|repeats| *repeats > 0)
    }

    pub(super) fn has(&self, thread: ThreadId, at: u64) -> bool {
        self.visits.contains_key(&(thread, at))
    }
}
