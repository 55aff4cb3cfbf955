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
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// Conflicting pairs that some rule ruled out.
    pub ruled_out: u64,
    /// Not all warned pairs are listed: there are too many.
    pub cut_off: bool,
}

/// Listed pairs at most; beyond, one pair per two classes is kept.
const LISTED: usize = 2_000_000;

pub(crate) fn find(
    rules: &Rules<'_>,
    points_to: &PointsTo,
    threads: &ThreadFacts,
    accesses: &[Access],
    unpublished: &mut Unpublished<'_>,
) -> Pairs {
    let by_object = group(points_to, threads, accesses);
    let mut result = Pairs::default();
    let mut open: Vec<(Class, Class)> = Vec::new();
    let mut conditional: Vec<(Class, Class)> = Vec::new();
    for (object, list) in &by_object {
        let classes = rules.classes(*object, list, unpublished);
        for (index, first) in classes.iter().enumerate() {
            for second in &classes[index..] {
                if !rules.conflict(first, second) {
                    continue;
                }
                let count = first.members.len() as u64 * second.members.len() as u64;
                match rules.judge(first, second) {
                    Verdict::NotParallel => continue,
                    Verdict::Open => open.push((first.clone(), second.clone())),
                    Verdict::RuledOut => result.ruled_out += count,
                    Verdict::IfPublished => conditional.push((first.clone(), second.clone())),
                }
                result.candidates += count;
                for class in [first, second].into_iter().filter(|class| class.write) {
                    result.shared.insert((*object, class.offsets));
                }
            }
        }
    }
    withdraw(points_to, threads, accesses, &mut open, conditional, &mut result);
    list(&open, &mut result);
    result
}

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
    open: &mut Vec<(Class, Class)>,
    mut conditional: Vec<(Class, Class)>,
    result: &mut Pairs,
) {
    if conditional.is_empty() {
        return;
    }
    let mut touching: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    for (index, access) in accesses.iter().enumerate() {
        for (object, _) in access.targets(points_to) {
            touching.entry(*object).or_default().push(index);
        }
    }
    let mut ways: HashMap<ObjectId, Option<Vec<(ObjectId, Offsets, u64)>>> = HashMap::new();
    for (first, _) in &conditional {
        ways.entry(first.object)
            .or_insert_with(|| routes(points_to, threads, accesses, &touching, first.object));
    }
    let mut checked = 0;
    loop {
        let news: Vec<(ObjectId, Offsets, u64)> = open[checked..]
            .iter()
            .flat_map(|(a, b)| [(a.object, a.offsets, a.bytes), (b.object, b.offsets, b.bytes)])
            .collect();
        checked = open.len();
        let before = conditional.len();
        let (keep, gone): (Vec<_>, Vec<_>) = conditional.into_iter().partition(|(first, _)| {
            ways[&first.object].as_ref().is_some_and(|routes| {
                !routes.iter().any(|(object, at, bytes)| {
                    news.iter().any(|(other, offsets, width)| other == object && at.may_overlap(*bytes, *offsets, *width))
                })
            })
        });
        conditional = keep;
        open.extend(gone);
        if conditional.len() == before {
            break;
        }
    }
    result.ruled_out += conditional
        .iter()
        .map(|(first, second)| first.members.len() as u64 * second.members.len() as u64)
        .sum::<u64>();
}

fn list(open: &[(Class, Class)], result: &mut Pairs) {
    let mut pairs: BTreeSet<Pair> = BTreeSet::new();
    for (a, b) in open {
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
