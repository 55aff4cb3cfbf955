//! The scheduler of an explored program: takes requests from the channel, brings memory back, lets one fiber after the other make its
//! step, and says what came of it.
//!
//! It runs on a stack of its own in the program's only system thread. What it needs beyond one execution lies in own memory (see
//! [`super::memory`]); everything else that it touches, the model of synchronisation included, goes back with the program's.

use super::channel::{self, Channel, Choice, MOST_ENABLED, MOST_FRAMES, MOST_TEXT, MOST_THREADS, Pending};
use super::fiber::{self, Context};
use super::hashing;
use super::heap::Heap;
use super::memory::{self, Memory, PAGE};
use crate::control::{self, Carrier, Ending, Kind, Operation};
use crate::layout;

const STACKS: usize = 0x6d00_0000_0000;
const STACK: usize = 1 << 23;
const OWN_STACK: usize = 1 << 18;
const SPINS: u32 = 4000;
const MAPS: usize = 1 << 20;
pub(super) const MOST_SHARED: usize = 4096;

pub struct Session {
    pub(super) channel: &'static mut Channel,
    pub(super) memory: &'static mut Memory,
    pub(super) heap: &'static mut Heap,
    scheduler: Context,
    fibers: [Context; MOST_THREADS],
    /// Thread-local storage, one block for each fiber.
    pointers: [usize; MOST_THREADS],
    /// Numbers of the threads' records.
    records: [u32; MOST_THREADS],
    /// What threads have returned.
    pub(super) results: [usize; MOST_THREADS],
    pub(super) running: Option<u32>,
    pub(super) status: u32,
    pub(super) code: i32,
    pub(super) site: u32,
    pub(super) text: usize,
    threads: u32,
    pub(super) events: usize,
    /// Accesses in the present step.
    pub(super) accesses: u32,
    pub(super) frames: usize,
    pub(super) problems: usize,
    pub(super) stacks: bool,
    pub(super) visibility: u32,
    digest: u64,
    /// Bytes of stacks that other threads may look at: written by accesses that were checked.
    pub(super) shared: [(usize, usize); MOST_SHARED],
    pub(super) shared_count: usize,
    main: Main,
    spins: u32,
}

/// What the first thread is to do.
#[derive(Clone, Copy)]
pub(crate) struct Main {
    pub function: extern "C-unwind" fn(i32, *mut *mut i8, *mut *mut i8) -> i32,
    pub count: i32,
    pub arguments: *mut *mut i8,
    pub environment: *mut *mut i8,
}

static mut SESSION: *mut Session = std::ptr::null_mut();

/// Of the process, once it has begun.
pub fn get() -> Option<&'static mut Session> {
    unsafe { SESSION.as_mut() }
}

/// Serves the channel for ever. What the process is now is where every execution starts.
pub(super) unsafe fn serve(
    channel: &'static mut Channel,
    memory: &'static mut Memory,
    heap: *mut Heap,
    main: Main,
) -> Result<std::convert::Infallible, &'static str> {
    fiber::start();
    let session = memory.take(size_of::<Session>()).cast::<Session>();
    let own = memory.take(OWN_STACK) as usize + OWN_STACK;
    let nothing = Context { stack: 0, thread_pointer: 0 };
    let mut pointers = [0; MOST_THREADS];
    pointers[0] = fiber::thread_pointer();
    for pointer in &mut pointers[1..] {
        *pointer = fiber::new_thread_pointer().ok_or("the C library gives no thread-local storage")?;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    if memory::raw_map(STACKS, MOST_THREADS * STACK, flags) != STACKS {
        return Err("there is no room for stacks");
    }
    let guard =
        |thread: usize| libc::syscall(libc::SYS_mprotect, STACKS + thread * STACK, PAGE, libc::PROT_NONE);
    if (0..MOST_THREADS).any(|thread| guard(thread) != 0) {
        return Err("stacks cannot be guarded");
    }
    (*session) = Session {
        channel,
        memory,
        heap: &mut *heap,
        scheduler: Context { stack: 0, thread_pointer: pointers[0] },
        fibers: [nothing; MOST_THREADS],
        pointers,
        records: [0; MOST_THREADS],
        results: [0; MOST_THREADS],
        running: None,
        status: channel::RUNNING,
        code: 0,
        site: 0,
        text: 0,
        threads: 1,
        events: 0,
        accesses: 0,
        frames: 0,
        problems: 0,
        stacks: false,
        visibility: channel::NONE,
        digest: 0,
        shared: [(0, 0); MOST_SHARED],
        shared_count: 0,
        main,
        spins: if libc::sysconf(libc::_SC_NPROCESSORS_ONLN) > 1 { SPINS } else { 0 },
    };
    SESSION = session;
    let first = Context::new(own, pointers[0], scheduler, 0);
    let mut here = nothing;
    fiber::switch(&mut here, &first);
    unreachable!("nobody comes back to the first stack")
}

extern "C" fn scheduler(_: usize) -> ! {
    let session = get().expect("it is there");
    unsafe {
        session.scheduler.thread_pointer = fiber::thread_pointer();
        match session.watch_everything() {
            true => session.channel.magic.store(channel::MAGIC, std::sync::atomic::Ordering::Release),
            false => session.leave("memory cannot be watched"),
        }
        loop {
            while !session.channel.wait(channel::PROGRAM, session.spins, 1000) {}
            session.answer_request();
            session.channel.hand_over(channel::TOOL);
        }
    }
}

impl Session {
    /// From now on, writes are noticed.
    unsafe fn watch_everything(&mut self) -> bool {
        let mut writable = [(0, 0); 500];
        let mut count = 0;
        let buffer = std::slice::from_raw_parts_mut(self.memory.take(MAPS), MAPS);
        let complete = memory::each_writable(buffer, |start, end| {
            if !layout::is_shadow(start) && !memory::is_own(start) && !Heap::contains(start) && count < 500 {
                writable[count] = (start, end);
                count += 1;
            }
        });
        let watched = writable[..count].iter().all(|(start, end)| self.memory.watch(*start, *end));
        complete && count < 500 && watched && self.heap.keep(self.memory)
    }

    unsafe fn answer_request(&mut self) {
        let request = self.channel.request;
        self.stacks = request.stacks != 0;
        self.visibility = request.visibility;
        if request.anew != 0 {
            self.start_anew();
        }
        let mut before = self.digest;
        let mut made = 0;
        while made < request.choices.min(channel::MOST_CHOICES as u32) && self.status == channel::RUNNING {
            before = self.digest;
            let choice = self.channel.choices[made as usize];
            if !control::with(|model| model.is_enabled(choice.thread, choice.variant)) {
                self.status = channel::REFUSED;
                break;
            }
            self.step(choice);
            made += 1;
        }
        let version = if request.versions != 0 { hashing::version(self) } else { 0 };
        let answer = &mut self.channel.answer;
        answer.status = self.status;
        answer.code = self.code;
        answer.site = self.site;
        answer.made = made;
        answer.threads = self.threads;
        answer.events = self.events as u32;
        answer.frames = self.frames as u32;
        answer.problems = self.problems as u32;
        answer.text = self.text as u32;
        answer.digest_before = before;
        answer.digest = self.digest;
        answer.version = version;
    }

    unsafe fn start_anew(&mut self) {
        self.memory.reset();
        self.heap.reset();
        self.status = channel::RUNNING;
        self.running = None;
        self.digest = 0;
        self.threads = 1;
        (self.code, self.site, self.text) = (0, 0, 0);
        (self.events, self.frames, self.problems, self.shared_count) = (0, 0, 0, 0);
        self.fibers[0] = Context::new(top_of(0), self.pointers[0], run_main, 0);
        self.publish(0);
    }

    unsafe fn step(&mut self, choice: Choice) {
        (self.events, self.frames, self.problems, self.accesses) = (0, 0, 0, 0);
        let operation = control::with(|model| model.pending(choice.thread).copied());
        let Some(operation) = operation else { return };
        self.running = Some(choice.thread);
        for note in control::grant(choice.thread, choice.variant, None) {
            self.note(&note);
        }
        match operation.kind {
            Kind::End => {}
            Kind::Exit => self.ended(choice.thread, &operation),
            _ => {
                let fiber = &raw const self.fibers[choice.thread as usize];
                fiber::switch(&raw mut self.scheduler, fiber);
            }
        }
        self.running = None;
        self.take_notes();
        self.publish(choice.thread);
    }

    /// Writes down where the thread stands that has moved, and threads that are new, and what is open.
    unsafe fn publish(&mut self, moved: u32) {
        let before = self.threads;
        self.threads = control::with(|model| model.lives.len() as u32);
        self.publish_thread(moved);
        for thread in before..self.threads {
            self.publish_thread(thread);
        }
        let mut count = 0;
        if self.status == channel::RUNNING {
            let enabled = &mut self.channel.enabled;
            control::with(|model| {
                model.enabled(|thread, variant| {
                    if count < MOST_ENABLED {
                        enabled[count] = Choice { thread, variant };
                    }
                    count += 1;
                });
            });
            if count > MOST_ENABLED {
                self.stop_for_good(channel::LIMIT, "more open choices than Raddle lists");
                count = 0;
            }
        }
        self.channel.answer.enabled = count as u32;
        let sum = hashing::of_words(self.digest, &self.channel.enabled[..count]);
        self.digest = hashing::of_words(sum, &self.channel.events[..self.events]);
    }

    unsafe fn publish_thread(&mut self, thread: u32) {
        let operation = control::with(|model| model.pending(thread).copied());
        let Some(pending) = self.channel.pending.get_mut(thread as usize) else { return };
        let context = self.fibers[thread as usize];
        *pending = Pending::default();
        if let Some(operation) = operation {
            let Operation { kind, how, mode, family, site, object, second, number } = operation;
            *pending = Pending {
                kind: kind as u32 + 1,
                site,
                how: how as u32 | (mode as u32) << 8 | (family as u32) << 16,
                extra: number as u32,
                address: object as u64,
                second: second as u64,
                local: 0,
                function: crate::thread::record(self.records[thread as usize]).first_function(),
                unused: 0,
            };
            let sum = hashing::of_words(u64::from(thread), std::slice::from_ref(pending));
            pending.local = hashing::of_bytes(sum, context.stack, top_of(thread as usize));
        }
        self.digest = hashing::of_words(self.digest, std::slice::from_ref(pending));
    }

    pub(super) unsafe fn take_notes(&mut self) {
        for note in control::with(|model| model.take_notes()) {
            self.note(&note);
        }
    }

    /// No further step of this execution.
    pub(super) fn stop_for_good(&mut self, status: u32, text: &str) {
        self.status = status;
        let text = &text.as_bytes()[..text.len().min(MOST_TEXT)];
        self.channel.answer.words[..text.len()].copy_from_slice(text);
        self.text = text.len();
    }

    /// From a fiber: back to the scheduler, for good.
    pub(super) fn leave_fiber(&mut self) -> ! {
        let mut nowhere = Context { stack: 0, thread_pointer: 0 };
        unsafe { fiber::switch(&mut nowhere, &raw const self.scheduler) };
        unreachable!("an execution that is over was gone on with")
    }

    /// The process is of no use any more.
    pub(super) fn leave(&mut self, why: &str) -> ! {
        self.stop_for_good(channel::UNSUPPORTED, why);
        self.channel.answer.text = self.text as u32;
        self.channel.answer.status = channel::UNSUPPORTED;
        self.channel.hand_over(channel::OVER);
        loop {
            unsafe { libc::syscall(libc::SYS_exit_group, 3) };
        }
    }

    /// A fiber for a thread that was just born: it calls `entry(argument)` when it first goes on. Gives its thread pointer, or nothing when
    /// there are too many threads.
    pub(super) fn make_fiber(
        &mut self,
        thread: u32,
        record: u32,
        entry: extern "C" fn(usize) -> !,
        argument: usize,
    ) -> Option<usize> {
        let at = thread as usize;
        let pointer = *self.pointers.get(at)?;
        self.records[at] = record;
        self.fibers[at] = unsafe { Context::new(top_of(at), pointer, entry, argument) };
        Some(pointer)
    }

    fn ended(&mut self, thread: u32, operation: &Operation) {
        let ending = Ending::of_number(operation.number);
        self.site = operation.site;
        (self.status, self.code) = match ending {
            Ending::Exit(code) => (channel::EXITED, code),
            Ending::Infeasible => (channel::INFEASIBLE, 0),
            Ending::Abort | Ending::Assertion | Ending::Signal(_) | Ending::Fault(_) => (channel::CRASHED, 0),
        };
        if let Some(name) = ending.problem() {
            self.problem(thread, operation.site, 0, name);
        }
    }

    /// Call sites of a thread, innermost first, if they are wanted: where they begin, and how many.
    pub(super) fn stack_of(&mut self, thread: u32) -> (u32, u32) {
        if !self.stacks {
            return (0, 0);
        }
        let start = self.frames;
        let (channel, frames) = (&mut self.channel, &mut self.frames);
        crate::thread::record(self.records[thread as usize]).each_call(|site| {
            if *frames < MOST_FRAMES {
                channel.frames[*frames] = site;
                *frames += 1;
            }
        });
        (start as u32, (*frames - start) as u32)
    }
}

fn top_of(thread: usize) -> usize {
    STACKS + (thread + 1) * STACK
}

/// The stack that an address lies in.
pub fn is_stack(address: usize) -> bool {
    (STACKS..STACKS + MOST_THREADS * STACK).contains(&address)
}

extern "C" fn run_main(_: usize) -> ! {
    let session = get().expect("it is there");
    let Main { function, count, arguments, environment } = session.main;
    let code = function(count, arguments, environment);
    unsafe { libc::exit(code) }
}

/// Carries threads as fibers.
pub struct Fibers;

impl Carrier for Fibers {
    /// It was let go when its beginning was performed.
    fn begin(&self, _me: u32) {}

    fn give_up(&self, me: u32) {
        unsafe {
            fiber::clear_below();
            switch_away(me);
        }
    }

    fn finish(&self, _me: u32) {}
}

#[inline(never)]
unsafe fn switch_away(me: u32) {
    if let Some(session) = get() {
        fiber::switch(&raw mut session.fibers[me as usize], &raw const session.scheduler);
    }
}

/// Whether the caller is the program, in an execution.
pub fn is_running() -> bool {
    get().is_some_and(|session| session.running.is_some())
}

/// What the model has noted happens now, before what the program does next.
pub fn tell_notes() {
    if let Some(session) = get() {
        unsafe { session.take_notes() };
    }
}

/// The program does something that cannot be followed: the execution is over. Comes back where there is none.
pub fn unsupported(why: &str) {
    if let Some(session) = get().filter(|session| session.running.is_some()) {
        session.site = crate::thread::current().map_or(0, |thread| thread.call_site());
        session.stop_for_good(channel::UNSUPPORTED, why);
        session.leave_fiber();
    }
}
