//! Abstract threads of the program: creation sites, multiplicity, who runs which function, which objects are shared.
//!
//! All *may*. A thread is single only if its creation site is executed at most once in the whole run. The fixpoint over multiplicity
//! starts from "once" and only grows. Once functions are single threads if every `pthread_once` that can run them has one and
//! the same control object.

mod counters;
mod distinct;
mod escape;
mod times;

use crate::Roots;
use crate::accesses::Access;
use crate::calls::{Calls, Way};
use crate::terms::{Definitions, term_of};
use raddle_base::{Id, IdVec, SiteId};
use raddle_facts::{
    ObjectKind, Offsets, PointsTo, Start, Term, Thread, ThreadFacts, ThreadId, Times, Values,
};
use raddle_ir::{FunctionId, Operand, Program};
use raddle_libmodel::Effect;

/// Bytes of a control object.
const ONCE_BYTES: u64 = 4;

pub fn solve(
    program: &Program,
    roots: &Roots,
    calls: &Calls,
    definitions: &Definitions,
    values: &Values,
    points_to: &PointsTo,
    accesses: &[Access],
) -> ThreadFacts {
    let mut facts = ThreadFacts { threads: starts(program, roots, calls), ..ThreadFacts::default() };
    runs(program, roots, calls, &mut facts);
    loop {
        facts.times = times::solve(program, roots, calls, values, &facts);
        let grown = multiply(program, calls, definitions, values, (points_to, accesses), &mut facts);
        if !grown {
            break;
        }
    }
    facts.shared = escape::solve(program, calls, points_to, &facts);
    let (distinct, before_start) =
        distinct::solve(program, calls, definitions, values, points_to, accesses, &facts);
    facts.distinct = distinct;
    facts.before_start = before_start;
    facts
}

/// One thread per root, per creation site and target, per once function and per handler; all single at first, except clients.
fn starts(program: &Program, roots: &Roots, calls: &Calls) -> IdVec<ThreadId, Thread> {
    let mut threads: IdVec<ThreadId, Thread> = IdVec::new();
    let new = |entry, start, many| Thread { entry, start, many, creators: Vec::new() };
    if let Some(main) = roots.main {
        threads.push(new(main, Start::Main, false));
    }
    for entry in &roots.entries {
        threads.push(new(*entry, Start::Client, true));
    }
    for destructor in &roots.destructors {
        threads.push(new(*destructor, Start::Handler(SiteId::NONE), false));
    }
    let mut once: Vec<FunctionId> = Vec::new();
    for function in program.functions.ids() {
        for call in &calls.from[function] {
            for (target, way) in &call.runs {
                match way {
                    Way::Call | Way::AtomicCall | Way::Callback => {}
                    Way::Thread => {
                        threads.push(new(*target, Start::Created(call.site), false));
                    }
                    Way::Once => {
                        if !once.contains(target) {
                            once.push(*target);
                            threads.push(new(*target, Start::Once(call.site), false));
                        }
                    }
                    Way::Handler => {
                        threads.push(new(*target, Start::Handler(call.site), true));
                    }
                }
            }
        }
    }
    threads
}

/// Which threads run which function, and who creates whom.
fn runs(program: &Program, roots: &Roots, calls: &Calls, facts: &mut ThreadFacts) {
    let mut runs: IdVec<FunctionId, Vec<ThreadId>> = program.functions.ids().map(|_| Vec::new()).collect();
    for (id, thread) in facts.threads.iter() {
        let mut work = vec![thread.entry];
        if thread.start == Start::Main {
            work.extend(&roots.constructors);
        }
        while let Some(function) = work.pop() {
            if runs[function].last() == Some(&id) {
                continue;
            }
            runs[function].push(id);
            let nested = calls.from[function].iter().flat_map(|call| &call.runs);
            work.extend(nested.filter(|(_, way)| way.is_nested()).map(|(target, _)| *target));
        }
    }
    let sites: Vec<(ThreadId, Vec<ThreadId>)> = facts
        .threads
        .iter()
        .map(|(id, thread)| {
            let mut creators: Vec<ThreadId> = starting_calls(calls, thread)
                .into_iter()
                .flat_map(|(function, _)| runs[function].iter().copied())
                .collect();
            creators.sort();
            creators.dedup();
            (id, creators)
        })
        .collect();
    for (id, creators) in sites {
        facts.threads[id].creators = creators;
    }
    facts.runs = runs;
}

/// The call sites that start a thread: one for a created thread, all for a once function.
pub(crate) fn starting_calls(calls: &Calls, thread: &Thread) -> Vec<(FunctionId, usize)> {
    let wanted = |site: SiteId, way: Way| match thread.start {
        Start::Main | Start::Client => false,
        Start::Created(at) => way == Way::Thread && site == at,
        Start::Once(_) => way == Way::Once,
        Start::Handler(at) => way == Way::Handler && site == at,
    };
    calls.to[thread.entry]
        .iter()
        .copied()
        .filter(|(function, position)| {
            let call = &calls.from[*function][*position];
            call.runs.iter().any(|(target, way)| *target == thread.entry && wanted(call.site, *way))
        })
        .collect()
}

/// Marks threads whose start can happen more than once; whether any is new.
fn multiply(
    program: &Program,
    calls: &Calls,
    definitions: &Definitions,
    values: &Values,
    (points_to, accesses): (&PointsTo, &[Access]),
    facts: &mut ThreadFacts,
) -> bool {
    let mut grown = false;
    for id in facts.threads.ids() {
        let thread = &facts.threads[id];
        if thread.many {
            continue;
        }
        let sites = starting_calls(calls, thread);
        let many = match thread.start {
            Start::Main | Start::Client | Start::Handler(_) => false,
            Start::Created(_) => sites.iter().any(|(function, position)| {
                let block = calls.from[*function][*position].block;
                facts.times[*function][block.0 as usize] != Times::Once
            }),
            Start::Once(_) => {
                let controls: Vec<Option<Term>> = sites
                    .iter()
                    .map(|(function, position)| {
                        let call = &calls.from[*function][*position];
                        once_control(program, values, *function, call)
                            .filter(|(_, term)| definitions.is_global(facts, *term))
                            .filter(|(control, _)| !is_written(points_to, accesses, *function, *control))
                            .map(|(_, term)| term)
                    })
                    .collect();
                controls.iter().any(|control| control.is_none() || *control != controls[0])
            }
        };
        if many {
            facts.threads[id].many = true;
            grown = true;
        }
    }
    grown
}

/// Whether a control object may be written as plain memory: then the function may run again.
fn is_written(points_to: &PointsTo, accesses: &[Access], function: FunctionId, control: Operand) -> bool {
    let places: Vec<_> = match control {
        Operand::Reg(reg) => points_to.targets_of(points_to.regs[function][reg.index()]).to_vec(),
        Operand::Global(global, offset) => points_to
            .objects
            .iter()
            .filter(|(_, object)| object.kind == ObjectKind::Global(global))
            .map(|(id, _)| (id, Offsets::exact(offset)))
            .collect(),
        _ => return true,
    };
    accesses
        .iter()
        .filter(|access| access.is_write())
        .any(|access| places.iter().any(|(object, at)| access.may_touch(points_to, *object, *at, ONCE_BYTES)))
}

/// The control object of a `pthread_once` call, as an operand and as a term.
fn once_control(
    program: &Program,
    values: &Values,
    function: FunctionId,
    call: &crate::calls::Call,
) -> Option<(Operand, Term)> {
    let (_, args) = call.parts(program, function);
    let mut controls = call.effects.iter().filter_map(|effect| match effect {
        Effect::Once { once, .. } => args.get(usize::from(once.0)),
        _ => None,
    });
    let control = controls.next()?;
    if controls.next().is_some() || call.effects.len() != 1 {
        return None;
    }
    Some((control.value, term_of(values, function, control.value)))
}
