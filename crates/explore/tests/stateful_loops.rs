//! Programs that do not end: the search that remembers states ends on them, with the right answer.
//!
//! The opponent is the enumerator of all accesses with its own cache, which asks another question (are two accesses next at the same
//! time?) and knows nothing of happens-before. It can be trusted for scripts without try operations and weak atomics.

mod compared;

use compared::{for_all, keys, seeds};
use raddle_config::Config;
use raddle_event::ProblemKind;
use raddle_explore::enumerate::{Coverage, Exploration, Gap, Goal, Limits, StateCache, every_access};
use raddle_explore::stateful::{Caching, stateful};
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_libmodel::Models;
use raddle_machine::Visibility;
use raddle_testkit::script::{
    Act, Block, Place, Profile, RmwKind, Script, ScriptMachine, Stmt, Stuttering, Value, c_text, generate,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn limits(goal: Goal) -> Limits<'static> {
    Limits { goal, steps: 20_000, run_steps: 1_000, cache: StateCache::Fingerprints, ..Limits::default() }
}

/// No thread ever sleeps: whoever waits goes round and round.
fn restless(script: &Script) -> ScriptMachine {
    ScriptMachine::new(script).stuttering(Stuttering::GoesOn)
}

fn cached(machine: &mut ScriptMachine, goal: Goal) -> Exploration {
    let limits = Limits { steps: 40_000, run_steps: 40_000, ..limits(goal) };
    stateful(machine, &limits, Visibility::SyncOnly, Caching::On).exploration
}

/// What does not depend on whether threads sleep.
fn failures(exploration: &Exploration) -> BTreeSet<(&'static str, u32)> {
    let stuck = |kind| matches!(kind, ProblemKind::Deadlock | ProblemKind::Livelock);
    let problems = exploration.problems.iter().map(|found| &found.problems[0]);
    problems
        .filter(|problem| !stuck(problem.kind))
        .map(|problem| (problem.kind.name(), problem.site.0))
        .collect()
}

fn agrees_with_every_access(script: &Script) -> Option<Result<(), String>> {
    let all = every_access(&mut restless(script), &limits(Goal::AllRaces));
    if all.coverage != Coverage::Complete {
        return None;
    }
    let decided = cached(&mut restless(script), Goal::FirstRace);
    let listed = cached(&mut restless(script), Goal::AllRaces);
    // Too large with all pasts, or a loop without visible operations that does something new each time.
    let open = |gap: &Gap| matches!(gap, Gap::Machine { .. } | Gap::Steps);
    if decided.unknown_reasons.iter().chain(&listed.unknown_reasons).any(open) {
        return None;
    }
    Some(if decided.races.is_empty() != all.races.is_empty() {
        Err(format!("races {:?}, searched {:?}", keys(&all), keys(&decided)))
    } else if decided.coverage == Coverage::Partial || listed.coverage != Coverage::Complete {
        Err(format!("{:?}, {:?}", decided.unknown_reasons, listed.unknown_reasons))
    } else if !keys(&all).is_subset(&keys(&listed)) {
        Err(format!("races {:?}, listed {:?}", keys(&all), keys(&listed)))
    } else if failures(&all) != failures(&listed) {
        Err(format!("problems {:?}, searched {:?}", failures(&all), failures(&listed)))
    } else {
        Ok(())
    })
}

#[test]
fn waiting_loops_without_sleep() {
    let generate = |seed| generate(seed, &Profile::TINY);
    for_all("restless", seeds(300, 60_000), generate, agrees_with_every_access);
}

/// The bodies of all threads that create none, repeated for ever.
fn endless(seed: u64) -> Script {
    let mut script = generate(seed, &Profile::TINY);
    for body in script.threads.iter_mut().skip(1) {
        let mut inner = std::mem::take(body);
        tame(&mut inner);
        let creates = inner.iter().any(|stmt| matches!(stmt, Stmt::Act(Act::Create { .. })));
        *body = if creates { inner } else { vec![Stmt::Forever { body: inner }] };
    }
    script
}

/// Takes out what counts up.
fn tame(block: &mut Block) {
    block.retain(|stmt| !matches!(stmt, Stmt::Act(Act::Post { .. })));
    for stmt in block {
        match stmt {
            Stmt::Act(Act::Write { value, .. } | Act::AtomicStore { value, .. } | Act::Set { value, .. }) => {
                if matches!(value, Value::Next(_)) {
                    *value = Value::Const(1);
                }
            }
            Stmt::Act(Act::AtomicRmw { kind, value, .. }) => {
                *kind = RmwKind::Exchange;
                *value = Value::Const(1);
            }
            Stmt::If { then, otherwise, .. } => {
                tame(then);
                tame(otherwise);
            }
            Stmt::Repeat { body, .. } | Stmt::Forever { body } => tame(body),
            Stmt::Act(_) | Stmt::BreakIf(_) => {}
        }
    }
}

#[test]
fn endless_threads() {
    for_all("endless", seeds(150, 40_000), endless, agrees_with_every_access);
}

#[test]
fn sleeping_changes_no_answer() {
    let profile = Profile { tries: true, weak_atomics: true, ..Profile::TINY };
    for_all(
        "sleep",
        seeds(300, 30_000),
        |seed| generate(seed, &profile),
        |script| {
            let sleeps = cached(&mut ScriptMachine::new(script), Goal::AllRaces);
            let goes_on = cached(&mut restless(script), Goal::AllRaces);
            if sleeps.coverage != Coverage::Complete || goes_on.coverage != Coverage::Complete {
                return None;
            }
            Some(if keys(&sleeps) != keys(&goes_on) || failures(&sleeps) != failures(&goes_on) {
                Err(format!("with sleep {:?}, without {:?}", keys(&sleeps), keys(&goes_on)))
            } else {
                Ok(())
            })
        },
    );
}

/// A thread that goes round for ever, independent of all others, does not keep them from being looked at.
#[test]
fn nobody_is_put_off_for_ever() {
    let x = Place { var: 0, offset: 0, size: 1 };
    let lock = Stmt::Act(Act::Lock {
        lock: 0,
        mode: raddle_testkit::script::Mode::Exclusive,
        how: raddle_testkit::script::How::Block,
        result: 3,
    });
    let busy = vec![Stmt::Forever { body: vec![lock, Stmt::Act(Act::Unlock { lock: 0 })] }];
    let writer = vec![Stmt::Act(Act::Write { place: x, value: Value::Const(1) })];
    let failing = vec![
        Stmt::Act(Act::Barrier { barrier: 0 }),
        Stmt::Act(Act::Assert(raddle_testkit::script::Cond::Is(0, 1))),
    ];
    let creations = (1..=3).map(|thread| Stmt::Act(Act::Create { thread }));
    let main: Block = creations.chain([writer[0].clone(), Stmt::Act(Act::Join { thread: 1 })]).collect();
    let script = Script {
        vars: 1,
        locks: vec![raddle_testkit::script::LockKind::Mutex],
        barriers: vec![1],
        threads: vec![main, busy, writer, failing],
        ..Script::default()
    };
    let found = cached(&mut restless(&script), Goal::AllRaces);
    assert_eq!(found.coverage, Coverage::Complete, "{:?} {} steps", found.unknown_reasons, found.steps);
    assert_eq!((found.races.len(), found.problems.len()), (1, 1));
}

/// The interpreter lets threads sleep by rules of its own.
fn agrees_as_c(script: &Script, folder: &Path) -> Option<Result<(), String>> {
    let all = every_access(&mut restless(script), &limits(Goal::FirstRace));
    let file = folder.join("script.c");
    std::fs::write(&file, c_text(script).text).expect("the folder can be written");
    let request = Request { inputs: vec![file], cflags: Vec::new(), data_model: None, ..Request::default() };
    let program = raddle_frontend::load(&request).expect("scripts are valid C").program;
    let models = Models::resolve(&program, &Config::default());
    let options = Options { segment_limit: 10_000, ..Options::default() };
    let mut machine = Interp::new(Arc::new(program), Arc::new(models), options).expect("scripts have a main");
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let found = stateful(&mut machine, &limits, Visibility::SyncOnly, Caching::On).exploration;
    if all.coverage == Coverage::Partial || found.coverage == Coverage::Partial {
        return None;
    }
    Some(if found.races.is_empty() == all.races.is_empty() {
        Ok(())
    } else {
        Err(format!("races {:?}, searched {:?}", keys(&all), keys(&found)))
    })
}

#[test]
fn endless_threads_as_c() {
    let folder = tempfile::tempdir().expect("a folder for C files");
    for_all("endless, as C", seeds(30, 2_000), endless, |script| agrees_as_c(script, folder.path()));
}
