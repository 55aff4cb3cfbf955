//! `compile_commands.json`: which files make a program, and the flags of each.
//!
//! The file knows nothing of linking. Every source that defines `main` stands for one program; the sources without `main` are taken
//! to belong to all of them. With several programs the user picks one by (the end of) the name of its main source.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::FrontendError;
use crate::inputs::{Kind, Unit};

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Option<Vec<String>>,
    #[serde(default)]
    command: Option<String>,
}

pub(crate) fn units(path: &Path, target: Option<&str>) -> Result<Vec<Unit>, FrontendError> {
    let bad = |reason: String| FrontendError::CompileCommands { file: path.display().to_string(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| FrontendError::io(path, error))?;
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let home = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut units: Vec<(Unit, bool)> = Vec::new();
    for entry in entries {
        let extension = entry.file.extension().and_then(|e| e.to_str());
        let kind = match extension {
            Some("c") => Kind::C,
            Some("i") => Kind::Preprocessed,
            _ => continue,
        };
        let words = match (entry.arguments, entry.command) {
            (Some(words), _) => words,
            (None, Some(command)) => split(&command).map_err(bad)?,
            (None, None) => return Err(bad(format!("{}: no command", entry.file.display()))),
        };
        let directory = home.join(&entry.directory);
        let source = entry.file.clone();
        let full = directory.join(&source);
        if units
            .iter()
            .any(|(unit, _)| unit.source == source && unit.directory.as_deref() == Some(&*directory))
        {
            continue;
        }
        let text = std::fs::read(&full).map_err(|error| FrontendError::io(&full, error))?;
        let has_main = defines_main(&String::from_utf8_lossy(&text));
        let flags = kept(&words, &entry.file);
        units.push((Unit { source, kind, flags, directory: Some(directory) }, has_main));
    }
    if units.is_empty() {
        return Err(bad("names no C file".to_owned()));
    }
    let mains: Vec<String> = units.iter().filter(|(_, main)| *main).map(|(unit, _)| unit.shown()).collect();
    let chosen = match (target, &mains[..]) {
        (Some(target), _) => {
            let fitting: Vec<&String> = mains.iter().filter(|name| ends_with(name, target)).collect();
            match fitting[..] {
                [one] => Some(one.clone()),
                _ => {
                    return Err(FrontendError::SeveralTargets {
                        file: path.display().to_string(),
                        candidates: mains,
                    });
                }
            }
        }
        (None, []) => None,
        (None, [one]) => Some(one.clone()),
        (None, _) => {
            return Err(FrontendError::SeveralTargets {
                file: path.display().to_string(),
                candidates: mains,
            });
        }
    };
    let belongs = |(unit, main): &(Unit, bool)| !main || Some(unit.shown()) == chosen;
    Ok(units.into_iter().filter(belongs).map(|(unit, _)| unit).collect())
}

fn ends_with(name: &str, target: &str) -> bool {
    let stem = name.strip_suffix(".c").or_else(|| name.strip_suffix(".i")).unwrap_or(name);
    [name, stem].iter().any(|name| Path::new(name).ends_with(target))
}

/// Flags that bear on the meaning of the source; not the compiler, the output, the file itself, or optimisation.
fn kept(words: &[String], file: &Path) -> Vec<String> {
    let mut flags = Vec::new();
    let mut words = words.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "-MF" | "-MT" | "-MQ" => {
                words.next();
            }
            "-c" | "-S" | "-M" | "-MM" | "-MD" | "-MMD" | "-MP" | "-pipe" | "-Werror" => {}
            "-I" | "-D" | "-U" | "-include" | "-isystem" | "-iquote" | "-idirafter" | "-x" | "-imacros" => {
                flags.push(word.clone());
                flags.extend(words.next().cloned());
            }
            text if text.starts_with("-std") || text.starts_with("-D") || text.starts_with("-U") => {
                flags.push(word.clone())
            }
            text if text.starts_with("-I") || text.starts_with("-i") || text.starts_with("-m") => {
                flags.push(word.clone())
            }
            text if text.starts_with("-fpack")
                || text.starts_with("-fshort")
                || text.starts_with("-funsigned") =>
            {
                flags.push(word.clone());
            }
            text if Path::new(text) == file => {}
            _ => {}
        }
    }
    flags
}

/// Whether the text defines `main`: the word, an argument list, then a body (or K&R declarations).
fn defines_main(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.match_indices("main").any(|(at, _)| {
        let before = at == 0 || !is_word(bytes[at - 1]);
        let rest = text[at + 4..].trim_start();
        let Some(list) = rest.strip_prefix('(') else { return false };
        let mut depth = 1;
        let Some(end) = list.char_indices().find_map(|(index, c)| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            (depth == 0).then_some(index)
        }) else {
            return false;
        };
        let after = list[end + 1..].trim_start();
        let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let at_top =
            !text[line_start..at].starts_with([' ', '\t']) && !text[line_start..at].contains(['/', '*', '=']);
        before && at_top && (after.starts_with('{') || after.starts_with(|c: char| c.is_ascii_alphabetic()))
    })
}

/// Splits a command line the way a POSIX shell does, without expansions.
fn split(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => text.push(c),
                        None => return Err(format!("unclosed quote in `{command}`")),
                    }
                }
            }
            '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => match chars.next() {
                            Some(c @ ('"' | '\\' | '$' | '`')) => text.push(c),
                            Some(c) => text.extend(['\\', c]),
                            None => return Err(format!("unclosed quote in `{command}`")),
                        },
                        Some(c) => text.push(c),
                        None => return Err(format!("unclosed quote in `{command}`")),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::{defines_main, split};

    #[test]
    fn command_lines_split_as_in_a_shell() {
        let words = split(r#"cc -DX="a b" -D'Y=1 2' -I/x\ y "-DZ=\"q\"" f.c"#).unwrap();
        assert_eq!(words, ["cc", "-DX=a b", "-DY=1 2", "-I/x y", "-DZ=\"q\"", "f.c"]);
        assert!(split("cc 'x").is_err());
    }

    #[test]
    fn main_is_told_from_its_uses() {
        for text in ["int main(void) {", "int\nmain (int c, char **v)\n{", "main(c, v) char **v; {"] {
            assert!(defines_main(text), "{text}");
        }
        for text in ["int domain(void) {", "  main(1);", "int main(void);", "// main() {", "int x;"] {
            assert!(!defines_main(text), "{text}");
        }
    }
}
