//! Rules of [`raddle_facts::order`]: gates have all their openings, and what is passed, opened, counted and held in handles follows from
//! every way in, point by point.
//!
//! What opens and passes each gate is found here from the gate's kind alone ([`gates`], [`flags`], [`join_all`]); a gate whose kind
//! promises what the program does not keep is passed by nothing, so a fact that says it is passed is refused.
//!
//! For a thread of many instances to have passed `Started` of it means one creation, unless the loop that creates them all was left:
//! [`join_all`] takes it only in that sense.

mod detached;
mod flags;
mod gates;
mod handles;
mod join_all;
mod state;
mod unmade;

use super::Refusal;
use super::accesses::Access;
use super::calls::{Call, Run, Way};
use super::code::{At, Code};
use super::locks::HeldAt;
use gates::Gates;
use raddle_base::{Id, SiteId};
use raddle_facts::{GateId, GateKind, Rounds, Start, Term, ThreadId};
use raddle_ir::{BlockId, FunctionId, Terminator};
use raddle_libmodel::memory::Ending;
use raddle_libmodel::{Effect, ThreadOp};
use state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const RULE: &str = "order";

/// What holds right before a point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub passed: BTreeSet<GateId>,
    pub opened: BTreeSet<GateId>,
    pub rounds: Vec<Rounds>,
}

pub(crate) type OrderAt = BTreeMap<At, Rc<Point>>;

/// The code as the rules about order see it.
pub(crate) struct Order<'c, 'a> {
    code: &'c Code<'a>,
    accesses: &'c [Access<'a>],
    gates: Gates,
    /// That handles are followed in.
    cells: BTreeSet<Term>,
}

/// Checks all facts about order; what holds at each of `points`.
pub(crate) fn check(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    held: &HeldAt,
    points: &BTreeSet<At>,
) -> Result<OrderAt, Refusal> {
    let gates = Gates::of(code, accesses, held)?;
    let order = Order { code, accesses, gates, cells: handles::cells(code, accesses) };
    order.handles_are_followed()?;
    let mut found = OrderAt::new();
    for function in code.program.functions.ids().filter(|function| code.is_run(*function)) {
        for block in code.reachable_blocks(function) {
            order.block(function, block, points, &mut found)?;
        }
    }
    order.roots()?;
    order.brought()?;
    Ok(found)
}

impl<'a> Order<'_, 'a> {
    fn start(&self, function: FunctionId, block: BlockId) -> State {
        let facts = &self.code.facts.order.functions[function];
        facts.blocks.get(block.index()).map_or_else(State::default, State::of)
    }

    /// The local state together with the entry's.
    fn full(&self, function: FunctionId, local: &State) -> State {
        let mut full = local.clone();
        full.put_on(self.code, &State::of(&self.code.facts.order.functions[function].entry));
        full
    }

    fn block(
        &self,
        function: FunctionId,
        block: BlockId,
        points: &BTreeSet<At>,
        found: &mut OrderAt,
    ) -> Result<(), Refusal> {
        let code = self.code;
        let body = &code.program.functions[function].blocks[block];
        let mut state = self.start(function, block);
        if block == BlockId(0) {
            self.follows(At { function, block, index: 0 }, &State::default(), &state)?;
        }
        let mut last: Option<Rc<Point>> = None;
        for index in 0..body.insts.len() {
            let at = At { function, block, index };
            let call = code.calls.at(function, code.site(at)).filter(|call| !call.runs.is_empty());
            if points.contains(&at) || call.is_some() {
                let full = self.full(function, &state);
                if let Some(call) = call {
                    call.runs.iter().try_for_each(|run| self.enters(call, run, &full))?;
                }
                let point = Point { passed: full.passed, opened: full.opened, rounds: full.rounds };
                let shared = match &last {
                    Some(before) if **before == point => before.clone(),
                    _ => Rc::new(point),
                };
                last = Some(shared.clone());
                found.insert(at, shared);
            }
            self.step(at, &mut state);
        }
        let at = At { function, block, index: body.insts.len() };
        let exit = State::of(&code.facts.order.functions[function].at_exit);
        if !state.opened.is_subset(&exit.opened) {
            return code.refuse_at(at, RULE, "a function opens more than its exit says");
        }
        if matches!(body.terminator, Terminator::Ret { .. }) {
            self.follows(at, &state, &exit)?;
        }
        for to in &code.flows[function].successors[block.index()] {
            let mut out = state.clone();
            for gate in self.gates.on_edge.get(&(function, block, *to)).into_iter().flatten() {
                self.pass(&mut out, *gate);
            }
            for (thread, creator) in
                self.gates.joined_on_edge.get(&(function, block, *to)).into_iter().flatten()
            {
                self.join_all(function, *creator, *thread, &mut out);
            }
            self.follows(at, &out, &self.start(function, *to))?;
        }
        Ok(())
    }

    /// Whether all that `said` claims is so in `state`.
    fn follows(&self, at: At, state: &State, said: &State) -> Result<(), Refusal> {
        match said.first_difference(state) {
            Some(text) => self.code.refuse_at(at, RULE, text),
            None => Ok(()),
        }
    }

    fn pass(&self, state: &mut State, gate: GateId) {
        state.passed.insert(gate);
        state.passed.extend(&self.code.facts.order.gates[gate].brings);
    }

    fn gates_of(&self, kind: GateKind) -> impl Iterator<Item = GateId> + '_ {
        let gates = self.code.facts.order.gates.iter();
        gates.filter(move |(_, gate)| gate.kind == kind).map(|(id, _)| id)
    }

    /// The thread ended: all instances of it, if it is single.
    fn join(&self, function: FunctionId, thread: ThreadId, state: &mut State) {
        let entry = &self.code.facts.order.functions[function].entry.passed;
        let created = self
            .gates_of(GateKind::Started(thread))
            .any(|gate| state.passed.contains(&gate) || entry.contains(&gate));
        if created && !self.code.facts.threads.threads[thread].many {
            let ends: Vec<GateId> = self.gates_of(GateKind::Exited(thread)).collect();
            ends.into_iter().for_each(|gate| self.pass(state, gate));
        }
    }

    /// A loop that joins all instances was left: they have ended, if all were created before. That is so if this very thread has left the
    /// creating loop, which no other gate may seem to say.
    fn join_all(&self, function: FunctionId, creating: FunctionId, thread: ThreadId, state: &mut State) {
        let (order, threads) = (&self.code.facts.order, &self.code.facts.threads);
        let [only] = threads.runs[function][..] else { return };
        if threads.runs[creating] != [only] || threads.threads[only].many || only == thread {
            return;
        }
        let entry = &order.functions[function].entry.passed;
        let started: Vec<GateId> = self.gates_of(GateKind::Started(thread)).collect();
        let passed = |gate: &GateId| state.passed.contains(gate) || entry.contains(gate);
        let brought = order
            .gates
            .iter()
            .any(|(id, gate)| passed(&id) && gate.brings.iter().any(|brought| started.contains(brought)));
        let from_start = order.at_start[only].iter().any(|gate| started.contains(gate));
        if started.iter().any(passed) && !brought && !from_start {
            let ends: Vec<GateId> = self.gates_of(GateKind::Exited(thread)).collect();
            ends.into_iter().for_each(|gate| self.pass(state, gate));
        }
    }

    /// The effect of one instruction.
    fn step(&self, at: At, state: &mut State) {
        self.handles(at, state);
        let site = self.code.site(at);
        if let Some(call) = self.code.calls.at(at.function, site) {
            self.nested(call, state);
        }
        for gate in self.gates.opens.get(&site).into_iter().flatten() {
            state.opened.insert(*gate);
        }
        for gate in self.gates.passes.get(&site).into_iter().flatten() {
            self.pass(state, *gate);
        }
        for barrier in self.gates.waits.get(&site).into_iter().flatten() {
            state.one_more(*barrier);
        }
        if let Some(handle) = self.gates.joins.get(&site)
            && let Some(thread) = self.handle_of(at.function, *handle, 0)
            && !self.gates.detached.contains(&thread)
        {
            self.join(at.function, thread, state);
        }
    }

    /// What a callee did, relative to its entry.
    fn exit_of(&self, run: &Run) -> State {
        let mut exit = State::of(&self.code.facts.order.functions[run.function].at_exit);
        if run.way == Way::Callback {
            // Any number of times.
            exit.passed.clear();
            exit.handles.clear();
            exit.lose_count();
        }
        exit
    }

    fn nested(&self, call: &Call, state: &mut State) {
        let mut outcomes: Vec<State> = Vec::new();
        if !call.effects.is_empty() || !call.unknown.is_empty() {
            outcomes.push(state.clone());
        }
        for run in call.nested() {
            let mut after = self.exit_of(run);
            after.put_on(self.code, state);
            outcomes.push(after);
        }
        let Some(first) = outcomes.pop() else { return };
        *state = outcomes.iter().fold(first, |so_far, other| so_far.met(other));
    }

    /// What a function that a call runs is said to be entered with.
    fn enters(&self, call: &Call, run: &Run, full: &State) -> Result<(), Refusal> {
        let facts = &self.code.facts;
        let mut given = State::default();
        match run.way {
            Way::Call | Way::AtomicCall => given = full.clone(),
            Way::Callback => {
                // Earlier rounds of it come before this one.
                given = self.exit_of(run);
                given.put_on(self.code, full);
            }
            Way::Thread | Way::Once => {
                given.passed.clone_from(&full.passed);
                for (id, thread) in facts.threads.threads.iter() {
                    let this = match thread.start {
                        Start::Created(site) => run.way == Way::Thread && site == call.site,
                        Start::Once(_) => run.way == Way::Once,
                        Start::Main | Start::Client | Start::Handler(_) => false,
                    };
                    if !this || thread.entry != run.function {
                        continue;
                    }
                    let mut passed = full.passed.clone();
                    passed.extend(self.gates_of(GateKind::Started(id)));
                    if let Some(gate) = facts.order.at_start[id].iter().find(|gate| !passed.contains(gate)) {
                        let text = format!("{id} is said to start after {gate}, and its creator need not");
                        return self.code.refuse(call.site, RULE, text);
                    }
                    given.passed.extend(self.gates_of(GateKind::Started(id)));
                }
            }
            Way::Handler => {}
        }
        self.entered(run.function, &given)
    }

    fn entered(&self, function: FunctionId, given: &State) -> Result<(), Refusal> {
        let mut entry = State::of(&self.code.facts.order.functions[function].entry);
        // What was written before the entry is in no rule.
        entry.overwritten.clone_from(&given.overwritten);
        self.follows(At { function, block: BlockId(0), index: 0 }, given, &entry)
    }

    /// Threads that nobody creates start with nothing; constructors come before `main`, on its thread.
    fn roots(&self) -> Result<(), Refusal> {
        let (code, roots) = (self.code, &self.code.roots);
        let mut before = State::default();
        for function in &roots.constructors {
            let mut exit = State::of(&code.facts.order.functions[*function].at_exit);
            (exit.passed, exit.handles) = (BTreeSet::new(), BTreeMap::new());
            exit.lose_count();
            before.put_on(code, &exit);
        }
        for function in roots.constructors.iter().chain(&roots.main) {
            self.entered(*function, &before)?;
        }
        for function in roots.destructors.iter().chain(&roots.entries) {
            self.entered(*function, &State::default())?;
        }
        for (id, thread) in code.facts.threads.threads.iter() {
            let created = matches!(thread.start, Start::Created(_) | Start::Once(_));
            if !created {
                if !code.facts.order.at_start[id].is_empty() {
                    return code.refuse(SiteId::NONE, RULE, format!("{id} is said to start after a gate"));
                }
                if thread.start != Start::Main {
                    self.entered(thread.entry, &State::default())?;
                }
            }
        }
        Ok(())
    }

    /// What passing a gate brings was passed at each of its openings; and all who open it are known.
    fn brought(&self) -> Result<(), Refusal> {
        let code = self.code;
        for (id, gate) in code.facts.order.gates.iter() {
            let mut places = self.gates.openings[id.index()].clone();
            for at in &places {
                let threads = &code.facts.threads.runs[at.function];
                if let Some(thread) = threads.iter().find(|thread| !gate.openers.contains(thread)) {
                    return code.refuse_at(*at, RULE, format!("{thread} opens {id} here"));
                }
            }
            let mut always: &[GateId] = &[];
            if let GateKind::Exited(thread) = gate.kind {
                always = &code.facts.order.at_start[thread];
                places = self.ends(thread);
                if gate.openers != [thread] {
                    return code.refuse(SiteId::NONE, RULE, "the end of a thread is its own doing");
                }
                if self.cancels() && gate.brings.iter().any(|brought| !always.contains(brought)) {
                    return code.refuse(SiteId::NONE, RULE, "a thread that is cancelled may end anywhere");
                }
            }
            if gate.brings.is_empty() {
                continue;
            }
            for at in places {
                let mut state = self.start(at.function, at.block);
                for index in 0..at.index {
                    self.step(At { index, ..at }, &mut state);
                }
                let passed = self.full(at.function, &state).passed;
                let missing =
                    gate.brings.iter().find(|brought| !passed.contains(brought) && !always.contains(brought));
                if let Some(brought) = missing {
                    return code.refuse_at(
                        at,
                        RULE,
                        format!("{id} is said to bring {brought}, which need not be passed"),
                    );
                }
            }
        }
        Ok(())
    }

    /// Where a thread may end.
    fn ends(&self, thread: ThreadId) -> Vec<At> {
        let code = self.code;
        let function = code.facts.threads.threads[thread].entry;
        let mut places = Vec::new();
        for block in code.reachable_blocks(function) {
            let body = &code.program.functions[function].blocks[block];
            if matches!(body.terminator, Terminator::Ret { .. }) {
                places.push(At { function, block, index: body.insts.len() });
            }
        }
        for (function, calls) in code.calls.from.iter() {
            if code.facts.threads.runs[function].contains(&thread) {
                let ends = calls.iter().filter(|call| {
                    call.effects.iter().any(|(_, effect)| effect.memory().ending == Ending::EndsThread)
                });
                places.extend(ends.map(|call| call.at(function)));
            }
        }
        places
    }

    fn cancels(&self) -> bool {
        let mut effects = self.code.calls.from.values().flatten().flat_map(|call| &call.effects);
        effects.any(|(_, effect)| matches!(effect, Effect::Thread(ThreadOp::Cancel { .. }, _)))
    }
}
