//! A recorded run, as far as the user is told.

use crate::Frame;

#[derive(Clone, Debug, Default)]
pub struct Recording {
    pub program: String,
    pub arguments: Vec<String>,
    /// The commands that ran before and beside it.
    pub before: Option<String>,
    pub client: Option<String>,
    pub process: u32,
    /// The process said that it ends.
    pub ended: bool,
    /// Size of the file.
    pub bytes: u64,
    pub threads: u64,
    pub events: u64,
    /// Events by their kind.
    pub kinds: Vec<(&'static str, u64)>,
    /// Pieces of memory that two threads accessed, one of them writing.
    pub shared: u64,
    /// Bytes that the detector saw a race of.
    pub racy_bytes: u64,
    pub wait_loops: Vec<RecordedLoop>,
    /// What is missing, and why.
    pub gaps: Vec<String>,
    /// The events themselves, if they were asked for.
    pub lines: Vec<RecordedEvent>,
}

/// A loop around condition waits, over the whole run.
#[derive(Clone, Debug)]
pub struct RecordedLoop {
    pub at: Frame,
    pub entered: u64,
    /// How often it was left without having waited.
    pub passed: u64,
    pub waits: u64,
}

#[derive(Clone, Debug)]
pub struct RecordedEvent {
    pub thread: u32,
    pub kind: &'static str,
    /// The object or thread concerned, a range of bytes, an order: as the kind has it.
    pub detail: String,
    /// What the object is, or what the programmer calls it.
    pub name: String,
    pub at: Option<Frame>,
}
