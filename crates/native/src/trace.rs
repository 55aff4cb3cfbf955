//! Reads what `raddle record` wrote: a trace with its objects, places and gaps (2015 paper, section 3, the offline half).
//!
//! The logs of the threads are merged by their sequence numbers; addresses become objects with lives: heap blocks, stacks, static and
//! thread-local data, so that memory that is used again is another object. Where we differ from the paper: accesses stay byte
//! ranges, [`Recorded::shared`] computes the shared regions for whoever wants them; signals are not matched with waits by guessing.
//!
//! Files come from anywhere: what is not a trace is an error with the byte where it goes wrong, what is missing is a gap. The events are
//! a prefix of the run, and each thread's own are in their order. Plain accesses have an order with each other only as far as
//! synchronisation gives one.

mod address_space;
mod events;
mod logs;
mod named;
mod protection;
mod shared;
mod told;

pub use named::Named;
pub use told::{Detail, tell};

use crate::Commands;
use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, Event, EventKind, Loc, ThreadId, Trace};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Reads a trace up to `limit` events.
pub fn read(path: &Path, limit: usize) -> Result<Recorded, TraceError> {
    events::read(path, limit, None)
}

/// The same, as far as it comes until then.
pub fn read_until(path: &Path, limit: usize, until: Option<Instant>) -> Result<Recorded, TraceError> {
    events::read(path, limit, until)
}

/// What the file says about the program alone.
pub fn program(path: &Path) -> Result<Program, TraceError> {
    events::program(&logs::Logs::open(path)?)
}

/// As many events as fit into a few gigabytes.
pub const USUAL_LIMIT: usize = 50_000_000;

/// What a file says about a run.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub program: Program,
    /// The process that wrote the file; 0: none came to that.
    pub process: u32,
    pub trace: Trace,
    /// By number.
    pub objects: Vec<Object>,
    /// Programs and libraries in memory.
    pub modules: Vec<Module>,
    /// Instrumented libraries, with the first number of their sites.
    pub libraries: Vec<(u32, PathBuf)>,
    pub wait_loops: Vec<WaitLoop>,
    /// Values of semaphores, by the event that initialised them; of other objects 0.
    pub initial: BTreeMap<usize, u32>,
    /// Bytes that the detector saw a race of, each with the event that it came with.
    pub races: Vec<(usize, Loc)>,
    pub gaps: Vec<Gap>,
    /// The process said that it ends.
    pub ended: bool,
    /// Size of the file.
    pub bytes: u64,
}

/// What the header says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub path: PathBuf,
    /// Of the program's file.
    pub hash: String,
    pub arguments: Vec<String>,
    /// What ran before and beside it.
    #[serde(flatten)]
    pub commands: Commands,
}

/// A piece of memory during one life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    pub kind: ObjectKind,
    pub address: u64,
    pub bytes: u64,
    /// Where it was allocated, and by whom; for a stack, whose it is.
    pub site: SiteId,
    pub thread: ThreadId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// Of the module with this index.
    Static(usize),
    Heap,
    Mapped,
    Stack,
    ThreadLocal,
    /// Nobody said whose it is.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub path: PathBuf,
    /// What the addresses in its file are relative to.
    pub base: u64,
    pub start: u64,
    pub bytes: u64,
}

/// A loop around condition waits, from its beginning to its end; whether anything was waited for is in the events between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitLoop {
    pub thread: ThreadId,
    pub site: SiteId,
    /// Where the loop is entered: before the event of this index; and where it is left.
    pub begin: usize,
    pub end: Option<usize>,
    /// Where they are known before the loop, or from a wait in it.
    pub cond: Option<Addr>,
    pub mutex: Option<Addr>,
    /// How often a wait in it began.
    pub waits: u32,
}

/// Why the trace is not the whole run. Events before the gap are complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// There was no room for what came then.
    NoRoom,
    /// The file ends in the middle of a chunk that begins here, or before it.
    Cut { offset: u64 },
    /// More events than were asked for.
    Limit,
    /// The time for reading was over.
    Time,
    /// The process was not seen to begin.
    Nothing,
    /// In the words of the recorder.
    Told(String),
}

/// Why a file is no trace, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}{reason}", path.display(), if *offset == 0 { String::new() } else { format!("byte {offset}: ") })]
pub struct TraceError {
    pub path: PathBuf,
    pub offset: u64,
    pub reason: String,
}

impl Recorded {
    /// With a read before each write at one of these places, which the recorder left out because the write stands for it.
    pub fn with_reads(mut self, updating: &BTreeSet<SiteId>) -> Recorded {
        let mut events = Vec::with_capacity(self.trace.events.len());
        // Where each event is now, and one more for the end.
        let mut moved = Vec::with_capacity(self.trace.events.len() + 1);
        for event in &self.trace.events {
            if let EventKind::Access { loc, kind: AccessKind::Write } = event.kind
                && updating.contains(&event.site)
            {
                events.push(Event { kind: EventKind::Access { loc, kind: AccessKind::Read }, ..*event });
            }
            moved.push(events.len());
            events.push(*event);
        }
        moved.push(events.len());
        self.trace.events = events;
        for one in &mut self.wait_loops {
            one.begin = moved[one.begin];
            one.end = one.end.map(|end| moved[end]);
        }
        self.initial = self.initial.iter().map(|(event, value)| (moved[*event], *value)).collect();
        self.races.iter_mut().for_each(|(event, _)| *event = moved[*event]);
        self
    }

    /// Bytes that two threads access, one of them writing, neighbouring ones together (2015 paper, section 3).
    pub fn shared(&self) -> Vec<Loc> {
        shared::regions(&self.trace)
    }

    /// Bytes that the detector saw a race of.
    pub fn racy_bytes(&self) -> BTreeSet<Addr> {
        let bytes = |loc: Loc| (0..loc.len).map(move |i| Addr { object: loc.object, offset: loc.offset + i });
        self.races.iter().flat_map(|(_, loc)| bytes(*loc)).collect()
    }

    /// `heap block of 40 bytes`, `stack of T3`
    pub fn describe(&self, object: Object) -> String {
        let Object { kind, bytes, thread, .. } = object;
        match kind {
            ObjectKind::Static(module) => {
                let path =
                    self.modules.get(module).map(|module| module.path.as_path()).unwrap_or(Path::new(""));
                format!("static data of {}", path.file_name().unwrap_or_default().to_string_lossy())
            }
            ObjectKind::Heap => format!("heap block of {bytes} bytes"),
            ObjectKind::Mapped => format!("mapped memory of {bytes} bytes"),
            ObjectKind::Stack => format!("stack of {thread}"),
            ObjectKind::ThreadLocal => format!("thread-local data of {thread}"),
            ObjectKind::Unknown => "memory of unknown origin".to_owned(),
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gap::NoRoom => write!(f, "there was no room for what came then"),
            Gap::Cut { offset } => write!(f, "the file was cut: the chunk at byte {offset} is not whole"),
            Gap::Limit => write!(f, "there are more events than were read"),
            Gap::Time => write!(f, "the time was over before all events were read"),
            Gap::Nothing => write!(f, "the program wrote nothing"),
            Gap::Told(what) => write!(f, "not recorded: {what}"),
        }
    }
}
