//! From the inputs on the command line to bitcode files.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle_ir::DataModel;

use crate::clang::{self, Bent};
use crate::{FrontendError, Request, compile_commands};

/// One file to compile or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// As clang gets it: relative to `directory` where that is set.
    pub(crate) source: PathBuf,
    pub(crate) kind: Kind,
    /// Flags of this file alone.
    pub(crate) flags: Vec<String>,
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    C,
    Preprocessed,
    Bitcode,
}

pub(crate) struct Compiled {
    /// In the order of the units.
    pub(crate) bitcode: Vec<PathBuf>,
    pub(crate) warnings: Vec<String>,
    pub(crate) assumptions: Vec<&'static str>,
}

impl Unit {
    pub(crate) fn shown(&self) -> String {
        self.source.display().to_string()
    }

    fn path(&self) -> PathBuf {
        match &self.directory {
            Some(directory) => directory.join(&self.source),
            None => self.source.clone(),
        }
    }
}

pub(crate) fn collect(request: &Request) -> Result<Vec<Unit>, FrontendError> {
    let mut units = Vec::new();
    for input in &request.inputs {
        let metadata = std::fs::metadata(input).map_err(|error| FrontendError::io(input, error))?;
        if metadata.is_dir() {
            let commands = input.join("compile_commands.json");
            if !commands.is_file() {
                return Err(FrontendError::Read {
                    file: input.display().to_string(),
                    reason: "is a folder without compile_commands.json".to_owned(),
                });
            }
            units.extend(compile_commands::units(&commands, request.target.as_deref())?);
            continue;
        }
        let kind = match input.extension().and_then(|e| e.to_str()) {
            Some("c") => Kind::C,
            Some("i") => Kind::Preprocessed,
            Some("bc" | "ll") => Kind::Bitcode,
            Some("json") => {
                units.extend(compile_commands::units(input, request.target.as_deref())?);
                continue;
            }
            _ => return Err(FrontendError::UnknownKind { file: input.display().to_string() }),
        };
        units.push(Unit { source: input.clone(), kind, flags: Vec::new(), directory: None });
    }
    if units.is_empty() { Err(FrontendError::NoInput) } else { Ok(units) }
}

/// Compiles what needs compiling, two files at a time.
pub(crate) fn compile(units: &[Unit], request: &Request, folder: &Path) -> Result<Compiled, FrontendError> {
    let data_model = request.data_model.unwrap_or(DataModel::Lp64);
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<Bent, FrontendError>>>> =
        Mutex::new((0..units.len()).map(|_| None).collect());
    let bitcode: Vec<PathBuf> = units
        .iter()
        .enumerate()
        .map(|(index, unit)| match unit.kind {
            Kind::Bitcode => unit.path(),
            _ => folder.join(format!("{index}.bc")),
        })
        .collect();
    let work = || {
        while let Some((unit, output)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            units.get(index).map(|unit| ((index, unit), &bitcode[index]))
        } {
            let (index, unit) = unit;
            let result = match unit.kind {
                Kind::Bitcode => Ok(Bent::No),
                _ => clang::compile(unit, &request.cflags, data_model, output),
            };
            results.lock().expect("no compilation panics")[index] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        if units.len() > 1 {
            scope.spawn(work);
        }
        work();
    });
    let mut compiled = Compiled { bitcode: Vec::new(), warnings: Vec::new(), assumptions: Vec::new() };
    for (unit, result) in units.iter().zip(results.into_inner().expect("no compilation panics")) {
        if result.expect("every file was compiled")? == Bent::Headers {
            compiled.warnings.push(format!(
                "{}: types of its expanded headers that clang does not know were replaced by similar ones",
                unit.shown()
            ));
            compiled.assumptions = vec!["A-LAYOUT"];
        }
    }
    compiled.bitcode = bitcode;
    Ok(compiled)
}
