//! The search that remembers states finds what the enumerator finds, with and without its memory.

mod compared;
mod dense;
mod same;

use compared::{for_all, seeds};
use raddle_explore::enumerate::{Exploration, Limits};
use raddle_explore::stateful::{Caching, stateful};
use raddle_machine::Visibility;
use raddle_testkit::script::{Profile, Script, ScriptMachine, generate};
use same::{decides_the_same, lists_the_same};

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

#[test]
fn without_memory_decides_like_the_enumerator() {
    for_all("stateless", seeds(150, 60_000), everything, |s| decides_the_same(s, stateless));
}

#[test]
fn without_memory_lists_like_the_enumerator() {
    for_all("stateless, all races", seeds(150, 60_000), listing, |s| lists_the_same(s, stateless));
    for_all("stateless, dense", seeds(40, 40_000), dense::dense_with_loops, |s| lists_the_same(s, stateless));
}
