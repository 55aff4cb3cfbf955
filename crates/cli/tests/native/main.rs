//! The native commands, as a user runs them.

mod commands;
mod explored;
mod fixtures;
mod initialisers;
mod random;
mod recorded;
mod replays;
mod results;
mod scenarios;
