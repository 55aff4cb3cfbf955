//! Pairs of accesses: which may race, and why the others cannot.
//!
//! Accesses to an object that agree in everything that matters (place, kind, threads, locks, order) form a class; rules are tried on
//! pairs of classes, so that the cost depends on how many ways there are to touch an object and not on how often it is touched.
//! Objects that are touched by the same accesses in the same ways are looked at once, all together. Accesses are never paired one by
//! one: what is left is a relation between groups of accesses ([`crate::relation`]), counted by their sizes.
//! Classes are made and judged on all cores; they are numbered, and results put together, in the order of objects, so that nothing depends on
//! the number of threads.
//! Every rule is *must*: a pair is ruled out only if one of them holds for all executions; what no rule covers is a warning.
//! A pair that rests on publication ([`crate::published`]) is withdrawn when a cell on the way of the address is itself warned of.

use crate::published::{Unpublished, routes};
use crate::relation::Relation;
use crate::rules::{Class, ClassKey, Rules, Verdict};
use raddle_absint::accesses::Access;
use raddle_absint::fast_hash::FastMap;
use raddle_facts::{ObjectId, Offsets, PointsTo, ThreadFacts};
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
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

impl Pairs {
    /// Whether some open pair may touch a byte of the cell.
    pub(crate) fn may_race(&self, cell: &Cell) -> bool {
        overlaps(&self.racing, cell)
    }
}

fn overlaps(racing: &BTreeSet<Cell>, (object, at, bytes): &Cell) -> bool {
    let from = (*object, Offsets { anchor: i64::MIN, stride: 0, low: i64::MIN, high: i64::MIN }, 0);
    racing
        .range(from..)
        .take_while(|(other, ..)| other == object)
        .any(|(_, offsets, width)| at.may_overlap(*bytes, *offsets, *width))
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
    let mut affordable: Vec<(&[u32], &[ObjectId])> = Vec::new();
    for (shape, objects) in &by_shape {
        match work.spend(shape.len() * (shape.len() + 1) / 2) {
            true => affordable.push((shape, objects)),
            false => unseen.extend(objects),
        }
    }
    let outcomes: Vec<Outcome> =
        affordable.par_iter().map(|(shape, objects)| judge(rules, &classes, shape, objects[0])).collect();
    for ((shape, objects), outcome) in affordable.into_iter().zip(outcomes) {
        let Outcome { judged: more, contested, racing } = outcome;
        judged.extend(more);
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

impl Judged {
    fn extend(&mut self, more: Judged) {
        self.open.extend(more.open);
        self.conditional.extend(more.conditional);
        self.ruled_out.extend(more.ruled_out);
    }
}

/// What the rules say of the classes of a shape.
struct Outcome {
    judged: Judged,
    /// Per class: it writes, and another thread may touch the same at the same time.
    contested: Vec<bool>,
    /// Per class: it is in an open pair.
    racing: Vec<bool>,
}

/// Of shapes with so many classes, rows are looked at in parallel.
const WIDE: usize = 512;

fn judge(rules: &Rules<'_>, classes: &[Class], shape: &[u32], object: ObjectId) -> Outcome {
    let row = |mut outcome: Outcome, at: usize| {
        judge_row(rules, classes, shape, object, at, &mut outcome);
        outcome
    };
    let nothing = || Outcome::new(shape.len());
    match shape.len() < WIDE {
        true => (0..shape.len()).fold(nothing(), row),
        false => (0..shape.len()).into_par_iter().fold(nothing, row).reduce(nothing, Outcome::then),
    }
}

impl Outcome {
    fn new(width: usize) -> Outcome {
        Outcome { judged: Judged::default(), contested: vec![false; width], racing: vec![false; width] }
    }

    fn then(mut self, more: Outcome) -> Outcome {
        self.judged.extend(more.judged);
        self.contested.iter_mut().zip(more.contested).for_each(|(all, one)| *all |= one);
        self.racing.iter_mut().zip(more.racing).for_each(|(all, one)| *all |= one);
        self
    }
}

/// A class with itself and with those after it.
fn judge_row(
    rules: &Rules<'_>,
    classes: &[Class],
    shape: &[u32],
    object: ObjectId,
    i: usize,
    outcome: &mut Outcome,
) {
    let first = shape[i];
    for (j, second) in shape.iter().enumerate().skip(i) {
        let (a, b) = (&classes[first as usize], &classes[*second as usize]);
        if !rules.conflict(object, a, b) {
            continue;
        }
        let two = Two { first, second: *second, object };
        match rules.judge(a, b) {
            Verdict::NotParallel => continue,
            Verdict::Open => {
                outcome.judged.open.push(two);
                outcome.racing[i] = true;
                outcome.racing[j] = true;
            }
            Verdict::RuledOut => outcome.judged.ruled_out.push(two),
            Verdict::IfPublished => outcome.judged.conditional.push(two),
        }
        outcome.contested[i] |= a.write;
        outcome.contested[j] |= b.write;
    }
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

/// An object whose classes are to be made.
struct Job {
    object: ObjectId,
    accesses: Vec<usize>,
    /// Rules may look at the object itself.
    special: bool,
}

/// Accesses of jobs that are done at once.
const BATCH: usize = 2_000_000;

fn shapes(rules: &Rules<'_>, touched: Touched, unpublished: &mut Unpublished<'_>, work: &mut Work) -> Shapes {
    let mut shapes = Shapes { classes: Vec::new(), by_shape: BTreeMap::new(), unseen: Vec::new() };
    let mut known: Known = FastMap::default();
    // Rules may look at the object itself for accesses of these lists, and for these objects.
    let mut own: BTreeSet<ObjectId> = BTreeSet::new();
    let mut special = vec![false; touched.lists.len()];
    for (list, accesses) in touched.lists.iter().enumerate() {
        for index in accesses {
            special[list] |= rules.prepare(*index);
            own.extend(rules.private(*index, unpublished));
        }
    }
    // Objects that are touched alike, by the first of them; `None`: not looked at.
    let mut alike: FastMap<Vec<(u32, Offsets)>, Option<ObjectId>> = FastMap::default();
    let mut same: Vec<(ObjectId, ObjectId)> = Vec::new();
    let mut shape_of: FastMap<ObjectId, Vec<u32>> = FastMap::default();
    let mut batch: Vec<Job> = Vec::new();
    let mut size = 0;
    for (object, signature) in touched.of_object {
        let is_special = own.contains(&object) || signature.iter().any(|(list, _)| special[*list as usize]);
        if !is_special && let Some(first) = alike.get(&signature) {
            match first {
                Some(first) => same.push((object, *first)),
                None => shapes.unseen.push(object),
            }
            continue;
        }
        let mut lists: Vec<u32> = signature.iter().map(|(list, _)| *list).collect();
        lists.dedup();
        let cost = lists.iter().map(|list| touched.lists[*list as usize].len()).sum();
        let affordable = work.spend(cost);
        if !is_special {
            alike.insert(signature, affordable.then_some(object));
        }
        if !affordable {
            shapes.unseen.push(object);
            continue;
        }
        let mut accesses: Vec<usize> =
            lists.iter().flat_map(|list| &touched.lists[*list as usize]).copied().collect();
        accesses.sort_unstable();
        batch.push(Job { object, accesses, special: is_special });
        size += cost;
        if size > BATCH {
            shapes.add(rules, std::mem::take(&mut batch), &mut known, &mut shape_of);
            size = 0;
        }
    }
    shapes.add(rules, batch, &mut known, &mut shape_of);
    for (object, first) in same {
        let shape = &shape_of[&first];
        shapes.by_shape.get_mut(shape).expect("made before").push(object);
    }
    // As if one object had been looked at after the other.
    shapes.by_shape.values_mut().for_each(|objects| objects.sort_unstable());
    shapes.unseen.sort_unstable();
    shapes
}

/// Classes by what rules tell apart, and members.
type Known = FastMap<(ClassKey, Vec<usize>), u32>;

impl Shapes {
    /// Makes classes, those of one object beside those of others, and numbers them in the order of objects.
    fn add(
        &mut self,
        rules: &Rules<'_>,
        batch: Vec<Job>,
        known: &mut Known,
        shape_of: &mut FastMap<ObjectId, Vec<u32>>,
    ) {
        let made: Vec<Vec<Class>> = batch
            .par_iter()
            .map(|job| match job.special {
                true => rules.known_classes(job.object, &job.accesses),
                false => rules.plain_classes(job.object, &job.accesses),
            })
            .collect();
        for (job, classes) in batch.into_iter().zip(made) {
            let mut shape = Vec::new();
            for class in classes {
                let key = (Rules::key(&class), class.members.clone());
                let next = self.classes.len() as u32;
                let id = *known.entry(key).or_insert(next);
                if id == next {
                    self.classes.push(class);
                }
                shape.push(id);
            }
            shape.sort_unstable();
            self.by_shape.entry(shape.clone()).or_default().push(job.object);
            if !job.special {
                shape_of.insert(job.object, shape);
            }
        }
    }
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
        let lost: HashMap<ObjectId, bool> = ways
            .iter()
            .map(|(object, way)| {
                (*object, way.as_ref().is_none_or(|cells| cells.iter().any(|cell| overlaps(racing, cell))))
            })
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
