//! Sources to bitcode with clang 19: as the programmer wrote them, with debug information, forgiving towards old C.
//!
//! Clang generates code for `-O1`, because only then does it give the bodies of functions that are `inline` but not defined here (C99
//! 6.7.4p7, gnu89 `extern inline`). No pass runs, so the code is that of `-O0` otherwise: no lifetime markers, which would lead every exit of
//! a block through one place, and the macros of `-O0`, without which the headers of glibc define functions of their own.
//!
//! A source is tried as `gnu17` with its old-C errors turned into nothing, then as `gnu89`; a preprocessed file that clang still does
//! not understand is preprocessed again with the words of gcc's headers replaced (assumption A-LAYOUT). The first complaint is the
//! one that the user sees. A source that calls functions without declaring them is compiled with clang's built-in functions, which give
//! `malloc` and the others of the C library their own types, as compilers do: without them each would return an `int`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use raddle_ir::DataModel;

use crate::bitcode;
use crate::database::Entry;
use crate::embedded;
use crate::inputs::{Input, InputKind, Plan};
use crate::preprocessed::{replacements, source_of};
use crate::toolchain::{self, Outcome, run};
use crate::{FrontendError, Request};

/// Always given. Names kept.
const FLAGS: [&str; 21] = [
    "-g",
    "-pthread",
    "-fcommon",
    "-fno-discard-value-names",
    "-fcomplex-arithmetic=improved",
    "-fno-stack-protector",
    "-fbracket-depth=4096",
    "-ferror-limit=20",
    "-fno-color-diagnostics",
    "-Qunused-arguments",
    "-U_FORTIFY_SOURCE",
    "-emit-llvm",
    "-c",
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-disable-lifetime-markers",
    "-fno-strict-aliasing",
    "-U__OPTIMIZE__",
    "-D__NO_INLINE__",
];

/// Whether clang takes functions of the C library for its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Functions {
    /// Every function is declared: libc calls are left as calls where clang would compute them with code of its own.
    Declared,
    /// Some are not, so that clang has to know their types.
    Undeclared,
}

/// How clang marks the error that [`Functions::Declared`] asks for.
const UNDECLARED_ERROR: &str = "-Wimplicit-function-declaration]";

impl Functions {
    /// No warnings. C89 only warns of a call without a declaration, and `-w` hides what a flag makes an error of.
    fn flags(self, standard: Standard) -> &'static [&'static str] {
        match (self, standard) {
            (Functions::Declared, Standard::C99) => {
                &["-w", "-fno-builtin", "-Werror=implicit-function-declaration"]
            }
            (Functions::Declared, Standard::C89) => {
                &["-Wno-everything", "-fno-builtin", "-Werror=implicit-function-declaration"]
            }
            (Functions::Undeclared, _) => &["-w", "-Wno-implicit-function-declaration"],
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standard {
    /// Or older.
    C89,
    /// Or newer; also C++.
    C99,
}

/// What old C does and new clang rejects.
const OLD_C: [&str; 7] = [
    "-Wno-implicit-int",
    "-Wno-int-conversion",
    "-Wno-incompatible-pointer-types",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-return-type",
    "-Wno-return-mismatch",
    "-Wno-error",
];

/// Bitcode files, ready to be read.
pub(crate) struct Compiled {
    pub(crate) units: Vec<Unit>,
    /// The database that the units come from, if they do: then one of its programs is to be chosen.
    pub(crate) database: Option<PathBuf>,
    pub(crate) data_model: DataModel,
    pub(crate) warnings: Vec<String>,
    pub(crate) assumptions: Vec<&'static str>,
    /// Holds the bitcode; removed when dropped.
    _folder: tempfile::TempDir,
}

pub(crate) struct Unit {
    /// As the user named it.
    pub(crate) source: PathBuf,
    pub(crate) bitcode: PathBuf,
    pub(crate) origin: Origin,
    pub(crate) language: Language,
    /// The file behind a preprocessed one.
    primary: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Made by our own clang.
    Compiled,
    /// Given by the user: may be anything.
    Given,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    /// C++, or bitcode that does not say.
    Other,
}

pub(crate) fn compile(plan: &Plan, request: &Request) -> Result<Compiled, FrontendError> {
    let folder = tempfile::tempdir().map_err(|error| FrontendError::Tool {
        what: "temporary folder".to_owned(),
        reason: error.to_string(),
    })?;
    let (jobs, database): (Vec<Job>, Option<PathBuf>) = match plan {
        Plan::Files(inputs) => (jobs(inputs, request, folder.path())?, None),
        Plan::Database { path, entries } => {
            (entries.iter().map(|entry| Job::of_entry(entry, request)).collect(), Some(path.clone()))
        }
    };
    let needs_clang = jobs.iter().any(|job| job.kind != InputKind::Bitcode);
    let data_model = match request.data_model {
        Some(model) => model,
        // Sources follow the bitcode that they are linked with.
        None if needs_clang => {
            let given = jobs.iter().find(|job| job.kind == InputKind::Bitcode);
            given.and_then(|job| bitcode::data_model_of(&job.input, &request.stop)).unwrap_or(DataModel::Lp64)
        }
        None => DataModel::Lp64,
    };
    let clang = if needs_clang { toolchain::clang()? } else { PathBuf::new() };
    let results = run_all(&jobs, |index, job| {
        let output = folder.path().join(format!("{index}.bc"));
        job.run(&clang, data_model, &output, &request.stop)
    });
    let (mut units, mut warnings, mut assumptions) = (Vec::new(), Vec::new(), Vec::new());
    for (job, result) in jobs.iter().zip(results) {
        let done = result?;
        warnings.extend(done.warnings);
        if done.replaced {
            warnings.push(format!(
                "{}: types of its expanded headers that clang does not know were replaced by similar ones",
                job.source.display()
            ));
            assumptions = vec!["A-LAYOUT"];
        }
        if let Some(bitcode) = done.bitcode {
            let primary = (job.kind == InputKind::PreprocessedC).then(|| source_of(&job.input)).flatten();
            let origin = if job.kind == InputKind::Bitcode { Origin::Given } else { Origin::Compiled };
            let language = match job.kind {
                InputKind::C | InputKind::PreprocessedC => Language::C,
                _ => Language::Other,
            };
            units.push(Unit { source: job.source.clone(), bitcode, origin, language, primary });
        }
    }
    Ok(Compiled { units, database, data_model, warnings, assumptions, _folder: folder })
}

fn jobs(inputs: &[Input], request: &Request, folder: &Path) -> Result<Vec<Job>, FrontendError> {
    let mut jobs = Vec::new();
    for input in inputs {
        if input.kind != InputKind::Binary {
            jobs.push(Job::of_input(input, request));
            continue;
        }
        for unit in units_of(&input.path)? {
            let file = folder.join(format!("unit{}.bc", jobs.len()));
            std::fs::write(&file, &unit.bitcode).map_err(|error| FrontendError::Tool {
                what: file.display().to_string(),
                reason: error.to_string(),
            })?;
            jobs.push(Job::of_unit(unit.source, file));
        }
    }
    Ok(jobs)
}

/// The bitcode in a file that `raddle cc` made.
fn units_of(path: &Path) -> Result<Vec<embedded::Unit>, FrontendError> {
    let problem = |reason| FrontendError::Binary { path: path.to_owned(), reason };
    let bytes = std::fs::read(path).map_err(|error| problem(error.to_string()))?;
    let units = embedded::units(&bytes).map_err(problem)?;
    if units.is_empty() {
        return Err(FrontendError::NoBitcode { path: path.to_owned() });
    }
    Ok(units)
}

impl Compiled {
    pub(crate) fn primary_sources(&self) -> Vec<PathBuf> {
        self.units.iter().filter_map(|unit| unit.primary.clone()).collect()
    }
}

/// One file to compile.
struct Job {
    source: PathBuf,
    /// The path to hand to clang, from `directory`.
    input: PathBuf,
    kind: InputKind,
    flags: Vec<String>,
    directory: Option<PathBuf>,
}

struct Done {
    bitcode: Option<PathBuf>,
    replaced: bool,
    warnings: Vec<String>,
}

impl Job {
    fn of_input(input: &Input, request: &Request) -> Self {
        Self {
            source: input.path.clone(),
            input: input.path.clone(),
            kind: input.kind,
            flags: request.cflags.clone(),
            directory: None,
        }
    }

    fn of_unit(source: String, file: PathBuf) -> Self {
        let kind = InputKind::Bitcode;
        Self { source: source.into(), input: file, kind, flags: Vec::new(), directory: None }
    }

    fn of_entry(entry: &Entry, request: &Request) -> Self {
        let mut flags = entry.flags.clone();
        flags.extend(request.cflags.iter().cloned());
        Self {
            source: entry.source(),
            input: entry.file.clone(),
            kind: entry.kind,
            flags,
            directory: Some(entry.directory.clone()),
        }
    }

    fn run(
        &self,
        clang: &Path,
        data_model: DataModel,
        output: &Path,
        stop: &AtomicBool,
    ) -> Result<Done, FrontendError> {
        if self.kind == InputKind::Bitcode {
            return Ok(Done { bitcode: Some(self.input.clone()), replaced: false, warnings: Vec::new() });
        }
        let mut flags = self.flags.clone();
        let mut warnings = Vec::new();
        let mut first: Option<String> = None;
        for mut attempt in self.attempts() {
            loop {
                let outcome = self.clang(clang, data_model, &flags, attempt, output, stop)?;
                if outcome.success {
                    let replaced = attempt.replace;
                    return Ok(Done { bitcode: Some(output.to_owned()), replaced, warnings });
                }
                // gcc knows flags that clang does not; none of them changes what the program means.
                let unknown = unknown_flags(&outcome.message);
                let before = flags.len();
                flags.retain(|flag| !unknown.contains(flag));
                if flags.len() == before {
                    // In C89, a pragma may have turned another warning into an error, too.
                    let retry =
                        outcome.message.contains(UNDECLARED_ERROR) || self.standard(attempt) == Standard::C89;
                    if retry && attempt.functions == Functions::Declared {
                        attempt.functions = Functions::Undeclared;
                        continue;
                    }
                    first.get_or_insert(outcome.message);
                    break;
                }
                warnings.push(format!(
                    "{}: flags that clang does not know are left out: {}",
                    self.source.display(),
                    unknown.join(" ")
                ));
            }
        }
        Err(FrontendError::Compile { file: self.source.clone(), message: first.unwrap_or_default() })
    }

    fn attempts(&self) -> Vec<Attempt> {
        let chosen = self.flags.iter().any(|flag| flag.starts_with("-std=") || flag == "-ansi");
        let standards: &[Option<&str>] = match self.kind {
            InputKind::Cxx => &[None],
            _ if chosen => &[None],
            _ => &[Some("-std=gnu17"), Some("-std=gnu89")],
        };
        let mut attempts: Vec<Attempt> = standards
            .iter()
            .map(|standard| Attempt { standard: *standard, replace: false, functions: Functions::Declared })
            .collect();
        if self.kind == InputKind::PreprocessedC {
            attempts.extend(standards.iter().map(|standard| Attempt {
                standard: *standard,
                replace: true,
                functions: Functions::Declared,
            }));
        }
        attempts
    }

    fn standard(&self, attempt: Attempt) -> Standard {
        let given = self.flags.iter().rfind(|flag| flag.starts_with("-std=") || *flag == "-ansi");
        let name = attempt.standard.or(given.map(String::as_str)).unwrap_or_default();
        let old = ["-ansi", "89", "90", "1990", "199409"].iter().any(|end| name.ends_with(end));
        if old && self.kind != InputKind::Cxx { Standard::C89 } else { Standard::C99 }
    }

    fn clang(
        &self,
        clang: &Path,
        data_model: DataModel,
        flags: &[String],
        attempt: Attempt,
        output: &Path,
        stop: &AtomicBool,
    ) -> Result<Outcome, FrontendError> {
        let mut arguments: Vec<OsString> = Vec::new();
        arguments.push(match data_model {
            DataModel::Lp64 => "-m64".into(),
            DataModel::Ilp32 => "-m32".into(),
        });
        arguments.extend(attempt.standard.map(OsString::from));
        arguments.extend(flags.iter().map(OsString::from));
        // After the user's flags, so that no -O2 or -Werror of theirs wins.
        arguments.extend(FLAGS.iter().map(OsString::from));
        if self.kind != InputKind::Cxx {
            arguments.extend(OLD_C.iter().map(OsString::from));
        }
        arguments.extend(attempt.functions.flags(self.standard(attempt)).iter().map(OsString::from));
        if self.kind == InputKind::PreprocessedC {
            if attempt.replace {
                arguments.extend(replacements(data_model).into_iter().map(OsString::from));
                arguments.extend(["-x".into(), "c".into()]);
            } else {
                arguments.extend(["-x".into(), "cpp-output".into()]);
            }
        }
        arguments.push("-o".into());
        arguments.push(output.into());
        arguments.push(file_argument(&self.input));
        run(clang, &arguments, self.directory.as_deref(), stop)
    }
}

#[derive(Clone, Copy)]
struct Attempt {
    standard: Option<&'static str>,
    /// Preprocess again with words of gcc's headers replaced.
    replace: bool,
    functions: Functions,
}

/// A path that clang cannot take for a flag.
fn file_argument(path: &Path) -> OsString {
    if path.to_string_lossy().starts_with('-') { Path::new(".").join(path).into() } else { path.into() }
}

/// `error: unknown argument: '-fno-tree-x'`, with or without a suggestion.
fn unknown_flags(message: &str) -> Vec<String> {
    let markers =
        ["unknown argument: '", "unknown argument '", "unsupported option '", "unsupported argument '"];
    let lines = message.lines().filter(|line| line.contains("error: "));
    lines
        .filter_map(|line| {
            let rest = markers.iter().find_map(|marker| Some(line.split_once(marker)?.1))?;
            Some(rest.split_once('\'')?.0.to_owned())
        })
        .collect()
}

/// Runs all jobs on as many threads as there are processors; results in the order of the jobs.
fn run_all<T: Send>(jobs: &[Job], work: impl Fn(usize, &Job) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get()).min(jobs.len().max(1));
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    loop {
                        let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(job) = jobs.get(index) else { return mine };
                        mine.push((index, work(index, job)));
                    }
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
