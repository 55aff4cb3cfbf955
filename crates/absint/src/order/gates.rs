//! The gates of a program, found by shape, and which operation opens or passes which.

use super::flags::{self, LockQuery};
use super::nonzero::shown;
use super::places::Places;
use super::renewed::At;
use super::unmade::Unmade;
use super::{Input, detached, join_all};
use crate::calls::{Call, Calls, Way};
use crate::terms::term_of;
use raddle_base::{Id, IdVec, SiteId};
use raddle_facts::{Barrier, Gate, GateId, GateKind, Root, Start, Term, ThreadId, Times};
use raddle_ir::{BlockId, CallArg, FunctionId, Operand, Program, Reg, Terminator};
use raddle_libmodel::{Arg, Effect, How, Returns, SemOp, SyncKind, ThreadOp};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What a call does to order, besides running functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    /// Opens, and is itself after the opening.
    Create(GateId),
    Open(GateId),
    Pass(GateId),
    /// Takes part in a round of that barrier.
    Wait(usize),
    /// Joins the thread whose handle this is.
    Join(Operand),
}

#[derive(PartialEq)]
pub(super) struct Gates {
    pub list: IdVec<GateId, Gate>,
    pub operations: HashMap<SiteId, Vec<Operation>>,
    /// Passed by going along an edge.
    pub on_edge: HashMap<(FunctionId, BlockId, BlockId), Vec<GateId>>,
    /// Edges out of loops that join all instances of a thread, with the function that creates them.
    pub joined_on_edge: HashMap<(FunctionId, BlockId, BlockId), Vec<(ThreadId, FunctionId)>>,
    pub barriers: Vec<Barrier>,
    /// Per function, with all that it calls: gates that it may open, barrier waits.
    pub opens: IdVec<FunctionId, Arc<BTreeSet<GateId>>>,
    pub waits: IdVec<FunctionId, bool>,
    /// Whether anything in a function, or in what it calls, matters to order.
    pub matters: IdVec<FunctionId, bool>,
    by_kind: HashMap<GateKind, GateId>,
    openings: HashMap<GateId, Vec<(FunctionId, BlockId, usize)>>,
    /// Joining one of these orders nothing.
    pub detached: BTreeSet<ThreadId>,
}

impl Gates {
    /// `spoiled`: semaphores and barriers that order nothing.
    pub fn find(input: Input<'_>, locks: Option<&LockQuery<'_>>, spoiled: &[Places]) -> Gates {
        let mut gates = Gates {
            list: IdVec::new(),
            operations: HashMap::new(),
            on_edge: HashMap::new(),
            joined_on_edge: HashMap::new(),
            barriers: Vec::new(),
            opens: input.program.functions.ids().map(|_| Arc::default()).collect(),
            waits: input.program.functions.ids().map(|_| false).collect(),
            matters: input.program.functions.ids().map(|_| false).collect(),
            by_kind: HashMap::new(),
            openings: HashMap::new(),
            detached: detached::find(input),
        };
        gates.threads(input);
        gates.semaphores(input, spoiled);
        gates.barriers(input, spoiled);
        flags::find(input, locks, &mut gates);
        join_all::find(input, &mut gates);
        gates.summarise(input);
        gates
    }

    pub fn started(&self, thread: ThreadId) -> Option<GateId> {
        self.by_kind.get(&GateKind::Started(thread)).copied()
    }

    pub fn exited(&self, thread: ThreadId) -> Option<GateId> {
        self.by_kind.get(&GateKind::Exited(thread)).copied()
    }

    /// Whether anything here rests on semaphores or barriers.
    pub fn waits_for_objects(&self) -> bool {
        !self.barriers.is_empty()
            || self.list.values().any(|gate| matches!(gate.kind, GateKind::Semaphore(_)))
    }

    pub fn openings(&self, gate: GateId) -> &[(FunctionId, BlockId, usize)] {
        self.openings.get(&gate).map_or(&[], Vec::as_slice)
    }

    pub fn is_global(&self, input: Input<'_>, cell: Term) -> bool {
        input.definitions.is_global(input.threads, cell)
    }

    /// Makes a gate; its openers follow from its openings.
    pub(super) fn add(&mut self, kind: GateKind, mut openers: Vec<ThreadId>) -> GateId {
        openers.sort();
        openers.dedup();
        let id = self.list.push(Gate { kind, openers, brings: Vec::new() });
        self.by_kind.insert(kind, id);
        id
    }

    pub(super) fn opened_at(&mut self, gate: GateId, at: (FunctionId, BlockId, usize)) {
        Arc::make_mut(&mut self.opens[at.0]).insert(gate);
        self.openings.entry(gate).or_default().push(at);
    }

    pub(super) fn opened_by_access(&mut self, site: SiteId, gate: GateId) {
        self.operation(site, Operation::Open(gate));
    }

    pub(super) fn passed_at(&mut self, site: SiteId, gate: GateId) {
        self.operation(site, Operation::Pass(gate));
    }

    fn operation(&mut self, site: SiteId, operation: Operation) {
        self.operations.entry(site).or_default().push(operation);
    }

    fn threads(&mut self, input: Input<'_>) {
        for (id, thread) in input.threads.threads.iter() {
            match thread.start {
                Start::Main | Start::Client | Start::Handler(_) => continue,
                Start::Created(_) | Start::Once(_) => {}
            }
            let started = self.add(GateKind::Started(id), thread.creators.clone());
            let exited = self.add(GateKind::Exited(id), vec![id]);
            for (function, position) in crate::threads::starting_calls(input.calls, thread) {
                let call = &input.calls.from[function][position];
                self.opened_at(started, (function, call.block, call.index));
                // One creation of one of several targets does not mean that this one was created.
                // Of many creations, one is not all: the loop's end passes the gate.
                let sure = !thread.many
                    && call.runs.iter().filter(|(_, way)| matches!(way, Way::Thread | Way::Once)).count()
                        == 1
                    && call.effects.len() == 1;
                self.operation(
                    call.site,
                    if sure { Operation::Create(started) } else { Operation::Open(started) },
                );
                if let Start::Once(_) = thread.start
                    && sure
                {
                    self.operation(call.site, Operation::Pass(exited));
                }
            }
        }
        each_effect(input.program, input.calls, |function, call, args, effect| {
            if let Effect::Thread(ThreadOp::Join { thread, how: How::Block, .. }, _) = effect
                && call.effects.len() == 1
                && call.runs.is_empty()
                && call.unknown.is_empty()
                && let Some(arg) = args.get(usize::from(thread.0))
            {
                self.operation(call.site, Operation::Join(arg.value));
            }
            let _ = function;
        });
    }

    /// Semaphores that are made once, with 0, as one object, before anybody waits.
    fn semaphores(&mut self, input: Input<'_>, spoiled: &[Places]) {
        let is_semaphore = |kind: SyncKind| matches!(kind, SyncKind::Semaphore | SyncKind::KernelSemaphore);
        for (object, count, made) in single_objects(input, is_semaphore) {
            if count != 0 || is_spoiled(input, object, spoiled) {
                continue;
            }
            let mut posts = Vec::new();
            let mut waits = Vec::new();
            let mut tries = Vec::new();
            let mut uses = Vec::new();
            each_effect(input.program, input.calls, |function, call, args, effect| match effect {
                Effect::Sem(SemOp::Post { sem }, _) if self.may_be(input, function, args, *sem, object) => {
                    posts.push((function, call.block, call.index, call.site));
                }
                Effect::Sem(SemOp::Wait { sem, how }, returns) => {
                    let only = call.effects.len() == 1 && call.runs.is_empty() && call.unknown.is_empty();
                    if !only || argument(input, function, args, *sem) != Some(object) {
                        return;
                    }
                    uses.push((function, call.block, call.index));
                    match (how, returns, call.parts(input.program, function).0) {
                        (How::Block, ..) => waits.push(call.site),
                        // The result is zero if it did wait.
                        (_, Returns::Errno | Returns::MinusOne | Returns::ZeroOnSuccess, [result]) => {
                            tries.push((function, *result));
                        }
                        _ => {}
                    }
                }
                _ => {}
            });
            if used_unmade(input, made, &uses) {
                continue;
            }
            let openers = posts.iter().flat_map(|post| input.threads.runs[post.0].iter().copied()).collect();
            let gate = self.add(GateKind::Semaphore(object), openers);
            for (function, block, index, site) in posts {
                self.opened_at(gate, (function, block, index));
                self.operation(site, Operation::Open(gate));
            }
            for site in waits {
                self.operation(site, Operation::Pass(gate));
            }
            for (function, result) in tries {
                for edge in edges_with_zero(input, function, result) {
                    self.on_edge.entry(edge).or_default().push(gate);
                }
            }
        }
    }

    /// Barriers for which exactly as many single threads wait as their count says, all after it is made.
    fn barriers(&mut self, input: Input<'_>, spoiled: &[Places]) {
        for (object, count, made) in single_objects(input, |kind| kind == SyncKind::Barrier) {
            if is_spoiled(input, object, spoiled) {
                continue;
            }
            let mut sites = Vec::new();
            let mut uses = Vec::new();
            let mut members: Vec<ThreadId> = Vec::new();
            let mut clear = true;
            each_effect(input.program, input.calls, |function, call, args, effect| {
                if let Effect::BarrierWait { barrier } = effect
                    && self.may_be(input, function, args, *barrier, object)
                {
                    clear &= argument(input, function, args, *barrier) == Some(object)
                        && call.effects.len() == 1
                        && call.runs.is_empty();
                    sites.push((function, call.site));
                    uses.push((function, call.block, call.index));
                    members.extend(&input.threads.runs[function]);
                }
            });
            members.sort();
            members.dedup();
            let single = members.iter().all(|thread| !input.threads.threads[*thread].many);
            let counted = i64::try_from(members.len()) == Ok(count);
            if clear && single && counted && !used_unmade(input, made, &uses) {
                let index = self.barriers.len();
                self.barriers.push(Barrier { object, count: count as u32, members });
                for (function, site) in sites {
                    self.waits[function] = true;
                    self.operation(site, Operation::Wait(index));
                }
            }
        }
    }

    /// Adds to every function what its callees do, and finds the functions that matter.
    fn summarise(&mut self, input: Input<'_>) {
        let mut own: IdVec<FunctionId, bool> = input.program.functions.ids().map(|_| false).collect();
        for site in self.operations.keys() {
            own[input.program.sites[*site].function] = true;
        }
        for (function, ..) in self.on_edge.keys().chain(self.joined_on_edge.keys()) {
            own[*function] = true;
        }
        for component in &input.calls.bottom_up {
            // Members of a component do what all of them do.
            let all = input.calls.of_component(component);
            let opens = union(all.iter().map(|callee| &self.opens[*callee]));
            let waits = all.iter().any(|callee| self.waits[*callee]);
            let matters = !opens.is_empty()
                || component.iter().any(|function| !input.holders.overwrites[*function].is_empty())
                || all.iter().any(|callee| self.matters[*callee] || own[*callee]);
            for function in component {
                self.opens[*function] = opens.clone();
                self.waits[*function] = waits;
                self.matters[*function] = matters;
            }
        }
    }

    fn may_be(
        &self,
        input: Input<'_>,
        function: FunctionId,
        args: &[CallArg],
        at: Arg,
        object: Term,
    ) -> bool {
        let Some(arg) = args.get(usize::from(at.0)) else { return true };
        let term = term_of(input.values, function, arg.value);
        if let Some(distance) = term.distance(object) {
            return distance == 0;
        }
        let targets = input.holders.objects.targets(input.points_to, function, arg.value);
        let places = super::handles::places(input, object);
        targets
            .of(input.points_to)
            .iter()
            .any(|(a, at)| places.iter().any(|(b, offsets)| a == b && at.may_overlap(1, *offsets, 1)))
    }
}

/// All elements. Callees that do the same share their set, and so do their callers.
pub(super) fn union<'a, T: Ord + Copy + 'a>(
    sets: impl Iterator<Item = &'a Arc<BTreeSet<T>>>,
) -> Arc<BTreeSet<T>> {
    let mut sets: Vec<&Arc<BTreeSet<T>>> = sets.filter(|set| !set.is_empty()).collect();
    sets.sort_unstable_by_key(|set| (Reverse(set.len()), Arc::as_ptr(set)));
    sets.dedup_by(|x, y| Arc::ptr_eq(x, y));
    let Some((largest, others)) = sets.split_first() else { return Arc::default() };
    let mut result = Arc::clone(largest);
    for other in others {
        if !other.is_subset(&result) {
            Arc::make_mut(&mut result).extend(other.iter());
        }
    }
    result
}

/// Whether an object may be waited for before it is made.
fn used_unmade(input: Input<'_>, made: At, uses: &[At]) -> bool {
    let unmade = Unmade::before(input, made);
    uses.iter().any(|at| unmade.reaches(*at))
}

fn is_spoiled(input: Input<'_>, object: Term, spoiled: &[Places]) -> bool {
    let places = Places::of_term(input, object);
    spoiled.iter().any(|other| places.overlap(input, other))
}

pub(super) fn each_effect(
    program: &Program,
    calls: &Calls,
    mut visit: impl FnMut(FunctionId, &Call, &[CallArg], &Effect),
) {
    for (function, list) in calls.from.iter() {
        for call in list {
            let (_, args) = call.parts(program, function);
            for effect in &call.effects {
                visit(function, call, args, effect);
            }
        }
    }
}

fn argument(input: Input<'_>, function: FunctionId, args: &[CallArg], at: Arg) -> Option<Term> {
    args.get(usize::from(at.0)).map(|arg| term_of(input.values, function, arg.value))
}

/// Synchronisation objects of a kind that one site makes, once, with a constant count, as one global term that lies in memory; with
/// that site.
fn single_objects(input: Input<'_>, wanted: impl Fn(SyncKind) -> bool) -> Vec<(Term, i64, At)> {
    let mut made: Vec<(Term, i64, bool, At)> = Vec::new();
    each_effect(input.program, input.calls, |function, call, args, effect| {
        let Effect::SyncInit { kind, object, attribute, .. } = effect else { return };
        if !wanted(*kind) {
            return;
        }
        let Some(term) = argument(input, function, args, *object) else { return };
        let count = match attribute {
            Some(attribute) => argument(input, function, args, *attribute).and_then(Term::as_constant),
            None => Some(0),
        };
        let times = input.threads.times[function].get(call.block.index()).copied().unwrap_or(Times::Many);
        let clear = times == Times::Once
            && input.definitions.is_global(input.threads, term)
            && term.index.is_none()
            && matches!(term.root, Root::Global(_) | Root::Reg(..));
        let at = (function, call.block, call.index);
        made.push((term, count.unwrap_or(-1), clear && count.is_some(), at));
    });
    // Another initialisation that might be of the same object spoils it.
    let places = |term: Term| super::handles::places(input, term);
    made.iter()
        .enumerate()
        .filter(|(index, (term, _, clear, _))| {
            *clear
                && made.iter().enumerate().all(|(other, (second, ..))| {
                    other == *index
                        || match term.distance(*second) {
                            Some(distance) => distance != 0,
                            None => !places(*term).iter().any(|(a, at)| {
                                places(*second)
                                    .iter()
                                    .any(|(b, offsets)| a == b && at.may_overlap(1, *offsets, 1))
                            }),
                        }
                })
        })
        .map(|(_, (term, count, _, at))| (*term, *count, *at))
        .collect()
}

/// Branches that are taken this way only if the register was zero.
fn edges_with_zero(
    input: Input<'_>,
    function: FunctionId,
    reg: Reg,
) -> impl Iterator<Item = (FunctionId, BlockId, BlockId)> {
    let body = &input.program.functions[function];
    let edges = body.blocks.iter().flat_map(|(block, code)| match &code.terminator {
        Terminator::CondBr { cond, then, other } if then != other => {
            vec![(block, *cond, *then, true), (block, *cond, *other, false)]
        }
        _ => Vec::new(),
    });
    edges
        .filter(move |(block, cond, _, taken)| {
            input.values.is_reachable(function, *block)
                && shown(function, body, input.definitions, *cond, *taken).zero.contains(&reg)
        })
        .map(move |(block, _, to, _)| (function, block, to))
}
