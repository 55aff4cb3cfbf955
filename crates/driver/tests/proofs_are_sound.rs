//! The prover never proves a program with a race, on random C programs; the truth is found by searching all runs.
//!
//! Half of the programs are made of values that decide who may access what ([`guarded`]), the others are those of the static analysis'
//! own test, where they are of use: static rules leave some pair open. The prover works alone, without running the program first: that
//! would hide what it says of a race. How many of the race-free programs are proved is printed; the goal is 70 of 100.
//!
//! `RADDLE_SOAK=1` runs the full count, `RADDLE_PROGRAMS=a..b` the programs of these seeds, `RADDLE_PROGRAM=seed` shows one in full,
//! `RADDLE_UNPROVED=n` prints so many race-free programs that are not proved, `RADDLE_JOBS=n` sets how many threads work.

#[path = "../src/proving/ground.rs"]
mod ground;
#[path = "proofs/prover.rs"]
mod prover;

use prover::{Said, attempt, processor_time};
use raddle_config::Config;
use raddle_explore::dpor::optimal;
use raddle_explore::enumerate::{Coverage, Exploration, Goal, Limits, sync};
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_ir::Program;
use raddle_libmodel::Models;
use raddle_machine::Visibility;
use raddle_testkit::programs::{Profile, Sample, Source, batch, generate, guarded, prefix, shrink, slice};
use raddle_testkit::soak;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[test]
fn no_racy_program_is_proved() {
    if let Ok(seed) = std::env::var("RADDLE_PROGRAM") {
        return show(&sample(seed.parse().expect("a seed")));
    }
    let seeds = soak::seeds(80, 20_000);
    let tally = run(seeds.clone());
    println!("{}", tally.summary());
    let asked = seeds.end - seeds.start;
    soak::report("no program with a race is proved", tally.programs, asked, tally.too_large);
    let mut message = String::new();
    for (index, (seed, text)) in tally.failures.iter().enumerate() {
        let _ = writeln!(message, "seed {seed}: {text}");
        if index < 2 {
            let _ = writeln!(message, "{}{}", made_small(&sample(*seed).source), replay(*seed));
        }
    }
    assert!(message.is_empty(), "{} of {} programs:\n{message}", tally.failures.len(), tally.programs);
    // Shares mean something for many programs only.
    if tally.programs >= 80 {
        let (proved, free) = tally.open;
        assert!(
            tally.racy * 100 > 25 * tally.programs && free * 100 > 8 * tally.programs,
            "{}",
            tally.summary()
        );
        assert!(proved * 100 >= LEAST_PROVED * free, "{}", tally.summary());
    }
}

/// Of 100 race-free programs that static rules leave open.
const LEAST_PROVED: u64 = 20;

/// For one program: in the slice, and with more time.
const TIME: Duration = Duration::from_millis(500);
const TIME_IN_SOAK: Duration = Duration::from_secs(3);

fn sample(seed: u64) -> Sample {
    if seed.is_multiple_of(4) { generate(seed, &Profile::default()) } else { guarded(seed) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    Race,
    /// Or what comes before one: memory that is gone.
    Outside,
    Free,
    TooLarge,
}

/// Errors of programs that nothing is promised about.
const OUTSIDE: [&str; 6] = [
    "use-after-free",
    "double-free",
    "invalid-free",
    "out-of-bounds",
    "uninitialised-lock",
    "destroyed-lock-use",
];

const LIMITS: Limits<'static> = Limits {
    goal: Goal::AllRaces,
    executions: 2_000,
    steps: 40_000,
    run_steps: 300,
    run_events: 20_000,
    time: Some(Duration::from_secs(20)),
    ..Limits::DEFAULT
};

/// Runs that the enumerator gets: with more, the reduced search is faster.
const FEW: u64 = 60;

fn truth(program: &Arc<Program>, models: &Arc<Models>) -> Truth {
    let options = Options { segment_limit: 2_000, instruction_limit: 1_000_000, ..Options::default() };
    let mut machine = Interp::new(Arc::clone(program), Arc::clone(models), options).expect("it has a main");
    let judged = |exploration: &Exploration| {
        let mut problems = exploration.problems.iter().flat_map(|found| &found.problems);
        if problems.any(|problem| OUTSIDE.contains(&problem.kind.name())) {
            Some(Truth::Outside)
        } else if !exploration.races.is_empty() {
            Some(Truth::Race)
        } else {
            (exploration.coverage == Coverage::Complete).then_some(Truth::Free)
        }
    };
    let all = judged(&sync(&mut machine, &Limits { executions: FEW, ..LIMITS }));
    all.or_else(|| judged(&optimal(&mut machine, &LIMITS, Visibility::SyncOnly).exploration))
        .unwrap_or(Truth::TooLarge)
}

struct Examined {
    truth: Truth,
    said: Said,
    is_open: bool,
    took: Duration,
}

fn examine(program: Program) -> Examined {
    let models = Arc::new(Models::resolve(&program, &Config::default()));
    let program = Arc::new(program);
    let truth = truth(&program, &models);
    let began = processor_time();
    let attempt = attempt(&program, &models, if soak::is_on() { TIME_IN_SOAK } else { TIME });
    Examined { truth, said: attempt.said, is_open: attempt.open > 0, took: processor_time() - began }
}

impl Examined {
    fn failure(&self) -> Option<String> {
        match (self.truth, &self.said) {
            (Truth::Race, Said::Proved(_)) => Some("proved, and has a race".to_owned()),
            _ => None,
        }
    }
}

fn lower(text: &str, folder: &Path) -> Result<Program, String> {
    let file = folder.join("programs.c");
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let request = Request { inputs: vec![file], ..Request::default() };
    raddle_frontend::load(&request).map(|loaded| loaded.program).map_err(|error| error.to_string())
}

/// Programs compiled at once.
const BATCH: u64 = 40;

fn run(seeds: Range<u64>) -> Tally {
    let began = Instant::now();
    let next = AtomicU64::new(seeds.start);
    let tally = Mutex::new(Tally::default());
    let unproved = std::env::var("RADDLE_UNPROVED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let left = AtomicU64::new(unproved);
    let work = || {
        let folder = tempfile::tempdir().expect("a folder for C files");
        loop {
            let from = next.fetch_add(BATCH, Ordering::Relaxed);
            if from >= seeds.end || soak::is_over() {
                return;
            }
            let samples: Vec<Sample> = (from..seeds.end.min(from + BATCH)).map(sample).collect();
            let whole = lower(&batch(&samples), folder.path());
            for (index, sample) in samples.iter().enumerate() {
                let program = match &whole {
                    Ok(whole) => slice(whole, &prefix(index)),
                    // Which of them it is.
                    Err(_) => {
                        let alone = lower(&sample.source.text(), folder.path());
                        slice(&alone.unwrap_or_else(|text| panic!("seed {}: {text}", sample.seed)), "")
                    }
                };
                let examined = examine(program.expect("it has a main"));
                if let Some(text) = examined.failure() {
                    eprintln!("seed {}: {text}", sample.seed);
                }
                if let (true, Truth::Free, Said::Unknown(why) | Said::Refused(why)) =
                    (examined.is_open, examined.truth, &examined.said)
                    && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
                {
                    println!("seed {}: {why}\n{}", sample.seed, numbered(&sample.source));
                }
                tally.lock().expect("no one panics with it").add(sample, &examined);
            }
            if soak::is_on() {
                eprintln!("up to seed {}, {:.0?}", samples[samples.len() - 1].seed, began.elapsed());
            }
        }
    };
    let jobs = std::env::var("RADDLE_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(2);
    std::thread::scope(|scope| {
        (1..jobs).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    let mut tally = tally.into_inner().expect("no one panics with it");
    tally.seconds = began.elapsed().as_secs_f64();
    tally
}

#[derive(Default)]
struct Tally {
    programs: u64,
    racy: u64,
    free: u64,
    outside: u64,
    too_large: u64,
    /// Race-free: proved with nothing but static facts.
    statically: u64,
    /// Race-free with open pairs: proved, of how many.
    open: (u64, u64),
    /// The same by what is in the program.
    by_tag: BTreeMap<&'static str, (u64, u64)>,
    unproved: BTreeMap<String, u64>,
    /// By the checker, of the prover: of race-free programs and of racy ones.
    refused: [Vec<u64>; 2],
    slowest: Duration,
    proving: Duration,
    seconds: f64,
    failures: BTreeMap<u64, String>,
}

impl Tally {
    fn add(&mut self, sample: &Sample, examined: &Examined) {
        self.programs += 1;
        self.proving += examined.took;
        self.slowest = self.slowest.max(examined.took);
        if let Some(text) = examined.failure() {
            self.failures.insert(sample.seed, text);
        }
        if let Said::Refused(_) = examined.said {
            self.refused[usize::from(examined.truth == Truth::Race)].push(sample.seed);
        }
        match examined.truth {
            Truth::Race => self.racy += 1,
            Truth::Outside => self.outside += 1,
            Truth::TooLarge => self.too_large += 1,
            Truth::Free => {
                self.free += 1;
                let is_proved = u64::from(matches!(examined.said, Said::Proved(_)));
                if !examined.is_open {
                    self.statically += is_proved;
                    return;
                }
                self.open = (self.open.0 + is_proved, self.open.1 + 1);
                for tag in &sample.tags {
                    let (proved, all) = self.by_tag.entry(tag).or_default();
                    (*proved, *all) = (*proved + is_proved, *all + 1);
                }
                if let Said::Unknown(why) | Said::Refused(why) = &examined.said {
                    *self.unproved.entry(why.clone()).or_default() += 1;
                }
            }
        }
    }

    fn summary(&self) -> String {
        let (proved, open) = self.open;
        let mut text = format!(
            "{} programs in {:.0} s, the prover {:.1?}, at most {:.1?}: {} racy, {} race-free, {} with other errors, {} too large\n\
             race-free: {} need no prover; of {open} others {proved} are proved ({:.0} %), of all {:.0} %\n\
             refused by the checker: {:?} race-free, {:?} racy",
            self.programs,
            self.seconds,
            self.proving,
            self.slowest,
            self.racy,
            self.free,
            self.outside,
            self.too_large,
            self.statically,
            100.0 * proved as f64 / open.max(1) as f64,
            100.0 * (proved + self.statically) as f64 / self.free.max(1) as f64,
            self.refused[0],
            self.refused[1],
        );
        for (tag, (proved, all)) in &self.by_tag {
            let _ = write!(text, "\n  {proved:5} of {all:5}: {tag}");
        }
        for (why, count) in &self.unproved {
            let _ = write!(text, "\n  {count:5} not: {why}");
        }
        text
    }
}

fn replay(seed: u64) -> String {
    format!(
        "RADDLE_PROGRAM={seed} cargo test --release -p raddle-driver --test proofs_are_sound -- --nocapture"
    )
}

/// The smallest program found that is proved and has a race, with numbered lines.
fn made_small(source: &Source) -> String {
    let folder = tempfile::tempdir().expect("a folder for C files");
    let fails = |source: &Source| {
        let program = lower(&source.text(), folder.path()).ok().and_then(|program| slice(&program, ""));
        program.is_some_and(|program| examine(program).failure().is_some())
    };
    numbered(&shrink(source, fails))
}

fn numbered(source: &Source) -> String {
    let text = source.text();
    let header = raddle_testkit::programs::HEADER.lines().count();
    let lines = text.lines().enumerate().skip(header);
    lines.map(|(index, line)| format!("{:3} {line}\n", index + 1)).collect()
}

fn show(sample: &Sample) {
    let folder = tempfile::tempdir().expect("a folder for C files");
    println!("{}{:?}", numbered(&sample.source), sample.tags);
    let program = lower(&sample.source.text(), folder.path()).expect("C");
    let examined = examine(slice(&program, "").expect("it has a main"));
    println!("{:?}, open pairs: {}, {:.1?}", examined.truth, examined.is_open, examined.took);
    match &examined.said {
        Said::Proved(proof) => {
            println!("proved");
            for (location, invariant) in &proof.locations {
                println!("  {location:?}: {invariant}");
            }
        }
        Said::Refused(why) => println!("refused: {why}"),
        Said::Unknown(why) => println!("unknown: {why}"),
    }
}
