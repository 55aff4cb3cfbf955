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
use raddle_absint::fast_hash::FastMap;
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
    /// Objects that were left out, because there are too many ways to touch them.
    pub unseen: u64,
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
    let touched = Touched::new(points_to, threads, accesses);
    let mut work = Work { left: WORK };
    let Shapes { classes, by_shape, mut unseen } = shapes(rules, touched, unpublished, &mut work);
    let mut result = Pairs::default();
    let mut judged = Judged::default();
    for (shape, objects) in &by_shape {
        if !work.spend(shape.len() * (shape.len() + 1) / 2) {
            unseen.extend(objects);
            continue;
        }
        let mut contested = vec![false; shape.len()];
        let mut racing = vec![false; shape.len()];
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
                        racing[i] = true;
                        racing[j] = true;
                    }
                    Verdict::RuledOut => judged.ruled_out.push(two),
                    Verdict::IfPublished => judged.conditional.push(two),
                }
                contested[i] |= a.write;
                contested[j] |= b.write;
            }
        }
        for (at, class) in shape.iter().map(|class| &classes[*class as usize]).enumerate() {
            if contested[at] {
                result.shared.extend(objects.iter().map(|object| (*object, class.offsets)));
            }
            if racing[at] {
                result.racing.extend(objects.iter().map(|object| (*object, class.offsets, class.bytes)));
            }
        }
    }
    // What was not looked at may race.
    result.racing.extend(unseen.iter().map(|object| (*object, Offsets::ANY, u64::MAX)));
    result.unseen = unseen.len() as u64;
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

/// Accesses and pairs of classes that are looked at, at most.
const WORK: usize = 60_000_000;

struct Work {
    left: usize,
}

impl Work {
    /// False: there is not that much left.
    fn spend(&mut self, cost: usize) -> bool {
        let enough = cost <= self.left;
        if enough {
            self.left -= cost;
        }
        enough
    }
}

/// Which accesses touch which shared objects, by the lists of targets that they have in common.
struct Touched {
    /// Accesses with equal targets.
    lists: Vec<Vec<usize>>,
    of_object: BTreeMap<ObjectId, Vec<(u32, Offsets)>>,
}

impl Touched {
    fn new(points_to: &PointsTo, threads: &ThreadFacts, accesses: &[Access]) -> Touched {
        let mut known: HashMap<&[(ObjectId, Offsets)], u32> = HashMap::new();
        let mut same: HashMap<*const (ObjectId, Offsets), u32> = HashMap::new();
        let mut touched = Touched { lists: Vec::new(), of_object: BTreeMap::new() };
        for (index, access) in accesses.iter().enumerate() {
            let targets = access.targets(points_to);
            let list = *same.entry(targets.as_ptr()).or_insert_with(|| {
                *known.entry(targets).or_insert_with(|| {
                    let list = touched.lists.len() as u32;
                    touched.lists.push(Vec::new());
                    for (object, at) in targets.iter().filter(|(object, _)| threads.shared[*object]) {
                        touched.of_object.entry(*object).or_default().push((list, *at));
                    }
                    list
                })
            });
            touched.lists[list as usize].push(index);
        }
        // What nobody writes cannot race.
        let writes: Vec<bool> =
            touched.lists.iter().map(|list| list.iter().any(|index| accesses[*index].is_write())).collect();
        touched.of_object.retain(|_, lists| lists.iter().any(|(list, _)| writes[*list as usize]));
        touched
    }
}

struct Shapes {
    classes: Vec<Class>,
    /// Objects by the classes of accesses that touch them.
    by_shape: BTreeMap<Vec<u32>, Vec<ObjectId>>,
    unseen: Vec<ObjectId>,
}

fn shapes(rules: &Rules<'_>, touched: Touched, unpublished: &mut Unpublished<'_>, work: &mut Work) -> Shapes {
    let mut shapes = Shapes { classes: Vec::new(), by_shape: BTreeMap::new(), unseen: Vec::new() };
    let mut known: FastMap<_, u32> = FastMap::default();
    // Rules may look at the object itself for accesses of these lists, and for these objects.
    let mut own: BTreeSet<ObjectId> = BTreeSet::new();
    let mut special = vec![false; touched.lists.len()];
    for (list, accesses) in touched.lists.iter().enumerate() {
        for index in accesses {
            special[list] |= rules.has_object_locks(*index);
            own.extend(rules.private(*index, unpublished));
        }
    }
    let mut alike: FastMap<Vec<(u32, Offsets)>, Option<Vec<u32>>> = FastMap::default();
    for (object, signature) in touched.of_object {
        let shared = !own.contains(&object) && !signature.iter().any(|(list, _)| special[*list as usize]);
        if shared && let Some(shape) = alike.get(&signature) {
            match shape {
                Some(shape) => shapes.by_shape.get_mut(shape).expect("made before").push(object),
                None => shapes.unseen.push(object),
            }
            continue;
        }
        let mut lists: Vec<u32> = signature.iter().map(|(list, _)| *list).collect();
        lists.dedup();
        let size = lists.iter().map(|list| touched.lists[*list as usize].len()).sum();
        let shape = work.spend(size).then(|| {
            let mut accesses: Vec<usize> =
                lists.iter().flat_map(|list| &touched.lists[*list as usize]).copied().collect();
            accesses.sort_unstable();
            let mut shape = Vec::new();
            for class in rules.classes(object, &accesses, unpublished) {
                let key = (Rules::key(&class), class.members.clone());
                let next = shapes.classes.len() as u32;
                let id = *known.entry(key).or_insert(next);
                if id == next {
                    shapes.classes.push(class);
                }
                shape.push(id);
            }
            shape.sort_unstable();
            shapes.by_shape.entry(shape.clone()).or_default().push(object);
            shape
        });
        if shape.is_none() {
            shapes.unseen.push(object);
        }
        if shared {
            alike.insert(signature, shape);
        }
    }
    shapes
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
    let wanted: BTreeSet<ObjectId> = conditional.iter().map(|two| two.object).collect();
    let ways = routes(points_to, threads, accesses, &wanted);
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
