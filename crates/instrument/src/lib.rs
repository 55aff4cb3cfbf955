//! From the bitcode of a program's units to one object file with checks for races in it.
//!
//! Way of the data: `frontend` links the units and numbers the sites; [`pipeline`] runs the passes that cannot lose a race; then every
//! access that other threads may see gets a check ([`accesses`], [`locals`]), and the runtime is told of atomics ([`atomics`]). LLVM
//! simplifies addresses, checks that others stand for go ([`redundancy`]), loops get one check for all they walk ([`walks`]); the
//! shadow stack is written ([`stack`]), then LLVM optimises and makes code.
//! Why no race is lost on the way: decision 15. Errs to more checks: what is not understood is checked where it stands.

mod accesses;
mod address;
mod atomics;
mod barriers;
mod body;
mod checks;
mod deciding;
mod emit;
mod graph;
mod hooks;
mod induction;
mod inlining;
mod llvm;
mod locals;
mod marks;
mod merged;
mod own_locks;
mod pipeline;
mod reach;
mod redundancy;
pub mod sites;
mod stack;
mod undefined;
mod wait_loops;
mod walks;

use std::collections::BTreeSet;

pub use own_locks::{Does, Mode, OwnLock, Success};
use raddle_base::SiteId;
pub use raddle_frontend::embedded::{Level, Unit};
use raddle_frontend::{FrontendError, Sited, SitedUnit, link_sited};
use raddle_ir::Program;

/// What kind of file the object will be linked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    #[default]
    Executable,
    SharedLibrary,
}

/// Which checks may be left out because others stand for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduce {
    #[default]
    All,
    /// A check for every access: for tests and for comparison.
    Nothing,
}

/// Which accesses are checked; atomics and calls always are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    All,
    /// Only accesses at these sites.
    Sites(BTreeSet<SiteId>),
}

#[derive(Clone, Debug)]
pub struct Options<'a> {
    pub output: Output,
    /// The level of the last optimisation; the highest of the units if not given.
    pub level: Option<Level>,
    /// Position-independent code even where the units do not ask for it.
    pub pic: bool,
    pub reduce: Reduce,
    /// Bitcode with the definitions of the hooks that are to be inlined.
    pub hot: Option<&'a [u8]>,
    /// Library functions that the runtime has as `__raddle_w_NAME`.
    pub wrapped: &'a [&'a str],
    pub own_locks: &'a [OwnLock],
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            output: Output::Executable,
            level: None,
            pic: false,
            reduce: Reduce::All,
            hot: None,
            wrapped: &[],
            own_locks: &[],
        }
    }
}

#[derive(Debug)]
pub struct Built {
    /// One relocatable object for all units.
    pub object: Vec<u8>,
    /// The linked program, not instrumented; who lowers it gets the site ids of `sites`.
    pub bitcode: Vec<u8>,
    /// For [`sites::decode`].
    pub sites: Vec<u8>,
    /// The instrumented program as text, before optimisation: for tests and for people.
    pub text: Option<String>,
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Frontend(#[from] FrontendError),
    #[error("{what}: {reason}")]
    Llvm { what: &'static str, reason: String },
}

/// Whether the text of the instrumented program is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    No,
    Yes,
}

/// Builds one object file of all units.
pub fn build(
    units: &[Unit],
    options: &Options<'_>,
    keep: &dyn Fn(&Program) -> Keep,
) -> Result<Built, BuildError> {
    build_with_text(units, options, keep, Text::No)
}

pub fn build_with_text(
    units: &[Unit],
    options: &Options<'_>,
    keep: &dyn Fn(&Program) -> Keep,
    text: Text,
) -> Result<Built, BuildError> {
    let parts: Vec<SitedUnit<'_>> =
        units.iter().map(|unit| SitedUnit { source: &unit.source, bitcode: &unit.bitcode }).collect();
    let level = options.level.or_else(|| units.iter().map(|unit| unit.level).max()).unwrap_or(Level::O2);
    build_sited(link_sited(&parts)?, &Options { level: Some(level), ..*options }, keep, text)
}

/// The same from a program that is linked and marked already; at level 2 if none is given.
pub fn build_sited(
    sited: Sited,
    options: &Options<'_>,
    keep: &dyn Fn(&Program) -> Keep,
    text: Text,
) -> Result<Built, BuildError> {
    let keep = keep(&sited.program);
    let level = options.level.unwrap_or(Level::O2);
    let mut made = pipeline::run(&sited.marked, &sited.program, keep, options, level, text)?;
    made.warnings.splice(0..0, sited.warnings);
    Ok(Built {
        object: made.object,
        bitcode: sited.bitcode,
        sites: sites::encode(&sited.program, &made.sites),
        text: made.text,
        warnings: made.warnings,
    })
}
