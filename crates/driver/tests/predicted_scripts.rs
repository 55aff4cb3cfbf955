//! Random scripts as C: what prediction confirms on the interpreter is in some execution of the script, and what it calls certain, too. The
//! enumerator, which knows nothing of traces, lists the races.

use raddle_driver::{Evidence, Goal, PredictRequest, Replays, Rounds, Source, Subject, Watching, predict};
use raddle_explore::enumerate::{Coverage, Limits, sync};
use raddle_finding::{Confirmation, Deadlocks, FindingKind, Outcome};
use raddle_testkit::script::{Profile, Script, ScriptMachine, c_text, generate};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

type Lines = (u32, u32);

/// The races of all executions, by lines of the C text, and whether one deadlocks; `None` where there are too many.
fn enumerated(script: &Script) -> Option<(BTreeSet<Lines>, bool)> {
    let limits = Limits {
        goal: raddle_explore::enumerate::Goal::AllRaces,
        steps: 60_000,
        run_steps: 200,
        ..Limits::default()
    };
    let all = sync(&mut ScriptMachine::new(script), &limits);
    let lines = c_text(script).lines;
    let pair = |race: &raddle_explore::enumerate::FoundRace| {
        let (a, b) = race.key.sites();
        let (a, b) = (lines[a.0 as usize], lines[b.0 as usize]);
        (a.min(b), a.max(b))
    };
    let complete = all.coverage == Coverage::Complete;
    complete.then(|| (all.races.iter().map(pair).collect(), all.deadlocks == Deadlocks::Found))
}

fn predicted(script: &Script, seed: u64, folder: &Path) -> Outcome {
    let file = folder.join("script.c");
    std::fs::write(&file, c_text(script).text).expect("the folder can be written");
    let request = PredictRequest {
        source: Source::Files {
            subject: Subject { inputs: vec![file], ..Subject::default() },
            seed: (!seed.is_multiple_of(3)).then_some(seed),
        },
        config: None,
        time: Some(Duration::from_secs(60)),
        run_time: Duration::from_secs(10),
        candidates: 3,
        limit: 100_000,
        replays: Replays::Wanted,
        rounds: Rounds::One,
        beside: 0,
        goal: Goal::AllRaces,
        witness_dir: None,
    };
    let watching = Watching { interrupt: &AtomicBool::new(false), progress: &|_| {} };
    predict(&request, watching).expect("scripts are valid C").0.outcome
}

#[derive(Default)]
struct Tally {
    compared: usize,
    /// Findings by how they were found.
    observed: usize,
    confirmed: usize,
    unconfirmed: usize,
    /// Races of the enumerator.
    races: usize,
}

fn compare(script: &Script, seed: u64, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let Some((races, deadlock)) = enumerated(script) else { return Ok(()) };
    let outcome = predicted(script, seed, folder);
    tally.compared += 1;
    tally.races += races.len();
    let bug = outcome.unknown_reasons.iter().find(|reason| reason.text.contains("a bug in Raddle"));
    if let Some(bug) = bug {
        return Err(bug.text.clone());
    }
    for finding in &outcome.findings {
        let mut lines: Vec<u32> = finding.accesses.iter().map(|access| access.at.line).collect();
        lines.sort_unstable();
        let exists = match (finding.kind, lines.as_slice()) {
            (FindingKind::DataRace, [a, b]) => races.contains(&(*a, *b)),
            (FindingKind::Problem(raddle_event::ProblemKind::Deadlock), _) => deadlock,
            _ => true,
        };
        match &finding.evidence {
            Evidence::Predicted { confirmation: Confirmation::Unconfirmed { .. }, .. } => {
                tally.unconfirmed += 1;
            }
            Evidence::Predicted { .. } => tally.confirmed += 1,
            _ => tally.observed += 1,
        }
        if !exists {
            return Err(format!("{} at {lines:?}: {:?}", finding.kind.name(), finding.evidence));
        }
    }
    Ok(())
}

fn compare_all(name: &str, profile: &Profile) -> Tally {
    let folder = tempfile::tempdir().expect("a folder for C files");
    let mut tally = Tally::default();
    let mut cases = cases_of_seeds(name, seeds(150, 5_000));
    for seed in cases.by_ref() {
        let script = generate(seed, profile);
        if let Err(why) = compare(&script, seed, folder.path(), &mut tally) {
            let text = c_text(&script).text;
            let numbered = text.lines().zip(1..).map(|(line, number)| format!("{number:3} {line}\n"));
            panic!("{name}, seed {seed}: {why}\n{}", numbered.collect::<String>());
        }
    }
    let Tally { compared, observed, confirmed, unconfirmed, races } = tally;
    println!(
        "{name}: {compared} scripts, {races} races; {observed} observed, {confirmed} confirmed, {unconfirmed} not"
    );
    assert!(compared * 3 >= cases.done() as usize, "only {compared} scripts could be compared");
    tally
}

#[test]
fn what_is_confirmed_of_scripts_exists() {
    let tally = compare_all("predicted of scripts", &Profile { waiting_loops: false, ..Profile::SMALL });
    assert!(tally.confirmed + tally.observed > tally.races / 3, "too little was found");
}

#[test]
fn what_is_confirmed_of_scripts_with_everything_exists() {
    let profile = Profile { waiting_loops: false, plain_spinning: false, ..Profile::EVERYTHING };
    let tally = compare_all("predicted of scripts, everything", &profile);
    assert!(tally.confirmed > 0, "nothing was confirmed");
}
