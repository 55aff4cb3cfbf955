//! The real program under Raddle: [`cc`] stands in for clang in any build and puts checks into the program, [`run()`] runs it and says
//! what was found.
//!
//! Why the whole program is instrumented at link time, and how, is decision 16.

#![forbid(unsafe_code)]

mod around;
mod binary;
pub mod cc;
pub mod enforce;
mod error;
pub mod machine;
mod places;
mod record;
mod replay;
mod run;
pub mod trace;

pub use around::{Around, CommandOutput, Commands};
pub use binary::is_program;
pub use error::NativeError;
pub use raddle_instrument::Keep;
pub use raddle_runtime::{
    Afterwards, Plan, Preference, Spurious, Steering, Step, StepKind, Visible, shows_memory_of,
};
pub use record::{RecordRequest, record, run_explained};
pub use replay::{Checks, Claim, Debugger, Nth, ReplayRequest, Replayed, debug, replay};
pub use run::{End, Ran, RunRequest, run};
