//! The scheduler of an explored program: takes requests from the channel, brings memory back, lets one fiber after the other make its
//! step, and says what came of it.
//!
//! It runs on a stack of its own in the program's only system thread. What it needs beyond one execution lies in own memory (see
//! [`super::memory`]); everything else that it touches, the model of synchronisation included, goes back with the program's.

use super::channel::{
    self, Answer, Channel, Choice, Event, MOST_ENABLED, MOST_FRAMES, MOST_TEXT, MOST_THREADS, Pending,
    Problem, Span,
};
use super::fiber::{self, Context};
use super::hashing;
use super::heap::Heap;
use super::memory::{self, Memory};
use super::outside;
use super::start;
use super::version::{Versions, version};
use crate::control::{self, Carrier, Ending, Kind, Operation};
use crate::layout;

const STACKS: usize = 0x6d00_0000_0000;
pub(super) const STACK: usize = 1 << 23;
/// Below each of them: more than a frame is likely to skip.
const GUARD: usize = 1 << 20;
const OWN_STACK: usize = 1 << 18;
/// For an execution of some thirty operations, tens of microseconds: to sleep and to be woken up takes as long.
const SPINS: u32 = 6_000;
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
    /// The number of the request at hand.
    request: u32,
    answers: usize,
    /// How much of the lists in the channel is used: now, and before the step at hand.
    now: Marks,
    from: Marks,
    /// What has happened in the step at hand. Apart from the channel, so that the program's thread never has a number in its registers
    /// that depends on earlier steps.
    pub(super) events: List<Event>,
    pub(super) problems: List<Problem>,
    pub(super) frames: List<u32>,
    /// Accesses in the present step.
    pub(super) accesses: u32,
    /// Whether the versions of memory are wanted.
    is_versioned: bool,
    pub(super) versions: Versions,
    pub(super) stacks: bool,
    pub(super) visibility: u32,
    digest: u64,
    /// Bytes of stacks that other threads may look at: written by accesses that were checked.
    pub(super) shared: [(usize, usize); MOST_SHARED],
    pub(super) shared_count: usize,
    /// The execution has opened or read files.
    pub(super) reads_files: bool,
    main: Main,
    spins: u32,
}

/// How far lists of the channel are filled.
#[derive(Clone, Copy, Default)]
struct Marks {
    moved: usize,
    enabled: usize,
    events: usize,
    problems: usize,
    frames: usize,
}

/// A list in own memory.
pub(super) struct List<T: 'static> {
    room: &'static mut [T],
    count: usize,
}

impl<T: Copy> List<T> {
    unsafe fn new(memory: &mut Memory, most: usize) -> Self {
        let room = memory.take(most * size_of::<T>()).cast();
        Self { room: std::slice::from_raw_parts_mut(room, most), count: 0 }
    }

    pub(super) fn all(&self) -> &[T] {
        &self.room[..self.count]
    }

    /// False: it is full.
    pub(super) fn push(&mut self, item: T) -> bool {
        let Some(place) = self.room.get_mut(self.count) else { return false };
        *place = item;
        self.count += 1;
        true
    }
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
    if memory::raw_map(STACKS, MOST_THREADS * (GUARD + STACK), flags) != STACKS {
        return Err("there is no room for stacks");
    }
    let guard = |thread: usize| {
        libc::syscall(libc::SYS_mprotect, top_of(thread) - STACK - GUARD, GUARD, libc::PROT_NONE)
    };
    if (0..MOST_THREADS).any(|thread| guard(thread) != 0) {
        return Err("stacks cannot be guarded");
    }
    let events = List::new(memory, channel::MOST_EVENTS);
    let problems = List::new(memory, channel::MOST_PROBLEMS);
    let frames = List::new(memory, MOST_FRAMES);
    let versions = Versions::new(memory);
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
        request: 0,
        answers: 0,
        now: Marks::default(),
        from: Marks::default(),
        events,
        problems,
        frames,
        accesses: 0,
        is_versioned: false,
        versions,
        stacks: false,
        visibility: channel::NONE,
        digest: 0,
        shared: [(0, 0); MOST_SHARED],
        shared_count: 0,
        reads_files: false,
        main,
        spins: if libc::sysconf(libc::_SC_NPROCESSORS_ONLN) > 1 { SPINS } else { 0 },
    };
    // Whatever it has done before.
    control::with(|model| model.lives[0].pending = Some(Operation::new(Kind::Begin, 0)));
    SESSION = session;
    let first = Context::new(own, pointers[0], scheduler, 0);
    let mut here = nothing;
    fiber::switch(&mut here, &first);
    unreachable!("nobody comes back to the first stack")
}

extern "C-unwind" fn scheduler(_: usize) -> ! {
    let session = get().expect("it is there");
    unsafe {
        session.scheduler.thread_pointer = fiber::thread_pointer();
        match session.watch_everything() {
            true => session.channel.magic.store(channel::MAGIC, std::sync::atomic::Ordering::Release),
            false => session.leave("memory or system calls cannot be watched"),
        }
        loop {
            let channel = &session.channel;
            while !channel.asked.wait(session.spins, 1000, |asked| asked != session.request) {}
            session.request = channel.asked.value();
            session.answer_request();
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
        complete && count < 500 && watched && self.heap.keep(self.memory) && outside::guard()
    }

    unsafe fn answer_request(&mut self) {
        let request = self.channel.request;
        self.stacks = request.stacks != 0;
        self.visibility = request.visibility;
        self.is_versioned = false;
        self.answers = 0;
        self.now = Marks::default();
        if request.anew != 0 {
            self.start_anew();
        }
        let asked = request.choices.min(channel::MOST_CHOICES as u32);
        if request.heard_from >= asked {
            self.answer(Choice::default(), self.digest);
        }
        for at in 0..asked {
            if at > request.heard_from && self.channel.asked.value() != self.request {
                return;
            }
            if at > request.heard_from && self.is_full() {
                break;
            }
            let choice = self.channel.choices[at as usize];
            self.is_versioned |= at >= request.versions_from;
            if self.status != channel::RUNNING || !is_open(choice) {
                if at < asked.min(request.heard_from + 1) {
                    self.status = channel::REFUSED;
                    self.answer(choice, self.digest);
                }
                break;
            }
            self.make(choice, at >= request.heard_from);
        }
        for _ in 0..request.ahead {
            if self.status != channel::RUNNING || self.is_full() {
                break;
            }
            if self.channel.asked.value() != self.request {
                return;
            }
            let Some(choice) = self.guess() else { break };
            self.make(choice, true);
        }
        self.from = self.now;
        self.answer(channel::NO_GUESS, self.digest);
    }

    /// Makes a choice, and says what it came to if that is wanted.
    unsafe fn make(&mut self, choice: Choice, heard: bool) {
        let before = self.digest;
        if !heard {
            self.now = Marks::default();
        }
        self.step(choice);
        if heard {
            self.answer(choice, before);
        }
    }

    fn forget_events(&mut self) {
        self.events.count = 0;
        self.problems.count = 0;
        self.frames.count = 0;
    }

    /// What will most likely be asked for: searches let the first thread go on that can.
    fn guess(&self) -> Option<Choice> {
        let open = &self.channel.enabled[self.from.enabled..self.now.enabled];
        open.iter().find(|choice| choice.variant == 0).or(open.first()).copied()
    }

    fn is_full(&self) -> bool {
        let Marks { moved, enabled, events, problems, frames } = self.now;
        self.answers + 2 >= channel::MOST_ANSWERS
            || moved + MOST_THREADS >= channel::MOST_STANDS
            || enabled >= MOST_ENABLED / 2
            || events >= channel::MOST_EVENTS / 2
            || problems >= channel::MOST_PROBLEMS / 2
            || frames >= MOST_FRAMES / 2
    }

    unsafe fn answer(&mut self, choice: Choice, digest_before: u64) {
        let version = if self.is_versioned { version(self) } else { 0 };
        let Session { channel, now, .. } = self;
        let frames = now.frames as u32;
        for event in self.events.all() {
            if now.events < channel::MOST_EVENTS {
                channel.events[now.events] = Event { stack: event.stack + frames, ..*event };
                now.events += 1;
            }
        }
        for problem in self.problems.all() {
            if now.problems < channel::MOST_PROBLEMS {
                channel.problems[now.problems] = Problem { stack: problem.stack + frames, ..*problem };
                now.problems += 1;
            }
        }
        let stacks = self.frames.all();
        let room = stacks.len().min(MOST_FRAMES - now.frames);
        channel.frames[now.frames..now.frames + room].copy_from_slice(&stacks[..room]);
        now.frames += room;
        self.forget_events();
        let (from, now) = (self.from, self.now);
        let span = |start: usize, end: usize| Span { start: start as u32, count: (end - start) as u32 };
        self.channel.answers[self.answers] = Answer {
            choice,
            status: self.status,
            code: self.code,
            site: self.site,
            threads: self.threads.min(MOST_THREADS as u32),
            moved: span(from.moved, now.moved),
            enabled: span(from.enabled, now.enabled),
            events: span(from.events, now.events),
            problems: span(from.problems, now.problems),
            text: self.text as u32,
            unused: 0,
            digest_before,
            digest: self.digest,
            version,
        };
        self.answers += 1;
        self.channel.said.ring(self.request << channel::ANSWER_BITS | self.answers as u32);
    }

    unsafe fn start_anew(&mut self) {
        self.memory.reset();
        self.heap.reset();
        self.status = channel::RUNNING;
        self.running = None;
        self.digest = 0;
        self.threads = 1;
        (self.code, self.site, self.text) = (0, 0, 0);
        if std::mem::take(&mut self.reads_files) {
            outside::reset();
        }
        self.shared_count = 0;
        self.from = self.now;
        self.forget_events();
        self.fibers[0] = Context::new(top_of(0), self.pointers[0], run_main, 0);
        self.publish(0);
    }

    unsafe fn step(&mut self, choice: Choice) {
        self.from = self.now;
        self.accesses = 0;
        self.forget_events();
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
        if self.status == channel::RUNNING {
            let (list, count) = (&mut self.channel.enabled, &mut self.now.enabled);
            control::with(|model| {
                model.enabled(|thread, variant| {
                    if *count < MOST_ENABLED {
                        list[*count] = Choice { thread, variant };
                        *count += 1;
                    }
                });
            });
            if self.now.enabled == MOST_ENABLED {
                self.stop_for_good(channel::LIMIT, "more open choices than Raddle lists");
            }
        }
        let sum = hashing::of_words(self.digest, &self.channel.enabled[self.from.enabled..self.now.enabled]);
        self.digest = hashing::of_events(sum, self.events.all());
    }

    unsafe fn publish_thread(&mut self, thread: u32) {
        let operation = control::with(|model| model.pending(thread).copied());
        if thread as usize >= MOST_THREADS || self.now.moved == channel::MOST_STANDS {
            return;
        }
        let mut pending = Pending { thread, ..Pending::default() };
        if let Some(operation) = operation {
            let context = self.fibers[thread as usize];
            let Operation { kind, how, mode, family, site, object, second, number } = operation;
            pending = Pending {
                thread,
                kind: kind as u32 + 1,
                site,
                how: how as u32 | (mode as u32) << 8 | (family as u32) << 16,
                extra: number as u32,
                address: object as u64,
                second: second as u64,
                local: 0,
                function: crate::thread::record(self.records[thread as usize]).first_function(),
            };
            let sum = hashing::of_words(u64::from(thread), std::slice::from_ref(&pending));
            pending.local = hashing::of_bytes(sum, context.stack, top_of(thread as usize));
        }
        self.digest = hashing::of_words(self.digest, std::slice::from_ref(&pending));
        self.channel.pending[self.now.moved] = pending;
        self.now.moved += 1;
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
        self.channel.words[..text.len()].copy_from_slice(text);
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
        self.channel.over.store(self.text as u32 + 1, std::sync::atomic::Ordering::Release);
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
        entry: extern "C-unwind" fn(usize) -> !,
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
            Ending::Abort
            | Ending::Assertion
            | Ending::Signal(_)
            | Ending::Fault(_)
            | Ending::StackOverflow => (channel::CRASHED, 0),
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
        let start = self.frames.all().len();
        let frames = &mut self.frames;
        crate::thread::record(self.records[thread as usize]).each_call(|site| {
            frames.push(site);
        });
        (start as u32, (frames.all().len() - start) as u32)
    }
}

fn top_of(thread: usize) -> usize {
    STACKS + (thread + 1) * (GUARD + STACK)
}

fn is_open(choice: Choice) -> bool {
    control::with(|model| model.is_enabled(choice.thread, choice.variant))
}

/// The stack that an address lies in.
pub fn is_stack(address: usize) -> bool {
    (STACKS..top_of(MOST_THREADS - 1)).contains(&address)
}

/// Whether an address lies right below the stack of a thread.
pub fn is_overflow(thread: u32, address: usize) -> bool {
    let end = top_of(thread as usize) - STACK;
    (end - GUARD..end).contains(&address)
}

extern "C-unwind" fn run_main(_: usize) -> ! {
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
    match get() {
        Some(session) => fiber::switch(&raw mut session.fibers[me as usize], &raw const session.scheduler),
        None => perform_alone(me),
    }
}

/// Before `main` there is one thread, and nobody to ask: its operations are performed as they come.
fn perform_alone(me: u32) {
    let performed = control::with(|model| {
        let mut first = None;
        model.variants(me, |variant| first = first.or(Some(variant)));
        first.map(|variant| {
            model.perform(me, variant, None);
            model.take_notes();
        })
    });
    if performed.is_none() {
        start::fail("a thread waits for ever before main");
    }
}

/// Whether the caller is the program, in an execution.
pub fn is_running() -> bool {
    get().is_some_and(|session| session.running.is_some())
}

/// Whether the caller is the scheduler, between steps.
pub fn is_scheduler() -> bool {
    get().is_some_and(|session| session.running.is_none())
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
