//! Events of an execution of the interpreter as a person would call them. Stacks are not recorded.

use super::recorded::Recorded;
use raddle_base::SiteId;
use raddle_certify::{Direction, Names};
use raddle_event::{AccessKind, Addr, Event, EventKind, LockMode, ThreadId};
use raddle_finding::{AccessReport, LockReport, ThreadReport};
use raddle_interp::Interp;
use raddle_machine::Machine;
use std::collections::BTreeMap;

/// Of one execution.
pub(super) struct Threads(BTreeMap<ThreadId, ThreadReport>);

impl Threads {
    /// The machine stands at the end of the execution.
    pub(super) fn of(names: &Names<'_, Interp>) -> Self {
        let threads = (0..names.machine.thread_count()).map(ThreadId);
        Self(threads.map(|thread| (thread, names.thread(thread))).collect())
    }

    pub(super) fn report(
        &self,
        names: &Names<'_, Interp>,
        recorded: &Recorded,
        index: usize,
    ) -> AccessReport {
        let event = &recorded.trace.events[index];
        let action = action(event);
        let direction = if action == "read" { Direction::Read } else { Direction::Write };
        let unknown = || ThreadReport { name: event.thread.to_string(), created: Vec::new() };
        AccessReport {
            at: names.frame(event.site),
            thread: self.0.get(&event.thread).cloned().unwrap_or_else(unknown),
            action: action.to_owned(),
            atomic: matches!(event.kind, EventKind::Atomic { .. }),
            expression: match event.kind {
                EventKind::Access { .. } | EventKind::Atomic { .. } => {
                    names.expression(event.site, direction)
                }
                _ => names.argument(event.site),
            },
            locks: held(names, recorded, index),
            stack: Vec::new(),
        }
    }
}

fn held(names: &Names<'_, Interp>, recorded: &Recorded, index: usize) -> Vec<LockReport> {
    let events = &recorded.trace.events;
    let mut held: Vec<(Addr, LockMode, SiteId)> = Vec::new();
    for event in events[..index].iter().filter(|event| event.thread == events[index].thread) {
        match event.kind {
            EventKind::Acquire { lock, mode } => held.push((lock, mode, event.site)),
            EventKind::Release { lock, mode } => {
                if let Some(place) = held.iter().rposition(|one| (one.0, one.1) == (lock, mode)) {
                    held.remove(place);
                }
            }
            _ => {}
        }
    }
    let report = |(_, mode, site): (Addr, LockMode, SiteId)| LockReport {
        name: names.argument(site),
        mode,
        acquired: vec![names.frame(site)],
    };
    held.into_iter().map(report).collect()
}

fn action(event: &Event) -> &'static str {
    match event.kind {
        EventKind::Access { kind: AccessKind::Read, .. } => "read",
        EventKind::Access { .. } => "write",
        EventKind::Atomic { op, .. } if op.writes() => "write",
        EventKind::Atomic { .. } => "read",
        EventKind::Acquire { .. } => "lock",
        EventKind::Join { .. } => "join",
        EventKind::SemWait { .. } => "semaphore wait",
        EventKind::BarrierLeave { .. } => "barrier wait",
        EventKind::OncePass { .. } => "once",
        _ => "wait",
    }
}
