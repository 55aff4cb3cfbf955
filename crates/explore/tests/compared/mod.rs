//! What the tests share that compare a search with the enumerator on random scripts.

#![allow(dead_code, reason = "not every test file uses all of it")]

use raddle_base::{LoadOrder, RmwOrder, StoreOrder};
use raddle_explore::enumerate::{Exploration, Goal, Limits, RaceKey, sync};
use raddle_testkit::random::Random;
use raddle_testkit::script::{
    Act, Block, Cond, How, LockKind, Mode, Place, RmwKind, Script, ScriptMachine, Stmt, Value, c_text, shrink,
};
use raddle_testkit::soak::cases_of_seeds;
pub use raddle_testkit::soak::seeds;
use std::collections::BTreeSet;

pub fn limits(goal: Goal) -> Limits<'static> {
    Limits { goal, steps: 60_000, run_steps: 400, ..Limits::default() }
}

pub fn enumerated(script: &Script, goal: Goal) -> Exploration {
    sync(&mut ScriptMachine::new(script), &limits(goal))
}

pub fn keys(exploration: &Exploration) -> BTreeSet<RaceKey> {
    exploration.races.iter().map(|race| race.key).collect()
}

/// Runs the property on all seeds; a failure is shrunk and printed as C.
pub fn for_all(
    name: &str,
    seeds: std::ops::Range<u64>,
    generate: impl Fn(u64) -> Script,
    check: impl Fn(&Script) -> Option<Result<(), String>>,
) {
    let mut cases = cases_of_seeds(name, seeds);
    let mut undecided = 0;
    for seed in cases.by_ref() {
        let script = generate(seed);
        match check(&script) {
            None => undecided += 1,
            Some(Ok(())) => {}
            Some(Err(first)) => {
                let small = shrink(&script, |script| matches!(check(script), Some(Err(_))));
                let Some(Err(message)) = check(&small) else {
                    panic!("{name}, seed {seed}, not always: {first}")
                };
                panic!("{name}, seed {seed}: {message}\n{small:#?}\n{}", c_text(&small).text);
            }
        }
    }
    let total = cases.done();
    cases.too_large(undecided);
    println!("{name}: {total} scripts, {undecided} too large to decide");
    assert!(undecided * 3 <= total, "{undecided} of {total} scripts are too large to say anything");
}

/// Scripts of little but critical sections, whose contents mostly meet, with branches on what they read.
pub fn sections(seed: u64) -> Script {
    let mut random = Random::new(seed ^ 0x5ec7_1075);
    let kinds = [LockKind::Mutex, LockKind::Mutex, LockKind::Mutex, LockKind::Recursive, LockKind::Rwlock];
    let locks: Vec<LockKind> = (0..random.between(1, 3)).map(|_| random.pick(&kinds)).collect();
    let threads = random.between(2, 3);
    let objects = Script { vars: random.between(1, 4) as u8, locks, ..Script::default() };
    let mut make = Sections { random, objects };
    let mut bodies = Vec::new();
    for _ in 0..threads {
        let parts = make.random.between(1, if threads == 2 { 4 } else { 3 });
        bodies.push((0..parts).flat_map(|_| make.part()).collect());
    }
    let Sections { mut random, objects } = make;
    let numbers = 1..=threads as u8;
    let mut main: Block = numbers.clone().map(|thread| Stmt::Act(Act::Create { thread })).collect();
    if random.chance(60) {
        main.extend(numbers.map(|thread| Stmt::Act(Act::Join { thread })));
    }
    Script { threads: std::iter::once(main).chain(bodies).collect(), ..objects }
}

struct Sections {
    random: Random,
    objects: Script,
}

impl Sections {
    fn part(&mut self) -> Block {
        match self.random.below(20) {
            0..12 => self.section(),
            12..15 => {
                // Own variables mostly: not every script has a race.
                if self.random.chance(30) { vec![self.access()] } else { Block::new() }
            }
            15 => vec![self.atomic()],
            16 => {
                let lock = self.lock();
                let attempt = Act::Lock { lock, mode: Mode::Exclusive, how: How::Try, result: 3 };
                let then = vec![self.access(), Stmt::Act(Act::Unlock { lock })];
                vec![Stmt::Act(attempt), Stmt::If { cond: Cond::Is(3, 0), then, otherwise: Block::new() }]
            }
            _ => {
                let register = self.random.below(2) as u8;
                let then = if self.random.chance(60) { self.section() } else { vec![self.access()] };
                let otherwise = if self.random.chance(25) { self.section() } else { Block::new() };
                vec![Stmt::If { cond: Cond::IsNot(register, 0), then, otherwise }]
            }
        }
    }

    fn lock(&mut self) -> u8 {
        self.random.below(self.objects.locks.len()) as u8
    }

    fn section(&mut self) -> Block {
        let lock = self.lock();
        let shared = self.objects.locks[usize::from(lock)] == LockKind::Rwlock && self.random.chance(50);
        let mode = if shared { Mode::Shared } else { Mode::Exclusive };
        let mut block = vec![Stmt::Act(Act::Lock { lock, mode, how: How::Block, result: 3 })];
        for _ in 0..self.random.below(3) {
            // A variable of this lock, so that it is protected.
            let var = if self.random.chance(85) { lock % self.objects.vars } else { self.var() };
            block.push(self.access_to(var));
        }
        match self.random.below(10) {
            0 => block.push(self.atomic()),
            1 => {
                let inner = self.lock();
                if inner != lock {
                    block.push(Stmt::Act(Act::Lock {
                        lock: inner,
                        mode: Mode::Exclusive,
                        how: How::Block,
                        result: 3,
                    }));
                    block.push(self.access());
                    block.push(Stmt::Act(Act::Unlock { lock: inner }));
                }
            }
            _ => {}
        }
        block.push(Stmt::Act(Act::Unlock { lock }));
        block
    }

    fn var(&mut self) -> u8 {
        self.random.below(usize::from(self.objects.vars)) as u8
    }

    fn access(&mut self) -> Stmt {
        let var = self.var();
        self.access_to(var)
    }

    fn access_to(&mut self, var: u8) -> Stmt {
        let place = Place { var, offset: 0, size: 4 };
        let register = self.random.below(2) as u8;
        Stmt::Act(if self.random.chance(50) {
            Act::Read { to: register, place }
        } else {
            let value = if self.random.chance(30) { Value::Next(register) } else { Value::Const(1) };
            Act::Write { place, value }
        })
    }

    /// The upper half of a variable, so that atomics do not race with plain accesses.
    fn atomic(&mut self) -> Stmt {
        let place = Place { var: self.var(), offset: 4, size: 4 };
        let to = self.random.below(2) as u8;
        let relaxed = self.random.chance(50);
        Stmt::Act(match self.random.below(3) {
            0 => Act::AtomicLoad {
                to,
                place,
                order: if relaxed { LoadOrder::Relaxed } else { LoadOrder::SeqCst },
            },
            1 => Act::AtomicStore {
                place,
                value: Value::Const(1),
                order: if relaxed { StoreOrder::Relaxed } else { StoreOrder::SeqCst },
            },
            _ => Act::AtomicRmw {
                to,
                place,
                kind: RmwKind::Add,
                value: Value::Const(1),
                order: if relaxed { RmwOrder::Relaxed } else { RmwOrder::SeqCst },
            },
        })
    }
}
