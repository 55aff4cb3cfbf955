//! Folders and symbolic links (A-IO). What exists outside is read as it is, with what the program made and removed; whether a call succeeds is
//! the environment's choice: a folder that is missing may be there, and is empty, a link may be there, and leads to `/dev/null`.
//!
//! A `DIR` is a block of the heap: the number of a listing and the place in it, then the entry that `readdir` returned last. Two calls for
//! one `DIR` without order race, as POSIX lets them.

use super::errors::{EINVAL, ENOENT};
use super::stream::{contents, differs, files};
use super::values::NULL;
use super::{Family, Host, Outcome, Zeroed};
use crate::outside::{EntryKind, FolderEntry, Links};
use raddle_event::ProblemKind;
use raddle_ir::DataModel;
use std::sync::Arc;

pub(super) const FUNCTIONS: Family = &[
    ("opendir", opendir),
    ("readdir", readdir),
    ("closedir", closedir),
    ("readlink", readlink),
    ("realpath", realpath),
];

/// `struct dirent` of x86-64.
const ENTRY: u64 = 280;
/// Where it begins in a `DIR`.
const HEAD: u64 = 16;
/// Bytes of its name, with the zero.
const NAME: usize = 256;

/// Whether a relative path means the same as where Raddle runs.
fn is_here(host: &mut dyn Host, path: &[u8]) -> bool {
    path.first() == Some(&b'/') || !files(host).moved
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    match folder {
        b"." => name.to_vec(),
        _ if folder.ends_with(b"/") => [folder, name].concat(),
        _ => [folder, b"/", name].concat(),
    }
}

/// What is in the folder of this name, if it exists.
fn listing(host: &mut dyn Host, path: &[u8]) -> Option<Vec<FolderEntry>> {
    let outside = if is_here(host, path) { host.outside_folder(path) } else { None };
    let files = files(host);
    let made = files.contents.iter().filter_map(|(file, contents)| {
        contents.as_ref()?;
        let start = joined(path, b"");
        let name = file.strip_prefix(&start[..]).filter(|name| !name.is_empty() && !name.contains(&b'/'))?;
        Some(FolderEntry { name: name.to_vec(), kind: EntryKind::File })
    });
    let made: Vec<FolderEntry> = made.collect();
    if outside.is_none() && made.is_empty() {
        return None;
    }
    let removed = |entry: &FolderEntry| files.contents.get(&joined(path, &entry.name)) == Some(&None);
    let mut entries: Vec<FolderEntry> =
        outside.iter().flat_map(|all| all.iter()).filter(|entry| !removed(entry)).cloned().collect();
    entries.extend(made);
    entries.sort();
    entries.dedup_by(|a, b| a.name == b.name);
    Some(entries)
}

fn opendir(host: &mut dyn Host) -> Outcome<u128> {
    let path = host.pointer(0);
    let path = host.read_string(path)?;
    let found = listing(host, &path);
    let entries = match (found, differs(host)?) {
        (Some(entries), false) => entries,
        (None, true) => Vec::new(),
        (Some(_), true) | (None, false) => {
            host.set_errno(ENOENT);
            return Ok(NULL);
        }
    };
    if host.data_model() == DataModel::Ilp32 {
        return Err(host.unsupported("struct dirent of 32-bit programs".into()));
    }
    let own = [&b"."[..], b".."].map(|name| FolderEntry { name: name.to_vec(), kind: EntryKind::Folder });
    let entries: Vec<FolderEntry> = own.into_iter().chain(entries).collect();
    let listings = Arc::make_mut(&mut host.state().listings);
    let number = match listings.iter().position(|known| **known == entries) {
        Some(number) => number,
        None => {
            listings.push(Arc::new(entries));
            listings.len() - 1
        }
    };
    let address = host.allocate(HEAD + ENTRY, 16, Zeroed::Yes, "opendir")?;
    host.write_long(address, number as i64)?;
    Ok(u128::from(address))
}

/// The `DIR` of the first argument.
fn folder(host: &mut dyn Host) -> Outcome<u64> {
    let address = host.pointer(0);
    if host.block_size(address) == Some(HEAD + ENTRY) {
        return Ok(address);
    }
    let kind = if address == 0 { ProblemKind::NullDereference } else { ProblemKind::InvalidArgument };
    Err(host.fail(kind, "the argument is not an open directory".into()))
}

fn readdir(host: &mut dyn Host) -> Outcome<u128> {
    let address = folder(host)?;
    let head = host.read_bytes(address, HEAD)?;
    let [number, place] =
        [0, 8].map(|at| head[at..at + 8].iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte)));
    let entry = host.state().listings.get(number).and_then(|listing| listing.get(place)).cloned();
    let Some(entry) = entry.filter(|entry| entry.name.len() < NAME) else { return Ok(NULL) };
    let place_at = host.offset(address, 8);
    host.write_long(place_at, place as i64 + 1)?;
    let mut bytes = Vec::new();
    bytes.extend((place as u64 + 1).to_le_bytes());
    bytes.extend((place as u64 + 1).to_le_bytes());
    bytes.extend((ENTRY as u16).to_le_bytes());
    bytes.push(match entry.kind {
        EntryKind::Folder => 4,
        EntryKind::File => 8,
        EntryKind::Link => 10,
        EntryKind::Other => 0,
    });
    bytes.extend(entry.name);
    bytes.push(0);
    let target = host.offset(address, HEAD);
    host.write(target, &bytes)?;
    Ok(u128::from(target))
}

fn closedir(host: &mut dyn Host) -> Outcome<u128> {
    let address = folder(host)?;
    host.free(address)?;
    Ok(0)
}

fn readlink(host: &mut dyn Host) -> Outcome<u128> {
    let (path, target, size) = (host.pointer(0), host.pointer(1), host.size(2));
    let path = host.read_string(path)?;
    let found = if is_here(host, &path) { host.outside_link(&path, Links::Last) } else { None };
    let is_file = found.is_none() && contents(host, &path).is_some();
    let text = match (found, differs(host)?) {
        (Some(text), false) => text.to_vec(),
        (None, true) => b"/dev/null".to_vec(),
        (Some(_), true) => return Ok(host.long_error(ENOENT)),
        (None, false) => return Ok(host.long_error(if is_file { EINVAL } else { ENOENT })),
    };
    if size == 0 {
        return Ok(host.long_error(EINVAL));
    }
    let kept = text.len().min(usize::try_from(size).unwrap_or(usize::MAX));
    host.write(target, &text[..kept])?;
    Ok(kept as u128)
}

fn realpath(host: &mut dyn Host) -> Outcome<u128> {
    const LONGEST: usize = 4096;
    let (path, target) = (host.pointer(0), host.pointer(1));
    let path = host.read_string(path)?;
    let outside = if is_here(host, &path) { host.outside_link(&path, Links::All) } else { None };
    let removed = files(host).contents.get(&path) == Some(&None);
    let made = || if path.starts_with(b"/") { path.clone() } else { [b"/", &path[..]].concat() };
    let found = match outside {
        Some(text) if !removed => Some(text.to_vec()),
        _ => contents(host, &path).map(|_| made()),
    };
    let text = match (found, differs(host)?) {
        (Some(text), false) => text,
        (None, true) if !path.is_empty() && path.len() < LONGEST => made(),
        _ => {
            host.set_errno(ENOENT);
            return Ok(NULL);
        }
    };
    let target = match target {
        0 => host.allocate(text.len() as u64 + 1, 16, Zeroed::No, "realpath")?,
        target => target,
    };
    host.write_string(target, &text)?;
    Ok(u128::from(target))
}
