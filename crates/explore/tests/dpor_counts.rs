//! Numbers of runs that are known in closed form, or from the literature.

use raddle_base::{LoadOrder, RmwOrder, StoreOrder};
use raddle_explore::dpor::{Reduced, baseline, optimal};
use raddle_explore::enumerate::{Coverage, Limits};
use raddle_machine::Visibility;
use raddle_testkit::script::{
    Act, Block, Cond, How, LockKind, Mode, Place, RmwKind, Script, ScriptMachine, Stmt, Value,
};

/// Main creates all threads and joins them.
fn joined(objects: Script, threads: Vec<Block>) -> Script {
    let numbers = 1..=threads.len() as u8;
    let creations = numbers.clone().map(|thread| Stmt::Act(Act::Create { thread }));
    let main = creations.chain(numbers.map(|thread| Stmt::Act(Act::Join { thread }))).collect();
    Script { threads: std::iter::once(main).chain(threads).collect(), ..objects }
}

fn place(var: usize) -> Place {
    Place { var: var as u8, offset: 0, size: 8 }
}

fn store(var: usize, value: Value) -> Stmt {
    Stmt::Act(Act::AtomicStore { place: place(var), value, order: StoreOrder::SeqCst })
}

fn load(to: u8, var: usize) -> Stmt {
    Stmt::Act(Act::AtomicLoad { to, place: place(var), order: LoadOrder::SeqCst })
}

fn lock(lock: usize, mode: Mode) -> Stmt {
    Stmt::Act(Act::Lock { lock: lock as u8, mode, how: How::Block, result: 3 })
}

fn unlock(lock: usize) -> Stmt {
    Stmt::Act(Act::Unlock { lock: lock as u8 })
}

fn search(script: &Script) -> Reduced {
    let found = optimal(&mut ScriptMachine::new(script), &Limits::default(), Visibility::SyncOnly);
    assert_eq!(found.exploration.coverage, Coverage::Complete);
    assert_eq!(found.blocked, 0, "a run was given up half-way");
    found
}

fn runs(script: &Script) -> u64 {
    search(script).exploration.runs.executions
}

fn baseline_runs(script: &Script) -> u64 {
    let found = baseline(&mut ScriptMachine::new(script), &Limits::default(), Visibility::SyncOnly);
    assert_eq!(found.exploration.coverage, Coverage::Complete);
    found.exploration.runs.executions
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

#[test]
fn writers_of_one_atomic_in_every_order() {
    for n in 1..=5 {
        let objects = Script { vars: 1, ..Script::default() };
        let script = joined(objects, vec![vec![store(0, Value::Const(1))]; n]);
        assert_eq!(runs(&script), factorial(n as u64));
        assert_eq!(baseline_runs(&script), factorial(n as u64));
    }
}

#[test]
fn readers_in_one_order() {
    let objects = Script { vars: 1, ..Script::default() };
    let script = joined(objects, vec![vec![load(0, 0), load(0, 0)]; 8]);
    assert_eq!((runs(&script), baseline_runs(&script)), (1, 1));
}

#[test]
fn a_writer_among_readers_comes_somewhere_for_each() {
    for readers in 1..=6 {
        let objects = Script { vars: 1, ..Script::default() };
        let mut threads = vec![vec![load(0, 0)]; readers];
        threads.push(vec![store(0, Value::Const(1))]);
        assert_eq!(runs(&joined(objects, threads)), 1 << readers);
    }
}

#[test]
fn independent_threads_once() {
    let work = |n: usize| {
        let inside = Stmt::Act(Act::Write { place: place(n), value: Value::Const(1) });
        vec![lock(n, Mode::Exclusive), inside, unlock(n), store(8 + n, Value::Const(1))]
    };
    let objects = Script { vars: 16, locks: vec![LockKind::Mutex; 8], ..Script::default() };
    let script = joined(objects, (0..8).map(work).collect());
    assert_eq!((runs(&script), baseline_runs(&script)), (1, 1));
}

#[test]
fn lockers_of_one_lock_in_every_order() {
    for n in 1..=5 {
        let objects = Script { vars: 1, locks: vec![LockKind::Mutex], ..Script::default() };
        let script = joined(objects, vec![vec![lock(0, Mode::Exclusive), unlock(0)]; n]);
        assert_eq!(runs(&script), factorial(n as u64));
        assert_eq!(baseline_runs(&script), factorial(n as u64));
    }
}

/// Writers in every order; each reader between any two of them.
#[test]
fn readers_and_writers_of_a_read_write_lock() {
    for (writers, readers) in [(1, 4), (2, 3), (3, 2), (0, 5)] {
        let objects = Script { vars: 1, locks: vec![LockKind::Rwlock], ..Script::default() };
        let mut threads = vec![vec![lock(0, Mode::Exclusive), unlock(0)]; writers];
        threads.extend(vec![vec![lock(0, Mode::Shared), unlock(0)]; readers]);
        let expected = factorial(writers as u64) * (writers as u64 + 1).pow(readers as u32);
        assert_eq!(runs(&joined(objects, threads)), expected);
    }
}

#[test]
fn two_sections_each_as_many_as_shuffles() {
    let section = || vec![lock(0, Mode::Exclusive), unlock(0)];
    let twice: Block = section().into_iter().chain(section()).collect();
    let objects = Script { vars: 1, locks: vec![LockKind::Mutex], ..Script::default() };
    // 6! / (2! 2! 2!)
    assert_eq!(runs(&joined(objects, vec![twice; 3])), 90);
}

/// Lock order a-b against b-a: one before the other, or a deadlock.
#[test]
fn opposite_lock_orders() {
    let both =
        |a: usize, b: usize| vec![lock(a, Mode::Exclusive), lock(b, Mode::Exclusive), unlock(b), unlock(a)];
    let objects = Script { vars: 1, locks: vec![LockKind::Mutex; 2], ..Script::default() };
    let found = search(&joined(objects, vec![both(0, 1), both(1, 0)]));
    // The first section first, the second first (each in the order of its lock releases), and the deadlock.
    assert_eq!(found.exploration.runs.executions, 3);
    assert_eq!(found.exploration.problems.len(), 1);
}

#[test]
fn posts_in_one_order_and_one_winner() {
    let objects = |value| Script { vars: 1, sems: vec![value], ..Script::default() };
    let post = || vec![Stmt::Act(Act::Post { sem: 0 })];
    assert_eq!(runs(&joined(objects(0), vec![post(); 6])), 1);
    let down = || vec![Stmt::Act(Act::Down { sem: 0, how: How::Block, result: 0 })];
    assert_eq!(runs(&joined(objects(1), vec![down(); 4])), 4);
}

#[test]
fn a_barrier_for_all_in_one_order() {
    for n in 2..=6 {
        let objects = Script { vars: 1, barriers: vec![n], ..Script::default() };
        let twice = vec![Stmt::Act(Act::Barrier { barrier: 0 }); 2];
        assert_eq!(runs(&joined(objects, vec![twice; usize::from(n)])), 1);
    }
}

#[test]
fn signals_that_nobody_waits_for_in_one_order() {
    let objects = Script { vars: 1, conds: 1, ..Script::default() };
    let signal = vec![Stmt::Act(Act::Signal { cond: 0 })];
    assert_eq!(runs(&joined(objects.clone(), vec![signal; 5])), 1);
    let broadcast = vec![Stmt::Act(Act::Broadcast { cond: 0 })];
    assert_eq!(runs(&joined(objects, vec![broadcast; 5])), 1);
}

/// Who comes first runs the initialiser; the others pass in one order.
#[test]
fn once_for_all() {
    for n in 1..=5 {
        let objects = Script { vars: 1, onces: vec![Block::new()], ..Script::default() };
        let script = joined(objects, vec![vec![Stmt::Act(Act::Once { once: 0 })]; n]);
        assert_eq!(runs(&script), n as u64);
    }
}

#[test]
fn tries_that_fail_in_one_order() {
    let objects = Script { vars: 1, locks: vec![LockKind::Mutex], ..Script::default() };
    let attempt = Act::Lock { lock: 0, mode: Mode::Exclusive, how: How::Try, result: 0 };
    let mut script = joined(objects, vec![vec![Stmt::Act(attempt)]; 5]);
    script.threads[0].insert(0, lock(0, Mode::Exclusive));
    script.threads[0].push(unlock(0));
    assert_eq!(runs(&script), 1);
}

/// The inner lock and unlock of a recursive lock take no part in the order of the outer ones.
#[test]
fn inner_locks_do_not_count() {
    let objects = Script { vars: 1, locks: vec![LockKind::Recursive], ..Script::default() };
    let twice = vec![lock(0, Mode::Exclusive), lock(0, Mode::Exclusive), unlock(0), unlock(0)];
    assert_eq!(runs(&joined(objects, vec![twice; 4])), factorial(4));
}

#[test]
fn environment_choices_multiply() {
    let choose = || vec![Stmt::Act(Act::Choose { to: 0 }), Stmt::Act(Act::Choose { to: 1 })];
    let script = joined(Script { vars: 1, ..Script::default() }, vec![choose(); 3]);
    assert_eq!((runs(&script), baseline_runs(&script)), (64, 64));
}

#[test]
fn additions_in_every_order() {
    let add = Stmt::Act(Act::AtomicRmw {
        to: 0,
        place: place(0),
        kind: RmwKind::Add,
        value: Value::Const(1),
        order: RmwOrder::SeqCst,
    });
    let script = joined(Script { vars: 1, ..Script::default() }, vec![vec![add.clone(), add]; 3]);
    assert_eq!(runs(&script), 90);
}

/// Who waits for a flag sees it at once, or sleeps and sees it then.
#[test]
fn waiting_for_a_flag() {
    let wait = vec![Stmt::Forever { body: vec![load(0, 0), Stmt::BreakIf(Cond::IsNot(0, 0))] }];
    let objects = Script { vars: 1, ..Script::default() };
    assert_eq!(runs(&joined(objects, vec![wait, vec![store(0, Value::Const(1))]])), 2);
}

/// Flanagan and Godefroid, POPL 2005: threads put messages into a hash table; up to 11 of them never meet, each further one
/// meets others three times.
#[test]
fn indexer() {
    assert_eq!(runs(&indexer_with(11)), 1);
    assert_eq!(runs(&indexer_with(12)), 8);
    assert_eq!(runs(&indexer_with(13)), 64);
    assert_eq!(baseline_runs(&indexer_with(11)), 1);
}

fn indexer_with(threads: usize) -> Script {
    let thread = |number: usize| {
        let mut block = Block::new();
        for message in 1..=4 {
            let word = message * 11 + number;
            block.push(insert(word * 7 % 128, word));
            block.append(&mut tail(word * 7 % 128, word, 4));
        }
        block
    };
    joined(Script { vars: 128, ..Script::default() }, (0..threads).map(thread).collect())
}

fn insert(slot: usize, word: usize) -> Stmt {
    Stmt::Act(Act::AtomicCas {
        to: 0,
        place: place(slot),
        expected: 0,
        desired: Value::Const(word as u8),
        success: RmwOrder::SeqCst,
        failure: LoadOrder::SeqCst,
    })
}

/// The next slot when the last one was taken.
fn tail(slot: usize, word: usize, tries: usize) -> Block {
    if tries == 0 {
        return Block::new();
    }
    let next = (slot + 1) % 128;
    let mut then = vec![insert(next, word)];
    then.append(&mut tail(next, word, tries - 1));
    vec![Stmt::If { cond: Cond::Is(0, 0), then, otherwise: Block::new() }]
}

/// Flanagan and Godefroid, POPL 2005: 32 inodes, 26 blocks, a lock for each; up to 13 threads never meet, each further one meets one
/// other.
#[test]
fn filesystem() {
    assert_eq!(runs(&filesystem_with(13)), 1);
    assert_eq!(runs(&filesystem_with(14)), 2);
    assert_eq!(runs(&filesystem_with(16)), 8);
    assert_eq!(baseline_runs(&filesystem_with(13)), 1);
}

fn filesystem_with(threads: usize) -> Script {
    const INODES: usize = 32;
    const BLOCKS: usize = 26;
    let read = |to, var: usize| Stmt::Act(Act::Read { to, place: place(var) });
    let write = |var: usize, value: usize| {
        Stmt::Act(Act::Write { place: place(var), value: Value::Const(value as u8) })
    };
    let find = |block: usize, inode: usize| {
        vec![
            lock(INODES + block, Mode::Exclusive),
            read(0, INODES + block),
            Stmt::If {
                cond: Cond::Is(0, 0),
                then: vec![write(INODES + block, 1), write(inode, block + 1)],
                otherwise: Block::new(),
            },
            unlock(INODES + block),
        ]
    };
    let thread = |number: usize| {
        let (inode, block) = (number % INODES, number * 2 % BLOCKS);
        let mut body = find(block, inode);
        let then = find((block + 1) % BLOCKS, inode);
        body.push(Stmt::If { cond: Cond::IsNot(0, 0), then, otherwise: Block::new() });
        let mut all = vec![lock(inode, Mode::Exclusive), read(1, inode)];
        all.push(Stmt::If { cond: Cond::Is(1, 0), then: body, otherwise: Block::new() });
        all.push(unlock(inode));
        all
    };
    let objects = Script {
        vars: (INODES + BLOCKS) as u8,
        locks: vec![LockKind::Mutex; INODES + BLOCKS],
        ..Script::default()
    };
    joined(objects, (0..threads).map(thread).collect())
}

/// Source Sets, section 9: one thread looks for the last zero in an array while others each set a cell to one more than the
/// cell before it. 64 for five threads, by the paper's table.
#[test]
fn last_zero() {
    assert_eq!(runs(&last_zero_with(5)), 64);
}

fn last_zero_with(threads: usize) -> Script {
    fn look(cell: usize) -> Block {
        let mut block = vec![load(0, cell)];
        if cell > 0 {
            block.push(Stmt::If { cond: Cond::IsNot(0, 0), then: look(cell - 1), otherwise: Block::new() });
        }
        block
    }
    let mut all = vec![look(threads)];
    all.extend((1..=threads).map(|cell| vec![load(0, cell - 1), store(cell, Value::Next(0))]));
    joined(Script { vars: threads as u8 + 1, ..Script::default() }, all)
}
