//! Synchronisation objects that are initialised or destroyed while another thread may use them: they neither exclude nor order.
//!
//! An initialisation must come before every use by another thread, by a gate, or after its end, or touch an object that nobody
//! else knows yet; a destruction must come after the end of every other thread that uses the object. Inside one thread locks take care
//! of themselves; a semaphore or barrier must not be waited for after its destruction, and a barrier not before its initialisation.
//! A plain write to an object (`memset`, an assignment, a swap) initialises it too, and none may have used it before.
//! Clients of an open program are taken to keep to this (A-ENTRY).
//!
//! The check uses the same facts that rest on it. That is no circle, by time: at the first wrong acquisition or wrong passing of an
//! execution all facts about earlier points still hold, and the use and the initialisation that are to blame are earlier.
//!
//! Errs towards objects that do not count.

use super::places::Places;
use super::{Input, Order};
use crate::accesses::Access;
use crate::cfg::Cfg;
use crate::fast_hash::FastMap;
use crate::terms::Definitions;
use raddle_base::Id;
use raddle_facts::{GateKind, LocalOrder, ObjectId, Offsets, PointsTo, ThreadId};
use raddle_ir::{BlockId, FunctionId, Inst, Operand, Program, SiteId, Terminator};
use raddle_libmodel::{Arg, CondOp, Effect, SemOp, SyncKind};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    Lock,
    Semaphore,
    Barrier,
}

pub(super) type At = (FunctionId, BlockId, usize);

/// A call that initialises or destroys an object, or a plain write to its bytes.
#[derive(Clone, Debug)]
pub struct Renewal {
    pub at: At,
    pub site: SiteId,
    pub object: Operand,
    pub places: Places,
    pub family: Family,
    does: Does,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// `open`: waiting before the initialisation passes at once.
    Initialises {
        open: bool,
    },
    Destroys,
    /// Writes bytes of the object as plain memory: no thread may have used it before.
    Overwrites,
}

/// Calls that use the same objects.
struct Uses {
    places: Places,
    family: Family,
    /// The largest object that they use.
    bytes: u64,
    at: Vec<At>,
}

/// All calls that make, unmake or use objects.
pub struct Operations {
    pub renewals: Vec<Renewal>,
    uses: Vec<Uses>,
    known: HashMap<(Family, Places), usize>,
}

impl Operations {
    pub fn find(input: Input<'_>) -> Operations {
        let mut all = Operations { renewals: Vec::new(), uses: Vec::new(), known: HashMap::new() };
        for (function, list) in input.calls.from.iter() {
            for call in list {
                let (_, args) = call.parts(input.program, function);
                let at = (function, call.block, call.index);
                let operand = |arg: Arg| args.get(usize::from(arg.0)).map_or(Operand::Undef, |arg| arg.value);
                for effect in &call.effects {
                    match *effect {
                        Effect::SyncInit { kind, object, .. } | Effect::SyncDestroy { kind, object, .. } => {
                            let Some(family) = family(kind) else { continue };
                            let object = operand(object);
                            all.renewals.push(Renewal {
                                at,
                                site: call.site,
                                object,
                                places: Places::of_operand(input, function, object),
                                family,
                                does: match effect {
                                    Effect::SyncDestroy { .. } => Does::Destroys,
                                    _ => Does::Initialises {
                                        open: matches!(kind, SyncKind::Barrier | SyncKind::KernelSemaphore),
                                    },
                                },
                            });
                        }
                        Effect::Lock { lock: used, family, .. } => {
                            all.uses_of(input, at, operand(used), Family::Lock, family.kind());
                        }
                        Effect::Cond(CondOp::Wait { mutex: used, .. }, _) => {
                            all.uses_of(input, at, operand(used), Family::Lock, SyncKind::Mutex);
                        }
                        Effect::Sem(SemOp::Wait { sem, .. }, _) => {
                            all.uses_of(input, at, operand(sem), Family::Semaphore, SyncKind::Semaphore);
                        }
                        Effect::BarrierWait { barrier } => {
                            all.uses_of(input, at, operand(barrier), Family::Barrier, SyncKind::Barrier);
                        }
                        _ => {}
                    }
                }
            }
        }
        all.find_overwrites(input);
        all
    }

    fn uses_of(&mut self, input: Input<'_>, at: At, operand: Operand, family: Family, kind: SyncKind) {
        let places = Places::of_operand(input, at.0, operand);
        let next = self.uses.len();
        let group = *self.known.entry((family, places.clone())).or_insert(next);
        if group == next {
            self.uses.push(Uses { places, family, bytes: 0, at: Vec::new() });
        }
        let uses = &mut self.uses[group];
        uses.bytes = uses.bytes.max(kind.bytes(input.program.data_model));
        uses.at.push(at);
    }

    /// Writes that may touch the bytes of an object in use.
    fn find_overwrites(&mut self, input: Input<'_>) {
        let mut of_object: HashMap<ObjectId, Vec<(usize, Offsets)>> = HashMap::new();
        for (index, uses) in self.uses.iter().enumerate() {
            for (object, at) in uses.places.list(input.points_to).into_iter().flatten() {
                of_object.entry(*object).or_default().push((index, *at));
            }
        }
        for write in input.accesses.iter().filter(|access| access.overwrites()) {
            let mut touched = BTreeSet::new();
            for (object, at) in write.targets(input.points_to) {
                let Some(near) = of_object.get(object) else { continue };
                let start = start_of(input.program, input.definitions, input.points_to, write, *object);
                let hit = near.iter().filter(|(index, place)| {
                    may_overwrite(*at, write.bytes, start, *place, self.uses[*index].bytes)
                });
                touched.extend(hit.map(|(index, _)| *index));
            }
            for index in touched {
                self.renewals.push(Renewal {
                    at: (write.function, write.block, write.index),
                    site: write.site,
                    object: write.address.unwrap_or(Operand::Undef),
                    places: self.uses[index].places.clone(),
                    family: self.uses[index].family,
                    does: Does::Overwrites,
                });
            }
        }
    }

    /// The renewals after or during which another thread may use the object. `is_private`: nobody else knows it yet.
    pub fn out_of_order(
        &self,
        input: Input<'_>,
        order: &Order,
        wanted: impl Fn(Family) -> bool,
        mut is_private: impl FnMut(&Renewal) -> bool,
    ) -> Vec<&Renewal> {
        let mut looked = Looked { input, order, states: FastMap::default(), shapes: HashMap::new() };
        // Per place that is renewed: what uses it.
        let mut users: HashMap<(Family, &Places), Vec<&Uses>> = HashMap::new();
        let wanted = self.renewals.iter().filter(|renewal| wanted(renewal.family));
        wanted
            .filter(|renewal| {
                let list = renewal.places.list(input.points_to);
                let shared =
                    list.is_none_or(|list| list.iter().any(|(object, _)| input.threads.shared[*object]));
                if !shared {
                    return false;
                }
                let users = users.entry((renewal.family, &renewal.places)).or_insert_with(|| {
                    let same = self.uses.iter().filter(|uses| uses.family == renewal.family);
                    same.filter(|uses| renewal.places.overlap(input, &uses.places)).collect()
                });
                // What is counted in a semaphore or barrier is known from its initialisation on.
                let counted = renewal.does == Does::Overwrites && renewal.family != Family::Lock;
                let made = self.renewals.iter().filter(|other| {
                    counted
                        && matches!(other.does, Does::Initialises { .. })
                        && other.family == renewal.family
                        && renewal.places.overlap(input, &other.places)
                });
                let mut places =
                    users.iter().flat_map(|uses| uses.at.iter().copied()).chain(made.map(|other| other.at));
                !places.all(|at| looked.in_order(renewal, at)) && !is_private(renewal)
            })
            .collect()
    }
}

/// Where an index of a write starts: offsets of the array in its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    at: Offsets,
    /// Bytes from one element to the next; the longest where arrays are nested.
    element: u64,
    /// The elements are bytes.
    of_bytes: bool,
}

/// Where the index starts by which a write finds its place in an object; `None`: there is no index, or it starts at no one place.
pub fn start_of(
    program: &Program,
    definitions: &Definitions,
    points_to: &PointsTo,
    write: &Access,
    object: ObjectId,
) -> Option<Start> {
    let Some(Operand::Reg(address)) = write.address else { return None };
    let block = &program.functions[write.function].blocks[definitions.block(write.function, address)];
    let gep = block.insts.iter().find_map(|inst| match inst {
        Inst::Gep(gep) if gep.dst == address && !gep.indices.is_empty() => Some(gep),
        _ => None,
    })?;
    let scales = || gep.indices.iter().map(|(_, _, scale)| scale.unsigned_abs());
    let (element, of_bytes) = (scales().max().unwrap_or(0), scales().any(|scale| scale == 1));
    let at = match gep.base {
        Operand::Reg(base) => {
            let targets = points_to.targets_of(points_to.regs[write.function][base.index()]);
            let mut here = targets.iter().filter(|(target, _)| *target == object);
            let (_, at) = here.next().filter(|_| here.next().is_none())?;
            let moved = |bound: i64| match bound {
                i64::MIN | i64::MAX => Some(bound),
                bound => bound.checked_add(gep.offset),
            };
            let anchor = at.anchor.checked_add(gep.offset)?;
            Offsets { anchor, low: moved(at.low)?, high: moved(at.high)?, ..*at }
        }
        Operand::Global(_, offset) => Offsets::exact(offset.checked_add(gep.offset)?),
        _ => return None,
    };
    Some(Start { at, element, of_bytes })
}

/// Whether a write of so many bytes may touch an object. An index stays in the array that it starts in (A-BOUNDS), and no object lies
/// inside an array of smaller elements, but for bytes, by which an object may be walked over from its start. An index that is known
/// needs no such reasoning.
pub fn may_overwrite(
    write: Offsets,
    bytes: u64,
    start: Option<Start>,
    place: Offsets,
    object_bytes: u64,
) -> bool {
    if !write.may_overlap(bytes, place, object_bytes) {
        return false;
    }
    match start {
        Some(start)
            if !write.is_exact()
                && write.stride.max(start.element) < object_bytes
                && (start.at.is_exact() || start.at.stride >= object_bytes) =>
        {
            start.at.may_overlap(if start.of_bytes { u64::MAX } else { bytes }, place, object_bytes)
        }
        _ => true,
    }
}

fn family(kind: SyncKind) -> Option<Family> {
    match kind {
        SyncKind::Mutex | SyncKind::Rwlock | SyncKind::Spin | SyncKind::C11Mutex | SyncKind::KernelLock => {
            Some(Family::Lock)
        }
        SyncKind::Semaphore | SyncKind::KernelSemaphore => Some(Family::Semaphore),
        SyncKind::Barrier => Some(Family::Barrier),
        SyncKind::Cond | SyncKind::C11Cond => None,
    }
}

/// What was looked up already.
struct Looked<'a> {
    input: Input<'a>,
    order: &'a Order,
    states: FastMap<At, Arc<LocalOrder>>,
    shapes: HashMap<FunctionId, Cfg>,
}

impl Looked<'_> {
    fn state(&mut self, at: At) -> Arc<LocalOrder> {
        let (input, order) = (self.input, self.order);
        let find = || Arc::new(order.before(input, at.0, at.1, at.2));
        self.states.entry(at).or_insert_with(find).clone()
    }

    fn in_order(&mut self, renewal: &Renewal, other: At) -> bool {
        let threads = self.input.threads;
        let (early, late) = (self.state(renewal.at), self.state(other));
        for t in &threads.runs[renewal.at.0] {
            for a in &threads.runs[other.0] {
                let ordered = if threads.threads[*t].start == raddle_facts::Start::Client {
                    true
                } else if t == a && !threads.threads[*t].many {
                    self.in_turn(renewal, other)
                } else {
                    self.has_ended(&early, *t, *a)
                        || renewal.does != Does::Destroys && self.comes_before(&early, *t, &late, *a)
                };
                if !ordered {
                    return false;
                }
            }
        }
        true
    }

    /// Whether the one thread that does both does them in an order that works.
    fn in_turn(&mut self, renewal: &Renewal, other: At) -> bool {
        match renewal.does {
            Does::Overwrites => !self.leads(other, renewal.at),
            _ if renewal.family == Family::Lock => true,
            Does::Destroys => !self.leads(renewal.at, other),
            Does::Initialises { open } => !open || !self.leads(other, renewal.at),
        }
    }

    fn passed<'s>(
        &'s self,
        state: &'s LocalOrder,
        thread: ThreadId,
    ) -> impl Iterator<Item = raddle_facts::GateId> + 's {
        let start = self.order.starts[thread].iter().flatten();
        state.passed.iter().chain(start).copied()
    }

    fn has_ended(&self, state: &LocalOrder, thread: ThreadId, other: ThreadId) -> bool {
        self.passed(state, thread).any(|gate| self.order.gates.list[gate].kind == GateKind::Exited(other))
    }

    fn comes_before(&self, early: &LocalOrder, a: ThreadId, late: &LocalOrder, b: ThreadId) -> bool {
        self.passed(late, b).any(|id| {
            let gate = &self.order.gates.list[id];
            match gate.kind {
                GateKind::Exited(thread) => thread == a,
                _ => {
                    gate.openers == [a] && !self.input.threads.threads[a].many && !early.opened.contains(&id)
                }
            }
        })
    }

    /// Whether a thread can come from one instruction to another. Calls may return to any of their places.
    fn leads(&mut self, from: At, to: At) -> bool {
        let input = self.input;
        let mut seen: BTreeSet<At> = BTreeSet::new();
        let mut work: Vec<At> = vec![(from.0, from.1, from.2 + 1)];
        while let Some(at @ (function, block, start)) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            if to.0 == function && to.1 == block && to.2 >= start {
                return true;
            }
            let calls = input.calls.from[function].iter();
            for call in calls.filter(|call| call.block == block && call.index >= start) {
                let nested = call.runs.iter().filter(|(_, way)| way.is_nested());
                work.extend(nested.map(|(target, _)| (*target, BlockId(0), 0)));
            }
            let body = &input.program.functions[function];
            let cfg = self
                .shapes
                .entry(function)
                .or_insert_with(|| Cfg::new(body, |_, to| input.values.is_reachable(function, to)));
            work.extend(cfg.successors[block.index()].iter().map(|to| (function, *to, 0)));
            if matches!(body.blocks[block].terminator, Terminator::Ret { .. }) {
                for (caller, position) in &input.calls.to[function] {
                    let call = &input.calls.from[*caller][*position];
                    work.push((*caller, call.block, call.index + 1));
                }
                if input.constructors.contains(&function) {
                    let mains =
                        input.threads.threads.values().filter(|one| one.start == raddle_facts::Start::Main);
                    let next = mains.map(|main| main.entry).chain(input.constructors.iter().copied());
                    work.extend(next.map(|function| (function, BlockId(0), 0)));
                }
            }
        }
        false
    }
}
