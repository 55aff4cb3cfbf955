//! Whether two given places race in this run. The detector tells of every location that races, but only with the last accesses before:
//! of three accesses that all race it may leave out a pair. A schedule is for one pair, so its accesses are remembered one by one.

use crate::report::Account;
use crate::thread::Thread;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Pairs {
    seen: Vec<Seen>,
    /// How often each thread has come to each of the places.
    counts: BTreeMap<(u32, u32), u32>,
}

/// An access by its thread and place, and the how-manieth of them it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nth {
    pub thread: u32,
    pub site: u32,
    pub nth: u32,
}

/// An access of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    pub first: usize,
    pub bytes: usize,
    pub writes: bool,
    pub atomic: bool,
    pub site: u32,
}

struct Seen {
    touch: Touch,
    slot: usize,
    clock: u32,
    which: Nth,
    account: Option<Account>,
}

/// Two accesses that race, the earlier one first.
pub struct Pair {
    pub ends: [Nth; 2],
    /// The first byte of both.
    pub address: usize,
    pub bytes: usize,
    /// What a report says of them, where it was asked for.
    pub accounts: Option<[Account; 2]>,
}

impl Pairs {
    /// A thread comes to one of the places.
    pub fn arrives(&mut self, thread: u32, site: u32) -> Nth {
        let nth = self.counts.entry((thread, site)).or_insert(0);
        *nth += 1;
        Nth { thread, site, nth: *nth }
    }

    /// Notes an access at one of the places, after [`Self::arrives`]; both ends, if it races with one at the other.
    pub fn touched(
        &mut self,
        thread: &mut Thread,
        touch: Touch,
        places: &[BTreeSet<u32>; 2],
        account: impl FnOnce(&mut Thread) -> Option<Account>,
    ) -> Option<Pair> {
        let ends = [0, 1].map(|end: usize| places[end].contains(&touch.site));
        if ends == [false, false] {
            return None;
        }
        let nth = self.counts.get(&(thread.id, touch.site)).copied().unwrap_or(0);
        let which = Nth { thread: thread.id, site: touch.site, nth };
        let found = self.seen.iter().find(|seen| {
            let then = &seen.touch;
            let others = [0, 1].map(|end: usize| places[end].contains(&then.site));
            let overlap = then.first < touch.first + touch.bytes && touch.first < then.first + then.bytes;
            (ends[0] && others[1] || ends[1] && others[0])
                && overlap
                && (then.writes || touch.writes)
                && !(then.atomic && touch.atomic)
                && !thread.knows_value(seen.slot, seen.clock)
        });
        let (slot, clock) = (thread.slot, thread.clock);
        let again =
            self.seen.iter().any(|other| (other.touch, other.slot, other.clock) == (touch, slot, clock));
        if again && found.is_none() {
            return None;
        }
        let account = account(thread);
        let found = found.map(|seen| {
            let address = seen.touch.first.max(touch.first);
            let end = (seen.touch.first + seen.touch.bytes).min(touch.first + touch.bytes);
            let accounts = seen.account.clone().zip(account.clone()).map(|(then, now)| [then, now]);
            Pair { ends: [seen.which, which], address, bytes: end - address, accounts }
        });
        if !again {
            self.seen.push(Seen { touch, slot, clock, which, account });
        }
        found
    }

    /// The memory is somebody else's from now on.
    pub fn forget(&mut self, start: usize, end: usize) {
        self.seen.retain(|seen| seen.touch.first >= end || seen.touch.first + seen.touch.bytes <= start);
    }
}
