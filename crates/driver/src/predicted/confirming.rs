//! Candidates one by one, until each pair of places was seen to race or all its candidates were tried.

use super::beside::{Diverged, Tried};
use super::ground::{Ground, Run, Seen};
use super::{PredictRequest, Replays, Stage, Watching};
use crate::native::is_suppressed;
use crate::{Answer, DriverError, Goal, plain};
use raddle_config::Config;
use raddle_event::ProblemKind;
use raddle_finding::{
    Assumption, Confirmation, Deadlocks, Evidence, Finding, FindingKind, Frame, Outcome, PredictionCounts,
    Stats, Verdict,
};
use raddle_predict::{Candidate, Counts, Error, Options, Prediction};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What came of a candidate.
struct Replay {
    /// Why its error was not seen, if it was not.
    why: String,
    /// Steps that the program followed; `None`: it was not run.
    followed: Option<usize>,
}

pub(super) struct Confirming<'a, G: Ground> {
    pub(super) request: &'a PredictRequest,
    pub(super) prediction: &'a Prediction,
    watching: Watching<'a>,
    pub(super) ground: G,
    pub(super) known: BTreeSet<G::Key>,
    pub(super) found: Vec<Finding>,
    /// Certain candidates that were not seen, by what they show.
    pub(super) unconfirmed: BTreeMap<G::Key, Finding>,
    /// Places of uncertain candidates that were not seen.
    pub(super) elsewhere: BTreeSet<G::Key>,
    replayed: u64,
    feasible: u64,
    /// Runs beside orders that diverged.
    pub(super) explored: u64,
    /// What the confirmed findings rest on.
    assumptions: BTreeSet<Assumption>,
    /// Not all candidates were tried: why.
    pub(super) stopped: Option<String>,
    warnings: Vec<String>,
}

impl<'a, G: Ground> Confirming<'a, G> {
    pub(super) fn new(
        request: &'a PredictRequest,
        prediction: &'a Prediction,
        watching: Watching<'a>,
        ground: G,
    ) -> Self {
        Self {
            request,
            prediction,
            watching,
            ground,
            known: BTreeSet::new(),
            found: Vec::new(),
            unconfirmed: BTreeMap::new(),
            elsewhere: BTreeSet::new(),
            replayed: 0,
            feasible: 0,
            explored: 0,
            assumptions: BTreeSet::new(),
            stopped: None,
            warnings: Vec::new(),
        }
    }

    /// The recorded run itself has shown these.
    pub(super) fn observed(&mut self, findings: impl IntoIterator<Item = (G::Key, Finding)>) {
        for (key, finding) in findings {
            if self.known.insert(key) {
                self.found.push(finding);
            }
        }
    }

    /// The recorded run, and what was found in it, rest on these.
    pub(super) fn assume(&mut self, assumptions: impl IntoIterator<Item = Assumption>) {
        self.assumptions.extend(assumptions);
    }

    /// Tries them one after the other. Those whose error was not seen, by what they are for.
    pub(super) fn all(&mut self, began: Instant) -> Result<Diverged<G::Key>, DriverError> {
        let candidates = &self.prediction.candidates;
        let mut diverged = Diverged::new();
        for (tried, candidate) in candidates.iter().enumerate() {
            (self.watching.progress)(Stage::Confirming {
                tried,
                candidates: candidates.len(),
                confirmed: self.found.len(),
            });
            if let Error::Deadlock { blocked } = &candidate.error
                && blocked.iter().any(|event| self.ground.gives_up(*event))
            {
                continue;
            }
            let finding = self.ground.finding(candidate);
            let key = self.ground.key(candidate, &finding);
            if self.known.contains(&key) {
                continue;
            }
            let why = if self.request.replays == Replays::Unwanted {
                "not replayed, as was asked for".to_owned()
            } else if let Some(stopped) = self.is_over(began) {
                let why = format!("not replayed: {stopped}");
                self.stopped.get_or_insert(stopped);
                why
            } else {
                match self.confirm(candidate, &key)? {
                    None => {
                        let stopped = "it was interrupted".to_owned();
                        self.stopped.get_or_insert(stopped.clone());
                        stopped
                    }
                    Some(Replay { why, followed }) => {
                        let tries = followed.map(|followed| Tried { candidate: tried, followed });
                        diverged.entry(key.clone()).or_default().extend(tries);
                        why
                    }
                }
            };
            if self.known.contains(&key) {
                self.unconfirmed.remove(&key);
                self.elsewhere.remove(&key);
                if self.request.goal == Goal::FirstRace {
                    self.stopped.get_or_insert("the first error was found".to_owned());
                    break;
                }
            } else if candidate.uncertain.is_empty() && self.ground.sees_everything() {
                self.unconfirmed.entry(key).or_insert_with(|| {
                    let method = candidate.method.name();
                    let confirmation = Confirmation::Unconfirmed { reason: why };
                    Finding { evidence: Evidence::Predicted { method, confirmation }, ..finding }
                });
            } else {
                self.elsewhere.insert(key);
            }
        }
        Ok(diverged)
    }

    pub(super) fn is_over(&self, began: Instant) -> Option<String> {
        if self.watching.interrupt.load(Ordering::Relaxed) {
            return Some("it was interrupted".to_owned());
        }
        let over = self.request.time.is_some_and(|time| began.elapsed() >= time);
        over.then(|| "the time limit was reached".to_owned())
    }

    /// Runs the program under the candidate. The finding is in `found` if it was seen. `None`: interrupted.
    fn confirm(&mut self, candidate: &Candidate, key: &G::Key) -> Result<Option<Replay>, DriverError> {
        let seen = match self.ground.run(candidate)? {
            Run::None(why) => return Ok(Some(Replay { why, followed: None })),
            Run::Interrupted => return Ok(None),
            Run::Made(seen) => seen,
        };
        self.replayed += 1;
        let replay = Replay { why: seen.why.clone(), followed: Some(seen.followed) };
        let is_seen = seen.reproduced;
        self.feasible += u64::from(self.take(candidate.method.name(), seen));
        if is_seen {
            self.known.insert(key.clone());
        }
        Ok(Some(replay))
    }

    /// What the latest run has shown; whether that is what it was for, or anything else that is new.
    pub(super) fn take(&mut self, method: &'static str, seen: Seen<G::Key>) -> bool {
        let before = self.found.len();
        for (key, finding) in seen.findings {
            if self.known.insert(key) {
                let evidence = Evidence::Predicted { method, confirmation: G::confirmation(None) };
                self.found.push(Finding { evidence, engine: "predict", ..finding });
            }
        }
        if self.found.len() > before {
            self.assumptions.extend(seen.assumptions);
            self.write(before);
        }
        seen.reproduced || self.found.len() > before
    }

    /// What shows all findings from `from` on.
    fn write(&mut self, from: usize) {
        let Some(folder) = &self.request.witness_dir else { return };
        match self.ground.write(folder, &self.found[from..]) {
            Ok(files) => {
                for (finding, file) in self.found[from..].iter_mut().zip(files) {
                    if let Evidence::Predicted { confirmation, .. } = &mut finding.evidence {
                        *confirmation = G::confirmation(Some(file));
                    }
                }
            }
            Err(error) => {
                self.warnings.push(format!("cannot write a schedule to {}: {error}", folder.display()));
            }
        }
    }

    pub(super) fn answer(self, config: &Config, counts: &Counts) -> Answer {
        let mut findings = self.found;
        findings.extend(self.unconfirmed.into_values());
        findings.retain(|finding| !config.suppressions.iter().any(|one| is_suppressed(finding, one)));
        findings
            .sort_by_cached_key(|finding| (!finding.evidence.is_certain(), finding.kind, places(finding)));
        for (index, finding) in findings.iter_mut().enumerate() {
            finding.id = format!("f{}", index + 1);
            finding.rank = index as u32 + 1;
        }
        let confirmed = |kind: FindingKind| {
            findings.iter().any(|finding| finding.kind == kind && finding.evidence.is_certain())
        };
        let deadlock = FindingKind::Problem(ProblemKind::Deadlock);
        let mut reasons = vec!["errors on other paths than the recorded one were not looked for".to_owned()];
        reasons.extend(self.stopped.map(|why| format!("not all candidates were tried: {why}")));
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
        if counts.cut {
            reasons
                .push("the time was over before the whole trace was read: nothing was predicted".to_owned());
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
            unknown_reasons: reasons
                .iter()
                .map(|reason| plain(reason))
                .chain(self.ground.reasons())
                .collect(),
            stats: Stats {
                executions: 1 + self.replayed + self.explored,
                prediction: Some(PredictionCounts {
                    captured: counts.captured as u64,
                    reduced: counts.reduced as u64,
                    sync: counts.sync as u64,
                    candidates: self.prediction.candidates.len() as u64,
                    replayed: self.replayed,
                    feasible: self.feasible,
                    explored: self.explored,
                }),
                ..Stats::default()
            },
        };
        Answer { outcome, warnings: self.warnings }
    }
}

fn places(finding: &Finding) -> Vec<Frame> {
    let mut places: Vec<Frame> = finding.accesses.iter().map(|access| access.at.clone()).collect();
    places.sort();
    places
}
