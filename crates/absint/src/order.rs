//! Order without locks: which gates a thread must have passed and may have opened at every point (see [`raddle_facts::order`]).
//!
//! Three steps. Gates are found by their shape ([`gates`]). Inside each function a forward analysis, callees first, gives local sets
//! relative to its entry. Then entry sets flow from the roots along calls and thread creations. What a gate brings along (the gates that all its openings
//! had passed) starts empty and grows by repeating the last two steps; every round is sound by itself, because the
//! argument goes by time: an opening comes before what passes it.
//!
//! Errs towards fewer gates passed and more opened.

mod detached;
mod flags;
mod gates;
mod handles;
mod holders;
mod join_all;
mod local;
mod nonzero;
pub mod places;
pub mod renewed;
mod rounds;
mod unmade;

pub use flags::LockQuery;
pub use holders::Holders;

use crate::accesses::Access;
use crate::calls::{Calls, Way};
use crate::terms::Definitions;
use gates::Gates;
use local::{Local, State};
use places::Places;
use raddle_base::IdVec;
use raddle_facts::{
    FunctionOrder, Gate, GateId, GateKind, LocalOrder, OrderFacts, PointsTo, Start, ThreadFacts, ThreadId,
    Values,
};
use raddle_ir::{BlockId, FunctionId, Program};
use renewed::{Family, Operations};
use std::collections::BTreeSet;

/// Everything that the analysis reads.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub program: &'a Program,
    pub calls: &'a Calls,
    pub definitions: &'a Definitions,
    pub values: &'a Values,
    pub points_to: &'a PointsTo,
    pub threads: &'a ThreadFacts,
    pub accesses: &'a [Access],
    pub holders: &'a Holders,
    /// Main runs these before its own body.
    pub constructors: &'a [FunctionId],
}

/// Rounds in which gates learn what they bring, and functions what their callers know.
const ROUNDS: usize = 6;

/// The solution, with what is needed to ask for the state at any instruction.
pub struct Order {
    gates: Gates,
    locals: Local,
    entries: IdVec<FunctionId, Option<State>>,
    /// Passed at the start of each thread; `None`: it is never started.
    starts: Starts,
    brings: IdVec<GateId, Vec<GateId>>,
}

type Starts = IdVec<ThreadId, Option<BTreeSet<GateId>>>;

/// `locks` tells which locks are held at a site, once that is known; without it there are no flags guarded by locks.
/// `before`: what this gave for the same input with other locks, to be used again where the gates are the same.
pub fn solve(input: Input<'_>, locks: Option<&LockQuery<'_>>, mut before: Option<Order>) -> Order {
    let mut spoiled: Vec<Places> = Vec::new();
    let mut operations: Option<Operations> = None;
    loop {
        let gates = Gates::find(input, locks, &spoiled);
        let order = match before.take() {
            Some(before) if before.gates == gates => before,
            _ => solve_with(input, gates),
        };
        if !order.gates.waits_for_objects() {
            return order;
        }
        let operations = operations.get_or_insert_with(|| Operations::find(input));
        let waited_for = |family: Family| family != Family::Lock;
        let more = operations.out_of_order(input, &order, waited_for, |_| false);
        let known = spoiled.len();
        for renewal in more {
            if !spoiled.contains(&renewal.places) {
                spoiled.push(renewal.places.clone());
            }
        }
        if spoiled.len() == known {
            return order;
        }
        before = Some(order);
    }
}

fn solve_with(input: Input<'_>, gates: Gates) -> Order {
    let mut brings: IdVec<GateId, Vec<GateId>> = gates.list.ids().map(|_| Vec::new()).collect();
    let mut known: IdVec<FunctionId, Option<State>> = input.program.functions.ids().map(|_| None).collect();
    let mut round = 0;
    loop {
        let locals = Local::solve(input, &gates, &brings, &known);
        let (entries, starts) = entries(input, &gates, &locals);
        let next = learn(input, &gates, &locals, &entries);
        round += 1;
        if next == brings && entries == known || round == ROUNDS {
            return Order { gates, locals, entries, starts, brings };
        }
        brings = next;
        known = entries;
    }
}

impl Order {
    pub fn facts(&self) -> OrderFacts {
        let mut facts = OrderFacts { barriers: self.gates.barriers.clone(), ..OrderFacts::default() };
        for (id, gate) in self.gates.list.iter() {
            facts.gates.push(Gate { brings: self.brings[id].clone(), ..gate.clone() });
        }
        facts.at_start =
            self.starts.values().map(|passed| passed.iter().flatten().copied().collect()).collect();
        for (function, local) in self.locals.functions.iter() {
            let entry = self.entries[function].clone().unwrap_or_default();
            facts.functions.push(FunctionOrder {
                entry: entry.into_facts(),
                blocks: local
                    .blocks
                    .iter()
                    .map(|state| state.clone().unwrap_or_default().into_facts())
                    .collect(),
                at_exit: local.exit.clone().into_facts(),
            });
        }
        facts
    }

    /// Whether anything in a function changes the state; if not, every point of it has the entry's.
    pub fn matters(&self, function: FunctionId) -> bool {
        self.gates.matters[function]
    }

    /// The state right before an instruction: the entry's and the local one together.
    pub fn before(&self, input: Input<'_>, function: FunctionId, block: BlockId, index: usize) -> LocalOrder {
        let mut state = self.locals.before(input, &self.gates, function, block, index);
        if let Some(entry) = &self.entries[function] {
            state.under(input, entry);
        }
        state.into_facts()
    }
}

/// What holds at every entry of every function: from the roots, over calls and creations; `None` for what is never entered.
fn entries(input: Input<'_>, gates: &Gates, locals: &Local) -> (IdVec<FunctionId, Option<State>>, Starts) {
    let Input { program, threads, .. } = input;
    let mut entries: IdVec<FunctionId, Option<State>> = program.functions.ids().map(|_| None).collect();
    let mut starts: Starts = threads.threads.ids().map(|_| None).collect();
    let mut work: BTreeSet<FunctionId> = BTreeSet::new();
    // Constructors come before main, on the same thread.
    let before: State = input.constructors.iter().fold(State::default(), |mut state, function| {
        state.opened.extend(gates.opens[*function].iter());
        state
    });
    for function in input.constructors {
        let start = State { opened: before.opened.clone(), ..State::default() };
        merge(&mut entries, &mut work, *function, &start);
    }
    for thread in threads.threads.values() {
        match thread.start {
            Start::Main => merge(&mut entries, &mut work, thread.entry, &before),
            Start::Client | Start::Handler(_) => {
                merge(&mut entries, &mut work, thread.entry, &State::default())
            }
            Start::Created(_) | Start::Once(_) => {}
        }
    }
    while let Some(function) = work.pop_first() {
        let Some(entry) = entries[function].clone() else { continue };
        locals.before_calls(input, gates, function, |call, local| {
            let mut here = local.clone();
            here.under(input, &entry);
            for (target, way) in &call.runs {
                match way {
                    Way::Call | Way::AtomicCall => merge(&mut entries, &mut work, *target, &here),
                    Way::Callback => {
                        let mut state = here.clone();
                        // Earlier rounds of the callback come before this one.
                        state.opened.extend(gates.opens[*target].iter());
                        if locals.waits(*target) {
                            state.rounds = rounds::unknown(gates.barriers.len());
                        }
                        merge(&mut entries, &mut work, *target, &state);
                    }
                    Way::Thread | Way::Once => {
                        let mut state = State { passed: here.passed.clone(), ..State::default() };
                        for (id, thread) in threads.threads.iter() {
                            let this = match thread.start {
                                Start::Created(site) => *way == Way::Thread && site == call.site,
                                Start::Once(_) => *way == Way::Once,
                                Start::Main | Start::Client | Start::Handler(_) => false,
                            };
                            if this && thread.entry == *target {
                                state.passed.extend(gates.started(id));
                                let passed = &state.passed;
                                match &mut starts[id] {
                                    Some(before) => before.retain(|gate| passed.contains(gate)),
                                    empty => *empty = Some(passed.clone()),
                                }
                            }
                        }
                        merge(&mut entries, &mut work, *target, &state);
                    }
                    Way::Handler => {}
                }
            }
        });
    }
    (entries, starts)
}

fn merge(
    entries: &mut IdVec<FunctionId, Option<State>>,
    work: &mut BTreeSet<FunctionId>,
    function: FunctionId,
    state: &State,
) {
    let changed = match &mut entries[function] {
        Some(old) => old.meet(state),
        empty => {
            *empty = Some(state.clone());
            true
        }
    };
    if changed {
        work.insert(function);
    }
}

/// The gates that every opening of a gate had passed.
fn learn(
    input: Input<'_>,
    gates: &Gates,
    locals: &Local,
    entries: &IdVec<FunctionId, Option<State>>,
) -> IdVec<GateId, Vec<GateId>> {
    let passed_at = |function: FunctionId, block: BlockId, index: usize| -> Option<BTreeSet<GateId>> {
        let entry = entries[function].as_ref()?;
        let mut state = locals.before(input, gates, function, block, index);
        state.under(input, entry);
        Some(state.passed)
    };
    gates
        .list
        .iter()
        .map(|(id, gate)| {
            let places: Vec<(FunctionId, BlockId, usize)> = match gate.kind {
                // A thread's own entry set has what its creator passed.
                GateKind::Started(_) => Vec::new(),
                GateKind::Exited(thread) => exits(input, thread),
                GateKind::Semaphore(_)
                | GateKind::AtomicFlag(_)
                | GateKind::FencedFlag(_)
                | GateKind::LockedFlag(..) => gates.openings(id).to_vec(),
            };
            let mut common: Option<BTreeSet<GateId>> = None;
            for (function, block, index) in places {
                let Some(passed) = passed_at(function, block, index) else { continue };
                common = Some(match common {
                    None => passed,
                    Some(before) => before.intersection(&passed).copied().collect(),
                });
            }
            common.unwrap_or_default().into_iter().collect()
        })
        .collect()
}

/// Where a thread ends: returns of its entry function, and calls that end the thread anywhere.
fn exits(input: Input<'_>, thread: ThreadId) -> Vec<(FunctionId, BlockId, usize)> {
    let Input { program, calls, values, threads, .. } = input;
    let entry = threads.threads[thread].entry;
    let mut places = Vec::new();
    for (id, block) in program.functions[entry].blocks.iter() {
        if values.is_reachable(entry, id) && matches!(block.terminator, raddle_ir::Terminator::Ret { .. }) {
            places.push((entry, id, block.insts.len()));
        }
    }
    for (function, list) in calls.from.iter() {
        if !threads.runs[function].contains(&thread) {
            continue;
        }
        for call in list {
            let ends = call
                .effects
                .iter()
                .any(|effect| effect.memory().ending == raddle_libmodel::memory::Ending::EndsThread);
            if ends {
                places.push((function, call.block, call.index));
            }
        }
    }
    places
}
