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
use raddle_libmodel::memory::{Base, Ending, MemoryEffect, Touch, entries};
use raddle_libmodel::{Variable, variable};
use raddle_testkit::random::Random;

/// Sets of arguments per function and data model, and calls with each: `getopt` moves arguments in its third.
const TRIALS: u64 = 1000;
const CALLS: u64 = 4;

/// What a call does is declared, whatever its arguments are. More may be declared: the standards allow more than is done here.
#[test]
fn calls_do_what_is_declared() {
    let mut wrong = Vec::new();
    let pools = pools();
    for (name, effect) in entries() {
        for pools in &pools {
            wrong.extend(first_complaint(name, pools, (&effect, &effect), &mut Met::default()));
        }
    }
    assert!(wrong.is_empty(), "{} are not declared:\n{}", wrong.len(), wrong.join("\n"));
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
    for trial in 0..TRIALS * if is_soak() { 20 } else { 1 } {
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

fn is_soak() -> bool {
    std::env::var_os("RADDLE_SOAK").is_some()
}

fn pools() -> [Vec<Pool>; 2] {
    [DataModel::Lp64, DataModel::Ilp32]
        .map(|model| (0..8).map(|seed| Pool::new(model, Random::new(seed))).collect())
}

/// Declarations that the trials of a slice do not miss; the full count misses every one.
const NOT_MISSED: &[&str] =
    &["getdelim: Store { to: Region { base: Arg(Arg(0)), reach: Behind }, value: Outside }"];

/// The check can fail: without any one of the declarations that calls make use of, an entry is found wanting.
#[test]
fn a_missing_declaration_is_noticed() {
    let pools = pools();
    let (mut unnoticed, mut noticed) = (Vec::new(), 0);
    for (name, effect) in entries() {
        let mut met = Met::default();
        for pools in &pools {
            first_complaint(name, pools, (&effect, &effect), &mut met);
        }
        for (what, poorer) in without_one(&effect, &met) {
            let is_missed = pools
                .iter()
                .any(|pools| first_complaint(name, pools, (&poorer, &effect), &mut Met::default()).is_some());
            if is_missed {
                noticed += 1;
            } else {
                unnoticed.push(format!("{name}: {what}"));
            }
        }
    }
    unnoticed.sort();
    let expected = if is_soak() { &[] } else { NOT_MISSED };
    assert_eq!(unnoticed, expected, "declarations that are not missed");
    assert!(noticed >= 400, "only {noticed} declarations are in use");
}

fn without_one(effect: &MemoryEffect, met: &Met) -> Vec<(String, MemoryEffect)> {
    let mut all = Vec::new();
    // The machine, not the function, makes streams and the variables that hold them memory.
    let by_machine = |touch: &Touch| {
        touch.is_stream() || matches!(touch.region.base, Base::Variable(name) if is_stream(name))
    };
    for &index in met.touches.iter().filter(|index| !by_machine(&effect.touches[**index])) {
        let mut poorer = effect.clone();
        all.push((format!("{:?}", poorer.touches.remove(index)), poorer));
    }
    for &index in &met.returns {
        let mut poorer = effect.clone();
        all.push((format!("returns {:?}", poorer.returns.remove(index)), poorer));
    }
    for &index in &met.stores {
        let mut poorer = effect.clone();
        all.push((format!("{:?}", poorer.stores.remove(index)), poorer));
    }
    for &index in &met.calls {
        let mut poorer = effect.clone();
        all.push((format!("{:?}", poorer.calls.remove(index)), poorer));
    }
    if effect.allocates.is_some() && met.allocates {
        all.push((format!("{:?}", effect.allocates), MemoryEffect { allocates: None, ..effect.clone() }));
    }
    // A call that aborts is not told from one with wrong arguments.
    if matches!(effect.ending, Ending::Exits | Ending::MayExit) && met.ending {
        let poorer = MemoryEffect { ending: Ending::Returns, ..effect.clone() };
        all.push((format!("{:?}", effect.ending), poorer));
    }
    all
}

fn is_stream(name: &str) -> bool {
    matches!(variable(name), Some(Variable::Stream(_)))
}
