//! The static analysis never misses a race that the enumerator finds, on random C programs.
//!
//! Every racing pair of source lines must be among the pairs that the analysis warns of, and a program with a race is never called
//! safe; `certify` accepts no proof of a program with a race, and nearly all proofs of the others. What the enumerator cannot finish within
//! its limits is searched again with partial-order reduction, which finds the same races; on some programs both run and are compared.
//! The other direction, race-free programs that are proved, is measured only.
//!
//! `RADDLE_SOAK=1` runs the full count, `RADDLE_PROGRAMS=a..b` the programs of these seeds, `RADDLE_PROGRAM=seed` shows one in full,
//! `RADDLE_WEIGHTS=once=20,barrier=0` changes how often idioms occur, `RADDLE_SHRUNK=n` how many failing programs are made small,
//! `RADDLE_EXPANDED=n` how many instructions the analysis may expand a program to, `RADDLE_JOBS=n` how many threads work. A failure is
//! printed as soon as it is met, progress after every batch of a long run.

use raddle_certify::statics::check;
use raddle_config::Config;
use raddle_explore::dpor::optimal;
use raddle_explore::enumerate::{Coverage, Exploration, Goal, Limits, sync};
use raddle_facts::StaticProof;
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_ir::{Program, SiteId, program_hash};
use raddle_libmodel::Models;
use raddle_lockset::{Warning, analyse};
use raddle_machine::Visibility;
use raddle_testkit::programs::{Profile, Sample, Source, batch, generate, prefix, shrink, slice};
use raddle_testkit::soak;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[test]
fn no_race_is_missed() {
    let profile = Profile::default().with_weights(&std::env::var("RADDLE_WEIGHTS").unwrap_or_default());
    if let Ok(seed) = std::env::var("RADDLE_PROGRAM") {
        return show(&generate(seed.parse().expect("a seed"), &profile), statically);
    }
    let seeds = soak::seeds(600, 100_000);
    let tally = run(seeds.clone(), &profile, statically);
    println!("{}", tally.summary());
    soak::report(
        "the static analysis warns of every race",
        tally.programs,
        seeds.end - seeds.start,
        tally.too_large,
    );
    let shrunk = std::env::var("RADDLE_SHRUNK").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
    let mut message = String::new();
    for (index, (seed, failure)) in tally.failures.iter().enumerate() {
        let _ = writeln!(message, "seed {seed}: {failure}");
        if index < shrunk {
            let small = made_small(&generate(*seed, &profile).source, failure.kind, statically);
            let _ = writeln!(message, "{small}\n{}", replay(*seed));
        }
    }
    assert!(message.is_empty(), "{} of {} programs:\n{message}", tally.failures.len(), tally.programs);
    // A refused proof is an answer that is unknown, so not wrong; none in the slice of an ordinary run.
    assert!(tally.refused.len() as u64 * REFUSED <= tally.proved, "proofs refused: {:?}", tally.refused);
    // Shares mean something for many programs only.
    if tally.programs < 300 {
        return;
    }
    let decided = tally.free + tally.racy;
    assert!(tally.too_large * 100 < 15 * tally.programs, "{} programs are too large", tally.too_large);
    assert!(tally.racy * 100 > 30 * decided && tally.free * 100 > 30 * decided, "{}", tally.summary());
}

/// A program of a batch is the program that stands alone, but for its lines.
#[test]
fn a_slice_is_the_program_alone() {
    let folder = tempfile::tempdir().expect("a folder for C files");
    let samples: Vec<Sample> = (0..20).map(|seed| generate(seed, &Profile::default())).collect();
    let whole = lower(&batch(&samples), folder.path()).expect("C");
    for (index, sample) in samples.iter().enumerate() {
        let alone = lower(&sample.source.text(), folder.path()).expect("C");
        let text = |program: &Program, prefix: &str| {
            let mut program = slice(program, prefix).expect("it has a main");
            assert_eq!(raddle_ir::verify(&program), Ok(()));
            program.files = raddle_base::IdVec::new();
            program.sites.iter_mut().for_each(|(_, site)| site.span = None);
            program.globals.iter_mut().for_each(|(_, global)| global.span = None);
            program.functions.iter_mut().for_each(|(_, function)| function.span = None);
            raddle_ir::print(&program)
        };
        assert_eq!(text(&whole, &prefix(index)), text(&alone, ""), "seed {}", sample.seed);
    }
}

/// The test itself can fail: an analysis that forgets a warning is caught, and the program that shows it is small and still racy.
#[test]
fn a_lost_warning_is_noticed() {
    fn silent(_: &Program, _: &Models) -> Answer {
        Answer { warnings: BTreeSet::new(), unknown: BTreeSet::new(), proof: Ok(()) }
    }
    let profile = Profile::default();
    let tally = run(0..30, &profile, silent);
    assert_eq!(tally.failures.len() as u64, tally.racy);
    let (seed, failure) = tally.failures.first_key_value().expect("some program is racy");
    assert_eq!(failure.kind, Kind::CalledSafe);
    let source = generate(*seed, &profile).source;
    let small = made_small(&source, Kind::CalledSafe, silent);
    assert!(small.len() < source.text().len() && small.contains("pthread_create"), "{small}");
}

/// One line and column of the source.
type Spot = (u32, u32);

/// Two accesses, the smaller first.
type Pair = (Spot, Spot);

fn pair(a: Spot, b: Spot) -> Pair {
    (a.min(b), a.max(b))
}

fn lines(pairs: &BTreeSet<Pair>) -> BTreeSet<(u32, u32)> {
    pairs.iter().map(|(a, b)| (a.0.min(b.0), a.0.max(b.0))).collect()
}

fn spot(program: &Program, site: SiteId) -> Spot {
    let span = program.sites.get(site).and_then(|info| info.span);
    span.map_or((0, 0), |span| (span.line, span.column))
}

/// What the static analysis says.
struct Answer {
    warnings: BTreeSet<Pair>,
    /// What it did not understand; then nothing is called safe.
    unknown: BTreeSet<String>,
    /// Whether its facts are a proof, or what is missing.
    proof: Result<(), String>,
}

type Analysis = fn(&Program, &Models) -> Answer;

fn statically(program: &Program, models: &Models) -> Answer {
    let mut options = raddle_lockset::Options::default();
    if let Some(most) = std::env::var("RADDLE_EXPANDED").ok().and_then(|most| most.parse().ok()) {
        options.budget.instructions = most;
    }
    let analysis = analyse(program, models, &options).expect("its own recipe");
    let spots = |warning: &Warning| pair(spot(program, warning.first), spot(program, warning.second));
    let warnings = analysis.warnings.iter().map(spots).collect();
    let unknown = analysis.gaps.iter().map(|gap| gap.text.clone()).collect();
    let proof = StaticProof {
        program: format!("{:032x}", program_hash(program)),
        data_model: program.data_model.name().to_owned(),
        entries: Vec::new(),
        assumptions: analysis.assumptions.iter().map(|id| (*id).to_owned()).collect(),
        recipe: analysis.recipe,
        facts: analysis.facts,
    };
    let proof = check(program, models, &proof).map(drop).map_err(|refusal| refusal.to_string());
    Answer { warnings, unknown, proof }
}

/// What the enumerator says.
enum Truth {
    Decided(Found),
    TooLarge,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    races: BTreeSet<Pair>,
    /// Other errors met: what a race may come from.
    problems: BTreeSet<&'static str>,
}

impl Found {
    /// Equal, but for memory that is gone: the end of a thread takes its memory with it, and the reduced search does not try that end in
    /// every order with accesses that nothing else orders.
    fn agrees(&self, other: &Found) -> bool {
        let lasting = |found: &Found| -> BTreeSet<&str> {
            found.problems.iter().copied().filter(|problem| !OUTSIDE.contains(problem)).collect()
        };
        self.races == other.races && lasting(self) == lasting(other)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A race in a program without warning.
    CalledSafe,
    /// Warnings, but none of this race.
    PairMissing,
    /// A race, and `certify` accepts a proof that there is none.
    ProofAccepted,
    /// No warning, and `certify` does not accept the proof.
    ProofRefused,
    Panic,
    /// The two searches, not the analysis.
    SearchesDiffer,
    NotWellFormed,
    NotC,
}

impl Kind {
    fn has_race(self) -> bool {
        matches!(self, Kind::CalledSafe | Kind::PairMissing | Kind::ProofAccepted)
    }
}

#[derive(Clone, Debug)]
struct Failure {
    kind: Kind,
    text: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.text)
    }
}

/// Errors of programs that the analysis promises nothing about.
const OUTSIDE: [&str; 4] = ["use-after-free", "double-free", "invalid-free", "out-of-bounds"];

/// Whether the analysis covers the truth.
fn compare(found: &Found, answer: &Answer) -> Result<(), Failure> {
    let warned = lines(&answer.warnings);
    let missing: Vec<_> = lines(&found.races).into_iter().filter(|lines| !warned.contains(lines)).collect();
    let is_safe = warned.is_empty() && answer.unknown.is_empty();
    let proof = match &answer.proof {
        Ok(()) if !found.races.is_empty() => Some((Kind::ProofAccepted, "for a program with a race")),
        Err(refusal) if is_safe && found.races.is_empty() => Some((Kind::ProofRefused, refusal.as_str())),
        _ => None,
    };
    if missing.is_empty() && proof.is_none() {
        return Ok(());
    }
    // Outside of what A-BOUNDS takes for granted: memory used after it was freed, or beyond its end.
    if found.problems.iter().any(|problem| OUTSIDE.contains(problem)) {
        return Ok(());
    }
    if let (Some((kind, text)), true) = (proof, missing.is_empty()) {
        return Err(Failure { kind, text: text.to_owned() });
    }
    let kind = match (warned.is_empty(), answer.unknown.is_empty()) {
        (true, true) => Kind::CalledSafe,
        // An answer that is unknown promises nothing.
        (_, false) => return Ok(()),
        _ => Kind::PairMissing,
    };
    let besides = &found.problems;
    Err(Failure {
        kind,
        text: format!(
            "races of lines {missing:?} are missing, proof {:?}; other errors: {besides:?}",
            answer.proof
        ),
    })
}

const LIMITS: Limits<'static> = Limits {
    goal: Goal::AllRaces,
    executions: 300,
    steps: 4_000,
    run_steps: 300,
    run_events: 20_000,
    // One program in 100,000 has so many threads that wait that what is left to explore takes minutes to plan.
    time: Some(Duration::from_secs(20)),
    ..Limits::DEFAULT
};

/// Of this many programs one is searched both ways.
const COMPARED: u64 = 16;

/// Runs that the enumerator gets for the others: with more, the reduced search is faster.
const FEW: u64 = 60;

fn truth(program: &Arc<Program>, models: &Arc<Models>, seed: u64) -> Result<Truth, Failure> {
    let options = Options { segment_limit: 2_000, instruction_limit: 1_000_000, ..Options::default() };
    let mut machine =
        Interp::new(Arc::clone(program), Arc::clone(models), options).expect("the program has a main");
    let found = |exploration: &Exploration| {
        let sites = exploration.races.iter().map(|race| race.key.sites());
        let problems = exploration.problems.iter().flat_map(|found| &found.problems);
        (exploration.coverage == Coverage::Complete).then(|| Found {
            races: sites.map(|(a, b)| pair(spot(program, a), spot(program, b))).collect(),
            problems: problems.map(|problem| problem.kind.name()).collect(),
        })
    };
    let compared = seed.is_multiple_of(COMPARED);
    let limits = Limits { executions: if compared { LIMITS.executions } else { FEW }, ..LIMITS };
    let all = found(&sync(&mut machine, &limits));
    if all.is_some() && !compared {
        return Ok(Truth::Decided(all.unwrap_or_default()));
    }
    let reduced = found(&optimal(&mut machine, &LIMITS, Visibility::SyncOnly).exploration);
    match (all, reduced) {
        (Some(all), Some(reduced)) if !all.agrees(&reduced) => Err(Failure {
            kind: Kind::SearchesDiffer,
            text: format!("all runs show {all:?}, the reduced search {reduced:?}"),
        }),
        (Some(found), _) | (None, Some(found)) => Ok(Truth::Decided(found)),
        (None, None) => Ok(Truth::TooLarge),
    }
}

struct Examined {
    truth: Truth,
    answer: Option<Answer>,
    searched: Duration,
    analysed: Duration,
}

fn examine(program: Program, seed: u64, analysis: Analysis) -> Result<Examined, Failure> {
    if let Err(errors) = raddle_ir::verify(&program) {
        return Err(Failure { kind: Kind::NotWellFormed, text: format!("{errors:?}") });
    }
    let models = Arc::new(Models::resolve(&program, &Config::default()));
    let program = Arc::new(program);
    let began = Instant::now();
    let truth = truth(&program, &models, seed)?;
    let searched = began.elapsed();
    let Truth::Decided(found) = &truth else {
        return Ok(Examined { truth, answer: None, searched, analysed: Duration::ZERO });
    };
    let began = Instant::now();
    let answer = catch_unwind(AssertUnwindSafe(|| analysis(&program, &models))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Failure { kind: Kind::Panic, text: text.unwrap_or_default() }
    })?;
    let analysed = began.elapsed();
    compare(found, &answer)?;
    Ok(Examined { truth, answer: Some(answer), searched, analysed })
}

fn lower(text: &str, folder: &Path) -> Result<Program, String> {
    let file = folder.join("programs.c");
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let request = Request { inputs: vec![file], cflags: Vec::new(), data_model: None, ..Request::default() };
    raddle_frontend::load(&request).map(|loaded| loaded.program).map_err(|error| error.to_string())
}

/// Of this many proofs one may be refused.
const REFUSED: u64 = 5_000;

/// Programs compiled at once.
const BATCH: u64 = 200;

fn run(seeds: Range<u64>, profile: &Profile, analysis: Analysis) -> Tally {
    let began = Instant::now();
    let next = AtomicU64::new(seeds.start);
    let tally = Mutex::new(Tally::default());
    let done = AtomicU64::new(0);
    let work = || {
        let folder = tempfile::tempdir().expect("a folder for C files");
        loop {
            let from = next.fetch_add(BATCH, Ordering::Relaxed);
            if from >= seeds.end || soak::is_over() {
                return;
            }
            let samples: Vec<Sample> =
                (from..seeds.end.min(from + BATCH)).map(|seed| generate(seed, profile)).collect();
            let whole = lower(&batch(&samples), folder.path());
            for (index, sample) in samples.iter().enumerate() {
                let program = match &whole {
                    Ok(whole) => Ok(slice(whole, &prefix(index))),
                    // Which of them it is.
                    Err(_) => lower(&sample.source.text(), folder.path()).map(|alone| slice(&alone, "")),
                };
                let examined = program
                    .map_err(|text| Failure { kind: Kind::NotC, text })
                    .and_then(|program| examine(program.expect("it has a main"), sample.seed, analysis));
                if let Err(failure) = &examined {
                    eprintln!("seed {}: {failure}", sample.seed);
                }
                tally.lock().expect("no one panics with it").add(sample, examined);
            }
            let done = done.fetch_add(samples.len() as u64, Ordering::Relaxed) + samples.len() as u64;
            if seeds.end - seeds.start > 10 * BATCH {
                eprintln!(
                    "{done} programs, up to seed {}, {:.0?}",
                    samples[samples.len() - 1].seed,
                    began.elapsed()
                );
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

/// How many of the slowest analyses the tally names.
const SLOWEST: usize = 8;

#[derive(Default)]
struct Tally {
    programs: u64,
    racy: u64,
    free: u64,
    too_large: u64,
    proved: u64,
    unknown: u64,
    seconds: f64,
    searched: Duration,
    analysed: Duration,
    /// The analyses that took longest, and of which seeds.
    slowest: Vec<(Duration, u64)>,
    /// By tag: race-free programs, those of them that are proved.
    precision: BTreeMap<&'static str, (u64, u64)>,
    gaps: BTreeMap<String, u64>,
    failures: BTreeMap<u64, Failure>,
    /// Race-free programs without warning whose proof `certify` does not accept.
    refused: BTreeMap<u64, String>,
}

impl Tally {
    fn add(&mut self, sample: &Sample, examined: Result<Examined, Failure>) {
        self.programs += 1;
        if let Ok(Examined { searched, analysed, .. }) = &examined {
            self.searched += *searched;
            self.analysed += *analysed;
            self.slowest.push((*analysed, sample.seed));
            self.slowest.sort_by(|a, b| b.cmp(a));
            self.slowest.truncate(SLOWEST);
        }
        let (races, answer) = match examined {
            Ok(Examined { truth: Truth::Decided(found), answer: Some(answer), .. }) => (found.races, answer),
            Ok(_) => {
                self.too_large += 1;
                return;
            }
            Err(Failure { kind: Kind::ProofRefused, text }) => {
                self.free += 1;
                self.refused.insert(sample.seed, text);
                return;
            }
            Err(failure) => {
                self.racy += u64::from(failure.kind.has_race());
                self.failures.insert(sample.seed, failure);
                return;
            }
        };
        self.unknown += u64::from(!answer.unknown.is_empty());
        for gap in &answer.unknown {
            *self.gaps.entry(gap.clone()).or_default() += 1;
        }
        if !races.is_empty() {
            self.racy += 1;
            return;
        }
        self.free += 1;
        let proved = u64::from(answer.warnings.is_empty() && answer.unknown.is_empty());
        self.proved += proved;
        for tag in &sample.tags {
            let (free, of_them) = self.precision.entry(tag).or_default();
            *free += 1;
            *of_them += proved;
        }
    }

    fn summary(&self) -> String {
        let mut text = format!(
            "{} programs: {} racy, {} race-free, {} too large; {:.0} per second\n\
             searches {:.1?}, analyses {:.1?}, the slowest of seeds {:.1?}\n\
             {} of the race-free proved, {} proofs refused, {} answers unknown, {} failures",
            self.programs,
            self.racy,
            self.free,
            self.too_large,
            self.programs as f64 / self.seconds,
            self.searched,
            self.analysed,
            self.slowest.iter().map(|(time, seed)| (seed, time)).collect::<Vec<_>>(),
            self.proved,
            self.refused.len(),
            self.unknown,
            self.failures.len()
        );
        for (tag, (free, proved)) in &self.precision {
            let _ = write!(text, "\n  {proved:5} of {free:5} proved: {tag}");
        }
        for (gap, count) in &self.gaps {
            let _ = write!(text, "\n  {count:5} unknown: {gap}");
        }
        text
    }
}

fn replay(seed: u64) -> String {
    format!(
        "RADDLE_PROGRAM={seed} cargo test --release -p raddle-driver --test static_is_sound -- --nocapture"
    )
}

/// The smallest program found with a failure of this kind, with numbered lines.
fn made_small(source: &Source, kind: Kind, analysis: Analysis) -> String {
    let folder = tempfile::tempdir().expect("a folder for C files");
    let failure = |source: &Source| {
        let program = lower(&source.text(), folder.path()).ok()?;
        examine(slice(&program, "")?, 0, analysis).err()
    };
    let small = shrink(source, |source| failure(source).is_some_and(|failure| failure.kind == kind));
    let why = failure(&small).map_or("does not fail alone".to_owned(), |failure| failure.to_string());
    format!("{}{why}", numbered(&small))
}

fn numbered(source: &Source) -> String {
    let text = source.text();
    let header = raddle_testkit::programs::HEADER.lines().count();
    let lines = text.lines().enumerate().skip(header);
    lines.map(|(index, line)| format!("{:3} {line}\n", index + 1)).collect()
}

fn show(sample: &Sample, analysis: Analysis) {
    let folder = tempfile::tempdir().expect("a folder for C files");
    println!("{}{:?}", numbered(&sample.source), sample.tags);
    let program = lower(&sample.source.text(), folder.path()).expect("C");
    let program = slice(&program, "").expect("it has a main");
    let models = Models::resolve(&program, &Config::default());
    let answer = analysis(&program, &models);
    println!("warnings of {:?}, unknown {:?}", lines(&answer.warnings), answer.unknown);
    println!("proof: {:?}", answer.proof);
    match truth(&Arc::new(program), &Arc::new(models), sample.seed) {
        Ok(Truth::Decided(found)) => {
            println!("races of {:?}, errors {:?}", lines(&found.races), found.problems);
            println!("{:?}", compare(&found, &answer));
        }
        Ok(Truth::TooLarge) => println!("too large for the enumerator"),
        Err(failure) => println!("{failure}"),
    }
}
