//! The search that remembers states finds what the enumerator finds, with and without its memory.

mod compared;
mod dense;
mod same;

use compared::{for_all, seeds};
use raddle_base::LoadOrder;
use raddle_explore::enumerate::{Exploration, Gap, Goal, Limits};
use raddle_explore::stateful::{Caching, stateful};
use raddle_machine::Visibility;
use raddle_testkit::random::Random;
use raddle_testkit::script::{
    Act, Block, How, LockKind, Mode, Place, Profile, Script, ScriptMachine, Stmt, Value, generate,
};
use same::{both, claims_nothing_more, decides_the_same, lists_the_same, same_decision, same_list};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

fn cached(machine: &mut ScriptMachine, limits: &Limits) -> Exploration {
    stateful(machine, limits, Visibility::SyncOnly, Caching::On).exploration
}

fn stateless(machine: &mut ScriptMachine, limits: &Limits) -> Exploration {
    stateful(machine, limits, Visibility::SyncOnly, Caching::Off).exploration
}

const LISTING: Profile = Profile { tries: true, weak_atomics: true, ..Profile::TINY };

fn everything(seed: u64) -> Script {
    generate(seed, &Profile::EVERYTHING)
}

fn listing(seed: u64) -> Script {
    generate(seed, &LISTING)
}

#[test]
fn decides_like_the_enumerator() {
    for_all("cached", seeds(300, 120_000), everything, |s| decides_the_same(s, cached));
}

#[test]
fn lists_like_the_enumerator() {
    for_all("cached, all races", seeds(300, 120_000), listing, |s| lists_the_same(s, cached));
}

#[test]
fn lists_like_the_enumerator_on_dense_scripts() {
    for_all("cached, dense", seeds(100, 60_000), dense::dense_with_loops, |s| lists_the_same(s, cached));
    for_all("cached, dense, no loops", seeds(100, 60_000), dense::dense, |s| lists_the_same(s, cached));
}

/// One script in so many may be too large for a search without memory, though not for the enumerator.
const TOO_LARGE: u64 = 50;

/// Without memory or sleep sets the same state is searched again on every path, which may take more steps than to enumerate all runs.
fn without_memory(name: &str, seeds: Range<u64>, generate: fn(u64) -> Script, goal: Goal) {
    let (compared, cut_off) = (Cell::new(0_u64), Cell::new(0_u64));
    for_all(name, seeds, generate, |script| {
        let (all, found) = both(script, goal, stateless)?;
        compared.set(compared.get() + 1);
        if found.unknown_reasons == BTreeSet::from([Gap::Steps]) {
            cut_off.set(cut_off.get() + 1);
            return claims_nothing_more(&all, &found).err().map(Err);
        }
        Some(match goal {
            Goal::FirstRace => same_decision(&all, &found),
            Goal::AllRaces => same_list(&all, &found),
        })
    });
    let (compared, cut_off) = (compared.get(), cut_off.get());
    println!("{name}: {cut_off} of {compared} are too large without memory");
    assert!(cut_off <= compared.div_ceil(TOO_LARGE), "{cut_off} of {compared} are too large without memory");
}

#[test]
fn without_memory_decides_like_the_enumerator() {
    without_memory("stateless", seeds(150, 60_000), everything, Goal::FirstRace);
}

#[test]
fn without_memory_lists_like_the_enumerator() {
    without_memory("stateless, all races", seeds(150, 60_000), listing, Goal::AllRaces);
    without_memory("stateless, dense", seeds(40, 40_000), dense::dense_with_loops, Goal::AllRaces);
}

const X: Place = Place { var: 0, offset: 0, size: 1 };

fn lock(lock: u8) -> Stmt {
    Stmt::Act(Act::Lock { lock, mode: Mode::Exclusive, how: How::Block, result: 3 })
}

fn unlock(lock: u8) -> Stmt {
    Stmt::Act(Act::Unlock { lock })
}

/// A visible operation that changes nothing and orders nothing.
fn look() -> Stmt {
    let place = Place { var: 1, offset: 0, size: 1 };
    Stmt::Act(Act::AtomicLoad { to: 0, place, order: LoadOrder::Relaxed })
}

/// Leaves the memory as it is.
fn write() -> Stmt {
    Stmt::Act(Act::Write { place: X, value: Value::Const(0) })
}

fn joined(threads: Vec<Block>) -> Script {
    let numbers = 1..=threads.len() as u8;
    let mut main: Block = numbers.clone().map(|thread| Stmt::Act(Act::Create { thread })).collect();
    main.extend(numbers.map(|thread| Stmt::Act(Act::Join { thread })));
    Script {
        vars: 2,
        locks: vec![LockKind::Mutex; 2],
        threads: std::iter::once(main).chain(threads).collect(),
        ..Script::default()
    }
}

/// Threads that leave no trace in the state but where they stand, so that most paths meet again, with different pasts.
fn converging(seed: u64) -> Script {
    let mut random = Random::new(seed ^ 0xC0_4E_46);
    let mut threads = Vec::new();
    for _ in 0..if random.chance(25) { 3 } else { 2 } {
        let mut body = Block::new();
        for _ in 0..random.between(2, 4) {
            match random.below(5) {
                0 if body.iter().all(|stmt| *stmt != write()) => body.push(write()),
                0 | 1 => body.push(look()),
                _ => {
                    let with = random.below(2) as u8;
                    let inside = if random.chance(20) { vec![write()] } else { Block::new() };
                    body.extend([vec![lock(with)], inside, vec![unlock(with)]].concat());
                }
            }
        }
        threads.push(body);
    }
    joined(threads)
}

#[test]
fn paths_that_meet_again_with_different_pasts() {
    for_all("converging", seeds(400, 60_000), converging, |s| decides_the_same(s, cached));
    for_all("converging, all races", seeds(200, 60_000), converging, |s| lists_the_same(s, cached));
}

/// Thread 1 writes before its section, thread 2 after its own. When thread 1 has the lock first the writes are ordered; when thread 2 has,
/// they are not. Behind both sections the state is the same.
#[test]
fn a_state_known_with_another_past_is_searched_again() {
    let section = [lock(0), unlock(0)];
    let first = [vec![write()], section.to_vec()].concat();
    let second = [section.to_vec(), vec![look(), write()]].concat();
    for threads in [vec![first.clone(), second.clone()], vec![second, first]] {
        let found = cached(&mut ScriptMachine::new(&joined(threads)), &Limits::default());
        assert_eq!(found.races.len(), 1);
    }
}
