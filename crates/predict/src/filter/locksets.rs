//! Which locks threads hold while the trace goes on; sets of them have numbers.

use raddle_base::fast_hash::FastMap;
use raddle_event::{Addr, Event, EventKind, LockMode, ThreadId};

/// The locks that a thread holds, sorted; by number.
#[derive(Debug, Default)]
pub(crate) struct Locksets {
    numbers: FastMap<Vec<(Addr, LockMode)>, u32>,
    sets: Vec<Vec<(Addr, LockMode)>>,
    held: Vec<Vec<(Addr, LockMode)>>,
    present: Vec<u32>,
    /// By set: [`Locksets::any`] and [`Locksets::exclusive`], once they were asked for.
    parts: Vec<[Option<u32>; 2]>,
    commons: FastMap<(u32, u32), u32>,
}

impl Locksets {
    pub(super) const NONE: u32 = 0;
    /// Of no access: every lock is common to none of them.
    pub(super) const ALL: u32 = u32::MAX;

    pub(crate) fn new() -> Self {
        let mut locksets = Self::default();
        locksets.number(Vec::new());
        locksets
    }

    fn number(&mut self, set: Vec<(Addr, LockMode)>) -> u32 {
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    pub(crate) fn of(&self, thread: ThreadId) -> u32 {
        self.present.get(thread.0 as usize).copied().unwrap_or(0)
    }

    /// Follows acquisitions and releases.
    pub(crate) fn take(&mut self, event: &Event) {
        let index = event.thread.0 as usize;
        let change = match event.kind {
            EventKind::Acquire { lock, mode } => Some((lock, mode, true)),
            EventKind::Release { lock, mode } => Some((lock, mode, false)),
            _ => None,
        };
        let Some((lock, mode, acquires)) = change else { return };
        if self.held.len() <= index {
            self.held.resize_with(index + 1, Vec::new);
            self.present.resize(index + 1, 0);
        }
        let held = &mut self.held[index];
        match acquires {
            true => {
                let place = held.partition_point(|one| *one < (lock, mode));
                held.insert(place, (lock, mode));
            }
            false => {
                if let Some(place) = held.iter().rposition(|one| *one == (lock, mode)) {
                    held.remove(place);
                }
            }
        }
        self.present[index] = self.number(self.held[index].clone());
    }

    /// The locks of a set, whatever the mode.
    pub(super) fn any(&mut self, set: u32) -> u32 {
        self.part(set, 0, |_| true)
    }

    /// The locks of a set that are held exclusively.
    pub(super) fn exclusive(&mut self, set: u32) -> u32 {
        self.part(set, 1, |mode| mode == LockMode::Exclusive)
    }

    fn part(&mut self, set: u32, which: usize, is_in: fn(LockMode) -> bool) -> u32 {
        if let Some(known) = self.parts.get(set as usize).and_then(|parts| parts[which]) {
            return known;
        }
        let locks = self.sets[set as usize].iter().filter(|(_, mode)| is_in(*mode));
        let mut locks: Vec<(Addr, LockMode)> = locks.map(|(lock, _)| (*lock, LockMode::Exclusive)).collect();
        locks.dedup();
        let part = self.number(locks);
        self.parts.resize(self.sets.len(), [None; 2]);
        self.parts[set as usize][which] = Some(part);
        part
    }

    /// The locks that are in both of two parts, or in one if the other is [`Locksets::ALL`].
    pub(super) fn common(&mut self, a: u32, b: u32) -> u32 {
        match (a.min(b), a.max(b)) {
            (one, other) if one == other || other == Self::ALL => one,
            (Self::NONE, _) => Self::NONE,
            pair => match self.commons.get(&pair) {
                Some(known) => *known,
                None => {
                    let (one, other) = (&self.sets[pair.0 as usize], &self.sets[pair.1 as usize]);
                    let both = one.iter().filter(|lock| other.contains(lock)).copied().collect();
                    let common = self.number(both);
                    self.commons.insert(pair, common);
                    common
                }
            },
        }
    }

    /// Whether no lock of the one set excludes one of the other.
    pub(crate) fn disjoint(&self, a: u32, b: u32) -> bool {
        if a == 0 || b == 0 {
            return true;
        }
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        a.iter().all(|(lock, mode)| {
            let excludes = |other: &(Addr, LockMode)| {
                other.0 == *lock && (*mode == LockMode::Exclusive || other.1 == LockMode::Exclusive)
            };
            !b.iter().any(excludes)
        })
    }
}
