//! Pairs of accesses: which may race, and why the others cannot.
//!
//! Accesses to an object that agree in everything that matters (place, kind, threads, locks, order) form a class; rules are tried on
//! pairs of classes, so that the cost depends on how many ways there are to touch an object and not on how often it is touched.
//! Every rule is *must*: a pair is ruled out only if one of them holds for all executions; what no rule covers is a warning.
//! A pair that rests on publication ([`crate::published`]) is withdrawn when a cell on the way of the address is itself warned of.

use crate::published::{Unpublished, routes};
use crate::rules::{Class, Rules, Verdict};
use raddle_absint::accesses::Access;
use raddle_facts::{ObjectId, Offsets, PointsTo, ThreadFacts};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Two accesses that may race; indices into the list of accesses, the smaller first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    pub first: usize,
    pub second: usize,
    pub object: ObjectId,
}

#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Sorted. Pairs of the same two sites in other contexts are all here.
    pub warned: Vec<Pair>,
    /// Objects with a conflict between two threads, ruled out or not: (object, offsets) of the writes.
    pub shared: BTreeSet<(ObjectId, Offsets)>,
    /// Conflicting pairs that were looked at.
    pub candidates: u64,
    /// Conflicting pairs that no rule ruled out.
    pub open: u64,
    /// Conflicting pairs that some rule ruled out.
    pub ruled_out: u64,
    /// Not all warned pairs are listed: there are too many.
    pub cut_off: bool,
}

/// Listed pairs at most; beyond, one pair per two classes is kept.
const LISTED: usize = 100_000;

/// Pairs of classes that are kept at most; beyond, they are only counted.
const CLASSES: usize = 400_000;

pub(crate) fn find(
    rules: &Rules<'_>,
    points_to: &PointsTo,
    threads: &ThreadFacts,
    accesses: &[Access],
    unpublished: &mut Unpublished<'_>,
) -> Pairs {
    let by_object = group(points_to, threads, accesses);
    let mut result = Pairs::default();
    let mut arena: Vec<Class> = Vec::new();
    let mut open: Vec<Two> = Vec::new();
    let mut conditional: Vec<Two> = Vec::new();
    for (object, list) in &by_object {
        let from = arena.len();
        arena.extend(rules.classes(*object, list, unpublished));
        let mut contested = vec![false; arena.len() - from];
        for first in from..arena.len() {
            for second in first..arena.len() {
                let (a, b) = (&arena[first], &arena[second]);
                if !rules.conflict(a, b) {
                    continue;
                }
                let count = a.members.len() as u64 * b.members.len() as u64;
                match rules.judge(a, b) {
                    Verdict::NotParallel => continue,
                    Verdict::Open => {
                        result.open += count;
                        if open.len() < CLASSES {
                            open.push((first as u32, second as u32));
                        } else {
                            result.cut_off = true;
                        }
                    }
                    Verdict::RuledOut => result.ruled_out += count,
                    Verdict::IfPublished => conditional.push((first as u32, second as u32)),
                }
                result.candidates += count;
                contested[first - from] |= a.write;
                contested[second - from] |= b.write;
            }
        }
        let written = contested.iter().zip(&arena[from..]).filter(|(contested, _)| **contested);
        result.shared.extend(written.map(|(_, class)| (*object, class.offsets)));
    }
    withdraw(points_to, threads, accesses, &arena, &mut open, conditional, &mut result);
    list(&arena, &open, &mut result);
    result
}

/// Bytes of an object.
type Cell = (ObjectId, Offsets, u64);

/// Two classes, by position.
type Two = (u32, u32);

/// Accesses by shared object.
fn group(points_to: &PointsTo, threads: &ThreadFacts, accesses: &[Access]) -> BTreeMap<ObjectId, Vec<usize>> {
    let mut by_object: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
    for (index, access) in accesses.iter().enumerate() {
        for (object, _) in access.targets(points_to) {
            let list = by_object.entry(*object).or_default();
            if threads.shared[*object] && list.last() != Some(&index) {
                list.push(index);
            }
        }
    }
    // What nobody writes cannot race.
    by_object.retain(|_, list| list.iter().any(|index| accesses[*index].is_write()));
    by_object
}

/// Moves pairs that rest on publication to the open ones while a cell on the way may race.
fn withdraw(
    points_to: &PointsTo,
    threads: &ThreadFacts,
    accesses: &[Access],
    arena: &[Class],
    open: &mut Vec<Two>,
    mut conditional: Vec<Two>,
    result: &mut Pairs,
) {
    if conditional.is_empty() {
        return;
    }
    let object = |two: &Two| arena[two.0 as usize].object;
    let count =
        |two: &Two| arena[two.0 as usize].members.len() as u64 * arena[two.1 as usize].members.len() as u64;
    let mut touching: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    for (index, access) in accesses.iter().enumerate() {
        for (object, _) in access.targets(points_to) {
            touching.entry(*object).or_default().push(index);
        }
    }
    let mut ways: HashMap<ObjectId, Option<Vec<Cell>>> = HashMap::new();
    for two in &conditional {
        ways.entry(object(two))
            .or_insert_with(|| routes(points_to, threads, accesses, &touching, object(two)));
    }
    // With more open pairs than are kept, every way may race.
    if result.cut_off {
        ways.values_mut().for_each(|way| *way = None);
    }
    let mut checked = 0;
    loop {
        let news: HashSet<(ObjectId, Offsets, u64)> = open[checked..]
            .iter()
            .flat_map(|(a, b)| [&arena[*a as usize], &arena[*b as usize]])
            .map(|class| (class.object, class.offsets, class.bytes))
            .collect();
        checked = open.len();
        let before = conditional.len();
        let (keep, gone): (Vec<_>, Vec<_>) = conditional.into_iter().partition(|two| {
            ways[&object(two)].as_ref().is_some_and(|routes| {
                !routes.iter().any(|(object, at, bytes)| {
                    news.iter().any(|(other, offsets, width)| {
                        other == object && at.may_overlap(*bytes, *offsets, *width)
                    })
                })
            })
        });
        conditional = keep;
        result.open += gone.iter().map(count).sum::<u64>();
        open.extend(gone);
        if conditional.len() == before {
            break;
        }
    }
    result.ruled_out += conditional.iter().map(count).sum::<u64>();
}

fn list(arena: &[Class], open: &[Two], result: &mut Pairs) {
    let mut pairs: BTreeSet<Pair> = BTreeSet::new();
    for (a, b) in open {
        let (a, b) = (&arena[*a as usize], &arena[*b as usize]);
        let full = pairs.len() < LISTED;
        result.cut_off |= !full;
        let width = if full { usize::MAX } else { 1 };
        for x in a.members.iter().take(width) {
            for y in b.members.iter().take(width) {
                let (first, second) = if x <= y { (*x, *y) } else { (*y, *x) };
                pairs.insert(Pair { first, second, object: a.object });
            }
        }
    }
    result.warned = pairs.into_iter().collect();
}
