//! What a search reports happens again, event by event, on a fresh machine that is led by the schedule.

use raddle_event::{Event, Schedule, Trace};
use raddle_explore::enumerate::{Goal, Limits, RaceAccess, every_access, sync};
use raddle_machine::{Machine, Status, TraceSink, Visibility};
use raddle_testkit::script::{Profile, Script, ScriptMachine, generate};
use raddle_testkit::soak::{cases_of_seeds, seeds};

const LIMITS: Limits<'static> = Limits {
    goal: Goal::AllRaces,
    executions: 3_000,
    steps: 20_000,
    run_steps: 300,
    preemptions: None,
    loop_rounds: None,
    run_events: usize::MAX,
    time: None,
    interrupt: None,
    progress: None,
    cache: raddle_explore::enumerate::StateCache::Off,
};

fn replay(script: &Script, visibility: &Visibility, schedule: &Schedule) -> (ScriptMachine, Trace, usize) {
    let mut machine = ScriptMachine::new(script);
    machine.set_visibility(visibility.clone());
    let mut sink = TraceSink::default();
    let mut last_step = 0;
    for choice in &schedule.choices {
        last_step = sink.trace.events.len();
        machine.step(*choice, &mut sink);
    }
    (machine, sink.trace, last_step)
}

#[test]
fn a_race_by_order_replays_with_its_schedule() {
    let mut races = 0;
    for seed in cases_of_seeds("races by order replay", seeds(600, 50_000)) {
        let script = generate(seed, &Profile::EVERYTHING);
        for race in sync(&mut ScriptMachine::new(&script), &LIMITS).races {
            races += 1;
            let (_, trace, last_step) = replay(&script, &race.visibility, &race.schedule);
            let position = |event: &Event, from: usize| {
                trace.events[from..].iter().position(|other| other == event).map(|index| from + index)
            };
            let second = position(&race.second, last_step);
            let second =
                second.unwrap_or_else(|| panic!("seed {seed}: the last step has not {:?}", race.second));
            let shown = raddle_order::races(&trace)
                .into_iter()
                .any(|pair| pair.second == second && trace.events[pair.first] == race.first);
            assert!(shown, "seed {seed}: {:?} does not show again", race.key);
        }
    }
    assert!(races > 200, "only {races} races to replay");
}

#[test]
fn a_race_by_state_replays_to_two_threads_next_to_it() {
    let mut races = 0;
    for seed in cases_of_seeds("races by state replay", seeds(300, 20_000)) {
        let script = generate(seed, &Profile::EVERYTHING);
        for race in every_access(&mut ScriptMachine::new(&script), &LIMITS).races {
            races += 1;
            let (machine, ..) = replay(&script, &race.visibility, &race.schedule);
            let mut enabled = Vec::new();
            machine.enabled(&mut enabled);
            for event in [race.first, race.second] {
                let operation = machine.pending(event.thread).expect("the thread goes on");
                let (access, _) = RaceAccess::of(&event).expect("a race is between accesses");
                assert_eq!(operation.site, access.site, "seed {seed}");
                assert!(enabled.iter().any(|choice| choice.thread == event.thread), "seed {seed}");
            }
        }
    }
    assert!(races > 200, "only {races} races to replay");
}

#[test]
fn a_problem_replays_with_its_schedule() {
    let mut problems = 0;
    for seed in cases_of_seeds("problems replay", seeds(600, 50_000)) {
        let script = generate(seed, &Profile::EVERYTHING);
        for found in sync(&mut ScriptMachine::new(&script), &LIMITS).problems {
            problems += 1;
            let (machine, ..) = replay(&script, &found.visibility, &found.schedule);
            for problem in &found.problems {
                assert!(machine.problems().contains(problem), "seed {seed}: {problem:?}");
            }
        }
    }
    assert!(problems > 100, "only {problems} problems to replay");
}

#[test]
fn a_search_leaves_the_machine_at_its_start() {
    for seed in 0..200 {
        let script = generate(seed, &Profile::EVERYTHING);
        let mut machine = ScriptMachine::new(&script);
        let start = machine.fingerprint();
        let first = sync(&mut machine, &LIMITS);
        assert_eq!((machine.fingerprint(), machine.status()), (start, Status::Running));
        every_access(&mut machine, &LIMITS);
        assert_eq!((machine.fingerprint(), machine.status()), (start, Status::Running));
        assert_eq!(first, sync(&mut machine, &LIMITS), "seed {seed}: the same search again");
    }
}
