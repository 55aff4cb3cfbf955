//! A state up to renaming: what is left of it when threads and objects are numbered by what they are and not by when they came.
//!
//! Two states with the same key are the same state under new names, and [`Names`] says which: whatever is written down with the
//! names of the one can be read with the names of the other. That the keys of different states differ is assumption A-HASH.

use raddle_event::{Addr, Loc, ObjectId, ThreadId};
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// As [`Machine::fingerprint`](crate::Machine::fingerprint).
    pub key: u128,
    pub names: Names,
}

/// Canonical numbers of the threads and objects that can still matter, and the way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    threads: HashMap<ThreadId, ThreadId>,
    objects: ObjectNames,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectNames {
    /// Every object has the same number in every run.
    Same,
    /// An object that is not in it cannot be reached any more.
    Renamed(HashMap<ObjectId, ObjectId>),
}

impl Names {
    /// A thread that is not among `threads` has ended and can be joined by nobody.
    pub fn new(threads: HashMap<ThreadId, ThreadId>, objects: ObjectNames) -> Self {
        Self { threads, objects }
    }

    pub fn thread(&self, thread: ThreadId) -> Option<ThreadId> {
        self.threads.get(&thread).copied()
    }

    pub fn object(&self, object: ObjectId) -> Option<ObjectId> {
        match &self.objects {
            ObjectNames::Same => Some(object),
            ObjectNames::Renamed(_) if object == Addr::ATOMIC_SECTION.object => Some(object),
            ObjectNames::Renamed(names) => names.get(&object).copied(),
        }
    }

    pub fn addr(&self, addr: Addr) -> Option<Addr> {
        Some(Addr { object: self.object(addr.object)?, ..addr })
    }

    pub fn loc(&self, loc: Loc) -> Option<Loc> {
        Some(Loc { object: self.object(loc.object)?, ..loc })
    }

    /// From canonical numbers to those of the run.
    pub fn inverse(&self) -> Names {
        let objects = match &self.objects {
            ObjectNames::Same => ObjectNames::Same,
            ObjectNames::Renamed(names) => {
                ObjectNames::Renamed(names.iter().map(|(own, name)| (*name, *own)).collect())
            }
        };
        Names { threads: self.threads.iter().map(|(own, name)| (*name, *own)).collect(), objects }
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, ObjectNames};
    use raddle_event::{Addr, ObjectId, ThreadId};
    use std::collections::HashMap;

    #[test]
    fn the_inverse_leads_back() {
        let threads = HashMap::from([(ThreadId(0), ThreadId(0)), (ThreadId(2), ThreadId(1))]);
        let objects = ObjectNames::Renamed(HashMap::from([(ObjectId(7), ObjectId(3))]));
        let names = Names::new(threads, objects);
        let back = names.inverse();
        assert_eq!(names.thread(ThreadId(2)).and_then(|name| back.thread(name)), Some(ThreadId(2)));
        assert_eq!(names.thread(ThreadId(1)), None);
        let lock = Addr { object: ObjectId(7), offset: 8 };
        assert_eq!(names.addr(lock).and_then(|name| back.addr(name)), Some(lock));
        assert_eq!(names.addr(Addr::ATOMIC_SECTION), Some(Addr::ATOMIC_SECTION));
        assert_eq!(names.object(ObjectId(8)), None);
    }
}
