//! What can be done with the ends of channels at once, as `poll`, `select` and `epoll_wait` report it: the conditions are those of Linux
//! (`poll(2)`, `epoll(7)`).
//!
//! Whether something outside of the process is ready is the environment's choice, which is made before the call waits (A-IO). A wait
//! with a time limit ends at once: with what is ready, or by the limit, which may be over at any moment (A-TIME); that it lasted longer
//! is the same call at a later moment.

use crate::channels::{Channels, Description, StreamKind};
use std::collections::BTreeMap;

pub(crate) const IN: u32 = 0x001;
pub(crate) const PRI: u32 = 0x002;
pub(crate) const OUT: u32 = 0x004;
pub(crate) const ERR: u32 = 0x008;
pub(crate) const HUP: u32 = 0x010;
pub(crate) const INVALID: u32 = 0x020;
pub(crate) const RDNORM: u32 = 0x040;
pub(crate) const RDBAND: u32 = 0x080;
pub(crate) const WRNORM: u32 = 0x100;
pub(crate) const WRBAND: u32 = 0x200;
pub(crate) const RDHUP: u32 = 0x2000;

/// Conditions that say something about what was written to the other end, or that it was closed.
pub(crate) const HEARD: u32 = IN | PRI | HUP | RDHUP | RDNORM | RDBAND;

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wait {
    /// Descriptors of channels, each with conditions that end the wait.
    pub(crate) asked: Vec<(i32, u32)>,
    pub(crate) epoll: Option<usize>,
    pub(crate) until: Until,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Until {
    /// It does not wait: there is a time limit, or something outside is ready, or no descriptor at all.
    AtOnce,
    /// One of the channels is ready.
    Ready,
    /// The same; something outside could end the wait too, and the environment has chosen that it does not.
    ReadyOrOutside,
}

/// The descriptors that an epoll watches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Epoll {
    /// What stands for them in events.
    pub(crate) stream: usize,
    pub(crate) interests: BTreeMap<i32, Interest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Interest {
    pub(crate) watched: Watched,
    pub(crate) events: u32,
    pub(crate) data: u64,
    /// Something has happened since the last report: needed where edges are reported.
    pub(crate) fresh: bool,
    /// `EPOLLONESHOT`, and it was reported.
    pub(crate) spent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Watched {
    /// An end of a channel.
    Description(usize),
    /// A socket with an unknown peer, or standard input.
    Outside,
}

/// `EPOLLET`
pub(crate) const EDGE: u32 = 1 << 31;
/// `EPOLLONESHOT`
pub(crate) const ONCE: u32 = 1 << 30;

impl Interest {
    /// What is to be reported, of these conditions.
    pub(crate) fn reported(&self, condition: u32) -> u32 {
        if self.spent || self.events & EDGE != 0 && !self.fresh {
            return 0;
        }
        condition & (self.events & 0xffff | ERR | HUP)
    }
}

impl Channels {
    /// The conditions of an end.
    pub(crate) fn condition(&self, end: &Description) -> u32 {
        let mut bits = 0;
        let unheard = |stream: usize| self.stream(stream).shut || !self.has_readers(stream);
        if let Some(reads) = end.reads {
            let stream = self.stream(reads);
            if !stream.is_empty() {
                bits |= IN | RDNORM;
            }
            if self.has_ended(reads) {
                bits |= match stream.kind {
                    StreamKind::Pipe => HUP,
                    _ => IN | RDNORM | RDHUP,
                };
                if stream.kind != StreamKind::Pipe && end.writes.is_some_and(unheard) {
                    bits |= HUP;
                }
            }
            if stream.reset {
                bits |= ERR;
            }
        }
        if let Some(writes) = end.writes {
            bits |= OUT | WRNORM;
            if self.stream(writes).kind == StreamKind::Pipe && !self.has_readers(writes) {
                bits |= ERR;
            }
        }
        bits
    }

    pub(crate) fn ends(&self, wait: &Wait) -> bool {
        let is_ready = |(descriptor, events): &(i32, u32)| match self.at(*descriptor) {
            Some(end) => self.condition(&end) & (events | ERR | HUP) != 0,
            None => true,
        };
        // Another thread made the epoll watch something outside: the environment has not been asked yet.
        let is_new = |epoll: usize| {
            let mut interests = self.epolls[epoll].interests.values();
            wait.until == Until::Ready && interests.any(|interest| interest.watched == Watched::Outside)
        };
        wait.until == Until::AtOnce
            || wait.asked.iter().any(is_ready)
            || wait.epoll.is_some_and(|epoll| is_new(epoll) || !self.reports(epoll).is_empty())
    }

    /// What an epoll would report of channels: descriptors and conditions.
    pub(crate) fn reports(&self, epoll: usize) -> Vec<(i32, u32)> {
        let report = |(descriptor, interest): (&i32, &Interest)| match interest.watched {
            Watched::Description(at) => {
                let bits = interest.reported(self.condition(self.described(at)));
                (bits != 0).then_some((*descriptor, bits))
            }
            Watched::Outside => None,
        };
        self.epolls[epoll].interests.iter().filter_map(report).collect()
    }

    /// Something was written to this direction, or its writing end closed: edges of those who read it.
    pub(crate) fn stir(&mut self, stream: usize) {
        let concerned: Vec<bool> = self.described_all().map(|end| end.reads == Some(stream)).collect();
        for interest in self.epolls.iter_mut().flat_map(|epoll| epoll.interests.values_mut()) {
            if let Watched::Description(at) = interest.watched {
                interest.fresh |= concerned[at];
            }
        }
    }
}
