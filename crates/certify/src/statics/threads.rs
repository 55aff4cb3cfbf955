//! Rules of [`raddle_facts::threads`]: every start is an abstract thread, who runs what, how often blocks are executed, what is shared.

mod counters;
mod distinct;
mod times;

pub(crate) use distinct::prepared_by;

use super::Refusal;
use super::accesses::Access;
use super::calls::{Call, Passes, Run, Way};
use super::code::{At, Code};
use super::memory::Memory;
use super::terms;
use raddle_base::SiteId;
use raddle_facts::{ObjectId, ObjectKind, Start, Thread, ThreadId};
use raddle_ir::FunctionId;
use raddle_libmodel::Effect;
use raddle_libmodel::memory::Value;

const RULE: &str = "threads";

pub(crate) fn check(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    memory: &Memory<'_, '_>,
) -> Result<(), Refusal> {
    starts(code)?;
    runs(code)?;
    times::check(code)?;
    for (id, thread) in code.facts.threads.threads.iter() {
        single(code, accesses, memory, id, thread)?;
    }
    shared(code)?;
    distinct::check(code, accesses, memory)
}

fn refuse<T>(code: &Code<'_>, text: impl Into<String>) -> Result<T, Refusal> {
    code.refuse(SiteId::NONE, RULE, text)
}

/// Whether there is a thread with this entry and start.
fn find<'a>(code: &Code<'a>, entry: FunctionId, is: impl Fn(Start) -> bool) -> Option<&'a Thread> {
    code.facts.threads.threads.values().find(|thread| thread.entry == entry && is(thread.start))
}

fn starts(code: &Code<'_>) -> Result<(), Refusal> {
    let roots = &code.roots;
    if let Some(main) = roots.main
        && find(code, main, |start| start == Start::Main).is_none()
    {
        return refuse(code, "`main` is no thread");
    }
    if roots.main.is_none() && !roots.constructors.is_empty() {
        return refuse(code, "constructors without a `main`");
    }
    for entry in &roots.entries {
        match find(code, *entry, |start| start == Start::Client) {
            Some(thread) if thread.many => {}
            _ => return refuse(code, "an entry is no thread of many clients"),
        }
    }
    for destructor in &roots.destructors {
        if find(code, *destructor, |start| matches!(start, Start::Handler(_))).is_none() {
            return refuse(code, "a destructor is no thread");
        }
    }
    for (caller, calls) in code.calls.from.iter() {
        for (call, run) in calls.iter().flat_map(|call| call.runs.iter().map(move |run| (call, run))) {
            let found = match run.way {
                Way::Call | Way::AtomicCall | Way::Callback => continue,
                Way::Thread => find(code, run.function, |start| start == Start::Created(call.site)),
                Way::Once => find(code, run.function, |start| matches!(start, Start::Once(_))),
                Way::Handler => find(code, run.function, |start| start == Start::Handler(call.site)),
            };
            let Some(thread) = found else {
                return code.refuse(
                    call.site,
                    RULE,
                    format!("{} is started here and is no thread", run.function),
                );
            };
            let creators = &code.facts.threads.runs[caller];
            if !creators.iter().all(|creator| thread.creators.contains(creator)) {
                return code.refuse(call.site, RULE, "a creator of a thread is missing");
            }
        }
    }
    Ok(())
}

/// Functions that are called run on the caller's threads.
fn runs(code: &Code<'_>) -> Result<(), Refusal> {
    let runs = &code.facts.threads.runs;
    for (id, thread) in code.facts.threads.threads.iter() {
        let before = if thread.start == Start::Main { &code.roots.constructors[..] } else { &[] };
        if !before.iter().chain([&thread.entry]).all(|function| runs[*function].contains(&id)) {
            return refuse(code, format!("{id} does not run its own entry"));
        }
    }
    for (caller, calls) in code.calls.from.iter() {
        for run in calls.iter().flat_map(Call::nested) {
            if !runs[caller].iter().all(|thread| runs[run.function].contains(thread)) {
                return refuse(
                    code,
                    format!("{} is called on a thread that is not among its own", run.function),
                );
            }
        }
    }
    Ok(())
}

/// A thread that is not marked as many starts at most once.
fn single(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    memory: &Memory<'_, '_>,
    id: ThreadId,
    thread: &Thread,
) -> Result<(), Refusal> {
    if thread.many {
        return Ok(());
    }
    let starts = code.calls.runs_of(thread.entry);
    let is_single = match thread.start {
        Start::Main => code.roots.main == Some(thread.entry),
        Start::Client => false,
        Start::Handler(site) => {
            let listed = code.roots.destructors.iter().filter(|one| **one == thread.entry).count();
            site == SiteId::NONE && listed == 1
        }
        Start::Created(site) => starts
            .filter(|(_, call, run)| call.site == site && run.way == Way::Thread)
            .all(|(caller, call, _)| {
                let times = &code.facts.threads.times[caller];
                times[raddle_base::Id::index(call.block)] == raddle_facts::Times::Once
            }),
        Start::Once(_) => {
            one_control(code, accesses, memory, starts.filter(|(_, _, run)| run.way == Way::Once))
        }
    };
    if is_single { Ok(()) } else { refuse(code, format!("{id} may start more than once")) }
}

/// Whether all calls of `pthread_once` have the same control object, which nothing writes.
fn one_control<'c>(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    memory: &Memory<'_, '_>,
    starts: impl Iterator<Item = (FunctionId, &'c Call, &'c Run)>,
) -> bool {
    let mut control = None;
    for (caller, call, _) in starts {
        let (_, args) = call.parts(code, caller);
        let [(_, Effect::Once { once, .. })] = &call.effects[..] else { return false };
        let Some(arg) = args.get(usize::from(once.0)) else { return false };
        let term = code.term(caller, arg.value, arg.ty).filter(|term| code.is_global(*term));
        let same = term.is_some() && control.is_none_or(|known| known == term);
        let places = code.pointees(caller, arg.value);
        let written = memory.writes.writers(accesses, &places, terms::WORD).next().is_some();
        if !same || written {
            return false;
        }
        control = Some(term);
    }
    true
}

/// What more than one thread can reach: globals, the library's memory, what is handed to another thread, and what these point to.
fn shared(code: &Code<'_>) -> Result<(), Refusal> {
    let shared = &code.facts.threads.shared;
    let named = |object: ObjectId| format!("{:?} may be shared", code.kind(object));
    for (object, is_shared) in shared.iter() {
        let from_start = match code.kind(object) {
            ObjectKind::Global(_)
            | ObjectKind::Function(_)
            | ObjectKind::Library
            | ObjectKind::Outside(_)
            | ObjectKind::Unknown => true,
            ObjectKind::ThreadLocal(_)
            | ObjectKind::Stack(_)
            | ObjectKind::Parameter(..)
            | ObjectKind::Heap(_) => false,
        };
        if from_start && !is_shared {
            return refuse(code, named(object));
        }
        for cell in code.facts.points_to.contents[object].iter().filter(|_| *is_shared) {
            if let Some((held, _)) = code.targets(cell.holds).iter().find(|(held, _)| !shared[*held]) {
                return refuse(code, named(*held));
            }
        }
    }
    for (caller, calls) in code.calls.from.iter() {
        for (call, run) in calls.iter().flat_map(|call| call.runs.iter().map(move |run| (call, run))) {
            let elsewhere = matches!(run.way, Way::Thread | Way::Once | Way::Handler);
            let Passes::Values(values) = &run.passes else { continue };
            let (_, args) = call.parts(code, caller);
            let handed = values.iter().filter(|_| elsewhere).filter_map(|value| match value {
                Value::Arg(arg) => args.get(usize::from(arg.0)),
                // What is in the library's memory is shared already.
                _ => None,
            });
            for arg in handed {
                let held =
                    code.held(At { function: caller, block: call.block, index: call.index }, arg.value)?;
                if let Some((object, _)) = held.iter().find(|(object, _)| !shared[*object]) {
                    return code.refuse(call.site, RULE, named(*object));
                }
            }
        }
    }
    Ok(())
}
