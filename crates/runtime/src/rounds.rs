//! Barriers: who waits with whom.
//!
//! A round is the arrivals that leave together. With more threads than a barrier lets through at once, only the barrier itself knows which
//! arrivals these are; so threads wait here, and not in the C library. A round lives until the last of its threads has left, however many
//! rounds have begun since.

use crate::clocks::Clock;
use crate::thread::Thread;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Release},
};

/// The rounds of a barrier. Zeroed memory is a barrier at which nobody has arrived.
#[repr(C)]
pub struct Rounds {
    parties: u32,
    arrived: u32,
    /// Threads of complete rounds that have not left yet.
    leaving: u32,
    number: u32,
    present: *mut Round,
}

pub struct Round {
    number: u32,
    complete: AtomicU32,
    inside: AtomicU32,
    clock: Clock,
}

/// A thread's place in a round; to be given back by [`Place::leave`], while the barrier is locked.
pub struct Place {
    round: *mut Round,
    /// Its arrival completed the round.
    pub is_last: bool,
}

impl Rounds {
    pub fn set_parties(&mut self, parties: u32) {
        self.parties = parties;
    }

    /// The thread arrives at a barrier for so many, unless that was said before.
    pub fn arrive(&mut self, thread: &Thread, parties: u32) -> Place {
        if self.parties == 0 {
            self.parties = parties.max(1);
        }
        if self.present.is_null() {
            let (complete, inside) = (AtomicU32::new(0), AtomicU32::new(0));
            self.present =
                Box::into_raw(Box::new(Round { number: self.number, complete, inside, clock: Clock::EMPTY }));
        }
        let round = self.present;
        unsafe {
            (*round).clock.join_from(thread);
            (*round).inside.fetch_add(1, AcqRel);
        }
        self.arrived += 1;
        let is_last = self.arrived == self.parties;
        if is_last {
            unsafe {
                // Who leaves late must not be misled by what became of a slot meanwhile.
                (*round).clock.forget_every_source();
                (*round).complete.store(1, Release);
            }
            self.arrived = 0;
            self.number = self.number.wrapping_add(1);
            self.leaving += self.parties;
            self.present = std::ptr::null_mut();
        }
        Place { round, is_last }
    }

    pub fn left(&mut self) {
        self.leaving = self.leaving.saturating_sub(1);
    }

    pub fn is_empty(&self) -> bool {
        self.leaving == 0
    }

    /// The barrier goes. Threads that wait at it, which must not be, keep their round.
    pub fn forget(&mut self) {
        *self = Rounds { parties: 0, arrived: 0, leaving: 0, number: 0, present: std::ptr::null_mut() };
    }

    /// Values of these slots no longer tell whose they are. The clocks of complete rounds have no source.
    pub fn forget_sources(&mut self, slots: &[usize]) {
        if let Some(round) = unsafe { self.present.as_mut() } {
            round.clock.forget_source(slots);
        }
    }
}

impl Place {
    pub fn number(&self) -> u32 {
        unsafe { (*self.round).number }
    }

    /// What all arrivals of the round have published, once it is complete.
    pub fn clock(&self) -> &Clock {
        unsafe { &(*self.round).clock }
    }

    /// Waits until the round is complete.
    pub fn wait(&self) {
        let word = unsafe { &(*self.round).complete };
        if self.is_last {
            futex(word, libc::FUTEX_WAKE, i32::MAX as u32);
        }
        while word.load(Acquire) == 0 {
            futex(word, libc::FUTEX_WAIT, 0);
        }
    }

    /// The last one frees the round. Before it is complete that can only be where other processes wait at the barrier, too.
    pub fn leave(self) {
        unsafe {
            if (*self.round).inside.fetch_sub(1, AcqRel) == 1 && (*self.round).complete.load(Acquire) != 0 {
                let mut round = Box::from_raw(self.round);
                round.clock.clear();
            }
        }
    }
}

/// Leaves `errno` alone.
fn futex(word: &AtomicU32, command: i32, value: u32) {
    unsafe {
        let errno = *libc::__errno_location();
        let command = command | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, word.as_ptr(), command, value, std::ptr::null::<libc::timespec>());
        *libc::__errno_location() = errno;
    }
}
