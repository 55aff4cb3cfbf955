//! How large a program is, by the columns of the 2008 paper's Table 1: threads, shared variables, accesses to them, locks. Counted on two
//! runs: in one the threads take turns, in the other the main one goes as far as it can, and then the
//! youngest.

use crate::enumerate::{Limits, RaceAccess};
use raddle_event::{Addr, Choice, Event, EventKind, ObjectId, ThreadId, Trace};
use raddle_machine::{Machine, OpKind, TraceSink};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Besides the main one.
    pub threads: u64,
    /// Objects that several threads accessed; an array or a struct is one.
    pub variables: u64,
    /// To those.
    pub accesses: u64,
    pub locks: u64,
}

/// A longer run is counted no further, nor one with a long stretch between two visible operations.
const MOST_STEPS: usize = 10_000;
const MOST_EVENTS: usize = 100_000;

impl Size {
    /// Of a machine that stands at its start; leaves it there.
    pub(super) fn of<M: Machine>(machine: &mut M, limits: &Limits) -> Size {
        let mut size = Size::default();
        let mut users: BTreeMap<ObjectId, BTreeSet<ThreadId>> = BTreeMap::new();
        let mut locks: BTreeSet<Addr> = BTreeSet::new();
        let mut traces = Vec::new();
        for order in [Order::Turns, Order::MainFirst] {
            let (trace, threads) = run(machine, limits, order);
            size.threads = size.threads.max(threads);
            for event in &trace.events {
                if let Some((_, loc)) = RaceAccess::of(event) {
                    users.entry(loc.object).or_default().insert(event.thread);
                }
                if let EventKind::Acquire { lock, .. } = event.kind {
                    locks.insert(lock);
                }
            }
            traces.push(trace);
        }
        users.retain(|_, threads| threads.len() > 1);
        let is_shared =
            |event: &&Event| RaceAccess::of(event).is_some_and(|(_, loc)| users.contains_key(&loc.object));
        let accesses = traces.iter().map(|trace| trace.events.iter().filter(is_shared).count() as u64);
        size.accesses = accesses.max().unwrap_or_default();
        size.variables = users.len() as u64;
        size.locks = locks.len() as u64;
        size
    }
}

/// Who moves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Turns,
    /// Then the youngest.
    MainFirst,
}

/// One run, and how many threads it created.
fn run<M: Machine>(machine: &mut M, limits: &Limits, order: Order) -> (Trace, u64) {
    let start = machine.checkpoint();
    let mut sink = TraceSink::default();
    let mut enabled: Vec<Choice> = Vec::new();
    let mut last = ThreadId::MAIN;
    for _ in 0..MOST_STEPS {
        machine.enabled(&mut enabled);
        let after = match (order, enabled.first(), enabled.last()) {
            (Order::Turns, ..) => last.0 + 1,
            (Order::MainFirst, Some(first), Some(last)) if first.thread != ThreadId::MAIN => last.thread.0,
            (Order::MainFirst, ..) => 0,
        };
        let next = enabled.iter().find(|choice| choice.thread.0 >= after).or(enabled.first());
        let Some(choice) = next.copied() else { break };
        let long = machine.pending(choice.thread).is_some_and(|operation| operation.kind == OpKind::Yield);
        if long || sink.trace.events.len() > MOST_EVENTS || limits.is_interrupted() {
            break;
        }
        last = choice.thread;
        machine.step(choice, &mut sink);
    }
    let threads = u64::from(machine.thread_count().saturating_sub(1));
    machine.restore(&start);
    machine.discard(start);
    (sink.trace, threads)
}
