//! Where the published search goes wrong, and this one does not.

mod compared;
mod published;

use compared::{enumerated, for_all, keys, seeds};
use published::{Line50, search};
use raddle_explore::enumerate::{Coverage, Goal, Limits};
use raddle_explore::stateful::{Caching, stateful};
use raddle_machine::Visibility;
use raddle_testkit::random::Random;
use raddle_testkit::script::{
    Act, Block, Cond, How, LockKind, Mode, Place, Script, ScriptMachine, Stmt, Value,
};

fn access(var: u8, value: Option<u8>) -> Stmt {
    let place = Place { var, offset: 0, size: 1 };
    Stmt::Act(match value {
        Some(value) => Act::Write { place, value: Value::Const(value) },
        None => Act::Read { to: 0, place },
    })
}

fn under(locks: &[u8], inside: Block) -> Block {
    let lock =
        |lock: &u8| Stmt::Act(Act::Lock { lock: *lock, mode: Mode::Exclusive, how: How::Block, result: 3 });
    let unlock = |lock: &u8| Stmt::Act(Act::Unlock { lock: *lock });
    locks.iter().map(lock).chain(inside).chain(locks.iter().rev().map(unlock)).collect()
}

fn program(threads: Vec<Block>, joined: bool) -> Script {
    let numbers = 1..=threads.len() as u8;
    let mut main: Block = numbers.clone().map(|thread| Stmt::Act(Act::Create { thread })).collect();
    if joined {
        main.extend(numbers.map(|thread| Stmt::Act(Act::Join { thread })));
    }
    main.push(Stmt::Act(Act::Return));
    Script {
        vars: 2,
        locks: vec![LockKind::Mutex; 3],
        threads: std::iter::once(main).chain(threads).collect(),
        ..Script::default()
    }
}

fn races_here(script: &Script) -> usize {
    let found = stateful(
        &mut ScriptMachine::new(script),
        &Limits { goal: Goal::AllRaces, ..Limits::default() },
        Visibility::SyncOnly,
        Caching::On,
    );
    assert_eq!(found.exploration.coverage, Coverage::Complete);
    found.exploration.races.len()
}

/// After both writes the set of x is {a, c, …} or {b, c, …}, by their order. The intersection has neither a nor b, which the third
/// thread holds.
#[test]
fn line_50_invents_a_race() {
    let write = || vec![access(0, Some(1))];
    let threads = vec![under(&[0, 2], write()), under(&[1, 2], write()), under(&[0, 1], write())];
    let script = program(threads, true);
    assert_eq!(search(&script, Line50::Intersect).races.len(), 1);
    assert_eq!(search(&script, Line50::Leave).races.len(), 0);
    assert_eq!(keys(&enumerated(&script, Goal::AllRaces)).len(), 0);
    assert_eq!(races_here(&script), 0);
}

/// Scripts of the paper's language.
fn small(seed: u64) -> Script {
    let mut random = Random::new(seed ^ 0x2006);
    let mut threads = Vec::new();
    for _ in 0..if random.chance(15) { 3 } else { 2 } {
        let mut body = Block::new();
        for _ in 0..random.between(1, 2) {
            let mut inside = Block::new();
            for _ in 0..random.between(1, 2) {
                let value = random.chance(70).then(|| random.below(2) as u8);
                inside.push(access(random.below(2) as u8, value));
            }
            match random.below(6) {
                0 => body.extend(inside),
                1 => body.push(Stmt::If { cond: Cond::Is(0, 1), then: inside, otherwise: Block::new() }),
                2 => body.push(Stmt::Act(Act::Assert(Cond::Is(0, 0)))),
                n => {
                    let locks: Vec<u8> = (0..3).filter(|_| random.chance(50)).collect();
                    let first = [random.below(3) as u8];
                    body.extend(under(if n == 3 { &first } else { &locks }, inside));
                }
            }
        }
        threads.push(body);
    }
    program(threads, random.chance(80))
}

fn published_loses_nothing(script: &Script) -> Option<Result<(), String>> {
    // In the paper's language the end of main is not the end of all.
    if script.threads[0].last() != Some(&Stmt::Act(Act::Return)) {
        return Some(Ok(()));
    }
    let all = enumerated(script, Goal::AllRaces);
    let there = search(script, Line50::Leave);
    if all.coverage != Coverage::Complete || there.given_up {
        return None;
    }
    let failures =
        all.problems.iter().any(|f| f.problems[0].kind == raddle_event::ProblemKind::AssertionFailure);
    Some(if there.races.is_empty() && !all.races.is_empty() {
        Err(format!("lost {:?}", keys(&all)))
    } else if failures && there.failures.is_empty() {
        Err("lost a failure".to_owned())
    } else {
        Ok(())
    })
}

/// Line 50 apart, the published search is right about programs of its own language that end.
#[test]
fn without_line_50_nothing_is_lost() {
    for_all("published", seeds(200, 20_000), small, published_loses_nothing);
}
