//! What exists where Raddle runs: regular files, folders and symbolic links. Each is looked at once, so that a program finds the same
//! in every execution. Nothing is written.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What was seen of each path; `None`: nothing that can be read.
type Seen<T> = Mutex<BTreeMap<Vec<u8>, Option<Arc<T>>>>;

#[derive(Debug, Default)]
pub struct Outside {
    readable: bool,
    files: Seen<Vec<u8>>,
    folders: Seen<Vec<FolderEntry>>,
    targets: Seen<Vec<u8>>,
    real_paths: Seen<Vec<u8>>,
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderEntry {
    pub name: Vec<u8>,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    Other,
}

/// What to follow of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Its last part is a symbolic link: to what.
    Last,
    /// All of it, as `realpath` does.
    All,
}

/// Larger files do not exist for the program.
const LARGEST_FILE: u64 = 16 << 20;

/// Longer folders do not exist for the program.
const LONGEST_FOLDER: usize = 4096;

impl Outside {
    /// What exists is read as it is. Without this there is nothing.
    pub fn readable() -> Self {
        Self { readable: true, ..Self::default() }
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<Arc<Vec<u8>>> {
        self.look(&self.files, path, file)
    }

    pub(crate) fn folder(&self, path: &[u8]) -> Option<Arc<Vec<FolderEntry>>> {
        self.look(&self.folders, path, folder)
    }

    pub(crate) fn link(&self, path: &[u8], links: Links) -> Option<Arc<Vec<u8>>> {
        match links {
            Links::Last => self.look(&self.targets, path, |path| Some(bytes(std::fs::read_link(path).ok()?))),
            Links::All => {
                self.look(&self.real_paths, path, |path| Some(bytes(std::fs::canonicalize(path).ok()?)))
            }
        }
    }

    fn look<T>(&self, seen: &Seen<T>, path: &[u8], read: impl FnOnce(&Path) -> Option<T>) -> Option<Arc<T>> {
        let special = |folder: &[u8]| path.starts_with(folder);
        if !self.readable || [&b"/dev/"[..], b"/proc/", b"/sys/"].into_iter().any(special) {
            return None;
        }
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let found = || read(Path::new(OsStr::from_bytes(path))).map(Arc::new);
        seen.entry(path.to_vec()).or_insert_with(found).clone()
    }
}

fn bytes(path: std::path::PathBuf) -> Vec<u8> {
    path.into_os_string().into_vec()
}

fn file(path: &Path) -> Option<Vec<u8>> {
    let metadata = std::fs::metadata(path).ok()?;
    let fits = metadata.is_file() && metadata.len() <= LARGEST_FILE;
    fits.then(|| std::fs::read(path).ok()).flatten()
}

fn folder(path: &Path) -> Option<Vec<FolderEntry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).ok()? {
        let entry = entry.ok()?;
        let kind = match entry.file_type().ok()? {
            kind if kind.is_file() => EntryKind::File,
            kind if kind.is_dir() => EntryKind::Folder,
            kind if kind.is_symlink() => EntryKind::Link,
            _ => EntryKind::Other,
        };
        entries.push(FolderEntry { name: entry.file_name().into_vec(), kind });
        if entries.len() > LONGEST_FOLDER {
            return None;
        }
    }
    entries.sort();
    Some(entries)
}
