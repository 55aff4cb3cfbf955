//! Findings as JSON lines: ids and numbers only. Names are for whoever has the table of sites.
//!
//! Each line is one `write(2)` to the file named by `RADDLE_OUT`, opened at the start and moved to a high descriptor; if the program
//! closed it, it is opened again by its path. A pair of sites is reported once.

use crate::blocks;
use crate::contexts::{self, Context, Lock};
use crate::control;
use crate::epochs;
use crate::lanes::Conflicts;
use crate::log::{self, What};
use crate::observe;
use crate::options;
use crate::output;
use crate::people;
use crate::record;
use crate::spin::Spin;
use crate::thread::{self, Mode, Thread};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static RACES: AtomicU32 = AtomicU32::new(0);
static SEEN: Spin<BTreeSet<(u32, u32)>> = Spin::new(BTreeSet::new());

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
        RACES.fetch_add(1, Relaxed);
        introduce(epochs::thread(conflict.epoch));
        introduce(thread.id);
        let first = conflict.bytes.trailing_zeros() as usize;
        let bytes = 8 - conflict.bytes.leading_zeros() as usize - first;
        let mut line = String::with_capacity(1024);
        let pid = output::pid();
        let address = granule + first;
        let _ = write!(line, r#"{{"pid":{pid},"race":{{"addr":{address},"size":{bytes},"accesses":["#);
        access(
            &mut line,
            epochs::thread(conflict.epoch),
            &then,
            contexts::locks_of(conflict.epoch, conflict.context),
        );
        line.push(',');
        access(&mut line, thread.id, &now, contexts::locks_of(thread.epoch, context));
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
        output::line(&line, || summary(&now, &then, address));
        if observe::mode() == observe::Mode::Replay {
            control::batons::reported(now.site, then.site);
        }
    }
    thread.busy -= 1;
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

/// The process ends in an orderly way.
pub fn exit() {
    record::ended(thread::current());
    let races = RACES.load(Relaxed);
    let line =
        format!("{{\"pid\":{},\"exit\":{{\"pid\":{},\"races\":{races}}}}}\n", output::pid(), output::pid());
    output::line(&line, || if races > 0 { format!("raddle: {races} race(s)\n") } else { String::new() });
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
    RACES.store(0, Relaxed);
}

fn access(line: &mut String, thread: u32, context: &Context, locks: Option<Vec<Lock>>) {
    let Context { site, shape, .. } = context;
    let _ = write!(
        line,
        r#"{{"thread":{thread},"site":{site},"write":{},"atomic":{},"size":{},"#,
        shape.is_write(),
        shape.is_atomic(),
        shape.bytes()
    );
    stack(line, &context.stack);
    line.push_str(r#","locks":"#);
    match locks {
        None => line.push_str("null"),
        Some(locks) => {
            line.push('[');
            for (at, lock) in locks.iter().enumerate() {
                let mode = if lock.mode == Mode::Shared { "shared" } else { "exclusive" };
                let comma = if at > 0 { "," } else { "" };
                let _ = write!(
                    line,
                    r#"{comma}{{"addr":{},"site":{},"mode":"{mode}"}}"#,
                    lock.address, lock.site
                );
            }
            line.push(']');
        }
    }
    line.push('}');
}

fn stack(line: &mut String, sites: &[u32]) {
    line.push_str(r#""stack":["#);
    for (at, site) in sites.iter().enumerate() {
        let _ = write!(line, "{}{site}", if at > 0 { "," } else { "" });
    }
    line.push(']');
}

fn summary(now: &Context, then: &Context, address: usize) -> String {
    let word = |context: &Context| match (context.shape.is_write(), context.shape.is_atomic()) {
        (true, false) => "write",
        (false, false) => "read",
        (true, true) => "atomic write",
        (false, true) => "atomic read",
    };
    format!(
        "raddle: race on {address:#x}: {} of {} bytes at site {} and {} of {} bytes at site {}\n",
        word(then),
        then.shape.bytes(),
        then.site,
        word(now),
        now.shape.bytes(),
        now.site
    )
}
