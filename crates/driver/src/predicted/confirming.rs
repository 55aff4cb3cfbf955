//! Candidates one by one, until each pair of places was seen to race or all its candidates were tried.

use super::beside::{Tried, Tries};
use super::{PredictRequest, Replays, Source, Stage, Watching};
use crate::native::is_suppressed;
use crate::{Answer, DriverError, Goal, plain, witness};
use raddle_config::Config;
use raddle_event::ProblemKind;
use raddle_finding::{
    AccessReport, Assumption, Confirmation, Deadlocks, Evidence, Finding, FindingKind, Frame, Outcome,
    PredictionCounts, Stats, UnknownReason, Verdict,
};
use raddle_native::enforce::{EnforcePlan, EnforceRequest, Enforced, Status, Target, Wanted, Witness};
use raddle_native::trace::{Named, Recorded};
use raddle_native::{Afterwards, End};
use raddle_predict::{Candidate, Counts, Error, Options, Prediction};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Errors that a person would call the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Race([Frame; 2]),
    Deadlock(Vec<Frame>),
}

impl Key {
    pub(super) fn of(finding: &Finding) -> Key {
        let at = |access: &AccessReport| access.at.clone();
        match (finding.kind, finding.accesses.as_slice()) {
            (FindingKind::DataRace, [a, b]) => {
                let mut ends = [at(a), at(b)];
                ends.sort();
                Key::Race(ends)
            }
            _ => {
                let mut places: Vec<Frame> =
                    finding.accesses.iter().map(|access| access.at.clone()).collect();
                places.sort();
                Key::Deadlock(places)
            }
        }
    }
}

/// What came of a candidate.
pub(super) struct Replay {
    /// Why its error was not seen, if it was not.
    why: String,
    /// Steps that the program followed; `None`: it was not run.
    followed: Option<usize>,
}

pub(super) struct Confirming<'a> {
    pub(super) request: &'a PredictRequest,
    pub(super) recorded: &'a Recorded,
    pub(super) target: &'a Target,
    pub(super) prediction: &'a Prediction,
    pub(super) watching: Watching<'a>,
    named: Named<'a>,
    stdin: Option<PathBuf>,
    /// Where the runs of confirmed candidates are recorded, if they are.
    pub(super) records: Option<&'a Path>,
    pub(super) tally: Tally,
}

/// What came of it, for all traces together.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) known: BTreeSet<Key>,
    pub(super) found: Vec<Finding>,
    /// Certain candidates that were not seen, by what they show.
    pub(super) unconfirmed: BTreeMap<Key, Finding>,
    /// Places of uncertain candidates that were not seen.
    pub(super) elsewhere: BTreeSet<Key>,
    pub(super) candidates: u64,
    pub(super) replayed: u64,
    feasible: u64,
    /// Runs beside orders that diverged, and what they were for.
    pub(super) explored: u64,
    pub(super) explored_for: BTreeSet<Key>,
    /// Traces of runs that showed an error and went on to their end, to be predicted from.
    pub(super) traces: Vec<PathBuf>,
    /// Races whose accesses were tried the other way round.
    pub(super) turned: BTreeSet<Key>,
    /// Traces that were predicted from, and in how many rounds.
    pub(super) predicted_from: u64,
    pub(super) rounds: u64,
    /// What was left out because of a bound.
    pub(super) bounds: BTreeSet<String>,
    /// What the confirmed findings rest on.
    assumptions: BTreeSet<Assumption>,
    /// Not all candidates were tried: why.
    pub(super) stopped: Option<String>,
    pub(super) warnings: Vec<String>,
}

impl<'a> Confirming<'a> {
    pub(super) fn new(
        request: &'a PredictRequest,
        recorded: &'a Recorded,
        target: &'a Target,
        prediction: &'a Prediction,
        watching: Watching<'a>,
        records: Option<&'a Path>,
        mut tally: Tally,
    ) -> Result<Self, DriverError> {
        let (program, stdin) = match &request.source {
            Source::Trace { program, stdin, .. } => (program.as_deref(), stdin.clone()),
            Source::Program { run, .. } => (None, run.stdin.clone()),
        };
        let (named, warnings) = recorded.named(program)?;
        tally.warnings.extend(warnings);
        tally.candidates += prediction.candidates.len() as u64;
        Ok(Self { request, recorded, target, prediction, watching, named, stdin, records, tally })
    }

    pub(super) fn all(&mut self, began: Instant) -> Result<(), DriverError> {
        let candidates = &self.prediction.candidates;
        let mut tries = Tries::new();
        for (tried, candidate) in candidates.iter().enumerate() {
            (self.watching.progress)(Stage::Confirming {
                tried,
                candidates: candidates.len(),
                confirmed: self.tally.found.len(),
            });
            if let Error::Deadlock { blocked } = &candidate.error
                && blocked.iter().any(|event| self.named.gives_up(*event))
            {
                continue;
            }
            let finding = self.finding(candidate);
            let key = Key::of(&finding);
            if self.tally.known.contains(&key) {
                continue;
            }
            let why = if self.request.replays == Replays::Unwanted {
                "not replayed, as was asked for".to_owned()
            } else if let Some(stopped) = self.is_over(began) {
                let why = format!("not replayed: {stopped}");
                self.tally.stopped.get_or_insert(stopped);
                why
            } else {
                match self.confirm(candidate)? {
                    None => {
                        let stopped = "it was interrupted".to_owned();
                        self.tally.stopped.get_or_insert(stopped.clone());
                        stopped
                    }
                    Some(Replay { why, followed }) => {
                        let replayed = followed.map(|followed| Tried { candidate: tried, followed });
                        tries.entry(key.clone()).or_default().extend(replayed);
                        why
                    }
                }
            };
            if self.tally.known.contains(&key) {
                self.tally.unconfirmed.remove(&key);
                self.tally.elsewhere.remove(&key);
                if self.request.goal == Goal::FirstRace {
                    self.tally.stopped.get_or_insert("the first error was found".to_owned());
                    return Ok(());
                }
            } else if candidate.uncertain.is_empty() && self.target.sees_every_access() {
                self.tally.unconfirmed.entry(key).or_insert_with(|| {
                    let method = candidate.method.name();
                    let confirmation = Confirmation::Unconfirmed { reason: why };
                    Finding { evidence: Evidence::Predicted { method, confirmation }, ..finding }
                });
            } else {
                self.tally.elsewhere.insert(key);
            }
        }
        self.beside(&tries, began)?;
        self.other_ways_round(&tries, began)
    }

    pub(super) fn is_over(&self, began: Instant) -> Option<String> {
        if self.watching.interrupt.load(Ordering::Relaxed) {
            return Some("it was interrupted".to_owned());
        }
        let over = self.request.time.is_some_and(|time| began.elapsed() >= time);
        over.then(|| "the time limit was reached".to_owned())
    }

    /// Runs the program under the candidate. The finding is in `found` if it was seen. `None`: interrupted.
    fn confirm(&mut self, candidate: &Candidate) -> Result<Option<Replay>, DriverError> {
        let plan = match self.target.plan(self.recorded, &candidate.order, &Self::wanted(candidate)) {
            Ok(plan) => plan,
            Err(why) => return Ok(Some(Replay { why, followed: None })),
        };
        self.replay(plan, candidate.method.name())
    }

    /// Runs the program under this schedule, and keeps what that shows. `None`: interrupted.
    pub(super) fn replay(
        &mut self,
        plan: EnforcePlan,
        method: &'static str,
    ) -> Result<Option<Replay>, DriverError> {
        let mut request = self.enforcing(plan);
        self.tally.replayed += 1;
        let Some(enforced) = self.run(&mut request)? else { return Ok(None) };
        let why = words(&enforced);
        let followed = match enforced.status {
            Status::Followed => request.plan.steps(),
            Status::Diverged { step, .. } => step,
        };
        let before = self.tally.found.len();
        let confirmed = self.take(method, enforced);
        self.tally.feasible += u64::from(confirmed);
        if self.tally.found.len() > before {
            self.write(before, &request);
        }
        Ok(Some(Replay { why, followed: Some(followed) }))
    }

    pub(super) fn wanted(candidate: &Candidate) -> Wanted {
        match &candidate.error {
            Error::Race { first, second } => Wanted::Race([*first, *second]),
            Error::Deadlock { blocked } => Wanted::Deadlock(blocked.clone()),
        }
    }

    /// The program as it was recorded, under this schedule.
    pub(super) fn enforcing(&self, plan: EnforcePlan) -> EnforceRequest {
        EnforceRequest {
            arguments: self.recorded.program.arguments.clone(),
            stdin: self.stdin.clone(),
            env: Vec::new(),
            plan,
            afterwards: Afterwards::GoesOn,
            time: self.request.run_time,
            patience: None,
            trace: None,
        }
    }

    /// What the run has shown; whether that is what it was for, or anything else that is new.
    pub(super) fn take(&mut self, method: &'static str, enforced: Enforced) -> bool {
        let reproduced = enforced.reproduced;
        let before = self.tally.found.len();
        let deadlock = enforced.deadlock.filter(|_| reproduced);
        for finding in enforced.races.into_iter().chain(deadlock) {
            if self.tally.known.insert(Key::of(&finding)) {
                let confirmation = Confirmation::Replayed { file: None };
                let evidence = Evidence::Predicted { method, confirmation };
                self.tally.found.push(Finding { evidence, engine: "predict", ..finding });
            }
        }
        if self.tally.found.len() > before {
            self.tally.assumptions.extend(enforced.assumptions);
        }
        reproduced || self.tally.found.len() > before
    }

    /// One schedule shows all findings from `from` on.
    pub(super) fn write(&mut self, from: usize, request: &EnforceRequest) {
        let Some(folder) = &self.request.witness_dir else { return };
        let shows = self.tally.found[from..].iter().map(|finding| {
            let places =
                finding.accesses.iter().map(|access| format!("{}:{}", access.at.file, access.at.line));
            format!(
                "{} {} at {}",
                finding.kind.name(),
                finding.variable,
                places.collect::<Vec<_>>().join(" and ")
            )
        });
        let text = Witness {
            program: self.recorded.program.clone(),
            stdin: request.stdin.clone(),
            shows: shows.collect(),
            plan: request.plan.clone(),
        }
        .to_text();
        let stem = self.recorded.program.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hash = crate::load::digest(text.as_bytes()) as u32;
        match witness::write(folder, &stem, hash, ".order", &text) {
            Ok(path) => {
                let written = path.to_string_lossy().into_owned();
                for finding in &mut self.tally.found[from..] {
                    if let Evidence::Predicted { confirmation, .. } = &mut finding.evidence {
                        *confirmation = Confirmation::Replayed { file: Some(written.clone()) };
                    }
                }
            }
            Err(error) => {
                self.tally.warnings.push(format!("cannot write a schedule to {}: {error}", folder.display()));
            }
        }
    }

    /// The candidate as a person would say it, without stacks: the trace has none.
    pub(super) fn finding(&self, candidate: &Candidate) -> Finding {
        let (kind, events) = match &candidate.error {
            Error::Race { first, second } => (FindingKind::DataRace, vec![*first, *second]),
            Error::Deadlock { blocked } => (FindingKind::Problem(ProblemKind::Deadlock), blocked.clone()),
        };
        let variable = match kind {
            FindingKind::DataRace => {
                let names = events.iter().map(|event| self.named.expression(*event));
                names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
            }
            FindingKind::Problem(_) => String::new(),
        };
        Finding {
            id: String::new(),
            kind,
            variable,
            accesses: events.iter().map(|event| self.named.report(*event)).collect(),
            evidence: Evidence::Observed,
            engine: "predict",
            rank: 0,
            detail: String::new(),
            assumptions: Vec::new(),
            protection: None,
        }
    }
}

impl Tally {
    pub(super) fn answer(self, config: &Config, counts: &Counts) -> Answer {
        let mut findings = self.found;
        findings.extend(self.unconfirmed.into_values());
        findings.retain(|finding| !config.suppressions.iter().any(|one| is_suppressed(finding, one)));
        findings
            .sort_by_cached_key(|finding| (!finding.evidence.is_certain(), finding.kind, Key::of(finding)));
        for (index, finding) in findings.iter_mut().enumerate() {
            finding.id = format!("f{}", index + 1);
            finding.rank = index as u32 + 1;
        }
        let confirmed = |kind: FindingKind| {
            findings.iter().any(|finding| finding.kind == kind && finding.evidence.is_certain())
        };
        let deadlock = FindingKind::Problem(ProblemKind::Deadlock);
        let mut reasons = vec![match self.predicted_from {
            0 | 1 => "errors on other paths than the recorded one were not looked for".to_owned(),
            runs => {
                format!("errors on other paths than those of the {runs} recorded runs were not looked for")
            }
        }];
        reasons.extend(self.stopped.map(|why| format!("not all candidates were tried: {why}")));
        reasons.extend(self.bounds);
        if !self.elsewhere.is_empty() {
            let places = self.elsewhere.len();
            reasons.push(format!(
                "{places} further {} on values that the new order changes; the program went another way, or what they were for \
                 was not seen",
                if places == 1 { "candidate rests" } else { "candidates rest" }
            ));
        }
        if counts.left_out > 0 {
            reasons.push(format!("{} pairs at places that have many pairs were not tried", counts.left_out));
        }
        if counts.not_exhaustive > 0 {
            reasons.push(format!(
                "not all reorderings were looked at for {} pairs of places: the budget was used up",
                counts.not_exhaustive
            ));
        }
        let window = Options::default().window_events;
        if counts.in_windows > 0 {
            reasons.push(format!(
                "not all reorderings were looked at for {} pairs of places, only those within {} events: the trace is too long",
                counts.in_windows, window
            ));
        }
        if counts.across_windows > 0 {
            reasons.push(format!(
                "for {} pairs of places not all reorderings were looked at: their accesses are more than {} events apart",
                counts.across_windows, window
            ));
        }
        if counts.out_of_time > 0 {
            reasons.push(format!(
                "{} pairs of places were not looked at: the time was over",
                counts.out_of_time
            ));
        }
        if counts.patterns_cut {
            reasons.push("not all cycles of locks were looked at".to_owned());
        }
        let outcome = Outcome {
            verdict: if confirmed(FindingKind::DataRace) { Verdict::Race } else { Verdict::Unknown },
            deadlocks: if confirmed(deadlock) { Deadlocks::Found } else { Deadlocks::Unknown },
            findings,
            proved: Vec::new(),
            assumptions: self.assumptions.into_iter().collect(),
            deadlock_assumptions: Vec::new(),
            unknown_reasons: reasons.iter().map(|reason| plain(reason)).collect::<Vec<UnknownReason>>(),
            stats: Stats {
                executions: 1 + self.replayed + self.explored,
                prediction: Some(PredictionCounts {
                    captured: counts.captured as u64,
                    reduced: counts.reduced as u64,
                    sync: counts.sync as u64,
                    candidates: self.candidates,
                    replayed: self.replayed,
                    feasible: self.feasible,
                    explored: self.explored,
                    traces: self.predicted_from,
                    rounds: self.rounds,
                }),
                ..Stats::default()
            },
        };
        Answer { outcome, warnings: self.warnings }
    }
}

/// Why what a run was for was not seen, if it was not.
fn words(enforced: &Enforced) -> String {
    match &enforced.status {
        Status::Diverged { step, steps, why } => {
            format!("the program diverged from the order at step {} of {steps}: {why}", step + 1)
        }
        Status::Followed => match enforced.end {
            End::Stopped => {
                "the order was followed; the time for the run was over before it was seen".to_owned()
            }
            _ => "the order was followed, and it was not seen".to_owned(),
        },
    }
}
