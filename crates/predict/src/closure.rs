//! The smallest set of events that must come before two given places, with all that these need: a prefix of each thread.
//!
//! Mathur, Pavlogiannis and Viswanathan, *Optimal Prediction of Synchronization-Preserving Races* (POPL 2021), section 4: closed under program
//! order, the edges of [`Prepared`], and, where critical sections keep their order, under this: of two conflicting acquisitions of one
//! lock in the set, the release of the earlier one is in it. Taken in the order of the trace such a set is a reordering.
//!
//! We differ in the reads that must be concrete: not all of them, but those that decide, and before a write that one of them reads from, all.
//! A set only grows, so a series of questions about later and later places costs one walk through the trace.

use crate::prepared::{Prepared, Why};
use raddle_base::fast_hash::{FastMap, FastSet};
use raddle_event::{EventKind, LockMode};

/// Which values are to stay as they were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// Those of all reads that decide.
    Deciding,
    /// Those of atomic reads that decide; others are left to confirmation.
    Atomics,
}

#[derive(Clone)]
pub(crate) struct Closure<'a> {
    prepared: &'a Prepared<'a>,
    values: Values,
    locks: Locks,
    /// Of each thread, how many events are in the set; and of these, those before which all reads are to be concrete.
    cut: Vec<u32>,
    concrete: Vec<u32>,
    /// Of each thread, the next edge of each kind and section to look at.
    next_edge: Vec<usize>,
    next_concrete: Vec<usize>,
    next_section: Vec<usize>,
    /// For each lock, the last exclusive and the last shared section of each thread in the set.
    last: FastMap<u32, Vec<Lasts>>,
    work: Vec<usize>,
    touched: FastSet<u32>,
}

/// Whether the order of critical sections counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locks {
    KeepOrder,
    Free,
}

#[derive(Clone, Copy)]
struct Lasts {
    thread: u32,
    /// Index of the acquisition in the trace, and the section.
    exclusive: Option<(u32, u32)>,
    shared: Option<(u32, u32)>,
}

impl<'a> Closure<'a> {
    pub(crate) fn new(prepared: &'a Prepared<'a>, values: Values, locks: Locks) -> Self {
        let threads = prepared.threads();
        Self {
            prepared,
            values,
            locks,
            cut: vec![0; threads],
            concrete: vec![0; threads],
            next_edge: vec![0; threads],
            next_concrete: vec![0; threads],
            next_section: vec![0; threads],
            last: FastMap::default(),
            work: Vec::new(),
            touched: FastSet::default(),
        }
    }

    /// Adds the first events of a thread and all that they need. False: a critical section that must end never does, or the time is over.
    pub(crate) fn require(&mut self, thread: usize, upto: u32) -> bool {
        self.raise(thread, upto);
        self.close()
    }

    /// Adds all that must come before this event of an error. The value that a read-modify-write reads is among it where it decides: one that
    /// reads something else may not write.
    pub(crate) fn require_before(&mut self, thread: usize, position: u32) -> bool {
        self.raise(thread, position);
        let event = self.prepared.event(self.prepared.of_thread[thread][position as usize] as usize);
        let updates = matches!(event.kind, EventKind::Atomic { op, .. } if op.reads() && op.writes());
        if updates && self.values == Values::Deciding && self.prepared.input.deciding.contains(event.site) {
            let edges = &self.prepared.edges[thread];
            let from = edges.partition_point(|edge| edge.at < position);
            for edge in edges[from..].iter().take_while(|edge| edge.at == position) {
                if edge.why != Why::Order {
                    self.raise_concrete(edge.thread as usize, edge.upto);
                }
            }
        }
        self.close()
    }

    pub(crate) fn contains(&self, thread: usize, position: u32) -> bool {
        position < self.cut[thread]
    }

    pub(crate) fn cut(&self) -> &[u32] {
        &self.cut
    }

    fn raise(&mut self, thread: usize, upto: u32) {
        if upto > self.cut[thread] {
            self.cut[thread] = self.prepared.whole_steps(thread, upto);
            self.work.push(thread);
        }
    }

    fn raise_concrete(&mut self, thread: usize, upto: u32) {
        self.raise(thread, upto);
        if upto > self.concrete[thread] {
            self.concrete[thread] = upto;
            self.work.push(thread);
        }
    }

    fn close(&mut self) -> bool {
        loop {
            while let Some(thread) = self.work.pop() {
                self.follow_edges(thread);
                if self.locks == Locks::KeepOrder {
                    self.enter_sections(thread);
                }
                if self.prepared.clock.step_is_over() {
                    return false;
                }
            }
            let touched = std::mem::take(&mut self.touched);
            if touched.is_empty() {
                return true;
            }
            for lock in touched {
                if !self.end_sections(lock) {
                    return false;
                }
            }
        }
    }

    fn follow_edges(&mut self, thread: usize) {
        let edges = &self.prepared.edges[thread];
        while let Some(edge) = edges.get(self.next_edge[thread]).filter(|edge| edge.at < self.cut[thread]) {
            self.next_edge[thread] += 1;
            let other = edge.thread as usize;
            match (edge.why, self.values) {
                (Why::Order, _) => self.raise(other, edge.upto),
                (Why::Deciding, Values::Deciding) => self.raise_concrete(other, edge.upto),
                // The program waits for what is written there, however that came about.
                (Why::DecidingAtomic, Values::Deciding) => self.raise_concrete(other, edge.upto),
                (Why::DecidingAtomic, Values::Atomics) => self.raise(other, edge.upto),
                (Why::Deciding, Values::Atomics) | (Why::Data, _) => {}
            }
        }
        while let Some(edge) =
            edges.get(self.next_concrete[thread]).filter(|edge| edge.at < self.concrete[thread])
        {
            self.next_concrete[thread] += 1;
            if edge.why != Why::Order {
                self.raise_concrete(edge.thread as usize, edge.upto);
            }
        }
    }

    fn enter_sections(&mut self, thread: usize) {
        let sections = &self.prepared.sections[thread];
        while let Some(section) =
            sections.get(self.next_section[thread]).filter(|section| section.acquire < self.cut[thread])
        {
            let number = self.next_section[thread] as u32;
            self.next_section[thread] += 1;
            let index = self.prepared.of_thread[thread][section.acquire as usize];
            let lasts = self.last.entry(section.lock).or_default();
            let place = match lasts.iter().position(|lasts| lasts.thread == thread as u32) {
                Some(place) => place,
                None => {
                    lasts.push(Lasts { thread: thread as u32, exclusive: None, shared: None });
                    lasts.len() - 1
                }
            };
            match section.mode {
                LockMode::Exclusive => lasts[place].exclusive = Some((index, number)),
                LockMode::Shared => lasts[place].shared = Some((index, number)),
            }
            if lasts.len() > 1 {
                self.touched.insert(section.lock);
            }
        }
    }

    fn end_sections(&mut self, lock: u32) -> bool {
        let Some(lasts) = self.last.get(&lock) else { return true };
        let newest = |mode: fn(&Lasts) -> Option<(u32, u32)>| {
            lasts.iter().filter_map(|lasts| mode(lasts).map(|(index, _)| index)).max()
        };
        let exclusive = newest(|lasts| lasts.exclusive);
        let any = exclusive.max(newest(|lasts| lasts.shared));
        let mut ends = Vec::new();
        for lasts in lasts {
            let earlier =
                |own: Option<(u32, u32)>, newest: Option<u32>| own.filter(|(index, _)| Some(*index) < newest);
            for section in
                [earlier(lasts.exclusive, any), earlier(lasts.shared, exclusive)].into_iter().flatten()
            {
                let thread = lasts.thread as usize;
                let section = self.prepared.sections[thread][section.1 as usize];
                match section.release {
                    Some(release) => ends.push((thread, release + 1)),
                    None => return false,
                }
            }
        }
        for (thread, upto) in ends {
            self.raise(thread, upto);
        }
        true
    }
}
