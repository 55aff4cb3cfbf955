//! The memory that the tool and an explored program share: one request, one answer, and whose turn it is.
//!
//! Both sides are of one build, so the layout has no versions; the program is checked by [`MAGIC`] alone. The tool never trusts lengths
//! in it: a program that runs wild can write there.

use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

pub const MAGIC: u32 = 0x7261_6464;

pub const TOOL: u32 = 0;
pub const PROGRAM: u32 = 1;
/// Nobody will answer any more.
pub const OVER: u32 = 2;

pub const MOST_CHOICES: usize = 1 << 20;
pub const MOST_EVENTS: usize = 1 << 20;
pub const MOST_ENABLED: usize = 1 << 14;
pub const MOST_THREADS: usize = 64;
pub const MOST_SITES: usize = 1 << 24;
pub const MOST_FRAMES: usize = 1 << 22;
pub const MOST_PROBLEMS: usize = 64;
pub const MOST_TEXT: usize = 1024;

#[repr(C)]
pub struct Channel {
    pub magic: AtomicU32,
    pub turn: AtomicU32,
    /// Whether each side sleeps until it is its turn.
    pub asleep: [AtomicU32; 2],
    pub request: Request,
    pub answer: Answer,
    pub choices: [Choice; MOST_CHOICES],
    pub pending: [Pending; MOST_THREADS],
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
    pub visibility: u32,
    /// Whether call sites are wanted.
    pub stacks: u32,
    /// Whether the version of memory is wanted at each stop from now on.
    pub versions: u32,
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

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Answer {
    pub status: u32,
    pub code: i32,
    pub site: u32,
    /// How many of the choices were made.
    pub made: u32,
    pub threads: u32,
    pub enabled: u32,
    pub events: u32,
    pub problems: u32,
    pub frames: u32,
    pub text: u32,
    /// A hash of all that was published since the start: before the last of the choices, and now.
    pub digest_before: u64,
    pub digest: u64,
    /// A hash of all memory but what is local to threads; 0 if it was not asked for.
    pub version: u64,
    pub words: [u8; MOST_TEXT],
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

/// The operation before which a thread stands. `kind` 0: it has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Pending {
    pub kind: u32,
    pub site: u32,
    /// Second, how and mode: what they mean depends on the kind.
    pub how: u32,
    pub extra: u32,
    pub address: u64,
    pub second: u64,
    /// A hash of the thread's registers and stack.
    pub local: u64,
    /// A site of its start function, once that runs.
    pub function: u32,
    pub unused: u32,
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

impl Channel {
    /// Lets the other side go on.
    pub fn hand_over(&self, to: u32) {
        self.turn.store(to, Release);
        if to < 2 && self.asleep[to as usize].swap(0, AcqRel) != 0 {
            unsafe { libc::syscall(libc::SYS_futex, &self.turn, libc::FUTEX_WAKE, 1) };
        }
    }

    /// Waits for its turn, at most about this long; whether it came.
    pub fn wait(&self, me: u32, spins: u32, milliseconds: i64) -> bool {
        for _ in 0..spins {
            if self.turn.load(Acquire) == me {
                return true;
            }
            std::hint::spin_loop();
        }
        self.asleep[me as usize].store(1, Release);
        let limit = libc::timespec { tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000 };
        let seen = self.turn.load(Acquire);
        if seen != me {
            unsafe { libc::syscall(libc::SYS_futex, &self.turn, libc::FUTEX_WAIT, seen, &limit) };
        }
        self.asleep[me as usize].store(0, Relaxed);
        self.turn.load(Acquire) == me
    }
}
