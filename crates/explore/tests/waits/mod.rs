//! Random scripts of few threads on one mutex: a wait for a value, sections that may bring it, and tries that find out who has the mutex.

use raddle_testkit::random::Random;
use raddle_testkit::script::{Act, Block, Cond, How, LockKind, Mode, Place, Script, Stmt, Value};

pub fn waits_and_tries(seed: u64) -> Script {
    let mut random = Random::new(seed ^ 0x77A1_7517);
    let mut threads: Vec<Block> = vec![Block::new(); random.between(2, 3)];
    let waiting = random.below(threads.len());
    for (at, block) in threads.iter_mut().enumerate() {
        if at == waiting {
            let wait = Stmt::Act(Act::Wait { cond: 0, lock: 0, how: How::Block });
            let round = vec![read(0), Stmt::BreakIf(Cond::IsNot(0, 0)), wait];
            section(vec![Stmt::Forever { body: round }], block);
        }
        for _ in 0..random.between(usize::from(at != waiting), if at == waiting { 1 } else { 2 }) {
            part(&mut random, block);
        }
    }
    let creations = (1..threads.len() as u8).map(|thread| Stmt::Act(Act::Create { thread }));
    threads[0].splice(0..0, creations);
    Script { vars: 2, locks: vec![LockKind::Mutex], conds: 1, threads, ..Script::default() }
}

fn part(random: &mut Random, block: &mut Block) {
    match random.below(8) {
        0 => block.push(Stmt::Act(Act::Signal { cond: 0 })),
        1 => block.push(access(random)),
        2 => section(Block::new(), block),
        3 => section(vec![write(0)], block),
        4 => section(vec![write(0), Stmt::Act(Act::Broadcast { cond: 0 })], block),
        _ => {
            block.push(lock(How::Try));
            let then = vec![access(random), Stmt::Act(Act::Unlock { lock: 0 })];
            let mut otherwise = Block::new();
            match random.below(3) {
                0 => otherwise.push(access(random)),
                1 => section(vec![write(0)], &mut otherwise),
                _ => {}
            }
            block.push(Stmt::If { cond: Cond::Is(1, 0), then, otherwise });
        }
    }
}

fn section(body: Block, block: &mut Block) {
    block.push(lock(How::Block));
    block.extend(body);
    block.push(Stmt::Act(Act::Unlock { lock: 0 }));
}

fn lock(how: How) -> Stmt {
    Stmt::Act(Act::Lock { lock: 0, mode: Mode::Exclusive, how, result: 1 })
}

fn access(random: &mut Random) -> Stmt {
    let var = random.below(2) as u8;
    if random.chance(60) { write(var) } else { read(var) }
}

fn read(var: u8) -> Stmt {
    Stmt::Act(Act::Read { to: 0, place: place(var) })
}

fn write(var: u8) -> Stmt {
    Stmt::Act(Act::Write { place: place(var), value: Value::Const(1) })
}

fn place(var: u8) -> Place {
    Place { var, offset: 0, size: 4 }
}
