//! Why a program could not be loaded: always something about the input or the machine, said in words that help.

use std::path::Path;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum FrontendError {
    #[error("no input file")]
    NoInput,
    #[error("{file}: {reason}")]
    Read { file: String, reason: String },
    #[error("{file}: unknown kind of file (expected .c, .i, .bc, .ll or compile_commands.json)")]
    UnknownKind { file: String },
    /// `message` is clang's own.
    #[error("{file} does not compile:\n{message}")]
    Compile { file: String, message: String },
    #[error(
        "cannot run {program}: {reason} (`make setup` installs clang 19; RADDLE_CLANG names another one)"
    )]
    NoClang { program: String, reason: String },
    #[error("{file} is not LLVM bitcode or IR that LLVM 19 can read: {message}")]
    Bitcode { file: String, message: String },
    #[error("{file} cannot be linked with the files before it: {message}")]
    Link { file: String, message: String },
    #[error("{file} is compiled for another target ({other}) than the files before it ({one})")]
    MixedTargets { file: String, one: String, other: String },
    #[error("the input is {found}, not {wanted}")]
    WrongDataModel { wanted: &'static str, found: &'static str },
    #[error("target {triple} is neither LP64 nor ILP32, little-endian")]
    Target { triple: String },
    #[error("{file}: {reason}")]
    CompileCommands { file: String, reason: String },
    #[error("{file} has {} programs; pick one with --target:\n{}", .candidates.len(), .candidates.join("\n"))]
    SeveralTargets { file: String, candidates: Vec<String> },
    #[error("LLVM: {message}")]
    Internal { message: String },
}

impl FrontendError {
    pub(crate) fn io(path: &Path, error: std::io::Error) -> Self {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_owned(),
            _ => error.to_string(),
        };
        FrontendError::Read { file: path.display().to_string(), reason }
    }
}
