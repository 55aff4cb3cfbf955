//! Threads of the system under control: each waits for its own word to be set, so that a debugger sees real threads.
//!
//! Whoever stops asks the schedule who is next and wakes that thread. A watch of our own looks after the thread that runs: one that has
//! used a good deal of processor time without coming to a stop, or that has been asleep for some time, waits for another
//! thread in a way that we do not see (a loop on a plain variable, a pipe). It is let be, and the others go on beside it.

use super::pairs::{Nth, Pair, Touch};
use super::schedule::{Arrival, Enforcer, Next};
use super::{Carrier, grant, with};
use crate::observe::{self, Mode};
use crate::report::{self, Account};
use crate::spin::Spin;
use crate::thread::{self, Thread};
use libc::c_void;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicI32, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::Duration;

pub struct Batons;

const MOST: usize = 4096;
const WAIT: i32 = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
const WAKE: i32 = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;

/// How the watch looks after the thread that runs.
struct Watch {
    tick: Duration,
    /// Processor time after which a thread counts as spinning.
    spinning: Duration,
    /// Looks in a row at which a thread was asleep before it counts as blocked.
    asleep: u32,
}

const WATCH: Watch =
    Watch { tick: Duration::from_millis(10), spinning: Duration::from_millis(300), asleep: 15 };
/// Orders of recorded events are of programs that wait for the system by themselves. A thread let be too early does no harm: all but its
/// next stop waits for its turn.
const WATCH_RECORDED: Watch =
    Watch { tick: Duration::from_millis(1), spinning: Duration::from_millis(100), asleep: 5 };

static WORDS: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST];
/// The system's numbers of the threads.
static TASKS: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];
static TURNS: Spin<Turns> =
    Spin::new(Turns { running: None, beside: BTreeSet::new(), turn: 0, enforcer: None });

/// Places of the accesses that matter, in ascending order, where no others do.
static ONLY: OnceLock<Vec<u32>> = OnceLock::new();
/// Places of the accesses at which threads stop, likewise.
static STOPS: OnceLock<Vec<u32>> = OnceLock::new();

struct Turns {
    running: Option<u32>,
    /// Threads that run although it is not their turn.
    beside: BTreeSet<u32>,
    turn: u64,
    enforcer: Option<Enforcer>,
}

pub fn start() {
    let enforcer = Enforcer::read();
    with(|model| model.spurious = enforcer.spurious());
    if let Some([mut only, mut stops]) = enforcer.only_sites() {
        only.sort_unstable();
        stops.sort_unstable();
        let _ = ONLY.set(only);
        let _ = STOPS.set(stops);
    }
    TURNS.lock().enforcer = Some(enforcer);
}

/// In the child of a fork.
pub fn leave() {
    TURNS.reset();
    TURNS.lock().enforcer = None;
}

/// Whether every access matters, also those that tell the detector nothing new.
pub fn sees_all() -> bool {
    ONLY.get().is_none()
}

/// Whether the schedule stops at plain accesses of this place.
pub fn is_visible(site: u32) -> bool {
    match STOPS.get() {
        Some(sites) => sites.binary_search(&site).is_ok(),
        None => TURNS.lock().enforcer.as_ref().is_some_and(|enforcer| enforcer.is_visible(site)),
    }
}

/// A thread comes to an access.
pub fn arrives(thread: u32, site: u32) -> Arrival {
    if !sees_all() {
        return Arrival::Passes;
    }
    match &mut TURNS.lock().enforcer {
        Some(enforcer) => enforcer.arrives(thread, site),
        None => Arrival::Passes,
    }
}

/// Both threads were seen by the debugger.
pub fn release() {
    if let Some(enforcer) = &mut TURNS.lock().enforcer {
        enforcer.release();
    }
}

/// Where a debugger has a breakpoint: both threads stand before their accesses, or none can go on.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn __raddle_stopped() {
    std::hint::black_box(());
}

/// An access of the program. `account`: what a report says of it.
pub fn touched(thread: &mut Thread, touch: Touch, account: impl FnOnce(&mut Thread) -> Account) {
    if ONLY.get().is_some_and(|sites| sites.binary_search(&touch.site).is_err()) {
        return;
    }
    let pair = match &mut TURNS.lock().enforcer {
        Some(enforcer) => enforcer.touched(thread, touch, account),
        None => None,
    };
    if let Some(Pair { ends, address, bytes, accounts }) = pair {
        thread.busy += 1;
        if let Some(accounts) = accounts {
            report::pair(address, bytes, &accounts);
        }
        reproduced(&ends);
        thread.busy -= 1;
    }
}

fn reproduced(ends: &[Nth]) {
    if let Some(enforcer) = &mut TURNS.lock().enforcer {
        enforcer.reproduced(ends);
    }
}

pub fn forget_range(start: usize, end: usize) {
    if let Some(enforcer) = &mut TURNS.lock().enforcer {
        enforcer.forget_range(start, end);
    }
}

/// The detector has seen a race of these places.
pub fn reported(a: u32, b: u32) {
    if let Some(enforcer) = &mut TURNS.lock().enforcer
        && enforcer.is_wanted(a, b)
    {
        enforcer.reproduced(&[]);
    }
}

impl Carrier for Batons {
    fn begin(&self, me: u32) {
        if me as usize >= MOST {
            crate::start::give_up("more than 4096 threads under control");
        }
        TASKS[me as usize].store(unsafe { libc::syscall(libc::SYS_gettid) } as i32, Relaxed);
        // A thread stands before its beginning from its creation on; nobody waits for it to come there.
        if me == 0 {
            TURNS.lock().dispatch();
        }
        wait(me);
    }

    fn give_up(&self, me: u32) {
        // What a signal handler does meanwhile is nobody's step.
        set_busy(1);
        TURNS.lock().stopped(me);
        wait(me);
        set_busy(-1);
    }

    fn finish(&self, me: u32) {
        TURNS.lock().stopped(me);
    }
}

fn set_busy(change: i32) {
    if let Some(thread) = thread::current() {
        thread.busy = thread.busy.wrapping_add_signed(change);
    }
}

fn wait(me: u32) {
    let word = &WORDS[me as usize];
    while word.swap(0, Acquire) == 0 {
        unsafe {
            let forever = std::ptr::null::<libc::timespec>();
            libc::syscall(libc::SYS_futex, word.as_ptr(), WAIT, 0, forever);
        }
    }
}

impl Turns {
    fn stopped(&mut self, me: u32) {
        if self.running == Some(me) {
            self.running = None;
        }
        self.beside.remove(&me);
        if let Some(enforcer) = &mut self.enforcer {
            enforcer.stopped(me);
        }
        self.dispatch();
    }

    /// Lets the next thread go, if none runs.
    fn dispatch(&mut self) {
        let Some(enforcer) = &mut self.enforcer else { return };
        if self.running.is_some() {
            return;
        }
        match with(|model| enforcer.next(model, &self.beside)) {
            Next::Go { thread, variant, value } => {
                for note in grant(thread, variant, value) {
                    enforcer.note(&note);
                }
                self.running = Some(thread);
                self.turn += 1;
                wake(thread);
            }
            Next::Wait => {}
            Next::Stuck => __raddle_stopped(),
        }
    }
}

fn wake(thread: u32) {
    let word = &WORDS[thread as usize];
    word.store(1, Release);
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), WAKE, 1) };
}

/// Starts the watch, once the program has a second thread: by `start`, as a thread that the program does not know.
pub fn watch(start: fn(extern "C-unwind" fn(*mut c_void) -> *mut c_void)) {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    if observe::mode() == Mode::Replay && STARTED.swap(1, Relaxed) == 0 {
        start(looking);
    }
}

extern "C-unwind" fn looking(_: *mut c_void) -> *mut c_void {
    debug_assert!(thread::current().is_none());
    unsafe { libc::prctl(libc::PR_SET_NAME, c"raddle-watch".as_ptr()) };
    let watch = if sees_all() { WATCH } else { WATCH_RECORDED };
    let mut seen = Seen::of(u64::MAX, None);
    // Counted in looks, which a debugger stops with the rest.
    let mut progress = (0, 0_u32);
    loop {
        let pause = libc::timespec { tv_sec: 0, tv_nsec: watch.tick.as_nanos() as i64 };
        unsafe { libc::syscall(libc::SYS_nanosleep, &pause, std::ptr::null_mut::<libc::timespec>()) };
        let mut turns = TURNS.lock();
        if let Some(enforcer) = &mut turns.enforcer {
            progress.1 += 1;
            if enforcer.progress() != progress.0 {
                progress = (enforcer.progress(), 0);
            } else if watch.tick * progress.1 > enforcer.patience() && !enforcer.is_debugged() {
                with(|model| enforcer.no_progress(model));
            }
        }
        if turns.running.is_none() && turns.enforcer.as_mut().is_some_and(Enforcer::is_late) {
            turns.dispatch();
        }
        if seen.turn != turns.turn || seen.running != turns.running {
            seen = Seen::of(turns.turn, turns.running);
            continue;
        }
        if let Some(running) = turns.running
            && seen.is_stuck(running, &watch)
        {
            turns.running = None;
            turns.beside.insert(running);
            turns.dispatch();
        }
    }
}

/// What the watch has seen of the present turn.
struct Seen {
    turn: u64,
    running: Option<u32>,
    used: Option<Duration>,
    asleep: u32,
}

impl Seen {
    fn of(turn: u64, running: Option<u32>) -> Self {
        Self { turn, running, used: running.and_then(processor_time), asleep: 0 }
    }

    fn is_stuck(&mut self, thread: u32, watch: &Watch) -> bool {
        self.asleep = if is_asleep(thread) { self.asleep + 1 } else { 0 };
        let spinning = match (self.used, processor_time(thread)) {
            (Some(before), Some(now)) => now.saturating_sub(before) >= watch.spinning,
            _ => false,
        };
        spinning || self.asleep >= watch.asleep
    }
}

fn task(thread: u32) -> Option<i32> {
    TASKS.get(thread as usize).map(|task| task.load(Relaxed)).filter(|task| *task != 0)
}

fn processor_time(thread: u32) -> Option<Duration> {
    const THREAD_CLOCK: i32 = 6;
    let clock = (!task(thread)? << 3) | THREAD_CLOCK;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, &mut time) };
    (result == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

fn is_asleep(thread: u32) -> bool {
    let Some(task) = task(thread) else { return false };
    let Ok(text) = std::fs::read_to_string(format!("/proc/self/task/{task}/stat")) else { return false };
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S') || rest.starts_with('D'))
}
