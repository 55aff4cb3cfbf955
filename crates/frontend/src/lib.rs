//! Runs clang, reads LLVM 19 bitcode, lowers it to Raddle's IR. LLVM stops at this crate's door.
//!
//! Way of the data: [`inputs`] tells sources from bitcode, binaries with bitcode in them ([`embedded`]) and databases; [`compile`] makes bitcode (before any pass, because optimised
//! code has lost races before anyone looks); [`bitcode`] reads, checks and links it and promotes locals to registers (mem2reg
//! only); [`lower`] turns it into `ir::Program`. Bad input is an error of [`FrontendError`], never a panic; a construct that has no
//! meaning in the IR is an `Unsupported` instruction there.

mod bitcode;
mod compile;
mod database;
pub mod embedded;
mod error;
mod inputs;
mod leave;
mod llvm;
mod lower;
mod preprocessed;
mod release;
mod sited;
mod toolchain;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use raddle_ir::{DataModel, Program};

pub use error::FrontendError;
pub use inputs::is_source;
pub use leave::leave;
pub use release::Release;
pub use sited::{SITE_KIND, Sited, SitedUnit, link_sited, load_sited};
pub use toolchain::{clang, resident_bytes, resident_bytes_of_tools};

/// What to load.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Sources (`.c`, `.i`), bitcode (`.bc`, `.ll`), files that `raddle cc` made, or one `compile_commands.json` (or a folder that
    /// holds it).
    pub inputs: Vec<PathBuf>,
    /// Extra flags for clang, after ours.
    pub cflags: Vec<String>,
    /// `None`: what bitcode inputs say, else LP64.
    pub data_model: Option<DataModel>,
    /// Which program of a `compile_commands.json` to take, by the source that has its `main`.
    pub target: Option<String>,
    /// Set to stop: tools that run are killed, and the result is [`FrontendError::Stopped`].
    pub stop: Arc<AtomicBool>,
}

/// A program ready for the engines.
#[derive(Debug)]
pub struct Loaded {
    pub program: Program,
    /// For the user: flags left out, files passed over.
    pub warnings: Vec<String>,
    /// Ids of numbered assumptions that reading the input already rests on.
    pub assumptions: Vec<&'static str>,
    /// What LLVM still holds; may be kept while other work goes on.
    pub release: Release,
}

/// Compiles, links and lowers the inputs to one program.
///
/// A program without `main` is not an error here: ask `Program::function_by_symbol("main")`.
pub fn load(request: &Request) -> Result<Loaded, FrontendError> {
    let plan = inputs::plan(request)?;
    let compiled = compile::compile(&plan, request)?;
    let context = llvm::new_context();
    let bitcode::Linked { module, data_model, warnings: linking, withheld } =
        bitcode::link(&context, &compiled, request)?;
    let names = lower::SourceNames {
        working_directory: std::env::current_dir().unwrap_or_default(),
        primary: compiled.primary_sources(),
        withheld,
    };
    let (program, more) = lower::lower(&module, data_model, names);
    let mut warnings = compiled.warnings;
    warnings.extend(linking);
    warnings.extend(more);
    module.leave_to_context();
    let release = Release::of(context);
    Ok(Loaded { program, warnings, assumptions: compiled.assumptions, release })
}
