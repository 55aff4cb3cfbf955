//! Numbers of runs that can be worked out on paper.

use raddle_base::{LoadOrder, RmwOrder};
use raddle_explore::enumerate::{Coverage, Limits, RunCount, sync};
use raddle_testkit::script::{
    Act, Block, Cond, How, LockKind, Mode, Place, RmwKind, Script, ScriptMachine, Stmt, Value,
};

const PLACE: Place = Place { var: 0, offset: 0, size: 4 };

/// Main creates a thread, both do their part, main joins it. The thread's end is an operation of its own.
fn two_threads(objects: Script, main: Block, other: Block) -> RunCount {
    let mut body = vec![Stmt::Act(Act::Create { thread: 1 })];
    body.extend(main);
    body.push(Stmt::Act(Act::Join { thread: 1 }));
    let script = Script { vars: 1, threads: vec![body, other], ..objects };
    let exploration = sync(&mut ScriptMachine::new(&script), &Limits::default());
    assert_eq!(exploration.coverage, Coverage::Complete);
    exploration.runs
}

fn sections(lock: u8, count: u64) -> Block {
    let pair = [
        Stmt::Act(Act::Lock { lock, mode: Mode::Exclusive, how: How::Block, result: 0 }),
        Stmt::Act(Act::Unlock { lock }),
    ];
    (0..count).flat_map(|_| pair.clone()).collect()
}

fn atomics(count: u64) -> Block {
    let add = Act::AtomicRmw {
        to: 0,
        place: PLACE,
        kind: RmwKind::Add,
        value: Value::Const(1),
        order: RmwOrder::SeqCst,
    };
    (0..count).map(|_| Stmt::Act(add)).collect()
}

fn choose(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

#[test]
fn critical_sections_of_different_locks_interleave_freely() {
    for (n, m) in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (1, 3), (3, 3), (4, 2)] {
        let objects = Script { locks: vec![LockKind::Mutex, LockKind::Mutex], ..Script::default() };
        let runs = two_threads(objects, sections(0, n), sections(1, m));
        assert_eq!(runs.executions, choose(2 * n + 2 * m + 1, 2 * n), "{n} against {m}");
    }
}

#[test]
fn critical_sections_of_one_lock_exclude_each_other() {
    for kind in [LockKind::Mutex, LockKind::Recursive, LockKind::ErrorCheck, LockKind::Spin, LockKind::Rwlock]
    {
        for (n, m) in [(1, 1), (2, 1), (1, 3), (3, 3), (4, 2)] {
            let objects = Script { locks: vec![kind], ..Script::default() };
            let runs = two_threads(objects, sections(0, n), sections(0, m));
            // By the number k of main's sections behind the last one of the other, whose end falls among their 2k operations.
            let expected: u64 = (0..=n).map(|k| choose(m - 1 + n - k, m - 1) * (2 * k + 1)).sum();
            assert_eq!(runs.executions, expected, "{n} against {m}, {kind:?}");
        }
    }
}

#[test]
fn atomics_interleave_freely() {
    for (n, m) in [(1, 1), (2, 3), (4, 4), (6, 5)] {
        let runs = two_threads(Script::default(), atomics(n), atomics(m));
        assert_eq!(runs.executions, choose(n + m + 1, n), "{n} against {m}");
    }
}

#[test]
fn plain_accesses_are_no_scheduling_points() {
    let write = Stmt::Act(Act::Write { place: PLACE, value: Value::Const(1) });
    let read = Stmt::Act(Act::Read { to: 0, place: Place { offset: 4, ..PLACE } });
    let runs = two_threads(Script::default(), vec![read.clone(), read], vec![write.clone(), write]);
    // Main waits in its join: only the thread's end is left to do.
    assert_eq!(runs.executions, 1);
}

#[test]
fn readers_overlap() {
    let read_section = vec![
        Stmt::Act(Act::Lock { lock: 0, mode: Mode::Shared, how: How::Block, result: 0 }),
        Stmt::Act(Act::Unlock { lock: 0 }),
    ];
    let objects = Script { locks: vec![LockKind::Rwlock], ..Script::default() };
    assert_eq!(two_threads(objects, read_section.clone(), read_section).executions, choose(5, 2));
}

#[test]
fn a_barrier_orders_arrivals_before_departures() {
    let objects = Script { barriers: vec![2], ..Script::default() };
    let wait = vec![Stmt::Act(Act::Barrier { barrier: 0 })];
    // Two orders of arrival; then main's departure before, between or behind the other's departure and end.
    assert_eq!(two_threads(objects, wait.clone(), wait).executions, 2 * 3);
}

#[test]
fn a_semaphore_makes_main_wait() {
    let objects = Script { sems: vec![0], ..Script::default() };
    let down = vec![Stmt::Act(Act::Down { sem: 0, how: How::Block, result: 0 })];
    let post = vec![Stmt::Act(Act::Post { sem: 0 })];
    // The post comes first; the wait before or behind the thread's end.
    assert_eq!(two_threads(objects, down, post).executions, 2);
}

#[test]
fn a_condition_wait_ends_by_signal_or_for_no_reason() {
    let objects = Script { locks: vec![LockKind::Mutex], conds: 1, ..Script::default() };
    let flag = Place { size: 1, ..PLACE };
    let [lock, unlock] = <[Stmt; 2]>::try_from(sections(0, 1)).expect("a pair");
    let wait = Stmt::Act(Act::Wait { cond: 0, lock: 0, how: How::Block });
    let main = vec![
        lock.clone(),
        Stmt::Act(Act::Read { to: 0, place: flag }),
        Stmt::If { cond: Cond::Is(0, 0), then: vec![wait], otherwise: Vec::new() },
        unlock.clone(),
    ];
    let other = vec![
        lock,
        Stmt::Act(Act::Write { place: flag, value: Value::Const(1) }),
        Stmt::Act(Act::Signal { cond: 0 }),
        unlock,
    ];
    // Main comes second and does not wait: the other's end before, in or behind its section. Main comes first and is signalled: the
    // end before, in or behind the rest of its section. It wakes up for no reason, and has the lock again before the other: one;
    // or behind the other: the end before, in or behind the rest of its section.
    assert_eq!(two_threads(objects, main, other).executions, 3 + 3 + 1 + 3);
}

#[test]
fn a_timed_lock_times_out_only_while_the_lock_is_taken() {
    let objects = Script { locks: vec![LockKind::Mutex], ..Script::default() };
    let timed = Stmt::Act(Act::Lock { lock: 0, mode: Mode::Exclusive, how: How::Timed, result: 1 });
    let unlock = Stmt::If {
        cond: Cond::Is(1, 0),
        then: vec![Stmt::Act(Act::Unlock { lock: 0 })],
        otherwise: Vec::new(),
    };
    // A timeout inside of the other's section. Taken before the section, behind it (its unlock before or behind the end), or behind
    // the end.
    assert_eq!(two_threads(objects, vec![timed, unlock], sections(0, 1)).executions, 1 + 1 + 2 + 1);
}

#[test]
fn the_environment_chooses_and_an_assumption_cuts() {
    let picks = vec![Stmt::Act(Act::Choose { to: 0 }), Stmt::Act(Act::Choose { to: 1 })];
    let mut cut = picks.clone();
    cut.push(Stmt::Act(Act::Assume(Cond::Is(1, 0))));
    let one_thread = |block: Block| {
        let script = Script { threads: vec![block], ..Script::default() };
        sync(&mut ScriptMachine::new(&script), &Limits::default()).runs
    };
    assert_eq!(one_thread(picks), RunCount { executions: 4, infeasible: 0, truncated: 0 });
    assert_eq!(one_thread(cut), RunCount { executions: 2, infeasible: 2, truncated: 0 });
}

#[test]
fn waiting_for_a_value_ends() {
    let load = Stmt::Act(Act::AtomicLoad { to: 0, place: PLACE, order: LoadOrder::SeqCst });
    let wait = vec![Stmt::Forever { body: vec![load, Stmt::BreakIf(Cond::IsNot(0, 0))] }];
    // Main looks before the add (once: then it sleeps) or not; then it looks before or behind the thread's end.
    assert_eq!(two_threads(Script::default(), wait, atomics(1)).executions, 2 * 2);
}
