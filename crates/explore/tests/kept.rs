//! A search that is stopped again and again, and goes on each time from what was written down, comes to the end of one that was not.

mod compared;
mod dense;
mod same;

use compared::{for_all, keys, limits, seeds};
use raddle_explore::dpor::{Keeping, Kept, Reduced, optimal, optimal_kept};
use raddle_explore::enumerate::{Coverage, Goal, Limits};
use raddle_machine::Visibility;
use raddle_testkit::script::{Profile, Script, ScriptMachine, generate};
use raddle_testkit::soak::cases_of_seeds;
use same::problems;
use std::cell::RefCell;
use std::time::Duration;

/// How a search is cut into pieces.
#[derive(Clone, Copy)]
struct Cuts {
    machines: usize,
    /// Runs and steps between two stops.
    runs: u64,
    steps: u64,
    /// Whether it is also written down in between.
    every: Duration,
}

/// Stops, writes down and goes on until the end.
fn in_pieces(script: &Script, whole: &Limits, cuts: Cuts) -> Result<Reduced, String> {
    let mut from: Option<Kept> = None;
    for piece in 1..10_000 {
        let mut machines: Vec<ScriptMachine> =
            (0..cuts.machines).map(|_| ScriptMachine::new(script)).collect();
        let last = RefCell::new(None);
        let save = |kept: &Kept, _: &[&ScriptMachine]| {
            let text = serde_json::to_string(kept).expect("plain data");
            let back: Kept = serde_json::from_str(&text).expect("what was written can be read");
            assert_eq!(back, *kept);
            *last.borrow_mut() = Some(back);
        };
        let keeping = Keeping { every: cuts.every, save: &save, from: from.take() };
        let some =
            Limits { executions: piece * cuts.runs, steps: piece.saturating_mul(cuts.steps), ..*whole };
        let mut machines: Vec<&mut ScriptMachine> = machines.iter_mut().collect();
        let reduced = optimal_kept(&mut machines, &some, &keeping).map_err(|misfit| format!("{misfit:?}"))?;
        if reduced.exploration.coverage != Coverage::Partial {
            return Ok(reduced);
        }
        from = last.take();
        if from.is_none() {
            return Err("nothing was kept".to_owned());
        }
    }
    Err("it does not end".to_owned())
}

fn the_same(script: &Script, goal: Goal, cuts: Cuts) -> Option<Result<(), String>> {
    let limits = limits(goal);
    let one = optimal(&mut ScriptMachine::new(script), &limits, Visibility::SyncOnly);
    if one.exploration.coverage == Coverage::Partial {
        return None;
    }
    let pieces = match in_pieces(script, &limits, cuts) {
        Ok(reduced) => reduced,
        Err(message) => return Some(Err(message)),
    };
    let found = |reduced: &Reduced| {
        let found = &reduced.exploration;
        // Which race comes first depends on the order of the runs.
        let races = if goal == Goal::AllRaces { keys(found).len() } else { found.races.len().min(1) };
        let all = found.coverage == Coverage::Complete;
        (found.coverage, races, if all { Some((found.deadlocks, problems(found))) } else { None })
    };
    let (whole, parts) = (found(&one), found(&pieces));
    let counts = |reduced: &Reduced| reduced.exploration.runs;
    Some(if whole != parts {
        Err(format!("at once {whole:?}, in pieces {parts:?}"))
    } else if one.exploration.races.is_empty() && counts(&one) != counts(&pieces) {
        Err(format!("at once {:?}, in pieces {:?}", counts(&one), counts(&pieces)))
    } else {
        Ok(())
    })
}

const NEVER: Duration = Duration::from_secs(3600);

#[test]
fn stopped_between_runs() {
    let cuts = Cuts { machines: 1, runs: 3, steps: 1 << 40, every: NEVER };
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("kept, every 3 runs", seeds(150, 20_000), generate, |s| the_same(s, Goal::FirstRace, cuts));
}

#[test]
fn stopped_within_runs() {
    let cuts = Cuts { machines: 1, runs: 1 << 40, steps: 450, every: NEVER };
    let generate = |seed| generate(seed, &Profile::TINY);
    for_all("kept, every 450 steps", seeds(150, 20_000), generate, |s| the_same(s, Goal::AllRaces, cuts));
    for_all("kept, dense", seeds(40, 10_000), dense::dense_with_loops, |s| the_same(s, Goal::AllRaces, cuts));
}

#[test]
fn written_down_after_every_run() {
    let cuts = Cuts { machines: 1, runs: 1 << 40, steps: 1 << 40, every: Duration::ZERO };
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("kept, paused", seeds(150, 20_000), generate, |s| the_same(s, Goal::FirstRace, cuts));
}

#[test]
fn stopped_with_several_machines() {
    let cuts = Cuts { machines: 3, runs: 7, steps: 1 << 40, every: Duration::ZERO };
    let generate = |seed| generate(seed, &Profile::TINY);
    for_all("kept, three machines", seeds(150, 20_000), generate, |s| the_same(s, Goal::AllRaces, cuts));
}

/// What was kept of another program is refused, or leads to some end; it never panics.
#[test]
fn of_another_program() {
    let kept = |seed| {
        let last = RefCell::new(None);
        let save = |kept: &Kept, _: &[&ScriptMachine]| *last.borrow_mut() = Some(kept.clone());
        let keeping = Keeping { every: NEVER, save: &save, from: None };
        let few = Limits { executions: 2, ..limits(Goal::AllRaces) };
        let mut machine = ScriptMachine::new(&generate(seed, &Profile::EVERYTHING));
        optimal_kept(&mut [&mut machine], &few, &keeping).ok()?;
        last.into_inner()
    };
    let mut refused = 0;
    for seed in cases_of_seeds("what was kept of another program", seeds(120, 5_000)) {
        let Some(from) = kept(seed) else { continue };
        let mut other = ScriptMachine::new(&generate(seed + 1, &Profile::EVERYTHING));
        let keeping = Keeping { every: NEVER, save: &|_, _| {}, from: Some(from) };
        refused += u32::from(optimal_kept(&mut [&mut other], &limits(Goal::AllRaces), &keeping).is_err());
    }
    assert!(refused > 20, "{refused} refused");
}
