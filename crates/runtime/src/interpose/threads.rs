//! Threads: created, joined, detached, ended in any way.
//!
//! A new thread runs a function of ours first. Its end is seen by the destructor of a thread-specific value, which asks to be called again
//! as long as the C library allows, so that the program's own destructors have run before.

use super::mutex::thrd;
use super::real::real;
use crate::contexts;
use crate::control::{self, How, calls};
use crate::explore;
use crate::gate;
use crate::heap;
use crate::hooks::__raddle_block;
use crate::log::{self, What};
use crate::objects;
use crate::observe::{self, Mode as Purpose};
use crate::own;
use crate::record;
use crate::spin::Spin;
use crate::thread::{self, DETACHED, ENDED, Mode, RUNNING, Thread};
use libc::{c_void, pthread_t, timespec};
use std::collections::BTreeMap;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed},
};

/// Rounds of destructors that the C library promises (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ROUNDS: u32 = 4;

real! {
    fn pthread_create(handle: *mut pthread_t, attributes: *const c_void, routine: Routine, argument: *mut c_void) -> i32;
    fn pthread_join(handle: pthread_t, result: *mut *mut c_void) -> i32;
    fn pthread_tryjoin_np(handle: pthread_t, result: *mut *mut c_void) -> i32;
    fn pthread_timedjoin_np(handle: pthread_t, result: *mut *mut c_void, until: *const timespec) -> i32;
    fn pthread_clockjoin_np(handle: pthread_t, result: *mut *mut c_void, clock: i32, until: *const timespec) -> i32;
    fn pthread_detach(handle: pthread_t) -> i32;
    fn thrd_create(handle: *mut pthread_t, routine: RoutineC11, argument: *mut c_void) -> i32;
    fn thrd_join(handle: pthread_t, result: *mut i32) -> i32;
    fn thrd_detach(handle: pthread_t) -> i32;
}

unsafe extern "C" {
    pub fn pthread_attr_getdetachstate(attributes: *const c_void, state: *mut i32) -> i32;
}

pub type Routine = extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type RoutineC11 = extern "C-unwind" fn(*mut c_void) -> i32;

/// What a new thread is to do. Shared by maker and thread; whoever comes second frees it.
struct Start {
    thread: &'static mut Thread,
    routine: usize,
    argument: *mut c_void,
    visitors: AtomicU32,
}

static KEY: AtomicU32 = AtomicU32::new(0);
/// Records of threads that can be joined, by handle.
static HANDLES: Spin<BTreeMap<pthread_t, u32>> = Spin::new(BTreeMap::new());

pub fn start() {
    if observe::mode() != Purpose::Explore {
        let mut key = 0;
        unsafe { libc::pthread_key_create(&mut key, Some(at_end)) };
        KEY.store(key, Relaxed);
    }
    // The first thread may end before the process does, and be joined.
    if let Some(main) = thread::current() {
        note_end(main);
        HANDLES.lock().insert(unsafe { libc::pthread_self() }, main.index);
        calls::named(unsafe { libc::pthread_self() }, main.id);
    }
}

/// [`at_end`] will be told of the end of this thread, the caller. A fiber tells it itself.
fn note_end(thread: &mut Thread) {
    if observe::mode() != Purpose::Explore {
        unsafe { libc::pthread_setspecific(KEY.load(Relaxed), (thread as *mut Thread).cast()) };
    }
}

/// For a fork: nobody is about to change the handles.
pub fn hold() -> bool {
    HANDLES.hold()
}

pub fn let_go() {
    HANDLES.reset();
}

/// In the child of a fork, which has one thread.
pub fn reset() {
    HANDLES.reset();
    HANDLES.lock().clear();
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    handle: *mut pthread_t,
    attributes: *const c_void,
    routine: Routine,
    argument: *mut c_void,
) -> i32 {
    let detached = is_detached(attributes);
    if explore::is_running() && !attributes.is_null() {
        let mut bytes = 0;
        libc::pthread_attr_getstacksize(attributes.cast(), &mut bytes);
        explore::must_fit(bytes);
    }
    make(handle, routine as usize, argument, detached, |handle, start| match observe::mode() {
        Purpose::Explore => fiber(handle, start, explored),
        _ => real::pthread_create(handle, attributes, run, start),
    })
    .unwrap_or_else(|| real::pthread_create(handle, attributes, routine, argument))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_create(
    handle: *mut pthread_t,
    routine: RoutineC11,
    argument: *mut c_void,
) -> i32 {
    make(handle, routine as usize, argument, false, |handle, start| match observe::mode() {
        Purpose::Explore => fiber(handle, start, explored_c11),
        _ => real::thrd_create(handle, run_c11, start),
    })
    .unwrap_or_else(|| real::thrd_create(handle, routine, argument))
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_join(handle: pthread_t, result: *mut *mut c_void) -> i32 {
    let whom = Whom::of(handle);
    if let Err(error) = may_join(handle, How::Block) {
        return error;
    }
    joined(whom, reap(handle, result))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_tryjoin_np(handle: pthread_t, result: *mut *mut c_void) -> i32 {
    let whom = Whom::of(handle);
    match may_join(handle, How::Try) {
        Ok(Ended::Surely) => joined(whom, reap(handle, result)),
        Ok(Ended::Perhaps) => joined(whom, real::pthread_tryjoin_np(handle, result)),
        Err(error) => error,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_timedjoin_np(
    handle: pthread_t,
    result: *mut *mut c_void,
    until: *const timespec,
) -> i32 {
    let whom = Whom::of(handle);
    match may_join(handle, How::Timed) {
        Ok(Ended::Surely) => joined(whom, reap(handle, result)),
        Ok(Ended::Perhaps) => joined(whom, real::pthread_timedjoin_np(handle, result, until)),
        Err(error) => error,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_clockjoin_np(
    handle: pthread_t,
    result: *mut *mut c_void,
    clock: i32,
    until: *const timespec,
) -> i32 {
    let whom = Whom::of(handle);
    match may_join(handle, How::Timed) {
        Ok(Ended::Surely) => joined(whom, reap(handle, result)),
        Ok(Ended::Perhaps) => joined(whom, real::pthread_clockjoin_np(handle, result, clock, until)),
        Err(error) => error,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn thrd_join(handle: pthread_t, result: *mut i32) -> i32 {
    let whom = Whom::of(handle);
    if let Err(error) = may_join(handle, How::Block) {
        return thrd(error);
    }
    if explore::is_running() {
        let mut value = std::ptr::null_mut();
        let reaped = joined(whom, reap(handle, &mut value));
        if let Some(result) = result.as_mut() {
            *result = value as i32;
        }
        return reaped;
    }
    joined(whom, real::thrd_join(handle, result))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_detach(handle: pthread_t) -> i32 {
    if let Some(error) = calls::detach(handle).filter(|result| *result != 0) {
        return error;
    }
    detach(handle);
    if explore::is_running() { 0 } else { real::pthread_detach(handle) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_detach(handle: pthread_t) -> i32 {
    if let Some(error) = calls::detach(handle).filter(|result| *result != 0) {
        return thrd(error);
    }
    detach(handle);
    if explore::is_running() { 0 } else { real::thrd_detach(handle) }
}

/// Whether the thread has ended for the program, so that waiting for it is short.
enum Ended {
    Surely,
    Perhaps,
}

/// A thread that is about to be joined. As soon as that is done another thread may have its handle, so it is looked up before.
struct Whom {
    handle: pthread_t,
    index: Option<u32>,
}

impl Whom {
    fn of(handle: pthread_t) -> Whom {
        Whom { handle, index: HANDLES.lock().get(&handle).copied() }
    }

    /// Its record. The handle does not name it any more.
    fn leave(self) -> Option<u32> {
        let mut handles = HANDLES.lock();
        let named = handles.get(&self.handle).copied();
        if self.index.is_none() || named == self.index {
            handles.remove(&self.handle);
        }
        self.index.or(named)
    }
}

/// Waits under control. The error is the result of a join that fails.
fn may_join(handle: pthread_t, how: How) -> Result<Ended, i32> {
    match calls::join(handle, how) {
        None => Ok(Ended::Perhaps),
        Some(0) => Ok(Ended::Surely),
        Some(error) => Err(error),
    }
}

/// Takes the result of a thread that has ended.
unsafe fn reap(handle: pthread_t, result: *mut *mut c_void) -> i32 {
    if !explore::is_running() {
        return real::pthread_join(handle, result);
    }
    let ended = control::with(|model| model.by_handle(handle));
    if let (Some(result), Some(ended)) = (result.as_mut(), ended) {
        *result = explore::result_of(ended) as *mut c_void;
    }
    0
}

/// The new thread is a fiber that runs `entry`.
unsafe fn fiber(handle: *mut pthread_t, start: *mut c_void, entry: extern "C-unwind" fn(usize) -> !) -> i32 {
    let Thread { id, index, .. } = *(*start.cast::<Start>()).thread;
    match explore::spawn(id, index, entry, start as usize) {
        Some(own) => {
            *handle = own as pthread_t;
            0
        }
        None => libc::EAGAIN,
    }
}

extern "C-unwind" fn explored(start: usize) -> ! {
    explore::start_thread();
    explore::end_thread(run(start as *mut c_void) as usize)
}

extern "C-unwind" fn explored_c11(start: usize) -> ! {
    explore::start_thread();
    explore::end_thread(run_c11(start as *mut c_void) as usize)
}

/// A thread of our own, that the program does not know.
pub fn start_own(routine: Routine) {
    let mut handle = 0;
    unsafe { real::pthread_create(&mut handle, std::ptr::null(), routine, std::ptr::null_mut()) };
}

/// `None`: the caller is unknown, nothing was done.
unsafe fn make(
    handle: *mut pthread_t,
    routine: usize,
    argument: *mut c_void,
    detached: bool,
    real: impl FnOnce(*mut pthread_t, *mut c_void) -> i32,
) -> Option<i32> {
    let maker = thread::current()?;
    let controlled = calls::create().is_some();
    explore::make_room();
    gate::enter(maker);
    let made_at = contexts::of_call(maker);
    let thread = thread::create(Some(maker), made_at);
    if detached {
        thread.life.store(DETACHED, Relaxed);
    }
    log::event(maker, What::Create, 0, u64::from(thread.id), 0);
    gate::leave(maker);
    let (index, id) = (thread.index, thread.id);
    if controlled {
        calls::created(maker, id, detached);
        if control::is_detecting() {
            control::batons::watch(start_own);
        }
    }
    let start = Box::into_raw(Box::new(Start { thread, routine, argument, visitors: AtomicU32::new(0) }));
    // The C library stores the handle before the thread begins, and programs count on it.
    let result = real(handle, start.cast());
    if result == 0 {
        if controlled {
            calls::named(*handle, id);
        }
        register(start, || *handle, index);
    } else {
        calls::not_created(id);
        let start = Box::from_raw(start);
        start.thread.abandon();
    }
    Some(result)
}

/// The first of maker and thread enters the handle, the second frees the note. Once the thread runs, the maker may not look at the
/// handle any more: the program may have freed it.
unsafe fn register(start: *mut Start, handle: impl FnOnce() -> pthread_t, index: u32) {
    let mut handles = HANDLES.lock();
    if (*start).visitors.fetch_add(1, AcqRel) == 0 {
        handles.insert(handle(), index);
    } else {
        drop(handles);
        drop(Box::from_raw(start));
    }
}

extern "C-unwind" fn run(start: *mut c_void) -> *mut c_void {
    let (routine, argument) = begin(start.cast());
    let routine: Routine = unsafe { std::mem::transmute(routine) };
    routine(argument)
}

extern "C-unwind" fn run_c11(start: *mut c_void) -> i32 {
    let (routine, argument) = begin(start.cast());
    let routine: RoutineC11 = unsafe { std::mem::transmute(routine) };
    routine(argument)
}

fn begin(start: *mut Start) -> (usize, *mut c_void) {
    unsafe {
        let (routine, argument) = ((*start).routine, (*start).argument);
        let thread = thread::record((*start).thread.index);
        register(start, || libc::pthread_self(), thread.index);
        note_end(thread);
        gate::enter(thread);
        let index = thread.index;
        thread.begin(__raddle_block());
        let thread = thread::record(index);
        if control::is_detecting() {
            clean_stack(thread);
        }
        record::begins(thread, false);
        gate::leave(thread);
        control::begin();
        (routine, argument)
    }
}

/// The memory of the stack, and of thread-local variables next to it, may have been another thread's. The thread has its block: records
/// of mixed bytes that are not needed any more go there.
unsafe fn clean_stack(thread: &mut Thread) {
    // The C library allocates memory for the answer.
    thread.busy += 1;
    let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
    if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
        let (mut start, mut bytes) = (std::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attributes, &mut start, &mut bytes);
        libc::pthread_attr_destroy(&mut attributes);
        heap::clean(thread, start as usize, start as usize + bytes);
    }
    thread.busy -= 1;
}

unsafe extern "C" fn at_end(thread: *mut c_void) {
    let record = &mut *thread.cast::<Thread>();
    // A thread may end inside a lock function of the program's own.
    own::set_depth(record, 0);
    record.exit_rounds += 1;
    if record.exit_rounds < ROUNDS {
        libc::pthread_setspecific(KEY.load(Relaxed), thread);
        return;
    }
    calls::end(record);
    while let Some(held) = record.held().iter().rfind(|held| held.mode == Mode::Exclusive).copied() {
        objects::abandoned(record, held.address);
        record.let_go(held.address);
    }
    // Joinable threads are found by their handle until they are joined.
    if record.life.load(Acquire) == DETACHED {
        HANDLES.lock().remove(&libc::pthread_self());
    }
    log::event(record, What::End, 0, 0, 0);
    let id = record.id;
    record.end();
    control::finish(id);
}

fn joined(whom: Whom, result: i32) -> i32 {
    if result == 0
        && let Some(me) = thread::current()
        && let Some(index) = whom.leave()
    {
        let ended = thread::record(index);
        gate::enter(me);
        log::event(me, What::Join, 0, u64::from(ended.id), 0);
        me.acquire_all_of(ended);
        gate::leave(me);
        ended.forget();
    }
    result
}

fn detach(handle: pthread_t) {
    let mut handles = HANDLES.lock();
    let Some(&index) = handles.get(&handle) else { return };
    let thread = thread::record(index);
    if let Some(me) = thread::current() {
        log::event(me, What::Detach, 0, u64::from(thread.id), 0);
    }
    if thread.life.compare_exchange(RUNNING, DETACHED, AcqRel, Acquire) == Err(ENDED) {
        handles.remove(&handle);
        thread.forget();
    }
}

unsafe fn is_detached(attributes: *const c_void) -> bool {
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        pthread_attr_getdetachstate(attributes, &mut state);
    }
    state == libc::PTHREAD_CREATE_DETACHED
}
