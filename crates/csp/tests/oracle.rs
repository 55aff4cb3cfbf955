//! A second way to the same answers: traces and stable failures of random finite processes by the equations of Roscoe (2010), sections
//! 10.2 and 11.1, against the operational semantics, and refinement against inclusion of sets.
//!
//! The 2015 paper has no such check. The sets are computed in full, from the structure of the process alone; a refusal is a set of bits. Which
//! way it errs: processes are small and without recursion, so what only recursion shows is not seen here.

use raddle_csp::{
    Alphabet, Arena, Check, EventId, EventSet, Label, Limits, Model, Outcome, ProcId, States, Violation,
    refine,
};
use std::collections::{BTreeSet, HashMap};

const EVENTS: u8 = 3;
const TICK: u8 = EVENTS;
/// Sigma and tick.
const ALL: u8 = (1 << (EVENTS + 1)) - 1;
const TICK_BIT: u8 = 1 << TICK;

type Trace = Vec<u8>;

/// The meaning of a process: traces, and stable failures, closed under subsets of refusals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Meaning {
    traces: BTreeSet<Trace>,
    failures: BTreeSet<(Trace, u8)>,
}

#[derive(Clone, Debug)]
enum Process {
    Stop,
    Skip,
    Prefix(u8, Box<Process>),
    Events(Vec<u8>, Box<Process>),
    Choice(Vec<Process>),
    Parallel(u8, Box<Process>, Box<Process>),
    Interrupt(Box<Process>, Box<Process>),
    Hide(u8, Box<Process>),
    Then(Box<Process>, Box<Process>),
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn event(&mut self) -> u8 {
        self.below(u64::from(EVENTS)) as u8
    }

    fn set(&mut self) -> u8 {
        self.below(1 << EVENTS) as u8
    }

    fn process(&mut self, depth: u32) -> Process {
        let part = |random: &mut Self| Box::new(random.process(depth.saturating_sub(1)));
        match if depth == 0 { self.below(3) } else { self.below(14) } {
            0 => Process::Stop,
            1 => Process::Skip,
            2 => Process::Prefix(self.event(), Box::new(Process::Skip)),
            3 | 4 => Process::Prefix(self.event(), part(self)),
            5 => Process::Events(vec![self.event(), self.event()], part(self)),
            6 | 7 => Process::Choice(vec![*part(self), *part(self)]),
            8 => Process::Parallel(0, part(self), part(self)),
            9 | 10 => Process::Parallel(self.set(), part(self), part(self)),
            11 => Process::Interrupt(part(self), part(self)),
            12 => Process::Hide(self.set(), part(self)),
            _ => Process::Then(part(self), part(self)),
        }
    }
}

impl Process {
    fn term(&self, arena: &mut Arena, events: &[EventId]) -> ProcId {
        let set = |bits: u8| -> EventSet {
            (0..EVENTS).filter(|bit| bits & (1 << bit) != 0).map(|bit| events[bit as usize]).collect()
        };
        match self {
            Process::Stop => Arena::STOP,
            Process::Skip => Arena::SKIP,
            Process::Prefix(event, then) => {
                let then = then.term(arena, events);
                arena.prefix(events[*event as usize], then)
            }
            Process::Events(array, then) => {
                let then = then.term(arena, events);
                let array: Vec<EventId> = array.iter().map(|&event| events[event as usize]).collect();
                arena.events(&array, then)
            }
            Process::Choice(branches) => {
                let branches: Vec<ProcId> =
                    branches.iter().map(|branch| branch.term(arena, events)).collect();
                arena.choice(&branches)
            }
            Process::Parallel(on, a, b) => {
                let (a, b) = (a.term(arena, events), b.term(arena, events));
                if *on == 0 { arena.interleave(&[a, b]) } else { arena.parallel(a, set(*on), b) }
            }
            Process::Interrupt(a, b) => {
                let (a, b) = (a.term(arena, events), b.term(arena, events));
                arena.interrupt(a, b)
            }
            Process::Hide(hidden, a) => {
                let a = a.term(arena, events);
                arena.hide(a, set(*hidden))
            }
            Process::Then(a, b) => {
                let (a, b) = (a.term(arena, events), b.term(arena, events));
                arena.then(a, b)
            }
        }
    }

    /// `None` where the sets get large.
    fn meaning(&self) -> Option<Meaning> {
        let mut m = Meaning::default();
        m.traces.insert(vec![]);
        match self {
            Process::Stop => m.refuse(&[], ALL),
            Process::Skip => m.tick(&[]),
            Process::Prefix(event, then) => m.prefix(&[*event], &then.meaning()?),
            Process::Events(array, then) => m.prefix(array, &then.meaning()?),
            Process::Choice(branches) => {
                let parts = branches.iter().map(Process::meaning).collect::<Option<Vec<_>>>()?;
                for x in 0..=ALL {
                    if parts.iter().all(|part| part.failures.contains(&(vec![], x))) {
                        m.failures.insert((vec![], x));
                    }
                }
                for part in &parts {
                    m.traces.extend(part.traces.iter().cloned());
                    m.failures.extend(part.failures.iter().filter(|(s, _)| !s.is_empty()).cloned());
                    if part.traces.contains(&vec![TICK]) {
                        m.refuse(&[], ALL & !TICK_BIT);
                    }
                }
            }
            Process::Parallel(on, a, b) => {
                let (a, b, on) = (a.meaning()?, b.meaning()?, on | TICK_BIT);
                for s in &a.traces {
                    for t in &b.traces {
                        let merged = merge(s, t, on);
                        let (ys, zs) = (a.refusals(s), b.refusals(t));
                        for &y in &ys {
                            for &z in zs.iter().filter(|&&z| z & !on == y & !on) {
                                m.failures.extend(merged.iter().map(|u| (u.clone(), y | z)));
                            }
                        }
                        m.traces.extend(merged);
                    }
                }
            }
            Process::Interrupt(a, b) => {
                let (a, b) = (a.meaning()?, b.meaning()?);
                m.traces.extend(a.traces.iter().cloned());
                for (s, x) in &a.failures {
                    if s.last() == Some(&TICK) || b.failures.contains(&(vec![], *x)) {
                        m.failures.insert((s.clone(), *x));
                    }
                }
                for s in &a.traces {
                    if let Some((&TICK, before)) = s.split_last() {
                        m.tick(before);
                        continue;
                    }
                    m.traces.extend(b.traces.iter().map(|t| [&s[..], t].concat()));
                    let later = b.failures.iter().filter(|(t, _)| !t.is_empty());
                    m.failures.extend(later.map(|(t, x)| ([&s[..], t].concat(), *x)));
                    if b.traces.contains(&vec![TICK]) {
                        m.tick(s);
                    }
                }
            }
            Process::Hide(hidden, a) => {
                let a = a.meaning()?;
                let shown = |s: &Trace| -> Trace {
                    s.iter().copied().filter(|event| hidden & (1 << event) == 0).collect()
                };
                m.traces.extend(a.traces.iter().map(shown));
                for (s, x) in a.failures.iter().filter(|(_, x)| x & hidden == *hidden) {
                    m.refuse(&shown(s), *x);
                }
            }
            Process::Then(a, b) => {
                let (a, b) = (a.meaning()?, b.meaning()?);
                for (s, x) in &a.failures {
                    if s.last() != Some(&TICK) && x & TICK_BIT != 0 {
                        m.refuse(s, *x);
                    }
                }
                for s in &a.traces {
                    match s.split_last() {
                        Some((&TICK, before)) => m.after(before, &b),
                        _ => _ = m.traces.insert(s.clone()),
                    }
                }
            }
        }
        (m.failures.len() < 1500).then_some(m)
    }
}

impl Meaning {
    fn refuse(&mut self, trace: &[u8], refusal: u8) {
        self.failures.extend((0..=ALL).filter(|x| x & !refusal == 0).map(|x| (trace.to_vec(), x)));
    }

    /// May terminate after the trace.
    fn tick(&mut self, trace: &[u8]) {
        let ended = [trace, &[TICK]].concat();
        self.refuse(trace, ALL & !TICK_BIT);
        self.refuse(&ended, ALL);
        self.traces.insert(ended);
    }

    /// After these events, the other; the events themselves have no failures here.
    fn after(&mut self, events: &[u8], other: &Meaning) {
        self.traces.extend((0..=events.len()).map(|n| events[..n].to_vec()));
        self.traces.extend(other.traces.iter().map(|t| [events, t].concat()));
        self.failures.extend(other.failures.iter().map(|(t, x)| ([events, t].concat(), *x)));
    }

    /// Does these events, one by one, then the other.
    fn prefix(&mut self, events: &[u8], other: &Meaning) {
        for (index, event) in events.iter().enumerate() {
            self.refuse(&events[..index], ALL & !(1 << event));
        }
        self.after(events, other);
    }

    fn refusals(&self, trace: &[u8]) -> Vec<u8> {
        (0..=ALL).filter(|&x| self.failures.contains(&(trace.to_vec(), x))).collect()
    }
}

/// The traces that are `s` and `t` together, agreeing on a set.
fn merge(s: &[u8], t: &[u8], on: u8) -> Vec<Trace> {
    let shared = |event: &u8| on & (1 << event) != 0;
    let mut found = Vec::new();
    let mut add = |event: u8, rest: Vec<Trace>| found.extend(rest.iter().map(|u| [&[event][..], u].concat()));
    match (s.first(), t.first()) {
        (None, None) => return vec![vec![]],
        (Some(a), Some(b)) if a == b && shared(a) => add(*a, merge(&s[1..], &t[1..], on)),
        _ => {}
    }
    if let Some(a) = s.first().filter(|a| !shared(a)) {
        add(*a, merge(&s[1..], t, on));
    }
    if let Some(b) = t.first().filter(|b| !shared(b)) {
        add(*b, merge(s, &t[1..], on));
    }
    found
}

/// The same sets from steps.
fn operational(arena: &mut Arena, process: ProcId, known: &mut HashMap<ProcId, Meaning>) -> Meaning {
    if let Some(meaning) = known.get(&process) {
        return meaning.clone();
    }
    let mut m = Meaning::default();
    m.traces.insert(vec![]);
    let steps = arena.steps(process);
    let mut offered = 0;
    for step in steps.iter() {
        match step.label {
            Label::Event(event) => {
                offered |= 1 << event.index();
                let next = operational(arena, step.next, known);
                m.after(&[event.index() as u8], &next);
            }
            Label::Tau => {
                let next = operational(arena, step.next, known);
                m.after(&[], &next);
            }
            Label::Tick => m.tick(&[]),
        }
    }
    if !steps.iter().any(|step| matches!(step.label, Label::Tau | Label::Tick)) {
        m.refuse(&[], ALL & !offered);
    }
    known.insert(process, m.clone());
    m
}

fn alphabet() -> (Alphabet, Vec<EventId>) {
    let mut alphabet = Alphabet::new();
    let events = ["a", "b", "c"].map(|name| alphabet.intern(name)).to_vec();
    (alphabet, events)
}

#[test]
fn steps_give_the_traces_and_failures_of_the_equations() {
    let (_, events) = alphabet();
    let mut random = Random(1);
    let mut compared = 0;
    while compared < 4000 {
        let process = random.process(4);
        let Some(meaning) = process.meaning() else { continue };
        let mut arena = Arena::new();
        let term = process.term(&mut arena, &events);
        assert_eq!(operational(&mut arena, term, &mut HashMap::new()), meaning, "{process:?}");
        compared += 1;
    }
}

#[test]
fn refinement_is_inclusion() {
    let (_, events) = alphabet();
    let mut random = Random(2);
    let mut count: HashMap<(bool, bool), u32> = HashMap::new();
    let mut compared = 0;
    while compared < 3000 {
        let (p, q) = (random.process(3), random.process(3));
        let (p, q) = match random.below(4) {
            0 => (p, q),
            1 => (p.clone(), p),
            2 => (Process::Choice(vec![p.clone(), q]), p),
            _ => (Process::Hide(1, Box::new(Process::Choice(vec![q.clone(), p]))), q),
        };
        let (Some(of_p), Some(of_q)) = (p.meaning(), q.meaning()) else { continue };
        compared += 1;
        for (specification, implementation, s, i) in [(&p, &q, &of_p, &of_q), (&q, &p, &of_q, &of_p)] {
            for model in [Model::Traces, Model::StableFailures] {
                let mut included = i.traces.is_subset(&s.traces);
                if model == Model::StableFailures {
                    included &= i.failures.is_subset(&s.failures);
                }
                *count.entry((model == Model::Traces, included)).or_default() += 1;
                for states in [States::Flat, States::Terms] {
                    let mut arena = Arena::new();
                    let specification = specification.term(&mut arena, &events);
                    let implementation = implementation.term(&mut arena, &events);
                    let limits = Limits { states: 100_000, counterexamples: 3, until: None };
                    let check = Check { specification, implementation, model, limits, states };
                    let outcome = refine(&mut arena, &check).unwrap();
                    assert_eq!(matches!(outcome, Outcome::Holds { .. }), included, "{p:?} {q:?} {outcome:?}");
                    if let Outcome::Fails(counterexamples) = outcome {
                        for found in counterexamples {
                            violates(&found, s, i);
                        }
                    }
                }
            }
        }
    }
    assert!(count.len() == 4 && count.values().all(|&n| n > 500), "{count:?}");
}

/// A counterexample is a behaviour of the implementation and none of the specification.
fn violates(found: &raddle_csp::Counterexample, s: &Meaning, i: &Meaning) {
    let trace: Trace = found.trace.iter().map(|event| event.index() as u8).collect();
    let bits = |events: &[EventId]| events.iter().fold(0u8, |bits, event| bits | 1 << event.index());
    let refusal = match &found.violation {
        Violation::Event(_) => {
            assert!(i.traces.contains(&trace) && !s.traces.contains(&trace), "{found:?}");
            return;
        }
        Violation::Tick => {
            let ended = [&trace[..], &[TICK]].concat();
            assert!(i.traces.contains(&ended) && !s.traces.contains(&ended), "{found:?}");
            return;
        }
        Violation::Refusal(offered) => ALL & !bits(offered),
        Violation::RefusalBeforeTick => ALL & !TICK_BIT,
    };
    let failure = (trace, refusal);
    assert!(i.failures.contains(&failure) && !s.failures.contains(&failure), "{found:?}");
}
