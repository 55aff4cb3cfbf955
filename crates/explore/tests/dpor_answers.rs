//! Answers of the reduced searches: schedules replay, and a search that was cut says so.

use raddle_base::RmwOrder;
use raddle_event::{Event, Schedule, Trace};
use raddle_explore::dpor::{Reduced, baseline, optimal};
use raddle_explore::enumerate::{Coverage, Exploration, Gap, Goal, Limits};
use raddle_finding::Deadlocks;
use raddle_machine::{Machine, Status, TraceSink, Visibility};
use raddle_testkit::script::{Act, Place, Profile, RmwKind, Script, ScriptMachine, Stmt, Value, generate};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

type Search = fn(&mut ScriptMachine, &Limits, Visibility) -> Reduced;

const SEARCHES: [Search; 2] = [baseline, optimal];

fn replay(script: &Script, visibility: &Visibility, schedule: &Schedule) -> (ScriptMachine, Trace, usize) {
    let mut machine = ScriptMachine::new(script);
    machine.set_visibility(visibility.clone());
    let mut sink = TraceSink::default();
    let mut last_step = 0;
    for choice in &schedule.choices {
        last_step = sink.trace.events.len();
        machine.step(*choice, &mut sink);
    }
    (machine, sink.trace, last_step)
}

#[test]
fn races_and_problems_replay() {
    let limits = Limits { goal: Goal::AllRaces, steps: 20_000, run_steps: 300, ..Limits::default() };
    let (mut races, mut problems) = (0, 0);
    for seed in 0..200 {
        let script = generate(seed, &Profile::EVERYTHING);
        for search in SEARCHES {
            let found = search(&mut ScriptMachine::new(&script), &limits, Visibility::SyncOnly).exploration;
            for race in found.races {
                races += 1;
                let (_, trace, last_step) = replay(&script, &race.visibility, &race.schedule);
                let is_second = |event: &&Event| **event == race.second;
                let second = trace.events[last_step..].iter().find(is_second);
                assert!(second.is_some(), "seed {seed}: the last step has not {:?}", race.second);
                let shown = raddle_order::races(&trace).into_iter().any(|pair| {
                    trace.events[pair.second] == race.second && trace.events[pair.first] == race.first
                });
                assert!(shown, "seed {seed}: {:?} does not show again", race.key);
            }
            for problem in found.problems {
                problems += 1;
                let (machine, ..) = replay(&script, &problem.visibility, &problem.schedule);
                for one in &problem.problems {
                    assert!(machine.problems().contains(one), "seed {seed}: {one:?} does not show again");
                }
            }
        }
    }
    assert!(races > 100 && problems > 50, "only {races} races and {problems} problems to replay");
}

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
    for search in SEARCHES {
        let found = search(&mut ScriptMachine::new(&script(7)), limits, Visibility::SyncOnly).exploration;
        assert_eq!(found.coverage, Coverage::Partial);
        assert_eq!(found.unknown_reasons.iter().collect::<Vec<_>>(), [&gap]);
        assert_eq!(found.deadlocks, Deadlocks::Unknown);
    }
}

#[test]
fn each_limit_is_named() {
    assert_gap(&Limits { steps: 100, ..Limits::default() }, Gap::Steps);
    assert_gap(&Limits { executions: 7, ..Limits::default() }, Gap::Executions);
    assert_gap(&Limits { run_steps: 15, ..Limits::default() }, Gap::RunSteps);
    assert_gap(&Limits { run_events: 8, ..Limits::default() }, Gap::RunEvents);
    assert_gap(&Limits { time: Some(Duration::ZERO), ..Limits::default() }, Gap::Time);
    let flag = AtomicBool::new(true);
    assert_gap(&Limits { interrupt: Some(&flag), ..Limits::default() }, Gap::Interrupted);
}

#[test]
fn the_machine_is_left_at_its_start() {
    for search in SEARCHES {
        let mut machine = ScriptMachine::new(&script(2));
        let start = machine.fingerprint();
        let first: Exploration =
            search(&mut machine, &Limits::default(), Visibility::EveryAccess).exploration;
        assert_eq!((machine.fingerprint(), machine.status()), (start, Status::Running));
        let again = search(&mut machine, &Limits::default(), Visibility::EveryAccess).exploration;
        assert_eq!(first, again, "the same search gives the same answer");
    }
}
