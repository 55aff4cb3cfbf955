//! Events: interned names such as `lock.t1.m`, and sets of them.
//!
//! Section 2.2 of the 2015 paper: an event carries, separated by dots, the thread and the target of the action. The part before the first
//! dot is the channel. We differ in that an event is an atom: nothing is computed from its parts, except membership in [`Alphabet::under`].
//!
//! Which way it errs: neither; an alphabet holds exactly the names that were interned, so [`Alphabet::all`] is Sigma at the time of the call.

use std::collections::HashMap;

/// The events of a model, numbered in order of first use.
#[derive(Clone, Debug, Default)]
pub struct Alphabet {
    names: Vec<Box<str>>,
    ids: HashMap<Box<str>, EventId>,
}

/// An event of one [`Alphabet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(u32);

/// A set of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventSet {
    /// Bits; the last word is not zero, so that equal sets are equal values.
    words: Vec<u64>,
}

impl Alphabet {
    pub fn new() -> Self {
        Self::default()
    }

    /// The event of this name; a new one where the name is new.
    pub fn intern(&mut self, name: &str) -> EventId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = EventId(u32::try_from(self.names.len()).expect("fewer than 2^32 events"));
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    pub fn get(&self, name: &str) -> Option<EventId> {
        self.ids.get(name).copied()
    }

    pub fn name(&self, event: EventId) -> &str {
        &self.names[event.index()]
    }

    /// Names of a sequence, for reports and tests.
    pub fn names(&self, events: &[EventId]) -> Vec<&str> {
        events.iter().map(|&event| self.name(event)).collect()
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (EventId, &str)> {
        self.names.iter().enumerate().map(|(index, name)| (EventId(index as u32), &**name))
    }

    /// Sigma.
    pub fn all(&self) -> EventSet {
        self.iter().map(|(event, _)| event).collect()
    }

    /// The events whose first parts are `prefix`: `lock` and `lock.t1` both have `lock.t1.m` under them, `lo` has not.
    pub fn under(&self, prefix: &str) -> EventSet {
        let below = |name: &str| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.iter().filter(|(_, name)| below(name)).map(|(event, _)| event).collect()
    }

    /// The union of [`Alphabet::under`] over several prefixes: `{| lock, unlock |}`.
    pub fn under_any(&self, prefixes: &[&str]) -> EventSet {
        prefixes.iter().flat_map(|prefix| self.under(prefix).iter().collect::<Vec<_>>()).collect()
    }
}

impl EventId {
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The event with this number; the caller knows that the alphabet has one.
    pub(crate) fn from_index(index: u32) -> Self {
        Self(index)
    }
}

impl EventSet {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn insert(&mut self, event: EventId) {
        let word = event.index() / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (event.index() % 64);
    }

    pub fn remove(&mut self, event: EventId) {
        if let Some(word) = self.words.get_mut(event.index() / 64) {
            *word &= !(1 << (event.index() % 64));
        }
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    pub fn contains(&self, event: EventId) -> bool {
        self.words.get(event.index() / 64).is_some_and(|word| word & (1 << (event.index() % 64)) != 0)
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_subset(&self, other: &EventSet) -> bool {
        self.words.len() <= other.words.len() && self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// In the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = EventId> {
        let bits = |word: u64| (0..64u32).filter(move |bit| word & (1 << bit) != 0);
        self.words
            .iter()
            .enumerate()
            .flat_map(move |(index, &word)| bits(word).map(move |bit| EventId(index as u32 * 64 + bit)))
    }
}

impl FromIterator<EventId> for EventSet {
    fn from_iter<I: IntoIterator<Item = EventId>>(events: I) -> Self {
        let mut set = Self::new();
        set.extend(events);
        set
    }
}

impl Extend<EventId> for EventSet {
    fn extend<I: IntoIterator<Item = EventId>>(&mut self, events: I) {
        for event in events {
            self.insert(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_at_dots() {
        let mut alphabet = Alphabet::new();
        let lock = alphabet.intern("lock.t1.m");
        let other = alphabet.intern("lock.t10.m");
        alphabet.intern("locked.t1");
        assert_eq!(alphabet.intern("lock.t1.m"), lock);
        assert_eq!(alphabet.under("lock.t1").iter().collect::<Vec<_>>(), [lock]);
        assert_eq!(alphabet.under("lock").iter().collect::<Vec<_>>(), [lock, other]);
        assert!(alphabet.under("loc").is_empty());
    }

    #[test]
    fn equal_sets_are_equal_values() {
        let mut alphabet = Alphabet::new();
        let events: Vec<EventId> = (0..130).map(|i| alphabet.intern(&format!("e{i}"))).collect();
        let mut set: EventSet = [events[3], events[129]].into_iter().collect();
        assert!(!set.is_subset(&[events[3]].into_iter().collect()));
        set.remove(events[129]);
        assert_eq!(set, [events[3]].into_iter().collect());
        assert!(set.is_subset(&alphabet.all()));
        assert_eq!(alphabet.all().len(), 130);
    }
}
