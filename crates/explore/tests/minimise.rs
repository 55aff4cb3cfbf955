//! A simpler schedule is a real one: it replays, shows the same race or problem, and never switches more often.

use raddle_event::{Problem, Schedule, Trace};
use raddle_explore::enumerate::{Goal, Limits, RaceAccess, RaceKey, sync};
use raddle_explore::minimise::{problem, race, switches};
use raddle_machine::{Machine, TraceSink, Visibility};
use raddle_testkit::script::{Profile, Script, ScriptMachine, generate};
use std::sync::atomic::AtomicBool;

const LIMITS: Limits<'static> =
    Limits { goal: Goal::AllRaces, executions: 3_000, steps: 20_000, run_steps: 300, ..Limits::DEFAULT };

const STEPS: u64 = 100_000;

static NEVER: AtomicBool = AtomicBool::new(false);

fn replay(script: &Script, visibility: &Visibility, schedule: &Schedule) -> (ScriptMachine, Trace) {
    let mut machine = ScriptMachine::new(script);
    machine.set_visibility(visibility.clone());
    let mut sink = TraceSink::default();
    for choice in &schedule.choices {
        machine.step(*choice, &mut sink);
    }
    (machine, sink.trace)
}

#[test]
fn races_stay_and_get_simpler() {
    let (mut before, mut after, mut races) = (0, 0, 0);
    for seed in 0..400 {
        let script = generate(seed, &Profile::EVERYTHING);
        let mut machine = ScriptMachine::new(&script);
        let start = machine.fingerprint();
        for found in sync(&mut machine, &LIMITS).races {
            let simple = race(&mut machine, &found, STEPS, &NEVER);
            assert_eq!(machine.fingerprint(), start, "seed {seed}: the machine is back at its start");
            assert_eq!(simple.key, found.key);
            let (_, trace) = replay(&script, &simple.visibility, &simple.schedule);
            let shown = raddle_order::races(&trace).into_iter().any(|pair| {
                let [a, b] = [pair.first, pair.second]
                    .map(|at| RaceAccess::of(&trace.events[at]).expect("a race is between accesses").0);
                RaceKey::new(a, b) == found.key && trace.events[pair.second] == simple.second
            });
            assert!(shown, "seed {seed}: {:?} is not shown by {:?}", simple.key, simple.schedule);
            let (was, is) = (switches(&found.schedule.choices), switches(&simple.schedule.choices));
            assert!(is <= was, "seed {seed}: {was} switches became {is}");
            (before, after, races) = (before + was, after + is, races + 1);
        }
    }
    assert!(races > 200 && after * 10 < before * 9, "{races} races: {before} switches became {after}");
}

#[test]
fn problems_stay() {
    let mut problems = 0;
    let look = |machine: &ScriptMachine, problem: &Problem| {
        (problem.kind, problem.site, machine.thread_info(problem.thread).entry)
    };
    for seed in 0..400 {
        let script = generate(seed, &Profile::EVERYTHING);
        let mut machine = ScriptMachine::new(&script);
        for found in sync(&mut machine, &LIMITS).problems {
            let simple = problem(&mut machine, &found, STEPS, &NEVER);
            let (there, _) = replay(&script, &simple.visibility, &simple.schedule);
            let (then, _) = replay(&script, &found.visibility, &found.schedule);
            let looks = |machine: &ScriptMachine, problems: &[Problem]| {
                let mut looks: Vec<_> = problems.iter().map(|problem| look(machine, problem)).collect();
                looks.sort();
                looks
            };
            assert_eq!(looks(&there, &simple.problems), looks(&then, &found.problems), "seed {seed}");
            for one in &simple.problems {
                assert!(there.problems().contains(one), "seed {seed}: {one:?}");
            }
            assert!(switches(&simple.schedule.choices) <= switches(&found.schedule.choices));
            problems += 1;
        }
    }
    assert!(problems > 100, "only {problems} problems");
}

#[test]
fn without_steps_nothing_changes() {
    let mut races = 0;
    for seed in 0..50 {
        let script = generate(seed, &Profile::EVERYTHING);
        let mut machine = ScriptMachine::new(&script);
        for found in sync(&mut machine, &LIMITS).races {
            assert_eq!(race(&mut machine, &found, 0, &NEVER), found);
            races += 1;
        }
    }
    assert!(races > 20);
}
