//! From an order of recorded events to the steps of a schedule.
//!
//! Each event that a thread of the controlled program stops for becomes a step; allocation, fences and what goes through descriptors do
//! not, and accesses only to bytes that the recorded run has seen a race of: nothing else keeps the order of those. Two events may be one stop: a wait and its mutex, the initialiser of a once object and the pass after it. What the
//! trace does not say is chosen so that the order is possible: which waiter a signal wakes (the one whose wait ends next in the order), and
//! that a wait which no signal ends wakes up for no reason. Threads are numbered in order of creation, which the order may change.

use super::{EnforcePlan, Wanted};
use crate::trace::{ObjectKind, Recorded};
use crate::{Afterwards, Plan, Step, StepKind, Visible};
use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, Event, EventKind, Loc, ThreadId, WakeReason};
use raddle_instrument::sites::{Site, Sites};
use std::collections::{BTreeMap, BTreeSet};

/// Variants of acquisitions in plans of recorded events.
const ACQUIRED: u32 = 0;
const FAILED: u32 = 1;
/// Ends of waits.
const SIGNALLED: u32 = 0;
const SPURIOUS: u32 = 1;
const TIMED_OUT: u32 = 2;
/// No program has memory from here on; the recorder names channels of descriptors by such addresses.
const MEMORY: u64 = 1 << 47;
/// In traces: no site.
pub(super) const NOWHERE: u32 = u32::MAX;

pub(super) fn plan(
    recorded: &Recorded,
    sites: &Sites,
    order: &[usize],
    wanted: &Wanted,
) -> Result<EnforcePlan, String> {
    let events = &recorded.trace.events;
    let ends: &[usize] = match wanted {
        Wanted::Race(ends) => ends,
        Wanted::Deadlock(blocked) => blocked,
    };
    if let Some(at) = order.iter().chain(ends).find(|at| **at >= events.len()) {
        return Err(format!("event {at} is not in the trace, which has {}", events.len()));
    }
    let mut planner = Planner::new(recorded, sites, order);
    for (at, event) in order.iter().enumerate() {
        planner.take(at, *event).map_err(|why| format!("event {event}: {why}"))?;
    }
    let accesses = planner.steps.iter().filter(|step| step.kind == StepKind::Access);
    let visible: BTreeSet<u32> = accesses.map(|step| step.site).collect();
    let mut plan = Plan { steps: planner.steps, recorded: Some(Afterwards::GoesOn), ..Plan::default() };
    if !visible.is_empty() {
        plan.visible = Visible::Sites(visible);
    }
    plan.copies =
        sites.iter().filter(|site| site.id != site.original).map(|site| (site.id, site.original)).collect();
    let mut blocked = BTreeMap::new();
    for end in ends {
        let Event { thread, site, .. } = events[*end];
        let thread =
            *planner.threads.get(&thread).ok_or_else(|| format!("event {end}: {thread} is not created"))?;
        if !plan.last.contains(&thread) {
            plan.last.push(thread);
        }
        blocked.insert(thread, original(sites, site));
    }
    if let Wanted::Race(ends) = wanted {
        plan.race = ends.map(|end| places(sites, events[end].site));
        blocked.clear();
    }
    Ok(EnforcePlan { plan, blocked })
}

/// The site before inlining; 0 where it is not known.
pub(super) fn original(sites: &Sites, site: SiteId) -> u32 {
    match site.0 {
        NOWHERE => 0,
        id => sites.get(id).map_or(id, |site| site.original),
    }
}

/// All copies of the place. One check may stand for others of its line and variable.
fn places(sites: &Sites, at: SiteId) -> BTreeSet<u32> {
    let Some(wanted) = sites.get(at.0) else { return [at.0].into() };
    let same = |site: &Site<'_>| {
        let line = (site.file, site.line) == (wanted.file, wanted.line) && site.line != 0;
        site.original == wanted.original || line && site.variable == wanted.variable
    };
    sites.iter().filter(same).map(|site| site.id).collect()
}

struct Planner<'a> {
    recorded: &'a Recorded,
    sites: &'a Sites,
    order: &'a [usize],
    /// Bytes that the recorded run has seen a race of.
    racy: BTreeSet<Addr>,
    steps: Vec<Step>,
    /// Numbers in the enforced run.
    threads: BTreeMap<ThreadId, u32>,
    /// The present life of each object.
    objects: BTreeMap<Addr, u32>,
    lives: u32,
    conditions: BTreeMap<Addr, Vec<Waiter>>,
    /// What each thread did last that may make one stop with what it does next.
    before: BTreeMap<ThreadId, EventKind>,
    /// Where in the order each thread's waits end.
    wakes: BTreeMap<ThreadId, Vec<(usize, WakeReason)>>,
}

struct Waiter {
    thread: ThreadId,
    signalled: bool,
    /// The step of its beginning.
    began: usize,
}

impl<'a> Planner<'a> {
    fn new(recorded: &'a Recorded, sites: &'a Sites, order: &'a [usize]) -> Self {
        let mut wakes: BTreeMap<ThreadId, Vec<(usize, WakeReason)>> = BTreeMap::new();
        for (at, event) in order.iter().enumerate().rev() {
            let event = &recorded.trace.events[*event];
            if let EventKind::WaitEnd { reason, .. } = event.kind {
                wakes.entry(event.thread).or_default().push((at, reason));
            }
        }
        Self {
            recorded,
            sites,
            order,
            racy: recorded.racy_bytes(),
            steps: Vec::new(),
            threads: [(ThreadId::MAIN, 0)].into(),
            objects: BTreeMap::new(),
            lives: 0,
            conditions: BTreeMap::new(),
            before: BTreeMap::new(),
            wakes,
        }
    }

    /// The event at this place of the order.
    fn take(&mut self, at: usize, index: usize) -> Result<(), String> {
        let Event { thread, kind, .. } = self.recorded.trace.events[index];
        if let EventKind::Access { loc, .. } = kind
            && self.is_racy(loc)
        {
            // A read that was put before its write is one access with that.
            let is_half = self.recorded.trace.events.get(index + 1).is_some_and(|next| {
                let kind = EventKind::Access { loc, kind: AccessKind::Write };
                *next == Event { kind, ..self.recorded.trace.events[index] }
            });
            if is_half {
                return Ok(());
            }
            return self.step(index, StepKind::Access, 0, None);
        }
        let is_sync = !matches!(
            kind,
            EventKind::Access { .. }
                | EventKind::Fence { .. }
                | EventKind::Alloc { .. }
                | EventKind::Free { .. }
                | EventKind::BranchBegin { .. }
                | EventKind::BranchEnd
                | EventKind::Choose { .. }
        );
        if !is_sync {
            return Ok(());
        }
        let before = self.before.insert(thread, kind);
        match kind {
            EventKind::Begin => self.step(index, StepKind::Begin, 0, None),
            EventKind::End => self.step(index, StepKind::End, 0, None),
            EventKind::Exit => self.step(index, StepKind::Exit, 0, None),
            EventKind::Create { child } => {
                self.step(index, StepKind::Create, 0, None)?;
                let number = self.threads.len() as u32;
                if self.threads.insert(child, number).is_some() {
                    return Err(format!("{child} is created twice"));
                }
                Ok(())
            }
            EventKind::Join { .. } => self.step(index, StepKind::Join, 0, None),
            EventKind::Detach { .. } => self.step(index, StepKind::Detach, 0, None),
            EventKind::Acquire { .. } if matches!(before, Some(EventKind::WaitEnd { .. })) => Ok(()),
            EventKind::Release { .. } if matches!(before, Some(EventKind::WaitBegin { .. })) => Ok(()),
            EventKind::Acquire { lock, .. } => self.step(index, StepKind::Lock, ACQUIRED, Some(lock)),
            EventKind::AcquireFailed { lock } => self.step(index, StepKind::Lock, FAILED, Some(lock)),
            EventKind::Release { lock, .. } => self.step(index, StepKind::Unlock, 0, Some(lock)),
            EventKind::WaitBegin { cond } => {
                let began = self.steps.len();
                self.conditions.entry(cond).or_default().push(Waiter { thread, signalled: false, began });
                self.step(index, StepKind::WaitBegin, SIGNALLED, Some(cond))
            }
            EventKind::WaitEnd { cond, reason } => self.wait_ends(index, cond, reason),
            EventKind::Signal { cond, .. } => {
                let variant = self.wakes(at, cond);
                self.step(index, StepKind::Signal, variant, Some(cond))
            }
            EventKind::Broadcast { cond } => {
                let waiters = self.conditions.entry(cond).or_default();
                waiters.iter_mut().for_each(|waiter| waiter.signalled = true);
                self.step(index, StepKind::Broadcast, 0, Some(cond))
            }
            EventKind::BarrierArrive { barrier, .. } => {
                self.step(index, StepKind::BarrierArrive, 0, Some(barrier))
            }
            EventKind::BarrierLeave { barrier, .. } => {
                self.step(index, StepKind::BarrierLeave, 0, Some(barrier))
            }
            EventKind::SemPost { sem } | EventKind::SemWait { sem } if !self.is_semaphore(index, sem) => {
                Ok(())
            }
            EventKind::SemPost { sem } => self.step(index, StepKind::SemPost, 0, Some(sem)),
            EventKind::SemWait { sem } => self.step(index, StepKind::SemWait, 0, Some(sem)),
            EventKind::OnceBegin { once } => self.step(index, StepKind::Once, 0, Some(once)),
            EventKind::OnceEnd { once } => self.step(index, StepKind::OnceEnd, 0, Some(once)),
            EventKind::OncePass { once } if before == Some(EventKind::OnceEnd { once }) => Ok(()),
            // After an initialiser that was left: the thread runs it again, which is one stop.
            EventKind::OncePass { once } if self.begins_next(at, thread, once) => Ok(()),
            EventKind::OncePass { once } => self.step(index, StepKind::Once, 0, Some(once)),
            EventKind::SyncInit { object } => {
                self.objects.remove(&object);
                self.step(index, StepKind::SyncInit, 0, Some(object))
            }
            EventKind::SyncDestroy { object } => {
                self.step(index, StepKind::SyncDestroy, 0, Some(object))?;
                self.objects.remove(&object);
                Ok(())
            }
            EventKind::Atomic { .. } => self.step(index, StepKind::Atomic, 0, None),
            EventKind::Access { .. }
            | EventKind::Fence { .. }
            | EventKind::Alloc { .. }
            | EventKind::Free { .. }
            | EventKind::BranchBegin { .. }
            | EventKind::BranchEnd
            | EventKind::Choose { .. } => Ok(()),
        }
    }

    fn is_racy(&self, loc: Loc) -> bool {
        let at = |offset| Addr { object: loc.object, offset };
        self.racy.range(at(loc.offset)..at(loc.offset + loc.len)).next().is_some()
    }

    fn step(&mut self, index: usize, kind: StepKind, variant: u32, on: Option<Addr>) -> Result<(), String> {
        let Event { thread, site, .. } = self.recorded.trace.events[index];
        let number = self.threads.get(&thread);
        let thread = *number.ok_or_else(|| format!("{thread} is not created before it"))?;
        let object = on.map_or(0, |on| self.object(on));
        let site = original(self.sites, site);
        self.steps.push(Step { thread, kind, site, variant, value: None, object });
        Ok(())
    }

    /// What passes through descriptors, and annotations, are posts and waits in a trace. The thread does not stop there: the system, or the
    /// program itself, keeps their order.
    fn is_semaphore(&self, index: usize, sem: Addr) -> bool {
        let object = self.recorded.objects.get(sem.object.0 as usize);
        let is_memory = object.is_some_and(|object| object.address < MEMORY);
        let site = self.sites.get(self.recorded.trace.events[index].site.0);
        is_memory && site.is_none_or(|site| !site.expression.starts_with("__raddle_"))
    }

    /// Memory that nobody accounts for may have several lives that the trace does not tell apart.
    fn object(&mut self, at: Addr) -> u32 {
        let known = self.recorded.objects.get(at.object.0 as usize);
        if known.is_none_or(|object| object.kind == ObjectKind::Unknown) {
            return 0;
        }
        *self.objects.entry(at).or_insert_with(|| {
            self.lives += 1;
            self.lives
        })
    }

    /// Which of the waiters that were not woken yet a signal at this place of the order wakes.
    fn wakes(&mut self, at: usize, cond: Addr) -> u32 {
        let waiters = self.conditions.entry(cond).or_default();
        let wakes = &self.wakes;
        // Waits whose end is not in the order may go on waiting.
        let end = |waiter: &Waiter| {
            let ends = wakes.get(&waiter.thread).into_iter().flatten().rev();
            match ends.into_iter().find(|(end, _)| *end > at) {
                Some((end, WakeReason::Signalled)) => *end,
                Some((_, WakeReason::TimedOut | WakeReason::Spurious)) => usize::MAX,
                None => usize::MAX - 1,
            }
        };
        let open = waiters.iter_mut().filter(|waiter| !waiter.signalled).enumerate();
        let Some((variant, waiter)) = open.min_by_key(|(_, waiter)| end(waiter)) else { return 0 };
        waiter.signalled = true;
        variant as u32
    }

    fn wait_ends(&mut self, index: usize, cond: Addr, reason: WakeReason) -> Result<(), String> {
        let thread = self.recorded.trace.events[index].thread;
        let waiters = self.conditions.entry(cond).or_default();
        let at = waiters.iter().position(|waiter| waiter.thread == thread);
        let Waiter { signalled, began, .. } =
            waiters.remove(at.ok_or("the end of a wait that did not begin")?);
        let variant = match reason {
            WakeReason::Signalled if signalled => SIGNALLED,
            WakeReason::Signalled => {
                self.steps[began].variant = SPURIOUS;
                SPURIOUS
            }
            WakeReason::TimedOut => TIMED_OUT,
            WakeReason::Spurious => {
                return Err("a wait that was cancelled, which is not under control".to_owned());
            }
        };
        // A wait that ends for no reason is not among the waiters, and takes its mutex in the place of the condition.
        let on = (variant != SPURIOUS).then_some(cond);
        self.step(index, StepKind::WaitEnd, variant, on)
    }

    fn begins_next(&self, at: usize, thread: ThreadId, once: Addr) -> bool {
        let events = &self.recorded.trace.events;
        let next =
            self.order[at + 1..].iter().map(|index| &events[*index]).find(|event| event.thread == thread);
        next.is_some_and(|next| next.kind == EventKind::OnceBegin { once })
    }
}
