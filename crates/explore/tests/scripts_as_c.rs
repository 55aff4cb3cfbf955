//! The whole pipeline against its slow twin: a random script, written as C, compiled by clang, lowered, run by the interpreter and
//! searched, has as many runs, the same races (by line) and the same problems as the script run directly.

mod waits;

use raddle_base::SiteId;
use raddle_config::Config;
use raddle_event::{AccessKind, Problem, ProblemKind};
use raddle_explore::enumerate::{
    Atomicity, Coverage, Exploration, Gap, Goal, Limits, RaceAccess, RunCount, StateCache, every_access, sync,
};
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_libmodel::Models;
use raddle_machine::Machine;
use raddle_testkit::script::{Profile, Script, ScriptMachine, c_text, generate, shrink};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use waits::waits_and_tries;

const LIMITS: Limits<'static> =
    Limits { goal: Goal::AllRaces, executions: 4_000, steps: 100_000, run_steps: 400, ..Limits::DEFAULT };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Sync,
    /// Runs are not compared: the C text has accesses that the script has not.
    EveryAccess(StateCache),
}

fn search<M: Machine>(machine: &mut M, mode: Mode) -> Exploration {
    match mode {
        Mode::Sync => sync(machine, &LIMITS),
        Mode::EveryAccess(cache) => every_access(machine, &Limits { cache, ..LIMITS }),
    }
}

/// What must be the same on both sides; places are lines of the C text.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// Compared in mode 1 and without waiting loops: how often a thread looks again is each machine's own matter.
    runs: Option<RunCount>,
    races: BTreeSet<(Access, Access)>,
    problems: BTreeSet<Vec<(ProblemKind, u32)>>,
}

type Access = (u32, AccessKind, Atomicity);

#[derive(Clone, Copy)]
struct How {
    mode: Mode,
    loops: Loops,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Loops {
    None,
    Waiting,
}

/// `None` when the search was too large.
fn outcome(exploration: &Exploration, how: How, line: impl Fn(SiteId) -> u32) -> Option<Outcome> {
    if exploration.coverage != Coverage::Complete {
        return None;
    }
    let access = |access: RaceAccess| (line(access.site), access.kind, access.atomicity);
    let pair = |a: Access, b: Access| (a.min(b), a.max(b));
    Some(Outcome {
        runs: (how.loops == Loops::None && how.mode == Mode::Sync).then_some(exploration.runs),
        races: exploration
            .races
            .iter()
            .map(|race| pair(access(race.key.low), access(race.key.high)))
            .collect(),
        problems: exploration
            .problems
            .iter()
            .map(|found| {
                // Where in its round a thread stands that goes round in circles is each machine's own matter, too.
                let place = |problem: &Problem| match problem.kind {
                    ProblemKind::Livelock => (problem.kind, 0),
                    kind => (kind, line(problem.site)),
                };
                let mut places: Vec<_> = found.problems.iter().map(place).collect();
                places.sort();
                places
            })
            .collect(),
    })
}

fn directly(script: &Script, how: How) -> Option<Outcome> {
    let lines = c_text(script).lines;
    outcome(&search(&mut ScriptMachine::new(script), how.mode), how, |site| lines[site.0 as usize])
}

fn through_c(script: &Script, how: How, folder: &Path) -> Result<Option<Outcome>, String> {
    let file = folder.join("script.c");
    std::fs::write(&file, c_text(script).text).map_err(|error| error.to_string())?;
    let request = Request { inputs: vec![file], cflags: Vec::new(), data_model: None, ..Request::default() };
    let program = raddle_frontend::load(&request).map_err(|error| error.to_string())?.program;
    let models = Models::resolve(&program, &Config::default());
    let program = Arc::new(program);
    let mut machine = Interp::new(Arc::clone(&program), Arc::new(models), Options::default())
        .map_err(|error| error.to_string())?;
    let exploration = search(&mut machine, how.mode);
    let gives_up = |gap: &&Gap| matches!(gap, Gap::Unsupported { .. } | Gap::Machine { .. });
    if let Some(gap) = exploration.unknown_reasons.iter().find(gives_up) {
        return Err(format!("the interpreter gives up: {gap:?}"));
    }
    Ok(outcome(&exploration, how, |site| {
        program.sites.get(site).and_then(|info| info.span).map_or(0, |span| span.line)
    }))
}

/// The difference, in words; `None` when one side was too large to compare.
fn compare(script: &Script, how: How, folder: &Path) -> Option<Result<(), String>> {
    let expected = directly(script, how)?;
    match through_c(script, how, folder) {
        Err(error) => Some(Err(error)),
        // The interpreter has more accesses, and looks again more often, than the script.
        Ok(None) if how.loops == Loops::Waiting || how.mode != Mode::Sync => None,
        Ok(None) => Some(Err(format!("complete only for the script: {expected:#?}"))),
        Ok(Some(found)) if found == expected => Some(Ok(())),
        Ok(Some(found)) => Some(Err(format!("the script gives {expected:#?}\nits C text gives {found:#?}"))),
    }
}

fn compare_all(name: &str, mode: Mode, seeds: std::ops::Range<u64>, profile: &Profile) {
    let loops = if profile.waiting_loops { Loops::Waiting } else { Loops::None };
    compare_scripts(name, How { mode, loops }, seeds, |seed| generate(seed, profile));
}

fn compare_scripts(name: &str, how: How, seeds: std::ops::Range<u64>, generate: impl Fn(u64) -> Script) {
    let folder = tempfile::tempdir().expect("a folder for C files");
    let mut compared = 0;
    let mut cases = cases_of_seeds(name, seeds);
    for seed in cases.by_ref() {
        let script = generate(seed);
        match compare(&script, how, folder.path()) {
            None => {}
            Some(Ok(())) => compared += 1,
            Some(Err(_)) => {
                let small =
                    shrink(&script, |script| matches!(compare(script, how, folder.path()), Some(Err(_))));
                let Some(Err(message)) = compare(&small, how, folder.path()) else {
                    unreachable!("it still fails")
                };
                let numbered: String = c_text(&small)
                    .text
                    .lines()
                    .enumerate()
                    .map(|(index, line)| format!("{:3} {line}\n", index + 1))
                    .collect();
                panic!("{name}, seed {seed}: {message}\n{numbered}");
            }
        }
    }
    let total = cases.done();
    cases.too_large(total - compared);
    println!("{name}: {compared} scripts compared");
    assert!(compared * 3 >= total, "only {compared} scripts could be compared");
}

#[test]
fn the_pipeline_agrees_with_the_script() {
    let profile = Profile { waiting_loops: false, plain_spinning: false, ..Profile::EVERYTHING };
    compare_all("as C", Mode::Sync, seeds(40, 2_000), &profile);
    compare_all(
        "as C, two threads",
        Mode::Sync,
        seeds(40, 2_000),
        &Profile { threads: 1, statements: 4, ..profile },
    );
}

#[test]
fn the_pipeline_agrees_with_the_script_on_waiting_loops() {
    compare_all(
        "as C, waiting loops",
        Mode::Sync,
        seeds(60, 2_000),
        &Profile { threads: 2, ..Profile::EVERYTHING },
    );
}

#[test]
fn the_pipeline_agrees_with_the_script_on_waits_and_tries() {
    let how = How { mode: Mode::Sync, loops: Loops::Waiting };
    compare_scripts("as C, waits and tries", how, seeds(40, 20_000), waits_and_tries);
}

#[test]
fn the_pipeline_agrees_with_the_script_access_by_access() {
    let profile = Profile { tries: true, weak_atomics: true, ..Profile::TINY };
    compare_all("as C, every access", Mode::EveryAccess(StateCache::Off), seeds(30, 1_000), &profile);
    let cached = Mode::EveryAccess(StateCache::Fingerprints);
    compare_all("as C, every access, cached", cached, seeds(30, 1_000), &profile);
}
