//! The reduced searches find what the enumerator finds.

mod compared;
mod dense;
mod same;

use compared::{for_all, seeds};
use raddle_explore::dpor::{baseline, optimal};
use raddle_explore::enumerate::{Exploration, Limits};
use raddle_machine::Visibility;
use raddle_testkit::script::{Profile, ScriptMachine, generate};
use same::{decides_the_same, lists_the_same};

fn by_baseline(machine: &mut ScriptMachine, limits: &Limits) -> Exploration {
    baseline(machine, limits, Visibility::SyncOnly).exploration
}

fn by_optimal(machine: &mut ScriptMachine, limits: &Limits) -> Exploration {
    optimal(machine, limits, Visibility::SyncOnly).exploration
}

const LISTING: Profile = Profile { tries: true, weak_atomics: true, ..Profile::TINY };

#[test]
fn baseline_decides_like_the_enumerator() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("baseline", seeds(400, 60_000), generate, |s| decides_the_same(s, by_baseline));
}

#[test]
fn baseline_lists_like_the_enumerator() {
    let generate = |seed| generate(seed, &LISTING);
    for_all("baseline, all races", seeds(400, 60_000), generate, |s| lists_the_same(s, by_baseline));
}

#[test]
fn baseline_lists_like_the_enumerator_on_dense_scripts() {
    for_all("baseline, dense", seeds(120, 40_000), dense::dense_with_loops, |s| {
        lists_the_same(s, by_baseline)
    });
}

#[test]
fn optimal_decides_like_the_enumerator() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("optimal", seeds(400, 120_000), generate, |s| decides_the_same(s, by_optimal));
}

#[test]
fn optimal_lists_like_the_enumerator() {
    let generate = |seed| generate(seed, &LISTING);
    for_all("optimal, all races", seeds(400, 120_000), generate, |s| lists_the_same(s, by_optimal));
}

#[test]
fn optimal_lists_like_the_enumerator_on_dense_scripts() {
    for_all("optimal, dense", seeds(120, 40_000), dense::dense_with_loops, |s| lists_the_same(s, by_optimal));
}
