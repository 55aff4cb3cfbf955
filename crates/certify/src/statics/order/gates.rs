//! What opens and what passes each gate of the facts, by the gate's kind and the program.

use super::super::Refusal;
use super::super::accesses::Access;
use super::super::calls::{Call, Way};
use super::super::code::{At, Code};
use super::super::conditions::edge_says;
use super::super::locks::HeldAt;
use super::{RULE, detached, flags, join_all, unmade};
use raddle_base::{Id, SiteId};
use raddle_facts::{Barrier, GateId, GateKind, Guard, Start, Term, ThreadId, Times};
use raddle_ir::{BlockId, FunctionId, Operand, Reg};
use raddle_libmodel::{Effect, How, Returns, SemOp, SyncKind, ThreadOp};
use std::collections::{BTreeSet, HashMap};

pub(super) type EdgeOf = (FunctionId, BlockId, BlockId);

pub(super) struct Gates {
    pub opens: HashMap<SiteId, Vec<GateId>>,
    /// Passed when the instruction is done.
    pub passes: HashMap<SiteId, Vec<GateId>>,
    pub on_edge: HashMap<EdgeOf, Vec<GateId>>,
    /// Edges out of loops that join all instances of a thread, with the function that creates them.
    pub joined_on_edge: HashMap<EdgeOf, Vec<(ThreadId, FunctionId)>>,
    /// Waits for a barrier of the facts.
    pub waits: HashMap<SiteId, Vec<usize>>,
    /// Calls that join the thread with this handle.
    pub joins: HashMap<SiteId, Operand>,
    /// Threads that joins say nothing of.
    pub detached: BTreeSet<ThreadId>,
    /// Per gate; not for `Exited`.
    pub openings: Vec<Vec<At>>,
}

impl Gates {
    pub fn of(code: &Code<'_>, accesses: &[Access<'_>], held: &HeldAt) -> Result<Gates, Refusal> {
        let facts = &code.facts.order;
        let mut gates = Gates {
            opens: HashMap::new(),
            passes: HashMap::new(),
            on_edge: HashMap::new(),
            joined_on_edge: HashMap::new(),
            waits: HashMap::new(),
            joins: HashMap::new(),
            detached: detached::find(code, accesses),
            openings: vec![Vec::new(); facts.gates.len()],
        };
        for (id, gate) in facts.gates.iter() {
            match gate.kind {
                GateKind::Started(thread) => gates.started(code, id, thread),
                GateKind::Exited(thread) => gates.exited(code, id, thread),
                GateKind::Semaphore(object) => gates.semaphore(code, id, object),
                GateKind::AtomicFlag(_) | GateKind::FencedFlag(_) | GateKind::LockedFlag(..) => {}
            }
        }
        flags::find(code, accesses, held, &mut gates);
        for (index, barrier) in facts.barriers.iter().enumerate() {
            gates.barrier(code, index, barrier)?;
        }
        for (function, call, effect) in effects(code) {
            if let Effect::Thread(ThreadOp::Join { thread, how: How::Block, .. }, _) = effect
                && is_alone(call)
                && let Some(arg) = call.parts(code, function).1.get(usize::from(thread.0))
            {
                gates.joins.insert(call.site, arg.value);
            }
        }
        join_all::find(code, accesses, &mut gates);
        Ok(gates)
    }

    pub fn opened(&mut self, code: &Code<'_>, gate: GateId, at: At) {
        self.openings[gate.index()].push(at);
        self.opens.entry(code.site(at)).or_default().push(gate);
    }

    fn started(&mut self, code: &Code<'_>, id: GateId, thread: ThreadId) {
        for (function, call) in creations(code, thread) {
            self.opened(code, id, call.at(function));
            // One of several targets need not be this one; one of many creations is not all.
            if !code.facts.threads.threads[thread].many && starts_one(call) {
                self.passes.entry(call.site).or_default().push(id);
            }
        }
    }

    /// `pthread_once` returns after the end of its function.
    fn exited(&mut self, code: &Code<'_>, id: GateId, thread: ThreadId) {
        let facts = &code.facts.threads.threads[thread];
        if !matches!(facts.start, Start::Once(_)) || facts.many {
            return;
        }
        for (_, call) in creations(code, thread).filter(|(_, call)| starts_one(call)) {
            self.passes.entry(call.site).or_default().push(id);
        }
    }

    fn semaphore(&mut self, code: &Code<'_>, id: GateId, object: Term) {
        let is_semaphore = |kind: SyncKind| matches!(kind, SyncKind::Semaphore | SyncKind::KernelSemaphore);
        let places = code.places(object);
        let is_wait = |function: FunctionId, call: &Call, effect: &Effect| match effect {
            Effect::Sem(SemOp::Wait { sem, .. }, _) => {
                let named = code.named(function, call.parts(code, function).1, *sem);
                is_alone(call) && named.is_some_and(|named| named.term == object)
            }
            _ => false,
        };
        let waits: Vec<At> = effects(code)
            .filter(|(function, call, effect)| is_wait(*function, call, effect))
            .map(|(function, call, _)| call.at(function))
            .collect();
        let starts_closed = made_once(code, object, is_semaphore)
            .is_some_and(|(count, made)| count == 0 && !unmade::reached(code, made, &waits));
        for (function, call, effect) in effects(code) {
            let (_, args) = call.parts(code, function);
            match effect {
                Effect::Sem(SemOp::Post { sem }, _) => {
                    let named = code.named(function, args, *sem);
                    let other = named.is_some_and(|named| {
                        named.term.distance(object).is_some_and(|distance| distance != 0)
                            || named.term != object && !code.may_be_same(&named.places, &places)
                    });
                    if !other {
                        self.opened(code, id, call.at(function));
                    }
                }
                Effect::Sem(SemOp::Wait { how, .. }, returns)
                    if starts_closed && is_wait(function, call, effect) =>
                {
                    match (how, returns, call.parts(code, function).0) {
                        (How::Block, ..) => self.passes.entry(call.site).or_default().push(id),
                        (_, Returns::Errno | Returns::MinusOne | Returns::ZeroOnSuccess, [result]) => {
                            self.passed_if_zero(code, id, function, *result);
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// Passed where a branch says that the register is zero.
    fn passed_if_zero(&mut self, code: &Code<'_>, id: GateId, function: FunctionId, reg: Reg) {
        let success = Guard { function, reg, zero: true };
        for from in code.reachable_blocks(function) {
            for to in &code.flows[function].successors[from.index()] {
                if edge_says(code, function, from, *to).contains(&success) {
                    self.on_edge.entry((function, from, *to)).or_default().push(id);
                }
            }
        }
    }

    /// As many single threads as the count says, which all wait for this very barrier.
    fn barrier(&mut self, code: &Code<'_>, index: usize, barrier: &Barrier) -> Result<(), Refusal> {
        let no = |text: &str| code.refuse(SiteId::NONE, RULE, text);
        let Barrier { object, count, members } = barrier;
        let mut distinct = members.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let single = distinct.iter().all(|thread| !code.facts.threads.threads[*thread].many);
        if !single || distinct.len() != members.len() || u32::try_from(members.len()) != Ok(*count) {
            return no("a barrier has other than so many single threads as it counts");
        }
        let made = match made_once(code, *object, |kind| kind == SyncKind::Barrier) {
            Some((with, made)) if with == i64::from(*count) => made,
            _ => return no("a barrier is not made once with its count"),
        };
        let mut waits = Vec::new();
        let places = code.places(*object);
        for (function, call, effect) in effects(code) {
            let Effect::BarrierWait { barrier } = effect else { continue };
            let (_, args) = call.parts(code, function);
            match code.named(function, args, *barrier) {
                Some(named) if named.term == *object && is_alone(call) => {
                    if !code.facts.threads.runs[function].iter().all(|thread| members.contains(thread)) {
                        return code.refuse(call.site, RULE, "a thread waits for a barrier and is no member");
                    }
                    self.waits.entry(call.site).or_default().push(index);
                    waits.push(call.at(function));
                }
                Some(named)
                    if named.term.distance(*object).is_some_and(|distance| distance != 0)
                        || !code.may_be_same(&named.places, &places) => {}
                _ => return code.refuse(call.site, RULE, "a wait that may be for a barrier of the facts"),
            }
        }
        if unmade::reached(code, made, &waits) {
            return no("a barrier may be waited for before it is made");
        }
        Ok(())
    }
}

pub(super) fn effects<'c>(code: &'c Code<'_>) -> impl Iterator<Item = (FunctionId, &'c Call, &'c Effect)> {
    code.calls.from.iter().flat_map(|(function, calls)| {
        calls
            .iter()
            .flat_map(move |call| call.effects.iter().map(move |(_, effect)| (function, call, effect)))
    })
}

/// Whether the call does nothing but its one library effect.
pub(super) fn is_alone(call: &Call) -> bool {
    call.effects.len() == 1 && call.runs.is_empty() && call.unknown.is_empty()
}

/// Whether the call starts one function, for sure that one.
pub(super) fn starts_one(call: &Call) -> bool {
    call.effects.len() == 1 && call.runs.len() == 1 && call.unknown.is_empty()
}

/// The calls that start a thread.
pub(super) fn creations<'c>(
    code: &'c Code<'_>,
    thread: ThreadId,
) -> impl Iterator<Item = (FunctionId, &'c Call)> {
    let facts = &code.facts.threads.threads[thread];
    code.calls.runs_of(facts.entry).filter_map(move |(caller, call, run)| {
        let this = match facts.start {
            Start::Created(site) => run.way == Way::Thread && call.site == site,
            Start::Once(_) => run.way == Way::Once,
            Start::Main | Start::Client | Start::Handler(_) => false,
        };
        this.then_some((caller, call))
    })
}

/// The count that a synchronisation object, the same for the whole run, is made with, at one place that runs once; and that place.
fn made_once(code: &Code<'_>, object: Term, is_kind: impl Fn(SyncKind) -> bool) -> Option<(i64, At)> {
    let places = code.places(object);
    if !code.is_global(object) {
        return None;
    }
    let mut found = None;
    for (function, call, effect) in effects(code) {
        let Effect::SyncInit { kind, object: made, attribute, .. } = effect else { continue };
        if !is_kind(*kind) {
            continue;
        }
        let (_, args) = call.parts(code, function);
        let named = code.named(function, args, *made)?;
        if named.term != object {
            let apart = named.term.distance(object).is_some_and(|distance| distance != 0)
                || !code.may_be_same(&named.places, &places);
            if apart {
                continue;
            }
            return None;
        }
        let once = code.facts.threads.times[function][call.block.index()] == Times::Once;
        if found.is_some() || !once || !is_alone(call) {
            return None;
        }
        let count = match attribute {
            Some(attribute) => {
                let arg = args.get(usize::from(attribute.0))?;
                code.term(function, arg.value, arg.ty)?.as_constant()?
            }
            None => 0,
        };
        found = Some((count, call.at(function)));
    }
    found
}
