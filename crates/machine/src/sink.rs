//! Who listens to a machine: the sink that gets every event as it happens.

use raddle_base::SiteId;
use raddle_event::{Event, Trace};

pub trait Sink {
    fn event(&mut self, event: Event, stack: &dyn StackSource);
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
