//! `raddle cc -c`: clang's own object, with the unit's bitcode in one more section.
//!
//! The bitcode comes from a second run of clang with the user's flags: code that no pass has touched, because optimised code has lost
//! races before anyone looks, but compiled as for optimisation (no `optnone`, with type-based alias information), because the whole
//! program is optimised later.

use super::command::{Command, Input};
use super::tools::{self, Tools};
use crate::NativeError;
use raddle_frontend::embedded::{BITCODE_SECTION, Level, Unit, elf, encode};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Behind the user's flags. Warnings were shown by the first run. Checked copies of libc functions hide what they touch.
const FLAGS: [&str; 10] = [
    "-w",
    "-Qunused-arguments",
    "-U_FORTIFY_SOURCE",
    "-g",
    "-fno-discard-value-names",
    "-fno-lto",
    "-Xclang",
    "-disable-llvm-passes",
    "-emit-llvm",
    "-c",
];

pub(super) fn compile(tools: &Tools, command: &Command) -> Result<u8, NativeError> {
    let stdin = kept_stdin(tools, command)?;
    let code =
        tools.run(&command.given, stdin.as_deref().map_or(tools::Input::Inherited, tools::Input::File))?;
    if code != 0 {
        return Ok(code);
    }
    for source in command.sources() {
        let object = match &command.output {
            Some(output) => output.clone(),
            None => default_object(source),
        };
        // Objects for nobody (`-o /dev/null`) or for a pipe stay as they are.
        if !std::fs::metadata(&object).is_ok_and(|meta| meta.is_file()) {
            continue;
        }
        if let Some(unit) = unit(tools, command, source, stdin.as_deref())? {
            add(tools, &object, &encode(&unit))?;
        }
    }
    Ok(0)
}

/// The bitcode of a source. `None`, and a word to the user, where the second compilation fails.
pub(super) fn unit(
    tools: &Tools,
    command: &Command,
    source: &Input,
    stdin: Option<&Path>,
) -> Result<Option<Unit>, NativeError> {
    let output = tools.folder.path().join("unit.bc");
    let run = |level: &[&str]| bitcode(tools, command, source, stdin, level, &output);
    // For an unoptimised program the headers see what they saw in the first run.
    const UNOPTIMISED: [&str; 3] = ["-O1", "-U__OPTIMIZE__", "-D__NO_INLINE__"];
    let mut result = if command.level == Level::O0 { run(&UNOPTIMISED)? } else { run(&[])? };
    if result.is_err() && command.level == Level::O0 {
        // A precompiled header insists on the level that it was made at.
        result = run(&["-Xclang", "-disable-O0-optnone"])?;
    }
    if let Err(message) = result {
        let first = message.lines().find(|line| line.contains("error")).unwrap_or(&message);
        eprintln!("raddle cc: {}: stays without checks: {first}", source.path.display());
        return Ok(None);
    }
    let bitcode = std::fs::read(&output).map_err(|error| NativeError::file(&output, error))?;
    Ok(Some(Unit {
        source: source.path.to_string_lossy().into_owned(),
        level: command.level,
        flags: command.code_flags(),
        bitcode,
    }))
}

fn bitcode(
    tools: &Tools,
    command: &Command,
    source: &Input,
    stdin: Option<&Path>,
    level: &[&str],
    output: &Path,
) -> Result<Result<(), String>, NativeError> {
    let mut arguments = command.bitcode_flags();
    arguments.extend(level.iter().map(OsString::from));
    arguments.extend(FLAGS.map(OsString::from));
    arguments.extend(["-o".into(), output.into()]);
    if let Some(language) = &source.language {
        arguments.extend(["-x".into(), language.clone()]);
    }
    arguments.extend(["--".into(), source.path.clone().into()]);
    if source.is_stdin() {
        // Behind `--` it would be a file of that name.
        let last = arguments.len() - 2;
        arguments.remove(last);
    }
    let input = match stdin {
        Some(file) if source.is_stdin() => tools::Input::File(file),
        _ => tools::Input::Nothing,
    };
    tools.run_quietly(&arguments, input)
}

/// Puts one more `.raddle.bc` into a file; several in one file are read one after the other.
pub(super) fn add(tools: &Tools, file: &Path, records: &[u8]) -> Result<(), NativeError> {
    let problem = |reason: String| NativeError::file(file, reason);
    let bytes = std::fs::read(file).map_err(|error| problem(error.to_string()))?;
    let longer = elf::with_section(&bytes, BITCODE_SECTION, records).map_err(problem)?;
    tools.write(file, &longer)
}

/// Standard input can be read once, and two runs of clang want it.
pub(super) fn kept_stdin(tools: &Tools, command: &Command) -> Result<Option<PathBuf>, NativeError> {
    if !command.reads_stdin {
        return Ok(None);
    }
    let file = tools.folder.path().join("stdin");
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|error| NativeError::file("-", error))?;
    tools.write(&file, &bytes)?;
    Ok(Some(file))
}

/// `src/a.c` becomes `a.o`, here.
fn default_object(source: &Input) -> PathBuf {
    let name = source.path.file_name().unwrap_or("-".as_ref());
    Path::new(name).with_extension("o")
}
