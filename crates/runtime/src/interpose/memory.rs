//! The heap and mapped memory: what is handed out is new to everybody, what is given back is written.

use super::real::real;
use super::rings;
use super::wrappers;
use crate::blocks;
use crate::gate;
use crate::heap;
use crate::log::{self, What};
use crate::start;
use crate::thread;
use libc::{c_void, off_t, size_t};

real! {
    fn posix_memalign(block: *mut *mut c_void, alignment: size_t, bytes: size_t) -> i32;
    fn malloc_usable_size(block: *mut c_void) -> size_t;
    fn mmap(start: *mut c_void, bytes: size_t, protection: i32, flags: i32, file: i32, offset: off_t) -> *mut c_void;
    fn munmap(start: *mut c_void, bytes: size_t) -> i32;
    fn mremap(start: *mut c_void, bytes: size_t, wanted: size_t, flags: i32, place: *mut c_void) -> *mut c_void;
}

unsafe extern "C" {
    fn __libc_malloc(bytes: size_t) -> *mut c_void;
    fn __libc_calloc(count: size_t, bytes: size_t) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, bytes: size_t) -> *mut c_void;
    fn __libc_memalign(alignment: size_t, bytes: size_t) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(bytes: size_t) -> *mut c_void {
    if explored::is_on() {
        return explored::allocate(bytes, 16);
    }
    made(__libc_malloc(bytes), bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: size_t, bytes: size_t) -> *mut c_void {
    if explored::is_on() {
        return explored::zeroed(count, bytes);
    }
    made(__libc_calloc(count, bytes), count.wrapping_mul(bytes))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, bytes: size_t) -> *mut c_void {
    if block.is_null() {
        return malloc(bytes);
    }
    if explored::is_on() {
        return explored::resize(block, bytes);
    }
    let old = thread::current().and_then(|thread| heap::gone(thread, block as usize));
    let new = __libc_realloc(block, bytes);
    if new.is_null() && bytes != 0 {
        // The old block stays as it was.
        made(block, real::malloc_usable_size(block));
        return new;
    }
    made(new, bytes);
    // What was in the old block was written to the new one.
    if !new.is_null() {
        wrappers::writes(new, old.unwrap_or(0).min(bytes));
    }
    new
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(block: *mut c_void, count: size_t, bytes: size_t) -> *mut c_void {
    match count.checked_mul(bytes) {
        Some(bytes) => realloc(block, bytes),
        None => {
            *libc::__errno_location() = libc::ENOMEM;
            std::ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    if explored::is_on() {
        return explored::free(block);
    }
    if let Some(thread) = thread::current() {
        heap::gone(thread, block as usize);
    }
    __libc_free(block);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(alignment: size_t, bytes: size_t) -> *mut c_void {
    if explored::is_on() {
        return explored::allocate(bytes, alignment);
    }
    made(__libc_memalign(alignment, bytes), bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: size_t, bytes: size_t) -> *mut c_void {
    memalign(alignment, bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn valloc(bytes: size_t) -> *mut c_void {
    memalign(4096, bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvalloc(bytes: size_t) -> *mut c_void {
    memalign(4096, bytes.next_multiple_of(4096))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(block: *mut *mut c_void, alignment: size_t, bytes: size_t) -> i32 {
    if explored::is_on() {
        *block = explored::allocate(bytes, alignment);
        return 0;
    }
    let result = real::posix_memalign(block, alignment, bytes);
    if result == 0 {
        made(*block, bytes);
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    start: *mut c_void,
    bytes: size_t,
    protection: i32,
    flags: i32,
    file: i32,
    offset: off_t,
) -> *mut c_void {
    mapped_file(real::mmap(start, bytes, protection, flags, file, offset), bytes, file, offset)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    start: *mut c_void,
    bytes: size_t,
    protection: i32,
    flags: i32,
    file: i32,
    offset: off_t,
) -> *mut c_void {
    mapped_file(real::mmap(start, bytes, protection, flags, file, offset), bytes, file, offset)
}

fn mapped_file(start: *mut c_void, bytes: size_t, file: i32, offset: off_t) -> *mut c_void {
    let start = mapped(start, bytes);
    if start != libc::MAP_FAILED {
        rings::mapped(file, start as usize, bytes, offset);
    }
    start
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(start: *mut c_void, bytes: size_t) -> i32 {
    forget(start as usize, bytes, What::Unmap);
    real::munmap(start, bytes)
}

/// Memory that moves is new where it comes to: what was done to it before is forgotten, which errs towards fewer races.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mremap(
    start: *mut c_void,
    bytes: size_t,
    wanted: size_t,
    flags: i32,
    place: *mut c_void,
) -> *mut c_void {
    let now = real::mremap(start, bytes, wanted, flags, place);
    if now != start {
        mapped(now, wanted);
    } else if wanted > bytes {
        mapped(now.byte_add(bytes), wanted - bytes);
    }
    now
}

fn mapped(start: *mut c_void, bytes: size_t) -> *mut c_void {
    if start != libc::MAP_FAILED {
        forget(start as usize, bytes, What::Map);
    }
    start
}

fn forget(start: usize, bytes: usize, what: What) {
    if let Some(thread) = thread::current() {
        gate::enter(thread);
        log::event(thread, what, start, bytes as u64, 0);
        heap::clean(thread, start, start + bytes);
        gate::leave(thread);
    }
}

#[inline(always)]
unsafe fn made(block: *mut c_void, bytes: size_t) -> *mut c_void {
    match thread::current() {
        Some(thread) if !block.is_null() => {
            heap::made(thread, block as usize, bytes, real::malloc_usable_size(block));
        }
        // At the end of a thread, or before the start, when there are no tables yet.
        None if start::is_mapped() => blocks::forget(block as usize),
        _ => {}
    }
    block
}

/// The heap of an exploration: nothing is handed out twice, and blocks are told.
mod explored {
    use crate::control;
    use crate::explore::{self, Found};
    use crate::observe::{self, Mode};
    use crate::thread;
    use libc::c_void;

    pub fn is_on() -> bool {
        observe::mode() == Mode::Explore
    }

    pub fn allocate(bytes: usize, alignment: usize) -> *mut c_void {
        explore::allocate(bytes, alignment).cast()
    }

    /// Memory is zero when it is handed out.
    pub fn zeroed(count: usize, bytes: usize) -> *mut c_void {
        match count.checked_mul(bytes) {
            Some(bytes) => allocate(bytes, 16),
            None => std::ptr::null_mut(),
        }
    }

    pub unsafe fn resize(block: *mut c_void, bytes: usize) -> *mut c_void {
        let old = match explore::find_block(block as usize) {
            Found::Block { bytes } => bytes,
            Found::AlreadyFreed { .. } | Found::NoBlock => 0,
        };
        let new = allocate(bytes, 16);
        std::ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast::<u8>(), old.min(bytes));
        free(block);
        new
    }

    pub fn free(block: *mut c_void) {
        let address = block as usize;
        match explore::find_block(address) {
            Found::Block { bytes } => {
                if let Some(thread) = thread::current() {
                    explore::freed(thread, address, bytes);
                }
                control::forget_range(address, address + bytes);
                explore::free_block(address);
            }
            Found::AlreadyFreed { bytes } => {
                explore::fault("double-free", address);
                if let Some(thread) = thread::current() {
                    explore::freed(thread, address, bytes);
                }
            }
            Found::NoBlock => {}
        }
    }
}
