//! Interned sets of (object, offset pattern): equal sets have equal ids, so most copies of sets are copies of a number, and a union
//! that was computed once is looked up.
//!
//! After Barbar and Sui, "Hash consed points-to sets" (SAS 2021). Unions keep the patterns of an object few (see [`super::pattern`]), so
//! they depend on the order of operands; both orders include both operands.

use super::pattern;
use crate::fast_hash::{FastHasher, FastMap};
use raddle_facts::Offsets;

/// A set; 0 is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Set(pub u32);

pub(super) const EMPTY: Set = Set(0);

/// An interned pattern; 0 is [`Offsets::ANY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Pattern(pub u32);

pub(super) const ANYWHERE: Pattern = Pattern(0);

/// What an edge adds to offsets: the pattern of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Shift(pub u32);

pub(super) const SAME: Shift = Shift(u32::MAX);
pub(super) const LOSE: Shift = Shift(0);

/// An object (internal number) with a pattern, ordered by object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Entry(u64);

impl Entry {
    pub(super) fn new(object: u32, pattern: Pattern) -> Entry {
        Entry(u64::from(object) << 32 | u64::from(pattern.0))
    }
    pub(super) fn object(self) -> u32 {
        (self.0 >> 32) as u32
    }
    pub(super) fn pattern(self) -> Pattern {
        Pattern(self.0 as u32)
    }
}

/// Whether so few entries are in a set is faster found out than looked up.
const SMALL: usize = 4;

pub(super) struct Sets {
    patterns: Vec<Offsets>,
    pattern_ids: FastMap<Offsets, Pattern>,
    data: Vec<u64>,
    /// Start in `data` and length.
    ranges: Vec<(u64, u32)>,
    /// First set with a hash, and the next one with the same.
    heads: FastMap<u64, u32>,
    next: Vec<u32>,
    unions: FastMap<(Set, Set), Set>,
    shifts: FastMap<(Set, Shift), Set>,
    differences: FastMap<(Set, Set), Set>,
    buffer: Vec<u64>,
    list: Vec<Offsets>,
    /// Objects whose offsets are not kept apart.
    flat: Vec<bool>,
}

impl Sets {
    pub(super) fn new() -> Sets {
        let mut sets = Sets {
            patterns: Vec::new(),
            pattern_ids: FastMap::default(),
            data: Vec::new(),
            ranges: Vec::new(),
            heads: FastMap::default(),
            next: Vec::new(),
            unions: FastMap::default(),
            shifts: FastMap::default(),
            differences: FastMap::default(),
            buffer: Vec::new(),
            list: Vec::new(),
            flat: Vec::new(),
        };
        sets.pattern(Offsets::ANY);
        sets.intern();
        sets
    }

    pub(super) fn pattern(&mut self, offsets: Offsets) -> Pattern {
        if let Some(id) = self.pattern_ids.get(&offsets) {
            return *id;
        }
        let id = Pattern(u32::try_from(self.patterns.len()).expect("fewer than 2^32 patterns"));
        self.patterns.push(offsets);
        self.pattern_ids.insert(offsets, id);
        id
    }

    pub(super) fn offsets(&self, pattern: Pattern) -> Offsets {
        self.patterns[pattern.0 as usize]
    }

    /// A shift that adds a pattern.
    pub(super) fn shift(&mut self, by: Offsets) -> Shift {
        if by == Offsets::exact(0) { SAME } else { Shift(self.pattern(by).0) }
    }

    pub(super) fn len(&self, set: Set) -> usize {
        self.ranges[set.0 as usize].1 as usize
    }

    pub(super) fn entry(&self, set: Set, index: usize) -> Entry {
        Entry(self.data[self.ranges[set.0 as usize].0 as usize + index])
    }

    pub(super) fn entries(&self, set: Set) -> impl Iterator<Item = Entry> + '_ {
        self.words(set).iter().map(|word| Entry(*word))
    }

    fn words(&self, set: Set) -> &[u64] {
        let (start, len) = self.ranges[set.0 as usize];
        &self.data[start as usize..start as usize + len as usize]
    }

    pub(super) fn single(&mut self, object: u32, offsets: Offsets) -> Set {
        let offsets = if self.is_flat(object) { Offsets::ANY } else { offsets };
        let pattern = self.pattern(offsets);
        self.buffer.clear();
        self.buffer.push(Entry::new(object, pattern).0);
        self.intern()
    }

    pub(super) fn is_flat(&self, object: u32) -> bool {
        self.flat.get(object as usize).copied().unwrap_or(false)
    }

    /// The set in `buffer`, which is sorted.
    fn intern(&mut self) -> Set {
        let hash = FastHasher::of(&self.buffer);
        let head = self.heads.get(&hash).copied();
        let mut at = head;
        while let Some(id) = at {
            if self.words(Set(id)) == self.buffer.as_slice() {
                return Set(id);
            }
            at = Some(self.next[id as usize]).filter(|next| *next != u32::MAX);
        }
        let id = u32::try_from(self.ranges.len()).expect("fewer than 2^32 sets");
        self.ranges.push((self.data.len() as u64, self.buffer.len() as u32));
        self.data.extend_from_slice(&self.buffer);
        self.next.push(head.unwrap_or(u32::MAX));
        self.heads.insert(hash, id);
        Set(id)
    }

    /// Everything in `a` or `b`; `a` itself if `b` adds nothing.
    pub(super) fn union(&mut self, a: Set, b: Set) -> Set {
        if a == b || b == EMPTY {
            return a;
        }
        if a == EMPTY {
            return b;
        }
        let is_small = self.len(b) <= SMALL;
        if is_small && self.includes_words(a, b) {
            return a;
        }
        if let Some(known) = self.unions.get(&(a, b)) {
            return *known;
        }
        let included = !is_small && self.includes_words(a, b);
        let result = if included { a } else { self.compute_union(a, b) };
        self.unions.insert((a, b), result);
        result
    }

    /// Whether all entries of `b` are literally in `a`. Fast when `b` is small.
    fn includes_words(&self, a: Set, b: Set) -> bool {
        let (a, b) = (self.words(a), self.words(b));
        if b.len() > a.len() {
            return false;
        }
        if b.len() * 8 < a.len() {
            return b.iter().all(|word| a.binary_search(word).is_ok());
        }
        let mut rest = a.iter();
        b.iter().all(|word| rest.by_ref().find(|other| *other >= word) == Some(word))
    }

    fn compute_union(&mut self, a: Set, b: Set) -> Set {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut list = std::mem::take(&mut self.list);
        buffer.clear();
        let ((a_start, a_len), (b_start, b_len)) = (self.ranges[a.0 as usize], self.ranges[b.0 as usize]);
        let (mut i, a_end) = (a_start as usize, a_start as usize + a_len as usize);
        let (mut j, b_end) = (b_start as usize, b_start as usize + b_len as usize);
        let object = |word: u64| word >> 32;
        while i < a_end && j < b_end {
            let (x, y) = (self.data[i], self.data[j]);
            if object(x) < object(y) {
                buffer.push(x);
                i += 1;
            } else if object(y) < object(x) {
                buffer.push(y);
                j += 1;
            } else {
                let i_end = (i..a_end).find(|k| object(self.data[*k]) != object(x)).unwrap_or(a_end);
                let j_end = (j..b_end).find(|k| object(self.data[*k]) != object(x)).unwrap_or(b_end);
                if self.data[i..i_end] == self.data[j..j_end] {
                    buffer.extend_from_slice(&self.data[i..i_end]);
                } else {
                    list.clear();
                    list.extend(self.data[i..i_end].iter().map(|word| self.patterns[*word as u32 as usize]));
                    for k in j..j_end {
                        pattern::insert(&mut list, self.patterns[self.data[k] as u32 as usize]);
                    }
                    self.push_run(&mut buffer, object(x) as u32, &list);
                }
                (i, j) = (i_end, j_end);
            }
        }
        buffer.extend_from_slice(&self.data[i..a_end]);
        buffer.extend_from_slice(&self.data[j..b_end]);
        self.buffer = buffer;
        self.list = list;
        self.intern()
    }

    fn push_run(&mut self, buffer: &mut Vec<u64>, object: u32, list: &[Offsets]) {
        let start = buffer.len();
        for offsets in list {
            let pattern = self.pattern(*offsets);
            buffer.push(Entry::new(object, pattern).0);
        }
        buffer[start..].sort_unstable();
    }

    /// All offsets shifted.
    pub(super) fn shifted(&mut self, set: Set, shift: Shift) -> Set {
        if shift == SAME || set == EMPTY {
            return set;
        }
        if let Some(known) = self.shifts.get(&(set, shift)) {
            return *known;
        }
        let by = self.patterns[shift.0 as usize];
        let words: Vec<u64> = self.words(set).to_vec();
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut list = Vec::new();
        buffer.clear();
        for run in words.chunk_by(|x, y| x >> 32 == y >> 32) {
            let object = (run[0] >> 32) as u32;
            if by == Offsets::ANY || self.is_flat(object) {
                buffer.push(Entry::new(object, ANYWHERE).0);
                continue;
            }
            list.clear();
            for word in run {
                pattern::insert(&mut list, pattern::sum(self.patterns[*word as u32 as usize], by));
            }
            self.push_run(&mut buffer, object, &list);
        }
        self.buffer = buffer;
        let result = self.intern();
        self.shifts.insert((set, shift), result);
        result
    }

    /// The entries of `a` that are not literally in `b`.
    pub(super) fn difference(&self, a: Set, b: Set) -> Vec<Entry> {
        if b == EMPTY {
            return self.entries(a).collect();
        }
        let old = self.words(b);
        let mut at = 0;
        let mut new = Vec::new();
        for word in self.words(a) {
            while at < old.len() && old[at] < *word {
                at += 1;
            }
            if at == old.len() || old[at] != *word {
                new.push(Entry(*word));
            }
        }
        new
    }

    /// The same as a set: many nodes grow in the same way.
    pub(super) fn new_part(&mut self, a: Set, b: Set) -> Set {
        if b == EMPTY {
            return a;
        }
        if let Some(known) = self.differences.get(&(a, b)) {
            return *known;
        }
        let new = self.difference(a, b);
        let new = self.of_entries(&new);
        self.differences.insert((a, b), new);
        new
    }

    /// A set of entries in ascending order.
    pub(super) fn of_entries(&mut self, entries: &[Entry]) -> Set {
        self.buffer.clear();
        self.buffer.extend(entries.iter().map(|entry| entry.0));
        self.intern()
    }
}
