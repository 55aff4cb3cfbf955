//! The interpreter along the order of a candidate, step by step, and then on to the end of the execution.
//!
//! Carril and Tichy (SEPS 2015), sections 2.3 and 3, as for the program itself. A step is taken where the order has the event that it is for; steps
//! without events are taken right before the next one of their thread. Which waiter a signal wakes is not in the order: the one whose wait ends
//! first in it. Threads are numbered anew where they are created in another order. Where the thread does something else than it did, or cannot
//! do it, the order has been left: the execution goes on as if there were none.

use super::recorded::{Recorded, Step};
use raddle_event::{Addr, Choice, Event, EventKind, ThreadId, WakeReason};
use raddle_explore::along::{Guide, Scheduler, before_the_end};
use raddle_machine::{Machine, OpKind, Operation};
use raddle_predict::{Candidate, Error};
use std::collections::BTreeMap;
use std::mem::discriminant;

pub(super) struct Following<'a> {
    recorded: &'a Recorded,
    /// Steps of the recorded execution, in the new order.
    plan: Vec<u32>,
    /// How many of them are the order's own; the others lead to the error.
    order: usize,
    at: usize,
    /// The step that is being made, with those of its own.
    taken: Option<u32>,
    /// Of threads of the recorded execution, those of this one.
    threads: BTreeMap<ThreadId, ThreadId>,
    /// Who waits for which condition, in order of arrival.
    waiting: BTreeMap<Addr, Vec<ThreadId>>,
    /// The wait that begins is one that wakes up for no reason.
    is_no_waiter: bool,
    /// Threads that wait in the deadlock that it is for: they come last.
    blocked: Vec<ThreadId>,
    /// Why the order was left.
    pub(super) left: Option<String>,
    scheduler: Scheduler,
}

impl<'a> Following<'a> {
    pub(super) fn new(recorded: &'a Recorded, candidate: &Candidate) -> Self {
        let mut plan = Planned::new(recorded);
        for &event in &candidate.order {
            let step = recorded.of_event[event];
            if recorded.steps[step as usize].main == Some(event) {
                plan.up_to(step);
                plan.add(step);
            }
        }
        let order = plan.steps.len();
        let ends = match &candidate.error {
            Error::Race { first, second } => vec![*first, *second],
            Error::Deadlock { blocked } => blocked.clone(),
        };
        for &event in &ends {
            plan.up_to(recorded.of_event[event]);
        }
        let mut blocked = Vec::new();
        match candidate.error {
            Error::Race { .. } => ends.iter().for_each(|event| plan.add(recorded.of_event[*event])),
            Error::Deadlock { .. } => {
                blocked.extend(ends.iter().map(|event| recorded.trace.events[*event].thread));
            }
        }
        Self {
            recorded,
            plan: plan.steps,
            order,
            at: 0,
            taken: None,
            threads: BTreeMap::from([(ThreadId::MAIN, ThreadId::MAIN)]),
            waiting: BTreeMap::new(),
            is_no_waiter: false,
            blocked,
            left: None,
            scheduler: Scheduler::new(None),
        }
    }

    /// Steps of the order that were made.
    pub(super) fn followed(&self) -> usize {
        self.at.min(self.order)
    }

    /// How far it came, in words: nothing if all of the order was followed.
    pub(super) fn divergence(&self) -> Option<String> {
        let why = self.left.as_ref()?;
        let (at, steps) = (self.followed(), self.order);
        Some(match at < steps {
            true => format!("the program diverged from the order at step {} of {steps}: {why}", at + 1),
            false => format!("the order was followed; then {why}"),
        })
    }

    fn step(&self, step: u32) -> &'a Step {
        &self.recorded.steps[step as usize]
    }

    /// The choice that makes the next step of the plan; or why there is none.
    fn next<M: Machine>(&self, machine: &M, open: &[Choice]) -> Result<Choice, String> {
        let step = self.step(self.plan[self.at]);
        let thread = step.choice.thread;
        let Some(&own) = self.threads.get(&thread) else {
            return Err(format!("{thread} was not created"));
        };
        let Some(pending) = machine.pending(own) else { return Err(format!("{thread} has ended")) };
        if !is_same(pending, step.operation) {
            return Err(format!("{thread} does something else"));
        }
        let variant = match pending.kind {
            OpKind::Signal { cond } => self.waiter(cond, step),
            _ => step.choice.variant,
        };
        let choice = Choice { thread: own, variant };
        match open.contains(&choice) {
            true => Ok(choice),
            false => Err(format!("{thread} cannot go on")),
        }
    }

    /// Which of those who wait is woken.
    fn waiter(&self, cond: Addr, step: &Step) -> u32 {
        let Some(waiting) = self.waiting.get(&cond) else { return 0 };
        let recorded = step.main.map(|event| self.recorded.trace.events[event].kind);
        let named = match recorded {
            Some(EventKind::Signal { woken: Some(woken), .. }) => self.threads.get(&woken).copied(),
            _ => None,
        };
        let ends_at = |thread: &ThreadId| {
            self.plan[self.at..].iter().position(|step| {
                let step = self.step(*step);
                self.threads.get(&step.choice.thread) == Some(thread) && self.is_signalled(step)
            })
        };
        let first = waiting.iter().filter_map(|thread| Some((ends_at(thread)?, *thread))).min();
        let woken = first.map(|(_, thread)| thread).or(named);
        woken.and_then(|woken| waiting.iter().position(|one| *one == woken)).unwrap_or(0) as u32
    }

    fn is_signalled(&self, step: &Step) -> bool {
        step.main.is_some_and(|event| {
            let kind = self.recorded.trace.events[event].kind;
            matches!(kind, EventKind::WaitEnd { reason: WakeReason::Signalled, .. })
        })
    }

    /// Without an order: others before those of the deadlock, and the end of the process last.
    fn freely<M: Machine>(&mut self, machine: &M, open: &[Choice]) -> Choice {
        let own: Vec<ThreadId> =
            self.blocked.iter().filter_map(|thread| self.threads.get(thread).copied()).collect();
        let open = before_the_end(machine, open);
        let others: Vec<Choice> =
            open.iter().copied().filter(|choice| !own.contains(&choice.thread)).collect();
        self.scheduler.choose(machine, if others.is_empty() { &open } else { &others })
    }

    fn note(&mut self, events: &[Event]) {
        for event in events {
            match event.kind {
                EventKind::WaitBegin { cond } if !self.is_no_waiter => {
                    self.waiting.entry(cond).or_default().push(event.thread);
                }
                EventKind::WaitEnd { cond, .. } => {
                    self.waiting.entry(cond).or_default().retain(|one| *one != event.thread);
                }
                EventKind::Signal { cond, woken: Some(woken) } => {
                    self.waiting.entry(cond).or_default().retain(|one| *one != woken);
                }
                EventKind::Broadcast { cond } => _ = self.waiting.remove(&cond),
                _ => {}
            }
        }
    }
}

impl<M: Machine> Guide<M> for Following<'_> {
    fn choose(&mut self, machine: &M, open: &[Choice]) -> Choice {
        self.taken = None;
        let mut choice = None;
        while choice.is_none() && self.left.is_none() && self.at < self.plan.len() {
            match self.next(machine, open) {
                Ok(next) => {
                    self.taken = Some(self.plan[self.at]);
                    choice = Some(next);
                }
                // Going round without effect is of no use to anybody else.
                Err(_) if self.step(self.plan[self.at]).main.is_none() => self.at += 1,
                Err(why) => self.left = Some(why),
            }
        }
        let choice = choice.unwrap_or_else(|| self.freely(machine, open));
        let kind = machine.pending(choice.thread).map(|pending| pending.kind);
        self.is_no_waiter = choice.variant != 0 && matches!(kind, Some(OpKind::WaitBegin { .. }));
        choice
    }

    fn stepped(&mut self, _machine: &M, _choice: Choice, events: &[Event]) {
        self.note(events);
        let Some(step) = self.taken else { return };
        let step = self.step(step);
        let Some(main) = step.main else {
            self.at += 1;
            return;
        };
        let recorded = self.recorded.trace.events[main];
        let same = |event: &&Event| {
            event.site == recorded.site && discriminant(&event.kind) == discriminant(&recorded.kind)
        };
        match events.iter().find(same) {
            Some(event) => {
                if let (EventKind::Create { child: own }, EventKind::Create { child }) =
                    (event.kind, recorded.kind)
                {
                    self.threads.insert(child, own);
                }
                self.at += 1;
            }
            None => self.left = Some(format!("{} did something else", step.choice.thread)),
        }
    }
}

fn is_same(one: Operation, other: Operation) -> bool {
    one.site == other.site && discriminant(&one.kind) == discriminant(&other.kind)
}

/// A plan in the making.
struct Planned<'a> {
    recorded: &'a Recorded,
    steps: Vec<u32>,
    /// Of each thread, its steps, and how many of them are in the plan.
    threads: BTreeMap<ThreadId, (Vec<u32>, usize)>,
}

impl<'a> Planned<'a> {
    fn new(recorded: &'a Recorded) -> Self {
        let mut threads: BTreeMap<ThreadId, (Vec<u32>, usize)> = BTreeMap::new();
        for (number, step) in recorded.steps.iter().enumerate() {
            threads.entry(step.choice.thread).or_default().0.push(number as u32);
        }
        Self { recorded, steps: Vec::new(), threads }
    }

    /// What the thread does before this step.
    fn up_to(&mut self, step: u32) {
        let thread = self.recorded.steps[step as usize].choice.thread;
        let Some((own, done)) = self.threads.get_mut(&thread) else { return };
        while own.get(*done).is_some_and(|next| *next < step) {
            self.steps.push(own[*done]);
            *done += 1;
        }
    }

    /// The step itself, unless it was made already.
    fn add(&mut self, step: u32) {
        let thread = self.recorded.steps[step as usize].choice.thread;
        let Some((own, done)) = self.threads.get_mut(&thread) else { return };
        if own.get(*done) == Some(&step) {
            self.steps.push(step);
            *done += 1;
        }
    }
}
