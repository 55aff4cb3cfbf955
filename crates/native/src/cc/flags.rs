//! What `raddle cc` must know about clang's flags: which take a value in the next word, and which say that nothing is compiled or
//! linked, as tables.

use crate::NativeError;
use raddle_frontend::embedded::Level;

/// Which accesses of the program are not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// Those that the static analysis shows to be free of races.
    #[default]
    Proved,
    /// None.
    Nothing,
    /// Those that the static analysis does not warn of.
    Unwarned,
}

impl Prune {
    /// By `RADDLE_PRUNE`.
    pub(super) fn from_environment() -> Result<Self, NativeError> {
        match std::env::var_os("RADDLE_PRUNE") {
            None => Ok(Self::default()),
            Some(value) => match value.to_str() {
                Some("" | "all") => Ok(Self::Proved),
                Some("none") => Ok(Self::Nothing),
                Some("warned") => Ok(Self::Unwarned),
                _ => Err(NativeError::Prune { value: value.to_string_lossy().into_owned() }),
            },
        }
    }

    /// A flag of our own, which clang does not see.
    pub(super) fn of_flag(word: &str) -> Option<Self> {
        match word {
            "--raddle-no-prune" => Some(Self::Nothing),
            "--raddle-only-warned" => Some(Self::Unwarned),
            _ => None,
        }
    }
}

/// Flags whose value is the next word, when they stand alone.
const WITH_VALUE: &[&str] = &[
    "--analyzer-output",
    "--config",
    "--param",
    "--serialize-diagnostics",
    "--sysroot",
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-U",
    "-Xanalyzer",
    "-Xarch_device",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-arch",
    "-b",
    "-cxx-isystem",
    "-dependency-dot",
    "-dependency-file",
    "-dumpdir",
    "-e",
    "-framework",
    "-gen-cdb-fragment-path",
    "-idirafter",
    "-iframework",
    "-imacros",
    "-include",
    "-include-pch",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-meabi",
    "-mllvm",
    "-mmlir",
    "-module-dependency-dir",
    "-mthread-model",
    "-o",
    "-resource-dir",
    "-rpath",
    "-serialize-diagnostics",
    "-stdlib++-isystem",
    "-target",
    "-u",
    "-vfsoverlay",
    "-working-directory",
    "-x",
    "-z",
];

pub(super) fn takes_next_word(word: &str) -> bool {
    WITH_VALUE.binary_search(&word).is_ok()
}

/// Whether clang, told this, makes neither objects nor programs.
pub(super) fn makes_nothing(word: &str) -> bool {
    const EXACT: &[&str] = &[
        "-E",
        "-S",
        "-M",
        "-MM",
        "-fsyntax-only",
        "-emit-llvm",
        "-emit-ast",
        "--analyze",
        "--precompile",
        "-###",
        "--version",
        "--help",
        "-help",
        "--help-hidden",
        "-cc1",
        "-cc1as",
        "--preprocess",
        "--assemble",
        "-rewrite-objc",
        "--migrate",
        "-emit-interface-stubs",
        "-verify-pch",
    ];
    const STARTS: &[&str] =
        &["-print-", "--print-", "-dumpmachine", "-dumpversion", "--autocomplete", "--cuda", "-ccc-print"];
    EXACT.contains(&word) || STARTS.iter().any(|start| word.starts_with(start))
}

/// The level that an `-O` flag asks for.
pub(super) fn level(word: &str) -> Option<Level> {
    Some(match word.strip_prefix("-O")? {
        "0" => Level::O0,
        "" | "1" | "g" => Level::O1,
        "2" => Level::O2,
        "s" => Level::Os,
        "z" => Level::Oz,
        // `-O4` and above, `-Ofast`.
        _ => Level::O3,
    })
}

/// Whether code generation must know it: the bitcode says nothing, or not all, about it.
pub(super) fn is_for_code(word: &str) -> bool {
    const STARTS: &[&str] = &[
        "-m",
        "-fPIC",
        "-fpic",
        "-fPIE",
        "-fpie",
        "-fno-pic",
        "-fno-PIC",
        "-fno-pie",
        "-fno-PIE",
        "-ffunction-sections",
        "-fdata-sections",
        "-fomit-frame-pointer",
        "-fno-omit-frame-pointer",
        "-fno-plt",
        "-fvisibility",
        "-ffast-math",
        "-Ofast",
        "-fno-vectorize",
        "-fno-unroll-loops",
    ];
    word != "-mllvm" && STARTS.iter().any(|start| word.starts_with(start))
}

/// Whether the second compilation, for bitcode alone, must not see it: what writes files, prints, asks for other output, or puts
/// counters into the program.
pub(super) fn is_for_the_first_run(word: &str) -> bool {
    const EXACT: &[&str] = &[
        "-c",
        "-MD",
        "-MMD",
        "-MP",
        "-MG",
        "-MV",
        "-MF",
        "-MT",
        "-MQ",
        "-MJ",
        "-v",
        "-H",
        "-o",
        "--coverage",
        "-coverage",
        "-ftest-coverage",
        "-ftime-report",
        "--serialize-diagnostics",
        "-serialize-diagnostics",
        "-dependency-file",
        "-dependency-dot",
        "-gen-cdb-fragment-path",
    ];
    const STARTS: &[&str] = &[
        "-g",
        "-flto",
        "-save-temps",
        "--save-temps",
        "-ftime-trace",
        "-fprofile",
        "-fcs-profile",
        "-fcoverage",
        "-foptimization-record",
        "-fsave-optimization-record",
        "-D_FORTIFY_SOURCE",
        "-Wp,-M",
    ];
    // `-gcc-toolchain` is none of the debug flags.
    let kept = word.starts_with("-gcc");
    !kept && (EXACT.contains(&word) || STARTS.iter().any(|start| word.starts_with(start)))
}

/// Another checker that has a run-time library of its own with shadow memory or an allocator.
pub(super) fn is_other_sanitizer(word: &str) -> bool {
    const OTHERS: &[&str] =
        &["thread", "address", "memory", "hwaddress", "leak", "dataflow", "fuzzer", "realtime", "numerical"];
    word.strip_prefix("-fsanitize=").is_some_and(|list| list.split(',').any(|one| OTHERS.contains(&one)))
}

#[cfg(test)]
mod tests {
    use super::{WITH_VALUE, is_for_the_first_run, is_other_sanitizer, level, makes_nothing};
    use raddle_frontend::embedded::Level;

    #[test]
    fn tables_mean_what_they_say() {
        assert!(WITH_VALUE.is_sorted());
        assert!(makes_nothing("-print-file-name=x") && !makes_nothing("-c") && !makes_nothing("-MD"));
        assert!(is_for_the_first_run("-ggdb3") && !is_for_the_first_run("-gcc-toolchain"));
        assert!(is_other_sanitizer("-fsanitize=undefined,thread"));
        assert!(!is_other_sanitizer("-fsanitize=undefined") && !is_other_sanitizer("-fno-sanitize=thread"));
        let levels = [("-O", Level::O1), ("-Og", Level::O1), ("-Ofast", Level::O3), ("-Os", Level::Os)];
        for (word, expected) in levels {
            assert_eq!(level(word), Some(expected), "{word}");
        }
        assert_eq!(level("-o"), None);
    }
}
