//! Order through descriptors (assumption A-DESCRIPTOR): a read is ordered after the write of the bytes, or of the message, that it returns.
//!
//! A channel is one direction of a pipe or of a connection. It counts what was written and read, and keeps the clocks of the last writes
//! with their positions. A write is noted before the system call and gets its position after it; writes that overlap in time share one
//! entry, because their order in the stream is unknown, and overlapping reads share the range that they may have read from. A read that
//! is faster than the writer's return finds the writers that are under way. Where positions are not known any more (another process has
//! the descriptor, the C library writes by itself, bytes that nobody has written here), a read is ordered after every write so far.
//!
//! All of this errs towards more order, so towards fewer races, within one channel. Nothing orders two channels.

use crate::clocks::Clock;
use crate::collect;
use crate::gate;
use crate::log::{self, What};
use crate::record;
use crate::report;
use crate::spin::Spin;
use crate::thread::{self, Thread};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// What a channel is known by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Key {
    /// What arrives at a pipe, or at one end of a socket pair: device and inode.
    Inbox(u64, u64),
    /// One direction of a connection.
    Connection {
        from: Vec<u8>,
        to: Vec<u8>,
    },
    /// Datagrams for a name; bytes for a listening socket whose clients have no names.
    To(Vec<u8>),
    /// Bytes from a listening socket to clients without names.
    From(Vec<u8>),
    /// Requests to connect.
    Requests(Vec<u8>),
    /// Counters, timers and the like, by our own number; 0 for those whose making was not seen.
    Anonymous(u64),
    /// What `epoll_ctl` wants to be told: the epoll and the data.
    Interest(u64, u64),
    Signal(i32),
    /// Files, for whoever watches them.
    Files,
}

pub type Id = u32;

/// Whether the position in the stream is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Positions {
    Counted,
    Unknown,
}

/// How a read ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Got {
    Taken(u64),
    Peeked(u64),
    EndOfStream,
    Nothing,
}

/// What the kernel says about bytes that wait, compared with our count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// Exactly so many.
    Exactly(u64),
    /// So many, and perhaps others are on the way.
    AtLeast(u64),
    Unknown,
}

/// Entries that a channel keeps; what is older counts as all that was written.
const MOST_ENTRIES: usize = 64;
/// Channels that are kept, unless a trace is recorded.
const MOST_CHANNELS: usize = 4096;
/// Where the objects of traces that stand for writes are: no memory is there.
const NAMES: usize = 1 << 62;

struct Entry {
    start: u64,
    end: u64,
    clock: Clock,
    name: usize,
}

/// Writes that overlap in time.
struct Writers {
    active: u32,
    units: u64,
    clock: Clock,
    name: usize,
}

/// Reads that overlap in time.
struct Readers {
    active: u32,
    members: u32,
    base: u64,
    reported: u64,
    /// What the active ones may have taken.
    most: u64,
}

struct Channel {
    key: Key,
    positions: Positions,
    /// How often descriptors had been given to other processes when it was made.
    shared: u32,
    /// Joins all writes.
    all: Clock,
    name: usize,
    written: u64,
    read: u64,
    /// Entries that end before are gone.
    forgotten: u64,
    entries: VecDeque<Entry>,
    writers: Option<Writers>,
    readers: Option<Readers>,
    used: u64,
}

struct State {
    ids: BTreeMap<Key, Id>,
    channels: BTreeMap<Id, Channel>,
    next: Id,
    names: usize,
    uses: u64,
    /// Joins the channels that are not kept.
    evicted: Clock,
}

static STATE: Spin<State> = Spin::new(State {
    ids: BTreeMap::new(),
    channels: BTreeMap::new(),
    next: 1,
    names: 0,
    uses: 0,
    evicted: Clock::EMPTY,
});

/// How often descriptors were given to another process.
static SHARED: AtomicU32 = AtomicU32::new(0);
/// How often channels were dropped: what was remembered of them elsewhere is to be looked up again.
static EVICTIONS: AtomicU32 = AtomicU32::new(0);
static TOLD: AtomicBool = AtomicBool::new(false);

/// The channel of this key.
pub fn of(key: Key, positions: Positions) -> Id {
    locked(None, |_, state| state.id(key, positions))
}

/// A channel of this key that nobody has used: what was known by it is over.
pub fn anew(key: Key, positions: Positions) -> Id {
    locked(None, |_, state| {
        state.ids.remove(&key);
        state.id(key, positions)
    })
}

/// Another process has all descriptors from now on.
pub fn shared() {
    SHARED.fetch_add(1, Relaxed);
}

pub fn is_shared() -> bool {
    SHARED.load(Relaxed) > 0
}

pub fn evictions() -> u32 {
    EVICTIONS.load(Relaxed)
}

/// Bytes go in or out that are not seen.
pub fn lose_positions(channel: Id) {
    with(None, channel, |_, _, channel| channel.positions = Positions::Unknown);
}

/// What the thread did so far comes before whatever the channel hands out from now on.
pub fn release(thread: Option<&mut Thread>, channel: Id) {
    let Some(thread) = thread.filter(|_| needs_clocks()) else { return };
    with(Some(thread), channel, |thread, _, channel| {
        if let Some(thread) = thread {
            channel.note(thread, None);
            thread.after_release();
        }
    });
}

/// The thread comes after everything that was released to the channel.
pub fn acquire(thread: Option<&mut Thread>, channel: Id) {
    if thread.is_some() {
        with(thread, channel, |thread, _, channel| {
            if let Some(thread) = thread {
                hear(thread, &channel.all, channel.name);
            }
        });
    }
}

/// A write is about to be made.
pub fn write_begins(thread: Option<&mut Thread>, channel: Id) {
    with(thread, channel, |thread, names, channel| {
        let mut writers = channel.writers.take().unwrap_or_else(|| {
            *names += 8;
            Writers { active: 0, units: 0, clock: Clock::EMPTY, name: NAMES + *names }
        });
        writers.active += 1;
        if let Some(thread) = thread.filter(|_| needs_clocks()) {
            channel.note(thread, Some(&mut writers));
            thread.after_release();
        }
        channel.writers = Some(writers);
    });
}

/// The write is over; `units` bytes or messages went out.
pub fn write_ends(channel: Id, units: u64) {
    with(None, channel, |_, _, channel| {
        let Some(writers) = channel.writers.as_mut() else { return };
        writers.units += units;
        writers.active -= 1;
        if writers.active > 0 {
            return;
        }
        let Some(Writers { units, mut clock, name, .. }) = channel.writers.take() else { return };
        if units == 0 {
            return clock.clear();
        }
        let start = channel.written;
        channel.written += units;
        channel.entries.push_back(Entry { start, end: channel.written, clock, name });
        channel.tidy();
    });
}

/// A read of at most so many units is about to be made.
pub fn read_begins(channel: Id, most: u64) {
    with(None, channel, |_, _, channel| {
        let base = channel.read;
        let readers =
            channel.readers.get_or_insert(Readers { active: 0, members: 0, base, reported: 0, most: 0 });
        readers.active += 1;
        readers.members += 1;
        readers.most = readers.most.saturating_add(most);
    });
}

/// The read is over. `waiting` asks the kernel, while nobody else can begin to read or write.
pub fn read_ends(
    thread: Option<&mut Thread>,
    channel: Id,
    most: u64,
    got: Got,
    waiting: impl FnOnce() -> Waiting,
) {
    with(thread, channel, |thread, _, channel| {
        let Some(mut readers) = channel.readers.take() else { return };
        let (units, taken) = match got {
            Got::Taken(units) => (units, units),
            Got::Peeked(units) => (units, 0),
            Got::EndOfStream | Got::Nothing => (0, 0),
        };
        let surely = readers.base + readers.reported + units;
        let range = match readers.members {
            1 => (readers.base, readers.base + units),
            _ => (readers.base, (readers.base + readers.reported).saturating_add(readers.most).max(surely)),
        };
        readers.active -= 1;
        readers.reported += taken;
        readers.most = readers.most.saturating_sub(most);
        if readers.active > 0 {
            channel.readers = Some(readers);
        } else {
            channel.read = readers.base + readers.reported;
        }
        if surely > channel.written && channel.writers.is_none() {
            channel.positions = Positions::Unknown;
        }
        if units > 0 && channel.is_counted() && channel.readers.is_none() && channel.writers.is_none() {
            let count = channel.written - channel.read.min(channel.written);
            let fits = match waiting() {
                Waiting::Exactly(bytes) => bytes == count,
                Waiting::AtLeast(bytes) => bytes <= count,
                Waiting::Unknown => true,
            };
            if !fits {
                channel.positions = Positions::Unknown;
            }
        }
        if let Some(thread) = thread {
            match got {
                Got::Nothing => {}
                Got::EndOfStream => hear(thread, &channel.all, channel.name),
                Got::Taken(_) | Got::Peeked(_) => channel.hear_range(thread, range),
            }
        }
        channel.tidy();
    });
}

/// Something waits to be read, or the stream has ended: the thread comes after the write of what is first.
pub fn is_ready(thread: Option<&mut Thread>, channel: Id) {
    if thread.is_none() {
        return;
    }
    with(thread, channel, |thread, _, channel| {
        let Some(thread) = thread else { return };
        let base = channel.readers.as_ref().map_or(channel.read, |readers| readers.base);
        if base >= channel.written && channel.writers.is_none() {
            // The end of the stream, or bytes of strangers.
            return hear(thread, &channel.all, channel.name);
        }
        let most =
            channel.readers.as_ref().map_or(0, |readers| readers.reported.saturating_add(readers.most));
        channel.hear_range(thread, (base, base.saturating_add(most).saturating_add(1)));
    });
}

/// For a fork.
pub fn hold() -> bool {
    STATE.hold()
}

/// After a fork, on both sides.
pub fn reset() {
    STATE.reset();
}

/// While there is one thread, whoever reads later is this one or comes after its making.
fn needs_clocks() -> bool {
    !thread::is_alone() || record::is_on()
}

fn with(
    thread: Option<&mut Thread>,
    channel: Id,
    work: impl FnOnce(Option<&mut Thread>, &mut usize, &mut Channel),
) {
    locked(thread, |thread, state| {
        state.uses += 1;
        let uses = state.uses;
        let State { channels, names, evicted, .. } = state;
        let mut thread = thread;
        if let Some(thread) = thread.as_deref_mut().filter(|_| !evicted.is_empty()) {
            thread.acquire(evicted);
        }
        match (channels.get_mut(&channel), thread) {
            (Some(channel), thread) => {
                channel.used = uses;
                work(thread, names, channel);
            }
            // One that is not kept any more.
            (None, Some(thread)) => {
                evicted.join_from(thread);
                evicted.forget_every_source();
                thread.after_release();
            }
            (None, None) => {}
        }
    });
}

/// Signal handlers write and read, too: none comes while the lock is held.
fn locked<T>(mut thread: Option<&mut Thread>, work: impl FnOnce(Option<&mut Thread>, &mut State) -> T) -> T {
    if let Some(thread) = thread.as_deref() {
        gate::enter(thread);
    }
    let result = gate::undisturbed(|| work(thread.as_deref_mut(), &mut STATE.lock()));
    if let Some(thread) = thread {
        gate::leave(thread);
        collect::if_needed(thread);
    }
    result
}

fn hear(thread: &mut Thread, clock: &Clock, name: usize) {
    if clock.is_empty() {
        return;
    }
    log::event(thread, What::Wait, name, 0, 0);
    let is_news = clock
        .values()
        .iter()
        .enumerate()
        .any(|(slot, value)| *value > 0 && !thread.knows_value(slot, *value));
    thread.acquire(clock);
    if is_news && !TOLD.swap(true, Relaxed) {
        report::assumes("A-DESCRIPTOR");
    }
}

impl State {
    fn id(&mut self, key: Key, positions: Positions) -> Id {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        if self.channels.len() >= MOST_CHANNELS && !record::is_on() {
            self.evict();
        }
        let id = self.next;
        self.next += 1;
        self.names += 8;
        let channel = Channel {
            key: key.clone(),
            positions,
            shared: SHARED.load(Relaxed),
            all: Clock::EMPTY,
            name: NAMES + self.names,
            written: 0,
            read: 0,
            forgotten: 0,
            entries: VecDeque::new(),
            writers: None,
            readers: None,
            used: self.uses,
        };
        self.channels.insert(id, channel);
        self.ids.insert(key, id);
        id
    }

    /// The older half goes; whoever reads from now on comes after all of it.
    fn evict(&mut self) {
        let mut uses: Vec<u64> = self.channels.values().map(|channel| channel.used).collect();
        uses.sort_unstable();
        let limit = uses[uses.len() / 2];
        EVICTIONS.fetch_add(1, Relaxed);
        let State { ids, channels, evicted, .. } = self;
        channels.retain(|id, channel| {
            let stays = channel.used > limit || channel.writers.is_some() || channel.readers.is_some();
            if !stays {
                evicted.join(&channel.all);
                channel.clear();
                if ids.get(&channel.key) == Some(id) {
                    ids.remove(&channel.key);
                }
            }
            stays
        });
    }
}

impl Channel {
    fn is_counted(&self) -> bool {
        self.positions == Positions::Counted && self.shared == SHARED.load(Relaxed)
    }

    /// Joins what the thread publishes. A release follows.
    fn note(&mut self, thread: &mut Thread, writers: Option<&mut Writers>) {
        log::event(thread, What::Post, self.name, 0, 0);
        self.all.join_from(thread);
        self.all.forget_every_source();
        if let Some(writers) = writers {
            log::event(thread, What::Post, writers.name, 0, 0);
            writers.clock.join_from(thread);
            writers.clock.forget_every_source();
        }
    }

    fn hear_range(&self, thread: &mut Thread, (start, end): (u64, u64)) {
        if !self.is_counted() || start < self.forgotten {
            return hear(thread, &self.all, self.name);
        }
        for entry in self.entries.iter().filter(|entry| entry.start < end && start < entry.end) {
            hear(thread, &entry.clock, entry.name);
        }
        if let Some(writers) = self.writers.as_ref().filter(|_| end > self.written) {
            hear(thread, &writers.clock, writers.name);
        }
    }

    /// Drops entries that were read, or that are too many.
    fn tidy(&mut self) {
        let read = self.readers.as_ref().map_or(self.read, |readers| readers.base);
        while let Some(first) = self.entries.front_mut()
            && (first.end <= read || self.entries.len() > MOST_ENTRIES)
        {
            if let Some(mut first) = self.entries.pop_front() {
                self.forgotten = self.forgotten.max(first.end);
                first.clock.clear();
            }
        }
    }

    fn clear(&mut self) {
        self.all.clear();
        self.entries.iter_mut().for_each(|entry| entry.clock.clear());
    }
}
