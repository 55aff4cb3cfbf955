//! What was found and tried, for all traces of a prediction together, and the answer that it makes.

use crate::native::is_suppressed;
use crate::{Answer, plain};
use raddle_config::Config;
use raddle_event::ProblemKind;
use raddle_finding::{
    AccessReport, Assumption, Deadlocks, Finding, FindingKind, Frame, Outcome, PredictionCounts, Stats,
    UnknownReason, Verdict,
};
use raddle_predict::{Counts, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Candidates that are listed with what their replays did instead; the others are counted.
const MOST_LISTED: usize = 10;

/// An uncertain candidate that was not seen.
pub(super) struct Elsewhere {
    /// The program was run under it.
    pub(super) is_tried: bool,
    text: UnknownReason,
}

impl Elsewhere {
    pub(super) fn new(is_tried: bool, finding: &Finding, why: &str) -> Self {
        let place =
            |access: &AccessReport| format!("{}:{}:{}", access.at.file, access.at.line, access.at.column);
        let mut places = finding.accesses.iter().map(place);
        let first = places.next().unwrap_or_default();
        let others: Vec<String> = places.collect();
        let on =
            if finding.variable.is_empty() { String::new() } else { format!(" on {}", finding.variable) };
        let what = format!("{}{on} with {}", finding.kind.name(), others.join(" and "));
        Self { is_tried, text: UnknownReason { place: first, text: format!("no {what}: {why}") } }
    }
}

/// What came of it, for all traces together.
pub(super) struct Tally<K> {
    pub(super) known: BTreeSet<K>,
    pub(super) found: Vec<Finding>,
    /// Certain candidates that were not seen, by what they show.
    pub(super) unconfirmed: BTreeMap<K, Finding>,
    /// Uncertain candidates that were not seen, each with what one of their replays did instead.
    pub(super) elsewhere: BTreeMap<K, Elsewhere>,
    pub(super) candidates: u64,
    pub(super) replayed: u64,
    pub(super) feasible: u64,
    /// Runs beside orders that diverged, and what they were for.
    pub(super) explored: u64,
    pub(super) explored_for: BTreeSet<K>,
    /// Traces of runs that showed an error and went on to their end, to be predicted from.
    pub(super) traces: Vec<PathBuf>,
    /// Races whose accesses were tried the other way round.
    pub(super) turned: BTreeSet<K>,
    /// Traces that were predicted from, and in how many rounds.
    pub(super) predicted_from: u64,
    pub(super) rounds: u64,
    /// What was left out because of a bound.
    pub(super) bounds: BTreeSet<String>,
    /// What the confirmed findings rest on.
    pub(super) assumptions: BTreeSet<Assumption>,
    /// Not all candidates were tried: why.
    pub(super) stopped: Option<String>,
    pub(super) warnings: Vec<String>,
}

impl<K: Ord> Default for Tally<K> {
    fn default() -> Self {
        Self {
            known: BTreeSet::new(),
            found: Vec::new(),
            unconfirmed: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            candidates: 0,
            replayed: 0,
            feasible: 0,
            explored: 0,
            explored_for: BTreeSet::new(),
            traces: Vec::new(),
            turned: BTreeSet::new(),
            predicted_from: 0,
            rounds: 0,
            bounds: BTreeSet::new(),
            assumptions: BTreeSet::new(),
            stopped: None,
            warnings: Vec::new(),
        }
    }
}

impl<K: Ord> Tally<K> {
    /// The recorded run itself has shown these.
    pub(super) fn observed(&mut self, findings: impl IntoIterator<Item = (K, Finding)>) {
        for (key, finding) in findings {
            if self.known.insert(key) {
                self.found.push(finding);
            }
        }
    }

    /// With what the ground has to say.
    pub(super) fn answer(self, config: &Config, counts: &Counts, about: Vec<UnknownReason>) -> Answer {
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
        let mut reasons = vec![match self.predicted_from {
            0 | 1 => "errors on other paths than the recorded one were not looked for".to_owned(),
            runs => {
                format!("errors on other paths than those of the {runs} recorded runs were not looked for")
            }
        }];
        reasons.extend(self.stopped.map(|why| format!("not all candidates were tried: {why}")));
        reasons.extend(self.bounds);
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
        if counts.deadlocks_out_of_time {
            reasons.push("deadlocks were not looked for to the end: the time was over".to_owned());
        }
        if counts.patterns_cut {
            reasons.push("not all cycles of locks were looked at".to_owned());
        }
        let mut listed = Vec::new();
        let rest = |count: usize| if count == 1 { "candidate rests" } else { "candidates rest" };
        let (tried, untried): (Vec<_>, Vec<_>) = self.elsewhere.into_values().partition(|one| one.is_tried);
        if !untried.is_empty() {
            reasons.push(format!(
                "{} further {} on values that the new order changes, and the program was not run under them",
                untried.len(),
                rest(untried.len())
            ));
        }
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
        let outcome = Outcome {
            verdict: if confirmed(FindingKind::DataRace) { Verdict::Race } else { Verdict::Unknown },
            deadlocks: if confirmed(deadlock) { Deadlocks::Found } else { Deadlocks::Unknown },
            findings,
            proved: Vec::new(),
            assumptions: self.assumptions.into_iter().collect(),
            deadlock_assumptions: Vec::new(),
            unknown_reasons: reasons.iter().map(|reason| plain(reason)).chain(listed).chain(about).collect(),
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

fn places(finding: &Finding) -> Vec<Frame> {
    let mut places: Vec<Frame> = finding.accesses.iter().map(|access| access.at.clone()).collect();
    places.sort();
    places
}
