//! The stutter rule: a thread that comes back to where it was, with nothing changed, need not try the same again.
//!
//! At every stop a thread's local state (frames, live registers), the version of all shared state and the local states of the others are
//! known as hashes. When a stop equals an earlier one of the same thread, the variants taken in between led nowhere:
//! * if the shared state never changed on the way, they lead nowhere as long as the shared state is the same (`while (!flag);`);
//! * if it changed and changed back (polling under a lock), they lead nowhere as long as all the rest of the program is the same too.
//!   Here the thread sleeps only where it holds the fewest locks of its round, so that a sleeper never keeps a lock that it would give
//!   up by going on;
//! * a spurious wake-up that leads back to its wait is ruled out there, with the lock: the wait itself stays open and gives it up. What
//!   others might have done while the lock was free they could do the first time. A thread never sleeps between such a wake-up and
//!   its lock, where signals do not reach it;
//! * if nobody used the lock during such a wake-up, and the thread itself changed nothing, another one is ruled out until the thread goes
//!   on, whatever others do meanwhile: what they did during the first wake-up they could have done before it, with the lock held.
//!   This depends on the uses of the lock alone, so steps that are independent of the wait neither bring it about nor end it.
//!
//! Cutting such rounds loses no race: what happens in the second round happened in the first, with no more order around it. Rounds
//! of more than [`WINDOW`] stops are noticed late, those of more than [`FARTHEST`] not at all: these end at the step limit.

/// Stops remembered.
const WINDOW: usize = 24;

#[derive(Debug, Default)]
pub struct Stutter {
    /// Latest stops, oldest first.
    stops: Vec<Stop>,
    far: Far,
    pub sleep: Option<Sleep>,
    /// Hash of the thread's local state at its present stop.
    pub local: u64,
}

#[derive(Clone, Copy, Debug)]
struct Stop {
    local: u64,
    /// The shared state when the thread arrived.
    arrived: u64,
    /// The shared state, and the others, when it went on.
    version: u64,
    others: u64,
    place: Place,
    /// The variant taken from here, and all that were open.
    taken: u32,
    open: u64,
    /// Another thread could have moved here.
    chance: bool,
    /// Another thread has used the lock that this one waits for here.
    disturbed: bool,
}

/// Where a thread stops.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Number of locks held.
    pub held: u32,
    pub rest: Rest,
}

/// When a thread may sleep at a stop though the shared state changed on its way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    WithFewestLocks,
    /// It never sleeps here, but need not leave the main way, variant 0, for one that leads back.
    Detours,
    /// It has woken up for no reason and waits for its lock. It never sleeps here.
    Roused,
}

/// The thread has been here before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleep {
    until: Until,
    /// Variants that led back here.
    taken: u64,
    /// Another thread had a chance to move on the way round.
    pub chance: bool,
    /// The thread could have gone another way on its way round, which it has not tried.
    pub elsewhere: bool,
}

/// What ends a sleep, besides that the thread goes on by a variant that leads elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// The shared state is another than this.
    Change {
        version: u64,
    },
    /// That, or the others stand elsewhere.
    AnyChange {
        version: u64,
        others: u64,
    },
    Never,
}

/// How far a thread has come with a wake-up that changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detour {
    None,
    /// It is roused, and nobody has used its lock since.
    Undisturbed,
    /// Another one is ruled out for as long as it stands here.
    RuledOut,
}

impl Clone for Stutter {
    fn clone(&self) -> Self {
        let mut copy = Stutter::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Self) {
        let Stutter { stops, far, sleep, local } = from;
        if self.stops.capacity() < stops.len() {
            self.stops = Vec::with_capacity(WINDOW);
        }
        self.stops.clone_from(stops);
        (self.far, self.sleep, self.local) = (*far, *sleep, *local);
    }
}

impl Stutter {
    /// Whether taking this variant in this state is known to lead nowhere.
    pub fn rules_out(&self, variant: u32, version: u64, others: u64) -> bool {
        self.sleep.is_some_and(|sleep| {
            let lasts = match sleep.until {
                Until::Change { version: known } => known == version,
                Until::AnyChange { version: known, others: stood } => (known, stood) == (version, others),
                Until::Never => true,
            };
            lasts && sleep.taken & bit(variant) != 0
        })
    }

    /// The thread takes this variant of those `open` (a bit for each) from where it stands, in this state.
    pub fn takes(&mut self, variant: u32, open: u64, version: u64, others: u64) {
        self.far.takes(variant, version, others);
        self.far.round.elsewhere |= open & !bit(variant) != 0;
        if let Some(stop) = self.stops.last_mut() {
            stop.taken = variant;
            stop.open = open;
            stop.version = version;
            stop.others = others;
        }
    }

    /// Another thread could move while this one stood at its present stop.
    pub fn note_chance(&mut self) {
        self.far.round.chance = true;
        if let Some(stop) = self.stops.last_mut() {
            stop.chance = true;
        }
    }

    /// Another thread has used the lock that this one waits for at its present stop.
    pub fn note_use_of_lock(&mut self) {
        if let Some(stop) = self.stops.last_mut() {
            stop.disturbed = true;
        }
    }

    /// The thread stops here. `version` and `others` are those of the state it leaves behind.
    pub fn stops_at(&mut self, local: u64, version: u64, others: u64, place: Place) {
        self.local = local;
        self.sleep = None;
        let now = Stop {
            local,
            arrived: version,
            version,
            others,
            place,
            taken: 0,
            open: 0,
            chance: false,
            disturbed: false,
        };
        let mut round = Round::default();
        // The latest equal stop decides how far round the thread has come; earlier ones only add variants.
        let (mut quiet, mut loud) = (Visits::default(), Visits::default());
        for stop in self.stops.iter().rev() {
            round.back_to(stop, &now);
            if stop.local == local && stop.version == version {
                round.elsewhere = self.leads_elsewhere(&now);
                if round.pure {
                    quiet.add(stop, &round);
                } else if stop.others == others {
                    loud.add(stop, &round);
                }
            }
            round.beyond(stop, &now);
        }
        self.sleep = self
            .useless_wake_up(&now)
            .or_else(|| quiet.sleep(&now, Until::Change { version }))
            .or_else(|| loud.sleep(&now, Until::AnyChange { version, others }));
        if self.sleep.is_none() {
            self.sleep = self.far.arrives(&now);
        }
        self.far.passes(&now);
        if self.stops.len() == WINDOW {
            self.stops.remove(0);
        }
        self.stops.push(now);
    }

    /// Whether the thread has stopped with this local state before, as far as is remembered. If not, no version of the shared state makes
    /// it sleep.
    pub fn has_stopped_at(&self, local: u64) -> bool {
        self.stops.iter().chain(&self.far.anchor).any(|stop| stop.local == local)
    }

    /// The thread is found to spin: it sleeps until the shared state changes.
    pub fn sleep_now(&mut self, version: u64) {
        let until = Until::Change { version };
        self.sleep = Some(Sleep { until, taken: 1, chance: false, elsewhere: false });
    }

    /// What of the past decides what will be open to the thread, whatever others do.
    pub fn detour(&self) -> Detour {
        if self.sleep.is_some_and(|sleep| sleep.until == Until::Never) {
            return Detour::RuledOut;
        }
        match self.stops.last() {
            Some(stop) if stop.place.rest == Rest::Roused && !stop.disturbed => Detour::Undisturbed,
            _ => Detour::None,
        }
    }

    /// The thread woke up for no reason, took its lock with nobody else having used it, and stands before the same wait again. What its
    /// two steps did to the shared state cancels out; others may have changed it in between.
    fn useless_wake_up(&self, now: &Stop) -> Option<Sleep> {
        let [.., wait, roused] = self.stops.as_slice() else { return None };
        let gave_up = wait.version.wrapping_sub(roused.arrived);
        let took = now.version.wrapping_sub(roused.version);
        let useless = roused.place.rest == Rest::Roused
            && !roused.disturbed
            && wait.local == now.local
            && gave_up == took;
        let taken = bit(wait.taken);
        useless.then_some(Sleep { until: Until::Never, taken, chance: false, elsewhere: false })
    }

    /// Whether the thread has left out some way on from a stop since it was here last.
    fn leads_elsewhere(&self, now: &Stop) -> bool {
        let is_here = |stop: &Stop| (stop.local, stop.version) == (now.local, now.version);
        self.stops.iter().rev().take_while(|stop| !is_here(stop)).any(|stop| {
            let same = |other: &&Stop| (other.local, other.version) == (stop.local, stop.version);
            let taken = self.stops.iter().filter(same).fold(0, |taken, other| taken | bit(other.taken));
            stop.open & !taken != 0
        })
    }

    pub fn forget(&mut self) {
        *self = Stutter::default();
    }
}

impl Place {
    /// Which of these variants, which led back here by a round that others could notice, need not be taken again.
    fn rules_out(self, taken: u64, round: &Round) -> u64 {
        match self.rest {
            Rest::WithFewestLocks if self.held <= round.lowest => taken,
            Rest::WithFewestLocks | Rest::Roused => 0,
            Rest::Detours => taken & !1,
        }
    }
}

/// What happened between an earlier stop and now.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The shared state was the same all the way.
    pure: bool,
    /// Fewest locks held.
    lowest: u32,
    /// Another thread could have moved at a stop in between.
    chance: bool,
    /// See [`Sleep::elsewhere`].
    elsewhere: bool,
}

impl Default for Round {
    fn default() -> Self {
        Self { pure: true, lowest: u32::MAX, chance: false, elsewhere: false }
    }
}

impl Round {
    /// The round reaches back to `stop`, from which the thread went on.
    fn back_to(&mut self, stop: &Stop, now: &Stop) {
        self.pure &= stop.version == now.version;
        self.lowest = self.lowest.min(stop.place.held);
    }

    /// The round reaches back beyond it.
    fn beyond(&mut self, stop: &Stop, now: &Stop) {
        self.pure &= stop.arrived == now.version;
        if (stop.local, stop.version) != (now.local, now.version) {
            self.chance |= stop.chance;
        }
    }
}

fn bit(variant: u32) -> u64 {
    1 << variant.min(63)
}

/// Earlier stops that equal the present one.
#[derive(Default)]
struct Visits {
    taken: u64,
    latest: Option<Round>,
}

impl Visits {
    fn add(&mut self, stop: &Stop, round: &Round) {
        self.taken |= bit(stop.taken);
        self.latest.get_or_insert(*round);
    }

    fn sleep(&self, now: &Stop, until: Until) -> Option<Sleep> {
        let round = self.latest?;
        let (taken, chance) = match until {
            Until::AnyChange { .. } => (now.place.rules_out(self.taken, &round), round.chance),
            Until::Change { .. } | Until::Never => (self.taken, false),
        };
        (taken != 0).then_some(Sleep { until, taken, chance, elsewhere: round.elsewhere })
    }
}

/// Rounds longer than the window, by Brent's algorithm: one stop is kept, and exchanged at growing distances.
#[derive(Clone, Copy, Debug, Default)]
struct Far {
    anchor: Option<Stop>,
    /// Since the anchor.
    round: Round,
    steps: u32,
    power: u32,
    fresh: bool,
}

/// Stops after which the anchor is exchanged at the latest.
const FARTHEST: u32 = 4096;

impl Far {
    fn takes(&mut self, variant: u32, version: u64, others: u64) {
        if let Some(anchor) = self.anchor.as_mut().filter(|_| self.fresh) {
            anchor.taken = variant;
            anchor.version = version;
            anchor.others = others;
        }
        self.fresh = false;
    }

    fn arrives(&self, now: &Stop) -> Option<Sleep> {
        let anchor = self.anchor?;
        let same = anchor.local == now.local && anchor.version == now.version && anchor.others == now.others;
        let taken = now.place.rules_out(bit(anchor.taken), &self.round);
        (same && taken != 0).then_some(Sleep {
            until: Until::AnyChange { version: now.version, others: now.others },
            taken,
            chance: self.round.chance,
            elsewhere: self.round.elsewhere,
        })
    }

    fn passes(&mut self, now: &Stop) {
        self.steps += 1;
        self.round.lowest = self.round.lowest.min(now.place.held);
        let fewer = self.anchor.is_some_and(|anchor| now.place.held < anchor.place.held);
        if self.anchor.is_none() || self.steps >= self.power || fewer {
            self.power = (self.power * 2).clamp(1, FARTHEST);
            self.steps = 0;
            self.anchor = Some(*now);
            self.round = Round { lowest: now.place.held, ..Round::default() };
            self.fresh = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Detour, Place, Rest, Stutter};

    /// A wait that wakes up for no reason: the mutex counts 16 in the version, others change it from 100 to 300 while it is free.
    fn roused() -> Stutter {
        let mut thread = Stutter::default();
        thread.stops_at(7, 116, 1, Place { held: 1, rest: Rest::Detours });
        thread.takes(1, 0b11, 116, 1);
        thread.stops_at(8, 100, 1, Place { held: 0, rest: Rest::Roused });
        thread
    }

    fn back_with(thread: &mut Stutter, version: u64) {
        thread.takes(0, 1, 300, 2);
        thread.stops_at(7, version, 2, Place { held: 1, rest: Rest::Detours });
    }

    #[test]
    fn a_useless_wake_up_is_ruled_out_whatever_others_do() {
        let mut thread = roused();
        assert_eq!(thread.detour(), Detour::Undisturbed);
        back_with(&mut thread, 316);
        assert_eq!(thread.detour(), Detour::RuledOut);
        assert!(thread.rules_out(1, 316, 2) && thread.rules_out(1, 416, 3));
        assert!(!thread.rules_out(0, 316, 2));
    }

    #[test]
    fn another_use_of_the_lock_keeps_it_open() {
        let mut thread = roused();
        thread.note_use_of_lock();
        assert_eq!(thread.detour(), Detour::None);
        back_with(&mut thread, 316);
        assert!(!thread.rules_out(1, 316, 2));
    }

    #[test]
    fn a_change_of_its_own_keeps_it_open() {
        let mut thread = roused();
        back_with(&mut thread, 317);
        assert!(!thread.rules_out(1, 317, 2));
    }
}
