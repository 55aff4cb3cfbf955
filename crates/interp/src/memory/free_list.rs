//! Slots waiting to be used again, first freed first: a queue that can be set back to an earlier state.
//!
//! Positions are absolute, so that a mark is two numbers. What lies before every mark's head is dropped; marks of an empty
//! queue hold nothing back.

use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub(crate) struct FreeList {
    items: VecDeque<u32>,
    /// Absolute position of `items[0]`.
    first: u64,
    head: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FreeListMark {
    head: u64,
    tail: u64,
}

impl FreeList {
    pub fn push(&mut self, slot: u32) {
        self.items.push_back(slot);
    }

    /// The slot that has waited longest, if at least `wait` others have come after it.
    pub fn pop(&mut self, wait: usize) -> Option<u32> {
        if self.waiting() <= wait {
            return None;
        }
        let slot = self.items[(self.head - self.first) as usize];
        self.head += 1;
        Some(slot)
    }

    pub fn waiting(&self) -> usize {
        (self.tail() - self.head) as usize
    }

    /// Entries kept, those only kept for marks included.
    pub fn kept(&self) -> usize {
        self.items.len()
    }

    fn tail(&self) -> u64 {
        self.first + self.items.len() as u64
    }

    pub fn mark(&self) -> FreeListMark {
        FreeListMark { head: self.head, tail: self.tail() }
    }

    pub fn restore(&mut self, mark: FreeListMark) {
        if mark.head == mark.tail {
            self.items.clear();
            self.first = mark.head;
        } else {
            self.items.truncate((mark.tail - self.first) as usize);
        }
        self.head = mark.head;
    }

    /// Drops what neither the present nor any of these marks needs.
    pub fn forget(&mut self, marks: impl Iterator<Item = FreeListMark>) {
        let needed = marks.filter(|m| m.head != m.tail).map(|m| m.head).fold(self.head, u64::min);
        let count = (needed - self.first) as usize;
        self.items.drain(..count);
        self.first = needed;
    }
}

#[cfg(test)]
mod tests {
    use super::FreeList;

    #[test]
    fn restore_brings_back_order_and_forget_keeps_what_marks_need() {
        let mut list = FreeList::default();
        let empty = list.mark();
        for slot in 0..5 {
            list.push(slot);
        }
        assert_eq!(list.pop(0), Some(0));
        let mark = list.mark();
        assert_eq!(list.pop(0), Some(1));
        assert_eq!(list.pop(3), None);
        list.push(0);
        list.forget([empty, mark].into_iter());
        assert_eq!(list.kept(), 5);
        list.restore(mark);
        assert_eq!((0..4).map(|_| list.pop(0).unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(list.pop(0), None);
        list.restore(empty);
        assert_eq!(list.waiting(), 0);
        list.push(9);
        assert_eq!(list.pop(0), Some(9));
        list.forget([empty].into_iter());
        assert_eq!(list.kept(), 0);
    }
}
