//! Which warnings to look at first: Stage II of the paper on the pairs that are left. Nothing is dropped.

use crate::events::{Event, weaker_by_histories};
use crate::history::histories;
use crate::pairs::Pair;
use crate::reduce;
use crate::rules::State;
use raddle_absint::accesses::Access;
use raddle_absint::calls::Calls;
use raddle_absint::terms::Definitions;
use raddle_facts::{ObjectId, Offsets, PointsTo, Term, ThreadFacts};
use raddle_ir::Program;
use std::collections::BTreeMap;

/// More events than this are not compared with each other: all stay at rank 0.
const EVENTS: usize = 4_000;

/// Per warned pair: its rank (0: look at it first), and a pair that covers it.
#[allow(clippy::too_many_arguments)]
pub(crate) fn rank(
    program: &Program,
    calls: &Calls,
    definitions: &Definitions,
    points_to: &PointsTo,
    threads: &ThreadFacts,
    accesses: &[Access],
    states: &[State],
    warned: &[Pair],
) -> Vec<(usize, Option<usize>)> {
    let mut variables: BTreeMap<(ObjectId, Offsets), usize> = BTreeMap::new();
    let mut events: Vec<Event> = Vec::new();
    let mut index: BTreeMap<(usize, ObjectId), usize> = BTreeMap::new();
    for (access, object) in
        warned.iter().flat_map(|pair| [(pair.first, pair.object), (pair.second, pair.object)])
    {
        if index.contains_key(&(access, object)) {
            continue;
        }
        let event = &accesses[access];
        let Some((_, offsets)) = event.targets(points_to).iter().find(|(target, _)| *target == object) else {
            continue;
        };
        let Some(thread) = threads.runs[event.function].first() else { continue };
        let next = variables.len();
        let is_global = |lock: Term| definitions.is_global(threads, lock);
        let mut locks: Vec<Term> = states[access]
            .locks
            .iter()
            .filter(|held| held.guard.is_none() && is_global(held.lock))
            .map(|held| held.lock)
            .collect();
        locks.sort();
        locks.dedup();
        index.insert((access, object), events.len());
        events.push(Event {
            variable: *variables.entry((object, *offsets)).or_insert(next),
            thread: *thread,
            function: event.function,
            block: event.block,
            index: event.index,
            write: event.is_write(),
            locks,
            history: histories(&states[access].locks, is_global),
        });
        if events.len() > EVENTS {
            return vec![(0, None); warned.len()];
        }
    }
    let listed: Vec<reduce::Warning> = warned
        .iter()
        .map(|pair| reduce::Warning {
            first: index[&(pair.first, pair.object)],
            second: index[&(pair.second, pair.object)],
        })
        .collect();
    let covers = reduce::covers(program, calls, threads, &events, weaker_by_histories);
    let mut result = vec![(0, None); warned.len()];
    for ranked in reduce::rank(&listed, &covers) {
        result[ranked.warning] = (ranked.rank, ranked.covered_by.first().copied());
    }
    result
}
