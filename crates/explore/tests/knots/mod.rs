//! Random scripts of locks inside each other, partly behind branches on what other threads write, with joins under locks and
//! threads that end with a lock. With an odd seed the locks come in any order, and many have a deadlock; with an even one mostly in the same.

use raddle_testkit::random::Random;
use raddle_testkit::script::{Act, Block, Cond, How, LockKind, Mode, Place, Script, Stmt, Value};

pub fn knots(seed: u64) -> Script {
    let mut random = Random::new(seed ^ 0x6b6e_6f74);
    let kinds = [LockKind::Mutex, LockKind::Mutex, LockKind::Mutex, LockKind::Rwlock];
    // The last one guards the variable.
    let locks: Vec<LockKind> = (0..random.between(2, 3)).map(|_| random.pick(&kinds)).collect();
    let count = locks.len() as u8;
    let threads = random.between(2, 3);
    let order = if seed.is_multiple_of(2) { Order::Mostly } else { Order::Any };
    let mut make = Knots { random, locks, order };
    let bodies: Vec<Block> = (0..threads)
        .map(|_| (0..make.random.between(1, 3)).flat_map(|_| make.part(count)).collect())
        .collect();
    let Knots { mut random, mut locks, .. } = make;
    locks.push(LockKind::Mutex);
    let numbers = 1..=threads as u8;
    let mut main: Block = numbers.clone().map(|thread| Stmt::Act(Act::Create { thread })).collect();
    let joins: Block = numbers.map(|thread| Stmt::Act(Act::Join { thread })).collect();
    match random.below(6) {
        0 => {}
        1 => main.extend(section(random.below(usize::from(count)) as u8, joins)),
        _ => main.extend(joins),
    }
    let mut threads: Vec<Block> = std::iter::once(main).chain(bodies).collect();
    if random.chance(20) && threads.len() > 2 {
        // One thread makes another, and waits for it somewhere.
        let other = threads.len() as u8 - 1;
        let (create, join) =
            (Stmt::Act(Act::Create { thread: other }), Stmt::Act(Act::Join { thread: other }));
        threads[0].retain(|stmt| *stmt != create && *stmt != join);
        let at = random.below(threads[1].len() + 1);
        threads[1].insert(at, join);
        threads[1].insert(0, create);
    }
    Script { vars: 1, locks, threads, ..Script::default() }
}

struct Knots {
    random: Random,
    locks: Vec<LockKind>,
    order: Order,
}

/// Of locks inside each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Mostly,
    Any,
}

const SHARED: Place = Place { var: 0, offset: 0, size: 4 };

fn take(lock: u8, mode: Mode, how: How) -> Stmt {
    Stmt::Act(Act::Lock { lock, mode, how, result: 3 })
}

fn section(lock: u8, body: Block) -> Block {
    let mut block = vec![take(lock, Mode::Exclusive, How::Block)];
    block.extend(body);
    block.push(Stmt::Act(Act::Unlock { lock }));
    block
}

impl Knots {
    fn part(&mut self, guard: u8) -> Block {
        match self.random.below(10) {
            0..4 => self.nest(2, 0),
            4 | 5 => section(
                guard,
                vec![Stmt::Act(Act::Write {
                    place: SHARED,
                    value: Value::Const(self.random.below(2) as u8),
                })],
            ),
            _ => {
                let mut block = section(guard, vec![Stmt::Act(Act::Read { to: 0, place: SHARED })]);
                let then = self.side();
                let otherwise = if self.random.chance(25) { self.side() } else { Block::new() };
                block.push(Stmt::If { cond: Cond::IsNot(0, 0), then, otherwise });
                block
            }
        }
    }

    fn side(&mut self) -> Block {
        let kind = if self.order == Order::Mostly && self.random.chance(95) { 12 } else { 11 };
        match self.random.below(kind) {
            0 => Block::new(),
            1 => vec![Stmt::Act(Act::Return)],
            2 if kind == 11 => vec![self.blocking(0), Stmt::Act(Act::Return)],
            // Taken here, and given back by nobody.
            3 if kind == 11 => vec![self.blocking(0)],
            4 => {
                let lock = self.lock(0);
                let mut then = self.inner(1, lock);
                then.push(Stmt::Act(Act::Unlock { lock }));
                let cond = Cond::Is(3, 0);
                vec![take(lock, Mode::Exclusive, How::Try), Stmt::If { cond, then, otherwise: Block::new() }]
            }
            _ => self.nest(2, 0),
        }
    }

    fn nest(&mut self, depth: usize, least: u8) -> Block {
        let first = self.blocking(least);
        let Stmt::Act(Act::Lock { lock, .. }) = first else { unreachable!("it is a lock") };
        let mut block = vec![first];
        if depth > 1 && self.random.chance(70) {
            block.extend(self.inner(depth - 1, lock));
        }
        block.push(Stmt::Act(Act::Unlock { lock }));
        block
    }

    fn inner(&mut self, depth: usize, held: u8) -> Block {
        if self.order == Order::Any || self.random.chance(3) {
            self.nest(depth, 0)
        } else if usize::from(held) + 1 < self.locks.len() {
            self.nest(depth, held + 1)
        } else {
            Block::new()
        }
    }

    fn blocking(&mut self, least: u8) -> Stmt {
        let lock = self.lock(least);
        let shared = self.locks[usize::from(lock)] == LockKind::Rwlock && self.random.chance(60);
        take(lock, if shared { Mode::Shared } else { Mode::Exclusive }, How::Block)
    }

    fn lock(&mut self, least: u8) -> u8 {
        least + self.random.below(self.locks.len() - usize::from(least)) as u8
    }
}
