//! One run of clang: a C file to bitcode, with the tries that old and preprocessed C needs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_ir::DataModel;

use crate::FrontendError;
use crate::inputs::{Kind, Unit};

/// Where LLVM 19 lives on the systems that do not put `clang-19` on the path.
const PREFIX: Option<&str> = option_env!("LLVM_SYS_191_PREFIX");

/// Debug information and values as the programmer wrote them; nothing optimised; old C warns and does not fail.
const FLAGS: &[&str] = &[
    "-O0",
    "-g",
    "-Xclang",
    "-disable-O0-optnone",
    "-fno-discard-value-names",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fcommon",
    "-pthread",
    "-U_FORTIFY_SOURCE",
    "-emit-llvm",
    "-c",
    "-Wno-error",
    "-Wno-everything",
];

/// A dialect in which implicit declarations, integer and pointer mixes and bare returns are no errors.
const OLD_C: &[&str] =
    &["-std=gnu89", "-Wno-int-conversion", "-Wno-return-mismatch", "-Wno-incompatible-pointer-types"];

/// What GCC's expansion of glibc's headers uses and clang does not know; the types become approximations.
const GCC_HEADERS: &[&str] = &[
    "-x",
    "c",
    "-D__malloc__(...)=__malloc__",
    "-D_Float128=long double",
    "-D_Float32=float",
    "-D_Float64=double",
    "-D_Float32x=double",
    "-D_Float64x=long double",
];

/// How much the source had to be bent to compile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bent {
    No,
    /// Types of the expanded headers were replaced.
    Headers,
}

pub(crate) fn compile(
    unit: &Unit,
    cflags: &[String],
    data_model: DataModel,
    output: &Path,
) -> Result<Bent, FrontendError> {
    let own_dialect = unit.flags.iter().chain(cflags).any(|flag| flag.starts_with("-std") || flag == "-ansi");
    let mut tries: Vec<(Vec<&str>, Bent)> = vec![(vec![], Bent::No)];
    if !own_dialect {
        tries[0].0.push("-std=gnu17");
        tries.push((OLD_C.to_vec(), Bent::No));
    }
    if unit.kind == Kind::Preprocessed {
        let mut headers = GCC_HEADERS.to_vec();
        if data_model == DataModel::Ilp32 {
            headers.push("-D__int128=long long");
        }
        tries.push((headers.clone(), Bent::Headers));
        tries.push((headers.into_iter().chain(OLD_C.iter().copied()).collect(), Bent::Headers));
    }
    let mut first_message = None;
    for (flags, bent) in tries {
        match run(unit, &flags, cflags, data_model, output)? {
            None => return Ok(bent),
            Some(message) => {
                first_message.get_or_insert(message);
            }
        }
    }
    Err(FrontendError::Compile { file: unit.shown(), message: first_message.unwrap_or_default() })
}

/// `None` on success, else what clang said.
fn run(
    unit: &Unit,
    flags: &[&str],
    cflags: &[String],
    data_model: DataModel,
    output: &Path,
) -> Result<Option<String>, FrontendError> {
    let program = program();
    let mut command = Command::new(&program);
    command.args(FLAGS);
    command.arg(match data_model {
        DataModel::Lp64 => "-m64",
        DataModel::Ilp32 => "-m32",
    });
    command.args(flags).args(&unit.flags).args(cflags).arg(&unit.source).arg("-o").arg(output);
    if let Some(directory) = &unit.directory {
        command.current_dir(directory);
    }
    let result = command.output().map_err(|error| FrontendError::NoClang {
        program: PathBuf::from(&program).display().to_string(),
        reason: error.to_string(),
    })?;
    if result.status.success() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&result.stderr).trim_end().to_owned()))
}

fn program() -> OsString {
    if let Some(named) = std::env::var_os("RADDLE_CLANG") {
        return named;
    }
    let on_path = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join("clang-19").is_file()));
    match PREFIX {
        Some(prefix) if !on_path => Path::new(prefix).join("bin/clang").into_os_string(),
        _ => OsString::from("clang-19"),
    }
}
