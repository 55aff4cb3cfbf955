//! Every candidate without uncertain reads exists in the program: a run of the script follows its order and has the error, and the
//! enumerator, which knows nothing of traces, lists the race. Candidates of every method.

mod runs;

use raddle_event::EventKind;
use raddle_explore::enumerate::{Coverage, Goal, Limits, StateCache, every_access};
use raddle_finding::Deadlocks;
use raddle_predict::exhaustive::{Budget, Reads, conflicting, deadlocks, merged, races};
use raddle_predict::legality::check;
use raddle_predict::{Candidate, Deciding, Error, Input, Options, predict};
use raddle_testkit::script::{Profile, Script, ScriptMachine, c_text, generate, shrink};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use raddle_testkit::traces::print;
use runs::{Run, exists, gives_up, nested_sections, run, shows_everything};
use std::collections::BTreeSet;

type Method = fn(Input) -> Vec<Candidate>;

/// To be tested like the others, a method needs a line here.
const METHODS: [(&str, Method); 3] = [
    ("all methods in turn", |input| predict(input, &Options::default()).candidates),
    ("exhaustive", |input| exhaustive(input, Reads::Free)),
    ("exhaustive, reads as recorded", |input| exhaustive(input, Reads::AsRecorded)),
];

fn exhaustive(input: Input, reads: Reads) -> Vec<Candidate> {
    let budget = Budget { states: 20_000, candidates: 1_000, reads, until: None };
    let mut found = races(input, &conflicting(input).concat(), &budget).candidates;
    found.extend(deadlocks(input, &budget).candidates);
    found
}

/// What the candidates of a run were.
#[derive(Default)]
struct Tally {
    runs: usize,
    certain_races: usize,
    /// Of those, in scripts that the enumerator got to the end of.
    enumerated: usize,
    certain_deadlocks: usize,
    uncertain: usize,
    give_up: usize,
}

fn input<'a>(run: &'a Run, deciding: &'a Deciding) -> Input<'a> {
    Input { trace: &run.trace, initial: &run.initial, deciding }
}

/// The races of all runs, as pairs of sites; `None` where there are too many states.
fn enumerated(script: &Script) -> Option<BTreeSet<(u32, u32)>> {
    Some(enumerate(script)?.0)
}

/// And whether there is a deadlock.
fn enumerate(script: &Script) -> Option<(BTreeSet<(u32, u32)>, Deadlocks)> {
    let limits = Limits {
        goal: Goal::AllRaces,
        cache: StateCache::Fingerprints,
        steps: 3_000,
        run_steps: 100,
        ..Limits::default()
    };
    let all = every_access(&mut ScriptMachine::new(script), &limits);
    let sites = |race: &raddle_explore::enumerate::FoundRace| {
        let (a, b) = race.key.sites();
        (a.0.min(b.0), a.0.max(b.0))
    };
    (all.coverage == Coverage::Complete).then(|| (all.races.iter().map(sites).collect(), all.deadlocks))
}

fn sites_of(run: &Run, first: usize, second: usize) -> (u32, u32) {
    let [a, b] = [first, second].map(|at| run.trace.events[at].site.0);
    (a.min(b), a.max(b))
}

fn candidates_exist(run: &Run, deciding: &Deciding, tally: &mut Tally) -> Result<(), String> {
    let input = input(run, deciding);
    let mut known = None;
    for (name, method) in METHODS {
        for candidate in method(input) {
            let fail = |why: String| Err(format!("{name}: {candidate:?}: {why}"));
            if let Err(wrong) = check(input, &candidate) {
                return fail(format!("{wrong:?}"));
            }
            if !candidate.uncertain.is_empty() {
                tally.uncertain += 1;
                continue;
            }
            match &candidate.error {
                Error::Race { first, second } => {
                    let known = known.get_or_insert_with(|| enumerated(&run.script));
                    let sites = sites_of(run, *first, *second);
                    if let Some(known) = known {
                        if !known.contains(&sites) {
                            return fail("the enumerator does not have the race".to_owned());
                        }
                        tally.enumerated += 1;
                    }
                    tally.certain_races += 1;
                }
                Error::Deadlock { blocked } => {
                    let tries = |&at: &usize| gives_up(&run.script, run.trace.events[at].site);
                    if blocked.iter().any(tries) {
                        tally.give_up += 1;
                        continue;
                    }
                    tally.certain_deadlocks += 1;
                }
            }
            if let Err(why) = exists(run, &candidate) {
                return fail(why);
            }
        }
    }
    Ok(())
}

fn for_all(name: &str, all: u64, script: impl Fn(u64) -> Script) -> Tally {
    let mut tally = Tally::default();
    let mut cases = cases_of_seeds(name, seeds(1_000, all));
    for seed in cases.by_ref() {
        let mut verdict = |script: Script| {
            let run = run(script, seed);
            let mut verdict = Ok(());
            for deciding in [Deciding::All, run.deciding.clone()] {
                verdict = verdict.and_then(|()| candidates_exist(&run, &deciding, &mut tally));
            }
            verdict.map_err(|why| format!("{why}\n{}", print(&run.trace)))
        };
        if verdict(script(seed)).is_err() {
            let small = shrink(&script(seed), |script| run_fails(script, seed));
            let why = verdict(small.clone()).err().unwrap_or_default();
            panic!("{name}, seed {seed}: {why}\n{}", c_text(&small).text);
        }
    }
    println!(
        "{name}: {} runs, {} certain races ({} enumerated), {} certain deadlocks, {} uncertain, {} that may give up",
        cases.done(),
        tally.certain_races,
        tally.enumerated,
        tally.certain_deadlocks,
        tally.uncertain,
        tally.give_up
    );
    tally.runs = cases.done() as usize;
    tally
}

fn run_fails(script: &Script, seed: u64) -> bool {
    let run = run(script.clone(), seed);
    [Deciding::All, run.deciding.clone()]
        .iter()
        .any(|deciding| candidates_exist(&run, deciding, &mut Tally::default()).is_err())
}

#[test]
fn certain_candidates_exist_in_scripts() {
    let tally = for_all("candidates exist", 100_000, |seed| generate(seed, &Profile::SMALL));
    assert!(tally.certain_races >= tally.runs && tally.uncertain * 10 >= tally.runs, "too few candidates");
}

#[test]
fn certain_candidates_exist_in_scripts_with_everything() {
    let tally = for_all("candidates exist, everything", 100_000, |seed| generate(seed, &Profile::EVERYTHING));
    assert!(tally.certain_races >= tally.runs && tally.uncertain * 10 >= tally.runs, "too few candidates");
}

#[test]
fn certain_deadlocks_exist_in_nested_sections() {
    let tally = for_all("deadlocks exist", 100_000, nested_sections);
    assert!(tally.certain_deadlocks * 10 >= tally.runs, "too few deadlocks");
}

/// The other direction: where all runs do the same, one run has every race and deadlock of the program in its reorderings.
#[test]
fn one_run_of_a_program_without_branches_shows_all_its_errors() {
    let name = "one run shows all";
    let mut cases = cases_of_seeds(name, seeds(6_000, 100_000));
    let (mut complete, mut races_found, mut deadlocks_found) = (0, 0, 0);
    for seed in cases.by_ref() {
        let script = match seed % 2 {
            0 => generate(seed, &Profile { waiting_loops: false, ..Profile::SMALL }),
            _ => nested_sections(seed),
        };
        let run = run(script, seed);
        if !shows_everything(&run) {
            continue;
        }
        let Some((expected, deadlock)) = enumerate(&run.script) else { continue };
        let all = Deciding::All;
        let found = exhaustive(input(&run, &all), Reads::Free);
        let input = input(&run, &all);
        let races = |pair: &(usize, usize)| {
            let (first, second) = merged(input, *pair);
            found.iter().any(|candidate| candidate.error == Error::Race { first, second })
        };
        let pairs = conflicting(input).concat().into_iter().filter(races);
        let own: BTreeSet<_> = pairs.map(|(a, b)| sites_of(&run, a, b)).collect();
        let deadlocks = found.iter().any(|candidate| matches!(candidate.error, Error::Deadlock { .. }));
        let joined =
            run.trace.events.iter().filter(|event| matches!(event.kind, EventKind::Join { .. })).count();
        let text = || format!("seed {seed}\n{}{}", print(&run.trace), c_text(&run.script).text);
        assert_eq!(own, expected, "{}", text());
        if joined + 1 == run.script.threads.len() {
            assert_eq!(deadlocks, deadlock == Deadlocks::Found, "{}", text());
        }
        complete += 1;
        races_found += own.len();
        deadlocks_found += usize::from(deadlocks);
    }
    println!("{name}: {complete} runs, {races_found} races, {deadlocks_found} deadlocks");
    assert!(complete * 10 >= cases.done(), "{complete} of {} runs", cases.done());
}
