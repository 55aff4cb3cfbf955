//! The tables of sites of the running program and of its instrumented libraries, read from their files when the first race is to be
//! described. A program that was moved, deleted or stripped of symbols still has its table; one that cannot be read gives numbers.

use crate::gate;
use crate::sites::{self, Site, Sites};
use crate::spin::Spin;
use std::ffi::CString;

/// The name of the section.
const SECTION: &[u8] = b".raddle.sites";
/// The file of the program, whatever its name is now. By the thread: that of the process is gone once its first thread has ended.
const SELF: &str = "/proc/thread-self/exe";

struct Table {
    path: String,
    /// The number of its first site.
    base: u32,
    /// `None` before it was needed; then whether it could be read.
    read: Option<Option<Box<Sites>>>,
}

static TABLES: Spin<Vec<Table>> = Spin::new(Vec::new());

/// An instrumented library was loaded.
pub fn add(path: &str, base: u32) {
    locked(|tables| tables.push(Table { path: path.to_owned(), base, read: None }));
}

/// Calls `visit` with the site and the calls that it was inlined at, innermost first; with nothing where the table cannot be read.
pub fn with_sites<T>(id: u32, visit: impl FnOnce(&[Site<'_>]) -> T) -> T {
    locked(|tables| {
        if !tables.iter().any(|table| table.base == 0) {
            tables.push(Table { path: SELF.to_owned(), base: 0, read: None });
        }
        let owner = tables.iter_mut().filter(|table| table.base <= id).max_by_key(|table| table.base);
        let Some(owner) = owner else { return visit(&[]) };
        let Table { path, base, read } = owner;
        match read.get_or_insert_with(|| load(path).map(Box::new)) {
            Some(sites) => visit(&sites.frames(id - *base)),
            None => visit(&[]),
        }
    })
}

/// A signal handler may have a race to report, too.
fn locked<T>(work: impl FnOnce(&mut Vec<Table>) -> T) -> T {
    gate::undisturbed(|| work(&mut TABLES.lock()))
}

/// In the child of a fork.
pub fn reset() {
    TABLES.reset();
}

fn load(path: &str) -> Option<Sites> {
    let file = Mapped::open(path)?;
    sites::decode(section(file.bytes(), SECTION)?).ok()
}

/// The content of a section of a 64-bit ELF file.
fn section<'a>(bytes: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let number = |at: usize, width: usize| {
        let mut value = [0; 8];
        value[..width].copy_from_slice(bytes.get(at..at.checked_add(width)?)?);
        usize::try_from(u64::from_le_bytes(value)).ok()
    };
    // Offsets in the file's header and in the headers of sections, of which each has 64 bytes.
    let (headers, entry) = (number(40, 8)?, number(58, 2)?);
    let header = |index: usize| headers.checked_add(index.checked_mul(entry)?);
    let content = |at: usize| {
        let (start, length) = (number(at.checked_add(24)?, 8)?, number(at.checked_add(32)?, 8)?);
        bytes.get(start..start.checked_add(length)?)
    };
    let first = header(0)?;
    // Large numbers are in the first header.
    let count = match number(60, 2)? {
        0 => number(first.checked_add(32)?, 8)?,
        count => count,
    };
    let names = match number(62, 2)? {
        0xffff => number(first.checked_add(40)?, 4)?,
        names => names,
    };
    let names = content(header(names)?)?;
    (0..count).filter_map(header).find_map(|at| {
        let text = names.get(number(at, 4)?..)?;
        let is_it = text.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&0));
        if is_it { content(at) } else { None }
    })
}

/// A file in memory.
struct Mapped {
    start: *mut libc::c_void,
    length: usize,
}

impl Mapped {
    fn open(path: &str) -> Option<Self> {
        let path = CString::new(path).ok()?;
        unsafe {
            let flags = libc::O_RDONLY | libc::O_CLOEXEC;
            let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0) as i32;
            if file < 0 {
                return None;
            }
            let mut status = std::mem::zeroed::<libc::stat>();
            let known = libc::fstat(file, &mut status) == 0 && status.st_size > 0;
            let length = if known { status.st_size as usize } else { 0 };
            // By the kernel itself: this is no memory of the program.
            let (zero, read, private) = (std::ptr::null_mut::<u8>(), libc::PROT_READ, libc::MAP_PRIVATE);
            // The offset lies on the stack, as eight bytes.
            let start = libc::syscall(libc::SYS_mmap, zero, length, read, private, file, 0_usize);
            libc::syscall(libc::SYS_close, file);
            (known && start != -1).then_some(Self { start: start as *mut libc::c_void, length })
        }
    }

    fn bytes(&self) -> &[u8] {
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        unsafe { libc::syscall(libc::SYS_munmap, self.start, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn sections_are_found_and_damage_is_nothing() {
        let own = std::fs::read("/proc/self/exe").expect("a program has a file");
        let names = section(&own, b".shstrtab").expect("every program has names of sections");
        assert!(names.windows(10).any(|window| window == b".shstrtab\0"));
        assert!(section(&own, b".raddle.sites").is_none());
        for cut in [0, 10, 63, 64, own.len() / 2, own.len() - 1] {
            section(&own[..cut], b".text");
        }
        let mut damaged = own[..4096].to_vec();
        for at in 0..64 {
            for value in [0, 1, 0xff] {
                damaged[at] = value;
                section(&damaged, b".text");
            }
        }
    }
}
