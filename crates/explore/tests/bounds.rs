//! Bounds on runs: what they leave out, and that the answer says so.

use raddle_base::{LoadOrder, RmwOrder};
use raddle_explore::dpor::optimal;
use raddle_explore::enumerate::{Coverage, Exploration, Gap, Limits};
use raddle_explore::random::{Plan, Strategy, random};
use raddle_explore::stateful::{Caching, stateful};
use raddle_finding::Deadlocks;
use raddle_machine::Visibility;
use raddle_testkit::script::{
    Act, Cond, How, LockKind, Mode, Place, RmwKind, Script, ScriptMachine, Stmt, Value,
};

type Search = fn(&mut ScriptMachine, &Limits) -> Exploration;

const SEARCHES: [(&str, Search); 4] = [
    ("stateful", |machine, limits| stateful(machine, limits, Visibility::SyncOnly, Caching::On).exploration),
    ("stateless", |machine, limits| {
        stateful(machine, limits, Visibility::SyncOnly, Caching::Off).exploration
    }),
    ("optimal", |machine, limits| optimal(machine, limits, Visibility::SyncOnly).exploration),
    ("random", |machine, limits| {
        let plan = Plan { strategy: Strategy::Walk, seed: 5, runs: 300 };
        random(machine, limits, Visibility::SyncOnly, plan)
    }),
];

fn lock(lock: u8) -> Stmt {
    Stmt::Act(Act::Lock { lock, mode: Mode::Exclusive, how: How::Block, result: 3 })
}

fn unlock(lock: u8) -> Stmt {
    Stmt::Act(Act::Unlock { lock })
}

/// Two threads that take two locks in opposite orders: the deadlock takes one preemption.
fn opposite_orders() -> Script {
    let section = |a, b| vec![lock(a), lock(b), unlock(b), unlock(a)];
    let main = [
        Act::Create { thread: 1 },
        Act::Create { thread: 2 },
        Act::Join { thread: 1 },
        Act::Join { thread: 2 },
    ];
    Script {
        locks: vec![LockKind::Mutex, LockKind::Mutex],
        threads: vec![main.map(Stmt::Act).to_vec(), section(0, 1), section(1, 0)],
        ..Script::default()
    }
}

/// Counts up for ever, while another thread looks.
fn endless() -> Script {
    let place = Place { var: 0, offset: 0, size: 1 };
    let count =
        Act::AtomicRmw { to: 0, place, kind: RmwKind::Add, value: Value::Const(1), order: RmwOrder::SeqCst };
    let look = Act::AtomicLoad { to: 0, place, order: LoadOrder::SeqCst };
    let counting = vec![Stmt::Forever { body: vec![Stmt::Act(count), Stmt::BreakIf(Cond::Is(0, 9))] }];
    let main =
        vec![Stmt::Act(Act::Create { thread: 1 }), Stmt::Act(look), Stmt::Act(Act::Join { thread: 1 })];
    Script { vars: 1, threads: vec![main, counting], ..Script::default() }
}

#[test]
fn a_deadlock_behind_a_preemption() {
    for (name, search) in SEARCHES {
        let with = |preemptions| {
            let limits = Limits { preemptions, ..Limits::default() };
            search(&mut ScriptMachine::new(&opposite_orders()), &limits)
        };
        let none = with(Some(0));
        assert_eq!((none.deadlocks, none.coverage), (Deadlocks::Unknown, Coverage::Partial), "{name}");
        let gap = if name == "random" { Gap::Sample } else { Gap::Preemptions };
        assert!(none.unknown_reasons.contains(&gap), "{name}: {:?}", none.unknown_reasons);
        assert_eq!(with(Some(1)).deadlocks, Deadlocks::Found, "{name}");
        assert_eq!(with(None).deadlocks, Deadlocks::Found, "{name}");
    }
}

/// A bound that nothing reaches leaves nothing out.
#[test]
fn a_bound_out_of_reach() {
    for (name, search) in &SEARCHES[..3] {
        let limits = Limits { preemptions: Some(50), loop_rounds: Some(50), ..Limits::default() };
        let all = search(&mut ScriptMachine::new(&opposite_orders()), &limits);
        assert_eq!(all.coverage, Coverage::Complete, "{name}");
    }
}

#[test]
fn rounds_of_a_loop() {
    for (name, search) in SEARCHES {
        let with = |loop_rounds| {
            let limits = Limits { loop_rounds, ..Limits::default() };
            search(&mut ScriptMachine::new(&endless()), &limits)
        };
        let few = with(Some(3));
        assert_eq!(few.coverage, Coverage::Partial, "{name}");
        assert!(few.unknown_reasons.contains(&Gap::LoopRounds), "{name}: {:?}", few.unknown_reasons);
        assert_eq!(few.runs.executions, 0, "{name}");
        if name != "random" {
            assert_eq!(with(None).coverage, Coverage::Complete, "{name}");
            assert_eq!(with(Some(10)).coverage, Coverage::Complete, "{name}");
        }
    }
}

#[test]
fn steps_of_a_run() {
    for (name, search) in SEARCHES {
        let limits = Limits { run_steps: 4, ..Limits::default() };
        let few = search(&mut ScriptMachine::new(&endless()), &limits);
        assert!(few.unknown_reasons.contains(&Gap::RunSteps), "{name}: {:?}", few.unknown_reasons);
        assert_eq!((few.coverage, few.runs.executions), (Coverage::Partial, 0), "{name}");
    }
}
