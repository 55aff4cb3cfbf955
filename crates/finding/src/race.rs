//! A finding: a data race or another confirmed error, with all that a reader needs to understand and replay it.

use crate::Protection;
use raddle_event::{LockMode, ProblemKind, Schedule};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `f1`, `f2`, … in the order of the report.
    pub id: String,
    pub kind: FindingKind,
    /// The variable as a programmer writes it; empty where the finding is about no variable.
    pub variable: String,
    /// For a race exactly two, first the one that came first in the schedule; for a deadlock one per blocked thread; else one.
    pub accesses: Vec<AccessReport>,
    pub evidence: Evidence,
    pub engine: &'static str,
    pub rank: u32,
    /// What exactly, in words; may be empty.
    pub detail: String,
    /// Numbered assumptions that this finding itself rests on.
    pub assumptions: Vec<&'static str>,
    /// Of a race, where it was asked for.
    pub protection: Option<Protection>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    DataRace,
    Problem(ProblemKind),
}

impl FindingKind {
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::DataRace => "data-race",
            FindingKind::Problem(kind) => kind.name(),
        }
    }
}

impl Evidence {
    /// Seen, and not only possible.
    pub fn is_certain(&self) -> bool {
        match self {
            Evidence::Replayed { .. } | Evidence::Observed => true,
            Evidence::Predicted { confirmation, .. } => {
                !matches!(confirmation, Confirmation::Unconfirmed { .. })
            }
            Evidence::Warning { .. } => false,
        }
    }
}

/// How sure we are, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// `certify` replayed this schedule and saw it. `file` is where the schedule was written, once it was. `natively`: the program
    /// itself was run under it.
    Replayed { schedule: Schedule, file: Option<String>, natively: Option<Natively> },
    /// A native run did it, with nothing that orders the two.
    Observed,
    /// A reordering of a recorded run leads there; `method` found it.
    Predicted { method: &'static str, confirmation: Confirmation },
    /// Not ruled out, in this many ways to get to the two places.
    /// `covered_by` names a warning that is more telling: look there first.
    Warning { contexts: usize, covered_by: Option<String> },
}

/// Whether the program did what was predicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// By itself, under the schedule of this file, once it was written.
    Replayed { file: Option<String> },
    /// By the interpreter, under the schedule of this file, once it was written.
    Interpreted { file: Option<String> },
    /// Why it could not be seen.
    Unconfirmed { reason: String },
}

/// How often the program itself did it, run under the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Natively {
    pub reproduced: u32,
    pub runs: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessReport {
    pub at: Frame,
    pub thread: ThreadReport,
    /// `read`, `write`, `free`, `lock`, `join`, …
    pub action: String,
    pub atomic: bool,
    /// The expression at this place (`q->count`); empty if the compiler gave none.
    pub expression: String,
    pub locks: Vec<LockReport>,
    /// Callers, innermost first; `at` itself is not in it.
    pub stack: Vec<Frame>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
}

impl Frame {
    /// In a header of the compiler or of the system, not in a file of the programmer's own.
    pub fn is_system(&self) -> bool {
        ["/usr/include/", "/usr/lib/"].iter().any(|folder| self.file.starts_with(folder))
    }

    /// Of places from the innermost out, the first in the programmer's own files, if there is one.
    pub fn own(frames: &[Frame]) -> Option<&Frame> {
        frames.iter().find(|frame| !frame.is_system()).or(frames.first())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadReport {
    /// `T1 (worker)`, `T0 (main)`.
    pub name: String,
    /// Where the thread was created; empty for the main thread.
    pub created: Vec<Frame>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockReport {
    /// `q->m` or `queue.m`.
    pub name: String,
    pub mode: LockMode,
    /// Where it was acquired, innermost first; empty if not known.
    pub acquired: Vec<Frame>,
}
