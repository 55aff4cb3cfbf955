//! The rules by which two accesses cannot race, and the classes that they are tried on.

use crate::history::{Histories, contradiction, histories};
use crate::published::Unpublished;
use raddle_absint::accesses::{Access, Kind};
use raddle_absint::fast_hash::FastMap;
use raddle_absint::order::renewed::{may_overwrite, start_of};
use raddle_absint::terms::{Definitions, term_of};
use raddle_facts::{
    Distinct, GateKind, HeldLock, LocalOrder, LockMode, MOST_APART, ObjectId, Offsets, OrderFacts, PointsTo,
    Root, Spacing, Term, ThreadFacts, ThreadId, Values,
};
use raddle_ir::{FunctionId, Program};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Everything that the rules read.
pub(crate) struct Rules<'a> {
    pub program: &'a Program,
    pub definitions: &'a Definitions,
    pub values: &'a Values,
    pub points_to: &'a PointsTo,
    pub threads: &'a ThreadFacts,
    pub order: &'a OrderFacts,
    pub accesses: &'a [Access],
    /// Per access: what holds right before it.
    pub states: &'a [State],
    pub memo: Memo,
}

/// Parts, locks, and whether the object is not yet published.
type ProfileKey = (u32, Vec<LockKey>, bool);

/// Place, profile, and the object where that matters.
pub(crate) type ClassKey = (Offsets, u64, u32, Option<ObjectId>);

/// Function, whether it writes, whether it is atomic, whether it operates on the object, order and locks: equal addresses are equal states.
type PartsKey = (FunctionId, bool, bool, bool, usize, usize);

/// What was computed already.
pub(crate) struct Memo {
    /// Per access.
    of_access: Vec<Computed>,
    /// By what decides them, for accesses without cells of their own.
    alike: Mutex<FastMap<PartsKey, Arc<Parts>>>,
    part_ids: Mutex<HashMap<String, u32>>,
    profiles: Mutex<HashMap<ProfileKey, Arc<Profile>>>,
    /// By profiles, in parts that threads can read and write beside each other.
    judged: Vec<Mutex<FastMap<(u32, u32), Verdict>>>,
}

#[derive(Default)]
struct Computed {
    parts: OnceLock<Arc<Parts>>,
    /// Its profile where that does not depend on the object.
    plain: OnceLock<Arc<Profile>>,
    /// The block that it touches before anybody else can.
    private: OnceLock<Option<ObjectId>>,
}

const SHARDS: u32 = 64;

impl Memo {
    pub fn new(accesses: usize) -> Memo {
        Memo {
            of_access: (0..accesses).map(|_| Computed::default()).collect(),
            alike: Mutex::default(),
            part_ids: Mutex::default(),
            profiles: Mutex::default(),
            judged: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }
}

/// What is behind a lock here is complete at any time.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shared by all accesses in the same state.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub order: Arc<LocalOrder>,
    pub locks: Arc<Vec<HeldLock>>,
}

/// Accesses to the same bytes of one object that no rule tells apart.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub object: ObjectId,
    pub offsets: Offsets,
    pub bytes: u64,
    pub write: bool,
    /// Before anybody else can know the object.
    pub unpublished: bool,
    profile: Arc<Profile>,
    pub members: Vec<usize>,
}

/// The classes of accesses to one object while they are made.
struct Classes {
    object: ObjectId,
    interned: FastMap<(Offsets, u64, u32), usize>,
    list: Vec<Class>,
}

impl Classes {
    fn new(object: ObjectId) -> Classes {
        Classes { object, interned: FastMap::default(), list: Vec::new() }
    }

    fn add(&mut self, rules: &Rules<'_>, index: usize, profile: &Arc<Profile>, unpublished: bool) {
        let access = &rules.accesses[index];
        for offsets in access.in_object(rules.points_to, self.object) {
            match self.interned.entry((offsets, access.bytes, profile.id)) {
                Entry::Occupied(at) => self.list[*at.get()].members.push(index),
                Entry::Vacant(free) => {
                    free.insert(self.list.len());
                    self.list.push(Class {
                        object: self.object,
                        offsets,
                        bytes: access.bytes,
                        write: profile.parts.write,
                        unpublished,
                        profile: profile.clone(),
                        members: vec![index],
                    });
                }
            }
        }
    }
}

/// All that the rules look at besides the place.
#[derive(Debug)]
struct Profile {
    id: u32,
    parts: Arc<Parts>,
    locks: Vec<LockKey>,
    /// The verdict does not depend on the place either.
    placeless: bool,
}

/// The part that is the same whatever object an access touches.
#[derive(Debug)]
struct Parts {
    id: u32,
    write: bool,
    atomic: bool,
    operates: bool,
    threads: Vec<ThreadId>,
    order: Arc<LocalOrder>,
    histories: Histories,
    cells: Vec<OwnCell>,
    /// Done in the round that creates an instance of a thread, before it, at this offset from its argument.
    prepares: Vec<(ThreadId, i64)>,
}

/// A held lock, named so that two threads can compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockKey {
    /// One address for the whole program.
    Global(Term, LockMode),
    /// At this offset of the same concrete object that is accessed.
    InObject(i64, LockMode),
    /// At this distance from the accessed address.
    AtDistance(i64, LockMode),
}

/// An address that is different in every instance of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnCell {
    thread: ThreadId,
    source: Option<i64>,
    spacing: Spacing,
    /// `base + value * scale + offset`; no base where the value itself is the address.
    base: Option<Term>,
    scale: i64,
    offset: i64,
    exact: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Never in two threads.
    NotParallel,
    RuledOut,
    /// Ruled out if the ways of the object's address are free of races.
    IfPublished,
    Open,
}

/// Why two accesses of two threads cannot race.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The first access comes before the second by this gate.
    Ordered {
        gate: GateKind,
        first_is_earlier: bool,
    },
    /// Rounds of a barrier keep them apart.
    Rounds {
        barrier: Term,
    },
    CommonLock(LockKey),
    /// Each holds a lock that the other has taken since.
    Histories {
        held_by_first: Term,
        held_by_second: Term,
    },
    OwnCell,
    /// The maker touches it before it is published.
    Unpublished,
}

impl Rules<'_> {
    pub fn classes(&self, object: ObjectId, list: &[usize], unpublished: &mut Unpublished<'_>) -> Vec<Class> {
        let mut classes = Classes::new(object);
        for index in list {
            let private = self.private(*index, unpublished) == Some(object);
            classes.add(self, *index, &self.profile(*index, object, private), private);
        }
        classes.list
    }

    /// The same for accesses of which [`Self::private`] was asked.
    pub fn known_classes(&self, object: ObjectId, list: &[usize]) -> Vec<Class> {
        let mut classes = Classes::new(object);
        for index in list {
            let private = self.memo.of_access[*index].private.get().expect("asked before") == &Some(object);
            classes.add(self, *index, &self.profile(*index, object, private), private);
        }
        classes.list
    }

    /// The same where no access depends on the object, once [`Self::prepare`] was called.
    pub fn plain_classes(&self, object: ObjectId, list: &[usize]) -> Vec<Class> {
        let mut classes = Classes::new(object);
        for index in list {
            let profile = self.memo.of_access[*index].plain.get().expect("prepared, and has no object locks");
            classes.add(self, *index, profile, false);
        }
        classes.list
    }

    /// Finds out what does not depend on objects. True for an access if its locks are named by the object that it touches, or if which
    /// writes may touch the same depends on the object.
    pub fn prepare(&self, index: usize) -> bool {
        let special = self.has_object_locks(index);
        if !special {
            // Which object it is asked for does not matter.
            self.profile(index, ObjectId(0), false);
        }
        special || self.accesses[index].operates
    }

    /// The block that an access touches before anybody else can.
    pub fn private(&self, index: usize, unpublished: &mut Unpublished<'_>) -> Option<ObjectId> {
        let known = &self.memo.of_access[index].private;
        *known.get_or_init(|| unpublished.object_of(&self.accesses[index]))
    }

    /// Whether locks of an access are named by the object that it touches.
    fn has_object_locks(&self, index: usize) -> bool {
        let access = &self.accesses[index];
        access.address.is_some_and(|operand| {
            let root = term_of(self.values, access.function, operand).root;
            self.states[index].locks.iter().any(|held| held.lock.root == root)
        })
    }

    fn profile(&self, index: usize, object: ObjectId, unpublished: bool) -> Arc<Profile> {
        if !unpublished && let Some(known) = self.memo.of_access[index].plain.get() {
            return known.clone();
        }
        let access = &self.accesses[index];
        let parts = self.parts(index);
        let address = access.address.map(|operand| term_of(self.values, access.function, operand));
        let held = &self.states[index].locks;
        let mut locks: Vec<LockKey> = held.iter().flat_map(|held| self.keys(held, address, object)).collect();
        locks.sort();
        locks.dedup();
        let mut known = locked(&self.memo.profiles);
        let id = known.len() as u32;
        let placeless = parts.cells.is_empty()
            && parts.prepares.is_empty()
            && !locks.iter().any(|key| matches!(key, LockKey::AtDistance(..)));
        let profile = known
            .entry((parts.id, locks.clone(), unpublished))
            .or_insert_with(|| Arc::new(Profile { id, parts, locks, placeless }))
            .clone();
        if !unpublished && !self.has_object_locks(index) {
            return self.memo.of_access[index].plain.get_or_init(|| profile).clone();
        }
        profile
    }

    fn parts(&self, index: usize) -> Arc<Parts> {
        self.memo.of_access[index].parts.get_or_init(|| self.new_parts(index)).clone()
    }

    fn new_parts(&self, index: usize) -> Arc<Parts> {
        let access = &self.accesses[index];
        let state = &self.states[index];
        let address = access.address.map(|operand| term_of(self.values, access.function, operand));
        let threads = self.threads.runs[access.function].clone();
        let cells = match address {
            Some(address) if threads.iter().any(|thread| self.threads.threads[*thread].many) => {
                self.cells(address)
            }
            _ => Vec::new(),
        };
        let prepared = self.threads.before_start.iter().filter(|before| before.site == access.site);
        let prepares: Vec<(ThreadId, i64)> =
            prepared.filter(|_| address.is_some()).map(|before| (before.thread, before.offset)).collect();
        let (write, atomic) = (access.kind != Kind::Read, access.atomic.is_some());
        let alike = (cells.is_empty() && prepares.is_empty()).then_some((
            access.function,
            write,
            atomic,
            access.operates,
            Arc::as_ptr(&state.order) as usize,
            Arc::as_ptr(&state.locks) as usize,
        ));
        if let Some(known) = alike.and_then(|key| locked(&self.memo.alike).get(&key).cloned()) {
            return known;
        }
        let mut parts = Parts {
            id: 0,
            write,
            atomic,
            operates: access.operates,
            threads,
            order: state.order.clone(),
            histories: histories(&state.locks, |lock| self.is_global(lock)),
            cells,
            prepares,
        };
        let key = format!("{parts:?}");
        let mut ids = locked(&self.memo.part_ids);
        let next = ids.len() as u32;
        parts.id = *ids.entry(key).or_insert(next);
        let parts = Arc::new(parts);
        if let Some(key) = alike {
            locked(&self.memo.alike).insert(key, parts.clone());
        }
        parts
    }

    fn is_global(&self, term: Term) -> bool {
        self.definitions.is_global(self.threads, term)
    }

    fn keys(&self, held: &HeldLock, address: Option<Term>, object: ObjectId) -> Vec<LockKey> {
        let mut keys = Vec::new();
        if held.guard.is_some() {
            return keys;
        }
        if self.is_global(held.lock) {
            keys.push(LockKey::Global(held.lock, held.mode));
        }
        let Some(address) = address else { return keys };
        if let Some(distance) = held.lock.distance(address) {
            keys.push(LockKey::AtDistance(distance, held.mode));
        }
        // The lock is reached from the same pointer as the access, and that points to one place of the object.
        if let (Root::Reg(function, reg), None) = (held.lock.root, held.lock.index)
            && address.root == held.lock.root
        {
            let set = self.points_to.regs[function][reg.0 as usize];
            let all = self.points_to.targets_of(set);
            // Sorted by object.
            let from = all.partition_point(|(target, _)| *target < object);
            let mut places = all[from..].iter().take_while(|(target, _)| *target == object);
            if let (Some((_, at)), None) = (places.next(), places.next())
                && at.is_exact()
            {
                keys.push(LockKey::InObject(at.anchor.wrapping_add(held.lock.offset), held.mode));
            }
        }
        keys
    }

    fn cells(&self, address: Term) -> Vec<OwnCell> {
        let of = |distinct: &Distinct| -> Option<OwnCell> {
            let value = (distinct.function, distinct.reg);
            let (base, scale, exact) = match (address.root, address.index) {
                (Root::Reg(function, reg), None) if (function, reg) == value => (None, 1, true),
                // Some index into the block that the value points to.
                (Root::Reg(function, reg), Some(_)) if (function, reg) == value => (None, 1, false),
                (root, Some(index)) if (index.function, index.reg) == value => {
                    let base = Term::root(root);
                    (Some(base).filter(|base| self.is_global(*base))?.into(), index.scale, true)
                }
                _ => return None,
            };
            Some(OwnCell {
                thread: distinct.thread,
                source: distinct.source,
                spacing: distinct.spacing,
                base,
                scale,
                offset: address.offset,
                exact,
            })
        };
        self.threads.distinct.iter().filter_map(of).collect()
    }

    /// Whether rules tell two classes of two objects apart: place, profile and members.
    pub fn key(class: &Class) -> ClassKey {
        let own = class.unpublished || class.profile.parts.operates;
        (class.offsets, class.bytes, class.profile.id, own.then_some(class.object))
    }

    /// Whether both touch a common byte of the object, one writes, and one is not atomic.
    pub fn conflict(&self, object: ObjectId, first: &Class, second: &Class) -> bool {
        (first.write || second.write)
            && !(first.profile.parts.atomic && second.profile.parts.atomic)
            && first.offsets.may_overlap(first.bytes, second.offsets, second.bytes)
            && !self.misses(object, first, second)
            && !self.misses(object, second, first)
    }

    /// Whether the second operates on a synchronisation object that the first does not write to, although it is beside it.
    fn misses(&self, object: ObjectId, write: &Class, operation: &Class) -> bool {
        operation.profile.parts.operates
            && !write.profile.parts.operates
            && !write.members.iter().any(|index| {
                let access = &self.accesses[*index];
                let start = start_of(self.program, self.definitions, self.points_to, access, object);
                may_overwrite(write.offsets, write.bytes, start, operation.offsets, operation.bytes)
            })
    }

    pub fn judge(&self, first: &Class, second: &Class) -> Verdict {
        let (x, y) = (&first.profile, &second.profile);
        // Where both have locks at a distance or cells of their own, the place matters.
        if !x.placeless && !y.placeless {
            return self.judge_anew(first, second);
        }
        let shard = &self.memo.judged[(x.id.wrapping_mul(31).wrapping_add(y.id) % SHARDS) as usize];
        let known = locked(shard).get(&(x.id, y.id)).copied();
        known.unwrap_or_else(|| {
            let verdict = self.judge_anew(first, second);
            locked(shard).insert((x.id, y.id), verdict);
            verdict
        })
    }

    fn judge_anew(&self, first: &Class, second: &Class) -> Verdict {
        let (mut parallel, mut conditional) = (false, false);
        for a in &first.profile.parts.threads {
            for b in &second.profile.parts.threads {
                if a == b && !self.threads.threads[*a].many {
                    continue;
                }
                parallel = true;
                match self.reason(first, *a, second, *b) {
                    None => return Verdict::Open,
                    Some(Reason::Unpublished) => conditional = true,
                    Some(_) => {}
                }
            }
        }
        match (parallel, conditional) {
            (false, _) => Verdict::NotParallel,
            (true, true) => Verdict::IfPublished,
            (true, false) => Verdict::RuledOut,
        }
    }

    /// Why the accesses of two different threads (or instances) cannot race.
    pub fn reason(&self, first: &Class, a: ThreadId, second: &Class, b: ThreadId) -> Option<Reason> {
        if let Some(gate) = self.before(&first.profile.parts.order, a, &second.profile.parts.order, b) {
            return Some(Reason::Ordered { gate, first_is_earlier: true });
        }
        if let Some(gate) = self.before(&second.profile.parts.order, b, &first.profile.parts.order, a) {
            return Some(Reason::Ordered { gate, first_is_earlier: false });
        }
        if let Some(lock) = self.common_lock(first, second) {
            return Some(Reason::CommonLock(lock));
        }
        if let Some((held_by_first, held_by_second)) =
            contradiction(&first.profile.parts.histories, &second.profile.parts.histories)
        {
            return Some(Reason::Histories { held_by_first, held_by_second });
        }
        if let Some(barrier) = self.apart_by_rounds(first, a, second, b) {
            return Some(Reason::Rounds { barrier });
        }
        if a == b && own_cells(first, second, a) || prepared(first, second, b) || prepared(second, first, a) {
            return Some(Reason::OwnCell);
        }
        (first.unpublished || second.unpublished).then_some(Reason::Unpublished)
    }

    /// The gate by which every execution of `early` on thread `a` comes before every execution of `late` on thread `b`.
    pub fn before(
        &self,
        early: &LocalOrder,
        a: ThreadId,
        late: &LocalOrder,
        b: ThreadId,
    ) -> Option<GateKind> {
        let passed = late.passed.iter().chain(&self.order.at_start[b]);
        passed.map(|gate| (gate, &self.order.gates[*gate])).find_map(|(id, gate)| {
            let ordered = match gate.kind {
                GateKind::Exited(thread) => thread == a,
                GateKind::Started(_)
                | GateKind::Semaphore(_)
                | GateKind::AtomicFlag(_)
                | GateKind::FencedFlag(_)
                | GateKind::LockedFlag(..) => {
                    gate.openers == [a] && !self.threads.threads[a].many && !early.opened.contains(id)
                }
            };
            ordered.then_some(gate.kind)
        })
    }

    fn common_lock(&self, first: &Class, second: &Class) -> Option<LockKey> {
        first.profile.locks.iter().copied().find(|key| {
            let exclusive = |mode: &LockMode| *mode == LockMode::Exclusive;
            second.profile.locks.iter().any(|other| match (key, other) {
                (LockKey::Global(a, x), LockKey::Global(b, y)) => a == b && (exclusive(x) || exclusive(y)),
                (LockKey::InObject(a, x), LockKey::InObject(b, y)) => {
                    a == b && (exclusive(x) || exclusive(y))
                }
                (LockKey::AtDistance(a, x), LockKey::AtDistance(b, y)) => {
                    a == b && (exclusive(x) || exclusive(y)) && overlap_means_equal(first, second)
                }
                _ => false,
            })
        })
    }

    fn apart_by_rounds(&self, first: &Class, a: ThreadId, second: &Class, b: ThreadId) -> Option<Term> {
        self.order.barriers.iter().enumerate().find_map(|(index, barrier)| {
            let rounds =
                |class: &Class| class.profile.parts.order.rounds.get(index).copied().unwrap_or_default();
            let (x, y) = (rounds(first), rounds(second));
            let members = barrier.members.contains(&a) && barrier.members.contains(&b);
            let apart = x.at_most < y.at_least || y.at_most < x.at_least;
            (members && apart).then_some(barrier.object)
        })
    }
}

/// Whether accesses that share a byte must start at the same offset.
fn overlap_means_equal(first: &Class, second: &Class) -> bool {
    let (a, b) = (first.offsets, second.offsets);
    let width = |class: &Class| i128::from(class.bytes);
    let stride = i128::from(gcd(a.stride, b.stride));
    let distance = i128::from(a.anchor) - i128::from(b.anchor);
    if stride == 0 {
        return distance == 0;
    }
    // Possible distances of the starts: `distance` modulo the stride, within (-width(first), width(second)).
    distance.rem_euclid(stride) == 0 && stride >= width(first) && stride >= width(second)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Whether `early` is done by the creator for the instance that it then creates, and `late` touches memory of its own instance only.
fn prepared(early: &Class, late: &Class, thread: ThreadId) -> bool {
    early.profile.parts.prepares.iter().filter(|(prepared, _)| *prepared == thread).any(|(_, offset)| {
        late.profile.parts.cells.iter().any(|cell| {
            let own = cell.thread == thread && cell.source.is_none() && cell.base.is_none();
            own && match cell.spacing {
                Spacing::Objects => true,
                Spacing::Apart { least, .. } => {
                    let between = (i128::from(*offset) - i128::from(cell.offset)).abs();
                    cell.exact && i128::from(least) >= between + i128::from(early.bytes.max(late.bytes))
                }
            }
        })
    })
}

/// Whether two instances of a thread touch cells of their own.
fn own_cells(first: &Class, second: &Class, thread: ThreadId) -> bool {
    first.profile.parts.cells.iter().filter(|cell| cell.thread == thread).any(|x| {
        second.profile.parts.cells.iter().any(|y| {
            let same = y.thread == thread && x.source == y.source && x.base == y.base && x.scale == y.scale;
            same && match x.spacing {
                Spacing::Objects => x.base.is_none(),
                Spacing::Apart { least, most } => {
                    let scale = i128::from(x.scale.unsigned_abs());
                    let (room, widest) = (i128::from(least) * scale, i128::from(most) * scale);
                    let between = (i128::from(x.offset) - i128::from(y.offset)).abs();
                    // Further apart, two addresses may be the same again modulo 2^64.
                    let no_wrap = widest <= i128::from(MOST_APART);
                    x.exact
                        && y.exact
                        && no_wrap
                        && room >= between + i128::from(first.bytes.max(second.bytes))
                }
            }
        })
    })
}
