//! Candidates one by one, until each pair of places was seen to race or all its candidates were tried.

use super::beside::{Tried, Tries};
use super::ground::{Ground, Run, Seen};
use super::tally::{Elsewhere, Tally};
use super::{PredictRequest, Replays, Stage, Watching};
use crate::{DriverError, Goal};
use raddle_finding::{Confirmation, Evidence, Finding};
use raddle_predict::{Candidate, Error, Prediction};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The last run gets so much time, though the time for all of them is over.
const SHORTEST: Duration = Duration::from_millis(100);

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
    pub(super) tally: Tally<G::Key>,
}

impl<'a, G: Ground> Confirming<'a, G> {
    pub(super) fn new(
        request: &'a PredictRequest,
        prediction: &'a Prediction,
        watching: Watching<'a>,
        ground: G,
        mut tally: Tally<G::Key>,
    ) -> Self {
        tally.candidates += prediction.candidates.len() as u64;
        Self { request, prediction, watching, ground, tally }
    }

    /// Tries them one after the other.
    pub(super) fn all(&mut self, began: Instant) -> Result<Tries<G::Key>, DriverError> {
        let candidates = &self.prediction.candidates;
        let mut tries = Tries::new();
        for (tried, candidate) in candidates.iter().enumerate() {
            (self.watching.progress)(Stage::Confirming {
                tried,
                candidates: candidates.len(),
                confirmed: self.tally.found.len(),
            });
            if let Error::Deadlock { blocked } = &candidate.error
                && blocked.iter().any(|event| self.ground.gives_up(*event))
            {
                continue;
            }
            let finding = self.ground.finding(candidate);
            let key = self.ground.key(candidate, &finding);
            if self.tally.known.contains(&key) {
                continue;
            }
            let before = self.tally.replayed;
            let why = if self.request.replays == Replays::Unwanted {
                "not replayed, as was asked for".to_owned()
            } else if let Some(stopped) = self.is_over(began) {
                let why = format!("not replayed: {stopped}");
                self.tally.stopped.get_or_insert(stopped);
                why
            } else {
                match self.confirm(candidate, &key, began)? {
                    None => {
                        let stopped = "it was interrupted".to_owned();
                        self.tally.stopped.get_or_insert(stopped.clone());
                        stopped
                    }
                    Some(Replay { why, followed }) => {
                        if let Some(followed) = followed {
                            let tried = Tried { candidate: tried, followed };
                            tries.entry(key.clone()).or_default().push(tried);
                        }
                        why
                    }
                }
            };
            if self.tally.known.contains(&key) {
                self.tally.unconfirmed.remove(&key);
                self.tally.elsewhere.remove(&key);
                if self.request.goal == Goal::FirstRace {
                    self.tally.stopped.get_or_insert("the first error was found".to_owned());
                    break;
                }
            } else if candidate.uncertain.is_empty() && self.ground.sees_everything() {
                self.tally.unconfirmed.entry(key).or_insert_with(|| {
                    let method = candidate.method.name();
                    let confirmation = Confirmation::Unconfirmed { reason: why };
                    Finding { evidence: Evidence::Predicted { method, confirmation }, ..finding }
                });
            } else {
                let is_tried = self.tally.replayed > before;
                let known = self.tally.elsewhere.get(&key);
                if known.is_none_or(|known| is_tried && !known.is_tried) {
                    self.tally.elsewhere.insert(key, Elsewhere::new(is_tried, &finding, &why));
                }
            }
        }
        Ok(tries)
    }

    pub(super) fn is_over(&self, began: Instant) -> Option<String> {
        if self.watching.interrupt.load(Ordering::Relaxed) {
            return Some("it was interrupted".to_owned());
        }
        let over = self.request.time.is_some_and(|time| began.elapsed() >= time);
        over.then(|| "the time limit was reached".to_owned())
    }

    /// No run goes on when the time for all of them is over.
    pub(super) fn for_one_run(&self, began: Instant) -> Duration {
        let own = self.request.run_time;
        match self.request.time.map(|time| time.saturating_sub(began.elapsed()).max(SHORTEST)) {
            Some(left) if own.is_zero() || left < own => left,
            _ => own,
        }
    }

    /// Runs the program under the candidate. The finding is kept if it was seen. `None`: interrupted.
    fn confirm(
        &mut self,
        candidate: &Candidate,
        key: &G::Key,
        began: Instant,
    ) -> Result<Option<Replay>, DriverError> {
        let seen = match self.ground.run(candidate, self.for_one_run(began))? {
            Run::None(why) => return Ok(Some(Replay { why, followed: None })),
            Run::Interrupted => return Ok(None),
            Run::Made(seen) => seen,
        };
        let replay = Replay { why: seen.why.clone(), followed: Some(seen.followed) };
        let is_seen = seen.reproduced;
        self.replayed(candidate.method.name(), seen);
        if is_seen {
            self.tally.known.insert(key.clone());
        }
        Ok(Some(replay))
    }

    /// The program was run under a candidate.
    pub(super) fn replayed(&mut self, method: &'static str, seen: Seen<G::Key>) {
        self.tally.replayed += 1;
        self.tally.feasible += u64::from(self.take(method, seen));
    }

    /// What the latest run has shown; whether that is what it was for, or anything else that is new.
    pub(super) fn take(&mut self, method: &'static str, seen: Seen<G::Key>) -> bool {
        let before = self.tally.found.len();
        for (key, finding) in seen.findings {
            if self.tally.known.insert(key) {
                let evidence = Evidence::Predicted { method, confirmation: G::confirmation(None) };
                self.tally.found.push(Finding { evidence, engine: "predict", ..finding });
            }
        }
        if self.tally.found.len() > before {
            self.tally.assumptions.extend(seen.assumptions);
            self.write(before);
        }
        let shows = seen.reproduced || self.tally.found.len() > before;
        if let Some(trace) = seen.trace {
            if shows {
                self.tally.traces.push(trace);
            } else {
                // It goes with its folder at the latest.
                let _ = std::fs::remove_file(trace);
            }
        }
        shows
    }

    /// What shows all findings from `from` on.
    fn write(&mut self, from: usize) {
        let Some(folder) = &self.request.witness_dir else { return };
        match self.ground.write(folder, &self.tally.found[from..]) {
            Ok(files) => {
                for (finding, file) in self.tally.found[from..].iter_mut().zip(files) {
                    if let Evidence::Predicted { confirmation, .. } = &mut finding.evidence {
                        *confirmation = G::confirmation(Some(file));
                    }
                }
            }
            Err(error) => {
                self.tally.warnings.push(format!("cannot write a schedule to {}: {error}", folder.display()));
            }
        }
    }
}
