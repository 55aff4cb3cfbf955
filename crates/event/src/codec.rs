//! Text and binary forms of schedules, traces and search trees, each but the last with a version in front.
//!
//! Reading checks form only and never panics: any text or bytes give a value or an error.

mod binary;
mod schedule_text;
mod std_text;
mod trace_text;
mod tree_text;
mod words;

pub use std_text::StdTrace;

use std::fmt;

/// What was wrong, and where: line from 1 for text, byte offset for binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError {
    pub place: CodecPlace,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecPlace {
    Line(usize),
    Byte(usize),
}

impl CodecError {
    fn line(line: usize, message: impl Into<String>) -> Self {
        Self { place: CodecPlace::Line(line), message: message.into() }
    }

    fn byte(offset: usize, message: impl Into<String>) -> Self {
        Self { place: CodecPlace::Byte(offset), message: message.into() }
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            CodecPlace::Line(line) => write!(f, "line {line}: {}", self.message),
            CodecPlace::Byte(offset) => write!(f, "byte {offset}: {}", self.message),
        }
    }
}

impl std::error::Error for CodecError {}
