//! The answer about a whole program. There are three, never a bool, and nothing unknown turns into safe.

use crate::{Assumption, Finding};

/// Everything that one command has to say about one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub verdict: Verdict,
    pub deadlocks: Deadlocks,
    pub findings: Vec<Finding>,
    pub proved: Vec<Proved>,
    /// What the verdict and the findings rest on.
    pub assumptions: Vec<Assumption>,
    /// What the answer on deadlocks rests on besides.
    pub deadlock_assumptions: Vec<Assumption>,
    pub unknown_reasons: Vec<UnknownReason>,
    pub stats: Stats,
}

impl Outcome {
    /// What a `safe` covers; `None` for every other verdict.
    pub fn scope(&self) -> Option<Scope> {
        let ids = || self.assumptions.iter().map(|assumption| assumption.id);
        (self.verdict == Verdict::Safe).then(|| Scope::of(ids()))
    }
}

/// Which inputs an answer covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    AllInputs,
    /// Arguments, standard input, environment and contents of files as they were, or as they were modelled.
    ThisInput,
}

impl Scope {
    /// Assumptions that restrict an answer to the input that the executions were given.
    pub const INPUT: [&'static str; 2] = ["A-INPUT", "A-IO"];

    /// The scope of an answer that rests on these assumptions.
    pub fn of<'a>(assumptions: impl IntoIterator<Item = &'a str>) -> Scope {
        match assumptions.into_iter().any(|id| Self::INPUT.contains(&id)) {
            true => Scope::ThisInput,
            false => Scope::AllInputs,
        }
    }
}

/// Speaks of data races alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Race,
    Safe,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadlocks {
    Found,
    None,
    Unknown,
}

/// A variable (or, with an empty name, the whole program) shown free of races.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proved {
    pub variable: String,
    pub by: &'static str,
    pub certificate: CertificateFile,
}

/// Whether others can check what was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CertificateFile {
    /// None of its own: that of the whole program covers it, or it was not written.
    #[default]
    Unwritten,
    Written(String),
    /// There is none, for this reason.
    Missing(String),
}

/// Why an answer is not known, with the place where there is one (`file:line`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownReason {
    pub place: String,
    pub text: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Complete runs of the program.
    pub executions: u64,
    /// Visible operations performed over all runs.
    pub steps: u64,
    pub seconds: f64,
    /// What the static analysis counted, where it ran.
    pub statics: Option<StaticCounts>,
    /// Of `seconds`, those of the search.
    pub search_seconds: f64,
    /// Of a search that was stopped: the estimated probability, in thousandths, that a random schedule shows nothing which it has not seen.
    pub explored: Option<u32>,
    /// What a search that prunes counted, where it ran.
    pub pruning: Option<PruningCounts>,
    /// What prediction counted, where it ran.
    pub prediction: Option<PredictionCounts>,
}

/// The columns of the 2015 paper's Table 2, but the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictionCounts {
    /// Accesses and operations that the program made, where the recorder counted them; else events of the trace.
    pub captured: u64,
    /// Events that the filter left.
    pub reduced: u64,
    pub sync: u64,
    /// Reorderings that lead to an error, and how many of them were replayed; of these, how many led there.
    pub candidates: u64,
    pub replayed: u64,
    pub feasible: u64,
    /// Runs beside orders that the program did not follow.
    pub explored: u64,
    /// Recorded runs that were predicted from, in so many rounds.
    pub traces: u64,
    pub rounds: u64,
}

/// The columns of the 2008 paper's Table 1 besides the number of runs; the first four are counted on two runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruningCounts {
    /// Besides the main one.
    pub threads: u64,
    /// Objects that several threads access.
    pub variables: u64,
    /// To those.
    pub accesses: u64,
    pub locks: u64,
    /// States asked about.
    pub checks: u64,
    /// States that nothing can race behind.
    pub yes: u64,
    /// Reversals that were not explored for that reason.
    pub skipped: u64,
}

/// The columns of the 2007 paper's table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaticCounts {
    pub shared_variables: u64,
    /// Conflicting pairs of accesses in two threads, contexts told apart.
    pub pairs: u64,
    /// What no rule excludes.
    pub warnings: u64,
    /// Of these, those that no weaker warning covers.
    pub after_reduction: u64,
    /// One per pair of source places.
    pub after_contexts: u64,
    /// The program never runs two threads at once.
    pub single_threaded: bool,
}

impl Eq for Stats {}
