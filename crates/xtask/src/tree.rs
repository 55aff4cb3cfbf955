//! The project's text files, read once, so that every check is a pure function of them.
//!
//! What git ignores is left out by kind (build folders carry a `CACHEDIR.TAG`), not by asking git: a source archive on a
//! machine without git is checked the same way. Files that are not UTF-8 are left out; no check speaks of them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Text by path relative to the root, with `/` between the parts.
#[derive(Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

const SKIPPED_FOLDERS: [&str; 3] = [".git", "target", "raddle-witness"];

impl Tree {
    pub fn read(root: &Path) -> io::Result<Tree> {
        let mut tree = Tree::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    /// A tree written down in a test.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect() }
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust sources of all crates: (crate folder, path, text).
    pub fn rust_sources(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.files().filter(|(path, _)| path.ends_with(".rs")).filter_map(|(path, text)| {
            let (folder, _) = path.strip_prefix("crates/")?.split_once('/')?;
            Some((folder, path, text))
        })
    }

    /// The manifests of all crates: (crate folder, path, text).
    pub fn manifests(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.files().filter_map(|(path, text)| {
            let folder = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
            (!folder.contains('/')).then_some((folder, path, text))
        })
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() {
                let skipped =
                    SKIPPED_FOLDERS.contains(&name.as_str()) || entry.path().join("CACHEDIR.TAG").exists();
                if !skipped {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                }
            } else if kind.is_file()
                && let Ok(text) = String::from_utf8(fs::read(entry.path())?)
            {
                self.files.insert(path, text);
            }
        }
        Ok(())
    }
}
