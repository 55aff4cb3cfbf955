//! The reduced and the stateful search on the interpreter: the same races and problems as the enumerator, on random scripts written as C.

mod as_c;

use as_c::load;
use raddle_event::{Problem, ProblemKind};
use raddle_explore::dpor::optimal;
use raddle_explore::enumerate::{Coverage, Exploration, Goal, Limits, RaceKey, sync};
use raddle_explore::stateful::{Caching, stateful};
use raddle_machine::{Machine, Visibility};
use raddle_testkit::script::{Profile, Script, c_text, generate, shrink};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use std::collections::BTreeSet;
use std::path::Path;

fn limits() -> Limits<'static> {
    Limits { goal: Goal::AllRaces, executions: 4_000, run_steps: 400, ..Limits::default() }
}

type Found = (BTreeSet<RaceKey>, BTreeSet<Vec<(ProblemKind, u32)>>);

/// Where in its round a thread stands that goes round in circles is a matter of chance.
fn found(exploration: &Exploration) -> Found {
    let place = |problem: &Problem| match problem.kind {
        ProblemKind::Livelock => (problem.kind, problem.thread.0),
        kind => (kind, problem.site.0),
    };
    let problems = exploration.problems.iter().map(|found| {
        let mut places: Vec<_> = found.problems.iter().map(place).collect();
        places.sort();
        places
    });
    (exploration.races.iter().map(|race| race.key).collect(), problems.collect())
}

/// Without livelocks: a round of a waiting thread may be a cycle of states, which the search that remembers them does not go round.
fn moving(exploration: &Exploration) -> Found {
    let (races, mut problems) = found(exploration);
    problems.retain(|places| places[0].0 != ProblemKind::Livelock);
    (races, problems)
}

/// Numbers of runs; `None` when the enumeration is too large.
fn compare(script: &Script, folder: &Path) -> Option<Result<(u64, u64), String>> {
    let mut machine = load(script, folder);
    let start = machine.fingerprint();
    let all = sync(&mut machine, &limits());
    if all.coverage != Coverage::Complete {
        return None;
    }
    let reduced = optimal(&mut machine, &limits(), Visibility::SyncOnly).exploration;
    let cached = stateful(&mut machine, &limits(), Visibility::SyncOnly, Caching::On).exploration;
    Some(if found(&all) != found(&reduced) {
        Err(format!("enumerated {:?}, reduced {:?}", found(&all), found(&reduced)))
    } else if moving(&all) != moving(&cached) || cached.coverage != Coverage::Complete {
        Err(format!("enumerated {:?}, {:?} with memory {:?}", found(&all), cached.coverage, found(&cached)))
    } else if reduced.coverage != Coverage::Complete || machine.fingerprint() != start {
        Err(format!("{:?}", reduced.unknown_reasons))
    } else {
        Ok((all.runs.executions, reduced.runs.executions))
    })
}

fn compare_all(name: &str, seeds: std::ops::Range<u64>, profile: &Profile) {
    let folder = tempfile::tempdir().expect("a folder for C files");
    let mut cases = cases_of_seeds(name, seeds);
    let (mut compared, mut runs, mut reduced) = (0, 0, 0);
    for seed in cases.by_ref() {
        let script = generate(seed, profile);
        match compare(&script, folder.path()) {
            None => {}
            Some(Ok((all, few))) => {
                compared += 1;
                runs += all;
                reduced += few;
            }
            Some(Err(_)) => {
                let small = shrink(&script, |script| matches!(compare(script, folder.path()), Some(Err(_))));
                let Some(Err(message)) = compare(&small, folder.path()) else {
                    unreachable!("it still fails")
                };
                panic!("{name}, seed {seed}: {message}\n{}", c_text(&small).text);
            }
        }
    }
    let total = cases.done();
    cases.too_large(total - compared);
    println!("{name}: {compared} of {total} scripts compared, {runs} runs enumerated, {reduced} reduced");
    assert!(compared * 3 >= total, "only {compared} scripts could be compared");
}

#[test]
fn as_c() {
    let profile = Profile { waiting_loops: false, plain_spinning: false, ..Profile::EVERYTHING };
    compare_all("as C", seeds(25, 3_000), &profile);
}

#[test]
fn as_c_with_waiting_loops() {
    compare_all("as C, waiting loops", seeds(25, 3_000), &Profile { threads: 2, ..Profile::EVERYTHING });
}
