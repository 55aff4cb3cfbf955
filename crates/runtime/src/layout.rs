//! Where the shadow lives: three mirrors of the program's memory at fixed addresses, and room for our own tables.
//!
//! A granule of 4 bytes has a cell of 8 bytes (last write, last reads), a word of context for each of the two, in mirrors of their own because
//! much memory is only read or only written for a long time, and one word that names the synchronisation object at this address. The low 44 bits of an address choose the granule: they keep executable, heap, libraries and stacks of
//! a Linux process on x86-64 apart. Memory that a program maps by hand 16 TiB from other memory of its own would share cells, which
//! errs towards false races; nothing the kernel places by itself does.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

pub const GRANULE: usize = 4;
pub const CELLS: usize = 0x1000_0000_0000;
// The odd pages keep things of one granule from having the same low address bits: some caches guess by these.
const CONTEXTS: usize = 0x3000_0357_9000;
/// From the contexts of writes to those of reads.
const CONTEXTS_APART: usize = SPAN + 0x0125_b000;
const OBJECTS: usize = 0x5800_02a6_5000;
/// A word for each 16 bytes that may begin a block of the heap.
const BLOCKS: usize = 0x0800_0000_0000;
/// One byte per page of the program: what was ever made there.
const PRESENCE: usize = 0x6801_0000_0000;
/// One byte per mebibyte of the program: whether any of its cells was ever written.
const TOUCHED: usize = 0x6803_0000_0000;
/// The same for each page of cells.
const TOUCHED_PAGES: usize = 0x6804_0000_0000;
/// A cache line for each slot of the clocks: see [`crate::flights`].
const FLIGHTS: usize = 0x6807_0000_0000;
pub const THREADS: usize = 0x6810_0000_0000;
pub const TABLES: usize = 0x6900_0000_0000;
pub const ARENA: usize = 0x6a00_0000_0000;
pub const ARENA_BYTES: usize = 1 << 40;
pub const MASK: usize = 0xfff_ffff_fffc;
const SPAN: usize = 1 << 44;
pub const REGION: usize = 1 << 20;
/// Bytes of the program whose cells fill a page.
pub const CELL_PAGE: usize = 2048;
pub const PAGE: usize = 4096;
/// Bytes of the program whose marks in [`TOUCHED`] fill a page.
const AREA: usize = PAGE * REGION;

/// Whether an area has a mark. The system knows which pages of marks exist, but not of those that it has swapped out.
static AREAS: [AtomicBool; SPAN / AREA] = [const { AtomicBool::new(false) }; SPAN / AREA];

/// Reserves everything. Physical memory is used only where something is written.
pub fn map() -> Result<(), ()> {
    reserve(CELLS, 2 * SPAN)?;
    reserve(CONTEXTS, CONTEXTS_APART + SPAN)?;
    reserve(OBJECTS, SPAN)?;
    reserve(BLOCKS, SPAN / 4)?;
    reserve(PRESENCE, ARENA + ARENA_BYTES - PRESENCE)
}

fn reserve(start: usize, bytes: usize) -> Result<(), ()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    unsafe {
        let got = libc::mmap(start as *mut libc::c_void, bytes, protection, flags, -1, 0);
        if got as usize != start {
            return Err(());
        }
        libc::madvise(got, bytes, libc::MADV_DONTDUMP);
        libc::madvise(got, bytes, libc::MADV_NOHUGEPAGE);
    }
    Ok(())
}

/// Whether an address lies in the mirrors of the program's memory.
pub fn is_shadow(address: usize) -> bool {
    let mirrors = [(CELLS, 2 * SPAN), (CONTEXTS, CONTEXTS_APART + SPAN), (OBJECTS, SPAN), (BLOCKS, SPAN / 4)];
    mirrors.iter().any(|(start, bytes)| (*start..start + bytes).contains(&address))
}

/// Whether it lies in our own tables.
pub fn is_table(address: usize) -> bool {
    (PRESENCE..ARENA + ARENA_BYTES).contains(&address)
}

#[inline(always)]
pub fn cell(address: usize) -> &'static AtomicU64 {
    unsafe { &*((CELLS + ((address & MASK) << 1)) as *const AtomicU64) }
}

/// The context of the last write (side 0) or of the last read (1).
#[inline(always)]
pub fn context(address: usize, side: usize) -> &'static AtomicU32 {
    unsafe { &*((CONTEXTS + side * CONTEXTS_APART + (address & MASK)) as *const AtomicU32) }
}

/// Asks for the cells around this address, to be written soon. Never faults.
#[inline(always)]
pub fn fetch_cells(address: usize) {
    fetch(CELLS + ((address & MASK) << 1));
}

#[inline(always)]
pub fn fetch_context(address: usize, side: usize) {
    fetch(CONTEXTS + side * CONTEXTS_APART + (address & MASK));
}

#[inline(always)]
fn fetch(place: usize) {
    unsafe { std::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags)) };
}

/// The number of the synchronisation object at this address, or 0.
#[inline(always)]
pub fn object(address: usize) -> &'static AtomicU32 {
    unsafe { &*((OBJECTS + (address & MASK)) as *const AtomicU32) }
}

/// The number of the record of the heap block that begins in these 16 bytes, or 0.
#[inline(always)]
pub fn block(address: usize) -> &'static AtomicU32 {
    unsafe { &*((BLOCKS + (address & MASK) / 16 * 4) as *const AtomicU32) }
}

/// Where the thread in this slot says what it is changing.
#[inline(always)]
pub fn flight(slot: usize) -> &'static AtomicU64 {
    unsafe { &*((FLIGHTS + slot * 64) as *const AtomicU64) }
}

pub const HAS_OBJECTS: u8 = 1;
pub const HAS_RECORDS: u8 = 2;
pub const HAS_BLOCKS: u8 = 4;

/// Whether the page of this address ever had a synchronisation object, or cells that name records, or a block that begins there.
pub fn presence(address: usize) -> &'static AtomicU8 {
    unsafe { &*((PRESENCE + (address & MASK) / PAGE) as *const AtomicU8) }
}

/// Whether the page of cells that this address belongs to may have one that is not clean.
#[inline(always)]
pub fn is_touched(address: usize) -> bool {
    touched_page(address).load(Relaxed) != 0
}

/// The cell of this address is not clean any more.
#[inline(always)]
pub fn touch(address: usize) {
    if !is_touched(address) {
        touched_page(address).store(1, Relaxed);
        touched(address).store(1, Relaxed);
        area(address).store(true, Relaxed);
    }
}

/// All cells of the page that this address belongs to are clean.
pub fn untouch(address: usize) {
    touched_page(address).store(0, Relaxed);
}

pub fn touched_page(address: usize) -> &'static AtomicU8 {
    unsafe { &*((TOUCHED_PAGES + (address & MASK) / CELL_PAGE) as *const AtomicU8) }
}

fn area(address: usize) -> &'static AtomicBool {
    &AREAS[(address & MASK) / AREA]
}

fn touched(address: usize) -> &'static AtomicU8 {
    unsafe { &*((TOUCHED + (address & MASK) / REGION) as *const AtomicU8) }
}

/// Calls `visit` with the start of every page of cells that may have some that are not clean.
pub fn each_touched(mut visit: impl FnMut(usize)) {
    for from in (0..SPAN).step_by(AREA).filter(|from| area(*from).load(Relaxed)) {
        let regions = (from..from + AREA).step_by(REGION);
        for start in regions.filter(|start| touched(*start).load(Relaxed) != 0) {
            (start..start + REGION).step_by(CELL_PAGE).filter(|page| is_touched(*page)).for_each(&mut visit);
        }
    }
}

/// Gives whole pages of cells and contexts back to the system; the granules are clean afterwards. Page-aligned for the shadow.
pub fn drop_shadow(start: usize, end: usize) {
    let (first, last) = (start.next_multiple_of(PAGE), end & !(PAGE - 1));
    let contexts =
        |side: usize| (CONTEXTS + side * CONTEXTS_APART + (first & MASK), last.saturating_sub(first));
    for (from, bytes) in [(CELLS + ((start & MASK) << 1), (end - start) * 2), contexts(0), contexts(1)] {
        unsafe { libc::madvise(from as *mut libc::c_void, bytes, libc::MADV_DONTNEED) };
    }
}

#[cfg(test)]
mod tests {
    use super::{AREA, CELL_PAGE, PAGE, SPAN, TOUCHED, each_touched, map, touch, touched, untouch};
    use std::fs::File;
    use std::os::fd::AsRawFd;

    /// Puts the file in the place of the first page of marks.
    fn put(file: &File) {
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let got =
            unsafe { libc::mmap(TOUCHED as *mut libc::c_void, PAGE, protection, flags, file.as_raw_fd(), 0) };
        assert_eq!(got as usize, TOUCHED);
    }

    /// As after a swap: the page of marks is not in memory. A file that was written out and not looked at since is the same to the process.
    #[test]
    fn all_touched_pages_are_visited_wherever_their_marks_are() {
        map().unwrap();
        let path = std::env::temp_dir().join(format!("raddle-marks-{}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.set_len(PAGE as u64).unwrap();
        put(&file);
        let pages = [0, 5 * CELL_PAGE, AREA - CELL_PAGE, 7 * AREA + CELL_PAGE, SPAN - CELL_PAGE];
        pages.iter().for_each(|page| touch(page + 8));
        assert_eq!(touched(0) as *const _ as usize, TOUCHED);
        file.sync_all().unwrap();
        put(&file);
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        let visited = || {
            let mut visited = Vec::new();
            each_touched(|page| visited.push(page));
            visited
        };
        assert_eq!(visited(), pages);
        untouch(pages[1]);
        assert_eq!(visited(), [pages[0], pages[2], pages[3], pages[4]]);
    }
}
