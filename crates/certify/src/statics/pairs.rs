//! Every pair of conflicting accesses in two threads, or in two instances of one, must be excluded by a rule.
//!
//! Rules, each *must*: other bytes; a gate between them; a common lock (one address in the whole run, one offset of the object accessed,
//! or one distance from the address accessed); acquisition histories that contradict each other (2007 paper, Definition 6); rounds of a
//! barrier; a cell that only one instance touches; memory that the maker has not published yet ([`published`]). The last needs the
//! cells on the way of the address to be free of races, which is so if every pair is excluded: by time, the first race of an execution
//! cannot rest on a later one.
//!
//! Accesses to an object that agree in all that the rules look at are one [`Side`], so the cost does not depend on their number.

mod cells;
pub(crate) mod published;

use super::Refusal;
use super::accesses::{Access, Kind};
use super::code::Code;
use super::locks::HeldAt;
use super::order::{OrderAt, Point};
use super::patterns::gcd;
use super::renewed::may_overwrite;
use super::threads::prepared_by;
use cells::{OwnCell, own_cells, prepared};
use published::Published;
use raddle_facts::{GateKind, HeldLock, LockMode, ObjectId, Offsets, Root, Rounds, Term, ThreadId};
use raddle_ir::Ty;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::rc::Rc;

const RULE: &str = "pairs";

pub(crate) fn check(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    held: &HeldAt,
    order: &OrderAt,
) -> Result<(), Refusal> {
    let mut refusal = Ok(());
    each_open(code, accesses, held, order, |object, first, second| {
        refusal = refuse(code, accesses, object, first, second);
        ControlFlow::Break(())
    });
    refusal
}

/// The pairs that no rule excludes, as positions in the list of accesses. Before the first race of an execution every fact holds, so
/// the first race is among them. What rests on publication is excluded only if everything is.
pub(crate) fn open(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    held: &HeldAt,
    order: &OrderAt,
) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    let mut add = |first: &Side, second: &Side| {
        for a in &first.members {
            found.extend(second.members.iter().map(|b| (*a.min(b), *a.max(b))));
        }
    };
    let mut unconditional = false;
    each_open(code, accesses, held, order, |_, first, second| {
        unconditional = true;
        add(first, second);
        ControlFlow::Continue(())
    });
    if unconditional {
        each_pair(code, accesses, held, order, |_, first, second, excluded| {
            if excluded == Excluded::IfPublished {
                add(first, second);
            }
            ControlFlow::Continue(())
        });
    }
    found
}

type Flow = ControlFlow<()>;

/// Pairs that are not excluded even if no other pair races.
fn each_open(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    held: &HeldAt,
    order: &OrderAt,
    mut found: impl FnMut(ObjectId, &Side, &Side) -> Flow,
) {
    let mut travels: HashMap<ObjectId, bool> = HashMap::new();
    each_pair(code, accesses, held, order, |object, first, second, excluded| {
        let in_order = excluded == Excluded::IfPublished
            && *travels.entry(object).or_insert_with(|| published::travels_in_order(code, accesses, object));
        if in_order { ControlFlow::Continue(()) } else { found(object, first, second) }
    });
}

/// Conflicting pairs that are not excluded whatever else happens.
fn each_pair(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    held: &HeldAt,
    order: &OrderAt,
    mut found: impl FnMut(ObjectId, &Side, &Side, Excluded) -> Flow,
) {
    let mut by_object: BTreeMap<ObjectId, BTreeSet<usize>> = BTreeMap::new();
    for (index, access) in accesses.iter().enumerate() {
        for (object, _) in access.targets.iter().filter(|(object, _)| code.facts.threads.shared[*object]) {
            by_object.entry(*object).or_default().insert(index);
        }
    }
    by_object.retain(|_, list| list.iter().any(|index| accesses[*index].is_write()));
    let mut maker =
        Maker { code, accesses, held, order, points: HashMap::new(), published: Published::of(code) };
    for (object, list) in by_object {
        let sides = maker.sides(object, &list);
        // By A-BOUNDS not every write whose offsets cover a synchronisation object may reach it.
        let touches = |write: &Side, other: &Side| {
            let reaches = |index: &usize| {
                let place = (object, write.offsets);
                may_overwrite(code, &accesses[*index], place, other.offsets, other.bytes)
            };
            !other.operates || write.operates || write.members.iter().any(reaches)
        };
        for (position, first) in sides.iter().enumerate() {
            let others = sides[position..].iter().filter(|second| first.conflicts(second));
            for second in others.filter(|second| touches(first, second) && touches(second, first)) {
                let excluded = exclude(code, first, second);
                if excluded != Excluded::Yes && found(object, first, second, excluded).is_break() {
                    return;
                }
            }
        }
    }
}

fn refuse(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    object: ObjectId,
    first: &Side,
    second: &Side,
) -> Result<(), Refusal> {
    let (a, b) = (&accesses[first.members[0]], &accesses[second.members[0]]);
    let text = format!(
        "no rule excludes a race on {:?}: {:?} at {} against {:?} at {}",
        code.kind(object),
        a.kind,
        a.site,
        b.kind,
        b.site
    );
    code.refuse(a.site, RULE, text)
}

/// Accesses to one object that no rule tells apart.
#[derive(Clone, Debug, PartialEq)]
struct Side {
    offsets: Offsets,
    bytes: u64,
    write: bool,
    atomic: bool,
    /// Of an operation on a synchronisation object.
    operates: bool,
    /// Before anybody else can know the object.
    unpublished: bool,
    threads: Vec<ThreadId>,
    point: Rc<Point>,
    locks: Vec<Key>,
    histories: BTreeMap<Term, BTreeSet<Term>>,
    cells: Vec<OwnCell>,
    /// Done for an instance of this thread before it is created, at this offset from its argument.
    prepares: Vec<(ThreadId, i64)>,
    /// Positions of the accesses; never empty.
    members: Vec<usize>,
}

/// A held lock, named so that two threads can compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    name: Name,
    mode: LockMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    /// One address for the whole run.
    Global(Term),
    /// At this offset of the concrete object that is accessed.
    InObject(i64),
    /// At this distance from the accessed address.
    AtDistance(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excluded {
    Yes,
    IfPublished,
    No,
}

struct Maker<'c, 'a> {
    code: &'c Code<'a>,
    accesses: &'c [Access<'a>],
    held: &'c HeldAt,
    order: &'c OrderAt,
    /// One of each, by what they say.
    points: HashMap<String, Rc<Point>>,
    published: Published<'c, 'a>,
}

impl Maker<'_, '_> {
    fn sides(&mut self, object: ObjectId, list: &BTreeSet<usize>) -> Vec<Side> {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut sides: Vec<Side> = Vec::new();
        for index in list {
            let access = &self.accesses[*index];
            let unpublished = self.published.not_yet(access) == Some(object);
            for (_, offsets) in access.targets.iter().filter(|(target, _)| *target == object) {
                let side = self.side(*index, object, *offsets, unpublished);
                let key = format!(
                    "{:?}",
                    (
                        (side.offsets, side.bytes, side.write, side.atomic, side.operates, side.unpublished),
                        (&side.threads, Rc::as_ptr(&side.point), &side.locks, &side.histories),
                        (&side.cells, &side.prepares),
                    )
                );
                match known.entry(key) {
                    Entry::Occupied(same) => sides[*same.get()].members.push(*index),
                    Entry::Vacant(new) => {
                        new.insert(sides.len());
                        sides.push(side);
                    }
                }
            }
        }
        sides
    }

    fn side(&mut self, index: usize, object: ObjectId, offsets: Offsets, unpublished: bool) -> Side {
        let code = self.code;
        let access = &self.accesses[index];
        let opened = code.facts.order.gates.ids().collect();
        let rounds = vec![Rounds { at_least: 0, at_most: u32::MAX }; code.facts.order.barriers.len()];
        let nothing = Point { passed: BTreeSet::new(), opened, rounds };
        let point = self.order.get(&access.at).cloned().unwrap_or_else(|| Rc::new(nothing));
        let point = self.points.entry(format!("{point:?}")).or_insert(point).clone();
        let held: &[HeldLock] = self.held.get(&access.at).map_or(&[], |held| held.as_slice());
        let address = access.address.and_then(|operand| code.term(access.at.function, operand, Ty::Ptr));
        let mut locks: Vec<Key> = held.iter().flat_map(|held| keys(code, held, address, object)).collect();
        locks.sort_unstable();
        locks.dedup();
        let histories = held
            .iter()
            .filter(|held| {
                held.guard.is_none() && held.mode == LockMode::Exclusive && code.is_global(held.lock)
            })
            .map(|held| (held.lock, held.history.iter().copied().collect()))
            .collect();
        Side {
            offsets,
            bytes: access.bytes,
            write: access.kind != Kind::Read,
            atomic: access.atomic.is_some(),
            operates: access.operates,
            unpublished,
            threads: code.facts.threads.runs[access.at.function].clone(),
            point,
            locks,
            histories,
            cells: address.map_or_else(Vec::new, |address| cells::of(code, address)),
            prepares: prepared_by(code, access),
            members: vec![index],
        }
    }
}

fn keys(code: &Code<'_>, held: &HeldLock, address: Option<Term>, object: ObjectId) -> Vec<Key> {
    let mut keys = Vec::new();
    if held.guard.is_some() {
        return keys;
    }
    let mode = held.mode;
    if code.is_global(held.lock) {
        keys.push(Key { name: Name::Global(held.lock), mode });
    }
    let Some(address) = address else { return keys };
    if let Some(distance) = held.lock.distance(address) {
        keys.push(Key { name: Name::AtDistance(distance), mode });
    }
    // Reached from the same pointer as the access, which points to one place of the object.
    if let (Root::Reg(function, reg), None) = (held.lock.root, held.lock.index)
        && address.root == held.lock.root
    {
        let mut places = code.set(function, reg).iter().filter(|(target, _)| *target == object);
        if let (Some((_, at)), None) = (places.next(), places.next())
            && at.is_exact()
        {
            keys.push(Key { name: Name::InObject(at.low.wrapping_add(held.lock.offset)), mode });
        }
    }
    keys
}

impl Side {
    fn conflicts(&self, other: &Side) -> bool {
        (self.write || other.write)
            && !(self.atomic && other.atomic)
            && self.offsets.may_overlap(self.bytes, other.offsets, other.bytes)
    }

    /// Whether accesses that share a byte must start at the same offset.
    fn meets_only_at_start(&self, other: &Side) -> bool {
        let stride = gcd(self.offsets.stride, other.offsets.stride);
        let distance = i128::from(self.offsets.anchor) - i128::from(other.offsets.anchor);
        match stride {
            0 => distance == 0,
            _ => {
                distance.rem_euclid(i128::from(stride)) == 0 && stride >= self.bytes && stride >= other.bytes
            }
        }
    }

    fn has_common_lock(&self, other: &Side) -> bool {
        self.locks.iter().any(|mine| {
            other.locks.iter().any(|theirs| {
                let excludes = mine.mode == LockMode::Exclusive || theirs.mode == LockMode::Exclusive;
                let same = match (mine.name, theirs.name) {
                    (Name::AtDistance(a), Name::AtDistance(b)) => a == b && self.meets_only_at_start(other),
                    (a, b) => a == b,
                };
                excludes && same
            })
        })
    }

    /// Whether each holds a lock that the other has taken since it took its own.
    fn contradicts(&self, other: &Side) -> bool {
        self.histories.iter().any(|(mine, since)| {
            since.iter().any(|theirs| other.histories.get(theirs).is_some_and(|list| list.contains(mine)))
        })
    }
}

fn exclude(code: &Code<'_>, first: &Side, second: &Side) -> Excluded {
    let everywhere = first.has_common_lock(second) || first.contradicts(second);
    let mut if_published = false;
    for a in &first.threads {
        for b in &second.threads {
            if everywhere || a == b && !code.facts.threads.threads[*a].many {
                continue;
            }
            let excluded = comes_before(code, &first.point, *a, &second.point, *b)
                || comes_before(code, &second.point, *b, &first.point, *a)
                || apart_by_rounds(code, (&first.point, *a), (&second.point, *b))
                || a == b && own_cells(first, second, *a)
                || prepared(first, second, *b)
                || prepared(second, first, *a);
            if !excluded {
                if !first.unpublished && !second.unpublished {
                    return Excluded::No;
                }
                if_published = true;
            }
        }
    }
    if if_published { Excluded::IfPublished } else { Excluded::Yes }
}

/// Whether every execution of the first on thread `a` comes before every execution of the second on thread `b`: the second has passed a
/// gate that only `a`, a single thread, opens, and has not opened yet; or that opens when all instances of `a` have ended.
pub(crate) fn comes_before(code: &Code<'_>, early: &Point, a: ThreadId, late: &Point, b: ThreadId) -> bool {
    let facts = &code.facts.order;
    late.passed.iter().chain(&facts.at_start[b]).any(|id| {
        let gate = &facts.gates[*id];
        match gate.kind {
            GateKind::Exited(thread) => thread == a,
            GateKind::Started(_)
            | GateKind::Semaphore(_)
            | GateKind::AtomicFlag(_)
            | GateKind::FencedFlag(_)
            | GateKind::LockedFlag(..) => {
                gate.openers == [a] && !code.facts.threads.threads[a].many && !early.opened.contains(id)
            }
        }
    })
}

/// Whether two threads do these in different rounds of one barrier.
pub(crate) fn apart_by_rounds(
    code: &Code<'_>,
    (first, a): (&Point, ThreadId),
    (second, b): (&Point, ThreadId),
) -> bool {
    code.facts.order.barriers.iter().enumerate().any(|(index, barrier)| {
        let rounds = |point: &Point| point.rounds.get(index).copied().unwrap_or_default();
        let (x, y) = (rounds(first), rounds(second));
        let members = barrier.members.contains(&a) && barrier.members.contains(&b);
        members && a != b && (x.at_most < y.at_least || y.at_most < x.at_least)
    })
}
