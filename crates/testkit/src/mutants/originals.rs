//! The texts that mutants are made of, and how each is compiled and run.

use crate::fixtures::files;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Original {
    /// Its path below the project's root.
    pub name: String,
    pub text: String,
    pub cflags: Vec<String>,
    /// Further flags, of which a mutant gets one set: the lines `//@ bench:` of a program.
    pub variants: Vec<Vec<String>>,
    pub args: Vec<String>,
    pub stdin: String,
    /// `raddle.toml` of the file.
    pub config: Option<PathBuf>,
    pub is_32_bit: bool,
    /// Where its own headers are.
    pub folder: PathBuf,
}

/// All fixtures, examples and programs of `bench/programs` that have a `main`, sorted by name.
pub fn originals(root: &Path) -> std::io::Result<Vec<Original>> {
    let mut originals = Vec::new();
    for folder in ["bench/programs", "examples", "tests/fixtures"] {
        for path in files(&root.join(folder))? {
            let text = std::fs::read_to_string(&path)?;
            if !text.contains("main(") {
                continue;
            }
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            originals.push(read(name, text, &path));
        }
    }
    Ok(originals)
}

fn read(name: String, text: String, path: &Path) -> Original {
    let folder = path.parent().unwrap_or(Path::new(".")).to_path_buf();
    let mut original = Original { name, folder, ..Original::default() };
    for line in text.lines() {
        let Some((key, value)) = line.strip_prefix("//@").and_then(|header| header.split_once(':')) else {
            continue;
        };
        let words = || value.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        match key.trim() {
            "cflags" => original.cflags = words(),
            "args" => original.args = words(),
            "stdin" => original.stdin = value.trim().to_owned(),
            "config" => original.config = Some(original.folder.join(value.trim())),
            "bench" => original.variants.push(words()),
            "data-model" => original.is_32_bit = value.trim() == "ILP32",
            _ => {}
        }
    }
    original.text = text.lines().map(smaller).collect::<Vec<_>>().join("\n") + "\n";
    original
}

/// Programs that measure speed do something millions of times.
fn smaller(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["#define", name, value] if value.parse::<u64>().is_ok_and(|value| value > 10_000) => {
            format!("#define {name} 500")
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use std::path::Path;

    #[test]
    fn headers_say_how_it_is_run() {
        let text = "//@ cflags: -std=gnu89\n//@ args: x y\n//@ config: a.toml\n//@ bench: -DBUG\n#define N 2000000\n";
        let original = read("f/a.c".to_owned(), text.to_owned(), Path::new("f/a.c"));
        assert_eq!(original.cflags, ["-std=gnu89"]);
        assert_eq!(original.args, ["x", "y"]);
        assert_eq!(original.config.as_deref(), Some(Path::new("f/a.toml")));
        assert_eq!(original.variants, [["-DBUG"]]);
        assert!(original.text.ends_with("#define N 500\n"));
    }
}
