//! The memory that the tool and an explored program share: one request, and the answers to it.
//!
//! A request is a list of choices; there is an answer to each of them from `heard_from` on, and then to choices that the program guesses
//! will be asked for next. It goes on guessing until there is another request. Both sides are of one build, so the layout has no versions; the program is checked by [`MAGIC`] alone. The tool never trusts lengths
//! in it: a program that runs wild can write there.

use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, SeqCst},
};

pub const MAGIC: u32 = 0x7261_6464;

pub const MOST_CHOICES: usize = 1 << 20;
pub const MOST_EVENTS: usize = 1 << 20;
pub const MOST_ENABLED: usize = 1 << 18;
pub const MOST_ANSWERS: usize = 1 << 10;
pub const MOST_STANDS: usize = 1 << 12;
pub const MOST_THREADS: usize = 64;
pub const MOST_SITES: usize = 1 << 24;
pub const MOST_FRAMES: usize = 1 << 22;
pub const MOST_PROBLEMS: usize = 1 << 10;
pub const MOST_TEXT: usize = 1024;

#[repr(C)]
pub struct Channel {
    pub magic: AtomicU32,
    /// Nobody will answer any more.
    pub over: AtomicU32,
    /// The number of the request; the program waits for it to change.
    pub asked: Bell,
    /// The number of the request that is being answered, shifted by [`ANSWER_BITS`], and how many answers there are.
    pub said: Bell,
    pub request: Request,
    pub words: [u8; MOST_TEXT],
    pub choices: [Choice; MOST_CHOICES],
    pub answers: [Answer; MOST_ANSWERS],
    pub pending: [Pending; MOST_STANDS],
    pub enabled: [Choice; MOST_ENABLED],
    pub problems: [Problem; MOST_PROBLEMS],
    pub events: [Event; MOST_EVENTS],
    /// Call sites of events and problems, innermost first, if asked for.
    pub frames: [u32; MOST_FRAMES],
    /// One byte per site: whether plain accesses there are visible operations.
    pub visible: [u8; MOST_SITES],
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Request {
    /// Start anew first.
    pub anew: u32,
    pub choices: u32,
    /// The first of them that is answered; as many as there are: only where the program stands.
    pub heard_from: u32,
    pub visibility: u32,
    /// Whether call sites are wanted.
    pub stacks: u32,
    /// How many answers may be guessed ahead.
    pub ahead: u32,
    /// The first choice after which memory is hashed.
    pub versions_from: u32,
}

/// No plain access, those at `visible` sites, all.
pub const NONE: u32 = 0;
pub const SOME: u32 = 1;
pub const ALL: u32 = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Choice {
    pub thread: u32,
    pub variant: u32,
}

/// In the place of a choice: there is no guess, the program stands where it stood.
pub const NO_GUESS: Choice = Choice { thread: u32::MAX, variant: 0 };

/// What a choice came to.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Answer {
    pub choice: Choice,
    pub status: u32,
    pub code: i32,
    pub site: u32,
    pub threads: u32,
    /// Threads that stand elsewhere now.
    pub moved: Span,
    pub enabled: Span,
    pub events: Span,
    pub problems: Span,
    pub text: u32,
    pub unused: u32,
    /// A hash of all that was published since the start: before the choice, and now.
    pub digest_before: u64,
    pub digest: u64,
    /// A hash of all memory but what is local to threads, where it was asked for; else 0.
    pub version: u64,
}

/// A part of one of the lists.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Span {
    pub start: u32,
    pub count: u32,
}

/// How an execution stands.
pub const RUNNING: u32 = 0;
pub const EXITED: u32 = 1;
pub const CRASHED: u32 = 2;
pub const UNSUPPORTED: u32 = 3;
pub const LIMIT: u32 = 4;
/// The next of the choices asked for is not open.
pub const REFUSED: u32 = 5;
/// The run does not count.
pub const INFEASIBLE: u32 = 6;

/// The operation before which a thread stands. `kind` 0: it has ended. Without gaps: it is hashed as it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Pending {
    pub thread: u32,
    pub kind: u32,
    pub site: u32,
    /// Second, how and mode: what they mean depends on the kind.
    pub how: u32,
    pub extra: u32,
    /// One more than a site of its start function, once that runs.
    pub function: u32,
    pub address: u64,
    pub second: u64,
    /// A hash of the thread's registers and stack.
    pub local: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Event {
    pub kind: u32,
    pub thread: u32,
    pub site: u32,
    pub extra: u32,
    pub address: u64,
    pub length: u64,
    /// Call sites, in `frames`.
    pub stack: u32,
    pub depth: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Problem {
    pub thread: u32,
    pub site: u32,
    pub stack: u32,
    pub depth: u32,
    pub address: u64,
    /// As in `raddle_event::ProblemKind`, zeros behind it.
    pub name: [u8; 24],
}

/// A number that one side changes and the other waits for.
#[repr(C)]
pub struct Bell {
    value: AtomicU32,
    asleep: AtomicU32,
}

/// Bits of `said` that count answers.
pub const ANSWER_BITS: u32 = 12;

impl Bell {
    pub fn value(&self) -> u32 {
        self.value.load(Acquire)
    }

    pub fn ring(&self, value: u32) {
        // Both sides write one word and read the other: neither may be passed over.
        self.value.store(value, SeqCst);
        if self.asleep.load(SeqCst) != 0 && self.asleep.swap(0, AcqRel) != 0 {
            unsafe { futex(&self.value, libc::FUTEX_WAKE, 1, std::ptr::null()) };
        }
    }

    /// Waits for a value that is the right one, at most about this long.
    pub fn wait(&self, spins: u32, milliseconds: i64, right: impl Fn(u32) -> bool) -> bool {
        for _ in 0..spins {
            if right(self.value()) {
                return true;
            }
            std::hint::spin_loop();
        }
        self.asleep.store(1, SeqCst);
        let limit = libc::timespec { tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000 };
        let seen = self.value.load(SeqCst);
        if !right(seen) {
            unsafe { futex(&self.value, libc::FUTEX_WAIT, seen, &limit) };
        }
        self.asleep.store(0, Relaxed);
        right(self.value())
    }
}

/// Not by the C library, which would leave in `errno` how a wait has ended: the scheduler's is that of the program's main thread.
unsafe fn futex(word: &AtomicU32, operation: i32, value: u32, limit: *const libc::timespec) {
    std::arch::asm!(
        "syscall",
        inlateout("rax") libc::SYS_futex => _,
        in("rdi") word.as_ptr(),
        in("rsi") operation as i64,
        in("rdx") u64::from(value),
        in("r10") limit,
        lateout("rcx") _,
        lateout("r11") _,
        options(nostack),
    );
}

#[cfg(test)]
mod tests {
    use super::{AtomicU32, Bell};

    #[test]
    fn waiting_leaves_no_trace_in_the_program() {
        let bell = Bell { value: AtomicU32::new(1), asleep: AtomicU32::new(0) };
        let errno = || unsafe { &mut *libc::__errno_location() };
        *errno() = 0;
        assert!(!bell.wait(0, 1, |value| value == 2));
        assert_eq!(*errno(), 0, "a wait that came to its limit");
        bell.ring(2);
        assert!(bell.wait(0, 1, |value| value == 2));
        assert_eq!(*errno(), 0);
    }
}
