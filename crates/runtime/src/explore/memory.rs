//! The program's memory goes back to what it was before `main`.
//!
//! Everything writable is read-only at first. The first write to a page ends in a signal: its handler keeps a copy of the page and lets
//! the write happen. From then on the page counts as dirty for ever and is copied back before each execution. Pages that were
//! zero are not kept but cleared. A system call that would be the first to write a page fails with `EFAULT`; the heap is therefore not
//! protected (it is cleared as far as it was handed out, see [`super::heap`]).
//!
//! Outside of it: the channel, the shadow, and what is allocated here.

use std::ffi::c_void;

pub const PAGE: usize = 4096;
/// Own memory, never put back.
const OWN: usize = 0x6b10_0000_0000;
const OWN_BYTES: usize = 1 << 38;
const MOST_REGIONS: usize = 512;
pub const MOST_DIRTY: usize = 1 << 20;

#[repr(C)]
pub struct Memory {
    next: usize,
    regions: [Region; MOST_REGIONS],
    region_count: usize,
    dirty: *mut Dirty,
    dirty_count: usize,
}

#[derive(Clone, Copy)]
struct Region {
    start: usize,
    end: usize,
    /// One bit per page: it is dirty.
    bits: *mut u8,
}

#[derive(Clone, Copy)]
pub struct Dirty {
    pub page: usize,
    /// What it was at first. Null: zeros.
    pub copy: *mut u8,
}

/// Memory that is never put back. Zeroed.
pub unsafe fn reserve() -> Option<&'static mut Memory> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let got = raw_map(OWN, OWN_BYTES, flags);
    if got != OWN {
        return None;
    }
    let memory = &mut *(OWN as *mut Memory);
    memory.next = (OWN + size_of::<Memory>()).next_multiple_of(PAGE);
    memory.dirty = memory.take(MOST_DIRTY * size_of::<Dirty>()).cast();
    Some(memory)
}

pub fn is_own(address: usize) -> bool {
    (OWN..OWN + OWN_BYTES).contains(&address)
}

/// Maps zeroed memory without anybody noticing.
pub unsafe fn raw_map(at: usize, bytes: usize, flags: i32) -> usize {
    libc::syscall(libc::SYS_mmap, at, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0_usize) as usize
}

impl Memory {
    /// Own memory, page-aligned and zeroed.
    pub fn take(&mut self, bytes: usize) -> *mut u8 {
        let at = self.next;
        self.next = (at + bytes).next_multiple_of(PAGE);
        assert!(self.next <= OWN + OWN_BYTES, "Raddle's own memory is full");
        at as *mut u8
    }

    /// Watches these bytes, whole pages, from now on.
    pub unsafe fn watch(&mut self, start: usize, end: usize) -> bool {
        if self.region_count == MOST_REGIONS {
            return false;
        }
        let bits = self.take((end - start) / PAGE / 8 + 1);
        self.regions[self.region_count] = Region { start, end, bits };
        self.region_count += 1;
        protect(start, end, libc::PROT_READ)
    }

    /// Somebody writes there. False: it is none of ours, or was writable.
    pub unsafe fn written(&mut self, address: usize) -> bool {
        let page = address & !(PAGE - 1);
        let count = self.region_count;
        let Some(region) = self.regions[..count].iter().find(|r| r.start <= page && page < r.end).copied()
        else {
            return false;
        };
        let index = (page - region.start) / PAGE;
        let bit = region.bits.add(index / 8);
        if *bit >> (index % 8) & 1 == 1 || self.dirty_count == MOST_DIRTY {
            return false;
        }
        *bit |= 1 << (index % 8);
        let words = std::slice::from_raw_parts(page as *const u64, PAGE / 8);
        let copy = match words.iter().all(|word| *word == 0) {
            true => std::ptr::null_mut(),
            false => {
                let copy = self.take(PAGE);
                std::ptr::copy_nonoverlapping(page as *const u8, copy, PAGE);
                copy
            }
        };
        self.dirty.add(self.dirty_count).write(Dirty { page, copy });
        self.dirty_count += 1;
        protect(page, page + PAGE, libc::PROT_READ | libc::PROT_WRITE)
    }

    pub fn dirty(&self) -> &[Dirty] {
        unsafe { std::slice::from_raw_parts(self.dirty, self.dirty_count) }
    }

    /// Everything is as it was when it was first watched.
    pub unsafe fn reset(&self) {
        for Dirty { page, copy } in self.dirty() {
            match copy.is_null() {
                true => std::ptr::write_bytes(*page as *mut u8, 0, PAGE),
                false => std::ptr::copy_nonoverlapping(*copy, *page as *mut u8, PAGE),
            }
        }
    }
}

unsafe fn protect(start: usize, end: usize, protection: i32) -> bool {
    libc::syscall(libc::SYS_mprotect, start as *mut c_void, end - start, protection) == 0
}

/// Calls `visit` with the bounds of each private mapping that can be written, as the kernel lists them.
pub unsafe fn each_writable(buffer: &mut [u8], mut visit: impl FnMut(usize, usize)) -> bool {
    let file =
        libc::syscall(libc::SYS_openat, libc::AT_FDCWD, c"/proc/self/maps".as_ptr(), libc::O_RDONLY) as i32;
    if file < 0 {
        return false;
    }
    let mut length = 0;
    loop {
        let rest = &mut buffer[length..];
        let got = libc::syscall(libc::SYS_read, file, rest.as_mut_ptr(), rest.len());
        if got <= 0 {
            break;
        }
        length += got as usize;
    }
    libc::syscall(libc::SYS_close, file);
    for line in buffer[..length].split(|byte| *byte == b'\n') {
        let Some((start, end, flags)) = line_of_map(line) else { continue };
        if flags.starts_with(b"rw") && flags[3] == b'p' {
            visit(start, end);
        }
    }
    length < buffer.len()
}

fn line_of_map(line: &[u8]) -> Option<(usize, usize, &[u8])> {
    let text = std::str::from_utf8(line).ok()?;
    let (range, rest) = text.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let flags = rest.as_bytes().get(..4)?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?, flags))
}
