//! Programs that run under control, built from the sources that an engine has read: with that engine's own numbers of sites, a check
//! for every access, and what verification tasks call and nobody defines.

use super::instrumented::{HOT, RUNTIME};
use super::tools::{self, Tools};
use super::{Driver, OwnLock};
use crate::NativeError;
use raddle_frontend::embedded::{Level, SITES_SECTION, elf};
use raddle_frontend::{Request, load_sited};
use raddle_instrument::{Built, Keep, Options, Reduce, Text, build_sited};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A program in a folder of its own, both gone when dropped.
pub struct Controlled {
    program: PathBuf,
    _tools: Tools,
}

impl Controlled {
    pub fn path(&self) -> &Path {
        &self.program
    }
}

/// Builds the program. The error is clang's or the linker's own words.
pub fn build_controlled(
    request: &Request,
    own_locks: &[OwnLock],
) -> Result<Result<Controlled, String>, NativeError> {
    let tools = Tools::find(Driver::C)?;
    let sited = load_sited(request)?;
    let options = Options {
        level: Some(Level::O0),
        pic: true,
        reduce: Reduce::Nothing,
        hot: Some(HOT),
        wrapped: raddle_runtime::WRAPPED,
        own_locks,
        ..Options::default()
    };
    let Built { object, sites, .. } = build_sited(sited, &options, &|_| Keep::All, Text::No)?;
    let folder = tools.folder.path();
    let output = folder.join("program");
    let (program, verifier, archive) =
        (folder.join("program.o"), folder.join("verifier.c"), folder.join("libraddle_runtime.a"));
    tools.write(&program, &object)?;
    tools.write(&verifier, raddle_runtime::VERIFIER_C.as_bytes())?;
    tools.write(&archive, RUNTIME)?;
    let mut arguments: Vec<OsString> = request.cflags.iter().map(OsString::from).collect();
    arguments.extend(["-Qunused-arguments", "-w", "-pie"].map(OsString::from));
    arguments.extend([program.into(), verifier.into(), archive.into(), "-o".into(), output.clone().into()]);
    let libraries = ["-lpthread", "-ldl", "-lm", "-Wl,--export-dynamic-symbol=__raddle_*"];
    arguments.extend(libraries.map(OsString::from));
    if let Err(message) = tools.run_quietly(&arguments, tools::Input::Nothing)? {
        return Ok(Err(message));
    }
    let problem = |reason: String| NativeError::file(&output, reason);
    let bytes = std::fs::read(&output).map_err(|error| problem(error.to_string()))?;
    let bytes = elf::with_section(&bytes, SITES_SECTION, &sites).map_err(problem)?;
    tools.write(&output, &bytes)?;
    Ok(Ok(Controlled { program: output, _tools: tools }))
}
