//! After the steps of an order that the program does not follow to its end: steers the threads towards what the order is for.
//!
//! A thread that comes to one of the wanted accesses, or to one of the operations at which a deadlock is wanted, is held until
//! another one has come to the other, or nobody else can go on. The end of the process waits in the same way. Among all others a
//! preference decides; a thread with a high rank that only turns in circles loses it. The idea is that of active testing (Sen, *Race Directed
//! Random Testing of Concurrent Programs*, PLDI 2008); where we differ: the preference is an order of threads as often as it is random, so
//! that few runs are enough where one thread has to wait for another.
//!
//! Nothing here says that there is a race: both threads may know of each other. The detector says so, or not.

use super::recorded::LATE;
use super::{Enforcer, Next, first_variant};
use crate::atomics;
use crate::control::model::Model;
use crate::control::operation::{Kind, Operation};
use crate::control::plan::Plan;
use crate::control::steering::Preference;
use std::collections::BTreeSet;

/// Turns of one thread after another until it has the lowest rank.
const MOST_IN_A_ROW: u32 = 200;
/// Turns of others until a thread that is held goes on: they may wait for it in a loop.
const MOST_HELD: u32 = 5_000;

/// What a steered run knows besides its plan.
#[derive(Default)]
pub(super) struct Steered {
    /// A thread that goes next, since the other one of its pair has just gone.
    next: Option<u32>,
    in_a_row: u32,
    /// Threads that turned in circles, the latest one last.
    demoted: Vec<u32>,
    /// Turns since a thread was let go that was held.
    held_for: u32,
    random: u64,
    /// Only held threads can go on; others that are not under control may still bring a thread to the other place.
    pub(super) waits: bool,
}

impl Steered {
    pub(super) fn of(plan: &Plan) -> Self {
        let random = match plan.steering.as_ref().map(|steering| &steering.preference) {
            Some(Preference::Random(seed)) => mixed(*seed),
            Some(Preference::Ranked { .. }) | None => 0,
        };
        Self { random, ..Self::default() }
    }
}

impl Enforcer {
    pub(super) fn next_steered(&mut self, model: &Model, beside: &BTreeSet<u32>) -> Next {
        self.must_not_be_a_cycle(model);
        self.recorded.turns += 1;
        self.steered.held_for += 1;
        self.steered.waits = false;
        if let Some(thread) = self.steered.next.take()
            && let Some(variant) = first_variant(model, thread)
        {
            return self.let_go(thread, variant);
        }
        let open: Vec<u32> =
            (0..model.lives.len() as u32).filter(|thread| first_variant(model, *thread).is_some()).collect();
        let (held, free): (Vec<u32>, Vec<u32>) =
            open.into_iter().partition(|thread| self.is_held(model, *thread));
        if let Some([one, other]) = self.meeting(model, &held) {
            self.steered.next = Some(other);
            return self.hold_no_longer(model, one);
        }
        if (self.all_meet(model) || self.steered.held_for > MOST_HELD)
            && let Some(thread) = self.preferred(&held)
        {
            return self.hold_no_longer(model, thread);
        }
        if let Some(thread) = self.preferred(&free) {
            return self.turn(model, thread);
        }
        match self.preferred(&held) {
            Some(_) if !beside.is_empty() && self.recorded.late < LATE => {
                self.steered.waits = true;
                Next::Wait
            }
            Some(thread) => self.hold_no_longer(model, thread),
            None => self.go_round(model, beside),
        }
    }

    fn hold_no_longer(&mut self, model: &Model, thread: u32) -> Next {
        self.steered.held_for = 0;
        self.recorded.late = 0;
        self.turn(model, thread)
    }

    fn turn(&mut self, model: &Model, thread: u32) -> Next {
        self.steered.in_a_row = if thread == self.last { self.steered.in_a_row + 1 } else { 0 };
        if self.steered.in_a_row >= MOST_IN_A_ROW {
            self.steered.in_a_row = 0;
            self.steered.demoted.retain(|one| *one != thread);
            self.steered.demoted.push(thread);
        }
        let variant = self.variant(model, thread);
        self.let_go(thread, variant)
    }

    /// Which waiter a signal wakes is as open as who goes next.
    fn variant(&mut self, model: &Model, thread: u32) -> u32 {
        let mut open = Vec::new();
        model.variants(thread, |variant| open.push(variant));
        let is_signal = model.pending(thread).is_some_and(|operation| operation.kind == Kind::Signal);
        let steering = self.plan.steering.as_ref();
        let is_random = steering.is_some_and(|one| matches!(one.preference, Preference::Random(_)));
        open[if is_signal && is_random { self.draw(open.len()) } else { 0 }]
    }

    fn preferred(&mut self, threads: &[u32]) -> Option<u32> {
        if threads.is_empty() {
            return None;
        }
        let steering = self.plan.steering.as_ref()?;
        match &steering.preference {
            Preference::Ranked { first, last } => {
                let place = |list: &[u32], thread: u32| list.iter().position(|one| *one == thread);
                let rank = |thread: u32| {
                    let listed = match (place(first, thread), place(last, thread)) {
                        (Some(at), _) => (0, at),
                        (None, None) => (1, thread as usize),
                        (None, Some(at)) => (2, at),
                    };
                    (place(&self.steered.demoted, thread).map(|at| at + 1), listed)
                };
                threads.iter().copied().min_by_key(|thread| rank(*thread))
            }
            Preference::Random(_) => {
                const STAYS: usize = 4;
                if threads.contains(&self.last) && self.draw(STAYS) > 0 {
                    return Some(self.last);
                }
                Some(threads[self.draw(threads.len())])
            }
        }
    }

    /// A number below this one.
    fn draw(&mut self, below: usize) -> usize {
        self.steered.random = mixed(self.steered.random);
        (self.steered.random >> 33) as usize % below.max(1)
    }

    fn is_held(&self, model: &Model, thread: u32) -> bool {
        model.pending(thread).is_some_and(|operation| {
            operation.kind == Kind::Exit || self.is_wanted_access(operation) || self.meets(operation)
        })
    }

    fn is_wanted_access(&self, operation: &Operation) -> bool {
        matches!(operation.kind, Kind::Access | Kind::Atomic)
            && self.plan.race.iter().any(|places| places.contains(&operation.site))
    }

    /// Whether it is one of those at which a deadlock is wanted.
    fn meets(&self, operation: &Operation) -> bool {
        let waits = matches!(operation.kind, Kind::Lock | Kind::Join | Kind::SemWait | Kind::WaitEnd);
        let site = self.plan.original(operation.site);
        waits && self.plan.steering.as_ref().is_some_and(|steering| steering.meet.contains(&site))
    }

    /// Two threads that stand before the wanted accesses, to the same bytes.
    fn meeting(&mut self, model: &Model, held: &[u32]) -> Option<[u32; 2]> {
        let at = |thread: u32| model.pending(thread).filter(|operation| self.is_wanted_access(operation));
        let [one, other] = &self.plan.race;
        let is_pair = |a: u32, b: u32| {
            let (Some(a), Some(b)) = (at(a), at(b)) else { return false };
            one.contains(&a.site) && other.contains(&b.site) && conflict(a, b)
        };
        let pairs = held.iter().flat_map(|a| held.iter().map(|b| [*a, *b]));
        let [a, b] = pairs.filter(|[a, b]| a != b).find(|[a, b]| is_pair(*a, *b))?;
        let first = self.preferred(&[a, b])?;
        Some(if first == a { [a, b] } else { [b, a] })
    }

    /// Each of the places of a wanted deadlock has its thread.
    fn all_meet(&self, model: &Model) -> bool {
        let Some(steering) = self.plan.steering.as_ref().filter(|steering| !steering.meet.is_empty()) else {
            return false;
        };
        let standing = model.lives.iter().filter_map(|life| life.pending.as_ref());
        let there: Vec<u32> = standing
            .filter(|operation| self.meets(operation))
            .map(|operation| self.plan.original(operation.site))
            .collect();
        let count = |places: &[u32], place: u32| places.iter().filter(|one| **one == place).count();
        steering.meet.iter().all(|place| count(&there, *place) >= count(&steering.meet, *place))
    }
}

/// Whether the two accesses would be a conflict.
fn conflict(a: &Operation, b: &Operation) -> bool {
    let writes = |operation: &Operation| match operation.kind {
        Kind::Access => operation.number != 0,
        _ => operation.number != atomics::Operation::Load as u64,
    };
    let overlap = a.object < b.object + b.second && b.object < a.object + a.second;
    overlap && (writes(a) || writes(b)) && !(a.kind == Kind::Atomic && b.kind == Kind::Atomic)
}

/// Steele, Lea and Flood's SplitMix64.
fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
