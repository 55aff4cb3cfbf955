//! Findings: for a tool as JSON lines, ids and numbers only; for people in words ([`crate::describe`]).
//!
//! Each line is one `write(2)` to the file named by `RADDLE_OUT`, opened at the start and moved to a high descriptor; if the program
//! closed it, it is opened again by its path. A pair of sites is reported once; for people, a pair of places.

use crate::blocks;
use crate::contexts::{self, Context, Lock, Shape};
use crate::control;
use crate::describe::{self, Race};
use crate::epochs;
use crate::image;
use crate::lanes::Conflicts;
use crate::log::{self, What};
use crate::observe;
use crate::options::{self, Format};
use crate::output;
use crate::people;
use crate::record;
use crate::spin::Spin;
use crate::suppress::{self, Suppression};
use crate::thread::{self, Mode, Thread};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

static RACES: AtomicU32 = AtomicU32::new(0);
/// Of these, how many threads are about to write down.
static UNDER_WAY: AtomicU32 = AtomicU32::new(0);
/// How long the end of the process waits for them, in milliseconds.
const LONGEST_WAIT: u32 = 1000;
static SEEN: Spin<BTreeSet<(u32, u32)>> = Spin::new(BTreeSet::new());
/// What people were told.
static TOLD: Spin<BTreeSet<String>> = Spin::new(BTreeSet::new());
static ASSUMES: AtomicBool = AtomicBool::new(false);
static SUPPRESSIONS: OnceLock<Vec<Suppression>> = OnceLock::new();
/// How a process ends of which findings were lost, or that could not do what its user asked for.
const FAILED: i32 = 2;

/// The present access of the thread, with this context, races with these.
#[cold]
pub fn races(thread: &mut Thread, granule: usize, conflicts: &Conflicts, context: u32) {
    if thread.busy > 0 {
        return;
    }
    thread.busy += 1;
    let now = contexts::get(context);
    for conflict in conflicts.iter() {
        log::event(thread, What::Race, granule, u64::from(conflict.bytes), now.site);
        let then = contexts::get(conflict.context);
        let pair = (now.site.min(then.site), now.site.max(then.site));
        if !options::get().every && !SEEN.lock().insert(pair) {
            continue;
        }
        let first = conflict.bytes.trailing_zeros() as usize;
        let bytes = 8 - conflict.bytes.leading_zeros() as usize - first;
        let address = granule + first;
        if !output::has_tool() {
            let then = describe::Access::of(
                epochs::thread(conflict.epoch),
                &then,
                contexts::locks_of(conflict.epoch, conflict.context),
            );
            let now = describe::Access::of(thread.id, &now, contexts::locks_of(thread.epoch, context));
            in_words(&Race::of(address, bytes, [then, now]));
            continue;
        }
        let thread_then = epochs::thread(conflict.epoch);
        let locks_then = contexts::locks_of(conflict.epoch, conflict.context);
        let locks_now = contexts::locks_of(thread.epoch, context);
        for_tools(address, bytes, [(thread_then, &then, &locks_then), (thread.id, &now, &locks_now)]);
        if observe::mode() == observe::Mode::Replay {
            control::batons::reported(now.site, then.site);
        }
    }
    thread.busy -= 1;
}

/// An access with all that a report says of it.
#[derive(Clone)]
pub struct Account {
    thread: u32,
    context: Context,
    locks: Option<Vec<Lock>>,
}

impl Account {
    /// Of the access that the thread makes now, inside the gate.
    pub fn of(thread: &mut Thread, site: u32, shape: Shape) -> Self {
        let context = contexts::of(thread, site, shape);
        let locks = contexts::locks_of(thread.epoch, context);
        Self { thread: thread.id, context: contexts::get(context), locks }
    }
}

/// These two race, whether or not the detector still knows both.
pub fn pair(address: usize, bytes: usize, accounts: &[Account; 2]) {
    let sites = accounts.each_ref().map(|account| account.context.site);
    if SEEN.lock().insert((sites[0].min(sites[1]), sites[0].max(sites[1]))) {
        let ends = accounts.each_ref().map(|account| (account.thread, &account.context, &account.locks));
        for_tools(address, bytes, ends);
    }
}

/// A race as a line.
fn for_tools(address: usize, bytes: usize, ends: [(u32, &Context, &Option<Vec<Lock>>); 2]) {
    found();
    ends.iter().for_each(|(thread, ..)| introduce(*thread));
    let mut line = String::with_capacity(1024);
    let pid = output::pid();
    let _ = write!(line, r#"{{"pid":{pid},"race":{{"addr":{address},"size":{bytes},"accesses":["#);
    for (at, (thread, context, held)) in ends.into_iter().enumerate() {
        line.push_str(if at > 0 { "," } else { "" });
        access(&mut line, thread, context, held.as_deref());
    }
    line.push_str(r#"],"block":"#);
    match blocks::find(address) {
        Some(block) => {
            let _ = write!(
                line,
                r#"{{"addr":{},"size":{},"thread":{},"freed":{},"#,
                block.address, block.bytes, block.thread, block.freed
            );
            let made = contexts::get(block.context);
            let _ = write!(line, r#""site":{},"#, made.site);
            stack(&mut line, &made.stack);
            line.push('}');
        }
        None => line.push_str("null"),
    }
    line.push_str("}}\n");
    output::line(&line, String::new);
    UNDER_WAY.fetch_sub(1, Release);
}

/// Which locks a thread holds that has come to a stop, and in which calls it is.
pub fn stands(line: &mut String, id: u32) {
    let mut calls = Vec::new();
    let mut held = Vec::new();
    thread::each(|thread| {
        if thread.id == id && !thread.block.is_null() {
            thread.note_function();
            thread.each_call(|call| calls.push(call));
            held = thread
                .held()
                .iter()
                .map(|held| Lock { address: held.address, mode: held.mode, site: held.site })
                .collect();
        }
    });
    introduce(id);
    stack(line, &calls);
    locks(line, Some(&held));
}

/// One more, which is written down next.
fn found() {
    UNDER_WAY.fetch_add(1, Relaxed);
    RACES.fetch_add(1, Release);
}

/// Lets other threads write down what they have found: the process ends with all threads.
fn wait_for_writers() {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    for _ in 0..LONGEST_WAIT {
        if UNDER_WAY.load(Acquire) == 0 {
            return;
        }
        unsafe { libc::syscall(libc::SYS_nanosleep, &raw const pause, 0usize) };
    }
}

/// For people, once for two places, unless they know of it.
fn in_words(race: &Race) {
    if !TOLD.lock().insert(race.identity()) || race.is_suppressed(suppressions()) {
        return;
    }
    found();
    output::line("", || match options::get().format {
        Format::Text => race.text(),
        Format::Json => race.json(output::pid()),
    });
    UNDER_WAY.fetch_sub(1, Release);
    if options::get().halt {
        let code = exit().unwrap_or(FAILED);
        unsafe { libc::syscall(libc::SYS_exit_group, code) };
    }
}

fn suppressions() -> &'static [Suppression] {
    SUPPRESSIONS.get().map_or(&[], Vec::as_slice)
}

/// Before the program begins: what its user asks for.
pub fn start() {
    let options = options::get();
    if output::has_tool() {
        return;
    }
    for unknown in &options.unknown {
        output::line("", || format!("raddle: RADDLE_OPTIONS: not understood: {unknown}\n"));
    }
    if !options.suppressions.is_empty() {
        let text = std::fs::read_to_string(&options.suppressions).map_err(|error| error.to_string());
        match text.and_then(|text| suppress::read(&text)) {
            Ok(all) => drop(SUPPRESSIONS.set(all)),
            Err(why) => {
                output::line("", || format!("raddle: suppressions: {}: {why}\n", options.suppressions));
                unsafe { libc::_exit(FAILED) };
            }
        }
    }
}

/// What a report needs to say about a thread, and about those that made it; once.
fn introduce(id: u32) {
    let Some(person) = people::get(id).filter(|person| person.is_news()) else { return };
    if id > 0 {
        introduce(person.parent());
    }
    let made = contexts::get(person.made_at());
    let mut line = String::new();
    let (pid, parent, site, function) = (output::pid(), person.parent(), made.site, person.function());
    let _ = write!(
        line,
        r#"{{"pid":{pid},"thread":{{"id":{id},"parent":{parent},"site":{site},"function_site":{function},"#
    );
    stack(&mut line, &made.stack);
    line.push_str("}}\n");
    output::line(&line, String::new);
}

/// An instrumented library was loaded.
pub fn library(path: &str, base: u32) {
    image::add(path, base);
    let path = output::escaped(path);
    let line = format!("{{\"pid\":{},\"library\":{{\"path\":\"{path}\",\"base\":{base}}}}}\n", output::pid());
    output::line(&line, String::new);
}

/// Something that makes the run's answer incomplete.
pub fn gap(what: &str) {
    let what = output::escaped(what);
    let line = format!("{{\"pid\":{},\"gap\":{{\"what\":\"{what}\"}}}}\n", output::pid());
    output::line(&line, || format!("raddle: not followed any more: {what}\n"));
}

/// What this process leaves out rests on an assumption.
pub fn assumes(id: &str) {
    let line = format!("{{\"pid\":{},\"assumes\":{{\"id\":\"{id}\"}}}}\n", output::pid());
    output::line(&line, String::new);
    ASSUMES.store(true, Relaxed);
}

/// The process writes a trace of its own.
pub fn trace(path: &str) {
    let path = output::escaped(path);
    let line = format!("{{\"pid\":{},\"trace\":{{\"path\":\"{path}\"}}}}\n", output::pid());
    output::line(&line, String::new);
}

/// In the child of a fork.
pub fn forked(parent: i32) {
    let line = format!("{{\"pid\":{},\"fork\":{{\"parent\":{parent}}}}}\n", output::pid());
    output::line(&line, String::new);
}

/// The process ends in an orderly way; `Some`: with this code instead of its own.
pub fn exit() -> Option<i32> {
    record::ended(thread::current());
    let races = RACES.load(Acquire);
    wait_for_writers();
    let line =
        format!("{{\"pid\":{},\"exit\":{{\"pid\":{},\"races\":{races}}}}}\n", output::pid(), output::pid());
    output::line(&line, || summary(races));
    let code = options::get().exit_code;
    match races {
        _ if output::is_lost() => Some(FAILED),
        1.. if !output::has_tool() && code != 0 => Some(code),
        _ => None,
    }
}

fn summary(races: u32) -> String {
    if races == 0 || options::get().format == Format::Json {
        return String::new();
    }
    let plural = if races == 1 { "" } else { "s" };
    let assumes = if ASSUMES.load(Relaxed) {
        "raddle: assumes A-DESCRIPTOR: a read from a descriptor is ordered after the write of the bytes that it returns\n"
    } else {
        ""
    };
    format!("raddle: {races} data race{plural} in process {}\n{assumes}", output::pid())
}

/// For a fork: nobody is about to change what was reported.
pub fn hold() -> bool {
    SEEN.hold()
}

pub fn let_go() {
    SEEN.reset();
}

/// In the child of a fork: its races are its own.
pub fn reset() {
    SEEN.reset();
    TOLD.reset();
    RACES.store(0, Relaxed);
    UNDER_WAY.store(0, Relaxed);
}

fn access(line: &mut String, thread: u32, context: &Context, held: Option<&[Lock]>) {
    let Context { site, shape, .. } = context;
    let _ = write!(
        line,
        r#"{{"thread":{thread},"site":{site},"write":{},"atomic":{},"size":{},"#,
        shape.is_write(),
        shape.is_atomic(),
        shape.bytes()
    );
    stack(line, &context.stack);
    locks(line, held);
    line.push('}');
}

fn locks(line: &mut String, held: Option<&[Lock]>) {
    line.push_str(r#","locks":"#);
    let Some(held) = held else { return line.push_str("null") };
    line.push('[');
    for (at, lock) in held.iter().enumerate() {
        let mode = if lock.mode == Mode::Shared { "shared" } else { "exclusive" };
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(line, r#"{comma}{{"addr":{},"site":{},"mode":"{mode}"}}"#, lock.address, lock.site);
    }
    line.push(']');
}

fn stack(line: &mut String, sites: &[u32]) {
    line.push_str(r#""stack":["#);
    for (at, site) in sites.iter().enumerate() {
        let _ = write!(line, "{}{site}", if at > 0 { "," } else { "" });
    }
    line.push(']');
}
