//! `--keep-going`: what confirmed runs did is predicted from, too, until nothing new comes (2015 paper, section 5).
//!
//! A race may decide which way its threads go, so code behind one of its outcomes is in no trace of the other. The first round predicts from
//! the recorded run. Every replay that showed an error and went on to the program's end is recorded itself, and so is a run in which the
//! two accesses of a known race come the other way round. The next round predicts from those traces whose threads went a way that
//! no trace before has. Errs towards not seen: rounds and traces are bounded, and the answer says so where a bound was reached.

use super::beside::Tries;
use super::confirming::Confirming;
use super::ground::{Ground, Run};
use super::natively::{Key, Natively};
use super::tally::Tally;
use super::{PredictRequest, Replays, Stage, Watching};
use crate::{Answer, DriverError, Goal};
use raddle_base::{SiteId, StableHasher};
use raddle_config::Config;
use raddle_event::{AccessKind, EventKind, ThreadId};
use raddle_finding::Finding;
use raddle_native::Preference;
use raddle_native::enforce::Target;
use raddle_native::trace::{self, Recorded};
use raddle_predict::{Counts, Deciding, Error, Initial, Input, Options, predict};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Rounds besides the first.
const MOST_ROUNDS: u64 = 10;
/// Traces of one round.
const MOST_TRACES: u64 = 24;

/// Whether confirmed runs are predicted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// The recorded run alone.
    One,
    /// Until nothing new comes.
    Many,
}

/// What stays the same in all rounds.
pub(super) struct Setting<'a> {
    pub(super) request: &'a PredictRequest,
    pub(super) watching: Watching<'a>,
    pub(super) config: &'a Config,
    /// Another file with the recorded program.
    pub(super) program: Option<&'a Path>,
    /// For traces of confirmed runs.
    pub(super) folder: &'a Path,
    pub(super) began: Instant,
}

/// What was looked at so far.
#[derive(Default)]
struct Seen {
    /// Ways that threads have gone.
    ways: BTreeSet<u64>,
    tally: Tally<Key>,
    /// Of the first trace; what was left out, of all.
    counts: Option<Counts>,
}

impl Setting<'_> {
    /// Predicts from this trace, in which the run itself showed `observed`, and confirms.
    pub(super) fn all(&self, first: PathBuf, observed: Vec<Finding>) -> Result<Answer, DriverError> {
        let mut seen = Seen::default();
        seen.tally.observed(observed.into_iter().map(|finding| (Key::of(&finding), finding)));
        let mut due = vec![first];
        while !due.is_empty() {
            let before = seen.tally.predicted_from;
            let mut left = 0;
            for file in std::mem::take(&mut due) {
                let is_first = seen.tally.predicted_from == 0;
                let is_over = seen.tally.stopped.is_some() || self.is_over();
                if !is_first && (is_over || seen.tally.predicted_from - before >= MOST_TRACES) {
                    left += 1;
                    continue;
                }
                self.trace(&file, &mut seen)?;
                if !is_first {
                    // It goes with its folder at the latest.
                    let _ = std::fs::remove_file(file);
                }
            }
            if left > 0 {
                let runs = if left == 1 { "confirmed run was" } else { "confirmed runs were" };
                seen.tally.bounds.insert(format!("{left} further {runs} not predicted from"));
            }
            seen.tally.rounds += u64::from(seen.tally.predicted_from > before);
            due = std::mem::take(&mut seen.tally.traces);
            if seen.tally.rounds > MOST_ROUNDS && !due.is_empty() {
                let reason =
                    format!("confirmed runs after {} rounds were not predicted from", seen.tally.rounds);
                seen.tally.bounds.insert(reason);
                break;
            }
        }
        Ok(seen.tally.answer(self.config, &seen.counts.unwrap_or_default(), Vec::new()))
    }

    fn is_over(&self) -> bool {
        self.request.time.is_some_and(|time| self.began.elapsed() >= time)
    }

    /// The end of one such part of the time that is left.
    fn part(&self, parts: u32) -> Option<Instant> {
        let time = self.request.time?;
        Some(Instant::now() + time.saturating_sub(self.began.elapsed()) / parts)
    }

    /// One trace, if its threads went a way of their own: of the time, reading may have a quarter and finding half of the rest.
    fn trace(&self, file: &Path, seen: &mut Seen) -> Result<(), DriverError> {
        (self.watching.progress)(Stage::Reading);
        let recorded = match trace::read_until(file, self.request.limit, self.part(4)) {
            Ok(recorded) => recorded,
            Err(error) if seen.tally.predicted_from > 0 => {
                seen.tally.warnings.push(format!("a confirmed run was not predicted from: {error}"));
                return Ok(());
            }
            Err(error) => return Err(raddle_native::NativeError::from(error).into()),
        };
        if !seen.ways.insert(way(&recorded)) {
            return Ok(());
        }
        seen.tally.predicted_from += 1;
        let gaps = recorded.gaps.iter().map(|gap| format!("the trace is not the whole run: {gap}"));
        let gaps: Vec<String> = gaps.filter(|gap| !seen.tally.warnings.contains(gap)).collect();
        seen.tally.warnings.extend(gaps);
        let target = Target::of(&recorded, self.program)?;
        let recorded = recorded.with_reads(&target.updating());
        (self.watching.progress)(Stage::Predicting { events: recorded.trace.events.len() });
        let initial = Initial { at: recorded.initial.clone(), ..Initial::default() };
        let deciding = target.deciding(&recorded).map_or(Deciding::All, Deciding::Sites);
        let input = Input { trace: &recorded.trace, initial: &initial, deciding: &deciding };
        let until = self.part(2);
        let options = Options { candidates: self.request.candidates, until, ..Options::default() };
        let prediction = predict(input, &options);
        seen.counts = Some(seen.counts.map_or(prediction.counts, |first| together(first, prediction.counts)));
        let records = (self.request.rounds == Rounds::Many).then_some(self.folder);
        let (ground, about) =
            Natively::new(self.request, &recorded, &target, self.watching.interrupt, records)?;
        seen.tally.warnings.extend(about);
        let tally = std::mem::take(&mut seen.tally);
        let mut confirming = Confirming::new(self.request, &prediction, self.watching, ground, tally);
        let tries = confirming.all(self.began)?;
        confirming.beside(&tries, self.began)?;
        confirming.other_ways_round(&tries, self.began)?;
        seen.tally = confirming.tally;
        Ok(())
    }
}

impl Confirming<'_, Natively<'_>> {
    /// Known races, where confirmed runs are recorded: with their accesses in the order that no run was seen in, and also in the other one
    /// where none of their candidates was replayed, because the recorded run or another replay has shown them.
    pub(super) fn other_ways_round(&mut self, tried: &Tries<Key>, began: Instant) -> Result<(), DriverError> {
        let is_over = self.request.goal == Goal::FirstRace && !self.tally.found.is_empty();
        if !self.ground.is_recording() || self.request.replays == Replays::Unwanted || is_over {
            return Ok(());
        }
        let mut races = BTreeMap::new();
        for candidate in &self.prediction.candidates {
            if let Error::Race { .. } = candidate.error {
                races.entry(Key::of(&self.ground.finding(candidate))).or_insert(candidate);
            }
        }
        for (key, candidate) in races {
            if !self.tally.known.contains(&key) || !self.tally.turned.insert(key.clone()) {
                continue;
            }
            let Ok(plan) = self.ground.plan(candidate) else { continue };
            // Steered, threads stop at the accesses themselves, so that the preference decides which one comes first.
            let [turned, straight] = [true, false].map(|turns| {
                let mut first = plan.ends().to_vec();
                if turns {
                    first.reverse();
                }
                plan.steered(plan.steps(), Preference::Ranked { first, last: Vec::new() })
            });
            let replayed = tried.contains_key(&key);
            for plan in std::iter::once(turned).chain((!replayed).then_some(straight)) {
                if let Some(stopped) = self.is_over(began) {
                    self.tally.stopped.get_or_insert(stopped);
                    return Ok(());
                }
                let time = self.for_one_run(began);
                let Run::Made(seen) = self.ground.enforce(plan, None, time)? else {
                    self.tally.stopped.get_or_insert("it was interrupted".to_owned());
                    return Ok(());
                };
                self.replayed(candidate.method.name(), seen);
            }
        }
        Ok(())
    }
}

/// What the threads of a run did, one by one, whatever the order among them: their synchronisation, and the places of their accesses.
fn way(recorded: &Recorded) -> u64 {
    let mut threads: BTreeMap<ThreadId, (StableHasher, BTreeSet<(bool, SiteId)>)> = BTreeMap::new();
    for event in &recorded.trace.events {
        let (hasher, places) =
            threads.entry(event.thread).or_insert_with(|| (StableHasher::new(), BTreeSet::new()));
        match event.kind {
            EventKind::Access { kind, .. } => {
                places.insert((kind == AccessKind::Write, event.site));
            }
            EventKind::Alloc { .. } | EventKind::Free { .. } => {}
            kind => {
                std::mem::discriminant(&kind).hash(hasher);
                event.site.hash(hasher);
            }
        }
    }
    let of_thread = |(mut hasher, places): (StableHasher, BTreeSet<(bool, SiteId)>)| {
        places.hash(&mut hasher);
        hasher.finish()
    };
    // Threads have no names that last from one run to the next.
    let mut ways: Vec<u64> = threads.into_values().map(of_thread).collect();
    ways.sort_unstable();
    let mut all = StableHasher::new();
    ways.hash(&mut all);
    all.finish()
}

/// What is said of the first trace, and of what was left out the most that was left out of one.
fn together(first: Counts, other: Counts) -> Counts {
    Counts {
        left_out: first.left_out.max(other.left_out),
        patterns_cut: first.patterns_cut || other.patterns_cut,
        not_exhaustive: first.not_exhaustive.max(other.not_exhaustive),
        in_windows: first.in_windows.max(other.in_windows),
        across_windows: first.across_windows.max(other.across_windows),
        out_of_time: first.out_of_time.max(other.out_of_time),
        deadlocks_out_of_time: first.deadlocks_out_of_time || other.deadlocks_out_of_time,
        cut: first.cut || other.cut,
        ..first
    }
}
