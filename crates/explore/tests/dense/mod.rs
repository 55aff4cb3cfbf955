//! Random scripts with few operations on very few objects of one or two kinds, so that nearly all of them meet.

#![allow(dead_code, reason = "each test file uses one of the two generators")]

use raddle_base::{LoadOrder, RmwOrder, StoreOrder};
use raddle_testkit::random::Random;
use raddle_testkit::script::{
    Act, Block, Cond, How, LockKind, Mode, Place, Profile, RmwKind, Script, Stmt, Value, generate,
};

#[derive(Clone, Copy, Debug)]
enum Family {
    Atomics,
    Mutex,
    Rwlock,
    Condition,
    Barrier,
    Semaphore,
    Once,
    Environment,
    Plain,
    End,
    /// Loops that wait.
    Await,
}

const FAMILIES: [Family; 10] = [
    Family::Atomics,
    Family::Mutex,
    Family::Rwlock,
    Family::Condition,
    Family::Barrier,
    Family::Semaphore,
    Family::Once,
    Family::Environment,
    Family::Plain,
    Family::End,
];

/// Every fourth script is one of the general generator, without waiting loops.
pub fn dense(seed: u64) -> Script {
    if seed.is_multiple_of(4) {
        let profile = Profile { waiting_loops: false, tries: true, weak_atomics: true, ..Profile::TINY };
        return generate(seed / 4, &profile);
    }
    let mut random = Random::new(seed);
    let families = [random.pick(&FAMILIES), random.pick(&FAMILIES[..9])];
    script(&mut random, &families)
}

/// With loops that wait for a value, a lock or a signal.
pub fn dense_with_loops(seed: u64) -> Script {
    let mut random = Random::new(seed);
    let families = [random.pick(&FAMILIES), random.pick(&FAMILIES[..9]), Family::Await];
    script(&mut random, &families)
}

fn script(random: &mut Random, families: &[Family]) -> Script {
    let count = random.between(2, 3);
    let mut script = Script {
        vars: 2,
        locks: vec![
            random.pick(&[LockKind::Mutex, LockKind::Recursive, LockKind::ErrorCheck]),
            LockKind::Rwlock,
        ],
        conds: 1,
        barriers: vec![random.between(2, 3) as u8],
        sems: vec![random.below(3) as u8],
        onces: vec![vec![store(0, 1)]],
        threads: vec![Vec::new()],
    };
    for thread in 1..=count {
        script.threads[0].push(Stmt::Act(Act::Create { thread: thread as u8 }));
        let mut block = Block::new();
        for _ in 0..random.between(1, 2) {
            let family = random.pick(families);
            unit(random, family, &mut block);
        }
        script.threads.push(block);
    }
    if random.chance(30) {
        let family = random.pick(families);
        unit(random, family, &mut script.threads[0]);
    }
    for thread in 1..=count {
        if random.chance(80) {
            script.threads[0].push(Stmt::Act(Act::Join { thread: thread as u8 }));
        }
    }
    if random.chance(20) {
        script.threads[0].push(Stmt::Act(Act::Return));
    }
    script
}

fn unit(random: &mut Random, family: Family, block: &mut Block) {
    let result = random.below(2) as u8;
    let how = random.pick(&[How::Block, How::Block, How::Try, How::Timed]);
    match family {
        Family::Atomics => block.push(atomic(random)),
        Family::Mutex => locked(random, 0, Mode::Exclusive, how, result, block),
        Family::Rwlock => {
            let mode = random.pick(&[Mode::Exclusive, Mode::Shared, Mode::Shared]);
            locked(random, 1, mode, how, result, block);
        }
        Family::Condition => match random.below(3) {
            0 => block.push(Stmt::Act(Act::Signal { cond: 0 })),
            1 => block.push(Stmt::Act(Act::Broadcast { cond: 0 })),
            _ => {
                let how = random.pick(&[How::Block, How::Timed]);
                block.push(lock(0, Mode::Exclusive, How::Block, 0));
                block.push(Stmt::Act(Act::Wait { cond: 0, lock: 0, how }));
                block.push(Stmt::Act(Act::Unlock { lock: 0 }));
            }
        },
        Family::Barrier => block.push(Stmt::Act(Act::Barrier { barrier: 0 })),
        Family::Semaphore => {
            if random.chance(50) {
                block.push(Stmt::Act(Act::Post { sem: 0 }));
            } else {
                block.push(Stmt::Act(Act::Down { sem: 0, how, result }));
                if how != How::Block {
                    let then = vec![atomic(random)];
                    block.push(Stmt::If { cond: Cond::Is(result, 0), then, otherwise: Vec::new() });
                }
            }
        }
        Family::Once => block.push(Stmt::Act(Act::Once { once: 0 })),
        Family::Environment => {
            block.push(Stmt::Act(Act::Choose { to: 0 }));
            block.push(if random.chance(50) {
                Stmt::Act(Act::AtomicStore {
                    place: place(0),
                    value: Value::Reg(0),
                    order: StoreOrder::SeqCst,
                })
            } else {
                Stmt::If { cond: Cond::Is(0, 1), then: vec![atomic(random)], otherwise: Vec::new() }
            });
        }
        Family::Plain => block.push(plain(random)),
        Family::Await => await_something(random, block),
        Family::End => {
            block.push(load(0, random.below(2) as u8));
            let cond = Cond::Is(0, random.below(2) as u8);
            block.push(match random.below(4) {
                0 => Stmt::Act(Act::Assert(cond)),
                1 => Stmt::Act(Act::Assume(cond)),
                2 => Stmt::If { cond, then: vec![Stmt::Act(Act::Exit)], otherwise: Vec::new() },
                _ => Stmt::If { cond, then: vec![Stmt::Act(Act::Return)], otherwise: Vec::new() },
            });
        }
    }
}

/// Polls one atomic or two, plain or under a lock, tries a lock, or waits for a signal.
fn await_something(random: &mut Random, block: &mut Block) {
    let leave = Stmt::BreakIf(Cond::IsNot(0, 0));
    let body = match random.below(7) {
        0 => vec![load(0, 0), leave],
        1 => vec![load(0, 0), leave.clone(), load(0, 1), leave],
        2 => vec![load(1, 0), load(0, 1), leave],
        3 => vec![lock(0, Mode::Exclusive, How::Try, 1), Stmt::BreakIf(Cond::Is(1, 0))],
        4 => {
            let unlock = Stmt::Act(Act::Unlock { lock: 0 });
            vec![lock(0, Mode::Exclusive, How::Block, 1), read(0, 0), unlock, leave]
        }
        5 => {
            block.push(lock(0, Mode::Exclusive, How::Block, 1));
            let how = random.pick(&[How::Block, How::Timed]);
            vec![read(0, 0), leave, Stmt::Act(Act::Wait { cond: 0, lock: 0, how })]
        }
        _ => vec![read(0, 0), leave],
    };
    let waits = body.iter().any(|stmt| matches!(stmt, Stmt::Act(Act::Wait { .. })));
    let tries = body.iter().any(|stmt| matches!(stmt, Stmt::BreakIf(Cond::Is(1, 0))));
    block.push(Stmt::Forever { body });
    if waits || tries {
        block.push(Stmt::Act(Act::Unlock { lock: 0 }));
    }
    if random.chance(30) {
        block.push(plain(random));
    }
}

fn plain(random: &mut Random) -> Stmt {
    let var = random.below(2) as u8;
    if random.chance(50) {
        read(random.below(2) as u8, var)
    } else {
        let value = Value::Const(random.below(2) as u8);
        Stmt::Act(Act::Write { place: place(var), value })
    }
}

fn locked(random: &mut Random, number: u8, mode: Mode, how: How, result: u8, block: &mut Block) {
    block.push(lock(number, mode, how, result));
    let mut body = Block::new();
    match random.below(4) {
        0 => body.push(atomic(random)),
        1 => body.push(plain(random)),
        _ => {}
    }
    if !random.chance(5) {
        body.push(Stmt::Act(Act::Unlock { lock: number }));
    }
    if how == How::Block {
        block.append(&mut body);
    } else {
        block.push(Stmt::If { cond: Cond::Is(result, 0), then: body, otherwise: Vec::new() });
    }
}

fn atomic(random: &mut Random) -> Stmt {
    let var = random.below(2) as u8;
    let order = RmwOrder::SeqCst;
    match random.below(4) {
        0 => load(random.below(2) as u8, var),
        1 => store(var, random.below(2) as u8),
        2 => Stmt::Act(Act::AtomicRmw {
            to: 0,
            place: place(var),
            kind: RmwKind::Add,
            value: Value::Const(1),
            order,
        }),
        _ => Stmt::Act(Act::AtomicCas {
            to: 0,
            place: place(var),
            expected: random.below(2) as u8,
            desired: Value::Const(2),
            success: order,
            failure: LoadOrder::SeqCst,
        }),
    }
}

fn lock(lock: u8, mode: Mode, how: How, result: u8) -> Stmt {
    Stmt::Act(Act::Lock { lock, mode, how, result })
}

fn load(to: u8, var: u8) -> Stmt {
    Stmt::Act(Act::AtomicLoad { to, place: place(var), order: LoadOrder::SeqCst })
}

fn read(to: u8, var: u8) -> Stmt {
    Stmt::Act(Act::Read { to, place: place(var) })
}

fn store(var: u8, value: u8) -> Stmt {
    Stmt::Act(Act::AtomicStore { place: place(var), value: Value::Const(value), order: StoreOrder::SeqCst })
}

fn place(var: u8) -> Place {
    Place { var, offset: 0, size: 8 }
}
