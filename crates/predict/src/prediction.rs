//! All methods in turn, from the cheapest to the dearest, each on what the ones before have left open.

mod in_windows;

use crate::clock::Clock;
use crate::closure::Values;
use crate::data_flow::{self, Recorded};
use crate::exhaustive::{self, Budget};
use crate::filter::filter;
use crate::legality::{Index, State};
use crate::lock_graph::{self, Pattern};
use crate::pairs::{self, Pairs, Series};
use crate::pieces::in_pieces;
use crate::prepared::Prepared;
use crate::reversal;
use crate::sync_preserving;
use crate::{Candidate, Error, Input, Method};
use in_windows::Question;
use raddle_base::SiteId;
use raddle_event::{Event, EventKind, Trace};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::time::Instant;

/// What is looked for, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Candidates for each pair of places, and each set of places of a deadlock.
    pub candidates: usize,
    /// Pairs of series that are tried for each pair of places until there are so many.
    pub attempts: usize,
    /// The same for reorderings in which critical sections change places.
    pub reversals: usize,
    /// These are looked for in traces up to so many events.
    pub reversal_events: usize,
    /// Traces up to so many events are checked exhaustively, with so many states for each question.
    pub exhaustive_events: usize,
    pub states: usize,
    /// Events of the parts of longer traces that are checked instead.
    pub window_events: usize,
    /// No further question is asked after that, and those that were asked are left open.
    pub until: Option<Instant>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            candidates: 3,
            attempts: 48,
            reversals: 8,
            reversal_events: 1_000_000,
            exhaustive_events: 5_000,
            states: 20_000,
            window_events: 2_000,
            until: None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// Certain ones first; of each pair of places the first one before the second.
    pub candidates: Vec<Candidate>,
    pub counts: Counts,
}

/// The columns of the 2015 paper's Table 2, and what was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events of the trace.
    pub captured: usize,
    /// Synchronisation and the accesses that the filter left.
    pub reduced: usize,
    pub sync: usize,
    /// Granules of 8 bytes that were accessed, and those that the filter left.
    pub granules: usize,
    pub granules_left: usize,
    /// Pairs of places that the filter left.
    pub places: usize,
    /// Patterns of deadlocks.
    pub patterns: usize,
    /// Pairs that were not tried because there are too many of their places.
    pub left_out: usize,
    /// Not all patterns of deadlocks were looked at.
    pub patterns_cut: bool,
    /// Pairs of places in which not all reorderings were looked at, because the budget was used up.
    pub not_exhaustive: usize,
    /// Pairs of places of which only reorderings inside of windows were looked at: the trace is too long for more.
    pub in_windows: usize,
    /// Pairs of places of which no window has both.
    pub across_windows: usize,
    /// Pairs of places that were not looked at, or not to the end, because the time was over.
    pub out_of_time: usize,
    /// The time was over before it was known which pairs there are.
    pub cut: bool,
    /// Deadlocks were not looked for, or not to the end, because the time was over.
    pub deadlocks_out_of_time: bool,
}

pub fn predict(input: Input<'_>, options: &Options) -> Prediction {
    let pieces = in_pieces(input.trace);
    let input = Input { trace: pieces.as_ref().unwrap_or(input.trace), ..input };
    let trace = input.trace;
    let clock = Clock::new(options.until);
    let filtered = filter(trace, &clock);
    if filtered.cut {
        let counts = Counts { captured: trace.events.len(), cut: true, ..Counts::default() };
        return Prediction { candidates: Vec::new(), counts };
    }
    let pairs = pairs::pairs(trace, &filtered);
    let prepared = Prepared::new(input, clock);
    let (patterns, patterns_cut) = lock_graph::patterns(&prepared);
    let sync = trace.events.iter().filter(|event| is_synchronisation(&event.kind)).count();
    let mut predicting = Predicting {
        prepared: &prepared,
        options,
        recorded: Recorded::of(trace),
        index: OnceCell::new(),
        found: Vec::new(),
        questions: Vec::new(),
        not_exhaustive: 0,
        in_windows: 0,
        across_windows: 0,
        out_of_time: 0,
    };
    // Each pair of places has its turn; those that need longer come again.
    let mut longer = Vec::new();
    for (asked, series) in pairs.by_places.values().enumerate() {
        prepared.clock.share(pairs.by_places.len() - asked);
        if predicting.places(series, &pairs) == Asked::InPart {
            longer.push(series);
        }
    }
    prepared.clock.unshare();
    for series in longer {
        predicting.out_of_time += usize::from(predicting.places(series, &pairs) == Asked::InPart);
    }
    predicting.answer_in_windows();
    let mut by_places: Vec<(&[SiteId], Vec<&Pattern>)> = Vec::new();
    for pattern in &patterns {
        match by_places.iter_mut().find(|(places, _)| *places == pattern.places) {
            Some((_, same)) => same.push(pattern),
            None => by_places.push((&pattern.places, vec![pattern])),
        }
    }
    let unlooked = by_places.iter().skip_while(|(_, same)| predicting.patterns(same)).count();
    let waits = |event: &Event| {
        matches!(
            event.kind,
            EventKind::WaitEnd { .. } | EventKind::SemWait { .. } | EventKind::BarrierLeave { .. }
        )
    };
    if trace.events.iter().any(waits) {
        predicting.stuck_ends();
    }
    if predicting.found.iter().all(|candidate| matches!(candidate.error, Error::Race { .. })) {
        predicting.exhaustive_deadlocks();
    }
    let deadlocks_out_of_time = unlooked > 0 || predicting.is_over();
    let Predicting { not_exhaustive, in_windows, across_windows, out_of_time, .. } = predicting;
    let candidates = in_turn(predicting.found, trace);
    let counts = Counts {
        captured: trace.events.len(),
        reduced: sync + pairs.accesses,
        sync,
        granules: filtered.granules_seen,
        granules_left: filtered.bytes.len(),
        places: pairs.by_places.len(),
        patterns: patterns.len(),
        left_out: pairs.left_out,
        patterns_cut,
        not_exhaustive,
        in_windows,
        across_windows,
        out_of_time,
        cut: false,
        deadlocks_out_of_time,
    };
    Prediction { candidates, counts }
}

/// Certain ones first; of both kinds one of each places before the second of any. The fewer reads may read another value, the likelier the
/// program goes that way. Else in the order in which they were found.
fn in_turn(mut candidates: Vec<Candidate>, trace: &Trace) -> Vec<Candidate> {
    candidates.sort_by_key(|candidate| candidate.uncertain.len());
    let mut turns: BTreeMap<Vec<SiteId>, usize> = BTreeMap::new();
    let mut ranked: Vec<((bool, usize), Candidate)> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let events = match &candidate.error {
            Error::Race { first, second } => vec![*first, *second],
            Error::Deadlock { blocked } => blocked.clone(),
        };
        let mut places: Vec<SiteId> = events.iter().map(|event| trace.events[*event].site).collect();
        places.sort_unstable();
        let turn = turns.entry(places).or_default();
        ranked.push(((!candidate.uncertain.is_empty(), *turn), candidate));
        *turn += 1;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

fn is_synchronisation(kind: &EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Access { .. }
            | EventKind::Atomic { .. }
            | EventKind::Alloc { .. }
            | EventKind::Free { .. }
            | EventKind::Fence { .. }
            | EventKind::BranchBegin { .. }
            | EventKind::BranchEnd
            | EventKind::Choose { .. }
    )
}

/// Whether a question was asked to its end, or the time for it was over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    All,
    InPart,
}

struct Predicting<'a> {
    prepared: &'a Prepared<'a>,
    options: &'a Options,
    recorded: Recorded,
    /// For what goes step by step; made when it is needed.
    index: OnceCell<Index<'a>>,
    found: Vec<Candidate>,
    /// What is left for windows.
    questions: Vec<Question>,
    not_exhaustive: usize,
    in_windows: usize,
    across_windows: usize,
    out_of_time: usize,
}

impl Predicting<'_> {
    /// One pair of places.
    fn places(&mut self, series: &[(u32, u32)], pairs: &Pairs) -> Asked {
        if self.is_over() {
            return Asked::InPart;
        }
        for values in [Values::Deciding, Values::Atomics] {
            let mut found = 0;
            for (a, b) in series.iter().take(self.options.attempts) {
                let (a, b) = (&pairs.series[*a as usize], &pairs.series[*b as usize]);
                if let Some(race) = sync_preserving::race(self.prepared, values, a, b) {
                    let error = Error::Race { first: race.first, second: race.second };
                    found += usize::from(self.add(error, self.order(&race.cut), Method::SyncPreserving));
                }
                if found >= self.options.candidates {
                    return Asked::All;
                }
                if self.is_over() {
                    return Asked::InPart;
                }
            }
            if found > 0 {
                return Asked::All;
            }
            for (a, b) in series.iter().take(self.options.reversals) {
                let (a, b) = (&pairs.series[*a as usize], &pairs.series[*b as usize]);
                found += usize::from(self.reversed(values, a, b));
                if found >= self.options.candidates {
                    return Asked::All;
                }
                if self.is_over() {
                    return Asked::InPart;
                }
            }
            if found > 0 {
                return Asked::All;
            }
        }
        if self.is_over() {
            return Asked::InPart;
        }
        self.exhaustively(series, pairs)
    }

    /// What no cheaper method has found, in traces that are short enough.
    fn exhaustively(&mut self, series: &[(u32, u32)], pairs: &Pairs) -> Asked {
        if self.prepared.position.len() > self.options.exhaustive_events {
            self.leave_for_windows(series, pairs);
            return Asked::All;
        }
        let first = |series: u32| pairs.series[series as usize].events[0] as usize;
        let wanted: Vec<(usize, usize)> = series
            .iter()
            .take(self.options.reversals)
            .map(|(a, b)| (first(*a).min(first(*b)), first(*a).max(first(*b))))
            .collect();
        let budget = self.budget();
        let found = exhaustive::races(self.prepared.input, &wanted, &budget);
        // It may be asked for the second time.
        for candidate in found.candidates {
            if !self.found.contains(&candidate) {
                self.found.push(candidate);
            }
        }
        if found.exhausted && self.is_over() {
            return Asked::InPart;
        }
        self.not_exhaustive += usize::from(found.exhausted);
        Asked::All
    }

    fn is_over(&self) -> bool {
        self.prepared.clock.is_over()
    }

    fn budget(&self) -> Budget {
        let Options { states, candidates, .. } = *self.options;
        Budget { states, candidates, until: self.prepared.clock.until(), ..Budget::default() }
    }

    /// Of two series, the first and the last accesses of each.
    fn reversed(&mut self, values: Values, a: &Series, b: &Series) -> bool {
        let ends = |series: &Series| {
            let mut ends = vec![series.events[0], series.events[series.events.len() - 1]];
            ends.dedup();
            ends
        };
        for one in ends(a) {
            for other in ends(b) {
                let at = |event: u32| self.prepared.position[event as usize];
                let places = [(a.thread, at(one)), (b.thread, at(other))];
                if let Some(order) = self.before(values, &places) {
                    let error =
                        Error::Race { first: one.min(other) as usize, second: one.max(other) as usize };
                    return self.add(error, order, Method::SyncReversal);
                }
            }
        }
        false
    }

    fn before(&self, values: Values, ends: &[(usize, u32)]) -> Option<Vec<usize>> {
        if self.prepared.position.len() > self.options.reversal_events {
            return None;
        }
        let index = self.index.get_or_init(|| Index::new(self.prepared.input));
        reversal::before(self.prepared, index, values, ends)
    }

    /// Patterns of the same places. False: the time is over.
    fn patterns(&mut self, patterns: &[&Pattern]) -> bool {
        for values in [Values::Deciding, Values::Atomics] {
            let mut found = 0;
            for pattern in patterns.iter().take(self.options.attempts) {
                if self.is_over() {
                    return false;
                }
                if let Some(stuck) = lock_graph::deadlock(self.prepared, values, pattern) {
                    let order = self.order(&stuck.cut);
                    found += usize::from(self.add_deadlock(stuck.blocked, order, Method::SyncPreserving));
                }
                if found >= self.options.candidates {
                    return true;
                }
            }
            if found > 0 {
                return true;
            }
            for pattern in patterns.iter().take(self.options.reversals) {
                if self.is_over() {
                    return false;
                }
                let ends: Vec<(usize, u32)> =
                    pattern.waits.iter().map(|(thread, waits)| (*thread, waits[0].0)).collect();
                if let Some(order) = self.before(values, &ends) {
                    let mut blocked: Vec<usize> =
                        pattern.waits.iter().map(|(_, waits)| waits[0].1 as usize).collect();
                    blocked.sort_unstable();
                    found += usize::from(self.add_deadlock(blocked, order, Method::SyncReversal));
                }
            }
            if found > 0 {
                return true;
            }
        }
        !self.is_over()
    }

    fn exhaustive_deadlocks(&mut self) {
        if self.prepared.position.len() > self.options.exhaustive_events || self.is_over() {
            return;
        }
        let found = exhaustive::deadlocks(self.prepared.input, &self.budget());
        self.found.extend(found.candidates);
    }

    fn stuck_ends(&mut self) {
        if self.prepared.position.len() > self.options.reversal_events || self.is_over() {
            return;
        }
        let index = self.index.get_or_init(|| Index::new(self.prepared.input));
        for (order, blocked) in reversal::stuck_ends(self.prepared, index) {
            let error = Error::Deadlock { blocked };
            if self.found.iter().all(|known| known.error != error) {
                self.add(error, order, Method::SyncReversal);
            }
        }
    }

    /// So many events of each thread, in the order of the trace.
    fn order(&self, cut: &[u32]) -> Vec<usize> {
        let of_threads = self.prepared.of_thread.iter().zip(cut);
        let events = of_threads.flat_map(|(events, upto)| &events[..*upto as usize]);
        let mut order: Vec<usize> = events.map(|index| *index as usize).collect();
        // The threads' own events are in order: a sort that merges such runs.
        order.sort();
        order
    }

    /// Anybody may post, so threads that wait for semaphores are stuck only when all others have done what they can.
    fn with_all_others(&self, mut order: Vec<usize>, blocked: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
        let index = self.index.get_or_init(|| Index::new(self.prepared.input));
        let mut state = State::new(index);
        order.iter().for_each(|&event| state.take(event));
        loop {
            let next = state.nexts().into_iter().filter(|event| !blocked.contains(event));
            let Some(next) = next.filter(|event| state.is_possible(*event)).min() else { break };
            if self.prepared.clock.step_is_over() {
                return None;
            }
            state.take(next);
            order.push(next);
        }
        let stuck = state.smallest_deadlock();
        (!stuck.is_empty()).then_some((order, stuck))
    }

    fn add_deadlock(&mut self, blocked: Vec<usize>, order: Vec<usize>, method: Method) -> bool {
        let is_semaphore =
            |event: &usize| matches!(self.prepared.event(*event).kind, EventKind::SemWait { .. });
        if !blocked.iter().any(is_semaphore) {
            return self.add(Error::Deadlock { blocked }, order, method);
        }
        match self.with_all_others(order, &blocked) {
            Some((order, blocked)) => self.add(Error::Deadlock { blocked }, order, method),
            None => false,
        }
    }

    fn add(&mut self, error: Error, order: Vec<usize>, method: Method) -> bool {
        let uncertain = data_flow::uncertain(self.prepared, &self.recorded, &order, &error);
        let Some(uncertain) = uncertain else { return false };
        let candidate = Candidate { error, order, method, uncertain };
        if self.found.iter().any(|other| other.error == candidate.error && other.order == candidate.order) {
            return false;
        }
        self.found.push(candidate);
        true
    }
}
