//! Events of an execution of the interpreter as a person would call them. Stacks are not recorded.

use super::recorded::Recorded;
use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, Event, EventKind, LockMode, ThreadId};
use raddle_finding::{AccessReport, Frame, LockReport, ThreadReport};
use raddle_interp::Interp;
use raddle_ir::{Code, Inst, Program};
use raddle_machine::Machine;
use std::collections::BTreeMap;

/// Of one execution.
pub(super) struct Names<'a> {
    pub(super) program: &'a Program,
    threads: BTreeMap<ThreadId, ThreadReport>,
}

impl<'a> Names<'a> {
    /// The machine stands at the end of the execution.
    pub(super) fn of(program: &'a Program, machine: &Interp) -> Self {
        let threads = (0..machine.thread_count()).map(ThreadId).map(|thread| {
            let info = machine.thread_info(thread);
            let created = info.created.map(|(_, site, stack)| {
                std::iter::once(site).chain(stack).map(|site| frame(program, site)).collect()
            });
            let name = format!("{thread} ({})", info.entry);
            (thread, ThreadReport { name, created: created.unwrap_or_default() })
        });
        Self { program, threads: threads.collect() }
    }

    pub(super) fn report(&self, recorded: &Recorded, index: usize) -> AccessReport {
        let event = &recorded.trace.events[index];
        AccessReport {
            at: frame(self.program, event.site),
            thread: self
                .threads
                .get(&event.thread)
                .cloned()
                .unwrap_or_else(|| ThreadReport { name: event.thread.to_string(), created: Vec::new() }),
            action: action(event).to_owned(),
            atomic: matches!(event.kind, EventKind::Atomic { .. }),
            expression: self.expression(event.site),
            locks: self.held(recorded, index),
            stack: Vec::new(),
        }
    }

    /// What is accessed there, or what a call is given.
    pub(super) fn expression(&self, site: SiteId) -> String {
        let Some(Code::Inst(inst)) = self.program.code_at(site) else { return String::new() };
        let place = match inst {
            Inst::Load { place, .. }
            | Inst::Store { place, .. }
            | Inst::Rmw { place, .. }
            | Inst::MemSet { place, .. } => Some(*place),
            Inst::CmpXchg(exchange) => Some(exchange.place),
            Inst::Call { args, .. } => args.iter().find_map(|arg| arg.place),
            _ => None,
        };
        let place = place.filter(|place| self.program.places.get(*place).is_some());
        place.map(|place| self.program.place_text(place)).unwrap_or_default()
    }

    fn held(&self, recorded: &Recorded, index: usize) -> Vec<LockReport> {
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
            name: self.expression(site),
            mode,
            acquired: vec![frame(self.program, site)],
        };
        held.into_iter().map(report).collect()
    }
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

fn frame(program: &Program, site: SiteId) -> Frame {
    let info = program.sites.get(site);
    let span = info.and_then(|info| info.span);
    let function = info.and_then(|info| program.functions.get(info.function));
    Frame {
        file: span.and_then(|span| program.files.get(span.file)).cloned().unwrap_or_default(),
        line: span.map_or(0, |span| span.line),
        column: span.map_or(0, |span| span.column),
        function: function.map(|one| program.text(one.name).to_owned()).unwrap_or_default(),
    }
}
