//! A trace: the events of one run in the order in which they happened.

use crate::Event;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub events: Vec<Event>,
}
