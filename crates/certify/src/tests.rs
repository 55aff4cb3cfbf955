//! Scripts as the program: what the enumerator finds is confirmed, what it did not find is refused.

use crate::replay::Witness;
use crate::{Refusal, problem, race};
use raddle_base::SiteId;
use raddle_event::{Choice, ProblemKind, ThreadId};
use raddle_explore::enumerate::{Exploration, Goal, Limits, every_access, sync};
use raddle_ir::{DataModel, Program};
use raddle_testkit::script::{Profile, Script, ScriptMachine, generate};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use std::sync::atomic::AtomicBool;

fn scripts(property: &str) -> impl Iterator<Item = (u64, Script)> {
    cases_of_seeds(property, seeds(240, 20_000)).map(|seed| {
        let profile = if seed % 2 == 0 { Profile::SMALL } else { Profile::EVERYTHING };
        (seed, generate(seed, &profile))
    })
}

static NEVER: AtomicBool = AtomicBool::new(false);

fn search(script: &Script) -> Exploration {
    let limits = Limits { goal: Goal::AllRaces, steps: 20_000, run_steps: 400, ..Limits::default() };
    sync(&mut ScriptMachine::new(script), &limits)
}

fn confirm(script: &Script, witness: &Witness, sites: (SiteId, SiteId)) -> Result<(), Refusal> {
    let program = Program::new(DataModel::Lp64);
    race::confirm(&program, None, || Ok(ScriptMachine::new(script)), witness, sites, &NEVER).map(|race| {
        let (a, b) = race.sites();
        assert!((a, b) == sites || (b, a) == sites);
        assert!(race.accesses().iter().any(|access| access.action != "read"), "one end writes");
        assert_ne!(race.accesses()[0].thread.name, race.accesses()[1].thread.name);
        assert!(!race.variable().is_empty());
    })
}

#[test]
fn found_races_are_confirmed() {
    let (mut races, mut refused) = (0, 0);
    for (seed, script) in scripts("what the enumerator finds is confirmed") {
        for found in search(&script).races {
            let mut witness =
                Witness { schedule: found.schedule.clone(), visibility: found.visibility.clone() };
            let sites = found.key.sites();
            assert_eq!(confirm(&script, &witness, sites), Ok(()), "seed {seed}");
            races += 1;

            // Cut before the second access there is no such race, unless another one at the same places came before.
            witness.schedule.choices.pop();
            refused += u32::from(confirm(&script, &witness, sites) == Err(Refusal::NoRace));

            // A place of the program where nothing was accessed.
            witness.schedule = found.schedule;
            assert_eq!(
                confirm(&script, &witness, (sites.0, SiteId(9_999))),
                Err(Refusal::NoRace),
                "seed {seed}"
            );

            let nobody = Choice { thread: ThreadId(77), variant: 0 };
            witness.schedule.choices.insert(0, nobody);
            assert_eq!(
                confirm(&script, &witness, sites),
                Err(Refusal::NotEnabled { step: 0, choice: nobody }),
                "seed {seed}"
            );
        }
    }
    assert!(races > 100 && refused > 50, "{races} races, {refused} cut");
}

/// The second enumerator knows nothing of happens-before: that its races are confirmed says that the two notions agree.
#[test]
fn adjacent_accesses_are_confirmed() {
    let mut races = 0;
    for (seed, script) in scripts("damaged schedules").filter(|(seed, _)| seed % 2 == 0).take(60) {
        let limits = Limits { goal: Goal::AllRaces, steps: 20_000, run_steps: 400, ..Limits::default() };
        for found in every_access(&mut ScriptMachine::new(&script), &limits).races {
            let mut schedule = found.schedule.clone();
            for event in [found.first, found.second] {
                schedule.choices.push(Choice { thread: event.thread, variant: 0 });
            }
            let witness = Witness { schedule, visibility: found.visibility.clone() };
            assert_eq!(confirm(&script, &witness, found.key.sites()), Ok(()), "seed {seed}");
            races += 1;
        }
    }
    assert!(races > 25, "{races} races");
}

#[test]
fn found_problems_are_confirmed() {
    let mut problems = 0;
    for (seed, script) in scripts("what it did not find is refused") {
        for found in search(&script).problems {
            let witness = Witness { schedule: found.schedule, visibility: found.visibility };
            let program = Program::new(DataModel::Lp64);
            let confirm = |kind, site| {
                problem::confirm(&program, || Ok(ScriptMachine::new(&script)), &witness, (kind, site), &NEVER)
            };
            let first = &found.problems[0];
            let confirmed = confirm(first.kind, first.site);
            let confirmed = confirmed.unwrap_or_else(|refusal| panic!("seed {seed}: {refusal}"));
            assert_eq!(confirmed.kind(), first.kind);
            assert_eq!(confirmed.accesses().len(), found.problems.len(), "seed {seed}");
            problems += 1;

            let elsewhere = confirm(first.kind, SiteId(9_999));
            assert_eq!(elsewhere.unwrap_err(), Refusal::NoProblem { kind: first.kind });
            let other = confirm(ProblemKind::DivisionByZero, first.site);
            assert_eq!(other.unwrap_err(), Refusal::NoProblem { kind: ProblemKind::DivisionByZero });
        }
    }
    assert!(problems > 25, "{problems} problems");
}

#[test]
fn nothing_is_confirmed_when_there_is_no_time() {
    let over = AtomicBool::new(true);
    let races = scripts("nothing is confirmed when there is no time")
        .find_map(|(_, script)| Some((search(&script).races.into_iter().next()?, script)));
    let (found, script) = races.expect("some script has a race");
    let witness = Witness { schedule: found.schedule, visibility: found.visibility };
    let program = Program::new(DataModel::Lp64);
    let stopped =
        race::confirm(&program, None, || Ok(ScriptMachine::new(&script)), &witness, found.key.sites(), &over);
    assert_eq!(stopped.unwrap_err(), Refusal::Stopped);
}
