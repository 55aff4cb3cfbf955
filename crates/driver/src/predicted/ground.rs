//! Where the candidates of a prediction are run: in the program itself, or by the interpreter.

use crate::DriverError;
use raddle_event::ProblemKind;
use raddle_finding::{AccessReport, Assumption, Confirmation, Evidence, Finding, FindingKind, UnknownReason};
use raddle_predict::{Candidate, Error};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) trait Ground {
    /// What a person would call one error.
    type Key: Clone + Ord;

    /// An event of an error, without its stack: the trace has none.
    fn report(&self, event: usize) -> AccessReport;

    /// The candidate as a person would say it.
    fn finding(&self, candidate: &Candidate) -> Finding {
        let (kind, events) = match &candidate.error {
            Error::Race { first, second } => (FindingKind::DataRace, vec![*first, *second]),
            Error::Deadlock { blocked } => (FindingKind::Problem(ProblemKind::Deadlock), blocked.clone()),
        };
        let accesses: Vec<AccessReport> = events.iter().map(|event| self.report(*event)).collect();
        let named = accesses.iter().map(|access| &access.expression).find(|name| !name.is_empty());
        let variable = named.filter(|_| kind == FindingKind::DataRace).cloned().unwrap_or_default();
        Finding {
            id: String::new(),
            kind,
            variable,
            accesses,
            evidence: Evidence::Observed,
            engine: "predict",
            rank: 0,
            detail: String::new(),
            assumptions: Vec::new(),
            protection: None,
        }
    }

    /// That of the candidate, and its finding.
    fn key(&self, candidate: &Candidate, finding: &Finding) -> Self::Key;

    /// Whether this event only tries, or waits for some time.
    fn gives_up(&self, event: usize) -> bool;

    /// Whether all that decides what the program does is in the trace, and the latest run says nothing else: then a certain candidate exists.
    fn sees_everything(&self) -> bool;

    /// Runs the program once under the candidate, for so long; no time is no limit.
    fn run(&mut self, candidate: &Candidate, time: Duration) -> Result<Run<Self::Key>, DriverError>;

    /// Writes what the latest run was made by, which has shown these findings: the file of each.
    fn write(&mut self, folder: &Path, shown: &[Finding]) -> std::io::Result<Vec<String>>;

    /// What is confirmed, and by which file.
    fn confirmation(file: Option<String>) -> Confirmation;

    /// What was found out besides, and leaves something open.
    fn reasons(&self) -> Vec<UnknownReason>;
}

/// What came of a candidate.
pub(super) enum Run<K> {
    /// There was no run: why.
    None(String),
    Interrupted,
    Made(Seen<K>),
}

/// What a run has shown.
pub(super) struct Seen<K> {
    /// The error that it was for.
    pub(super) reproduced: bool,
    pub(super) findings: Vec<(K, Finding)>,
    pub(super) assumptions: Vec<Assumption>,
    /// Why the error was not seen, if it was not.
    pub(super) why: String,
    /// Steps of the order that it kept to.
    pub(super) followed: usize,
    /// It followed all of it, went on to its end, and was recorded there.
    pub(super) trace: Option<PathBuf>,
}
