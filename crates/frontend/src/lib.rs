//! Runs clang, reads LLVM 19 bitcode, lowers it to Raddle's IR. LLVM stops here.
//!
//! C is compiled at -O0 without `optnone`, then locals whose address is not taken become registers (`mem2reg`) and nothing else is
//! done: any optimisation may erase the racing access. A function that is declared and never defined is a declaration in the
//! program, not an error. What has no exact meaning in the IR becomes `Unsupported` with its place and matters when it is reached.

mod clang;
mod compile_commands;
mod error;
mod inputs;
mod llvm;
mod lower;
mod request;

pub use error::FrontendError;
pub use request::{Loaded, Request};

use std::path::Path;

use raddle_ir::DataModel;

use crate::inputs::Unit;
use crate::llvm::{Module, new_context};
use crate::lower::{SourceNames, lower};

/// Compiles, links and lowers the inputs of one program.
pub fn load(request: &Request) -> Result<Loaded, FrontendError> {
    let folder =
        tempfile::tempdir().map_err(|error| FrontendError::io(Path::new("temporary folder"), error))?;
    let units = inputs::collect(request)?;
    let compiled = inputs::compile(&units, request, folder.path())?;
    let context = new_context();
    let mut linked: Option<Module<'_>> = None;
    for (unit, bitcode) in units.iter().zip(&compiled.bitcode) {
        let module = read(&context, unit, bitcode)?;
        linked = Some(match linked {
            None => module,
            Some(mut whole) => {
                agree(&whole, &module, unit)?;
                let result = whole.link(module);
                result.map_err(|message| FrontendError::Link { file: unit.shown(), message })?;
                whole
            }
        });
    }
    let mut module = linked.ok_or(FrontendError::NoInput)?;
    module.promote_locals().map_err(|message| FrontendError::Internal { message })?;
    let data_model = data_model(&module, request)?;
    let working_directory = std::env::current_dir().unwrap_or_default();
    let primary = units.iter().map(|unit| unit.source.clone()).collect();
    let (program, mut warnings) = lower(&module, data_model, SourceNames { working_directory, primary });
    warnings.extend(compiled.warnings);
    Ok(Loaded { program, warnings, assumptions: compiled.assumptions })
}

fn read<'c>(
    context: &'c inkwell::context::Context,
    unit: &Unit,
    bitcode: &Path,
) -> Result<Module<'c>, FrontendError> {
    let bad = |message: String| FrontendError::Bitcode { file: unit.shown(), message };
    let module = Module::read(context, bitcode).map_err(bad)?;
    module.verify().map_err(bad)?;
    Ok(module)
}

/// The linker of LLVM takes a 32-bit module into a 64-bit one without a word.
fn agree(whole: &Module<'_>, part: &Module<'_>, unit: &Unit) -> Result<(), FrontendError> {
    if whole.layout().pointer_bytes() == part.layout().pointer_bytes()
        && whole.layout_text() == part.layout_text()
    {
        return Ok(());
    }
    Err(FrontendError::MixedTargets { file: unit.shown(), one: whole.triple(), other: part.triple() })
}

fn data_model(module: &Module<'_>, request: &Request) -> Result<DataModel, FrontendError> {
    let layout = module.layout();
    let found = match (layout.pointer_bytes(), layout.is_little_endian()) {
        (8, true) => DataModel::Lp64,
        (4, true) => DataModel::Ilp32,
        _ => return Err(FrontendError::Target { triple: module.triple() }),
    };
    match request.data_model {
        Some(wanted) if wanted != found => {
            Err(FrontendError::WrongDataModel { wanted: wanted.name(), found: found.name() })
        }
        _ => Ok(found),
    }
}
