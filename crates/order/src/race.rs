//! Races as values: positions in a trace.

use raddle_event::Loc;

/// Two events of a trace that race; `first` came earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RacePair {
    pub first: usize,
    pub second: usize,
}

/// The first event that races at the bytes `loc`: unordered with an earlier conflicting access to each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FirstRace {
    pub loc: Loc,
    pub event: usize,
}
