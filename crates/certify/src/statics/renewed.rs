//! Locks, semaphores and barriers that are initialised or destroyed while another thread may use them count for nothing.
//!
//! In order are: an initialisation that a gate puts before every use by another thread, one that comes after the end of that thread, one of
//! an object that nobody else knows yet; a destruction after the end of every other thread that uses the object. A thread alone with a lock
//! may do as it likes: what it held is lost. It must not wait for a semaphore or barrier after destroying it, nor for a
//! barrier before initialising it. A plain write to the bytes of an object is an initialisation, too: by a thread alone with it, before it
//! uses it. Clients of an open program are taken to keep to this (A-ENTRY).
//!
//! Facts about order rest on this, and this on them; by time there is no circle: the first acquisition that goes wrong comes after the
//! initialisation that is to blame and after the use that it disturbs, and up to there all facts hold.

use super::Refusal;
use super::accesses::{Access, Kind, TO_END};
use super::code::{At, Code};
use super::flow::Definition;
use super::locks::HeldAt;
use super::order::{OrderAt, Point};
use super::pairs::comes_before;
use super::pairs::published::{Published, travels_in_order};
use super::patterns::shifted;
use raddle_base::{Id, SiteId};
use raddle_facts::{ATOMIC_SECTION, GateKind, ObjectId, Offsets, Released, Start, Term, ThreadId};
use raddle_ir::{BlockId, Inst, Operand, Terminator};
use raddle_libmodel::{Arg, CondOp, Effect, SemOp, SyncKind};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Lock,
    Semaphore,
    Barrier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// `open`: without it a wait does not wait.
    Initialises {
        open: bool,
    },
    Destroys,
    /// By a write to its bytes as plain memory.
    Overwrites,
    Uses,
}

pub(crate) struct Operation {
    pub at: At,
    address: Operand,
    places: Released,
    family: Family,
    doing: Doing,
}

/// All calls that initialise, destroy, acquire or wait for an object, and all writes that may touch one as plain memory.
pub(crate) fn operations(code: &Code<'_>, accesses: &[Access<'_>]) -> Vec<Operation> {
    let mut found = Vec::new();
    let mut used: BTreeMap<ObjectId, BTreeSet<usize>> = BTreeMap::new();
    let mut sizes: Vec<u64> = Vec::new();
    for (function, calls) in code.calls.from.iter() {
        for call in calls {
            let (_, args) = call.parts(code, function);
            for (_, effect) in &call.effects {
                let Some((family, doing, object, kind)) = meaning(effect) else { continue };
                let address = args.get(usize::from(object.0)).map_or(Operand::Undef, |arg| arg.value);
                let named = code.named(function, args, object);
                let places = named.map_or(Released::Anything, |named| named.places);
                if let (Doing::Uses, Released::These(list)) = (doing, &places) {
                    for (object, _) in list {
                        used.entry(*object).or_default().insert(found.len());
                    }
                }
                found.push(Operation { at: call.at(function), address, places, family, doing });
                sizes.push(kind.bytes(code.program.data_model));
            }
        }
    }
    let mut overwriting = Vec::new();
    for access in accesses.iter().filter(|one| one.overwrites()) {
        let mut hit: Vec<(&Released, Family)> = Vec::new();
        for (object, at) in access.targets.iter() {
            for index in used.get(object).into_iter().flatten() {
                let Released::These(list) = &found[*index].places else { continue };
                let touched = list.iter().any(|(other, place)| {
                    other == object && may_overwrite(code, access, (*object, *at), *place, sizes[*index])
                });
                let one = (&found[*index].places, found[*index].family);
                if touched && !hit.contains(&one) {
                    hit.push(one);
                }
            }
        }
        overwriting.extend(hit.into_iter().map(|(places, family)| Operation {
            at: access.at,
            address: access.address.unwrap_or(Operand::Undef),
            places: places.clone(),
            family,
            doing: Doing::Overwrites,
        }));
    }
    found.extend(overwriting);
    found
}

/// Whether a write that starts at some of these offsets of an object may touch a synchronisation object in it. By A-BOUNDS an index stays in
/// the array that it starts in; such an array holds whole objects, or none, unless its elements are bytes: these may be those of the object,
/// walked over from its start. A write to one known offset touches what lies there.
pub(crate) fn may_overwrite(
    code: &Code<'_>,
    access: &Access<'_>,
    (object, at): (ObjectId, Offsets),
    place: Offsets,
    size: u64,
) -> bool {
    if !at.may_overlap(access.bytes, place, size) {
        return false;
    }
    if at.stride == 0 || at.stride >= size {
        return true;
    }
    let Some(array) = array(code, access, object).filter(|array| array.element < size) else { return true };
    if array.start.stride != 0 && array.start.stride < size {
        return true;
    }
    array.start.may_overlap(if array.of_bytes { TO_END } else { access.bytes }, place, size)
}

struct Array {
    start: Offsets,
    /// The distance of its elements; where arrays are nested, that of the outermost.
    element: u64,
    of_bytes: bool,
}

/// The array that the address of a write is an element of.
fn array(code: &Code<'_>, access: &Access<'_>, object: ObjectId) -> Option<Array> {
    let function = access.at.function;
    let Some(Operand::Reg(address)) = access.address else { return None };
    let Definition::Inst(block, index) = code.flows[function].definition(address) else { return None };
    let Inst::Gep(gep) = &code.program.functions[function].blocks[block].insts[index] else { return None };
    let of_bytes = gep.indices.iter().any(|(_, _, scale)| matches!(scale, 1 | -1));
    let base = code.pointees(function, gep.base);
    let mut here = base.iter().filter(|(target, _)| *target == object);
    let (_, at) = here.next().filter(|_| here.next().is_none())?;
    let element = gep.indices.iter().map(|(_, _, scale)| scale.unsigned_abs()).max()?;
    Some(Array { start: shifted(*at, gep.offset), element, of_bytes })
}

fn meaning(effect: &Effect) -> Option<(Family, Doing, Arg, SyncKind)> {
    let family = |kind: SyncKind| match kind {
        SyncKind::Mutex | SyncKind::Rwlock | SyncKind::Spin | SyncKind::C11Mutex | SyncKind::KernelLock => {
            Some(Family::Lock)
        }
        SyncKind::Semaphore | SyncKind::KernelSemaphore => Some(Family::Semaphore),
        SyncKind::Barrier => Some(Family::Barrier),
        SyncKind::Cond | SyncKind::C11Cond => None,
    };
    Some(match *effect {
        Effect::SyncInit { kind, object, .. } => {
            let open = matches!(kind, SyncKind::Barrier | SyncKind::KernelSemaphore);
            (family(kind)?, Doing::Initialises { open }, object, kind)
        }
        Effect::SyncDestroy { kind, object, .. } => (family(kind)?, Doing::Destroys, object, kind),
        Effect::Lock { lock, family, .. } => (Family::Lock, Doing::Uses, lock, family.kind()),
        Effect::Cond(CondOp::Wait { mutex, .. }, _) => (Family::Lock, Doing::Uses, mutex, SyncKind::Mutex),
        Effect::Sem(SemOp::Wait { sem, .. }, _) => (Family::Semaphore, Doing::Uses, sem, SyncKind::Semaphore),
        Effect::BarrierWait { barrier } => (Family::Barrier, Doing::Uses, barrier, SyncKind::Barrier),
        _ => return None,
    })
}

/// The places of locks that do not count. Gates and rounds must rest on none of that kind.
pub(crate) fn check(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    operations: &[Operation],
    order: &OrderAt,
) -> Result<Vec<Released>, Refusal> {
    let mut published = None;
    let mut void: Vec<Released> = Vec::new();
    for renewal in operations.iter().filter(|one| one.doing != Doing::Uses && is_shared(code, &one.places)) {
        // A plain write of a semaphore or barrier changes what is counted in it since its initialisation.
        let counted = renewal.doing == Doing::Overwrites && renewal.family != Family::Lock;
        let mut uses = operations.iter().filter(|other| {
            (other.doing == Doing::Uses || counted && matches!(other.doing, Doing::Initialises { .. }))
                && other.family == renewal.family
                && code.may_be_same(&renewal.places, &other.places)
        });
        if uses.all(|other| in_order(code, order, renewal, other)) {
            continue;
        }
        let published = published.get_or_insert_with(|| Published::of(code));
        let new = published.not_yet(&as_access(code, renewal));
        if !new.is_some_and(|object| travels_in_order(code, accesses, object)) {
            void.push(renewal.places.clone());
        }
    }
    let waited_for = code.facts.order.gates.values().filter_map(|gate| match gate.kind {
        GateKind::Semaphore(object) => Some(object),
        _ => None,
    });
    for object in waited_for.chain(code.facts.order.barriers.iter().map(|barrier| barrier.object)) {
        if void.iter().any(|places| code.may_mean(object, places, None)) {
            let text = "a semaphore or barrier is initialised or destroyed while it may be in use";
            return code.refuse(SiteId::NONE, "renewed", text);
        }
    }
    Ok(void)
}

/// What is held, but for locks at these places.
pub(crate) fn without(code: &Code<'_>, held: HeldAt, void: &[Released]) -> HeldAt {
    if void.is_empty() {
        return held;
    }
    let counts =
        |lock: Term| lock == ATOMIC_SECTION || !void.iter().any(|places| code.may_mean(lock, places, None));
    let keep = |list: Rc<Vec<raddle_facts::HeldLock>>| {
        let mut list = list.to_vec();
        list.retain(|held| counts(held.lock));
        list.iter_mut().for_each(|held| held.history.retain(|lock| counts(*lock)));
        Rc::new(list)
    };
    held.into_iter().map(|(at, list)| (at, keep(list))).collect()
}

fn is_shared(code: &Code<'_>, places: &Released) -> bool {
    match places {
        Released::Anything => true,
        Released::These(list) => list.iter().any(|(object, _)| code.facts.threads.shared[*object]),
    }
}

fn as_access<'a>(code: &Code<'_>, renewal: &Operation) -> Access<'a> {
    Access {
        at: renewal.at,
        site: code.site(renewal.at),
        kind: Kind::Write,
        atomic: None,
        address: Some(renewal.address),
        targets: Cow::Owned(code.pointees(renewal.at.function, renewal.address)),
        bytes: 1,
        value: None,
        makes_block: false,
        operates: false,
    }
}

fn in_order(code: &Code<'_>, order: &OrderAt, renewal: &Operation, other: &Operation) -> bool {
    let threads = &code.facts.threads;
    let (Some(early), Some(late)) = (order.get(&renewal.at), order.get(&other.at)) else { return false };
    threads.runs[renewal.at.function].iter().all(|t| {
        threads.threads[*t].start == Start::Client
            || threads.runs[other.at.function].iter().all(|a| {
                if t == a && !threads.threads[*t].many {
                    return alone(code, renewal, other);
                }
                has_ended(code, early, *t, *a)
                    || renewal.doing != Doing::Destroys && comes_before(code, early, *t, late, *a)
            })
    })
}

fn has_ended(code: &Code<'_>, point: &Point, thread: ThreadId, other: ThreadId) -> bool {
    let order = &code.facts.order;
    let passed = point.passed.iter().chain(&order.at_start[thread]);
    passed.into_iter().any(|gate| order.gates[*gate].kind == GateKind::Exited(other))
}

/// Both are done by one thread.
fn alone(code: &Code<'_>, renewal: &Operation, other: &Operation) -> bool {
    match (renewal.family, renewal.doing) {
        (_, Doing::Overwrites) => !leads(code, other.at, renewal.at),
        (Family::Lock, _) => true,
        (_, Doing::Destroys) => !leads(code, renewal.at, other.at),
        (_, Doing::Initialises { open }) => !open || !leads(code, other.at, renewal.at),
        (_, Doing::Uses) => false,
    }
}

/// Whether a thread may come from one point to another; a call may return to any caller.
fn leads(code: &Code<'_>, from: At, to: At) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![At { index: from.index + 1, ..from }];
    while let Some(at) = work.pop() {
        if !seen.insert(at) {
            continue;
        }
        if (at.function, at.block) == (to.function, to.block) && at.index <= to.index {
            return true;
        }
        let start = |function| At { function, block: BlockId(0), index: 0 };
        let calls = code.calls.from[at.function].iter();
        for call in calls.filter(|call| call.block == at.block && call.index >= at.index) {
            work.extend(call.nested().map(|run| start(run.function)));
        }
        for block in &code.flows[at.function].successors[at.block.index()] {
            work.push(At { function: at.function, block: *block, index: 0 });
        }
        let body = &code.program.functions[at.function];
        if matches!(body.blocks[at.block].terminator, Terminator::Ret { .. }) {
            let back = code.calls.runs_of(at.function).map(|(caller, call, _)| call.at(caller));
            work.extend(back.map(|at| At { index: at.index + 1, ..at }));
            if code.roots.constructors.contains(&at.function) {
                work.extend(code.roots.constructors.iter().chain(&code.roots.main).map(|next| start(*next)));
            }
        }
    }
    false
}
