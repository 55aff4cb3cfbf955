//! Pipes, socket pairs, eventfds and epolls inside the process: what is in them, and which descriptors are their ends.
//!
//! A read takes what is there, up to what was asked for, and waits while nothing is there and somebody could still write: POSIX (`read`)
//! lets it return fewer bytes than are there only after a signal, and A-SIGNAL excludes these. A write happens at once: POSIX says so up to 4096
//! bytes, Linux does it as long as there is room. More unread than any Linux system takes without waiting is not modelled, so
//! that a write never waits here.
//!
//! Kept apart from the state of the library (`libc::LibState`), which a call that stops in the middle takes back: operations here
//! happen as a whole.

use crate::readiness::{Epoll, Wait, Watched};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const PAGE: usize = 4096;

/// A pipe of Linux has sixteen pages. Two writes share a page where they fit, so that two pages in a row hold more than one page of
/// bytes; the first one may be read in part.
pub(crate) const MOST_UNREAD: usize = 7 * PAGE;

/// What one write puts into an empty pipe.
pub(crate) const MOST_AT_ONCE: usize = 16 * PAGE;

/// A socket of Linux charges each write for its management as well; with the default buffer it takes at least so many.
pub(crate) const MOST_MESSAGES: usize = 64;

/// Datagrams that wait at most (`max_dgram_qlen`).
pub(crate) const MOST_DATAGRAMS: usize = 10;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Channels {
    streams: Vec<Stream>,
    descriptions: Vec<Description>,
    /// By descriptor: which open file description it stands for.
    open: BTreeMap<i32, usize>,
    pub(crate) epolls: Vec<Epoll>,
    /// Numbers that stood for one and have not been given again: who still uses one is noticed.
    closed: BTreeSet<i32>,
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stream {
    pub(crate) kind: StreamKind,
    /// Written and not read yet.
    pub(crate) unread: Vec<u8>,
    /// The place of the first unread byte, which counts from the last time that nothing was unread.
    pub(crate) place: u32,
    /// Writes not read yet, of a socket: how many bytes are left of each.
    pub(crate) messages: Vec<u32>,
    /// Of an eventfd.
    pub(crate) count: u64,
    /// The writing side was shut down.
    pub(crate) shut: bool,
    /// Of a socket: the writing end was closed before all that was sent to it had been read. The next read at the end fails once.
    pub(crate) reset: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StreamKind {
    Pipe,
    /// One direction of a socket pair that is a stream of bytes.
    Socket,
    /// The same with messages that stay apart.
    Messages,
    /// Messages that stay apart, without an end of the stream.
    Datagrams,
    /// An eventfd that a read sets back to 0.
    Counter,
    /// An eventfd that a read takes one from.
    Semaphore,
    /// What an epoll was told; it is neither read nor written.
    Interests,
}

/// What POSIX calls an open file description: shared by duplicated descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Description {
    pub(crate) reads: Option<usize>,
    pub(crate) writes: Option<usize>,
    /// The epoll that it is.
    pub(crate) epoll: Option<usize>,
    pub(crate) blocking: Blocking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Blocking {
    Yes,
    /// `O_NONBLOCK`.
    No,
}

/// An operation that a thread stands before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Use {
    /// The end that it is about; `None` where it makes new ones, or asks about several.
    pub(crate) descriptor: Option<i32>,
    pub(crate) kind: UseKind,
    /// Descriptors that it was given, each with the description that it stood for.
    pub(crate) given: Vec<(i32, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UseKind {
    /// Takes what is there; whether it waits for something.
    Read(Blocking),
    Write,
    /// Changes which descriptors there are, or what they are like.
    Descriptors,
    /// Uses these parts of the library's state, see `sync::shared`.
    Shared(u32),
    /// Waits until something can be done with one of them.
    Waits(Arc<Wait>),
}

/// Descriptors of a description after one was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remaining {
    None,
    Others,
}

impl Stream {
    fn new(kind: StreamKind, count: u64) -> Stream {
        Stream { kind, unread: Vec::new(), place: 0, messages: Vec::new(), count, shut: false, reset: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self.kind {
            StreamKind::Pipe | StreamKind::Socket => self.unread.is_empty(),
            StreamKind::Messages | StreamKind::Datagrams => self.messages.is_empty(),
            StreamKind::Counter | StreamKind::Semaphore => self.count == 0,
            StreamKind::Interests => true,
        }
    }

    /// What stands for it in reports.
    pub(crate) fn name(&self, number: usize) -> String {
        let what = match self.kind {
            StreamKind::Pipe => "pipe",
            StreamKind::Socket | StreamKind::Messages | StreamKind::Datagrams => "socket pair",
            StreamKind::Counter | StreamKind::Semaphore => "eventfd",
            StreamKind::Interests => "epoll",
        };
        format!("{what} {number}")
    }
}

impl Use {
    /// One that is about no end in particular.
    pub(crate) fn new(kind: UseKind) -> Use {
        Use { descriptor: None, kind, given: Vec::new() }
    }
}

impl Channels {
    /// Whether all that an operation was given is still what it was.
    pub(crate) fn are_the_same(&self, operation: &Use) -> bool {
        operation.given.iter().all(|(descriptor, number)| self.description(*descriptor) == Some(*number))
    }

    /// The number stands for something new.
    pub(crate) fn give_again(&mut self, descriptor: i32) {
        self.closed.remove(&descriptor);
    }

    pub(crate) fn is_open(&self, descriptor: i32) -> bool {
        self.open.contains_key(&descriptor)
    }

    pub(crate) fn was_closed(&self, descriptor: i32) -> bool {
        self.closed.contains(&descriptor)
    }

    /// Whether the number stands, or stood, for an end.
    pub(crate) fn is_taken(&self, descriptor: i32) -> bool {
        self.is_open(descriptor) || self.was_closed(descriptor)
    }

    pub(crate) fn at(&self, descriptor: i32) -> Option<Description> {
        self.open.get(&descriptor).map(|at| self.descriptions[*at])
    }

    pub(crate) fn stream(&self, number: usize) -> &Stream {
        &self.streams[number]
    }

    pub(crate) fn stream_mut(&mut self, number: usize) -> &mut Stream {
        &mut self.streams[number]
    }

    pub(crate) fn new_stream(&mut self, kind: StreamKind, count: u64) -> usize {
        self.streams.push(Stream::new(kind, count));
        self.streams.len() - 1
    }

    /// A new description, with this descriptor.
    pub(crate) fn connect(&mut self, descriptor: i32, description: Description) {
        self.descriptions.push(description);
        self.give_again(descriptor);
        self.open.insert(descriptor, self.descriptions.len() - 1);
    }

    /// Makes `to` stand for the same as `from`, which is open.
    pub(crate) fn duplicate(&mut self, from: i32, to: i32) {
        if let Some(&description) = self.open.get(&from) {
            self.open.insert(to, description);
            self.give_again(to);
        }
    }

    /// The description, and whether this was the last descriptor of it.
    pub(crate) fn close(&mut self, descriptor: i32) -> Option<(Description, Remaining)> {
        let at = self.open.remove(&descriptor)?;
        self.closed.insert(descriptor);
        let description = self.descriptions[at];
        if self.open.values().any(|other| *other == at) {
            return Some((description, Remaining::Others));
        }
        for epoll in &mut self.epolls {
            epoll.interests.retain(|_, interest| interest.watched != Watched::Description(at));
        }
        Some((description, Remaining::None))
    }

    /// The number of the description that a descriptor stands for.
    pub(crate) fn description(&self, descriptor: i32) -> Option<usize> {
        self.open.get(&descriptor).copied()
    }

    pub(crate) fn described(&self, number: usize) -> &Description {
        &self.descriptions[number]
    }

    pub(crate) fn described_all(&self) -> impl Iterator<Item = &Description> {
        self.descriptions.iter()
    }

    pub(crate) fn set_blocking(&mut self, descriptor: i32, blocking: Blocking) {
        if let Some(&at) = self.open.get(&descriptor) {
            self.descriptions[at].blocking = blocking;
        }
    }

    pub(crate) fn has_writers(&self, stream: usize) -> bool {
        !self.streams[stream].shut && self.open_ends().any(|end| end.writes == Some(stream))
    }

    /// Whether nothing more will come, and readers get to know.
    pub(crate) fn has_ended(&self, stream: usize) -> bool {
        self.streams[stream].kind != StreamKind::Datagrams && !self.has_writers(stream)
    }

    pub(crate) fn has_readers(&self, stream: usize) -> bool {
        self.open_ends().any(|end| end.reads == Some(stream))
    }

    fn open_ends(&self) -> impl Iterator<Item = &Description> {
        self.open.values().map(|at| &self.descriptions[*at])
    }

    /// Whether the operation would end at once, with a result or an error.
    pub(crate) fn is_ready(&self, operation: &Use) -> bool {
        match &operation.kind {
            UseKind::Read(Blocking::Yes) => {}
            UseKind::Waits(wait) => return self.ends(wait),
            UseKind::Read(Blocking::No) | UseKind::Write | UseKind::Descriptors | UseKind::Shared(_) => {
                return true;
            }
        }
        match operation.descriptor.and_then(|descriptor| self.at(descriptor)) {
            Some(Description { reads: Some(stream), blocking: Blocking::Yes, .. }) => {
                !self.streams[stream].is_empty() || self.has_ended(stream)
            }
            _ => true,
        }
    }

    /// The direction that an operation works on; `None` where it may concern all.
    pub(crate) fn concerned(&self, operation: &Use) -> Option<usize> {
        let description = self.at(operation.descriptor?)?;
        match operation.kind {
            UseKind::Read(_) => description.reads,
            UseKind::Write => description.writes,
            UseKind::Descriptors | UseKind::Shared(_) | UseKind::Waits(_) => None,
        }
    }
}
