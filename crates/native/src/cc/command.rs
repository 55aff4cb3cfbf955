//! A clang command line, understood as far as needed: what is asked for, which words are inputs, which words the linker sees.

use super::flags::{
    Prune, is_for_code, is_for_the_first_run, is_other_sanitizer, level, makes_nothing, takes_next_word,
};
use super::response;
use crate::NativeError;
use raddle_frontend::embedded::Level;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Command {
    /// For clang as the user's own command: without flags of ours and link-time optimisation.
    pub(super) given: Vec<OsString>,
    pub(super) words: Vec<Word>,
    pub(super) action: Action,
    pub(super) output: Option<PathBuf>,
    pub(super) level: Level,
    pub(super) prune: Prune,
    /// Some source is standard input.
    pub(super) reads_stdin: bool,
}

/// What the user wants made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing that Raddle has a part in.
    Other,
    Compile,
    /// A linked object (`-r`).
    Relocatable,
    Shared,
    Executable,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A flag with its value, if that is a word of its own.
    Flag(Vec<OsString>),
    Input(Input),
    /// One piece of `-Wl,…`, or what follows `-Xlinker`.
    Linker(OsString),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    /// What `-x` says.
    pub(super) language: Option<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A source that clang makes bitcode of; textual IR and bitcode files too.
    Source,
    Assembler,
    /// Precompiled on its own.
    Header,
    /// Object, archive, library, linker script.
    Linked,
}

impl Command {
    pub(super) fn parse(arguments: Vec<OsString>) -> Result<Self, NativeError> {
        let mut prune = Prune::from_environment()?;
        let mut given = Vec::new();
        for argument in arguments {
            match argument.to_str().and_then(Prune::of_flag) {
                Some(asked) => prune = asked,
                None => given.push(argument),
            }
        }
        let expanded = response::expand(&given);
        let is_lto = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("-flto"));
        // Objects must have code in them; the whole program is optimised together anyway.
        if expanded.iter().any(is_lto) {
            given = expanded.iter().filter(|word| !is_lto(word)).cloned().collect();
        }
        let words = words(&expanded);
        let action = action(&words);
        if action != Action::Other {
            refuse(&words, action)?;
        }
        let last = |found: &dyn Fn(&str) -> bool| {
            words.iter().rev().find_map(|word| word.flag().filter(|flag| found(flag)))
        };
        let output = words.iter().rev().find_map(|word| match word {
            Word::Flag(words) => value_of(words, "-o").map(PathBuf::from),
            _ => None,
        });
        let level = last(&|word| level(word).is_some()).and_then(level).unwrap_or(Level::O0);
        let reads_stdin = words.iter().any(|word| matches!(word, Word::Input(input) if input.is_stdin()));
        Ok(Self { given, words, action, output, level, prune, reads_stdin })
    }

    pub(super) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.words.iter().filter_map(|word| match word {
            Word::Input(input) => Some(input),
            _ => None,
        })
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Input> {
        self.inputs().filter(|input| input.kind == Kind::Source)
    }

    /// Flags for the compilation that makes bitcode; the user's, without those that are about files and other output.
    pub(super) fn bitcode_flags(&self) -> Vec<OsString> {
        let mut flags = Vec::new();
        for word in &self.words {
            let Word::Flag(words) = word else { continue };
            let Some(first) = words[0].to_str() else {
                flags.extend(words.iter().cloned());
                continue;
            };
            if is_for_the_first_run(first) || value_of(words, "-o").is_some() || is_language(words) {
                continue;
            }
            match first.strip_prefix("-Wp,") {
                Some(pieces) => {
                    let kept = pieces.split(',').filter(|piece| !piece.contains("_FORTIFY_SOURCE"));
                    let kept: Vec<&str> = kept.collect();
                    if !kept.is_empty() {
                        flags.push(format!("-Wp,{}", kept.join(",")).into());
                    }
                }
                None => flags.extend(words.iter().cloned()),
            }
        }
        flags
    }

    /// Flags that the last code generation is to know.
    pub(super) fn code_flags(&self) -> Vec<String> {
        self.words.iter().filter_map(Word::flag).filter(|flag| is_for_code(flag)).map(str::to_owned).collect()
    }
}

impl Word {
    /// The flag itself, without a separate value.
    pub(super) fn flag(&self) -> Option<&str> {
        match self {
            Word::Flag(words) => words[0].to_str(),
            _ => None,
        }
    }
}

impl Input {
    pub(super) fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }
}

/// `-o x` and `-ox`.
fn value_of<'a>(words: &'a [OsString], flag: &str) -> Option<&'a OsStr> {
    match words {
        [first, value] if first == flag => Some(value),
        [joined] => {
            let rest = joined.as_bytes().strip_prefix(flag.as_bytes())?;
            (!rest.is_empty()).then(|| OsStr::from_bytes(rest))
        }
        _ => None,
    }
}

fn is_language(words: &[OsString]) -> bool {
    value_of(words, "-x").is_some()
}

fn words(arguments: &[OsString]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut language: Option<OsString> = None;
    let mut rest = arguments.iter();
    let mut only_inputs = false;
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        if only_inputs || text == "-" || !text.starts_with('-') {
            words.push(Word::Input(Input {
                path: PathBuf::from(argument),
                kind: kind(argument, language.as_deref()),
                language: language.clone(),
            }));
            continue;
        }
        if text == "--" {
            only_inputs = true;
            continue;
        }
        let mut group = vec![argument.clone()];
        if takes_next_word(&text) {
            group.extend(rest.next().cloned());
        }
        if let Some(pieces) = argument.as_bytes().strip_prefix(b"-Wl,") {
            let pieces = pieces.split(|byte| *byte == b',');
            words.extend(pieces.map(|piece| Word::Linker(OsString::from_vec(piece.to_vec()))));
            continue;
        }
        if let [first, value] = group.as_slice()
            && first == "-Xlinker"
        {
            words.push(Word::Linker(value.clone()));
            continue;
        }
        if let Some(value) = value_of(&group, "-x") {
            language = (value != "none").then(|| value.to_owned());
        }
        words.push(Word::Flag(group));
    }
    words
}

fn kind(path: &OsStr, language: Option<&OsStr>) -> Kind {
    if let Some(language) = language {
        return match language.to_string_lossy().as_ref() {
            "assembler" | "assembler-with-cpp" => Kind::Assembler,
            name if name.ends_with("header") || name.ends_with("unit") => Kind::Header,
            _ => Kind::Source,
        };
    }
    let extension = Path::new(path).extension().map(OsStr::to_string_lossy).unwrap_or_default();
    match extension.as_ref() {
        "c" | "i" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "CC" | "CXX" | "ii" | "ll" | "bc" => {
            Kind::Source
        }
        "s" | "S" | "sx" | "asm" => Kind::Assembler,
        "h" | "hh" | "hpp" | "hxx" | "h++" | "H" | "pch" | "gch" => Kind::Header,
        // A name of one letter for C from standard input has no extension and needs `-x`.
        _ => Kind::Linked,
    }
}

fn action(words: &[Word]) -> Action {
    let has = |wanted: &dyn Fn(&str) -> bool| words.iter().filter_map(Word::flag).any(wanted);
    let linker = |flag: &str| words.iter().any(|word| matches!(word, Word::Linker(piece) if piece == flag));
    let inputs =
        || words.iter().filter_map(|word| if let Word::Input(input) = word { Some(input) } else { None });
    let is_header = |input: &Input| input.kind == Kind::Header;
    if has(&makes_nothing) || inputs().next().is_none() || inputs().any(is_header) {
        return Action::Other;
    }
    if has(&|word| word == "-c") {
        return match inputs().any(|input| input.kind == Kind::Source) {
            true => Action::Compile,
            false => Action::Other,
        };
    }
    if has(&|word| word == "-r") || linker("-r") || linker("--relocatable") {
        Action::Relocatable
    } else if has(&|word| matches!(word, "-shared" | "--shared")) || linker("-shared") {
        Action::Shared
    } else {
        Action::Executable
    }
}

fn refuse(words: &[Word], action: Action) -> Result<(), NativeError> {
    for word in words {
        let Word::Flag(group) = word else { continue };
        let shown = || group.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let first = group[0].to_string_lossy();
        let target = first.strip_prefix("--target=").map(str::to_owned);
        let target =
            target.or_else(|| value_of(group, "-target").map(|value| value.to_string_lossy().into()));
        match target {
            Some(name) if !name.starts_with("x86_64") || !name.contains("linux") || name.contains("x32") => {
                return Err(NativeError::OtherTarget { flag: shown() });
            }
            _ => {}
        }
        if matches!(first.as_ref(), "-m32" | "-mx32" | "-m16") {
            return Err(NativeError::ThirtyTwoBit { flag: shown() });
        }
        if is_other_sanitizer(&first) {
            return Err(NativeError::OtherSanitizer { flag: shown() });
        }
        if matches!(first.as_ref(), "-static" | "--static" | "-static-pie") && action == Action::Executable {
            return Err(NativeError::Static { flag: shown() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Action, Command, Kind};
    use raddle_frontend::embedded::Level;

    fn parsed(line: &str) -> Command {
        Command::parse(line.split_whitespace().map(Into::into).collect()).expect("an ordinary command")
    }

    #[test]
    fn actions() {
        let cases = [
            ("-c a.c", Action::Compile),
            ("a.c", Action::Executable),
            ("a.o -lm", Action::Executable),
            ("-shared a.o -o b.so", Action::Shared),
            ("-r a.o b.o -o c.o", Action::Relocatable),
            ("-Wl,-r a.o -o c.o", Action::Relocatable),
            ("-E a.c", Action::Other),
            ("-MM a.c", Action::Other),
            ("-MMD -MF a.d -c a.c", Action::Compile),
            ("-c a.S", Action::Other),
            ("a.S b.o", Action::Executable),
            ("-x c-header a.h", Action::Other),
            ("--version", Action::Other),
            ("-lm", Action::Other),
            ("-", Action::Executable),
            ("-x c -c -", Action::Compile),
            ("-o -c a.c", Action::Executable),
            ("-I -c a.c", Action::Executable),
            ("-Xclang -E -c a.c", Action::Compile),
        ];
        for (line, expected) in cases {
            assert_eq!(parsed(line).action, expected, "{line}");
        }
    }

    #[test]
    fn inputs_languages_and_levels() {
        let command = parsed(
            "-O2 -x c a -x none b.o -Wl,--whole-archive,libc.a -O0 -O3 -include d.h e.cpp -ox -- -f.c",
        );
        let inputs: Vec<(String, Kind)> =
            command.inputs().map(|input| (input.path.display().to_string(), input.kind)).collect();
        let expected =
            [("a", Kind::Source), ("b.o", Kind::Linked), ("e.cpp", Kind::Source), ("-f.c", Kind::Source)];
        assert_eq!(inputs, expected.map(|(path, kind)| (path.to_owned(), kind)));
        assert_eq!(command.level, Level::O3);
        assert_eq!(command.output.as_deref(), Some("x".as_ref()));
    }

    #[test]
    fn the_second_run_writes_no_other_files() {
        let line = "-MD -MF a.d -MT x -g3 -gcc-toolchain -Wp,-MD,a.d -Wp,-D_FORTIFY_SOURCE=2,-DX -DY -D_FORTIFY_SOURCE=2 -o a.o -c a.c -x c";
        assert_eq!(parsed(line).bitcode_flags(), ["-gcc-toolchain", "-Wp,-DX", "-DY"]);
    }

    #[test]
    fn own_flags_and_refusals() {
        let command = parsed("--raddle-no-prune -flto=thin -c a.c");
        assert_eq!(command.given, ["-c", "a.c"]);
        assert_eq!(command.prune, super::Prune::Nothing);
        let fails = |line: &str| Command::parse(line.split_whitespace().map(Into::into).collect()).is_err();
        for line in [
            "-m32 -c a.c",
            "--target=aarch64-linux-gnu a.c",
            "-target i386-linux-gnu a.c",
            "-fsanitize=thread a.c",
            "-static a.c",
        ] {
            assert!(fails(line), "{line}");
        }
        for line in ["-m32 -E a.c", "-static -c a.c", "-target x86_64-linux-gnu a.c", "-static-libgcc a.c"] {
            assert!(!fails(line), "{line}");
        }
    }
}
