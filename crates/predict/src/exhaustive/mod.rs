//! All reorderings at once: the trace as a CSP process, races and deadlocks as refinements that do not hold.
//!
//! Carril and Tichy (2015), section 2.2: THREAD, MUTEX, FORK and JOIN of figure 1, BARRIER and SIGNAL of figure 2, RACE of figure 3, and
//! `LIVE [F= (PROGRAM \ Sigma ; LIVE)`. One model for each shared object, without accesses to others (section 3).
//!
//! Slips of the figures, and what stands here instead:
//!
//! - JOIN has `end.t1.t2`, which no thread does: it is `end.t2`. SIGNAL and BARRIER repeat `t1`: the second thread is `t2`.
//! - The synchronisation processes never terminate, so `PROGRAM ; LIVE` never comes to LIVE: when all threads have ended, the event
//!   `done` interrupts them. For races no thread needs to terminate.
//! - BARRIER fixes the order of arrival and SIGNAL one signal for each wait: here threads arrive in any order, and a wait is ended by any
//!   signal or broadcast that came since it began.
//! - RACE is set back by every event of the program, but its set leaves out signals, broadcasts, waits and barriers, so that one between
//!   two accesses goes unseen. Here a thread before an access of the object offers `next`, and stands still after it; RACE waits for two
//!   conflicting ones. What is next for two threads at once is what could come without any event in between.
//!
//! More than the paper: readers of locks, semaphores, once, failed acquisitions, lives of objects; reads that have to read as recorded
//! ([`Reads::AsRecorded`]), as processes that remember the last write.
//!
//! A product of processes has as many states as the threads have positions, so the model is made small first. Accesses of one thread
//! with nothing in between that others notice, to the same bytes and of the same kind, are one. What nobody waits for is left out (`plan`). Events
//! that stay possible once they are and disable no others, such as the end of a critical section, come at once and alone: no state is lost in
//! which all threads stand before other events, and those are the states with a race or a deadlock.
//!
//! What is left is exponential in the number of threads: within a second about 500 critical sections in each of two threads, 45 in three,
//! 15 in four, 4 in six (a trace without races, one core).
//!
//! Which way it errs: neither, for [`Reads::Free`] and a search that is not exhausted. Then a race is found exactly when the definition of
//! [`reordering`](crate::reordering) has one, though one order only for each pair, and a deadlock is found when there is any. With
//! [`Reads::AsRecorded`] all candidates are certain, but where not every read decides, a certain reordering in which a read is not concrete
//! before a write that is never needed is missed.

mod model;
mod objects;
mod plan;
mod roles;
mod schedule;

use crate::candidate::{Candidate, Error, Method};
use crate::legality::{Access, Index, State, conflicts, uncertain};
use crate::reordering::Input;
use model::{End, Model};
use objects::TooManyStates;
use plan::Plan;
use raddle_csp::{
    Arena, Check, Counterexample, Coverage, EventSet, ExportError, Limits, Model as Semantics, Outcome,
    ProcId, Script, refine_eagerly,
};
use raddle_event::{EventKind, ObjectId};
use roles::Role;
use schedule::Schedule;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Pairs of accesses, the smaller index first.
type Pairs = BTreeSet<(usize, usize)>;

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// States of one refinement. Each counterexample may take another one.
    pub states: usize,
    /// Candidates of one object, or deadlocks.
    pub candidates: usize,
    pub reads: Reads,
    /// The search ends then, as if the states were used up.
    pub until: Option<Instant>,
}

/// What deciding reads may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Anything; the candidate lists those that are uncertain.
    Free,
    /// Only what they read in the trace: all candidates are certain.
    AsRecorded,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub candidates: Vec<Candidate>,
    /// Whether there may be others, because the budget was used up.
    pub exhausted: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { states: 100_000, candidates: 100, reads: Reads::Free, until: None }
    }
}

/// Races between the wanted pairs of accesses, one candidate for each pair of [`merged`] accesses that races in some reordering.
pub fn races(input: Input, wanted: &[(usize, usize)], budget: &Budget) -> Found {
    races_of(&Index::new(input), wanted, budget)
}

pub(crate) fn races_of(index: &Index, wanted: &[(usize, usize)], budget: &Budget) -> Found {
    let mut found = Found::default();
    for pairs in objects(&representatives(index, wanted, budget.reads)) {
        races_of_object(index, pairs, budget, &mut found);
    }
    found
}

/// Deadlocks: at least one if there is any, one for each smallest set of blocked events that the search comes across.
pub fn deadlocks(input: Input, budget: &Budget) -> Found {
    let index = Index::new(input);
    let plan = Plan::for_deadlocks(&index, budget.reads);
    let mut found = Found::default();
    let Ok(mut model) = Model::build(&plan, &BTreeSet::new(), End::Terminates) else {
        return Found { exhausted: true, ..found };
    };
    let (specification, implementation) = live(&mut model);
    // A state in which a thread is kept from moving only by the definition is at rest, too, and is no deadlock.
    let Budget { states, candidates, until, .. } = *budget;
    let limits = Limits { states, counterexamples: candidates.saturating_mul(100), until };
    let check = Check { limits, ..Check::new(specification, Semantics::StableFailures, implementation) };
    let (outcome, coverage) =
        refine_eagerly(&mut model.arena, &check, &model.eager).expect("a model is well formed");
    let counterexamples = match outcome {
        Outcome::Holds { .. } => return found,
        Outcome::Exhausted { .. } => return Found { exhausted: true, ..found },
        Outcome::Fails(counterexamples) => counterexamples,
    };
    let mut known = BTreeSet::new();
    for Counterexample { underlying, .. } in &counterexamples {
        let order = Schedule::of(&model, underlying).until_rest(&plan, &model);
        let mut state = State::new(&index);
        order.iter().for_each(|&event| state.take(event));
        let blocked = state.smallest_deadlock();
        if blocked.is_empty() || !known.insert(blocked.clone()) {
            continue;
        }
        if found.candidates.len() == budget.candidates {
            return Found { exhausted: true, ..found };
        }
        let order = schedule::without_bystanders(&index, &order, &blocked);
        found.candidates.push(candidate(input, order, Error::Deadlock { blocked }));
    }
    Found { exhausted: coverage == Coverage::Part, ..found }
}

/// The model and the refinement for these pairs in CSP_M, for FDR. All are of one object.
pub fn export(input: Input, wanted: &[(usize, usize)]) -> Result<String, ExportError> {
    let index = Index::new(input);
    let pairs = representatives(&index, wanted, Reads::Free);
    let accesses = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let plan = Plan::for_races(&index, &accesses, Reads::Free);
    let mut model = Model::build(&plan, &accesses, End::Stops)
        .map_err(|TooManyStates| ExportError::Undefined("SIGNAL".to_owned()))?;
    let implementation = racing(&mut model, &pairs);
    let mut script = Script::new(&model.alphabet, &model.arena);
    script.assert(Arena::STOP, Semantics::Traces, implementation)?;
    script.finish()
}

/// All pairs of accesses that conflict, the smaller index first, by object: a group for each region of bytes that they connect.
pub fn conflicting(input: Input) -> Vec<Vec<(usize, usize)>> {
    let events = &input.trace.events;
    let mut accesses: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        if let Some(access) = Access::of(event) {
            accesses.entry(access.loc.object).or_default().push(at);
        }
    }
    let mut pairs = Pairs::new();
    for own in accesses.values() {
        for (place, &a) in own.iter().enumerate() {
            let others = own[place + 1..].iter();
            pairs.extend(others.filter(|&&b| conflicts(&events[a], &events[b])).map(|&b| (a, b)));
        }
    }
    objects(&pairs).into_iter().map(|pairs| pairs.into_iter().collect()).collect()
}

/// The pair of accesses that stands for this one in the model: the first of their kind in their segments.
pub fn merged(input: Input, pair: (usize, usize)) -> (usize, usize) {
    let index = Index::new(input);
    let pairs = representatives(&index, &[pair], Reads::Free);
    pairs.into_iter().next().unwrap_or(pair)
}

fn representatives(index: &Index, wanted: &[(usize, usize)], reads: Reads) -> Pairs {
    let segments = Segments::of(index, reads);
    let pairs = wanted.iter().map(|&(a, b)| (segments.first(a), segments.first(b)));
    pairs.map(|(a, b)| (a.min(b), a.max(b))).collect()
}

/// Where a thread is.
#[derive(Default)]
struct Segment {
    /// The first access of each kind in the segment.
    known: BTreeMap<Access, usize>,
    /// Events of other threads that events so far come after.
    waited: BTreeSet<usize>,
}

/// For each access the first one like it in the same segment of its thread.
struct Segments {
    first: BTreeMap<usize, usize>,
}

impl Segments {
    /// With reads as recorded each access is one of its own: what a thread reads in between matters.
    fn of(index: &Index, reads: Reads) -> Self {
        let mut first = BTreeMap::new();
        if reads == Reads::AsRecorded {
            return Self { first };
        }
        let roles = roles::roles(index);
        let events = &index.input.trace.events;
        let foreign = |at: usize| {
            let before = index.after[at].iter().copied();
            before.filter(move |&before| events[before].thread != events[at].thread)
        };
        let awaited: BTreeSet<usize> = (0..events.len()).flat_map(foreign).collect();
        let mut open: BTreeMap<_, Segment> = BTreeMap::new();
        for (at, event) in events.iter().enumerate() {
            let segment = open.entry(event.thread).or_default();
            // What the thread has not waited for before, and what others wait for, parts two segments.
            let waits: Vec<usize> = foreign(at).filter(|&before| segment.waited.insert(before)).collect();
            let branches = matches!(
                event.kind,
                EventKind::BranchBegin { .. } | EventKind::BranchEnd | EventKind::Fence { .. }
            );
            if !waits.is_empty() || !(roles[at] == Role::Access || branches) {
                segment.known.clear();
            }
            if let Some(access) = Access::of(event) {
                first.insert(at, *segment.known.entry(access).or_insert(at));
            }
            if awaited.contains(&at) {
                segment.known.clear();
            }
        }
        Self { first }
    }

    fn first(&self, access: usize) -> usize {
        self.first.get(&access).copied().unwrap_or(access)
    }
}

/// The pairs in groups that have no access in common.
fn objects(pairs: &Pairs) -> Vec<Pairs> {
    let mut parents: BTreeMap<usize, usize> = BTreeMap::new();
    for &(a, b) in pairs {
        let (a, b) = (root(&mut parents, a), root(&mut parents, b));
        parents.insert(a.max(b), a.min(b));
    }
    let mut groups: BTreeMap<usize, Pairs> = BTreeMap::new();
    for &(a, b) in pairs {
        groups.entry(root(&mut parents, a)).or_default().insert((a, b));
    }
    groups.into_values().collect()
}

/// The first access of the group so far.
fn root(parents: &mut BTreeMap<usize, usize>, access: usize) -> usize {
    let parent = *parents.entry(access).or_insert(access);
    if parent == access {
        return access;
    }
    let root = root(parents, parent);
    parents.insert(access, root);
    root
}

/// Refines until no pair is left that races: each time the pairs that were found are taken out of RACE.
fn races_of_object(index: &Index, mut pairs: Pairs, budget: &Budget, found: &mut Found) {
    let accesses = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let plan = Plan::for_races(index, &accesses, budget.reads);
    let Ok(mut model) = Model::build(&plan, &accesses, End::Stops) else {
        found.exhausted = true;
        return;
    };
    let mut left = budget.candidates;
    while !pairs.is_empty() {
        let implementation = racing(&mut model, &pairs);
        let limits = Limits { states: budget.states, counterexamples: 50, until: budget.until };
        let check = Check { limits, ..Check::new(Arena::STOP, Semantics::Traces, implementation) };
        let (outcome, _) =
            refine_eagerly(&mut model.arena, &check, &model.eager).expect("a model is well formed");
        let counterexamples = match outcome {
            Outcome::Holds { .. } => return,
            Outcome::Exhausted { .. } => {
                found.exhausted = true;
                return;
            }
            Outcome::Fails(counterexamples) => counterexamples,
        };
        for Counterexample { underlying, .. } in &counterexamples {
            let schedule = Schedule::of(&model, underlying);
            let pair = (schedule.standing[0], schedule.standing[1]);
            if !pairs.remove(&pair) {
                continue;
            }
            if left == 0 {
                found.exhausted = true;
                return;
            }
            left -= 1;
            let order = schedule.before_race(&plan);
            let error = Error::Race { first: pair.0, second: pair.1 };
            found.candidates.push(candidate(index.input, order, error));
        }
    }
}

fn candidate(input: Input, order: Vec<usize>, error: Error) -> Candidate {
    let uncertain = uncertain(input, &order, &error);
    Candidate { error, order, method: Method::Exhaustive, uncertain }
}

/// `(PROGRAM [| next |] RACE) \ Sigma - {race}`: two threads stand before a pair of accesses.
fn racing(model: &mut Model, pairs: &Pairs) -> ProcId {
    let race = model.alphabet.intern("race");
    let found = model.arena.prefix(race, Arena::SKIP);
    let mut first: BTreeMap<usize, Vec<ProcId>> = BTreeMap::new();
    for (a, b) in pairs {
        first.entry(*a).or_default().push(model.arena.prefix(model.nexts[b], found));
    }
    let mut branches = Vec::new();
    for (a, second) in first {
        let second = model.arena.choice(&second);
        branches.push(model.arena.prefix(model.nexts[&a], second));
    }
    let body = model.arena.choice(&branches);
    let pattern = model.arena.named("RACE", body);
    let on: EventSet = model.nexts.values().copied().collect();
    let both = model.arena.parallel(model.program, on, pattern);
    let mut hidden = model.alphabet.all();
    hidden.remove(race);
    model.arena.hide(both, hidden)
}

/// LIVE, and `PROGRAM \ Sigma ; LIVE`.
fn live(model: &mut Model) -> (ProcId, ProcId) {
    let sigma = model.alphabet.all();
    let event = model.alphabet.intern("live");
    let name = model.arena.declare("LIVE");
    let again = model.arena.call(name);
    let body = model.arena.prefix(event, again);
    model.arena.define(name, body);
    let hidden = model.arena.hide(model.program, sigma);
    (again, model.arena.then(hidden, again))
}
