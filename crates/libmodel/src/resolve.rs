//! From the functions of one program to what calling them means.

use crate::Effect;
use raddle_base::IdVec;
use raddle_ir::{FunctionId, Program};

/// The meaning of every function of a program.
#[derive(Clone, Debug)]
pub struct Models {
    pub meanings: IdVec<FunctionId, Meaning>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Run the body.
    Body,
    /// Run the body inside the global atomic section (`__VERIFIER_atomic_*`).
    AtomicBody,
    /// Do this instead of the body, if there is one; numbered assumptions it relies on.
    Effect(Effect, Vec<&'static str>),
    /// Declared, never defined, no row: an assumption (A-EXTERN) or a reason for `unknown`.
    Unknown,
}

impl Models {
    /// Resolves every function by name; user lock functions come from the configuration.
    pub fn resolve(_program: &Program, _config: &raddle_config::Config) -> Models {
        Models { meanings: IdVec::new() }
    }
}
