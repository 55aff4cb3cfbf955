//! What can be wrong with the input, each with what was tried and what to do.

use std::path::PathBuf;

use raddle_ir::DataModel;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontendError {
    #[error("no input files")]
    NoInputs,
    #[error("{}: no such file or directory", .path.display())]
    Missing { path: PathBuf },
    #[error("{}: is a directory without a compile_commands.json", .path.display())]
    Directory { path: PathBuf },
    #[error("{}: the file is empty", .path.display())]
    Empty { path: PathBuf },
    #[error("{}: cannot be read: {reason}", .path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{}: not a C source (.c, .i), bitcode (.bc, .ll), compile_commands.json or a program built by `raddle cc`", .path.display())]
    UnknownKind { path: PathBuf },
    #[error("{}: holds no bitcode: it was not built by `raddle cc`, or it was stripped of it", .path.display())]
    NoBitcode { path: PathBuf },
    #[error("{}: cannot be read as a program built by `raddle cc`: {reason}", .path.display())]
    Binary { path: PathBuf, reason: String },
    #[error("a compile_commands.json cannot be combined with other inputs")]
    MixedDatabase,
    #[error("clang 19 was not found (tried {}): install it, or name it in RADDLE_CLANG", .tried.join(", "))]
    ClangMissing { tried: Vec<String> },
    #[error("{}: does not compile\n{message}", .file.display())]
    Compile { file: PathBuf, message: String },
    #[error("{}: not readable as LLVM 19 bitcode: {message}", .path.display())]
    Bitcode { path: PathBuf, message: String },
    #[error("{}: made for {triple}, but only x86-64 and 32-bit x86 Linux programs can be checked", .path.display())]
    ForeignTarget { path: PathBuf, triple: String },
    #[error("{}: made for {}, but {} is asked for", .path.display(), .found.name(), .wanted.name())]
    DataModel { path: PathBuf, found: DataModel, wanted: DataModel },
    #[error("{} and {} were made for different targets and cannot be one program", .first.display(), .second.display())]
    MixedTargets { first: PathBuf, second: PathBuf },
    #[error("{}: cannot be linked with the files before it: {message}", .path.display())]
    Link { path: PathBuf, message: String },
    #[error("{}: not a compilation database: {message}", .path.display())]
    Database { path: PathBuf, message: String },
    #[error("{} holds several programs: choose one with --target: {}", .path.display(), .candidates.join(", "))]
    SeveralTargets { path: PathBuf, candidates: Vec<String> },
    #[error("{}: no program `{target}`; there are: {}", .path.display(), .candidates.join(", "))]
    NoSuchTarget { path: PathBuf, target: String, candidates: Vec<String> },
    #[error("stopped while the program was compiled")]
    Stopped,
    #[error("{what}: {reason}")]
    Tool { what: String, reason: String },
}
