//! A finished program that `raddle cc` built: where it is, and what the numbers of its sites mean.

use crate::NativeError;
use raddle_frontend::embedded::{SITES_SECTION, elf};
use raddle_instrument::sites::{self, Sites};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Finds a program as a shell does, and reads its table of sites.
pub(crate) fn open(name: &OsStr) -> Result<Binary, NativeError> {
    let path = find(name)?;
    let sites = Rc::new(table(&path)?);
    Ok(Binary { path, sites })
}

/// Whether the file is a finished program or library, however it was built.
pub fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"\x7fELF"
}

/// The table of sites in a program or library.
pub(crate) fn table(path: &Path) -> Result<Sites, NativeError> {
    let problem = |reason: String| NativeError::Binary { path: path.to_owned(), reason };
    let bytes = std::fs::read(path).map_err(|error| problem(error.to_string()))?;
    if bytes.starts_with(b"#!") {
        return Err(NativeError::Script { path: path.to_owned() });
    }
    if !elf::is_elf(&bytes) {
        return Err(NativeError::NotBuilt { path: path.to_owned() });
    }
    let section = elf::section(&bytes, SITES_SECTION).map_err(problem)?;
    let section = section.ok_or_else(|| NativeError::NotBuilt { path: path.to_owned() })?;
    sites::decode(section).map_err(|error| problem(error.to_string()))
}

pub(crate) struct Binary {
    pub(crate) path: PathBuf,
    pub(crate) sites: Rc<Sites>,
}

/// A name without a slash is looked for in the folders of `PATH`.
fn find(name: &OsStr) -> Result<PathBuf, NativeError> {
    let path = Path::new(name);
    let found = match name.as_encoded_bytes().contains(&b'/') {
        true => path.is_file().then(|| path.to_owned()),
        false => {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| path.is_file())
        }
    };
    found.ok_or_else(|| {
        let here = Path::new(".").join(path);
        let hint = if here.is_file() { format!("; did you mean {}?", here.display()) } else { String::new() };
        NativeError::NoProgram { path: path.to_owned(), hint }
    })
}
