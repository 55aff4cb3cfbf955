//! Interned sets of (object, offset pattern): equal sets have equal ids, so most copies of sets are copies of a number, and a union
//! that was computed once is looked up.
//!
//! After Barbar and Sui, "Hash consed points-to sets" (SAS 2021), in two levels: a set is a list of chunks, one for each run of
//! neighbouring objects, and chunks are interned too. Large programs have ten thousands of large sets that differ in few entries: they share
//! all other chunks, and what is computed of a chunk is computed once.
//!
//! Unions keep the patterns of an object few (see [`super::pattern`]), so they depend on the order of operands; both orders include
//! both operands.

use super::lists::Lists;
use super::pattern;
use crate::fast_hash::FastMap;
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
const SMALL: u32 = 4;

/// Objects whose numbers differ in this many low bits are in one chunk.
const CHUNK_BITS: u32 = 7;

/// A chunk in the list of a set: which objects it is about, and its number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Chunk(u64);

impl Chunk {
    fn block(self) -> u32 {
        (self.0 >> 32) as u32
    }
    fn id(self) -> u32 {
        self.0 as u32
    }
}

pub(super) struct Sets {
    patterns: Vec<Offsets>,
    pattern_ids: FastMap<Offsets, Pattern>,
    /// Entries of neighbouring objects, ascending.
    chunks: Lists,
    /// [`Chunk`]s, ascending.
    sets: Lists,
    /// Entries of each set.
    lens: Vec<u32>,
    unions: FastMap<(Set, Set), Set>,
    shifts: FastMap<(Set, Shift), Set>,
    differences: FastMap<(Set, Set), Set>,
    chunk_unions: FastMap<(u32, u32), u32>,
    chunk_shifts: FastMap<(u32, Shift), u32>,
    buffer: Vec<u64>,
    entries: Vec<u64>,
    list: Vec<Offsets>,
}

impl Sets {
    pub(super) fn new() -> Sets {
        let mut sets = Sets {
            patterns: Vec::new(),
            pattern_ids: FastMap::default(),
            chunks: Lists::default(),
            sets: Lists::default(),
            lens: Vec::new(),
            unions: FastMap::default(),
            shifts: FastMap::default(),
            differences: FastMap::default(),
            chunk_unions: FastMap::default(),
            chunk_shifts: FastMap::default(),
            buffer: Vec::new(),
            entries: Vec::new(),
            list: Vec::new(),
        };
        sets.pattern(Offsets::ANY);
        sets.intern(&[]);
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
        self.lens[set.0 as usize] as usize
    }

    /// The only entry, if there is one.
    pub(super) fn only(&self, set: Set) -> Option<Entry> {
        self.entries(set).next().filter(|_| self.len(set) == 1)
    }

    pub(super) fn entries(&self, set: Set) -> impl Iterator<Item = Entry> + '_ {
        let chunks = self.sets.get(set.0).iter();
        chunks.flat_map(|chunk| self.chunks.get(Chunk(*chunk).id())).map(|word| Entry(*word))
    }

    pub(super) fn single(&mut self, object: u32, offsets: Offsets) -> Set {
        let pattern = self.pattern(offsets);
        self.of_entries(&[Entry::new(object, pattern)])
    }

    /// A set of entries in ascending order.
    pub(super) fn of_entries(&mut self, entries: &[Entry]) -> Set {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut words = std::mem::take(&mut self.entries);
        buffer.clear();
        let block = |entry: &Entry| entry.object() >> CHUNK_BITS;
        for run in entries.chunk_by(|x, y| block(x) == block(y)) {
            words.clear();
            words.extend(run.iter().map(|entry| entry.0));
            buffer.push(u64::from(block(&run[0])) << 32 | u64::from(self.chunks.intern(&words)));
        }
        let set = self.intern(&buffer);
        (self.buffer, self.entries) = (buffer, words);
        set
    }

    /// The set of these chunks.
    fn intern(&mut self, chunks: &[u64]) -> Set {
        let id = self.sets.intern(chunks);
        if id as usize == self.lens.len() {
            let len: usize = chunks.iter().map(|chunk| self.chunks.get(Chunk(*chunk).id()).len()).sum();
            self.lens.push(u32::try_from(len).expect("fewer than 2^32 entries"));
        }
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
        if self.lens[b.0 as usize] <= SMALL && self.includes(a, b) {
            return a;
        }
        if let Some(known) = self.unions.get(&(a, b)) {
            return *known;
        }
        let result = self.compute_union(a, b);
        self.unions.insert((a, b), result);
        result
    }

    /// Whether all entries of `b` are literally in `a`. Fast when `b` is small.
    pub(super) fn includes(&self, a: Set, b: Set) -> bool {
        let all = self.sets.get(a.0);
        self.sets.get(b.0).iter().all(|wanted| {
            let wanted = Chunk(*wanted);
            let at = all.partition_point(|chunk| Chunk(*chunk).block() < wanted.block());
            let Some(found) = all.get(at).map(|chunk| Chunk(*chunk)) else { return false };
            found == wanted
                || found.block() == wanted.block()
                    && includes_words(self.chunks.get(found.id()), self.chunks.get(wanted.id()))
        })
    }

    fn compute_union(&mut self, a: Set, b: Set) -> Set {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let (mut i, mut j) = (0, 0);
        loop {
            let (x, y) = (self.sets.get(a.0).get(i).copied(), self.sets.get(b.0).get(j).copied());
            let (x, y) = match (x, y) {
                (Some(x), Some(y)) => (Chunk(x), Chunk(y)),
                (Some(_), None) => {
                    buffer.extend_from_slice(&self.sets.get(a.0)[i..]);
                    break;
                }
                (None, _) => {
                    buffer.extend_from_slice(&self.sets.get(b.0)[j..]);
                    break;
                }
            };
            let chunk = if x.block() < y.block() || x == y {
                x
            } else if y.block() < x.block() {
                y
            } else {
                Chunk(u64::from(x.block()) << 32 | u64::from(self.chunk_union(x.id(), y.id())))
            };
            i += usize::from(x.block() <= y.block());
            j += usize::from(y.block() <= x.block());
            buffer.push(chunk.0);
        }
        let set = self.intern(&buffer);
        self.buffer = buffer;
        set
    }

    /// Of two chunks about the same objects.
    fn chunk_union(&mut self, a: u32, b: u32) -> u32 {
        if let Some(known) = self.chunk_unions.get(&(a, b)) {
            return *known;
        }
        let result = match includes_words(self.chunks.get(a), self.chunks.get(b)) {
            true => a,
            false => self.compute_chunk_union(a, b),
        };
        self.chunk_unions.insert((a, b), result);
        result
    }

    fn compute_chunk_union(&mut self, a: u32, b: u32) -> u32 {
        let mut words = std::mem::take(&mut self.entries);
        let mut list = std::mem::take(&mut self.list);
        words.clear();
        let object = |word: &u64| (word >> 32) as u32;
        let (mut i, mut j) = (0, 0);
        loop {
            let (x, y) = (&self.chunks.get(a)[i..], &self.chunks.get(b)[j..]);
            if x.is_empty() || y.is_empty() {
                words.extend_from_slice(x);
                words.extend_from_slice(y);
                break;
            }
            let first = object(&x[0]).min(object(&y[0]));
            let run = |list: &[u64]| list.iter().take_while(|word| object(word) == first).count();
            let (x, y) = (&x[..run(x)], &y[..run(y)]);
            (i, j) = (i + x.len(), j + y.len());
            if y.is_empty() || x == y {
                words.extend_from_slice(x);
            } else if x.is_empty() {
                words.extend_from_slice(y);
            } else {
                list.clear();
                list.extend(x.iter().map(|word| self.patterns[*word as u32 as usize]));
                for word in y {
                    pattern::insert(&mut list, self.patterns[*word as u32 as usize]);
                }
                self.push_run(&mut words, first, &list);
            }
        }
        let chunk = self.chunks.intern(&words);
        (self.entries, self.list) = (words, list);
        chunk
    }

    fn push_run(&mut self, words: &mut Vec<u64>, object: u32, list: &[Offsets]) {
        let start = words.len();
        for offsets in list {
            let pattern = self.pattern(*offsets);
            words.push(Entry::new(object, pattern).0);
        }
        words[start..].sort_unstable();
    }

    /// All offsets shifted.
    pub(super) fn shifted(&mut self, set: Set, shift: Shift) -> Set {
        if shift == SAME || set == EMPTY {
            return set;
        }
        if let Some(known) = self.shifts.get(&(set, shift)) {
            return *known;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend_from_slice(self.sets.get(set.0));
        for chunk in &mut buffer {
            let (block, id) = (Chunk(*chunk).block(), Chunk(*chunk).id());
            *chunk = u64::from(block) << 32 | u64::from(self.chunk_shifted(id, shift));
        }
        let result = self.intern(&buffer);
        self.buffer = buffer;
        self.shifts.insert((set, shift), result);
        result
    }

    fn chunk_shifted(&mut self, chunk: u32, shift: Shift) -> u32 {
        if let Some(known) = self.chunk_shifts.get(&(chunk, shift)) {
            return *known;
        }
        let by = self.patterns[shift.0 as usize];
        let mut words = std::mem::take(&mut self.entries);
        let mut list = std::mem::take(&mut self.list);
        words.clear();
        let mut at = 0;
        while let Some(first) = self.chunks.get(chunk).get(at).map(|word| Entry(*word)) {
            let rest = &self.chunks.get(chunk)[at..];
            let len = rest.iter().take_while(|word| Entry(**word).object() == first.object()).count();
            if by == Offsets::ANY {
                words.push(Entry::new(first.object(), ANYWHERE).0);
            } else {
                list.clear();
                for word in &rest[..len] {
                    pattern::insert(&mut list, pattern::sum(self.patterns[*word as u32 as usize], by));
                }
                self.push_run(&mut words, first.object(), &list);
            }
            at += len;
        }
        let result = self.chunks.intern(&words);
        (self.entries, self.list) = (words, list);
        self.chunk_shifts.insert((chunk, shift), result);
        result
    }

    /// The entries of `a` that are not literally in `b`.
    pub(super) fn difference(&self, a: Set, b: Set) -> Vec<Entry> {
        let mut new = Vec::new();
        let old = self.sets.get(b.0);
        let mut at = 0;
        for chunk in self.sets.get(a.0).iter().map(|chunk| Chunk(*chunk)) {
            at += old[at..].iter().take_while(|other| Chunk(**other).block() < chunk.block()).count();
            let known: &[u64] = match old.get(at).map(|other| Chunk(*other)) {
                Some(other) if other == chunk => continue,
                Some(other) if other.block() == chunk.block() => self.chunks.get(other.id()),
                _ => &[],
            };
            let mut rest = known.iter().peekable();
            for word in self.chunks.get(chunk.id()) {
                while rest.next_if(|other| *other < word).is_some() {}
                if rest.peek() != Some(&word) {
                    new.push(Entry(*word));
                }
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
}

/// Whether all words of `b` are in `a`; both ascend.
fn includes_words(a: &[u64], b: &[u64]) -> bool {
    if b.len() > a.len() {
        return false;
    }
    if b.len() * 8 < a.len() {
        return b.iter().all(|word| a.binary_search(word).is_ok());
    }
    let mut rest = a.iter();
    b.iter().all(|word| rest.by_ref().find(|other| *other >= word) == Some(word))
}
