//! A search that was cut says so, whatever cut it.

use raddle_base::RmwOrder;
use raddle_explore::dpor::optimal;
use raddle_explore::enumerate::{Coverage, Gap, Goal, Limits, every_access, sync};
use raddle_finding::Deadlocks;
use raddle_machine::Visibility;
use raddle_testkit::script::{Act, Place, RmwKind, Script, ScriptMachine, Stmt, Value};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Two threads of `n` atomic operations each.
fn script(n: usize) -> Script {
    let add = Act::AtomicRmw {
        to: 0,
        place: Place { var: 0, offset: 0, size: 4 },
        kind: RmwKind::Add,
        value: Value::Const(1),
        order: RmwOrder::SeqCst,
    };
    let mut main = vec![Stmt::Act(Act::Create { thread: 1 })];
    main.extend(vec![Stmt::Act(add); n]);
    Script { vars: 1, threads: vec![main, vec![Stmt::Act(add); n]], ..Script::default() }
}

fn assert_gap(limits: &Limits, gap: Gap) {
    for exploration in [
        sync(&mut ScriptMachine::new(&script(9)), limits),
        every_access(&mut ScriptMachine::new(&script(9)), limits),
    ] {
        assert_eq!(exploration.coverage, Coverage::Partial);
        assert_eq!(exploration.unknown_reasons.iter().collect::<Vec<_>>(), [&gap]);
        assert_eq!(exploration.deadlocks, Deadlocks::Unknown);
    }
}

#[test]
fn each_limit_is_named() {
    assert_gap(&Limits { steps: 100, ..Limits::default() }, Gap::Steps);
    assert_gap(&Limits { executions: 7, ..Limits::default() }, Gap::Executions);
    assert_gap(&Limits { run_steps: 19, ..Limits::default() }, Gap::RunSteps);
    assert_gap(&Limits { time: Some(Duration::ZERO), ..Limits::default() }, Gap::Time);
    let flag = AtomicBool::new(true);
    assert_gap(&Limits { interrupt: Some(&flag), ..Limits::default() }, Gap::Interrupted);
}

#[test]
fn a_run_with_too_many_events_is_cut() {
    let exploration =
        sync(&mut ScriptMachine::new(&script(9)), &Limits { run_events: 8, ..Limits::default() });
    assert_eq!(exploration.coverage, Coverage::Partial);
    assert_eq!(exploration.unknown_reasons.iter().collect::<Vec<_>>(), [&Gap::RunEvents]);
    assert_eq!(exploration.runs.executions, 0);
}

#[test]
fn a_limit_that_is_just_enough_is_none() {
    let all = sync(&mut ScriptMachine::new(&script(3)), &Limits::default());
    assert_eq!((all.coverage, all.deadlocks), (Coverage::Complete, Deadlocks::None));
    let limits = Limits { steps: all.steps, executions: all.runs.executions, ..Limits::default() };
    assert_eq!(sync(&mut ScriptMachine::new(&script(3)), &limits), all);
    let too_few = Limits { executions: all.runs.executions - 1, ..limits };
    assert_eq!(sync(&mut ScriptMachine::new(&script(3)), &too_few).coverage, Coverage::Partial);
    let too_short = Limits { steps: all.steps - 1, ..limits };
    assert_eq!(sync(&mut ScriptMachine::new(&script(3)), &too_short).coverage, Coverage::Partial);
}

#[test]
fn the_first_race_stops_the_search() {
    let mut racy = script(4);
    let write = Stmt::Act(Act::Write { place: Place { var: 0, offset: 4, size: 1 }, value: Value::Const(1) });
    racy.threads[0].insert(1, write.clone());
    racy.threads[1].insert(0, write);
    let first = sync(&mut ScriptMachine::new(&racy), &Limits::default());
    assert_eq!((first.coverage, first.races.len()), (Coverage::StoppedAtRace, 1));
    assert_eq!((first.runs.executions, first.deadlocks), (1, Deadlocks::Unknown));
    let all = sync(&mut ScriptMachine::new(&racy), &Limits { goal: Goal::AllRaces, ..Limits::default() });
    assert_eq!((all.coverage, all.races.len(), all.deadlocks), (Coverage::Complete, 1, Deadlocks::None));
    assert_eq!(all.passes, 2);
}

#[test]
fn progress_is_told() {
    let calls = AtomicU32::new(0);
    let count = |_: &_| {
        calls.fetch_add(1, Ordering::Relaxed);
    };
    sync(&mut ScriptMachine::new(&script(7)), &Limits { progress: Some(&count), ..Limits::default() });
    let calls = calls.into_inner();
    assert!(calls > 1, "{calls} calls");
}

/// The share of random schedules whose class was explored: little at first, about half in the middle, nearly all before the end.
#[test]
fn progress_is_estimated() {
    let script = script(7);
    let done = |executions| {
        let limits = Limits { executions, progress: Some(&|_| {}), ..Limits::default() };
        optimal(&mut ScriptMachine::new(&script), &limits, Visibility::SyncOnly).exploration
    };
    let all = done(u64::MAX);
    assert_eq!((all.coverage, all.explored), (Coverage::Complete, None));
    let total = all.runs.executions;
    assert!(total > 1_000, "{total} runs");
    let share = |executions| done(executions).explored.expect("a search that is watched estimates");
    assert!(share(1) < 50, "{}", share(1));
    let half = share(total / 2);
    assert!((200..800).contains(&half), "{half}");
    assert!(share(total - 1) > 950, "{}", share(total - 1));
    let unwatched = Limits { executions: 1, ..Limits::default() };
    let unwatched = optimal(&mut ScriptMachine::new(&script), &unwatched, Visibility::SyncOnly);
    assert_eq!(unwatched.exploration.explored, None);
}
