//! A schedule: the choices that make a run, as a value that is stored, printed and replayed.

use crate::ThreadId;

/// Let `thread` perform its pending visible operation in one of the ways open to it (0 unless several are).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice {
    pub thread: ThreadId,
    pub variant: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    pub choices: Vec<Choice>,
}
