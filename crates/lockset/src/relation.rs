//! Which accesses may race with which, without a list of pairs.
//!
//! Accesses that are in the same classes have the same partners: they form a group. A row of bits per group says with which groups its
//! members may race; pairs are counted by the sizes of groups. Where the rows would take too much memory there are none: pairs are
//! then counted class by class, which counts a pair once for each way to meet, and only some are listed.

use crate::pairs::{Pair, Two};
use raddle_absint::fast_hash::FastMap;
use raddle_facts::ObjectId;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default)]
pub(crate) struct Relation {
    /// Per access, its classes, ascending.
    classes: Vec<Vec<u32>>,
    groups: Groups,
    /// Per group; `None`: too large.
    rows: Option<Vec<Bits>>,
    /// Open pairs of classes, ascending, with an object.
    open: Vec<((u32, u32), ObjectId)>,
    pairs: u64,
}

#[derive(Clone, Debug, Default)]
struct Groups {
    /// Per access; `u32::MAX`: in no class.
    of: Vec<u32>,
    members: Vec<Vec<usize>>,
    /// Per class.
    in_class: Vec<Vec<u32>>,
}

type Bits = Vec<u64>;

/// Bytes that all rows may take.
const LARGEST: usize = 256 << 20;

impl Relation {
    /// `members` of the classes, and pairs of classes that may race.
    pub fn new(accesses: usize, members: &[Vec<usize>], twos: Vec<Two>) -> Relation {
        let mut classes: Vec<Vec<u32>> = vec![Vec::new(); accesses];
        for (class, members) in members.iter().enumerate() {
            for access in members {
                if classes[*access].last() != Some(&(class as u32)) {
                    classes[*access].push(class as u32);
                }
            }
        }
        let groups = Groups::new(&classes, members);
        let open = sorted(members.len(), twos);
        let mut relation = Relation { classes, groups, rows: None, open, pairs: 0 };
        relation.rows = relation.rows(relation.open.iter().map(|(classes, _)| *classes));
        relation.pairs = match &relation.rows {
            Some(rows) => relation.groups.count(rows),
            None => sum(members, relation.open.iter().map(|(classes, _)| *classes)),
        };
        relation
    }

    /// Pairs that may race; if not exact, at most so many.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Pairs of other classes that are not among the open ones.
    pub fn others(&self, members: &[Vec<usize>], twos: &[Two]) -> u64 {
        let twos = twos.iter().map(|two| (two.first, two.second));
        match (&self.rows, self.rows(twos.clone())) {
            (Some(open), Some(mut others)) => {
                for (row, open) in others.iter_mut().zip(open) {
                    row.iter_mut().zip(open).for_each(|(word, open)| *word &= !open);
                }
                self.groups.count(&others)
            }
            _ => sum(members, twos),
        }
    }

    pub fn may_race(&self, x: usize, y: usize) -> bool {
        self.object(x, y).is_some()
    }

    /// Open pairs by the places of their accesses, at most so many places with at most so many pairs each.
    pub fn list<P: Ord + Copy + Sync>(
        &self,
        place: impl Fn(usize) -> P,
        most: usize,
        contexts: usize,
    ) -> Listed<P> {
        let mut listed = Listed { pairs: BTreeMap::new(), places: 0, counted: self.rows.is_some() };
        let Some(rows) = &self.rows else {
            self.some(place, most, contexts, &mut listed);
            return listed;
        };
        // Accesses of each place, by group.
        let mut by_place: BTreeMap<P, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
        for (access, group) in self.groups.of.iter().enumerate().filter(|(_, group)| **group != u32::MAX) {
            by_place.entry(place(access)).or_default().entry(*group).or_default().push(access);
        }
        let numbers: BTreeMap<P, u32> = by_place.keys().enumerate().map(|(at, p)| (*p, at as u32)).collect();
        let all: Vec<(P, &BTreeMap<u32, Vec<usize>>)> = by_place.iter().map(|(p, list)| (*p, list)).collect();
        let of_group: Vec<Vec<u32>> = self
            .groups
            .members
            .iter()
            .map(|members| {
                let places: BTreeSet<u32> = members.iter().map(|access| numbers[&place(*access)]).collect();
                places.into_iter().collect()
            })
            .collect();
        // Places of a place's partners, from itself on, each once and in no order.
        let partners = |marks: &mut Vec<u32>, at: usize| -> Vec<u32> {
            let mut partners: Vec<u32> = Vec::new();
            for group in all[at].1.keys() {
                for other in ones(&rows[*group as usize]) {
                    for place in &of_group[other as usize] {
                        let mark = &mut marks[*place as usize];
                        if *place as usize >= at && *mark != at as u32 {
                            *mark = at as u32;
                            partners.push(*place);
                        }
                    }
                }
            }
            partners
        };
        let new_marks = || vec![u32::MAX; all.len()];
        let mut marks = new_marks();
        let mut at = 0;
        while at < all.len() && listed.pairs.len() < most {
            let (first, groups) = all[at];
            let mut partners = partners(&mut marks, at);
            listed.places += partners.len() as u64;
            partners.sort_unstable();
            partners.truncate(most - listed.pairs.len());
            for partner in partners {
                let (second, others) = all[partner as usize];
                let pairs = self.between(rows, groups, others, contexts);
                listed.pairs.insert((first, second), pairs);
            }
            at += 1;
        }
        // The rest is only counted.
        let count = |marks: &mut Vec<u32>, at: usize| partners(marks, at).len() as u64;
        listed.places += (at..all.len()).into_par_iter().map_init(new_marks, count).sum::<u64>();
        listed
    }

    fn between(
        &self,
        rows: &[Bits],
        groups: &BTreeMap<u32, Vec<usize>>,
        others: &BTreeMap<u32, Vec<usize>>,
        most: usize,
    ) -> Vec<Pair> {
        let mut pairs = BTreeSet::new();
        for (group, members) in groups {
            for (other, partners) in others {
                if !bit(&rows[*group as usize], *other) {
                    continue;
                }
                let Some(object) = self.object(members[0], partners[0]) else { continue };
                for x in members {
                    for y in partners {
                        if pairs.len() == most {
                            return pairs.into_iter().collect();
                        }
                        pairs.insert(Pair { first: *x.min(y), second: *x.max(y), object });
                    }
                }
            }
        }
        pairs.into_iter().collect()
    }

    fn object(&self, x: usize, y: usize) -> Option<ObjectId> {
        let object = |a: u32, b: u32| {
            let key = (a.min(b), a.max(b));
            self.open.binary_search_by_key(&key, |(classes, _)| *classes).ok().map(|at| self.open[at].1)
        };
        self.classes[x].iter().find_map(|a| self.classes[y].iter().find_map(|b| object(*a, *b)))
    }

    /// Without rows: class by class until there are enough.
    fn some<P: Ord + Copy>(
        &self,
        place: impl Fn(usize) -> P,
        most: usize,
        contexts: usize,
        listed: &mut Listed<P>,
    ) {
        let members = |class: u32| {
            self.groups.in_class[class as usize].iter().map(|group| self.groups.members[*group as usize][0])
        };
        for ((a, b), object) in &self.open {
            for x in members(*a) {
                for y in members(*b) {
                    let (p, q) = (place(x), place(y));
                    let (key, first, second) = if p <= q { ((p, q), x, y) } else { ((q, p), y, x) };
                    let pair = Pair { first: first.min(second), second: first.max(second), object: *object };
                    if let Some(list) = listed.pairs.get_mut(&key) {
                        if list.len() < contexts && !list.contains(&pair) {
                            list.push(pair);
                        }
                    } else {
                        if listed.pairs.len() == most {
                            listed.places = most as u64;
                            return;
                        }
                        listed.pairs.insert(key, vec![pair]);
                    }
                }
            }
        }
        listed.places = listed.pairs.len() as u64;
    }

    /// Per group, the groups that it is related to.
    fn rows(&self, twos: impl Iterator<Item = (u32, u32)>) -> Option<Vec<Bits>> {
        let words = self.groups.members.len().div_ceil(64);
        if self.groups.members.len().max(self.groups.in_class.len()) * words * 8 > LARGEST {
            return None;
        }
        let set = |row: &mut Bits, groups: &[u32]| {
            row.resize(words, 0);
            groups.iter().for_each(|group| row[*group as usize / 64] |= 1 << (group % 64));
        };
        let mut of_class: Vec<Bits> = vec![Vec::new(); self.groups.in_class.len()];
        // Of classes with so many groups that their bits are sooner added as words.
        let mut large: Vec<Bits> = vec![Vec::new(); self.groups.in_class.len()];
        let mut add = |to: u32, from: u32| {
            let row = &mut of_class[to as usize];
            let groups = &self.groups.in_class[from as usize];
            if groups.len() <= words {
                return set(row, groups);
            }
            let bits = &mut large[from as usize];
            if bits.is_empty() {
                set(bits, groups);
            }
            row.resize(words, 0);
            row.iter_mut().zip(&*bits).for_each(|(word, more)| *word |= more);
        };
        for (a, b) in twos {
            add(a, b);
            add(b, a);
        }
        let row = |members: &Vec<usize>| {
            let mut row = vec![0; words];
            for class in &self.classes[members[0]] {
                row.iter_mut().zip(&of_class[*class as usize]).for_each(|(word, more)| *word |= more);
            }
            row
        };
        Some(self.groups.members.par_iter().map(row).collect())
    }
}

/// Open pairs by place.
pub(crate) struct Listed<P> {
    pub pairs: BTreeMap<(P, P), Vec<Pair>>,
    /// Pairs of places, listed or not; if they could not be counted, there are at least so many.
    pub places: u64,
    pub counted: bool,
}

impl Groups {
    fn new(classes: &[Vec<u32>], members: &[Vec<usize>]) -> Groups {
        let mut known: FastMap<&[u32], u32> = FastMap::default();
        let mut groups = Groups {
            of: vec![u32::MAX; classes.len()],
            members: Vec::new(),
            in_class: vec![Vec::new(); members.len()],
        };
        for (access, signature) in classes.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            let next = groups.members.len() as u32;
            let group = *known.entry(signature).or_insert(next);
            if group == next {
                groups.members.push(Vec::new());
                signature.iter().for_each(|class| groups.in_class[*class as usize].push(group));
            }
            groups.of[access] = group;
            groups.members[group as usize].push(access);
        }
        groups
    }

    /// Pairs of accesses of related groups, each once.
    fn count(&self, rows: &[Bits]) -> u64 {
        let size = |group: usize| self.members[group].len() as u64;
        let mut total = 0;
        for (group, row) in rows.iter().enumerate() {
            for other in ones(row).map(|other| other as usize).filter(|other| *other >= group) {
                total += match other == group {
                    true => size(group) * (size(group) + 1) / 2,
                    false => size(group) * size(other),
                };
            }
        }
        total
    }
}

/// Pairs of classes in ascending order, each once with the object that came first.
fn sorted(classes: usize, twos: Vec<Two>) -> Vec<((u32, u32), ObjectId)> {
    // By first class: where each starts.
    let mut starts = vec![0usize; classes + 1];
    let first = |two: &Two| two.first.min(two.second);
    twos.iter().for_each(|two| starts[first(two) as usize + 1] += 1);
    (0..classes).for_each(|class| starts[class + 1] += starts[class]);
    let mut free = starts.clone();
    let mut seconds = vec![(0u32, ObjectId(0)); twos.len()];
    for two in &twos {
        let at = &mut free[first(two) as usize];
        seconds[*at] = (two.first.max(two.second), two.object);
        *at += 1;
    }
    drop(twos);
    let mut rest = seconds.as_mut_slice();
    let mut of_class = Vec::with_capacity(classes);
    for class in 0..classes {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(starts[class + 1] - starts[class]);
        of_class.push(own);
        rest = others;
    }
    of_class
        .into_par_iter()
        .enumerate()
        .map(|(class, own)| {
            // Stable: the first object stays.
            own.sort_by_key(|(second, _)| *second);
            let mut own: Vec<((u32, u32), ObjectId)> =
                own.iter().map(|(second, object)| ((class as u32, *second), *object)).collect();
            own.dedup_by_key(|(classes, _)| *classes);
            own
        })
        .collect::<Vec<_>>()
        .concat()
}

fn sum(members: &[Vec<usize>], twos: impl Iterator<Item = (u32, u32)>) -> u64 {
    let size = |class: u32| members[class as usize].len() as u64;
    twos.map(|(a, b)| size(a).saturating_mul(size(b))).fold(0, u64::saturating_add)
}

fn bit(row: &Bits, at: u32) -> bool {
    row[at as usize / 64] >> (at % 64) & 1 == 1
}

fn ones(row: &Bits) -> impl Iterator<Item = u32> + '_ {
    row.iter().enumerate().flat_map(|(at, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            left &= left.checked_sub(1)?;
            Some(at as u32 * 64 + bit)
        })
    })
}
