//! The file of a trace, piece by piece: each thread has a chunk mapped that nobody else writes to.
//!
//! A chunk is allocated on the disk before it is mapped, so that a full disk is noticed here and not by a signal in the middle of an
//! entry. When there is no more room the trace ends for good; the header says at which sequence number. A process that finds the file
//! taken, because it is a child or was started by `exec`, writes a file of its own, `FILE.PID`.

use super::{Log, ON, begins, event, sequence};
use crate::descriptor::Descriptor;
use crate::log::What;
use crate::spin::Spin;
use crate::thread::Thread;
use crate::trace::{
    CHUNK_HEADER, CONTROL, Chunk, HEADER_UNIT, Header, LONGEST_HEADER, new_header, write_chunk,
};
use crate::{options, output, report};
use std::ffi::{CStr, CString};
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// Chunks of a thread grow from the first size to the last.
const SMALLEST: usize = HEADER_UNIT;
const LARGEST: usize = 1 << 20;
/// Where a chunk's count of used bytes is.
const USED: usize = 16;

struct File {
    path: Option<CString>,
    descriptor: Descriptor,
    end: u64,
}

/// The words of the header that the program changes.
#[repr(C)]
struct Words {
    process: AtomicU32,
    ended: AtomicU32,
    lost: AtomicU64,
    end: AtomicU64,
}

static FILE: Spin<File> = Spin::new(File { path: None, descriptor: Descriptor::NONE, end: 0 });
static WORDS: AtomicPtr<Words> = AtomicPtr::new(std::ptr::null_mut());
static FULL: AtomicBool = AtomicBool::new(false);

/// The chunk that a thread writes to. Zeroed memory is none.
#[repr(C)]
pub struct Room {
    start: usize,
    at: usize,
    end: usize,
    number: u32,
}

/// Opens the file that the tool has made; false: there will be no trace.
pub fn start() -> bool {
    let path = &options::get().trace;
    match FILE.lock().open(path) {
        Ok(()) => true,
        Err(why) => {
            refuse(&why);
            false
        }
    }
}

pub fn ended(thread: Option<&mut Thread>) {
    if let Some(thread) = thread {
        event(thread, sequence(), What::Exit, 0, 0, 0);
    }
    if let Some(words) = words() {
        words.ended.store(1, Release);
    }
}

/// Opens a file of the new process's own.
pub fn forked(thread: &mut Thread) {
    FILE.reset();
    FULL.store(false, Relaxed);
    thread.log.abandon();
    let opened = {
        let mut file = FILE.lock();
        *file = File { path: None, descriptor: Descriptor::NONE, end: 0 };
        file.open_own()
    };
    match opened {
        Ok(()) => {
            super::all_modules(thread);
            begins(thread, true);
        }
        Err(why) => {
            ON.store(false, Relaxed);
            refuse(&why);
        }
    }
}

fn refuse(why: &str) {
    report::gap(&format!("the trace cannot be written: {why}"));
}

fn words() -> Option<&'static Words> {
    unsafe { WORDS.load(Acquire).as_ref() }
}

impl Log {
    /// What was mapped belongs to another process.
    fn abandon(&mut self) {
        self.room.unmap();
        unsafe { std::ptr::write_bytes(self, 0, 1) };
    }
}

impl Room {
    #[inline(always)]
    pub fn has(&self, bytes: usize) -> bool {
        self.end - self.at >= bytes
    }

    /// Where the next entry goes.
    #[inline(always)]
    pub fn rest(&mut self) -> &mut [u8] {
        unsafe { std::slice::from_raw_parts_mut(self.at as *mut u8, self.end - self.at) }
    }

    /// The entry is complete.
    #[inline(always)]
    pub fn commit(&mut self, length: usize) {
        self.at += length;
        let used = unsafe { &*((self.start + USED) as *const AtomicU32) };
        used.store((self.at - self.start - CHUNK_HEADER) as u32, Release);
    }

    /// Another chunk for at least so many bytes; false: there is none, and what has this sequence number is lost.
    pub fn renew(&mut self, thread: u32, bytes: usize, sequence: u64) -> bool {
        if FULL.load(Relaxed) {
            lose(sequence);
            return false;
        }
        let usual = (SMALLEST << (2 * self.number.min(4))).min(LARGEST);
        let errno = unsafe { *libc::__errno_location() };
        let least = (CHUNK_HEADER + bytes).next_multiple_of(HEADER_UNIT);
        let (bytes, made) = FILE.lock().chunk_of(usual.max(least), least);
        unsafe { *libc::__errno_location() = errno };
        let start = match made {
            Ok(start) => start,
            Err(why) => {
                lose(sequence);
                if !FULL.swap(true, AcqRel) {
                    report::gap(&format!("the trace ends early: {why}"));
                }
                return false;
            }
        };
        self.unmap();
        let chunk = Chunk { thread, number: self.number, bytes, used: 0 };
        write_chunk(unsafe { &mut *(start as *mut [u8; CHUNK_HEADER]) }, chunk);
        *self = Room { start, at: start + CHUNK_HEADER, end: start + bytes, number: self.number + 1 };
        true
    }

    fn unmap(&mut self) {
        if self.start != 0 {
            unsafe { libc::syscall(libc::SYS_munmap, self.start, self.end - self.start) };
        }
        self.at = self.end;
    }
}

/// From the smallest sequence number that is lost, the trace is incomplete.
fn lose(sequence: u64) {
    let Some(words) = words() else { return };
    let _ =
        words.lost.fetch_update(AcqRel, Relaxed, |lost| (lost == 0 || sequence < lost).then_some(sequence));
}

impl File {
    const FLAGS: i32 = libc::O_RDWR;

    /// The file of the tool, or one of our own if another process has it.
    fn open(&mut self, path: &CStr) -> Result<(), String> {
        let mut descriptor = Descriptor::NONE;
        descriptor.open(path, Self::FLAGS).map_err(|errno| reason(path, errno))?;
        let number = descriptor.number().ok_or("no descriptor is left")?;
        let header = read_header(number).ok_or("its header is damaged")?;
        let words = map(number, 0, HEADER_UNIT).ok_or("it cannot be mapped")?;
        let words = unsafe { &*((words + CONTROL) as *const Words) };
        let own = output::pid() as u32;
        if words.process.compare_exchange(0, own, AcqRel, Relaxed).is_err() {
            return self.open_own();
        }
        WORDS.store(std::ptr::from_ref(words).cast_mut(), Release);
        *self = File { path: Some(path.to_owned()), descriptor, end: header.bytes as u64 };
        Ok(())
    }

    /// `FILE.PID`, with the same text in its header.
    fn open_own(&mut self) -> Result<(), String> {
        let first = &options::get().trace;
        let mut from = Descriptor::NONE;
        from.open(first, libc::O_RDONLY).map_err(|errno| reason(first, errno))?;
        let header = from.number().and_then(read_header).ok_or("its header is damaged")?;
        let bytes = new_header(&header.text);
        let pid = output::pid();
        let names = (1..1000).map(|count| match count {
            1 => format!("{}.{pid}", first.to_string_lossy()),
            _ => format!("{}.{pid}.{count}", first.to_string_lossy()),
        });
        for name in names {
            let path = CString::new(name.clone()).unwrap_or_default();
            let mut descriptor = Descriptor::NONE;
            match descriptor.open(&path, Self::FLAGS | libc::O_CREAT | libc::O_EXCL) {
                Err(libc::EEXIST) => continue,
                Err(errno) => return Err(reason(&path, errno)),
                Ok(()) => {}
            }
            let number = descriptor.number().ok_or("no descriptor is left")?;
            reserve(number, 0, bytes.len()).map_err(|errno| reason(&path, errno))?;
            let start = map(number, 0, bytes.len()).ok_or("it cannot be mapped")?;
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start as *mut u8, bytes.len()) };
            let words = unsafe { &*((start + CONTROL) as *const Words) };
            words.process.store(pid as u32, Release);
            WORDS.store(std::ptr::from_ref(words).cast_mut(), Release);
            *self = File { path: Some(path), descriptor, end: bytes.len() as u64 };
            report::trace(&name);
            return Ok(());
        }
        Err("there are too many files of its name".to_owned())
    }

    /// Maps another piece of the file: a large one, or what is left.
    fn chunk_of(&mut self, bytes: usize, least: usize) -> (usize, Result<usize, String>) {
        match self.chunk(bytes) {
            Err(_) if bytes > least => (least, self.chunk(least)),
            made => (bytes, made),
        }
    }

    /// Maps another piece of the file.
    fn chunk(&mut self, bytes: usize) -> Result<usize, String> {
        let path = self.path.as_deref().ok_or("it is not open")?;
        let gone = "the file is not there any more";
        let mut tries = 0;
        let number = loop {
            let number = self.descriptor.number_again(path, Self::FLAGS).ok_or(gone)?;
            match reserve(number, self.end, bytes) {
                Ok(()) => break number,
                // The program has closed it at this very moment, as it closes all.
                Err(libc::EBADF) if tries < 8 => tries += 1,
                Err(errno) => return Err(reason(path, errno)),
            }
        };
        let start = map(number, self.end, bytes).ok_or("no room in memory")?;
        self.end += bytes as u64;
        if let Some(words) = words() {
            words.end.store(self.end, Release);
        }
        Ok(start)
    }
}

/// Takes room on the disk.
fn reserve(number: i32, start: u64, bytes: usize) -> Result<(), i32> {
    // Beyond this limit the kernel would end the program.
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0
        && start + bytes as u64 > limit.rlim_cur
    {
        return Err(libc::EFBIG);
    }
    loop {
        if unsafe { libc::syscall(libc::SYS_fallocate, number, 0, start, bytes) } == 0 {
            return Ok(());
        }
        match unsafe { *libc::__errno_location() } {
            libc::EINTR => {}
            libc::EOPNOTSUPP | libc::ENOSYS => return write_zeros(number, start, bytes),
            errno => return Err(errno),
        }
    }
}

/// For file systems that cannot allocate without writing.
fn write_zeros(number: i32, start: u64, bytes: usize) -> Result<(), i32> {
    const ZEROS: [u8; HEADER_UNIT] = [0; HEADER_UNIT];
    let mut at = 0;
    while at < bytes {
        let length = ZEROS.len().min(bytes - at);
        let place = start + at as u64;
        match unsafe { libc::syscall(libc::SYS_pwrite64, number, ZEROS.as_ptr(), length, place) } {
            written @ 1.. => at += written as usize,
            _ if unsafe { *libc::__errno_location() } == libc::EINTR => {}
            _ => return Err(unsafe { *libc::__errno_location() }),
        }
    }
    Ok(())
}

fn map(number: i32, start: u64, bytes: usize) -> Option<usize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    let got = unsafe { libc::syscall(libc::SYS_mmap, 0_usize, bytes, protection, flags, number, start) };
    (got != -1).then_some(got as usize)
}

fn read_header(number: i32) -> Option<Header> {
    let mut status = unsafe { std::mem::zeroed::<libc::stat>() };
    if unsafe { libc::fstat(number, &mut status) } != 0 {
        return None;
    }
    let mut bytes = vec![0; (status.st_size as usize).min(LONGEST_HEADER)];
    let read = unsafe { libc::syscall(libc::SYS_pread64, number, bytes.as_mut_ptr(), bytes.len(), 0_u64) };
    bytes.truncate(usize::try_from(read).ok()?);
    Header::read(&bytes).ok()
}

fn reason(path: &CStr, errno: i32) -> String {
    format!("{}: {}", path.to_string_lossy(), std::io::Error::from_raw_os_error(errno))
}
