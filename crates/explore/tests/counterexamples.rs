//! Programs on which the two modes rightly differ, or on which one of them was once wrong. Each is the smallest known.

use raddle_base::{LoadOrder, RmwOrder, StoreOrder};
use raddle_event::ProblemKind;
use raddle_explore::enumerate::{Coverage, Goal, Limits, every_access, sync};
use raddle_testkit::script::{
    Act, Block, Cond, How, LockKind, Mode, Place, Script, ScriptMachine, SpuriousWakeups, Stmt, Value,
};

const X: Place = Place { var: 0, offset: 0, size: 1 };
const ALL: Limits<'static> = Limits {
    goal: Goal::AllRaces,
    executions: u64::MAX,
    steps: u64::MAX,
    run_steps: 1_000,
    preemptions: None,
    loop_rounds: None,
    run_events: usize::MAX,
    time: None,
    interrupt: None,
    progress: None,
    cache: raddle_explore::enumerate::StateCache::Off,
};

fn act(act: Act) -> Stmt {
    Stmt::Act(act)
}

fn write_x(value: u8) -> Stmt {
    act(Act::Write { place: X, value: Value::Const(value) })
}

fn lock(how: How) -> Stmt {
    act(Act::Lock { lock: 0, mode: Mode::Exclusive, how, result: 0 })
}

fn with_thread(main: Block, other: Block) -> Script {
    let mut body = vec![act(Act::Create { thread: 1 })];
    body.extend(main);
    Script {
        vars: 1,
        locks: vec![LockKind::Mutex],
        conds: 1,
        threads: vec![body, other],
        ..Script::default()
    }
}

/// Number of races by order and by state; both searches are complete.
fn races(script: &Script, spurious: SpuriousWakeups) -> (usize, usize) {
    let order = sync(&mut ScriptMachine::with(script, spurious), &ALL);
    let state = every_access(&mut ScriptMachine::with(script, spurious), &ALL);
    assert_eq!((order.coverage, state.coverage), (Coverage::Complete, Coverage::Complete));
    (order.races.len(), state.races.len())
}

/// The thread writes `x` only when its try fails, hence after main's lock, hence after main's write; yet a failed try orders nothing
/// (C11 7.26.4.5: it may fail although nobody holds the lock), so by definition the writes race. A timed lock is alike.
#[test]
fn a_failed_try_tells_without_ordering() {
    for how in [How::Try, How::Timed] {
        let script = with_thread(
            vec![write_x(1), lock(How::Block)],
            vec![lock(how), Stmt::If { cond: Cond::Is(0, 1), then: vec![write_x(2)], otherwise: Vec::new() }],
        );
        assert_eq!(races(&script, SpuriousWakeups::On), (1, 0));
    }
}

/// The compare-exchange writes only before main's store, so main is never at its read while a write is next. But nothing orders
/// the exchange before the store, so by definition it races with the read.
#[test]
fn a_compare_exchange_that_succeeds_tells_without_ordering() {
    let script = with_thread(
        vec![
            act(Act::AtomicStore { place: X, value: Value::Const(1), order: StoreOrder::SeqCst }),
            act(Act::Read { to: 0, place: X }),
        ],
        vec![act(Act::AtomicCas {
            to: 0,
            place: X,
            expected: 0,
            desired: Value::Const(2),
            success: RmwOrder::SeqCst,
            failure: LoadOrder::SeqCst,
        })],
    );
    assert_eq!(races(&script, SpuriousWakeups::On), (1, 0));
}

/// Main leaves its wait only after the signal, hence after the thread's write, when it cannot wake up for no reason; but a signal
/// orders nothing.
#[test]
fn a_signal_tells_without_ordering_when_there_are_no_spurious_wakeups() {
    let script = with_thread(
        vec![
            lock(How::Block),
            act(Act::Wait { cond: 0, lock: 0, how: How::Block }),
            write_x(1),
            act(Act::Unlock { lock: 0 }),
        ],
        vec![write_x(2), act(Act::Signal { cond: 0 })],
    );
    assert_eq!(races(&script, SpuriousWakeups::Off), (1, 0));
    assert_eq!(races(&script, SpuriousWakeups::On), (1, 1));
}

/// A second race hides behind the first: the thread's write to bytes 4.. needs main's racy write between its two reads. With plain
/// accesses invisible no run has it; making the racy sites visible finds it.
#[test]
fn a_race_behind_a_race_needs_visible_accesses() {
    let far = Place { offset: 4, ..X };
    let read = |to| act(Act::Read { to, place: X });
    let script = with_thread(
        vec![write_x(1), act(Act::Write { place: far, value: Value::Const(1) })],
        vec![
            read(0),
            read(1),
            Stmt::If {
                cond: Cond::Is(0, 0),
                then: vec![Stmt::If {
                    cond: Cond::Is(1, 1),
                    then: vec![act(Act::Write { place: far, value: Value::Const(2) })],
                    otherwise: Vec::new(),
                }],
                otherwise: Vec::new(),
            },
        ],
    );
    let order = sync(&mut ScriptMachine::new(&script), &ALL);
    assert_eq!((order.coverage, order.races.len(), order.passes), (Coverage::Complete, 3, 3));
    assert_eq!(races(&script, SpuriousWakeups::On), (3, 3));
}

/// Two rounds of a polling thread that holds the lock are noticed by two failed tries. A polling thread that slept after its first
/// round would hide the second failure, and with it the failed assertion.
#[test]
fn a_round_that_was_noticed_may_be_repeated() {
    let read = act(Act::Read { to: 0, place: Place { offset: 4, ..X } });
    let unlock = act(Act::Unlock { lock: 0 });
    let poll = Stmt::Forever {
        body: vec![lock(How::Block), read, unlock.clone(), Stmt::BreakIf(Cond::IsNot(0, 0))],
    };
    let try_to = |to, otherwise| {
        let lock = act(Act::Lock { lock: 0, mode: Mode::Exclusive, how: How::Try, result: to });
        vec![lock, Stmt::If { cond: Cond::Is(to, 0), then: vec![unlock.clone()], otherwise }]
    };
    let both_failed = act(Act::Assert(Cond::Is(1, 0)));
    // Once through the lock, so that the two failures cannot fall into one round.
    let mut again = vec![lock(How::Block), unlock.clone()];
    again.extend(try_to(1, vec![both_failed]));
    let script = with_thread(try_to(0, again), vec![poll]);
    for exploration in
        [sync(&mut ScriptMachine::new(&script), &ALL), every_access(&mut ScriptMachine::new(&script), &ALL)]
    {
        assert_eq!(exploration.coverage, Coverage::Complete);
        let kinds: Vec<_> = exploration.problems.iter().map(|found| found.problems[0].kind).collect();
        assert_eq!(kinds, [ProblemKind::AssertionFailure]);
    }
}
