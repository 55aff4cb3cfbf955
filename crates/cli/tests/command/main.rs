//! The binary as a user runs it: exit codes, messages, files.

mod bad_input;
mod certificates;
mod examples;
mod explore_bad_input;
mod flags;
mod inputs;
mod limits;
mod long_searches;
mod replay;
mod run;
mod static_bad_input;
mod statics;
