//! Events of a recorded run as a person would call them: places, threads, the locks that were held. Stacks are not recorded.

use super::Recorded;
use super::told::{kind, nowhere};
use crate::NativeError;
use crate::places::{Places, frame};
use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, Event, EventKind, LockMode, ThreadId};
use raddle_finding::{AccessReport, Frame, LockReport, ThreadReport};
use raddle_instrument::sites::Kind;
use std::collections::BTreeMap;
use std::path::Path;

/// A recorded run with the tables of its program and libraries.
pub struct Named<'a> {
    recorded: &'a Recorded,
    places: Places,
    /// Where each thread was created.
    created: BTreeMap<ThreadId, SiteId>,
}

impl Recorded {
    /// `program` stands for the one that the trace names. Also what is worth saying besides.
    pub fn named(&self, program: Option<&Path>) -> Result<(Named<'_>, Vec<String>), NativeError> {
        let (places, warnings) = self.places(program)?;
        let created = self.trace.events.iter().filter_map(|event| match event.kind {
            EventKind::Create { child } => Some((child, event.site)),
            _ => None,
        });
        let created = created.collect();
        Ok((Named { recorded: self, places, created }, warnings))
    }
}

impl Named<'_> {
    fn event(&self, index: usize) -> &Event {
        &self.recorded.trace.events[index]
    }

    /// The place in the source.
    pub fn frame(&self, site: SiteId) -> Frame {
        self.places.sites(site.0).first().map(frame).unwrap_or_else(nowhere)
    }

    /// What was accessed, waited for or done there, as it is written.
    pub(super) fn expression(&self, index: usize) -> String {
        let event = self.event(index);
        let sites = self.places.sites(event.site.0);
        let Some(site) = sites.first() else { return String::new() };
        let text = match event.kind {
            EventKind::Access { kind, .. } => site.accessed(kind == AccessKind::Write),
            EventKind::Atomic { .. } => site.expression,
            _ => site.source,
        };
        text.to_owned()
    }

    /// Whether the call there only tries, or waits for some time: the trace does not tell these from those that block.
    pub fn gives_up(&self, index: usize) -> bool {
        let sites = self.places.sites(self.event(index).site.0);
        let names = sites.first().filter(|site| site.kind == Kind::Call).map(|site| site.expression);
        names.is_some_and(|name| ["try", "timed", "clock"].iter().any(|word| name.contains(word)))
    }

    /// One event of an error, with the locks that its thread held.
    pub fn report(&self, index: usize) -> AccessReport {
        let event = self.event(index);
        let sites = self.places.sites(event.site.0);
        let mut frames = sites.iter().map(frame);
        let action = match event.kind {
            EventKind::Access { kind: AccessKind::Read, .. } => "read",
            EventKind::Access { .. } => "write",
            EventKind::Atomic { op, .. } if op.writes() => "write",
            EventKind::Atomic { .. } => "read",
            EventKind::WaitEnd { .. } => "wait",
            EventKind::SemWait { .. } => "sem_wait",
            _ => kind(event),
        };
        AccessReport {
            at: frames.next().unwrap_or_else(nowhere),
            thread: self.thread(event.thread),
            action: action.to_owned(),
            atomic: matches!(event.kind, EventKind::Atomic { .. }),
            expression: self.expression(index),
            locks: self.held(index),
            stack: frames.collect(),
        }
    }

    fn thread(&self, thread: ThreadId) -> ThreadReport {
        let name = if thread == ThreadId::MAIN { "T0 (main)".to_owned() } else { thread.to_string() };
        let created =
            self.created.get(&thread).map(|site| self.places.sites(site.0).iter().map(frame).collect());
        ThreadReport { name, created: created.unwrap_or_default() }
    }

    fn held(&self, index: usize) -> Vec<LockReport> {
        let me = self.event(index).thread;
        let mut held: Vec<(Addr, LockMode, usize)> = Vec::new();
        for (at, event) in self.recorded.trace.events[..index].iter().enumerate() {
            match event.kind {
                EventKind::Acquire { lock, mode } if event.thread == me => held.push((lock, mode, at)),
                EventKind::Release { lock, mode } if event.thread == me => {
                    if let Some(place) = held.iter().rposition(|one| (one.0, one.1) == (lock, mode)) {
                        held.remove(place);
                    }
                }
                _ => {}
            }
        }
        let report = |(lock, mode, at): (Addr, LockMode, usize)| LockReport {
            name: self.object(lock, at),
            mode,
            acquired: self.places.sites(self.event(at).site.0).iter().map(frame).collect(),
        };
        held.into_iter().map(report).collect()
    }

    fn object(&self, address: Addr, at: usize) -> String {
        debug_assert_eq!(self.event(at).kind.sync_object(), Some(address));
        match self.expression(at) {
            name if name.is_empty() => format!("{}+{}", address.object, address.offset),
            name => name,
        }
    }
}
