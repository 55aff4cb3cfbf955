//! Bounded native exploration around divergences: a pair of places of which no order could be followed to its error gets runs that keep a
//! beginning of such an order and are steered towards both places from there.
//!
//! The requirement is Carril and Tichy's (SEPS 2015, section 5): a candidate that diverges does not refute its pair. Each run has the
//! exact detector on, so what it shows was seen; its schedule is the beginning, and the rule by which it went on. Which beginnings
//! and rules there are is the documentation of [`EnforcePlan::beginnings`] and `runtime::control::schedule::steered`. Errs towards not
//! seen: the bounds are small, and a pair of which nothing is seen may have a race.

use super::confirming::Confirming;
use super::ground::Run;
use super::natively::{Key, Natively};
use crate::{DriverError, Goal};
use raddle_finding::{Confirmation, Evidence};
use raddle_native::Preference;
use raddle_native::enforce::EnforcePlan;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// As the method of what such a run shows.
const METHOD: &str = "exploration beside a diverged order";
/// Runs for all pairs together.
const MOST: u64 = 480;
/// Of one run: a thread that computes for so long without a stop is rare.
const PATIENCE: Duration = Duration::from_secs(3);

/// A candidate that was replayed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    pub(super) candidate: usize,
    /// Steps of its order that the program followed.
    pub(super) followed: usize,
}

/// Candidates that were replayed, by what they were for.
pub(super) type Tries<K> = BTreeMap<K, Vec<Tried>>;

impl Confirming<'_, Natively<'_>> {
    /// After all candidates were tried: for each of these errors that was not seen, until it is.
    pub(super) fn beside(&mut self, tries: &Tries<Key>, began: Instant) -> Result<(), DriverError> {
        // Those that exist for certain come first.
        let (certain, others): (Vec<_>, Vec<_>) =
            tries.iter().partition(|(key, _)| self.tally.unconfirmed.contains_key(*key));
        for (key, tried) in certain.into_iter().chain(others) {
            // What was explored for one trace is not again for another.
            if self.tally.known.contains(key) || !self.tally.explored_for.insert(key.clone()) {
                continue;
            }
            if self.request.goal == Goal::FirstRace && !self.tally.found.is_empty() {
                return Ok(());
            }
            let mut runs = 0;
            for plan in self.continuations(tried) {
                let stop = self.is_over(began).or_else(|| {
                    let reason = format!("{MOST} runs were explored beside orders that diverged");
                    (self.tally.explored >= MOST).then_some(reason)
                });
                if let Some(stop) = stop {
                    self.tally.stopped.get_or_insert(stop);
                    return Ok(());
                }
                runs += 1;
                match self.steered(plan, began)? {
                    None => {
                        self.tally.stopped.get_or_insert("it was interrupted".to_owned());
                        return Ok(());
                    }
                    Some(true) => self.settle(key),
                    Some(false) => {}
                }
                if self.tally.known.contains(key) {
                    self.settle(key);
                    break;
                }
            }
            if let Some(finding) = self.tally.unconfirmed.get_mut(key)
                && runs > 0
                && let Evidence::Predicted { confirmation: Confirmation::Unconfirmed { reason }, .. } =
                    &mut finding.evidence
            {
                let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
                reason.push_str(&format!("; {runs} beside the diverged orders did not show it either"));
            }
        }
        Ok(())
    }

    /// The error was seen.
    fn settle(&mut self, key: &Key) {
        self.tally.known.insert(key.clone());
        self.tally.unconfirmed.remove(key);
        self.tally.elsewhere.remove(key);
    }

    /// One run; whether it showed what its order was for. `None`: it was interrupted.
    fn steered(&mut self, plan: EnforcePlan, began: Instant) -> Result<Option<bool>, DriverError> {
        let time = self.for_one_run(began);
        let Run::Made(seen) = self.ground.enforce(plan, Some(PATIENCE), time)? else { return Ok(None) };
        self.tally.explored += 1;
        let reproduced = seen.reproduced;
        self.take(METHOD, seen);
        Ok(Some(reproduced))
    }

    /// What is tried instead of these candidates, as much as was asked for.
    fn continuations(&self, tried: &[Tried]) -> Vec<EnforcePlan> {
        let plans: Vec<(EnforcePlan, usize)> = tried
            .iter()
            .filter_map(|one| {
                let candidate = &self.prediction.candidates[one.candidate];
                let plan = self.ground.plan(candidate).ok()?;
                let followed = one.followed.min(plan.steps());
                Some((plan, followed))
            })
            .collect();
        let beginnings: Vec<Vec<usize>> =
            plans.iter().map(|(plan, followed)| plan.beginnings(*followed)).collect();
        let longest = beginnings.iter().map(Vec::len).max().unwrap_or(0);
        let mut all: Vec<EnforcePlan> = Vec::new();
        // Round by round, so that a small bound still has something of each.
        for rule in 0..4 {
            for at in 0..longest {
                for ((plan, _), kept) in plans.iter().zip(&beginnings) {
                    let Some(kept) = kept.get(at) else { continue };
                    let steered = plan.steered(*kept, preference(rule, at, plan.ends()));
                    if all.len() < self.request.beside && !all.contains(&steered) {
                        all.push(steered);
                    }
                }
            }
        }
        all
    }
}

/// The threads of the error last; first; first and the other way round; by chance.
fn preference(rule: u64, beginning: usize, ends: &[u32]) -> Preference {
    let turned = || ends.iter().rev().copied().collect();
    match rule {
        0 => Preference::Ranked { first: Vec::new(), last: ends.to_vec() },
        1 => Preference::Ranked { first: ends.to_vec(), last: Vec::new() },
        2 => Preference::Ranked { first: turned(), last: Vec::new() },
        _ => Preference::Random(rule + beginning as u64),
    }
}
