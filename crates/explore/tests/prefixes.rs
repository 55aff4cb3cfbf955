//! Searches within bounds on what each thread does: they find what the enumerator finds within the same bounds, and nothing that it does
//! not find without bounds.

mod compared;
mod dense;

use compared::{for_all, keys, limits, seeds};
use raddle_explore::enumerate::{Coverage, Exploration, Goal, sync};
use raddle_explore::prefixes::{Bounded, Bounds, How, search};
use raddle_explore::random::{Plan, Strategy};
use raddle_finding::Deadlocks;
use raddle_testkit::script::{Profile, Script, ScriptMachine, generate};
use std::cell::Cell;

const BOUNDS: [Bounds; 3] = [
    Bounds { creations: 1, rounds: 1, variants: 1 },
    Bounds { creations: 1, rounds: 1, variants: 2 },
    Bounds { creations: 2, rounds: 2, variants: u32::MAX },
];

fn script(seed: u64) -> Script {
    match seed % 3 {
        0 => generate(seed / 3, &Profile { tries: true, weak_atomics: true, ..Profile::TINY }),
        1 => dense::dense(seed / 3),
        _ => dense::dense_with_loops(seed / 3),
    }
}

fn within(script: &Script, bounds: Bounds, how: How) -> Exploration {
    search(&mut ScriptMachine::new(script), &limits(Goal::FirstRace), bounds, how)
}

#[test]
fn a_race_is_found_exactly_when_the_enumerator_finds_one_within_the_bounds() {
    let (racy, safe) = (Cell::new(0), Cell::new(0));
    for_all("races in prefixes", seeds(200, 100_000), script, |script| {
        for bounds in BOUNDS {
            let mut machine = ScriptMachine::new(script);
            let all = sync(&mut Bounded::new(&mut machine, bounds), &limits(Goal::FirstRace));
            if all.races.is_empty() && all.coverage == Coverage::Partial {
                return None;
            }
            let found = within(script, bounds, How::All);
            let count = if all.races.is_empty() { &safe } else { &racy };
            count.set(count.get() + 1);
            if found.races.is_empty() != all.races.is_empty() {
                let (all, found) = (keys(&all), keys(&found));
                return Some(Err(format!("{bounds:?}: {all:?} enumerated, {found:?} searched")));
            }
            if found.coverage == Coverage::Complete || found.deadlocks != Deadlocks::Unknown {
                return Some(Err(format!("{bounds:?}: says more than it knows")));
            }
        }
        Some(Ok(()))
    });
    println!("racy: {}, not racy: {}", racy.get(), safe.get());
    assert!(racy.get() > 20 && safe.get() > 20, "{} racy, {} not", racy.get(), safe.get());
}

#[test]
fn what_is_found_within_bounds_is_a_race_without_them() {
    let sample = |strategy| How::Sample(Plan { strategy, seed: 1, runs: 20 });
    for_all("races of prefixes are races", seeds(100, 50_000), script, |script| {
        let all = sync(&mut ScriptMachine::new(script), &limits(Goal::AllRaces));
        if all.coverage == Coverage::Partial {
            return None;
        }
        let all = keys(&all);
        for bounds in BOUNDS {
            for how in [How::All, sample(Strategy::Walk), sample(Strategy::Pct { depth: 2 })] {
                let found = keys(&within(script, bounds, how));
                if !found.is_subset(&all) {
                    return Some(Err(format!("{bounds:?} {how:?}: {found:?}, there are {all:?}")));
                }
            }
        }
        Some(Ok(()))
    });
}
