//! The depth-first search of Fig. 6 and 7.

use super::account::{Account, Stop};
use super::cache::{Cache, Visit};
use super::future::{Future, Tried, Waiting, first, missing};
use super::history::{History, Listing};
use super::path::step;
use super::{Caching, Stateful};
use crate::bounds::{preempts, rounds};
use crate::enumerate::{Gap, Goal, Limits};
use raddle_base::StableHasher;
use raddle_event::{Choice, ThreadId};
use raddle_machine::{Machine, Names, OpKind, Operation, Status, Visibility};
use std::collections::BTreeSet;

pub(super) fn search<M: Machine>(
    machine: &mut M,
    limits: &Limits,
    visibility: Visibility,
    caching: Caching,
) -> Stateful {
    let (mut states, mut covered) = (0, 0);
    let exploration = Account::new(limits, visibility).passes(machine, |account, machine| {
        let mut cache = (caching == Caching::On).then(Cache::default);
        let end = loop {
            let mut search = Search {
                account,
                cache: cache.as_mut(),
                nodes: Vec::new(),
                path: Vec::new(),
                operations: Vec::new(),
                covered: 0,
            };
            let end = search.all(machine);
            covered += search.covered;
            while let Some(node) = search.nodes.pop() {
                machine.restore(&node.checkpoint);
                machine.discard(node.checkpoint);
            }
            match cache.as_mut() {
                Some(cache) if end.is_ok() && cache.needs_another_round() => cache.start_round(),
                _ => break end,
            }
        };
        states += cache.map_or(0, |cache| cache.len() as u64);
        end
    });
    Stateful { exploration, states, covered }
}

/// Steps that a run is followed for the other races that it may show: it may have no end.
const FURTHEST: usize = 500;

struct Search<'s, 'a, C> {
    account: &'s mut Account<'a>,
    cache: Option<&'s mut Cache>,
    nodes: Vec<Node<C>>,
    path: Vec<Choice>,
    /// Thread and operation of each step of the path.
    operations: Vec<(ThreadId, Operation)>,
    covered: u64,
}

/// A state on the present path.
struct Node<C> {
    checkpoint: C,
    /// How it is known to the cache.
    known_as: Option<(u128, Names)>,
    history: History,
    enabled: Vec<Choice>,
    waiting: Waiting,
    threads: u32,
    /// All of a thread's variants are tried when one is.
    tried: Vec<Tried>,
    left: Vec<Choice>,
    future: Future,
    expansion: Expansion,
    preemptions: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expansion {
    /// As many threads as must be.
    Closed,
    /// All of them: a step led back to a state on the path.
    Full,
    /// As many as the bound on preemptions allows.
    Bounded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    None,
    Some,
}

/// How the search came out of a step.
enum Arrival {
    /// There is a new node.
    Open,
    /// It ends here; this may have followed.
    Shut(Future),
}

impl<C> Search<'_, '_, C> {
    fn all<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> Result<(), Stop> {
        let listing = match self.account.limits.goal {
            Goal::FirstRace => Listing::First,
            Goal::AllRaces => Listing::EveryPair,
        };
        let mut enabled = Vec::new();
        machine.enabled(&mut enabled);
        let mut arrival = self.arrive(machine, History::new(listing), enabled)?;
        loop {
            if let (Arrival::Shut(future), Some(_)) = (&arrival, self.nodes.last()) {
                self.came_back(future);
            }
            let Some(node) = self.nodes.last_mut() else { return Ok(()) };
            if let Some(choice) = node.left.pop() {
                arrival = self.step(machine, choice)?;
                continue;
            }
            let more = node.missing();
            if more.is_empty() {
                arrival = self.leave(machine);
            } else {
                more.into_iter().for_each(|thread| node.take_up(thread));
                arrival = Arrival::Open;
            }
        }
    }

    fn step<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M, choice: Choice) -> Result<Arrival, Stop> {
        let depth = self.nodes.len();
        self.account.step(depth)?;
        let node = self.nodes.last_mut().expect("there is a node to go on from");
        machine.restore(&node.checkpoint);
        let mut history = node.history.clone();
        let mut after = Vec::new();
        self.path.truncate(depth - 1);
        self.path.push(choice);
        let done = step(machine, choice, &mut history, &mut after);
        let tried =
            node.tried.iter_mut().find(|tried| tried.thread == choice.thread).expect("it was taken up");
        tried.outcomes.push((done.operation.kind, done.outcome));
        self.operations.truncate(depth - 1);
        self.operations.push((choice.thread, done.operation));
        tried.touched.extend(touched(choice.thread, &node.enabled, &after));
        self.account.assume(done.assumption);
        match self.account.stepped(machine, &done.races, &self.path) {
            Err(Stop::MoreToSee) => {
                self.run_on(machine, history, after)?;
                return Err(Stop::MoreToSee);
            }
            end => end?,
        }
        self.arrive(machine, history, after)
    }

    fn arrive<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        mut history: History,
        enabled: Vec<Choice>,
    ) -> Result<Arrival, Stop> {
        let mut future = match machine.status() {
            // The run broke off in the middle of a step.
            Status::Unsupported { .. } | Status::Limit { .. } => Future::default(),
            _ => Future::pending(machine),
        };
        let excess = self.excess();
        if machine.status() != Status::Running || excess.is_some() {
            self.account.ended(machine, excess)?;
            return Ok(Arrival::Shut(future));
        }
        let preemptions = self.preemptions();
        let mut known_as = None;
        if let Some(cache) = self.cache.as_deref_mut() {
            let canonical = machine.canonical();
            let mut key = with_choices(canonical.key, &canonical.names, &enabled);
            if self.account.limits.preemptions.is_some() {
                let last = self.path.last().and_then(|last| canonical.names.thread(last.thread));
                key = with_words(
                    key,
                    [u64::from(preemptions), last.map_or(u64::MAX, |last| u64::from(last.0))],
                );
            }
            let Visit { elements, on_stack } = cache.visit(key, &history.canonical(&canonical.names));
            if on_stack && let Some(from) = self.nodes.last_mut() {
                from.expand();
            }
            let Some(elements) = elements else {
                self.covered += 1;
                self.account.assume(machine.assumptions().into_iter().chain(["A-HASH"]));
                return Ok(Arrival::Shut(cache.future(key, &canonical.names)));
            };
            history.keep(&elements);
            for (next, after) in cache.future(key, &canonical.names).iter() {
                future.insert(next, after);
            }
            known_as = Some((key, canonical.names));
        }
        let waiting = Waiting::of(machine, &enabled);
        self.operations.truncate(self.nodes.len());
        let kinds = self.operations.iter().map(|(thread, operation)| (*thread, operation.kind));
        let start = first(machine, &enabled, &waiting, kinds);
        let mut node = Node {
            checkpoint: machine.checkpoint(),
            known_as,
            history,
            enabled,
            waiting,
            threads: machine.thread_count(),
            tried: Vec::new(),
            left: Vec::new(),
            future,
            expansion: Expansion::Closed,
            preemptions,
        };
        match self.account.limits.preemptions {
            None => node.take_up(start),
            Some(most) => {
                let last = self.path.last().map(|last| last.thread);
                if node.take_up_bounded(last, most) == LeftOut::Some {
                    self.account.gap(Gap::Preemptions);
                }
            }
        }
        self.nodes.push(node);
        Ok(Arrival::Open)
    }

    fn excess(&self) -> Option<Gap> {
        let limits = self.account.limits;
        if self.path.len() as u64 >= limits.run_steps {
            return Some(Gap::RunSteps);
        }
        let places = self.operations.iter().map(|(thread, operation)| (*thread, operation.site));
        limits.loop_rounds.filter(|most| rounds(places) > *most).map(|_| Gap::LoopRounds)
    }

    /// Preemptions on the path to the last node and the step from there.
    fn preemptions(&self) -> u32 {
        let Some(node) = self.nodes.last() else { return 0 };
        let depth = self.nodes.len() - 1;
        let last = depth.checked_sub(1).map(|before| self.path[before].thread);
        node.preemptions + u32::from(preempts(last, &node.enabled, self.path[depth].thread))
    }

    /// A step from the last node has been followed to its end.
    fn came_back(&mut self, future: &Future) {
        let depth = self.nodes.len() - 1;
        let mover = self.path[depth].thread;
        let node = &mut self.nodes[depth];
        node.future.follow(future, mover, node.threads, &node.waiting);
    }

    fn leave<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> Arrival {
        let node = self.nodes.pop().expect("it is the last");
        self.path.truncate(self.nodes.len());
        if let (Some(cache), Some((key, names))) = (self.cache.as_deref_mut(), &node.known_as) {
            cache.leave(*key, names, &node.future);
        }
        machine.restore(&node.checkpoint);
        machine.discard(node.checkpoint);
        Arrival::Shut(node.future)
    }

    /// Follows one run on for the races that it shows, before the search starts again with more accesses visible.
    fn run_on<M: Machine>(
        &mut self,
        machine: &mut M,
        mut history: History,
        mut choices: Vec<Choice>,
    ) -> Result<(), Stop> {
        for _ in 0..FURTHEST {
            if machine.status() != Status::Running || self.excess().is_some() {
                break;
            }
            let choice = choices[0];
            let next = machine.pending(choice.thread).map(|operation| operation.kind);
            if next == Some(OpKind::Yield) {
                break;
            }
            self.account.step(self.path.len())?;
            self.path.push(choice);
            let done = step(machine, choice, &mut history, &mut choices);
            self.account.assume(done.assumption);
            match self.account.stepped(machine, &done.races, &self.path) {
                Ok(()) | Err(Stop::MoreToSee) => {}
                end => return end,
            }
        }
        Ok(())
    }
}

impl<C> Node<C> {
    fn take_up(&mut self, thread: ThreadId) {
        self.tried.push(Tried { thread, outcomes: Vec::new(), touched: BTreeSet::new() });
        self.left.extend(self.enabled.iter().rev().filter(|choice| choice.thread == thread));
    }

    /// Reduction and a bound on preemptions do not go together: the run that stands for others may have more of them.
    fn take_up_bounded(&mut self, last: Option<ThreadId>, most: u32) -> LeftOut {
        self.expansion = Expansion::Bounded;
        let allowed = |thread| self.preemptions < most || !preempts(last, &self.enabled, thread);
        let threads: BTreeSet<ThreadId> = self.enabled.iter().map(|choice| choice.thread).collect();
        let (taken, left): (Vec<ThreadId>, Vec<ThreadId>) = threads.into_iter().partition(|t| allowed(*t));
        taken.into_iter().for_each(|thread| self.take_up(thread));
        if left.is_empty() { LeftOut::None } else { LeftOut::Some }
    }

    fn expand(&mut self) {
        if self.expansion == Expansion::Closed {
            self.expansion = Expansion::Full;
        }
    }

    fn missing(&self) -> BTreeSet<ThreadId> {
        match self.expansion {
            Expansion::Closed => missing(&self.tried, &self.enabled, &self.waiting, &self.future),
            Expansion::Bounded => BTreeSet::new(),
            Expansion::Full => {
                let is_tried = |thread: &ThreadId| self.tried.iter().any(|tried| tried.thread == *thread);
                self.enabled.iter().map(|choice| choice.thread).filter(|thread| !is_tried(thread)).collect()
            }
        }
    }
}

/// Threads other than the mover that could move before, and can no longer do exactly the same.
fn touched(mover: ThreadId, before: &[Choice], after: &[Choice]) -> BTreeSet<ThreadId> {
    let of = |choices: &[Choice], thread: ThreadId| -> Vec<Choice> {
        choices.iter().copied().filter(|choice| choice.thread == thread).collect()
    };
    let others: BTreeSet<ThreadId> =
        before.iter().map(|choice| choice.thread).filter(|thread| *thread != mover).collect();
    others.into_iter().filter(|thread| of(before, *thread) != of(after, *thread)).collect()
}

/// A machine may let a thread sleep for what it did before: states in which different choices are open are different.
fn with_choices(key: u128, names: &Names, enabled: &[Choice]) -> u128 {
    let mut choices: Vec<(Option<ThreadId>, u32)> =
        enabled.iter().map(|choice| (names.thread(choice.thread), choice.variant)).collect();
    choices.sort_unstable();
    let words = choices.into_iter().flat_map(|(thread, variant)| {
        [thread.map_or(u64::MAX, |thread| u64::from(thread.0)), u64::from(variant)]
    });
    with_words(key, words)
}

fn with_words(key: u128, words: impl IntoIterator<Item = u64>) -> u128 {
    let mut hasher = StableHasher::new();
    hasher.word(key as u64);
    hasher.word((key >> 64) as u64);
    words.into_iter().for_each(|word| hasher.word(word));
    hasher.finish128()
}
