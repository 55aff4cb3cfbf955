//! Threads that wait for each other while others go on: a cycle among owners of locks and threads to be joined.
//!
//! Whoever waits needs all of those it waits for, so one cycle is enough. Waits whose end anybody could bring (conditions, semaphores,
//! barriers) have no edges, and waits with a time limit end by themselves: errs towards no cycle.

use super::model::{Model, Object};
use super::operation::{Kind, Mode};

impl Model {
    /// The threads of a cycle that this one waits in or for, in ascending order.
    pub fn cycle(&self, from: u32) -> Option<Vec<u32>> {
        let mut done = vec![false; self.lives.len()];
        let mut path = Vec::new();
        self.follow(from, &mut path, &mut done)
    }

    fn follow(&self, thread: u32, path: &mut Vec<u32>, done: &mut [bool]) -> Option<Vec<u32>> {
        if let Some(at) = path.iter().position(|one| *one == thread) {
            let mut cycle = path[at..].to_vec();
            cycle.sort_unstable();
            return Some(cycle);
        }
        if std::mem::replace(done.get_mut(thread as usize)?, true) {
            return None;
        }
        path.push(thread);
        let found = self.waits_for(thread).into_iter().find_map(|next| self.follow(next, path, done));
        path.pop();
        found
    }

    /// Without all of these the thread cannot go on.
    fn waits_for(&self, thread: u32) -> Vec<u32> {
        let Some(operation) = self.pending(thread) else { return Vec::new() };
        let mut blocked = true;
        self.variants(thread, |_| blocked = false);
        if !blocked {
            return Vec::new();
        }
        match operation.kind {
            Kind::Join => vec![operation.number as u32],
            Kind::Lock => self.holders(operation.object, operation.mode),
            // Of those that were woken; others wait for nobody in particular.
            Kind::WaitEnd if !self.is_waiting(thread, operation.object) => {
                self.holders(operation.second, Mode::Exclusive)
            }
            _ => Vec::new(),
        }
    }

    fn holders(&self, lock: usize, mode: Mode) -> Vec<u32> {
        match self.objects.get(&lock) {
            Some(Object::Mutex(mutex)) => mutex.owner.into_iter().collect(),
            Some(Object::Rwlock(lock)) => match (lock.writer, mode) {
                (Some(writer), _) => vec![writer],
                (None, Mode::Exclusive) => lock.readers.clone(),
                (None, Mode::Shared) => lock.waiting.clone(),
            },
            _ => Vec::new(),
        }
    }

    fn is_waiting(&self, thread: u32, cond: usize) -> bool {
        match self.objects.get(&cond) {
            Some(Object::Cond(waiters)) => {
                waiters.iter().any(|waiter| waiter.thread == thread && !waiter.signalled)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::control::{Family, How, Kind, Model, Operation};
    use crate::thread::Mode;

    /// Of the program's own: nobody looks at their bytes.
    const LOCKS: [usize; 3] = [1, 2, 3];

    fn model(threads: u32) -> Model {
        let mut model = Model::default();
        for thread in 0..threads {
            model.born(thread, false);
            model.perform(thread, 0, None);
        }
        model
    }

    fn comes_to(model: &mut Model, thread: u32, operation: Operation) {
        model.lives[thread as usize].pending = Some(operation);
    }

    fn lock(at: usize, mode: Mode) -> Operation {
        Operation { mode, ..Operation::on(Kind::Lock, Family::Own, at, 0) }
    }

    fn takes(model: &mut Model, thread: u32, at: usize, mode: Mode) {
        comes_to(model, thread, lock(at, mode));
        assert!(model.is_enabled(thread, 0));
        model.perform(thread, 0, None);
    }

    #[test]
    fn a_cycle_is_found_from_each_of_its_threads_and_from_those_that_wait_for_it() {
        let mut model = model(5);
        for thread in 1..4 {
            takes(&mut model, thread, LOCKS[thread as usize - 1], Mode::Exclusive);
        }
        comes_to(&mut model, 1, lock(LOCKS[1], Mode::Exclusive));
        comes_to(&mut model, 2, lock(LOCKS[2], Mode::Shared));
        comes_to(&mut model, 0, Operation { number: 2, ..Operation::new(Kind::Join, 0) });
        assert_eq!((0..5).find_map(|thread| model.cycle(thread)), None);
        comes_to(&mut model, 3, lock(LOCKS[0], Mode::Exclusive));
        for thread in 0..4 {
            assert_eq!(model.cycle(thread), Some(vec![1, 2, 3]), "{thread}");
        }
        assert_eq!(model.cycle(4), None);
    }

    #[test]
    fn a_writer_waits_for_each_reader() {
        let mut model = model(3);
        takes(&mut model, 0, LOCKS[0], Mode::Shared);
        takes(&mut model, 1, LOCKS[0], Mode::Shared);
        takes(&mut model, 2, LOCKS[1], Mode::Exclusive);
        comes_to(&mut model, 2, lock(LOCKS[0], Mode::Exclusive));
        assert_eq!(model.cycle(2), None);
        comes_to(&mut model, 1, lock(LOCKS[1], Mode::Exclusive));
        assert_eq!(model.cycle(1), Some(vec![1, 2]));
    }

    #[test]
    fn a_join_under_a_lock_is_a_cycle_but_not_with_a_time_limit() {
        let mut model = model(2);
        takes(&mut model, 0, LOCKS[0], Mode::Exclusive);
        comes_to(&mut model, 0, Operation { number: 1, ..Operation::new(Kind::Join, 0) });
        comes_to(&mut model, 1, Operation { how: How::Timed, ..lock(LOCKS[0], Mode::Exclusive) });
        assert_eq!(model.cycle(0), None);
        comes_to(&mut model, 1, lock(LOCKS[0], Mode::Exclusive));
        assert_eq!(model.cycle(0), Some(vec![0, 1]));
    }
}
