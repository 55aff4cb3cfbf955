//! The link step: the user's own link first, then the instrumented program of exactly the units that it took.
//!
//! A linker puts the sections `.raddle.bc` of its inputs behind each other, so the plain program says which units, from objects and from
//! archives, are in it. They become one object that takes the place of theirs in a second link. Archives stay where they are: what
//! they define is defined already, so nothing is taken from them again; only `--whole-archive` needs its members sorted.

use super::archive;
use super::command::{Action, Command, Input, Kind, Word};
use super::compile;
use super::instrumented::{self, Instrumented};
use super::tools::{self, Tools};
use super::{Advice, Prune};
use crate::NativeError;
use raddle_frontend::embedded::{self, BITCODE_SECTION, SITES_SECTION, Unit, elf, encode};
use raddle_instrument::Output;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(super) fn link(tools: &Tools, command: &Command, advice: &dyn Advice) -> Result<u8, NativeError> {
    let stdin = compile::kept_stdin(tools, command)?;
    let mut given = command.given.clone();
    if command.action == Action::Executable
        && command.inputs().all(|input| input.is_stdin() || input.path.exists())
    {
        // Shared objects of ours lack what the run-time library brings.
        given.insert(0, "-Wl,--allow-shlib-undefined".into());
    }
    let code = tools.run(&given, stdin.as_deref().map_or(tools::Input::Inherited, tools::Input::File))?;
    let output = command.output.clone().unwrap_or_else(|| "a.out".into());
    if code != 0 || !std::fs::metadata(&output).is_ok_and(|meta| meta.is_file()) {
        return Ok(code);
    }
    // Sources come first, then what the linker took, in its order.
    let mut sources = Vec::new();
    for source in command.sources() {
        sources.extend(compile::unit(tools, command, source, stdin.as_deref())?.map(|unit| (source, unit)));
    }
    if command.action == Action::Relocatable {
        let units: Vec<Unit> = sources.into_iter().map(|(_, unit)| unit).collect();
        keep(tools, &output, &units)?;
        return Ok(0);
    }
    let taken = units_in(&output)?;
    let (done, units): (Vec<&Input>, Vec<Unit>) = sources.into_iter().unzip();
    let units: Vec<Unit> = units.into_iter().chain(taken).collect();
    if units.is_empty() {
        return Ok(0);
    }
    // A program without checks must not pass for one with them.
    std::fs::remove_file(&output).map_err(|error| NativeError::file(&output, error))?;
    let kind = if command.action == Action::Shared { Output::SharedLibrary } else { Output::Executable };
    // Code that the analysis does not see may use what it takes for private.
    let prune = if has_foreign_code(command, &done) { Prune::Nothing } else { command.prune };
    let too_large = || {
        if stdin.is_none() {
            tools.start_again(&command.given);
        }
    };
    let program = instrumented::build(&units, kind, prune, advice, &too_large)?;
    finish(tools, command, &program, &done, &output)
}

/// Whether something is linked, besides libraries, that has no bitcode.
fn has_foreign_code(command: &Command, done: &[&Input]) -> bool {
    let is_foreign = |path: &Path| match std::fs::read(path) {
        Ok(bytes) if elf::kind(&bytes) == Some(elf::Kind::Object) => !has_bitcode(&bytes),
        Ok(bytes) if archive::is_archive(&bytes) => {
            archive::foreign_members(path, &bytes).map_or(true, |members| !members.is_empty())
        }
        _ => false,
    };
    command.words.iter().any(|word| match word {
        Word::Input(input) if input.kind == Kind::Linked => is_foreign(&input.path),
        Word::Input(input) => !done.contains(&input),
        Word::Linker(piece) => is_foreign(Path::new(piece)),
        Word::Flag(_) => false,
    })
}

fn has_bitcode(object: &[u8]) -> bool {
    elf::sections(object, BITCODE_SECTION).is_ok_and(|found| !found.is_empty())
}

fn keep(tools: &Tools, output: &Path, units: &[Unit]) -> Result<(), NativeError> {
    match units {
        [] => Ok(()),
        _ => compile::add(tools, output, &units.iter().flat_map(encode).collect::<Vec<u8>>()),
    }
}

fn finish(
    tools: &Tools,
    command: &Command,
    program: &Instrumented,
    done: &[&Input],
    output: &Path,
) -> Result<u8, NativeError> {
    let object = tools.folder.path().join("program.o");
    tools.write(&object, &program.object)?;
    let mut arguments = Vec::new();
    let mut second = Second { tools, done, whole: Whole::No, members: 0 };
    arguments.extend(["-Qunused-arguments".into(), object.into()]);
    for word in &command.words {
        second.word(word, &mut arguments)?;
    }
    match program.output {
        Output::Executable => {
            let archive = tools.folder.path().join("libraddle_runtime.a");
            tools.write(&archive, instrumented::RUNTIME)?;
            arguments.push(archive.into());
            let rest = ["-lpthread", "-ldl", "-lm", "-Wl,--export-dynamic-symbol=__raddle_*"];
            arguments.extend(rest.map(OsString::from));
        }
        // What the run-time library defines is found in the executable.
        Output::SharedLibrary => arguments.push("-Wl,-z,undefs".into()),
    }
    let code = tools.run(&arguments, tools::Input::Nothing)?;
    if code != 0 {
        let _ = std::fs::remove_file(output);
        eprintln!("raddle cc: the link with checks failed, the plain one before it did not");
        return Ok(code);
    }
    for unit in units_in(output)? {
        eprintln!("raddle cc: {}: was linked a second time, without checks", unit.source);
    }
    let problem = |reason: String| NativeError::file(output, reason);
    let mut bytes = std::fs::read(output).map_err(|error| problem(error.to_string()))?;
    let whole = Unit {
        source: output.to_string_lossy().into_owned(),
        level: program.level,
        flags: Vec::new(),
        bitcode: program.bitcode.clone(),
    };
    bytes = elf::with_section(&bytes, BITCODE_SECTION, &encode(&whole)).map_err(problem)?;
    bytes = elf::with_section(&bytes, SITES_SECTION, &program.sites).map_err(problem)?;
    tools.write(output, &bytes)?;
    Ok(0)
}

/// Every unit that a linker put into this file.
fn units_in(file: &Path) -> Result<Vec<Unit>, NativeError> {
    let problem = |reason: String| NativeError::file(file, reason);
    let bytes = std::fs::read(file).map_err(|error| problem(error.to_string()))?;
    if !elf::is_elf(&bytes) {
        return Ok(Vec::new());
    }
    embedded::units(&bytes).map_err(problem)
}

/// Whether the linker takes all members of an archive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

/// The words of the second link, one after the other.
struct Second<'a> {
    tools: &'a Tools,
    /// Sources that are in the new object.
    done: &'a [&'a Input],
    whole: Whole,
    members: usize,
}

impl Second<'_> {
    fn word(&mut self, word: &Word, arguments: &mut Vec<OsString>) -> Result<(), NativeError> {
        match word {
            Word::Flag(words) if words[0].as_encoded_bytes().starts_with(b"-x") => {}
            Word::Flag(words) if words[0].as_encoded_bytes().starts_with(b"-flto") => {}
            Word::Flag(words) => arguments.extend(words.iter().cloned()),
            Word::Input(input) if self.done.contains(&input) => {}
            Word::Input(input) if input.kind == Kind::Linked => {
                let files = self.files(&input.path)?;
                arguments.extend(files.into_iter().map(as_argument));
            }
            Word::Input(input) => match &input.language {
                Some(language) => {
                    let path = input.path.clone();
                    arguments.extend([
                        "-x".into(),
                        language.clone(),
                        as_argument(path),
                        "-x".into(),
                        "none".into(),
                    ]);
                }
                None => arguments.push(as_argument(input.path.clone())),
            },
            Word::Linker(piece) => {
                match piece.to_str() {
                    Some("--whole-archive" | "-whole-archive") => self.whole = Whole::Yes,
                    Some("--no-whole-archive" | "-no-whole-archive") => self.whole = Whole::No,
                    _ => {}
                }
                let is_file = !piece.as_encoded_bytes().starts_with(b"-") && Path::new(piece).is_file();
                let pieces =
                    if is_file { self.files(Path::new(piece))? } else { vec![PathBuf::from(piece.clone())] };
                for piece in pieces {
                    arguments.extend(["-Xlinker".into(), piece.into_os_string()]);
                }
            }
        }
        Ok(())
    }

    /// What stands for a file of the first link in the second: itself, nothing, or some members.
    fn files(&mut self, path: &Path) -> Result<Vec<PathBuf>, NativeError> {
        let Ok(bytes) = std::fs::read(path) else { return Ok(vec![path.to_owned()]) };
        if elf::kind(&bytes) == Some(elf::Kind::Object) {
            return Ok(if has_bitcode(&bytes) { Vec::new() } else { vec![path.to_owned()] });
        }
        if self.whole == Whole::No || !archive::is_archive(&bytes) {
            return Ok(vec![path.to_owned()]);
        }
        let members =
            archive::foreign_members(path, &bytes).map_err(|reason| NativeError::file(path, reason))?;
        let mut files = Vec::new();
        for member in members {
            self.members += 1;
            let file = self.tools.folder.path().join(format!("member{}.o", self.members));
            self.tools.write(&file, &member)?;
            files.push(file);
        }
        Ok(files)
    }
}

/// A path that clang cannot take for a flag.
fn as_argument(path: PathBuf) -> OsString {
    match path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        true => Path::new(".").join(path).into(),
        false => path.into(),
    }
}
