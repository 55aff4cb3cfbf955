//! Whose memory is where: stacks, thread-local variables, programs and libraries.

use std::ffi::{CStr, c_int, c_void};

/// A program or library in memory.
pub struct Module<'a> {
    /// What its own addresses are relative to.
    pub base: u64,
    pub start: u64,
    pub bytes: u64,
    pub path: &'a [u8],
}

/// Start and length of the calling thread's stack, and of its thread-local variables.
pub fn of_thread(is_main: bool) -> [u64; 4] {
    let (start, bytes) = if is_main { main_stack() } else { own_stack() };
    let pointer: u64;
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly)) };
    let mut local = 0;
    each(|info| {
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        for header in headers.iter().filter(|header| header.p_type == libc::PT_TLS) {
            local += header.p_memsz.next_multiple_of(header.p_align.max(1));
        }
    });
    [start, bytes, pointer - local, local]
}

/// The stack of the first thread grows as far as it may.
fn main_stack() -> (u64, u64) {
    const USUAL: u64 = 8 << 20;
    const MOST: u64 = 1 << 30;
    let mut limit = libc::rlimit { rlim_cur: USUAL, rlim_max: USUAL };
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    // The name of the program is the last thing above the stack.
    let end = (unsafe { libc::getauxval(libc::AT_EXECFN) } + 4096).next_multiple_of(4096);
    let bytes = limit.rlim_cur.clamp(USUAL, MOST);
    (end - bytes, bytes)
}

fn own_stack() -> (u64, u64) {
    unsafe {
        let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
        let (mut start, mut bytes) = (std::ptr::null_mut(), 0);
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            libc::pthread_attr_getstack(&attributes, &mut start, &mut bytes);
            libc::pthread_attr_destroy(&mut attributes);
        }
        (start as u64, bytes as u64)
    }
}

pub fn each_module(mut visit: impl FnMut(&Module)) {
    let own = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    each(|info| {
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        let start = loaded.clone().map(|header| header.p_vaddr).min().unwrap_or(0);
        let end = loaded.map(|header| header.p_vaddr + header.p_memsz).max().unwrap_or(0);
        let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
        // The program itself has no name.
        let path = if name.is_empty() { own.as_os_str().as_encoded_bytes() } else { name };
        let start = info.dlpi_addr + start;
        let bytes = (info.dlpi_addr + end).saturating_sub(start);
        visit(&Module { base: info.dlpi_addr, start, bytes, path });
    });
}

fn each(mut visit: impl FnMut(&libc::dl_phdr_info)) {
    unsafe extern "C" fn one<F: FnMut(&libc::dl_phdr_info)>(
        info: *mut libc::dl_phdr_info,
        _: usize,
        visit: *mut c_void,
    ) -> c_int {
        (*visit.cast::<F>())(&*info);
        0
    }
    fn call<F: FnMut(&libc::dl_phdr_info)>(visit: &mut F) {
        unsafe { libc::dl_iterate_phdr(Some(one::<F>), (visit as *mut F).cast()) };
    }
    call(&mut visit);
}
