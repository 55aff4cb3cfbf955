//! The threads of a run, with an undo log: a thread is saved as a whole before its first change after a checkpoint.
//!
//! What was saved and is no longer needed is kept as a spare, so that a search which goes back and forth allocates nothing.

use crate::thread::Thread;
use raddle_event::ThreadId;
use std::ops::Index;

#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    all: Vec<Entry>,
    /// Threads as they were.
    log: Vec<(ThreadId, Entry)>,
    marks: Vec<Mark>,
    epoch: u64,
    last_epoch: u64,
    spare: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    thread: Box<Thread>,
    /// When it was last saved, or created.
    saved: u64,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    epoch: u64,
    log: usize,
    count: usize,
}

impl Threads {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Bytes held for threads, present ones, saved ones and spares, without what they allocate.
    pub fn footprint(&self) -> usize {
        (self.all.len() + self.log.len() + self.spare.len()) * size_of::<Thread>()
    }

    pub fn get(&self, id: ThreadId) -> Option<&Thread> {
        self.all.get(id.0 as usize).map(|entry| &*entry.thread)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Thread> {
        self.all.iter().map(|entry| &*entry.thread)
    }

    pub fn push(&mut self, thread: Thread) {
        self.all.push(Entry { thread: Box::new(thread), saved: self.epoch });
    }

    /// For a change.
    pub fn get_mut(&mut self, id: ThreadId) -> &mut Thread {
        let entry = &mut self.all[id.0 as usize];
        if entry.saved < self.epoch {
            let fresh = || Entry { thread: Box::new(Thread::new(id)), saved: 0 };
            let mut copy = self.spare.pop().unwrap_or_else(fresh);
            copy.thread.clone_from(&entry.thread);
            copy.saved = entry.saved;
            self.log.push((id, copy));
            entry.saved = self.epoch;
        }
        &mut entry.thread
    }

    pub fn checkpoint(&mut self) {
        self.last_epoch += 1;
        self.epoch = self.last_epoch;
        self.marks.push(Mark { epoch: self.epoch, log: self.log.len(), count: self.all.len() });
    }

    pub fn restore(&mut self, checkpoint: usize) {
        self.marks.truncate(checkpoint + 1);
        let mark = self.marks[checkpoint];
        for (id, old) in self.log.drain(mark.log..).rev() {
            let now = std::mem::replace(&mut self.all[id.0 as usize], old);
            self.spare.push(now);
        }
        // Not spares: they were not taken from there, and there would be more with every restart.
        self.all.truncate(mark.count);
        self.epoch = mark.epoch;
    }

    /// Drops the latest checkpoint; what it saved that an earlier one needs stays.
    pub fn discard(&mut self, checkpoint: usize) {
        debug_assert_eq!(checkpoint + 1, self.marks.len());
        let Some(mark) = self.marks.pop() else { return };
        self.epoch = self.marks.last().map_or(0, |mark| mark.epoch);
        for (id, old) in self.log.split_off(mark.log) {
            if old.saved < self.epoch {
                self.log.push((id, old));
            } else {
                self.spare.push(old);
            }
        }
    }
}

impl Index<ThreadId> for Threads {
    type Output = Thread;

    fn index(&self, id: ThreadId) -> &Thread {
        &self.all[id.0 as usize].thread
    }
}
