//! The file as one sequence of entries: chunks sorted by thread, each thread's log read piece by piece, and the logs merged.

use super::{Gap, TraceError};
use raddle_runtime::trace::{
    Bad, CHUNK_HEADER, Entry, HEADER_UNIT, Header, Kind, LONGEST_HEADER, State, chunk, decode,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// All logs of a file.
pub(super) struct Logs {
    source: Source,
    pub(super) header: Header,
    pub(super) bytes: u64,
    gaps: Vec<Gap>,
    logs: Vec<Log>,
    /// What comes next of each log.
    next: BinaryHeap<Reverse<(Position, usize)>>,
}

/// An entry in its place.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) thread: u32,
    pub(super) entry: Entry,
    /// Of a plain access: granules and bytes of them that have a place of their own later.
    pub(super) moved: Vec<(u64, u64)>,
}

/// What has no sequence number of its own stands before what has the number.
type Position = (u64, bool);

struct Source {
    file: File,
    path: PathBuf,
}

struct Log {
    thread: u32,
    /// Where the content of each chunk is, and how long.
    chunks: VecDeque<(u64, usize)>,
    content: Vec<u8>,
    /// Where the content came from.
    offset: u64,
    at: usize,
    state: State,
    /// Entries that were looked at already.
    ahead: VecDeque<Entry>,
    sequence: u64,
    /// The last entry is not whole.
    cut: bool,
}

impl Logs {
    pub(super) fn open(path: &Path) -> Result<Self, TraceError> {
        let problem = |reason: String| TraceError { path: path.to_owned(), offset: 0, reason };
        let file = File::open(path).map_err(|error| problem(error.to_string()))?;
        let meta = file.metadata().map_err(|error| problem(error.to_string()))?;
        if !meta.is_file() {
            return Err(problem("is not a file".to_owned()));
        }
        let source = Source { file, path: path.to_owned() };
        let bytes = meta.len();
        let start = source.read(0, bytes.min(LONGEST_HEADER as u64) as usize)?;
        let header = Header::read(&start).map_err(|(offset, reason)| source.error(offset as u64, reason))?;
        let mut logs =
            Self { source, header, bytes, gaps: Vec::new(), logs: Vec::new(), next: BinaryHeap::new() };
        logs.find_chunks()?;
        for index in 0..logs.logs.len() {
            logs.push(index)?;
        }
        Ok(logs)
    }

    /// The next entry of the run.
    pub(super) fn step(&mut self) -> Result<Option<Step>, TraceError> {
        let Some(Reverse((_, index))) = self.next.pop() else { return Ok(None) };
        let log = &mut self.logs[index];
        let entry = log.ahead.pop_front().expect("it was looked at");
        let mut moved = Vec::new();
        if is_plain(&entry) {
            log.look_ahead(&self.source)?;
            let again = |entry: &&Entry| matches!(entry.kind, Kind::ReadAmong | Kind::WriteAmong);
            moved = log.ahead.iter().filter(again).map(|entry| (entry.address, entry.more[0])).collect();
        }
        let thread = log.thread;
        self.push(index)?;
        Ok(Some(Step { thread, entry, moved }))
    }

    /// What is missing in the file.
    pub(super) fn gaps(&self) -> Vec<Gap> {
        let mut gaps = self.gaps.clone();
        if gaps.is_empty()
            && let Some(log) = self.logs.iter().find(|log| log.cut)
        {
            gaps.push(Gap::Cut { offset: log.offset - CHUNK_HEADER as u64 });
        }
        gaps
    }

    pub(super) fn error(&self, reason: impl Into<String>) -> TraceError {
        self.source.error(0, reason)
    }

    fn push(&mut self, index: usize) -> Result<(), TraceError> {
        let log = &mut self.logs[index];
        if log.ahead.is_empty() {
            match log.decode(&self.source)? {
                Some(entry) => log.ahead.push_back(entry),
                None => return Ok(()),
            }
        }
        let entry = &log.ahead[0];
        // Signal handlers may come between a number and its entry: then the order of the log counts.
        log.sequence = log.sequence.max(entry.sequence);
        self.next.push(Reverse(((log.sequence, !is_plain(entry)), index)));
        Ok(())
    }

    fn find_chunks(&mut self) -> Result<(), TraceError> {
        let mut found: BTreeMap<u32, BTreeMap<u32, (u64, usize)>> = BTreeMap::new();
        let mut at = self.header.bytes as u64;
        while at < self.bytes {
            let left = self.bytes - at;
            if left < CHUNK_HEADER as u64 {
                self.gaps.push(Gap::Cut { offset: at });
                break;
            }
            let head = self.source.read(at, CHUNK_HEADER)?;
            let Some(one) = chunk(&head).map_err(|reason| self.source.error(at, reason))? else {
                at += HEADER_UNIT as u64;
                continue;
            };
            let mut used = one.used;
            let rest = left - CHUNK_HEADER as u64;
            if used as u64 > rest {
                used = rest as usize;
                self.gaps.push(Gap::Cut { offset: at });
            }
            let place = (at + CHUNK_HEADER as u64, used);
            if found.entry(one.thread).or_default().insert(one.number, place).is_some() {
                return Err(self.source.error(at, "a second chunk of this thread and number"));
            }
            at += one.bytes as u64;
        }
        if self.gaps.is_empty() && self.bytes < self.header.control.end {
            self.gaps.push(Gap::Cut { offset: self.bytes });
        }
        for (thread, chunks) in found {
            if let Some((at, _)) = chunks.iter().enumerate().find(|(at, (number, _))| *at as u32 != **number)
            {
                let offset = chunks.values().nth(at).map_or(0, |(offset, _)| *offset);
                return Err(self
                    .source
                    .error(offset, format!("a chunk of thread {thread} is missing before this one")));
            }
            self.logs.push(Log::new(thread, chunks.into_values().collect()));
        }
        Ok(())
    }
}

impl Source {
    fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, TraceError> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset).map_err(|error| self.error(offset, error.to_string()))?;
        Ok(bytes)
    }

    fn error(&self, offset: u64, reason: impl Into<String>) -> TraceError {
        TraceError { path: self.path.clone(), offset, reason: reason.into() }
    }
}

impl Log {
    fn new(thread: u32, chunks: VecDeque<(u64, usize)>) -> Self {
        let ahead = VecDeque::new();
        Self {
            thread,
            chunks,
            content: Vec::new(),
            offset: 0,
            at: 0,
            state: State::NEW,
            ahead,
            sequence: 0,
            cut: false,
        }
    }

    /// After a plain access: all that says where its bytes took effect among atomics.
    fn look_ahead(&mut self, source: &Source) -> Result<(), TraceError> {
        let belongs = |entry: &Entry| matches!(entry.kind, Kind::ReadAmong | Kind::WriteAmong | Kind::Race);
        while self.ahead.iter().all(belongs) {
            match self.decode(source)? {
                Some(entry) => self.ahead.push_back(entry),
                None => break,
            }
        }
        Ok(())
    }

    fn decode(&mut self, source: &Source) -> Result<Option<Entry>, TraceError> {
        while self.at == self.content.len() {
            let Some((offset, length)) = self.chunks.pop_front() else { return Ok(None) };
            self.content = source.read(offset, length)?;
            (self.offset, self.at, self.state) = (offset, 0, State::NEW);
        }
        match decode(&mut self.state, &self.content, self.at) {
            Ok((entry, next)) => {
                self.at = next;
                Ok(Some(entry))
            }
            Err(bad) => {
                let reason = match bad {
                    Bad::Tag(tag) => format!("{tag} is no kind of entry"),
                    // A file that was cut has a gap already; what is whole was read.
                    Bad::End if self.chunks.is_empty() => {
                        self.at = self.content.len();
                        self.cut = true;
                        return Ok(None);
                    }
                    Bad::End => "an entry ends with its chunk".to_owned(),
                    Bad::Number => "a number is too large".to_owned(),
                    Bad::Text => "a text is too long".to_owned(),
                };
                Err(source.error(self.offset + self.at as u64, reason))
            }
        }
    }
}

fn is_plain(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::Read | Kind::Write)
}
