//! Who listens to a machine: the sink that gets every event as it happens.

use raddle_base::SiteId;
use raddle_event::{Event, ThreadId, Trace};

pub trait Sink {
    fn event(&mut self, event: Event, stack: &dyn StackSource);

    /// A function without body or model is called; told only if asked for, because it costs time.
    fn foreign_call(&mut self, _call: ForeignCall) {}

    fn wants_foreign_calls(&self) -> bool {
        false
    }
}

/// A call of a function without body or model, which the machine takes to do nothing, and what it could use if it did something: what it is
/// given or such calls were given before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignCall {
    pub thread: ThreadId,
    pub site: SiteId,
    /// Memory that can be written.
    pub memory: bool,
    /// Something that threads synchronise by.
    pub sync: bool,
    /// Threads whose ids it could know.
    pub threads: Vec<ThreadId>,
}

/// The call stack of the thread whose event is being reported, computed only when asked for.
pub trait StackSource {
    /// Call sites from the innermost frame outwards; the event's own site is not in it.
    fn call_sites(&self) -> Vec<SiteId>;
}

/// Drops every event.
pub struct IgnoreEvents;

impl Sink for IgnoreEvents {
    fn event(&mut self, _event: Event, _stack: &dyn StackSource) {}
}

/// Appends every event to a trace.
#[derive(Default)]
pub struct TraceSink {
    pub trace: Trace,
}

impl Sink for TraceSink {
    fn event(&mut self, event: Event, _stack: &dyn StackSource) {
        self.trace.events.push(event);
    }
}
