//! Control: one thread of the program runs at a time, and somebody else says which one, and how its operations come out.
//!
//! A thread that comes to a visible operation *stops*: it publishes the operation and gives up the processor. A decider picks a thread
//! and a variant among those that the [`model`] leaves open; the operation is performed on the model, and the thread runs on to its
//! next stop. The C library's own mutexes, condition variables and so on are not used at all: they could block, and who gets them
//! next is not ours to say. One model serves replay and exploration (`docs/decisions/0017`); what carries the threads differs:
//! threads of the system, each with a baton, in a replay; fibers in an exploration.

mod barrier;
pub mod batons;
mod birth;
pub mod calls;
mod condition;
mod cycle;
mod ending;
mod hash;
mod lock;
mod model;
mod once;
mod operation;
pub mod pairs;
mod plan;
pub mod schedule;
mod semaphore;
mod steering;
mod threads;

pub use birth::CONSISTENT;
pub use ending::Ending;
pub use model::{Model, Note, Noted, Spurious};
#[cfg_attr(not(feature = "program"), allow(unused_imports))]
pub use operation::{Family, Happened, How, Kind, Operation, Outcome, SECTION};
pub use plan::{Afterwards, Plan, Step, Visible};
pub use steering::{Preference, Steering};

use crate::explore;
use crate::observe::{self, Mode};
use crate::spin::{Guard, Spin};
use crate::thread::{self, Thread};

static MODEL: Spin<Option<Model>> = Spin::new(None);

/// What makes threads stop and go on.
pub trait Carrier: Sync {
    /// The calling thread is new. Comes back when its beginning was performed.
    fn begin(&self, me: u32);

    /// The calling thread has published its operation. Comes back when that was performed ([`grant`]).
    fn give_up(&self, me: u32);

    /// The calling thread has ended for the program: it will not stop again.
    fn finish(&self, me: u32);
}

#[inline(always)]
pub fn is_on() -> bool {
    matches!(observe::mode(), Mode::Replay | Mode::Explore)
}

/// Whether the detector is told what synchronisation does.
#[inline(always)]
pub fn is_detecting() -> bool {
    observe::mode() != Mode::Explore
}

/// The main thread is there, before its first instruction.
pub fn start(main: &Thread) {
    if !is_on() {
        return;
    }
    with(|model| model.born(main.id, false));
    if observe::mode() == Mode::Replay {
        batons::start();
        begin();
    }
}

/// The calling thread begins: it runs when it is let go.
pub fn begin() {
    if let Some(me) = caller() {
        keeping_errno(|| carrier().begin(me));
        with(|model| model.lives[me as usize].outcome = None);
    }
}

/// Stops the calling thread before an operation, and says what that came to.
pub fn stop(me: &mut Thread, operation: Operation) -> Outcome {
    let id = me.id;
    publish(id, &operation);
    keeping_errno(|| carrier().give_up(id));
    outcome(id)
}

/// Waiting is not to be seen by the program.
#[inline(always)]
fn keeping_errno(wait: impl FnOnce()) {
    let errno = unsafe { *libc::__errno_location() };
    wait();
    unsafe { *libc::__errno_location() = errno };
}

/// Apart, so that nothing of the model stays in the registers of a thread that stops: an exploration looks at these.
#[inline(never)]
fn publish(id: u32, operation: &Operation) {
    with(|model| model.lives[id as usize].pending = Some(*operation));
}

#[inline(never)]
fn outcome(id: u32) -> Outcome {
    with(|model| model.lives[id as usize].outcome.take()).unwrap_or_default()
}

/// The calling thread has ended and told everybody who must know.
pub fn finish(me: u32) {
    carrier().finish(me);
}

/// In the child of a fork, which has one thread and no schedule: it goes on by itself.
pub fn leave() {
    if observe::mode() == Mode::Replay {
        MODEL.reset();
        batons::leave();
        observe::set_mode(Mode::Run);
    }
}

/// Performs the operation of a thread. For deciders; the carrier wakes the thread.
pub fn grant(thread: u32, variant: u32, value: Option<u64>) -> Vec<Note> {
    with(|model| {
        model.perform(thread, variant, value);
        model.take_notes()
    })
}

/// Looks at the model, or changes it.
pub fn with<T>(work: impl FnOnce(&mut Model) -> T) -> T {
    let mut model: Guard<'_, Option<Model>> = MODEL.lock();
    work(model.get_or_insert_with(Model::default))
}

/// The memory is handed out again: what was synchronised there is gone.
pub fn forget_range(start: usize, end: usize) {
    if is_on() {
        with(|model| model.forget_range(start, end));
        batons::forget_range(start, end);
    }
}

/// The number of the calling thread, if it is under control.
#[inline(always)]
fn caller() -> Option<u32> {
    if !is_on() {
        return None;
    }
    thread::current().map(|thread| thread.id)
}

fn carrier() -> &'static dyn Carrier {
    match observe::mode() {
        Mode::Explore => &explore::Fibers,
        Mode::Run | Mode::Record | Mode::Replay => &batons::Batons,
    }
}

/// Where the model itself lies, in the program's data.
pub fn model_place() -> (usize, usize) {
    let start = &raw const MODEL as usize;
    (start, start + size_of_val(&MODEL))
}
