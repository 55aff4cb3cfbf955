//! The form of recorded traces: what a file holds and how entries are written in it. Shared by the recorder and by tools that read.
//!
//! `docs/trace-format.md` describes it. Plain code without a state of its own: whatever the bytes are, reading gives values or errors.

mod entry;
mod file;

pub use entry::{Bad, Draft, Entry, Kind, MOST_BYTES, NOWHERE, State, decode, encode};
pub use file::{
    CHUNK_HEADER, CONTROL, Chunk, Control, HEADER_UNIT, Header, LONGEST_HEADER, MAGIC, VERSION, chunk,
    new_header, write_chunk,
};
