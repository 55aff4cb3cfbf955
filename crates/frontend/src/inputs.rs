//! Tells the kinds of inputs apart and rejects what cannot be one, before any tool is started.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::database::{self, Entry};
use crate::embedded::elf;
use crate::{FrontendError, Request};

/// What is to be compiled and read, in the user's order.
#[derive(Debug)]
pub(crate) enum Plan {
    Files(Vec<Input>),
    Database { path: PathBuf, entries: Vec<Entry> },
}

#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) kind: InputKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputKind {
    C,
    PreprocessedC,
    Cxx,
    /// Bitcode or textual IR.
    Bitcode,
    /// An ELF file; what `raddle cc` made has bitcode in it.
    Binary,
}

const DATABASE: &str = "compile_commands.json";

pub(crate) fn plan(request: &Request) -> Result<Plan, FrontendError> {
    let mut files = Vec::new();
    let mut found_database = None;
    for path in &request.inputs {
        if let Some(database) = database_path(path) {
            check_file(&database)?;
            found_database = Some(database);
            continue;
        }
        check_file(path)?;
        let kind = kind(path).or_else(|| binary(path));
        let kind = kind.ok_or_else(|| FrontendError::UnknownKind { path: path.clone() })?;
        files.push(Input { path: path.clone(), kind });
    }
    match found_database {
        Some(_) if request.inputs.len() > 1 => Err(FrontendError::MixedDatabase),
        Some(path) => {
            let entries = database::read(&path)?;
            Ok(Plan::Database { path, entries })
        }
        None if files.is_empty() => Err(FrontendError::NoInputs),
        None => Ok(Plan::Files(files)),
    }
}

/// Whether it is something to compile or read, by its name: a source, bitcode, a compile_commands.json or a folder with one.
pub fn is_source(path: &Path) -> bool {
    kind(path).is_some() || database_path(path).is_some()
}

pub(crate) fn kind(path: &Path) -> Option<InputKind> {
    Some(match path.extension()?.to_str()? {
        "c" => InputKind::C,
        "i" => InputKind::PreprocessedC,
        "cc" | "cpp" | "cxx" | "C" | "ii" => InputKind::Cxx,
        "bc" | "ll" => InputKind::Bitcode,
        _ => return None,
    })
}

fn binary(path: &Path) -> Option<InputKind> {
    let mut start = [0; 4];
    std::fs::File::open(path).ok()?.read_exact(&mut start).ok()?;
    elf::is_elf(&start).then_some(InputKind::Binary)
}

fn database_path(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        let inside = path.join(DATABASE);
        return inside.is_file().then_some(inside);
    }
    (path.extension().is_some_and(|extension| extension == "json")).then(|| path.to_owned())
}

fn check_file(path: &Path) -> Result<(), FrontendError> {
    let path = path.to_owned();
    let meta = match std::fs::metadata(&path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(FrontendError::Missing { path });
        }
        Err(error) => return Err(FrontendError::Unreadable { path, reason: error.to_string() }),
    };
    if meta.is_dir() {
        return Err(FrontendError::Directory { path });
    }
    if meta.is_file() && meta.len() == 0 {
        return Err(FrontendError::Empty { path });
    }
    match std::fs::File::open(&path) {
        Ok(_) => Ok(()),
        Err(error) => Err(FrontendError::Unreadable { path, reason: error.to_string() }),
    }
}
