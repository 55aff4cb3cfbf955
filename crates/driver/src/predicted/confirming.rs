//! Candidates one by one, until each pair of places was seen to race or all its candidates were tried.

use super::again::around;
use super::{PredictRequest, Replays, Source, Stage, Watching};
use crate::native::is_suppressed;
use crate::{Answer, DriverError, Goal, plain, witness};
use raddle_config::Config;
use raddle_event::ProblemKind;
use raddle_finding::{
    AccessReport, Assumption, Confirmation, Deadlocks, Evidence, Finding, FindingKind, Frame, Outcome,
    PredictionCounts, Stats, UnknownReason, Verdict,
};
use raddle_native::enforce::{EnforceRequest, Enforced, Status, Target, Wanted, Witness};
use raddle_native::trace::{Named, Program, Recorded};
use raddle_native::{Afterwards, Commands, End};
use raddle_predict::{Candidate, Counts, Error, Method, Options, Prediction};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Candidates that are listed with what their replays did instead; the others are counted.
const MOST_LISTED: usize = 10;

/// The last run gets so much time, though the time for all of them is over.
const SHORTEST: Duration = Duration::from_millis(100);

/// An uncertain candidate that was not seen.
struct Elsewhere {
    /// The program was run under it.
    is_tried: bool,
    text: UnknownReason,
}

/// Errors that a person would call the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Race([Frame; 2]),
    Deadlock(Vec<Frame>),
}

impl Key {
    fn of(finding: &Finding) -> Key {
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

pub(super) struct Confirming<'a> {
    request: &'a PredictRequest,
    recorded: &'a Recorded,
    target: &'a Target,
    prediction: &'a Prediction,
    watching: Watching<'a>,
    named: Named<'a>,
    stdin: Option<PathBuf>,
    /// What runs before and beside the program.
    commands: Commands,
    known: BTreeSet<Key>,
    found: Vec<Finding>,
    /// Certain candidates that were not seen, by what they show.
    unconfirmed: BTreeMap<Key, Finding>,
    /// Uncertain candidates that were not seen, each with what one of their replays did instead.
    elsewhere: BTreeMap<Key, Elsewhere>,
    replayed: u64,
    feasible: u64,
    /// What the confirmed findings rest on.
    assumptions: BTreeSet<Assumption>,
    /// Not all candidates were tried: why.
    stopped: Option<String>,
    warnings: Vec<String>,
}

impl<'a> Confirming<'a> {
    pub(super) fn new(
        request: &'a PredictRequest,
        recorded: &'a Recorded,
        target: &'a Target,
        prediction: &'a Prediction,
        watching: Watching<'a>,
    ) -> Result<Self, DriverError> {
        let (program, stdin, given) = match &request.source {
            Source::Trace { program, stdin, around, .. } => (program.as_deref(), stdin.clone(), around),
            Source::Program { run, .. } => (None, run.stdin.clone(), &run.around),
        };
        let commands = given.commands.or(&recorded.program.commands);
        let (named, warnings) = recorded.named(program)?;
        Ok(Self {
            request,
            recorded,
            target,
            prediction,
            watching,
            named,
            stdin,
            commands,
            known: BTreeSet::new(),
            found: Vec::new(),
            unconfirmed: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            replayed: 0,
            feasible: 0,
            assumptions: BTreeSet::new(),
            stopped: None,
            warnings,
        })
    }

    /// The recorded run itself has shown these.
    pub(super) fn observed(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            if self.known.insert(Key::of(&finding)) {
                self.found.push(finding);
            }
        }
    }

    pub(super) fn all(&mut self, began: Instant) -> Result<(), DriverError> {
        let candidates = &self.prediction.candidates;
        for (tried, candidate) in candidates.iter().enumerate() {
            (self.watching.progress)(Stage::Confirming {
                tried,
                candidates: candidates.len(),
                confirmed: self.found.len(),
            });
            if let Error::Deadlock { blocked } = &candidate.error
                && blocked.iter().any(|event| self.named.gives_up(*event))
            {
                continue;
            }
            let finding = self.finding(candidate);
            let key = Key::of(&finding);
            if self.known.contains(&key) {
                continue;
            }
            let replayed = self.replayed;
            let why = if self.request.replays == Replays::Unwanted {
                "not replayed, as was asked for".to_owned()
            } else if let Some(stopped) = self.is_over(began) {
                let why = format!("not replayed: {stopped}");
                self.stopped.get_or_insert(stopped);
                why
            } else {
                match self.confirm(candidate, began)? {
                    None => {
                        let stopped = "it was interrupted".to_owned();
                        self.stopped.get_or_insert(stopped.clone());
                        stopped
                    }
                    Some(why) => why,
                }
            };
            if self.known.contains(&key) {
                self.unconfirmed.remove(&key);
                self.elsewhere.remove(&key);
                if self.request.goal == Goal::FirstRace {
                    self.stopped.get_or_insert("the first error was found".to_owned());
                    break;
                }
            } else if candidate.uncertain.is_empty() && self.target.sees_every_access() {
                self.unconfirmed.entry(key).or_insert_with(|| {
                    let method = candidate.method.name();
                    let confirmation = Confirmation::Unconfirmed { reason: why };
                    Finding { evidence: Evidence::Predicted { method, confirmation }, ..finding }
                });
            } else {
                let is_tried = self.replayed > replayed;
                let known = self.elsewhere.get(&key);
                if known.is_none_or(|known| is_tried && !known.is_tried) {
                    let text = elsewhere(&finding, &why);
                    self.elsewhere.insert(key, Elsewhere { is_tried, text });
                }
            }
        }
        Ok(())
    }

    fn is_over(&self, began: Instant) -> Option<String> {
        if self.watching.interrupt.load(Ordering::Relaxed) {
            return Some("it was interrupted".to_owned());
        }
        let over = self.request.time.is_some_and(|time| began.elapsed() >= time);
        over.then(|| "the time limit was reached".to_owned())
    }

    /// No run goes on when the time for all of them is over.
    fn for_one_run(&self, began: Instant) -> Duration {
        let own = self.request.run_time;
        match self.request.time.map(|time| time.saturating_sub(began.elapsed()).max(SHORTEST)) {
            Some(left) if own.is_zero() || left < own => left,
            _ => own,
        }
    }

    /// Runs the program under the candidate. What was not seen and why; the finding is in `found` if it was. `None`: interrupted.
    fn confirm(&mut self, candidate: &Candidate, began: Instant) -> Result<Option<String>, DriverError> {
        let wanted = match &candidate.error {
            Error::Race { first, second } => Wanted::Race([*first, *second]),
            Error::Deadlock { blocked } => Wanted::Deadlock(blocked.clone()),
        };
        let plan = match self.target.plan(self.recorded, &candidate.order, &wanted) {
            Ok(plan) => plan,
            Err(why) => return Ok(Some(why)),
        };
        let request = EnforceRequest {
            arguments: self.recorded.program.arguments.clone(),
            stdin: self.stdin.clone(),
            env: Vec::new(),
            around: around(&self.commands),
            plan,
            afterwards: Afterwards::GoesOn,
            time: self.for_one_run(began),
            patience: None,
        };
        self.replayed += 1;
        let Some(enforced) = self.target.enforce(&request, self.watching.interrupt)? else { return Ok(None) };
        let why = words(&enforced);
        let before = self.found.len();
        let confirmed = self.take(candidate.method, enforced);
        self.feasible += u64::from(confirmed);
        if self.found.len() > before {
            self.write(before, &request);
        }
        Ok(Some(why))
    }

    /// What the run has shown; whether that is what it was for, or anything else that is new.
    fn take(&mut self, method: Method, enforced: Enforced) -> bool {
        let reproduced = enforced.reproduced;
        let before = self.found.len();
        let deadlock = enforced.deadlock.filter(|_| reproduced);
        for finding in enforced.races.into_iter().chain(deadlock) {
            if self.known.insert(Key::of(&finding)) {
                let confirmation = Confirmation::Replayed { file: None };
                let evidence = Evidence::Predicted { method: method.name(), confirmation };
                self.found.push(Finding { evidence, engine: "predict", ..finding });
            }
        }
        if self.found.len() > before {
            self.assumptions.extend(enforced.assumptions);
        }
        reproduced || self.found.len() > before
    }

    /// One schedule shows all findings from `from` on.
    fn write(&mut self, from: usize, request: &EnforceRequest) {
        let Some(folder) = &self.request.witness_dir else { return };
        let shows = self.found[from..].iter().map(|finding| {
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
            program: Program { commands: self.commands.clone(), ..self.recorded.program.clone() },
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
                for finding in &mut self.found[from..] {
                    if let Evidence::Predicted { confirmation, .. } = &mut finding.evidence {
                        *confirmation = Confirmation::Replayed { file: Some(written.clone()) };
                    }
                }
            }
            Err(error) => {
                self.warnings.push(format!("cannot write a schedule to {}: {error}", folder.display()));
            }
        }
    }

    /// The candidate as a person would say it, without stacks: the trace has none.
    fn finding(&self, candidate: &Candidate) -> Finding {
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
        let mut listed: Vec<UnknownReason> = Vec::new();
        let mut reasons = vec!["errors on other paths than the recorded one were not looked for".to_owned()];
        reasons.extend(self.stopped.map(|why| format!("not all candidates were tried: {why}")));
        let rest = |count: usize| if count == 1 { "candidate rests" } else { "candidates rest" };
        let (tried, untried): (Vec<_>, Vec<_>) = self.elsewhere.into_values().partition(|one| one.is_tried);
        if !tried.is_empty() {
            reasons.push(format!(
                "{} further {} on values that the new order changes; the program went another way, or what they were for \
                 was not seen{}",
                tried.len(),
                rest(tried.len()),
                if tried.len() > MOST_LISTED { format!("; the first {MOST_LISTED}:") } else { ":".to_owned() }
            ));
            listed = tried.into_iter().take(MOST_LISTED).map(|one| one.text).collect();
        }
        if !untried.is_empty() {
            reasons.push(format!(
                "{} further {} on values that the new order changes, and the program was not run under them",
                untried.len(),
                rest(untried.len())
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
                "{} pairs of places were not looked at, or not to the end: the time was over",
                counts.out_of_time
            ));
        }
        if counts.deadlocks_out_of_time {
            reasons.push("deadlocks were not looked for to the end: the time was over".to_owned());
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
            unknown_reasons: reasons.iter().map(|reason| plain(reason)).chain(listed).collect(),
            stats: Stats {
                executions: 1 + self.replayed,
                prediction: Some(PredictionCounts {
                    captured: counts.captured as u64,
                    reduced: counts.reduced as u64,
                    sync: counts.sync as u64,
                    candidates: self.prediction.candidates.len() as u64,
                    replayed: self.replayed,
                    feasible: self.feasible,
                }),
                ..Stats::default()
            },
        };
        Answer { outcome, warnings: self.warnings }
    }
}

/// `race with b.c:3:1 on x: why`, at the place of the first end.
fn elsewhere(finding: &Finding, why: &str) -> UnknownReason {
    let place = |access: &AccessReport| format!("{}:{}:{}", access.at.file, access.at.line, access.at.column);
    let places: Vec<String> = finding.accesses.iter().map(place).collect();
    let (first, others) = places.split_first().map_or(("", &[][..]), |(first, others)| (first, others));
    let on = if finding.variable.is_empty() { String::new() } else { format!(" on {}", finding.variable) };
    let what = format!("{}{on} with {}", finding.kind.name(), others.join(" and "));
    UnknownReason { place: first.to_owned(), text: format!("no {what}: {why}") }
}

/// Why what a run was for was not seen, if it was not.
fn words(enforced: &Enforced) -> String {
    let client = enforced.client_failure.as_ref().map_or(String::new(), |why| format!("; {why}"));
    let words = match &enforced.status {
        // Where and why: a step that was not made is named.
        Status::Diverged { why, .. } => format!("the program diverged from the order: {why}"),
        Status::Followed => match enforced.end {
            End::Stopped => {
                "the order was followed; the time for the run was over before it was seen".to_owned()
            }
            _ => "the order was followed, and it was not seen".to_owned(),
        },
    };
    words + &client
}
