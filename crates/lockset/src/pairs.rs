//! Pairs of accesses: which may race, and why the others cannot.
//!
//! Accesses to an object that agree in everything that matters (place, kind, threads, locks, order) form a class; rules are tried on
//! pairs of classes, so that the cost depends on how many ways there are to touch an object and not on how often it is touched.
//! Objects that are touched by the same accesses in the same ways are looked at once, all together. Accesses are never paired one by
//! one: what is left is a relation between groups of accesses ([`crate::relation`]), counted by their sizes.
//! Every rule is *must*: a pair is ruled out only if one of them holds for all executions; what no rule covers is a warning.
//! A pair that rests on publication ([`crate::published`]) is withdrawn when a cell on the way of the address is itself warned of.

use crate::published::{Unpublished, routes};
use crate::relation::Relation;
use crate::rules::{Class, Rules, Verdict};
use raddle_absint::accesses::Access;
use raddle_facts::{ObjectId, Offsets, PointsTo, ThreadFacts};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Two accesses that may race; indices into the list of accesses, the smaller first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    pub first: usize,
    pub second: usize,
    /// One of the objects that both touch.
    pub object: ObjectId,
}

#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Objects with a conflict between two threads, ruled out or not: (object, offsets) of the writes.
    pub shared: BTreeSet<(ObjectId, Offsets)>,
    /// Conflicting pairs of accesses in two threads, contexts told apart.
    pub candidates: u64,
    /// Of these, pairs that no rule ruled out.
    pub open: u64,
    /// Bytes that some open pair may touch.
    pub(crate) racing: BTreeSet<Cell>,
    pub(crate) relation: Relation,
}

/// Bytes of an object.
pub(crate) type Cell = (ObjectId, Offsets, u64);

pub(crate) fn find(
    rules: &Rules<'_>,
    points_to: &PointsTo,
    threads: &ThreadFacts,
    accesses: &[Access],
    unpublished: &mut Unpublished<'_>,
) -> Pairs {
    let by_object = group(points_to, threads, accesses);
    let (classes, shapes) = shapes(rules, &by_object, unpublished);
    let mut result = Pairs::default();
    let mut judged = Judged::default();
    for (shape, objects) in &shapes {
        let mut contested = vec![false; shape.len()];
        for (i, first) in shape.iter().enumerate() {
            for (j, second) in shape.iter().enumerate().skip(i) {
                let (a, b) = (&classes[*first as usize], &classes[*second as usize]);
                if !rules.conflict(a, b) {
                    continue;
                }
                let two = Two { first: *first, second: *second, object: objects[0] };
                match rules.judge(a, b) {
                    Verdict::NotParallel => continue,
                    Verdict::Open => {
                        judged.open.push(two);
                        result.racing.extend(objects.iter().flat_map(|object| cells(*object, a, b)));
                    }
                    Verdict::RuledOut => judged.ruled_out.push(two),
                    Verdict::IfPublished => judged.conditional.push(two),
                }
                contested[i] |= a.write;
                contested[j] |= b.write;
            }
        }
        for (class, _) in shape.iter().zip(&contested).filter(|(_, contested)| **contested) {
            let offsets = classes[*class as usize].offsets;
            result.shared.extend(objects.iter().map(|object| (*object, offsets)));
        }
    }
    withdraw(points_to, threads, accesses, &classes, &mut judged, &mut result.racing);
    let members: Vec<Vec<usize>> = classes.into_iter().map(|class| class.members).collect();
    let relation = Relation::new(accesses.len(), &members, judged.open);
    result.open = relation.pairs();
    result.candidates = result.open + relation.others(&members, &judged.ruled_out);
    result.relation = relation;
    result
}

/// Two classes, by position, and an object for which both are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Two {
    pub first: u32,
    pub second: u32,
    pub object: ObjectId,
}

#[derive(Default)]
struct Judged {
    open: Vec<Two>,
    conditional: Vec<Two>,
    ruled_out: Vec<Two>,
}

fn cells(object: ObjectId, a: &Class, b: &Class) -> [Cell; 2] {
    [(object, a.offsets, a.bytes), (object, b.offsets, b.bytes)]
}

/// Accesses by shared object.
fn group(points_to: &PointsTo, threads: &ThreadFacts, accesses: &[Access]) -> BTreeMap<ObjectId, Vec<usize>> {
    let mut by_object: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
    for (index, access) in accesses.iter().enumerate() {
        for (object, _) in access.targets(points_to) {
            if !threads.shared[*object] {
                continue;
            }
            let list = by_object.entry(*object).or_default();
            if list.last() != Some(&index) {
                list.push(index);
            }
        }
    }
    // What nobody writes cannot race.
    by_object.retain(|_, list| list.iter().any(|index| accesses[*index].is_write()));
    by_object
}

/// The classes, and which of them touch which objects.
fn shapes(
    rules: &Rules<'_>,
    by_object: &BTreeMap<ObjectId, Vec<usize>>,
    unpublished: &mut Unpublished<'_>,
) -> (Vec<Class>, BTreeMap<Vec<u32>, Vec<ObjectId>>) {
    let mut classes: Vec<Class> = Vec::new();
    let mut known: HashMap<_, u32> = HashMap::new();
    let mut shapes: BTreeMap<Vec<u32>, Vec<ObjectId>> = BTreeMap::new();
    for (object, list) in by_object {
        let mut shape = Vec::new();
        for class in rules.classes(*object, list, unpublished) {
            let key = (Rules::key(&class), class.members.clone());
            let next = classes.len() as u32;
            let id = *known.entry(key).or_insert(next);
            if id == next {
                classes.push(class);
            }
            shape.push(id);
        }
        shape.sort_unstable();
        shapes.entry(shape).or_default().push(*object);
    }
    (classes, shapes)
}

/// Moves pairs that rest on publication to the open ones while a cell on the way may race.
fn withdraw(
    points_to: &PointsTo,
    threads: &ThreadFacts,
    accesses: &[Access],
    classes: &[Class],
    judged: &mut Judged,
    racing: &mut BTreeSet<Cell>,
) {
    let mut conditional = std::mem::take(&mut judged.conditional);
    if conditional.is_empty() {
        return;
    }
    let mut touching: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    for (index, access) in accesses.iter().enumerate() {
        for (object, _) in access.targets(points_to) {
            touching.entry(*object).or_default().push(index);
        }
    }
    let mut ways: HashMap<ObjectId, Option<Vec<Cell>>> = HashMap::new();
    for two in &conditional {
        ways.entry(two.object).or_insert_with(|| routes(points_to, threads, accesses, &touching, two.object));
    }
    loop {
        let may_race = |(object, at, bytes): &Cell| {
            let from = (*object, Offsets { anchor: i64::MIN, stride: 0, low: i64::MIN, high: i64::MIN }, 0);
            racing
                .range(from..)
                .take_while(|(other, ..)| other == object)
                .any(|(_, offsets, width)| at.may_overlap(*bytes, *offsets, *width))
        };
        let lost: HashMap<ObjectId, bool> = ways
            .iter()
            .map(|(object, way)| (*object, way.as_ref().is_none_or(|cells| cells.iter().any(may_race))))
            .collect();
        let (gone, keep): (Vec<_>, Vec<_>) = conditional.into_iter().partition(|two| lost[&two.object]);
        conditional = keep;
        if gone.is_empty() {
            break;
        }
        for two in &gone {
            racing.extend(cells(two.object, &classes[two.first as usize], &classes[two.second as usize]));
        }
        judged.open.extend(gone);
    }
    judged.ruled_out.extend(conditional);
}
