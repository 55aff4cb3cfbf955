//! From the first instruction of the process to the scheduler: own memory, the heap, the channel, signals.

use super::channel::Channel;
use super::faults;
use super::heap::{Found, Heap};
use super::memory::{self, Memory};
use super::session::{self, Session};
use crate::control::{self, Spurious};
use crate::options;
use crate::thread;
use std::sync::atomic::Ordering::Release;

pub(crate) use session::Main;

static mut HEAP: *mut Heap = std::ptr::null_mut();
static mut MEMORY: *mut Memory = std::ptr::null_mut();
static mut CHANNEL: *mut Channel = std::ptr::null_mut();

/// Before anything of the program runs.
pub fn begin() {
    unsafe {
        CHANNEL = map_channel();
        let Some(memory) = memory::reserve() else { fail("there is no room for Raddle's own memory") };
        let Some(heap) = Heap::reserve(memory) else { fail("there is no room for the heap") };
        HEAP = heap;
        MEMORY = memory;
    }
    control::with(|model| {
        if options::get().no_spurious {
            model.spurious = Spurious::Off;
        }
    });
}

/// In the place of `main`: every execution starts from here. Does not come back.
pub fn serve(main: Main) -> i32 {
    unsafe {
        let Some(memory) = MEMORY.as_mut() else { fail("the runtime was not started") };
        faults::catch(memory);
        buffer_streams();
        if threads() != 1 {
            fail(EARLY_THREADS);
        }
        let Err(why) = session::serve(&mut *CHANNEL, memory, HEAP, main);
        fail(why)
    }
}

fn map_channel() -> *mut Channel {
    let file = options::get().channel;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let bytes = size_of::<Channel>();
    unsafe {
        let at = libc::syscall(libc::SYS_mmap, 0_usize, bytes, protection, libc::MAP_SHARED, file, 0_usize);
        if at < 0 {
            fail("there is no channel");
        }
        libc::syscall(libc::SYS_close, file);
        at as *mut Channel
    }
}

/// The streams have their buffers from the start, so that they do not look at their files in an execution.
unsafe fn buffer_streams() {
    const FULL: i32 = 0;
    const BYTES: usize = 4096;
    unsafe extern "C" {
        static stdin: *mut libc::FILE;
        static stdout: *mut libc::FILE;
        fn setvbuf(stream: *mut libc::FILE, buffer: *mut u8, mode: i32, bytes: usize) -> i32;
    }
    for stream in [stdin, stdout] {
        let buffer = allocate(BYTES, 16);
        setvbuf(stream, buffer, FULL, BYTES);
    }
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count)
}

pub const EARLY_THREADS: &str = "threads are started before main";

/// The program cannot be explored.
pub fn fail(why: &str) -> ! {
    unsafe {
        if let Some(channel) = CHANNEL.as_mut() {
            channel.words[..why.len()].copy_from_slice(why.as_bytes());
            channel.over.store(why.len() as u32 + 1, Release);
        }
        libc::syscall(libc::SYS_exit_group, 3);
    }
    unreachable!("the process has ended")
}

fn heap() -> Option<&'static mut Heap> {
    unsafe { HEAP.as_mut() }
}

/// Memory for the program; null when there is none.
pub fn allocate(bytes: usize, alignment: usize) -> *mut u8 {
    let owner = thread::current().map_or(0, |thread| thread.id as usize);
    let Some(heap) = heap() else { return std::ptr::null_mut() };
    let block = unsafe { heap.take(owner, bytes, alignment) };
    if block.is_null()
        && let Some(session) = session::get()
    {
        over_limit(session);
    }
    block
}

fn over_limit(session: &mut Session) {
    if session.running.is_some() {
        session.stop_for_good(super::channel::LIMIT, "a thread allocates more than a gibibyte");
        session.leave_fiber();
    }
}

pub fn find_block(block: usize) -> Found {
    heap().map_or(Found::NoBlock, |heap| unsafe { heap.find(block) })
}

pub fn free_block(block: usize) {
    if let Some(heap) = heap() {
        unsafe { heap.free(block) };
    }
}
