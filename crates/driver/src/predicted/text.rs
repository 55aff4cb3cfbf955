//! Traces in the STD format, which other analysers read and write: no program, so nothing is confirmed, and no places but by name.

use crate::{Answer, DriverError, plain};
use raddle_event::{EventKind, LockMode, ProblemKind, StdTrace, Trace};
use raddle_finding::{
    AccessReport, Confirmation, Deadlocks, Evidence, Finding, FindingKind, Frame, LockReport, Outcome,
    PredictionCounts, Stats, ThreadReport, Verdict,
};
use raddle_native::trace;
use raddle_predict::{Candidate, Deciding, Error, Initial, Input, Options, predict};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What writing a trace in the STD format has left out, by what it was.
pub type Exported = BTreeMap<&'static str, usize>;

/// Writes a recorded trace in the STD format.
pub fn export(trace: &Path, limit: usize, to: &Path) -> Result<Exported, DriverError> {
    let recorded = trace::read(trace, limit).map_err(raddle_native::NativeError::from)?;
    let (text, lost) = recorded.trace.to_std();
    std::fs::write(to, text).map_err(|source| DriverError::Write { path: to.to_owned(), source })?;
    Ok(lost)
}

/// What is predicted from a trace in the STD format. Every read may decide.
pub fn predict_std(file: &Path, candidates: usize) -> Result<Answer, DriverError> {
    let text = std::fs::read_to_string(file)
        .map_err(|source| DriverError::Read { path: file.to_owned(), source })?;
    let read = StdTrace::parse(&text)
        .map_err(|error| DriverError::BrokenTrace { path: file.to_owned(), message: error.to_string() })?;
    let (initial, deciding) = (Initial::default(), Deciding::All);
    let input = Input { trace: &read.trace, initial: &initial, deciding: &deciding };
    let prediction = predict(input, &Options { candidates, ..Options::default() });
    let names = Names { read: &read };
    let mut told = BTreeSet::new();
    let mut findings = Vec::new();
    for candidate in prediction.candidates.iter().filter(|candidate| candidate.uncertain.is_empty()) {
        let finding = names.finding(candidate);
        if told.insert(finding.accesses.iter().map(|access| access.at.clone()).collect::<Vec<Frame>>()) {
            findings.push(Finding {
                id: format!("f{}", findings.len() + 1),
                rank: findings.len() as u32 + 1,
                ..finding
            });
        }
    }
    let counts = prediction.counts;
    let outcome = Outcome {
        verdict: Verdict::Unknown,
        deadlocks: Deadlocks::Unknown,
        findings,
        proved: Vec::new(),
        assumptions: Vec::new(),
        deadlock_assumptions: Vec::new(),
        unknown_reasons: vec![plain(
            "a trace in the STD format names no program that could confirm what is predicted",
        )],
        stats: Stats {
            prediction: Some(PredictionCounts {
                captured: counts.captured as u64,
                reduced: counts.reduced as u64,
                sync: counts.sync as u64,
                candidates: prediction.candidates.len() as u64,
                replayed: 0,
                feasible: 0,
                explored: 0,
                traces: 1,
                rounds: 1,
            }),
            ..Stats::default()
        },
    };
    Ok(Answer { outcome, warnings: Vec::new() })
}

struct Names<'a> {
    read: &'a StdTrace,
}

impl Names<'_> {
    fn trace(&self) -> &Trace {
        &self.read.trace
    }

    fn finding(&self, candidate: &Candidate) -> Finding {
        let (kind, events) = match &candidate.error {
            Error::Race { first, second } => (FindingKind::DataRace, vec![*first, *second]),
            Error::Deadlock { blocked } => (FindingKind::Problem(ProblemKind::Deadlock), blocked.clone()),
        };
        let reason = "there is no program to replay it".to_owned();
        let confirmation = Confirmation::Unconfirmed { reason };
        Finding {
            id: String::new(),
            kind,
            variable: if kind == FindingKind::DataRace { self.operand(events[0]) } else { String::new() },
            accesses: events.iter().map(|event| self.report(*event)).collect(),
            evidence: Evidence::Predicted { method: candidate.method.name(), confirmation },
            engine: "predict",
            rank: 0,
            detail: String::new(),
            assumptions: Vec::new(),
            protection: None,
        }
    }

    fn operand(&self, index: usize) -> String {
        let object = match self.trace().events[index].kind {
            EventKind::Access { loc, .. } => loc.object,
            EventKind::Acquire { lock, .. } | EventKind::Release { lock, .. } => lock.object,
            _ => return String::new(),
        };
        self.read.object(object).to_owned()
    }

    fn report(&self, index: usize) -> AccessReport {
        let event = &self.trace().events[index];
        let action = match event.kind {
            EventKind::Access { kind: raddle_event::AccessKind::Read, .. } => "read",
            EventKind::Access { .. } => "write",
            EventKind::Join { .. } => "join",
            _ => "lock",
        };
        let mut held: Vec<usize> = Vec::new();
        for (at, earlier) in self.trace().events[..index].iter().enumerate() {
            if earlier.thread != event.thread {
                continue;
            }
            match earlier.kind {
                EventKind::Acquire { .. } => held.push(at),
                EventKind::Release { .. } => {
                    let name = self.operand(at);
                    if let Some(place) = held.iter().rposition(|one| self.operand(*one) == name) {
                        held.remove(place);
                    }
                }
                _ => {}
            }
        }
        let lock = |at: usize| LockReport {
            name: self.operand(at),
            mode: LockMode::Exclusive,
            acquired: vec![self.frame(at)],
        };
        AccessReport {
            at: self.frame(index),
            thread: ThreadReport {
                name: self.read.threads[event.thread.0 as usize].clone(),
                created: Vec::new(),
            },
            action: action.to_owned(),
            atomic: false,
            expression: self.operand(index),
            locks: held.into_iter().map(lock).collect(),
            stack: Vec::new(),
        }
    }

    /// A place is `file:line`, or a number; nothing is known of others, nor of functions.
    fn frame(&self, index: usize) -> Frame {
        let event = &self.trace().events[index];
        let (site, thread) = (event.site, &self.read.threads[event.thread.0 as usize]);
        let place = self.read.places.get(site.0 as usize).map_or("", String::as_str);
        let (file, line) = place.rsplit_once(':').unwrap_or(("place", place));
        let line = line.parse().unwrap_or(0);
        Frame { file: file.to_owned(), line, column: 0, function: thread.clone() }
    }
}
