//! Random scripts by seed. Locks are taken and given back in pairs, loops end or wait, joins follow creations; everything else goes.

use super::syntax::{
    Act, Block, Cond, How, LockKind, Mode, Place, REGISTERS, Reg, RmwKind, Script, Stmt, Value,
};
use crate::random::Random;
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// What scripts may contain and how large they get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Most threads besides main.
    pub threads: usize,
    /// Most statements of a thread at its outer level.
    pub statements: usize,
    pub vars: u8,
    /// Atomics weaker than seq_cst, and fences.
    pub weak_atomics: bool,
    /// Operations whose success tells something without ordering anything: try and timed locks and waits, compare-exchange.
    pub tries: bool,
    /// Loops that wait for a value or a signal.
    pub waiting_loops: bool,
    /// Endless loops on a plain read, which is not a visible operation by itself.
    pub plain_spinning: bool,
    /// Threads created by other threads than main.
    pub nested_threads: bool,
}

impl Profile {
    /// Small enough for all interleavings of all accesses.
    pub const TINY: Profile = Profile {
        threads: 2,
        statements: 2,
        vars: 2,
        weak_atomics: false,
        tries: false,
        waiting_loops: true,
        plain_spinning: false,
        nested_threads: true,
    };

    pub const SMALL: Profile = Profile { threads: 3, statements: 3, vars: 3, ..Profile::TINY };

    pub const EVERYTHING: Profile =
        Profile { weak_atomics: true, tries: true, plain_spinning: true, ..Profile::SMALL };
}

pub fn generate(seed: u64, profile: &Profile) -> Script {
    let mut random = Random::new(seed);
    let mut generator =
        Generator { profile, held: Vec::new(), script: objects(&mut random, profile), random };
    for _ in 0..generator.script.onces.len() {
        let body = generator.once_body();
        generator.script.onces.rotate_left(1);
        *generator.script.onces.last_mut().expect("there is one") = body;
    }
    generator.threads();
    generator.script
}

fn objects(random: &mut Random, profile: &Profile) -> Script {
    let kinds =
        [LockKind::Mutex, LockKind::Recursive, LockKind::ErrorCheck, LockKind::Rwlock, LockKind::Spin];
    // The first lock is a mutex, so that condition variables have one.
    let mut locks = vec![random.pick(&kinds[..3])];
    for _ in 0..random.below(2) {
        locks.push(random.pick(&kinds));
    }
    Script {
        vars: random.between(1, usize::from(profile.vars)) as u8,
        locks,
        conds: random.between(0, 1) as u8,
        barriers: (0..random.below(2)).map(|_| 2).collect(),
        sems: (0..random.below(2)).map(|_| random.below(2) as u8).collect(),
        onces: (0..random.below(2)).map(|_| Vec::new()).collect(),
        threads: Vec::new(),
    }
}

struct Generator<'a> {
    random: Random,
    profile: &'a Profile,
    script: Script,
    /// Locks held where the next statement goes.
    held: Vec<u8>,
}

/// Where a block stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outer,
    Inner,
}

impl Generator<'_> {
    fn once_body(&mut self) -> Block {
        vec![self.access()]
    }

    fn threads(&mut self) {
        let count = self.random.between(1, self.profile.threads);
        self.script.threads = vec![Vec::new(); count + 1];
        let mut creator = vec![0; count + 1];
        for (thread, slot) in creator.iter_mut().enumerate().skip(2) {
            if self.profile.nested_threads && self.random.chance(20) {
                *slot = self.random.between(1, thread - 1);
            }
        }
        for thread in (0..=count).rev() {
            let children: Vec<u8> =
                (1..=count).filter(|child| creator[*child] == thread).map(|child| child as u8).collect();
            self.script.threads[thread] = self.thread(thread, &children);
        }
    }

    fn thread(&mut self, thread: usize, children: &[u8]) -> Block {
        let mut block = Block::new();
        if children.is_empty() {
            let most = if thread == 0 { 1 } else { self.profile.statements };
            let count = self.random.between(1, most);
            self.statements(count, Depth::Outer, &mut block);
            return block;
        }
        if self.random.chance(30) {
            self.statements(1, Depth::Outer, &mut block);
        }
        for child in children {
            block.push(Stmt::Act(Act::Create { thread: *child }));
            if self.random.chance(15) {
                self.statements(1, Depth::Outer, &mut block);
            }
        }
        let count = self.random.below(self.profile.statements);
        self.statements(count, Depth::Outer, &mut block);
        for child in children {
            if self.random.chance(75) {
                block.push(Stmt::Act(Act::Join { thread: *child }));
            } else if self.random.chance(40) {
                block.push(Stmt::Act(Act::Detach { thread: *child }));
            }
            if self.random.chance(30) {
                self.statements(1, Depth::Outer, &mut block);
            }
        }
        if thread == 0 && self.random.chance(8) {
            block.push(Stmt::Act(Act::Return));
        }
        block
    }

    fn statements(&mut self, count: usize, depth: Depth, block: &mut Block) {
        for _ in 0..count {
            self.statement(depth, block);
        }
    }

    fn body(&mut self) -> Block {
        let mut block = Block::new();
        let count = self.random.between(1, 2);
        self.statements(count, Depth::Inner, &mut block);
        block
    }

    fn statement(&mut self, depth: Depth, block: &mut Block) {
        let inner = depth == Depth::Inner;
        match self.random.below(100) {
            0..36 => block.push(self.access()),
            36..50 if !inner || self.held.len() < 2 => self.locked(block),
            50..62 => self.atomic(block),
            62..68 if !inner => self.cond(block),
            68..71 => self.barrier(block),
            71..77 => self.sem(block),
            77..79 => self.once(block),
            79..82 if !inner => self.section(block),
            82..88 if !inner => self.branch(block),
            88..90 if !inner => {
                let body = self.body();
                block.push(Stmt::Repeat { times: 2, body });
            }
            90..94 if !inner && self.profile.waiting_loops => self.await_value(block),
            94..98 => self.environment(block),
            98..100 => self.leave(block),
            _ => block.push(self.access()),
        }
    }

    fn access(&mut self) -> Stmt {
        let place = self.place();
        let act = if self.random.chance(50) {
            Act::Read { to: self.register(), place }
        } else {
            Act::Write { place, value: self.value() }
        };
        Stmt::Act(act)
    }

    fn place(&mut self) -> Place {
        let var = self.random.below(usize::from(self.script.vars)) as u8;
        let size = self.random.pick(&[1, 1, 1, 2, 4, 8]);
        // Mostly the first bytes, so that accesses meet.
        let offset =
            if self.random.chance(70) { 0 } else { size * self.random.below(8 / usize::from(size)) as u8 };
        Place { var, offset, size }
    }

    /// One place per variable, so that atomics of different sizes do not mix.
    fn atomic_place(&mut self) -> Place {
        let var = self.random.below(usize::from(self.script.vars)) as u8;
        Place { var, offset: 0, size: [4, 1, 8, 2][usize::from(var) % 4] }
    }

    fn register(&mut self) -> Reg {
        self.random.below(REGISTERS) as Reg
    }

    fn value(&mut self) -> Value {
        match self.random.below(5) {
            0 => Value::Reg(self.register()),
            1 => Value::Next(self.register()),
            _ => Value::Const(self.random.below(3) as u8),
        }
    }

    fn condition(&mut self) -> Cond {
        let register = self.register();
        let value = self.random.below(2) as u8;
        if self.random.chance(50) { Cond::Is(register, value) } else { Cond::IsNot(register, value) }
    }

    fn locked(&mut self, block: &mut Block) {
        let lock = self.random.below(self.script.locks.len()) as u8;
        let kind = self.script.locks[usize::from(lock)];
        let again = self.held.contains(&lock);
        if again && kind != LockKind::Recursive && !(kind == LockKind::Mutex && self.random.chance(10)) {
            block.push(self.access());
            return;
        }
        let shared = kind == LockKind::Rwlock && self.random.chance(60);
        let mode = if shared { Mode::Shared } else { Mode::Exclusive };
        let how = match self.random.below(10) {
            0 | 1 if self.profile.tries => How::Try,
            2 if self.profile.tries && kind != LockKind::Spin => How::Timed,
            _ => How::Block,
        };
        let result = self.register();
        block.push(Stmt::Act(Act::Lock { lock, mode, how, result }));
        self.held.push(lock);
        let mut body = self.body();
        self.held.pop();
        body.push(Stmt::Act(Act::Unlock { lock }));
        if how == How::Block {
            block.append(&mut body);
        } else {
            let mut otherwise = Block::new();
            if self.random.chance(25) {
                otherwise.push(self.access());
            }
            block.push(Stmt::If { cond: Cond::Is(result, 0), then: body, otherwise });
        }
    }

    fn section(&mut self, block: &mut Block) {
        block.push(Stmt::Act(Act::AtomicBegin));
        let count = self.random.between(1, 2);
        for _ in 0..count {
            block.push(self.access());
        }
        block.push(Stmt::Act(Act::AtomicEnd));
    }

    fn atomic(&mut self, block: &mut Block) {
        let place = self.atomic_place();
        let weak = self.profile.weak_atomics && self.random.chance(60);
        let to = self.register();
        let value = self.value();
        let kind = match self.random.below(if weak { 5 } else { 4 }) {
            3 if !self.profile.tries => 2,
            kind => kind,
        };
        let act = match kind {
            0 => Act::AtomicLoad { to, place, order: self.load_order(weak) },
            1 => Act::AtomicStore { place, value, order: self.store_order(weak) },
            2 => {
                let kind = self.random.pick(&[RmwKind::Add, RmwKind::Exchange]);
                Act::AtomicRmw { to, place, kind, value, order: self.rmw_order(weak) }
            }
            3 => Act::AtomicCas {
                to,
                place,
                expected: self.random.below(2) as u8,
                desired: value,
                success: self.rmw_order(weak),
                failure: self.load_order(weak),
            },
            _ => Act::Fence(self.random.pick(&[
                FenceOrder::Acquire,
                FenceOrder::Release,
                FenceOrder::AcqRel,
                FenceOrder::SeqCst,
            ])),
        };
        block.push(Stmt::Act(act));
    }

    fn load_order(&mut self, weak: bool) -> LoadOrder {
        if weak {
            self.random.pick(&[LoadOrder::Relaxed, LoadOrder::Acquire, LoadOrder::SeqCst])
        } else {
            LoadOrder::SeqCst
        }
    }

    fn store_order(&mut self, weak: bool) -> StoreOrder {
        if weak {
            self.random.pick(&[StoreOrder::Relaxed, StoreOrder::Release, StoreOrder::SeqCst])
        } else {
            StoreOrder::SeqCst
        }
    }

    fn rmw_order(&mut self, weak: bool) -> RmwOrder {
        let orders =
            [RmwOrder::SeqCst, RmwOrder::Relaxed, RmwOrder::Acquire, RmwOrder::Release, RmwOrder::AcqRel];
        self.random.pick(if weak { &orders } else { &orders[..1] })
    }

    /// One side of a hand-over by condition variable: flag and mutex are fixed per variable.
    fn cond(&mut self, block: &mut Block) {
        if self.script.conds == 0 || self.held.contains(&0) {
            block.push(self.access());
            return;
        }
        let cond = self.random.below(usize::from(self.script.conds)) as u8;
        let flag = Place { var: 0, offset: 0, size: 1 };
        let register = self.register();
        let lock = Stmt::Act(Act::Lock { lock: 0, mode: Mode::Exclusive, how: How::Block, result: 0 });
        let unlock = Stmt::Act(Act::Unlock { lock: 0 });
        if self.random.chance(50) {
            let how = if self.random.chance(25) { How::Timed } else { How::Block };
            let wait = Stmt::Act(Act::Wait { cond, lock: 0, how });
            let read = Stmt::Act(Act::Read { to: register, place: flag });
            block.push(lock);
            if self.profile.waiting_loops && self.random.chance(75) {
                let leave = Stmt::BreakIf(Cond::IsNot(register, 0));
                block.push(Stmt::Forever { body: vec![read, leave, wait] });
            } else {
                block.push(read);
                block.push(Stmt::If { cond: Cond::Is(register, 0), then: vec![wait], otherwise: Vec::new() });
            }
            if self.random.chance(50) {
                block.push(self.access());
            }
            block.push(unlock);
        } else {
            let wake = Act::Signal { cond };
            let wake = Stmt::Act(if self.random.chance(70) { wake } else { Act::Broadcast { cond } });
            let write = Stmt::Act(Act::Write { place: flag, value: Value::Const(1) });
            match self.random.below(4) {
                0 => block.extend([lock, write, unlock, wake]),
                1 => block.push(wake),
                _ => block.extend([lock, write, wake, unlock]),
            }
        }
    }

    fn barrier(&mut self, block: &mut Block) {
        if self.script.barriers.is_empty() {
            block.push(self.access());
        } else {
            let barrier = self.random.below(self.script.barriers.len()) as u8;
            block.push(Stmt::Act(Act::Barrier { barrier }));
        }
    }

    fn sem(&mut self, block: &mut Block) {
        if self.script.sems.is_empty() {
            block.push(self.access());
            return;
        }
        let sem = self.random.below(self.script.sems.len()) as u8;
        let result = self.register();
        let how = match self.random.below(10) {
            0 | 1 if self.profile.tries => How::Try,
            2 if self.profile.tries => How::Timed,
            3 | 4 => How::Block,
            _ => {
                block.push(Stmt::Act(Act::Post { sem }));
                return;
            }
        };
        block.push(Stmt::Act(Act::Down { sem, how, result }));
        if how != How::Block {
            let then = vec![self.access()];
            block.push(Stmt::If { cond: Cond::Is(result, 0), then, otherwise: Vec::new() });
        }
    }

    fn once(&mut self, block: &mut Block) {
        if self.script.onces.is_empty() {
            block.push(self.access());
        } else {
            let once = self.random.below(self.script.onces.len()) as u8;
            block.push(Stmt::Act(Act::Once { once }));
        }
    }

    fn branch(&mut self, block: &mut Block) {
        let register = self.register();
        let place = self.place();
        block.push(Stmt::Act(Act::Read { to: register, place }));
        let value = self.random.below(2) as u8;
        let cond =
            if self.random.chance(50) { Cond::Is(register, value) } else { Cond::IsNot(register, value) };
        let then = self.body();
        let otherwise = if self.random.chance(25) { self.body() } else { Vec::new() };
        block.push(Stmt::If { cond, then, otherwise });
    }

    fn await_value(&mut self, block: &mut Block) {
        let to = self.register();
        let place = self.atomic_place();
        let weak = self.profile.weak_atomics && self.random.chance(50);
        let look = if self.profile.plain_spinning && self.random.chance(30) {
            Act::Read { to, place }
        } else {
            Act::AtomicLoad { to, place, order: self.load_order(weak) }
        };
        let leave = Stmt::BreakIf(Cond::IsNot(to, 0));
        block.push(Stmt::Forever { body: vec![Stmt::Act(look), leave] });
    }

    fn environment(&mut self, block: &mut Block) {
        let act = match self.random.below(5) {
            0 | 1 => Act::Choose { to: self.register() },
            2 => Act::Set { to: self.register(), value: self.value() },
            3 => Act::Assume(self.condition()),
            _ => Act::Assert(self.condition()),
        };
        block.push(Stmt::Act(act));
    }

    fn leave(&mut self, block: &mut Block) {
        let act = if self.random.chance(50) { Act::Exit } else { Act::Return };
        let cond = self.condition();
        block.push(Stmt::If { cond, then: vec![Stmt::Act(act)], otherwise: Vec::new() });
    }
}
