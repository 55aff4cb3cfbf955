//! Rings of io_uring, as far as they are driven by `syscall`: a submission comes before whoever takes a completion of the same ring.
//!
//! Completions are taken from memory that is shared with the kernel, often without a system call. The kernel stores the end of their queue
//! by a release; we know where, and let each submission be told there as if the store followed at once. So whoever reads the end of the
//! queue by an acquire comes after every earlier submission. Rings that the kernel polls have submissions that nobody sees.

use super::descriptors::{are_followed, keeping_errno, me};
use super::readiness::{counter, made, release};
use crate::atomics;
use crate::channels;
use crate::ends::{self, Kind};
use crate::gate;
use crate::spin::Spin;
use libc::{c_int, off_t, ssize_t};

/// Of `struct io_uring_params`, in words of four bytes: the features, and where in the ring the end of the completions is.
const FEATURES: usize = 5;
const TAIL: usize = 21;
/// `IORING_FEAT_SINGLE_MMAP`: one map has both queues.
const SINGLE_MAP: u32 = 1;
/// `IORING_OFF_SQ_RING` and `IORING_OFF_CQ_RING`.
const SUBMISSIONS: off_t = 0;
const COMPLETIONS: off_t = 0x800_0000;
/// The end of a queue is a word.
const WORD: usize = 4;

struct Ring {
    /// Our number of the descriptor's inode.
    number: u64,
    features: u32,
    tail: usize,
    /// The ends of the completions, in every map.
    ends: Vec<usize>,
}

static RINGS: Spin<Vec<Ring>> = Spin::new(Vec::new());

/// System calls by number. Those of io_uring have no function of their own; the others are made as they are.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> ssize_t {
    match number {
        libc::SYS_io_uring_setup => {
            let ring = call(number, [a, b, c, d, e, f]);
            made(ring as c_int, Kind::Collected);
            if ring >= 0 && are_followed() {
                let word = |at: usize| (b as *const u32).add(at).read();
                let (number, features) = (ends::number(ring as c_int), word(FEATURES));
                let ring = Ring { number, features, tail: word(TAIL) as usize, ends: Vec::new() };
                rings(|rings| rings.push(ring));
            }
            ring
        }
        libc::SYS_io_uring_enter if are_followed() => {
            release(a as c_int);
            keeping_errno(|| publish(a as c_int));
            let result = call(number, [a, b, c, d, e, f]);
            keeping_errno(|| channels::acquire(me(), counter(a as c_int)));
            result
        }
        _ => call(number, [a, b, c, d, e, f]),
    }
}

/// A file was mapped here.
pub fn mapped(descriptor: c_int, start: usize, bytes: usize, offset: off_t) {
    if descriptor < 0 || !are_followed() || !matches!(offset, SUBMISSIONS | COMPLETIONS) {
        return;
    }
    keeping_errno(|| {
        if rings(|rings| rings.is_empty()) {
            return;
        }
        let number = ends::number(descriptor);
        rings(|rings| {
            let Some(ring) = rings.iter_mut().find(|ring| ring.number == number) else { return };
            let has_completions = offset == COMPLETIONS || ring.features & SINGLE_MAP != 0;
            if has_completions && ring.tail + WORD <= bytes {
                ring.ends.push(start + ring.tail);
            }
        });
    });
}

/// After a fork, on both sides.
pub fn reset() {
    RINGS.reset();
}

fn publish(descriptor: c_int) {
    let number = ends::number(descriptor);
    let ends = rings(|rings| {
        let ring = rings.iter().find(|ring| ring.number == number);
        ring.map_or_else(Vec::new, |ring| ring.ends.clone())
    });
    if let Some(thread) = me() {
        ends.into_iter().for_each(|end| atomics::published(thread, (end, WORD)));
    }
}

fn rings<T>(work: impl FnOnce(&mut Vec<Ring>) -> T) -> T {
    gate::undisturbed(|| work(&mut RINGS.lock()))
}

/// With the result as the C library tells it.
#[inline(always)]
unsafe fn call(number: i64, arguments: [usize; 6]) -> ssize_t {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    std::arch::asm!(
        "syscall",
        inlateout("rax") number as isize => result,
        in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
        lateout("rcx") _, lateout("r11") _,
        options(nostack),
    );
    if (-4095..0).contains(&result) {
        *libc::__errno_location() = -result as c_int;
        return -1;
    }
    result
}
