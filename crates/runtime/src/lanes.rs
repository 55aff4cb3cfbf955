//! The state of one byte, and how an access changes it: FastTrack's rules (Flanagan, Freund, PLDI 2009, figure 2).
//!
//! A write needs all earlier accesses to be known, a read all earlier writes; a write replaces everything, because who is unordered with
//! what it replaces is unordered with it. Exact for the first race of each byte; later races that are reported are races, too.
//! Four bytes with the same state need no record of their own; others have one ([`crate::mixed`]).

use crate::fronts::Front;
use crate::thread::Thread;

/// Last write and last reads of a byte.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Lane {
    pub write: Front,
    pub read: Front,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
}

/// An earlier access that the present one races with.
#[derive(Clone, Copy)]
pub struct Conflict {
    pub epoch: u32,
    pub context: u32,
    /// Which bytes of the granule.
    pub bytes: u8,
}

/// More than the eight bytes of the largest place that is looked at in one piece.
const ROOM: usize = 10;

/// Conflicts of one access with one place. If there are more than fit, some are dropped, but never the only one of a byte.
pub struct Conflicts {
    found: [Conflict; ROOM],
    count: usize,
}

/// There is no room for another set of readers.
pub struct Full;

impl Conflicts {
    pub fn none() -> Self {
        Self { found: [Conflict { epoch: 0, context: 0, bytes: 0 }; ROOM], count: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &Conflict> {
        self.found[..self.count].iter()
    }

    /// What of `front` the thread does not know.
    pub fn add(&mut self, thread: &Thread, front: Front, bytes: u8) {
        for one in front.each().filter(|one| !thread.knows_epoch(one.word)) {
            let same = |old: &Conflict| old.epoch == one.word && old.context == one.context;
            match self.found[..self.count].iter().position(same) {
                Some(at) => self.found[at].bytes |= bytes,
                None => self.push(Conflict { epoch: one.word, context: one.context, bytes }),
            }
        }
    }

    fn push(&mut self, conflict: Conflict) {
        let at = match self.count < ROOM {
            true => self.count,
            false if self.bytes_without(ROOM) & conflict.bytes == conflict.bytes => return,
            // There are more places than bytes, so one of them says nothing that others do not.
            false => {
                let all = self.bytes_without(ROOM);
                (0..ROOM).find(|at| self.bytes_without(*at) == all).unwrap_or(0)
            }
        };
        self.found[at] = conflict;
        self.count = self.count.max(at + 1);
    }

    fn bytes_without(&self, left_out: usize) -> u8 {
        let others = self.found[..self.count].iter().enumerate().filter(|(at, _)| *at != left_out);
        others.fold(0, |bytes, (_, conflict)| bytes | conflict.bytes)
    }
}

impl Lane {
    /// The lane after an access of the thread.
    pub fn after(
        self,
        thread: &Thread,
        kind: Kind,
        context: u32,
        bytes: u8,
        conflicts: &mut Conflicts,
    ) -> Result<Lane, Full> {
        if self.write.word == thread.epoch {
            return Ok(self);
        }
        match kind {
            Kind::Write => {
                conflicts.add(thread, self.write, bytes);
                conflicts.add(thread, self.read, bytes);
                Ok(Lane { write: Front::one(thread.epoch, context), read: Front::default() })
            }
            Kind::Read => {
                conflicts.add(thread, self.write, bytes);
                let read = self.read.with(thread, context).ok_or(Full)?;
                Ok(Lane { read, ..self })
            }
        }
    }
}
