//! Source lines for snippets.

use std::cell::RefCell;
use std::collections::HashMap;

/// Where source lines come from. A line that is not there gives a report without that snippet.
pub trait Sources {
    /// Line numbers start at 1; the text has no line end.
    fn line(&self, file: &str, line: u32) -> Option<String>;
}

/// Files on disk, each read once.
#[derive(Default)]
pub struct FileSources {
    files: RefCell<HashMap<String, Option<Vec<String>>>>,
}

impl Sources for FileSources {
    fn line(&self, file: &str, line: u32) -> Option<String> {
        let mut files = self.files.borrow_mut();
        let lines = files.entry(file.to_owned()).or_insert_with(|| {
            let bytes = std::fs::read(file).ok()?;
            Some(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
        });
        lines.as_ref()?.get(line.checked_sub(1)? as usize).cloned()
    }
}

/// No snippets at all.
pub struct NoSources;

impl Sources for NoSources {
    fn line(&self, _file: &str, _line: u32) -> Option<String> {
        None
    }
}
