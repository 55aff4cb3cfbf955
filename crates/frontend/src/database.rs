//! `compile_commands.json`: which files are compiled, where, and with which flags.
//!
//! The file says nothing about linking. Sources that define `main` tell programs apart; see [`crate::bitcode`].

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::FrontendError;
use crate::inputs::{InputKind, kind};

/// One source of the database.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) directory: PathBuf,
    pub(crate) file: PathBuf,
    pub(crate) kind: InputKind,
    pub(crate) flags: Vec<String>,
}

impl Entry {
    /// The source's path from where the user stands.
    pub(crate) fn source(&self) -> PathBuf {
        let full = self.directory.join(&self.file);
        let here = std::env::current_dir().unwrap_or_default();
        full.strip_prefix(&here).map(Path::to_owned).unwrap_or(full)
    }
}

#[derive(Deserialize)]
struct RawEntry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<String>>,
    command: Option<String>,
}

pub(crate) fn read(path: &Path) -> Result<Vec<Entry>, FrontendError> {
    let problem = |message: String| FrontendError::Database { path: path.to_owned(), message };
    let text = std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
    let raw: Vec<RawEntry> = serde_json::from_str(&text).map_err(|error| problem(error.to_string()))?;
    let base = path.parent().unwrap_or(Path::new("."));
    let base = std::path::absolute(base).unwrap_or_else(|_| base.to_owned());
    let mut entries: Vec<Entry> = Vec::new();
    for raw in raw {
        let arguments = match (raw.arguments, raw.command) {
            (Some(arguments), _) => arguments,
            (None, Some(command)) => split_command(&command).ok_or_else(|| {
                problem(format!("{}: unbalanced quotes in its command", raw.file.display()))
            })?,
            (None, None) => {
                return Err(problem(format!("{}: neither arguments nor command", raw.file.display())));
            }
        };
        // Assembly and other languages have no C in them; calls into them are calls to functions without a body.
        let Some(kind) = kind(&raw.file).filter(|kind| *kind != InputKind::Bitcode) else { continue };
        let directory = base.join(raw.directory);
        let flags = compile_flags(&arguments, &raw.file, &directory);
        let same = |other: &Entry| other.directory.join(&other.file) == directory.join(&raw.file);
        if !entries.iter().any(same) {
            entries.push(Entry { directory, file: raw.file, kind, flags });
        }
    }
    if entries.is_empty() {
        return Err(problem("no C source in it".to_owned()));
    }
    Ok(entries)
}

/// The flags that say what the source means: without compiler, source, output, dependency files, optimisation and warnings.
fn compile_flags(arguments: &[String], file: &Path, directory: &Path) -> Vec<String> {
    const WITH_VALUE: [&str; 9] =
        ["-o", "-MF", "-MT", "-MQ", "-MJ", "-arch", "--serialize-diagnostics", "-wrapper", "-dumpbase"];
    const DROPPED: [&str; 13] = [
        "-O",
        "-g",
        "-flto",
        "-fsanitize",
        "-fprofile",
        "-ftest-coverage",
        "--coverage",
        "-Werror",
        "-save-temps",
        "-fplugin",
        "-m32",
        "-m64",
        "-fopt-info",
    ];
    const EXACT: [&str; 9] = ["-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-MP", "-pipe"];
    let mut flags = Vec::new();
    let mut rest = arguments.iter();
    // The compiler, maybe behind a wrapper (`ccache gcc`).
    rest.next();
    let mut rest = rest
        .skip_while(|argument| !argument.starts_with('-') && !is_source(argument, file, directory))
        .peekable();
    while let Some(argument) = rest.next() {
        if WITH_VALUE.contains(&argument.as_str()) {
            rest.next();
        } else if EXACT.contains(&argument.as_str())
            || DROPPED.iter().any(|prefix| argument.starts_with(prefix))
            || WITH_VALUE[..5].iter().any(|prefix| argument.starts_with(prefix))
            || is_source(argument, file, directory)
        {
            continue;
        } else {
            flags.push(argument.clone());
        }
    }
    flags
}

fn is_source(argument: &str, file: &Path, directory: &Path) -> bool {
    !argument.starts_with('-') && directory.join(argument) == directory.join(file)
}

/// Words of a shell command: quotes and backslashes as `sh` has them. `None` if a quote is left open.
fn split_command(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut in_word) = (Vec::new(), String::new(), false);
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => {
                if in_word {
                    words.push(std::mem::take(&mut word));
                    in_word = false;
                }
            }
            '\'' => {
                in_word = true;
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                in_word = true;
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\' | '$' | '`') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => {
                in_word = true;
                word.push(chars.next()?);
            }
            c => {
                in_word = true;
                word.push(c);
            }
        }
    }
    if in_word {
        words.push(word);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::{compile_flags, split_command};
    use std::path::Path;

    #[test]
    fn commands_split_as_the_shell_does() {
        for (command, words) in [
            (r#"cc -DX="a b" x.c"#, Some(vec!["cc", "-DX=a b", "x.c"])),
            (r#"cc -DS=\"q\" 'it'"#, Some(vec!["cc", "-DS=\"q\"", "it"])),
            (r"cc a\ b ''", Some(vec!["cc", "a b", ""])),
            ("cc 'open", None),
        ] {
            let words = words.map(|words| words.into_iter().map(str::to_owned).collect());
            assert_eq!(split_command(command), words, "{command}");
        }
    }

    #[test]
    fn only_flags_that_matter_are_kept() {
        let command =
            "ccache gcc -O2 -g3 -DA=1 -Iinc -I inc2 -MD -MF x.d -flto -Werror=x -std=c99 -o x.o -c src/x.c";
        let arguments: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let flags = compile_flags(&arguments, Path::new("src/x.c"), Path::new("/p"));
        assert_eq!(flags, ["-DA=1", "-Iinc", "-I", "inc2", "-std=c99"]);
    }
}
