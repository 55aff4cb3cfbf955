//! The analysis inside a function: what was passed and opened since its entry.

use super::gates::{Gates, Operation};
use super::{Input, handles, rounds};
use crate::calls::{Call, Way};
use crate::cfg::Cfg;
use raddle_base::{Id, IdVec};
use raddle_facts::{GateId, LocalOrder, ObjectId, Offsets, Rounds, Term, ThreadId};
use raddle_ir::{BlockId, FunctionId, Reg, Terminator};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Registers that hold the handle of a single thread.
pub(super) type Registers = HashMap<(FunctionId, Reg), ThreadId>;

/// Sets while they are computed; see [`LocalOrder`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    pub passed: BTreeSet<GateId>,
    pub opened: BTreeSet<GateId>,
    pub rounds: Vec<Rounds>,
    pub handles: BTreeMap<Term, ThreadId>,
    /// Shared: large and mostly the same from instruction to instruction.
    pub overwritten: Arc<BTreeSet<(ObjectId, Offsets)>>,
}

impl State {
    /// Weakens to what both have; whether anything changed.
    pub fn meet(&mut self, other: &State) -> bool {
        let before = (self.passed.len(), self.opened.len(), self.handles.len(), self.overwritten.len());
        self.passed.retain(|gate| other.passed.contains(gate));
        if !other.opened.is_subset(&self.opened) {
            self.opened.extend(&other.opened);
        }
        self.handles.retain(|cell, thread| other.handles.get(cell) == Some(thread));
        add(&mut self.overwritten, &other.overwritten);
        let merged = rounds::merge(&self.rounds, &other.rounds);
        let after = (self.passed.len(), self.opened.len(), self.handles.len(), self.overwritten.len());
        let changed = before != after || merged != self.rounds;
        self.rounds = merged;
        changed
    }

    /// Puts what holds at the function's entry below this local state.
    pub fn under(&mut self, input: Input<'_>, entry: &State) {
        self.passed.extend(&entry.passed);
        self.opened.extend(&entry.opened);
        self.rounds = rounds::add(&entry.rounds, &self.rounds);
        let kept = entry.handles.iter().filter(|(cell, _)| {
            let places = handles::places(input, **cell);
            !self.overwritten.iter().any(|(object, at)| {
                places.iter().any(|(other, offsets)| other == object && at.may_overlap(8, *offsets, 8))
            })
        });
        let kept: Vec<(Term, ThreadId)> = kept.map(|(cell, thread)| (*cell, *thread)).collect();
        for (cell, thread) in kept {
            self.handles.entry(cell).or_insert(thread);
        }
        add(&mut self.overwritten, &entry.overwritten);
    }

    /// A call of this function returned.
    fn after(&mut self, input: Input<'_>, callee: &State) {
        let before = std::mem::replace(self, callee.clone());
        self.under(input, &before);
    }

    pub fn into_facts(self) -> LocalOrder {
        LocalOrder {
            passed: self.passed.into_iter().collect(),
            opened: self.opened.into_iter().collect(),
            rounds: self.rounds,
            handles: self.handles.into_iter().collect(),
            overwritten: self.overwritten.iter().copied().collect(),
        }
    }
}

fn add(set: &mut Arc<BTreeSet<(ObjectId, Offsets)>>, more: &Arc<BTreeSet<(ObjectId, Offsets)>>) {
    if set.is_empty() {
        *set = more.clone();
    } else if !Arc::ptr_eq(set, more) && !more.is_subset(set) {
        Arc::make_mut(set).extend(more.iter());
    }
}

/// All functions.
pub(super) struct Local {
    pub functions: IdVec<FunctionId, FunctionLocal>,
    registers: Registers,
    entries: IdVec<FunctionId, Option<State>>,
    brings: IdVec<GateId, Vec<GateId>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct FunctionLocal {
    /// At the start of each block; `None` where no path leads. Empty: nothing here matters to order.
    pub blocks: Vec<Option<State>>,
    pub exit: State,
    waits: bool,
}

impl Local {
    /// `entries` are what the round before found to hold at the entries of functions.
    pub fn solve(
        input: Input<'_>,
        gates: &Gates,
        brings: &IdVec<GateId, Vec<GateId>>,
        entries: &IdVec<FunctionId, Option<State>>,
    ) -> Local {
        let mut local = Local {
            entries: entries.clone(),
            functions: input.program.functions.ids().map(|_| FunctionLocal::default()).collect(),
            registers: Registers::new(),
            brings: brings.clone(),
        };
        // Handles that a callee returns, or gets as an argument, are known to the next round.
        for _ in 0..3 {
            let mut found = Registers::new();
            for component in &input.calls.bottom_up {
                // Until the component is done, a call inside it passes nothing and does all that it may.
                for function in component.iter().filter(|function| input.calls.recursive[**function]) {
                    local.functions[*function].exit = worst(input, gates, *function);
                }
                for function in component {
                    if gates.matters[*function] {
                        local.function(input, gates, *function, &mut found);
                    }
                }
            }
            if local.registers == found {
                break;
            }
            local.registers = found;
        }
        local
    }

    /// Whether a function, or what it calls, waits on a barrier.
    pub fn waits(&self, function: FunctionId) -> bool {
        self.functions[function].waits
    }

    fn function(&mut self, input: Input<'_>, gates: &Gates, id: FunctionId, found: &mut Registers) {
        let function = &input.program.functions[id];
        let cfg = Cfg::new(function, |_, to| input.values.is_reachable(id, to));
        let recursive = input.calls.recursive[id];
        self.functions[id].waits = gates.waits[id];
        let mut at: Vec<Option<State>> = vec![None; function.blocks.len()];
        at[0] = Some(State { rounds: rounds::none(gates.barriers.len()), ..State::default() });
        let mut visits = vec![0u32; function.blocks.len()];
        let mut work: BTreeSet<usize> = BTreeSet::from([0]);
        let mut exit: Option<State> = None;
        let order = &cfg.order;
        while let Some(position) = work.pop_first() {
            let block = order[position];
            let mut state = at[block.index()].clone().expect("queued blocks have a state");
            visits[block.index()] += 1;
            for index in 0..function.blocks[block].insts.len() {
                self.step(input, gates, (id, block, index), found, &mut state);
            }
            for to in &cfg.successors[block.index()] {
                let mut out = state.clone();
                if let Some(passed) = gates.on_edge.get(&(id, block, *to)) {
                    passed.iter().for_each(|gate| self.pass(&mut out, *gate));
                }
                for (thread, creator) in gates.joined_on_edge.get(&(id, block, *to)).into_iter().flatten() {
                    if self.has_created_all(input, gates, (id, *creator), &out, *thread) {
                        self.join(gates, id, &mut out, *thread);
                    }
                }
                let changed = match &mut at[to.index()] {
                    Some(old) => {
                        let changed = old.meet(&out);
                        if changed && visits[to.index()] > 4 {
                            rounds::widen(&mut old.rounds);
                        }
                        changed
                    }
                    empty => {
                        *empty = Some(out);
                        true
                    }
                };
                if changed {
                    work.extend(cfg.position(*to));
                }
            }
        }
        for block in order {
            if let (Some(state), Terminator::Ret { .. }) =
                (&at[block.index()], &function.blocks[*block].terminator)
            {
                let mut state = state.clone();
                for index in 0..function.blocks[*block].insts.len() {
                    self.step(input, gates, (id, *block, index), found, &mut state);
                }
                match &mut exit {
                    Some(old) => {
                        old.meet(&state);
                    }
                    empty => *empty = Some(state),
                }
            }
        }
        let mut exit = exit.unwrap_or_default();
        exit.opened.extend(gates.opens[id].iter());
        exit.handles.retain(|cell, _| gates.is_global(input, *cell));
        if recursive {
            let bound = worst(input, gates, id);
            exit.rounds = bound.rounds;
            exit.overwritten = bound.overwritten;
            exit.handles.clear();
            exit.passed.clear();
        }
        let local = &mut self.functions[id];
        local.blocks = at;
        local.exit = exit;
    }

    fn pass(&self, state: &mut State, gate: GateId) {
        state.passed.insert(gate);
        state.passed.extend(&self.brings[gate]);
    }

    /// Whether the creating loop, whose end passes `Started`, was left by the very thread that now joins: any other way to have passed that
    /// gate, as an instance itself or by what another gate brings, means one creation and not all.
    fn has_created_all(
        &self,
        input: Input<'_>,
        gates: &Gates,
        (joining, creating): (FunctionId, FunctionId),
        state: &State,
        thread: ThreadId,
    ) -> bool {
        let threads = input.threads;
        let ([only], Some(started)) = (&threads.runs[joining][..], gates.started(thread)) else {
            return false;
        };
        let passed_at = |function: FunctionId| self.entries[function].iter().flat_map(|entry| &entry.passed);
        let brought =
            state.passed.iter().chain(passed_at(joining)).any(|gate| self.brings[*gate].contains(&started));
        threads.runs[creating] == [*only]
            && !threads.threads[*only].many
            && *only != thread
            && !brought
            && !passed_at(threads.threads[*only].entry).any(|gate| *gate == started)
    }

    /// All instances of a thread were joined: only if all are known to have been created, so that none comes after this.
    fn join(&self, gates: &Gates, function: FunctionId, state: &mut State, thread: ThreadId) {
        let (Some(started), Some(exited)) = (gates.started(thread), gates.exited(thread)) else { return };
        let before = self.entries[function].as_ref().is_some_and(|entry| entry.passed.contains(&started));
        if before || state.passed.contains(&started) {
            self.pass(state, exited);
        }
    }

    /// The effect of one instruction.
    fn step(
        &self,
        input: Input<'_>,
        gates: &Gates,
        (function, block, index): (FunctionId, BlockId, usize),
        found: &mut Registers,
        state: &mut State,
    ) {
        let entry = self.entries[function].as_ref();
        handles::instruction(input, gates, found, &self.registers, (function, block, index), entry, state);
        let site = input.program.functions[function].blocks[block].site_of(index);
        if let Some(call) = input.calls.at(function, site) {
            self.nested(input, gates, call, state);
        }
        let Some(operations) = gates.operations.get(&site) else { return };
        for operation in operations {
            match *operation {
                Operation::Open(gate) => {
                    state.opened.insert(gate);
                }
                Operation::Create(gate) => {
                    state.opened.insert(gate);
                    self.pass(state, gate);
                }
                Operation::Pass(gate) => self.pass(state, gate),
                Operation::Wait(barrier) => rounds::one_more(&mut state.rounds, barrier),
                Operation::Join(operand) => {
                    let thread = handles::of_operand(input, found, &self.registers, function, operand);
                    if let Some(thread) = thread.filter(|thread| !gates.detached.contains(thread)) {
                        self.join(gates, function, state, thread);
                    }
                }
            }
        }
    }

    fn nested(&self, input: Input<'_>, gates: &Gates, call: &Call, state: &mut State) {
        let nested: Vec<(FunctionId, Way)> =
            call.runs.iter().copied().filter(|(_, way)| way.is_nested()).collect();
        if nested.is_empty() {
            return;
        }
        let mut after: Option<State> = None;
        let does_nothing = |(target, _): &(FunctionId, Way)| !gates.matters[*target];
        if !call.effects.is_empty() || !call.unknown.is_empty() || nested.iter().any(does_nothing) {
            after = Some(state.clone());
        }
        // Targets that do the same count once: a call through a pointer has hundreds.
        let mut done: Vec<&State> = Vec::new();
        for (target, way) in nested.into_iter().filter(|run| !does_nothing(run)) {
            let mut one = state.clone();
            match way {
                Way::Call | Way::AtomicCall => {
                    let exit = &self.functions[target].exit;
                    if done.contains(&exit) {
                        continue;
                    }
                    one.after(input, exit);
                    done.push(exit);
                }
                Way::Callback | Way::Thread | Way::Once | Way::Handler => {
                    one.after(input, &worst(input, gates, target))
                }
            }
            match &mut after {
                Some(state) => {
                    state.meet(&one);
                }
                empty => *empty = Some(one),
            }
        }
        if let Some(after) = after {
            *state = after;
        }
    }

    /// Visits the calls of a function that run something, each with the local state right before it.
    pub fn before_calls(
        &self,
        input: Input<'_>,
        gates: &Gates,
        function: FunctionId,
        mut visit: impl FnMut(&Call, &State),
    ) {
        let mut last: Option<(BlockId, usize, State, Registers)> = None;
        for call in input.calls.from[function].iter().filter(|call| !call.runs.is_empty()) {
            let (from, mut state, mut found) = match last.take() {
                // On from the call before it.
                Some((block, index, state, found)) if block == call.block && index <= call.index => {
                    (index, state, found)
                }
                _ => (0, self.before(input, gates, function, call.block, 0), Registers::new()),
            };
            if self.functions[function].blocks.get(call.block.index()).is_some_and(Option::is_some) {
                for at in from..call.index {
                    self.step(input, gates, (function, call.block, at), &mut found, &mut state);
                }
            }
            visit(call, &state);
            last = Some((call.block, call.index, state, found));
        }
    }

    /// The local state right before an instruction (or, at the block's length, before its terminator).
    pub fn before(
        &self,
        input: Input<'_>,
        gates: &Gates,
        function: FunctionId,
        block: BlockId,
        index: usize,
    ) -> State {
        let local = &self.functions[function];
        let Some(Some(start)) = local.blocks.get(block.index()) else {
            return State { rounds: rounds::none(gates.barriers.len()), ..State::default() };
        };
        let mut state = start.clone();
        let mut found = Registers::new();
        for at in 0..index {
            self.step(input, gates, (function, block, at), &mut found, &mut state);
        }
        state
    }
}

/// All that a function may do, and nothing that it must.
fn worst(input: Input<'_>, gates: &Gates, function: FunctionId) -> State {
    State {
        passed: BTreeSet::new(),
        opened: BTreeSet::clone(&gates.opens[function]),
        rounds: if gates.waits[function] {
            rounds::unknown(gates.barriers.len())
        } else {
            rounds::none(gates.barriers.len())
        },
        handles: BTreeMap::new(),
        overwritten: input.holders.overwrites[function].clone(),
    }
}
