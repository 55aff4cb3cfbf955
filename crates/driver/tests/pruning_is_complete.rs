//! The searches for races alone, on random C programs: they find a race exactly when the full search does, also when the static analysis
//! tells what need not be explored.

use raddle_certify::statics::open_pairs;
use raddle_config::Config;
use raddle_driver::pruning::{Pairs, StaticOracle};
use raddle_explore::dpor::{for_races, optimal};
use raddle_explore::enumerate::{Coverage, Exploration, Goal, Limits};
use raddle_explore::pdp::{self, Property};
use raddle_facts::StaticProof;
use raddle_finding::Deadlocks;
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_ir::{Program, program_hash};
use raddle_libmodel::Models;
use raddle_machine::Visibility;
use raddle_testkit::programs::{Profile, Sample, batch, branchy, generate, knotted, prefix, slice};
use raddle_testkit::soak;
use std::path::Path;
use std::sync::Arc;

/// Errors of programs that the static analysis promises nothing about.
const OUTSIDE: [&str; 6] = [
    "uninitialised-lock",
    "destroyed-lock-use",
    "use-after-free",
    "double-free",
    "invalid-free",
    "out-of-bounds",
];

const LIMITS: Limits<'static> = Limits {
    goal: Goal::FirstRace,
    executions: 2_000,
    steps: 20_000,
    run_steps: 300,
    run_events: 20_000,
    ..Limits::DEFAULT
};

#[derive(Default)]
struct Tally {
    /// Where this is less than a slice (seeds are named, or the time was short), nothing is asked of the sums.
    done: u64,
    decided: u64,
    racy: u64,
    /// Runs of race-free programs: the full search, that for races, the pruned one, the one that knows no pairs.
    runs: [u64; 4],
    skipped: u64,
    /// Programs with a deadlock, and the runs in which the pruned search says that there is none.
    deadlocked: u64,
    for_deadlocks: u64,
    failures: Vec<String>,
}

#[test]
fn a_race_is_found_exactly_when_there_is_one() {
    let tally = compare_all(soak::seeds(60, 20_000), |seed| generate(seed, &Profile::default()));
    let Tally { done, decided, racy, runs, .. } = &tally;
    let telling = *racy > 10 && decided - racy > 10 && runs[2] <= runs[1] && runs[1] < runs[0];
    assert!(telling || *done < 60);
}

/// Also when nothing is known of pairs, and the branches that a run did not take are all that there is to go by.
#[test]
fn a_race_is_found_exactly_when_there_is_one_behind_branches() {
    let tally = compare_all(soak::seeds(400, 100_000), branchy);
    let Tally { done, decided, racy, runs, skipped, .. } = &tally;
    let telling = *racy > 10 && decided - racy > 20 && runs[3] < runs[1] && *skipped > 0;
    assert!(telling || *done < 400);
}

#[test]
fn a_deadlock_is_found_exactly_when_there_is_one() {
    let tally = compare_all(soak::seeds(300, 60_000), knotted);
    let Tally { done, decided, racy, runs, deadlocked, for_deadlocks, .. } = &tally;
    let telling = *deadlocked > 3 && decided - racy - deadlocked > 20 && for_deadlocks < &runs[1];
    assert!(telling || *done < 300);
}

fn compare_all(seeds: std::ops::Range<u64>, generate: impl Fn(u64) -> Sample) -> Tally {
    let folder = tempfile::tempdir().expect("a folder for C files");
    let mut tally = Tally::default();
    let all: Vec<u64> = seeds.collect();
    for seeds in all.chunks(100).take_while(|_| !soak::is_over()) {
        let samples: Vec<Sample> = seeds.iter().map(|seed| generate(*seed)).collect();
        let whole = lower(&batch(&samples), folder.path());
        for (index, sample) in samples.iter().enumerate().take_while(|_| !soak::is_over()) {
            tally.done += 1;
            let program = slice(&whole, &prefix(index)).expect("it has a main");
            compare(program, sample, &mut tally);
        }
    }
    let Tally { done, decided, racy, runs, skipped, deadlocked, for_deadlocks, failures } = &tally;
    soak::report("pruned searches of C programs = optimal search", *done, all.len() as u64, done - decided);
    println!(
        "{decided} programs decided, {racy} racy; runs of the others {runs:?}, {skipped} skipped; \
         {deadlocked} with a deadlock, {for_deadlocks} runs for races and deadlocks"
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    tally
}

fn compare(program: Program, sample: &Sample, tally: &mut Tally) {
    let models = Arc::new(Models::resolve(&program, &Config::default()));
    let program = Arc::new(program);
    let options = || Options { segment_limit: 2_000, instruction_limit: 1_000_000, ..Options::default() };
    let machine =
        || Interp::new(Arc::clone(&program), Arc::clone(&models), options()).expect("the program has a main");
    let full = optimal(&mut machine(), &LIMITS, Visibility::SyncOnly).exploration;
    if full.coverage == Coverage::Partial {
        return;
    }
    let races = for_races(&mut machine(), &LIMITS, Visibility::SyncOnly).exploration;
    let outside = full.problems.iter().flat_map(|found| &found.problems);
    let outside = outside.chain(races.problems.iter().flat_map(|found| &found.problems));
    let outside = outside.into_iter().any(|problem| OUTSIDE.contains(&problem.kind.name()));
    tally.decided += 1;
    tally.racy += u64::from(!full.races.is_empty());
    let check = |name: &str, found: &Exploration| {
        let decided = found.coverage != Coverage::Partial;
        let differs = found.races.is_empty() != full.races.is_empty() || found.coverage != full.coverage;
        (decided && differs).then(|| {
            format!(
                "seed {}: {name} {:?} {} races, full search {:?} {} races\n{}",
                sample.seed,
                found.coverage,
                found.races.len(),
                full.coverage,
                full.races.len(),
                sample.source.text()
            )
        })
    };
    tally.failures.extend(check("for races", &races));
    let pruned = |pairs, property| {
        let oracle =
            StaticOracle::new(&program, &models, pairs).with_branches(|global| machine().address_of(global));
        let options = Options { branches: oracle.reported(), ..options() };
        let mut machine =
            Interp::new(Arc::clone(&program), Arc::clone(&models), options).expect("the program has a main");
        pdp::search(&mut machine, &LIMITS, Visibility::SyncOnly, &oracle, property)
    };
    let blind = pruned(Pairs::Any, Property::Races);
    if !outside {
        tally.failures.extend(check("pruned without pairs", &blind.reduced.exploration));
        let both = pruned(Pairs::Any, Property::RacesAndDeadlocks).reduced.exploration;
        tally.failures.extend(check("pruned for deadlocks", &both));
        if full.races.is_empty() && both.coverage != Coverage::Partial {
            tally.deadlocked += u64::from(full.deadlocks == Deadlocks::Found);
            tally.for_deadlocks += both.runs.executions;
            if full.deadlocks != both.deadlocks {
                let (seed, text) = (sample.seed, sample.source.text());
                tally.failures.push(format!(
                    "seed {seed}: deadlocks {:?}, pruned {:?}\n{text}",
                    full.deadlocks, both.deadlocks
                ));
            }
        }
    }
    let analysis = raddle_lockset::analyse(&program, &models, &raddle_lockset::Options::default())
        .expect("its own recipe");
    if !analysis.gaps.is_empty() {
        return;
    }
    let proof = StaticProof {
        program: format!("{:032x}", program_hash(&program)),
        data_model: program.data_model.name().to_owned(),
        entries: Vec::new(),
        assumptions: analysis.assumptions.iter().map(|id| (*id).to_owned()).collect(),
        recipe: analysis.recipe,
        facts: analysis.facts,
    };
    let Ok(open) = open_pairs(&program, &models, &proof) else { return };
    let pruned = pruned(Pairs::Open(open), Property::Races);
    if !outside {
        tally.failures.extend(check("pruned", &pruned.reduced.exploration));
    }
    let undecided = |found: &Exploration| found.coverage == Coverage::Partial;
    if full.races.is_empty() && !undecided(&races) && !undecided(&blind.reduced.exploration) {
        let found = [&full, &races, &pruned.reduced.exploration, &blind.reduced.exploration];
        tally.runs.iter_mut().zip(found).for_each(|(sum, found)| *sum += found.runs.executions);
        tally.skipped += blind.counters.skipped;
    }
}

fn lower(text: &str, folder: &Path) -> Program {
    let file = folder.join("programs.c");
    std::fs::write(&file, text).expect("the folder can be written");
    let request = Request { inputs: vec![file], cflags: Vec::new(), data_model: None, ..Request::default() };
    raddle_frontend::load(&request).expect("the programs are C").program
}
