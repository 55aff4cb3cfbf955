//! A lock for short work in places where nothing may be called that the program could have replaced.

use crate::gate::pause;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

pub struct Spin<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send> Sync for Spin<T> {}

pub struct Guard<'a, T> {
    spin: &'a Spin<T>,
}

impl<T> Spin<T> {
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    pub fn lock(&self) -> Guard<'_, T> {
        let mut tries = 0;
        while self.taken.load(Relaxed) || self.taken.swap(true, Acquire) {
            tries += 1;
            if tries % 64 == 0 {
                pause();
            } else {
                std::hint::spin_loop();
            }
        }
        Guard { spin: self }
    }

    /// Takes it until [`Spin::reset`]. False: given up, a handler may have interrupted the thread that has it.
    pub fn hold(&self) -> bool {
        (0..100_000).any(|_| {
            let got = !self.taken.swap(true, Acquire);
            if !got {
                pause();
            }
            got
        })
    }

    /// After [`Spin::hold`], or in the child of a fork, where whoever has it is gone.
    pub fn reset(&self) {
        self.taken.store(false, Release);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        unsafe { &*self.spin.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.spin.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.spin.taken.store(false, Release);
    }
}

/// A lock that knows its owner: a thread that meets its own, in a signal handler, does not wait for itself.
#[repr(C)]
pub struct Owned {
    /// The index of the owner's record plus one, or 0.
    owner: AtomicU32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    Locked,
    /// The calling thread has it already.
    Mine,
    /// Given up: two signal handlers may wait for each other.
    Never,
}

impl Owned {
    pub const fn new() -> Self {
        Self { owner: AtomicU32::new(0) }
    }

    /// `in_handler`: the caller may hold other locks, and must not wait without end.
    #[inline]
    pub fn take(&self, index: u32, in_handler: bool) -> Taken {
        match self.owner.compare_exchange(0, index + 1, Acquire, Relaxed) {
            Ok(_) => Taken::Locked,
            Err(owner) if owner == index + 1 => Taken::Mine,
            Err(_) => self.wait(index, in_handler),
        }
    }

    #[inline(always)]
    pub fn try_take(&self, index: u32) -> bool {
        self.owner.compare_exchange(0, index + 1, Acquire, Relaxed).is_ok()
    }

    #[inline]
    pub fn free(&self) {
        self.owner.store(0, Release);
    }

    #[cold]
    fn wait(&self, index: u32, in_handler: bool) -> Taken {
        let mut tries = 0_u32;
        while !in_handler || tries < 100_000 {
            if self.owner.load(Relaxed) == 0
                && self.owner.compare_exchange(0, index + 1, Acquire, Relaxed).is_ok()
            {
                return Taken::Locked;
            }
            tries = tries.wrapping_add(1);
            if tries.is_multiple_of(64) {
                pause();
            } else {
                std::hint::spin_loop();
            }
        }
        Taken::Never
    }
}

impl Default for Owned {
    fn default() -> Self {
        Self::new()
    }
}
