//! The memory effects that `libmodel` declares against what the interpreter does, in two ways: every library function on random
//! arguments in a machine that records all it does (this file), and C programs with the access events of whole runs
//! (`programs`).

mod arguments;
mod declared;
mod events;
mod host;
mod probes;
mod programs;

use arguments::Pool;
use declared::{Check, Met};
use raddle_ir::DataModel;
use raddle_libmodel::memory::{Ending, MemoryEffect, entries};
use raddle_testkit::random::Random;

/// Sets of arguments per function and data model, and calls with each: `getopt` moves arguments in its third.
const TRIALS: u64 = 1000;
const CALLS: u64 = 4;

/// Declared although the interpreter does not do it, with the reason.
const BEYOND_THE_INTERPRETER: &[(&str, &str)] = &[
    ("getenv: returns Into(Region { base: Library(Environment), reach: BehindAny })", "a string of putenv"),
    (
        "putenv: Store { to: Region { base: Library(Environment), reach: Direct }, value: Arg(Arg(0)) }",
        "kept",
    ),
    ("mmap: Store { to: Region { base: Fresh, reach: Direct }, value: Outside }", "a mapped file is refused"),
    (
        "mmap64: Store { to: Region { base: Fresh, reach: Direct }, value: Outside }",
        "a mapped file is refused",
    ),
    (
        "getcwd: Touch { region: Region { base: Fresh, reach: Direct }, access: Write, from: 0, extent: ToEnd, \
         atomicity: Plain }",
        "getcwd that allocates is refused",
    ),
    ("getcwd: returns Into(Region { base: Fresh, reach: Direct })", "getcwd that allocates is refused"),
    (
        "getcwd: Some(Block { size: ToEnd, fill: Uninitialised, life: Handed })",
        "getcwd that allocates is refused",
    ),
];

/// What a call does is declared, whatever its arguments are; and what is declared happens: a table that says too much costs
/// precision.
#[test]
fn calls_do_what_is_declared() {
    let (mut wrong, mut idle) = (Vec::new(), Vec::new());
    let pools = pools();
    for (name, effect) in entries() {
        let mut met = Met::default();
        for pools in &pools {
            wrong.extend(first_complaint(name, pools, (&effect, &effect), &mut met));
        }
        idle.extend(unmet(name, &effect, &met));
    }
    assert!(wrong.is_empty(), "{} are not declared:\n{}", wrong.len(), wrong.join("\n"));
    let mut expected: Vec<&str> =
        BEYOND_THE_INTERPRETER.iter().map(|(declaration, _)| *declaration).collect();
    idle.sort();
    expected.sort();
    assert_eq!(idle, expected, "declarations that no call made use of");
}

/// Calls `name` many times, with arguments that `hints` makes likely; the first call that does something undeclared.
fn first_complaint(
    name: &'static str,
    pools: &[Pool],
    (effect, hints): (&MemoryEffect, &MemoryEffect),
    met: &mut Met,
) -> Option<String> {
    let model = pools[0].recorder.model;
    let seed = name
        .bytes()
        .fold(u64::from(model.pointer_bytes()), |seed, byte| seed.wrapping_mul(31) + u64::from(byte));
    let soak = std::env::var_os("RADDLE_SOAK").is_some();
    for trial in 0..TRIALS * if soak { 20 } else { 1 } {
        let mut random = Random::new(seed.wrapping_add(trial << 32));
        let pool = &pools[random.below(pools.len())];
        let args = pool.arguments(hints, &mut random);
        let mut before = pool.recorder.clone();
        before.random = Random::new(random.word());
        for call in 0..CALLS {
            let mut after = before.clone();
            let result = after.run(name, args.clone());
            let wrong = Check { effect, before: &before, after: &after, met }.complaints(result);
            if !wrong.is_empty() {
                let model = model.name();
                return Some(format!(
                    "{name} ({model}), trial {trial}, call {call} of {args:x?}: {}",
                    wrong.join("; ")
                ));
            }
            before = after;
        }
    }
    None
}

fn pools() -> [Vec<Pool>; 2] {
    [DataModel::Lp64, DataModel::Ilp32]
        .map(|model| (0..8).map(|seed| Pool::new(model, Random::new(seed))).collect())
}

/// The check can fail: without any one of its declarations, an entry is found wanting.
#[test]
fn a_missing_declaration_is_noticed() {
    let pools = pools();
    let mut unnoticed = Vec::new();
    for (name, effect) in entries() {
        for (what, poorer) in without_one(&effect) {
            let noticed = pools
                .iter()
                .any(|pools| first_complaint(name, pools, (&poorer, &effect), &mut Met::default()).is_some());
            if !noticed {
                unnoticed.push(format!("{name}: {what}"));
            }
        }
    }
    // What looks like a number in and the same number out.
    let mut expected = vec!["gettext: returns Arg(Arg(0))"];
    expected.extend(BEYOND_THE_INTERPRETER.iter().map(|(declaration, _)| *declaration));
    expected.sort();
    unnoticed.sort();
    assert_eq!(unnoticed, expected, "declarations that are not missed");
}

fn without_one(effect: &MemoryEffect) -> Vec<(String, MemoryEffect)> {
    let mut all = Vec::new();
    for index in 0..effect.touches.len() {
        let mut poorer = effect.clone();
        all.push((format!("{:?}", poorer.touches.remove(index)), poorer));
    }
    for index in 0..effect.returns.len() {
        let mut poorer = effect.clone();
        all.push((format!("returns {:?}", poorer.returns.remove(index)), poorer));
    }
    for index in 0..effect.stores.len() {
        let mut poorer = effect.clone();
        all.push((format!("{:?}", poorer.stores.remove(index)), poorer));
    }
    for index in 0..effect.calls.len() {
        let mut poorer = effect.clone();
        all.push((format!("{:?}", poorer.calls.remove(index)), poorer));
    }
    if effect.allocates.is_some() {
        all.push((format!("{:?}", effect.allocates), MemoryEffect { allocates: None, ..effect.clone() }));
    }
    // A call that aborts is not told from one with wrong arguments.
    if matches!(effect.ending, Ending::Exits | Ending::MayExit) {
        let poorer = MemoryEffect { ending: Ending::Returns, ..effect.clone() };
        all.push((format!("{:?}", effect.ending), poorer));
    }
    all
}

fn unmet(name: &str, effect: &MemoryEffect, met: &Met) -> Vec<String> {
    let mut idle = Vec::new();
    for (index, touch) in effect.touches.iter().enumerate() {
        if !met.touches.contains(&index) {
            idle.push(format!("{name}: {touch:?}"));
        }
    }
    for (index, value) in effect.returns.iter().enumerate() {
        if !met.returns.contains(&index) {
            idle.push(format!("{name}: returns {value:?}"));
        }
    }
    for (index, store) in effect.stores.iter().enumerate() {
        if !met.stores.contains(&index) {
            idle.push(format!("{name}: {store:?}"));
        }
    }
    for (index, call) in effect.calls.iter().enumerate() {
        if !met.calls.contains(&index) {
            idle.push(format!("{name}: {call:?}"));
        }
    }
    if effect.allocates.is_some() && !met.allocates {
        idle.push(format!("{name}: {:?}", effect.allocates));
    }
    if matches!(effect.ending, Ending::Exits | Ending::MayExit) && !met.ending {
        idle.push(format!("{name}: {:?}", effect.ending));
    }
    let returns = effect.ending == Ending::Returns && effect.gap.is_none();
    if returns && !met.returned {
        idle.push(format!("{name}: returns"));
    }
    idle
}
