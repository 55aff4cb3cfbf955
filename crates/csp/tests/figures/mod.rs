//! The models of figures 1 to 3 of the 2015 paper, section 2.2, with their slips repaired. For tests.
//!
//! What the figures say and what stands here instead:
//!
//! - JOIN has `end.t1.t2`, an event that no thread does: it is `end.t2`.
//! - SIGNAL lets `t1` wait for its own signal, and BARRIER lets `t1` leave twice: the second thread is `t2`.
//! - The processes of mutexes, forks and joins never terminate, so `PROGRAM ; LIVE` never comes to LIVE and every program deadlocks. Here the
//!   threads do the event `done` when all have terminated, and it interrupts all synchronisation processes. The other repair, `[] SKIP` in
//!   a free mutex, does not work with distributed termination: the mutex may terminate while threads still need it (a test shows it).
//!   With `done`, a program that ends while a mutex is held does not deadlock by that alone.
//! - The sets of events in figure 3 leave out signals, waits, broadcasts and barriers, so that such an event between two accesses goes
//!   unseen: here RACE follows all events of the program.
//! - BARRIER fixes the order of arrival: here all enter in any order, then all leave in any order.
//!
//! Which way it errs: RACE finds accesses that are adjacent in the model; values and control flow are not modelled.

use raddle_csp::{
    Alphabet, Arena, Check, Counterexample, EventId, EventSet, Model, Name, Outcome, ProcId, refine,
};

#[derive(Default)]
pub struct Figures {
    pub alphabet: Alphabet,
    pub arena: Arena,
}

/// What a free mutex does about termination.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    Stays,
    OffersSkip,
}

impl Figures {
    /// Figure 1 for the program of listing 1.
    pub fn listing_1(&mut self) -> ProcId {
        let t1 = self.thread("THREAD1", "fork.t1.t2 write.t1.y lock.t1.m write.t1.x unlock.t1.m join.t1.t2");
        let t2 = self.thread("THREAD2", "start.t2 lock.t2.m write.t2.x unlock.t2.m write.t2.y end.t2");
        let mutex = self.mutex("m", &["t1", "t2"], Idle::Stays);
        let fork = self.order("FORK2", "fork.t1.t2 start.t2");
        let join = self.order("JOIN2", "end.t2 join.t1.t2");
        self.program(&[t1, t2], &[mutex, fork, join])
    }

    pub fn events(&mut self, names: &str) -> Vec<EventId> {
        names.split_whitespace().map(|name| self.alphabet.intern(name)).collect()
    }

    /// The events of one thread.
    pub fn thread(&mut self, name: &str, events: &str) -> ProcId {
        let events = self.events(events);
        let body = self.arena.events(&events, Arena::SKIP);
        self.arena.named(name, body)
    }

    pub fn mutex(&mut self, mutex: &str, threads: &[&str], idle: Idle) -> ProcId {
        let name = self.arena.declare(&format!("MUTEX_{mutex}"));
        let free = self.arena.call(name);
        let mut branches = Vec::new();
        for thread in threads {
            let section = self.events(&format!("lock.{thread}.{mutex} unlock.{thread}.{mutex}"));
            branches.push(self.arena.events(&section, free));
        }
        if idle == Idle::OffersSkip {
            branches.push(Arena::SKIP);
        }
        let body = self.arena.choice(&branches);
        self.arena.define(name, body);
        free
    }

    /// FORK, JOIN and SIGNAL: one event before another.
    pub fn order(&mut self, name: &str, events: &str) -> ProcId {
        let events = self.events(events);
        let body = self.arena.events(&events, Arena::STOP);
        self.arena.named(name, body)
    }

    pub fn barrier(&mut self, barrier: &str, threads: &[&str]) -> ProcId {
        let mut half = |action: &str| {
            let mut each = Vec::new();
            for thread in threads {
                let event = self.alphabet.intern(&format!("barrier_{action}.{thread}.{barrier}"));
                each.push(self.arena.prefix(event, Arena::SKIP));
            }
            self.arena.interleave(&each)
        };
        let (enter, exit) = (half("enter"), half("exit"));
        let left = self.arena.then(exit, Arena::STOP);
        let body = self.arena.then(enter, left);
        self.arena.named(&format!("BARRIER_{barrier}"), body)
    }

    /// PROGRAM: the threads, restricted by the synchronisation processes.
    pub fn program(&mut self, threads: &[ProcId], synchronisation: &[ProcId]) -> ProcId {
        let done = self.alphabet.intern("done");
        let ends = self.arena.prefix(done, Arena::SKIP);
        let threads = self.arena.interleave(threads);
        let threads = self.arena.then(threads, ends);
        let synchronisation = self.arena.interleave(synchronisation);
        let synchronisation = self.arena.interrupt(synchronisation, ends);
        let mut on = self.synchronisation();
        on.insert(done);
        let body = self.arena.parallel(threads, on, synchronisation);
        self.arena.named("PROGRAM", body)
    }

    pub fn synchronisation(&self) -> EventSet {
        self.alphabet.under_any(&[
            "lock",
            "unlock",
            "fork",
            "start",
            "join",
            "end",
            "signal",
            "broadcast",
            "wait",
            "barrier_enter",
            "barrier_exit",
        ])
    }

    /// RACE(v) of figure 3, for all threads that access the variable.
    pub fn race(&mut self, variable: &str) -> ProcId {
        let race = self.alphabet.intern("race");
        let found = self.arena.prefix(race, Arena::SKIP);
        let mut accesses = Vec::new();
        for (event, name) in self.alphabet.iter() {
            let parts: Vec<&str> = name.split('.').collect();
            if let [kind @ ("read" | "write"), thread, object] = parts[..]
                && object == variable
            {
                accesses.push((event, kind == "write", thread.to_owned()));
            }
        }
        let mut first = Vec::new();
        for (event, writes, thread) in &accesses {
            let conflicts = accesses.iter().filter(|(_, other, by)| by != thread && (*writes || *other));
            let second: Vec<ProcId> = conflicts.map(|(other, ..)| self.arena.prefix(*other, found)).collect();
            let second = self.arena.choice(&second);
            first.push(self.arena.prefix(*event, second));
        }
        let error = self.arena.choice(&first);
        let error = self.arena.named(&format!("RACE_ERR_{variable}"), error);
        let name: Name = self.arena.declare(&format!("RACE_{variable}"));
        let again = self.arena.call(name);
        let resets: Vec<ProcId> =
            self.followed().iter().map(|event| self.arena.prefix(event, again)).collect();
        let resets = self.arena.choice(&resets);
        let body = self.arena.interrupt(error, resets);
        self.arena.define(name, body);
        again
    }

    /// The implementation of equation 3.
    pub fn racing(&mut self, program: ProcId, variable: &str) -> ProcId {
        let race = self.race(variable);
        let both = self.arena.parallel(program, self.followed(), race);
        let mut hidden = self.alphabet.all();
        hidden.remove(self.alphabet.intern("race"));
        self.arena.hide(both, hidden)
    }

    /// LIVE, and the implementation of the deadlock check.
    pub fn living(&mut self, program: ProcId) -> (ProcId, ProcId) {
        let sigma = self.alphabet.all();
        let live = self.alphabet.intern("live");
        let name = self.arena.declare("LIVE");
        let again = self.arena.call(name);
        let body = self.arena.prefix(live, again);
        self.arena.define(name, body);
        let hidden = self.arena.hide(program, sigma);
        (again, self.arena.then(hidden, again))
    }

    pub fn check_race(&mut self, program: ProcId, variable: &str, counterexamples: usize) -> Outcome {
        let implementation = self.racing(program, variable);
        let mut check = Check::new(Arena::STOP, Model::Traces, implementation);
        check.limits.counterexamples = counterexamples;
        refine(&mut self.arena, &check).expect("well formed")
    }

    pub fn check_deadlock(&mut self, program: ProcId) -> Outcome {
        let (live, implementation) = self.living(program);
        refine(&mut self.arena, &Check::new(live, Model::StableFailures, implementation))
            .expect("well formed")
    }

    pub fn first<'a>(&self, outcome: &'a Outcome) -> &'a Counterexample {
        match outcome {
            Outcome::Fails(counterexamples) => &counterexamples[0],
            other => panic!("it does not fail: {other:?}"),
        }
    }

    /// The schedule of a counterexample: what the paper keeps of it.
    pub fn schedule(&self, counterexample: &Counterexample) -> Vec<&str> {
        let set = self.synchronisation();
        let events = counterexample.underlying.iter().filter(|&&event| set.contains(event));
        events.map(|&event| self.alphabet.name(event)).collect()
    }

    /// Accesses and synchronisation.
    fn followed(&self) -> EventSet {
        let mut set = self.synchronisation();
        set.extend(self.alphabet.under_any(&["read", "write"]).iter());
        set
    }
}
