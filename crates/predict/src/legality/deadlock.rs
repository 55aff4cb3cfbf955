//! Which threads wait for each other.
//!
//! An acquisition waits for the threads that hold the lock, a join for the joined thread, and the end of a once call for the thread that runs the
//! initialiser. A signalled wait, a semaphore and a barrier wait for any other thread, because any may signal, post or arrive. A set of blocked
//! threads is a deadlock when each waits only for threads of the set and for threads that do nothing any more: they have ended,
//! or a thread of that sort would have to create them. Of the holders of a lock, one such is enough.
//!
//! A thread whose events are used up without its end, at the end of a trace or before [`EventKind::Exit`], may do anything.

use super::{Process, State};
use raddle_event::{EventKind, ThreadId, WakeReason};
use std::collections::BTreeSet;

/// Who could let a blocked thread go on.
enum WaitsFor {
    /// It is blocked as long as one of them is. Never empty.
    OneOf(Vec<ThreadId>),
    Everyone,
}

impl State<'_> {
    /// Whether these events are the next of their threads, blocked, and nobody else can let one of them happen.
    pub fn is_deadlock(&self, blocked: &[usize]) -> bool {
        let mut stuck = BTreeSet::new();
        for &event in blocked {
            let Some(thread) = self.index.event(event).map(|event| event.thread) else { return false };
            if self.next(thread) != Some(event) {
                return false;
            }
            stuck.insert(thread);
        }
        self.is_between_steps()
            && self.facts.ended == Process::Running
            && !blocked.is_empty()
            && blocked.iter().all(|&event| self.is_stuck(event, &stuck))
    }

    /// All events that are in some deadlock, sorted; empty where there is none.
    pub fn deadlocked(&self) -> Vec<usize> {
        if !self.is_between_steps() || self.facts.ended == Process::Ended {
            return Vec::new();
        }
        let mut blocked = self.nexts();
        loop {
            let stuck = blocked.iter().map(|&event| self.index.input.trace.events[event].thread).collect();
            let before = blocked.len();
            blocked.retain(|&event| self.is_stuck(event, &stuck));
            if blocked.len() == before {
                blocked.sort();
                return blocked;
            }
        }
    }

    /// A smallest part of [`State::deadlocked`] that is a deadlock by itself.
    pub fn smallest_deadlock(&self) -> Vec<usize> {
        let mut blocked = self.deadlocked();
        let mut at = 0;
        while at < blocked.len() {
            match self.largest_deadlock_without(&blocked, blocked[at]) {
                smaller if smaller.is_empty() => at += 1,
                smaller => (blocked, at) = (smaller, 0),
            }
        }
        blocked
    }

    fn largest_deadlock_without(&self, blocked: &[usize], without: usize) -> Vec<usize> {
        let mut rest: Vec<usize> = blocked.iter().copied().filter(|&event| event != without).collect();
        loop {
            let stuck = rest.iter().map(|&event| self.index.input.trace.events[event].thread).collect();
            let before = rest.len();
            rest.retain(|&event| self.is_stuck(event, &stuck));
            if rest.len() == before {
                return rest;
            }
        }
    }

    /// Whether the next event of a thread stays impossible as long as only others than `stuck` move.
    fn is_stuck(&self, event: usize, stuck: &BTreeSet<ThreadId>) -> bool {
        let gone = |thread: &ThreadId| stuck.contains(thread) || self.has_ended(*thread);
        if !self.is_created(self.index.input.trace.events[event].thread) {
            return false;
        }
        self.obstacles(event).iter().any(|obstacle| match obstacle {
            WaitsFor::OneOf(threads) => threads.iter().any(gone),
            WaitsFor::Everyone => {
                self.index.threads.iter().all(|(thread, _)| gone(thread) || !self.is_created(*thread))
            }
        })
    }

    /// What blocks the event in the program, each reason by itself. What is impossible only by the rules is not blocked.
    fn obstacles(&self, event: usize) -> Vec<WaitsFor> {
        let life = self.index.life[event];
        let thread = self.index.input.trace.events[event].thread;
        let mut obstacles = Vec::new();
        let halves = [Some(event), self.index.second_half(event)];
        for half in halves.into_iter().flatten() {
            match self.index.input.trace.events[half].kind {
                EventKind::Acquire { lock, mode } => {
                    let opponents = self.opponents((lock, self.index.life[half]), mode);
                    obstacles.extend((!opponents.is_empty()).then_some(WaitsFor::OneOf(opponents)));
                }
                EventKind::Join { child } if self.next(child).is_some() => {
                    obstacles.push(WaitsFor::OneOf(vec![child]));
                }
                EventKind::WaitEnd { cond, reason: WakeReason::Signalled }
                    if !self.facts.objects.is_woken(cond, thread) =>
                {
                    obstacles.push(WaitsFor::Everyone);
                }
                EventKind::SemWait { sem } if self.facts.objects.count((sem, life)) == 0 => {
                    obstacles.push(WaitsFor::Everyone);
                }
                EventKind::BarrierLeave { .. } if !self.allows(half) => obstacles.push(WaitsFor::Everyone),
                EventKind::OncePass { once } => {
                    let runs = |event: &&usize| {
                        let kind = self.index.input.trace.events[**event].kind;
                        kind == EventKind::OnceBegin { once } || kind == EventKind::OnceEnd { once }
                    };
                    for (runner, own) in &self.index.threads {
                        let done = self.index.slot(*runner).map_or(0, |slot| self.facts.done[slot]);
                        let last = own[..done].iter().rev().find(runs);
                        let begun = last.map(|&at| self.index.input.trace.events[at].kind);
                        if begun == Some(EventKind::OnceBegin { once }) {
                            obstacles.push(WaitsFor::OneOf(vec![*runner]));
                        }
                    }
                }
                _ => {}
            }
        }
        obstacles
    }

    /// Whether the thread has done its last event, and that is its end.
    fn has_ended(&self, thread: ThreadId) -> bool {
        let own = self.index.slot(thread).map(|slot| &self.index.threads[slot].1);
        let last = own.and_then(|own| own.last().copied());
        last.is_some_and(|last| {
            self.was_taken(last) && self.index.input.trace.events[last].kind == EventKind::End
        })
    }

    /// Whether the thread is there: its creation has happened, or is not in the trace.
    fn is_created(&self, thread: ThreadId) -> bool {
        let first = self.index.slot(thread).and_then(|slot| self.index.threads[slot].1.first());
        let creation = |event: &&usize| {
            self.index.input.trace.events[**event].kind == EventKind::Create { child: thread }
        };
        let creation = first.and_then(|&first| self.index.after[first].iter().find(creation));
        creation.is_none_or(|&creation| self.was_taken(creation))
    }
}
