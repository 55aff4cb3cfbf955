//! Vector clocks of synchronisation objects: what a release leaves behind for acquires.
//!
//! A clock remembers the epoch of the release that it is a copy of, if it is of one release only: a thread that knows that epoch
//! knows all the rest, and need not look (a thread's own clock grows whenever what it publishes has grown).

use crate::arena;
use crate::thread::Thread;

/// Clock values by slot; zero beyond `len`. Zeroed memory is an empty clock.
#[repr(C)]
pub struct Clock {
    data: *mut u32,
    len: u32,
    capacity: u32,
    /// The one release that this is a copy of: slot plus one, or 0, and its clock.
    from_slot: u32,
    from_clock: u32,
}

/// The values are the clock's alone.
unsafe impl Send for Clock {}

impl Clock {
    pub const EMPTY: Clock =
        Clock { data: std::ptr::null_mut(), len: 0, capacity: 0, from_slot: 0, from_clock: 0 };

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Becomes what the thread publishes.
    pub fn copy_from(&mut self, thread: &Thread) {
        let slots = thread.width();
        if slots > self.capacity as usize {
            self.grow(slots);
        }
        if slots <= 8 {
            // Capacities are at least 8, and the values behind the last slot are zero.
            unsafe { *self.data.cast::<[u32; 8]>() = *thread.values().cast::<[u32; 8]>() };
        } else {
            unsafe { std::ptr::copy_nonoverlapping(thread.values(), self.data, slots) };
        }
        self.len = slots as u32;
        self.publish(thread);
    }

    /// Joins what the thread publishes into this clock.
    pub fn join_from(&mut self, thread: &Thread) {
        if self.is_empty() || thread.knows(self) {
            return self.copy_from(thread);
        }
        let slots = thread.width();
        self.grow(slots);
        for slot in 0..slots {
            unsafe {
                let value = self.data.add(slot);
                *value = (*value).max(*thread.values().add(slot));
            }
        }
        let (slot, published) = thread.published();
        unsafe { *self.data.add(slot) = published };
        self.len = self.len.max(slots as u32);
        self.from_slot = 0;
    }

    pub fn join(&mut self, other: &Clock) {
        self.grow(other.len as usize);
        for slot in 0..other.len as usize {
            unsafe {
                let value = self.data.add(slot);
                *value = (*value).max(*other.data.add(slot));
            }
        }
        self.len = self.len.max(other.len);
        self.from_slot = 0;
    }

    pub fn duplicate(&self) -> Clock {
        let mut copy = Clock::EMPTY;
        copy.join(self);
        copy.from_slot = self.from_slot;
        copy.from_clock = self.from_clock;
        copy
    }

    pub fn clear(&mut self) {
        self.len = 0;
        self.from_slot = 0;
        if self.capacity > 0 {
            arena::give(self.data.cast(), self.capacity as usize * 4);
            self.capacity = 0;
            self.data = std::ptr::null_mut();
        }
    }

    /// The single release behind this clock.
    pub fn source(&self) -> Option<(usize, u32)> {
        (self.from_slot != 0).then(|| (self.from_slot as usize - 1, self.from_clock))
    }

    pub fn forget_source(&mut self, slots: &[usize]) {
        if self.source().is_some_and(|(slot, _)| slots.contains(&slot)) {
            self.from_slot = 0;
        }
    }

    pub fn forget_every_source(&mut self) {
        self.from_slot = 0;
    }

    pub fn values(&self) -> &[u32] {
        if self.len == 0 {
            return &[];
        }
        unsafe { std::slice::from_raw_parts(self.data, self.len as usize) }
    }

    fn publish(&mut self, thread: &Thread) {
        let (slot, clock) = thread.published();
        unsafe { *self.data.add(slot) = clock };
        self.from_slot = slot as u32 + 1;
        self.from_clock = clock;
    }

    fn grow(&mut self, slots: usize) {
        if slots <= self.capacity as usize {
            unsafe {
                for slot in self.len as usize..slots {
                    *self.data.add(slot) = 0;
                }
            }
            return;
        }
        let capacity = slots.next_power_of_two().max(8);
        let data = arena::take(capacity * 4).cast::<u32>();
        unsafe {
            std::ptr::write_bytes(data, 0, capacity);
            if self.len > 0 {
                std::ptr::copy_nonoverlapping(self.data, data, self.len as usize);
            }
        }
        if self.capacity > 0 {
            arena::give(self.data.cast(), self.capacity as usize * 4);
        }
        self.data = data;
        self.capacity = capacity as u32;
    }
}
