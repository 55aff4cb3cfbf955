//! `xtask mutants`: judges the mutants of a range of seeds, in parts that are not repeated when the command is run again.
//!
//! The state file has one line for each part that is done, with its counts and the commit; a part is done again at another commit.
//! Each contradiction leaves a folder with the mutant, every output and the command that makes it again, and so does a race of a native
//! run that may have had another input than the answer is for.

mod tally;

use raddle_testkit::mutants::{Judge, Judgement, Mutant, Options, Original, Replay, mutant, originals};
use raddle_testkit::soak;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tally::{State, Tally};

#[derive(Clone, Debug)]
pub struct Request {
    pub seeds: Range<u64>,
    /// What is done already; with none, everything is done now.
    pub state: Option<PathBuf>,
    pub repeat: Repeat,
    /// `raddle`; the release build unless given.
    pub binary: Option<PathBuf>,
    /// Where contradictions go.
    pub found: PathBuf,
    /// Of how many mutants with a race one is replayed natively.
    pub replay_every: u64,
    pub time_limit: Duration,
    /// Mutants at once.
    pub jobs: usize,
    /// Print each mutant and keep its folder.
    pub keep: bool,
}

/// When a part is judged again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    AtAnotherCommit,
    Never,
}

/// Mutants in one part.
const PART: u64 = 250;

/// Native runs of each mutant that is called safe.
const RUNS: u32 = 20;

/// Prints the table. `Ok(false)`: there are contradictions.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let originals = originals(root).map_err(|error| error.to_string())?;
    let binary = match &request.binary {
        Some(binary) => binary.clone(),
        None => crate::tool::release_binary(root)?,
    };
    let shared = tempfile::tempdir().map_err(|error| error.to_string())?;
    let options = Options { binary, time: request.time_limit, runs: RUNS };
    let judge = Judge::new(options, shared.path())?;
    let commit = crate::tool::commit(root);
    let mut state = State::read(request.state.as_deref())?;
    let mut total = Tally::default();
    let mut from = request.seeds.start;
    while from < request.seeds.end && !soak::is_over() {
        let part = from..request.seeds.end.min(from + PART);
        from = part.end;
        let tally = match state.done(&part, (request.repeat == Repeat::AtAnotherCommit).then_some(&commit)) {
            Some(tally) => tally,
            None => {
                let tally = judge_part(&judge, &originals, &part, request)?;
                if tally.mutants() == part.end - part.start {
                    state.add(&part, &commit, &tally)?;
                }
                tally
            }
        };
        eprintln!("mutants: seeds {}..{}: {}", part.start, part.end, tally.line());
        total.add_all(&tally);
    }
    println!("{}", total.table());
    let outcome = if total.contradictions() == 0 { "no contradiction" } else { "contradictions" };
    let asked = request.seeds.end - request.seeds.start;
    println!("soak: mutants: {} of {asked} cases, {outcome}, 0 too large", total.mutants());
    Ok(total.contradictions() == 0)
}

fn judge_part(
    judge: &Judge,
    originals: &[Original],
    seeds: &Range<u64>,
    request: &Request,
) -> Result<Tally, String> {
    let (next, tally) = (AtomicU64::new(seeds.start), Mutex::new(Tally::default()));
    let work = || -> Result<(), String> {
        while !soak::is_over() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                break;
            }
            let judgement = judge_one(judge, originals, seed, request)?;
            tally.lock().map_err(|error| error.to_string())?.add(&judgement);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..request.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let results =
            workers.into_iter().map(|worker| worker.join().map_err(|_| "a worker failed".to_owned())?);
        results.collect::<Result<(), String>>()
    })?;
    tally.into_inner().map_err(|error| error.to_string())
}

fn judge_one(
    judge: &Judge,
    originals: &[Original],
    seed: u64,
    request: &Request,
) -> Result<Judgement, String> {
    let mutant = mutant(originals, seed);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let replay = match seed.is_multiple_of(request.replay_every) {
        true => Replay::Natively,
        false => Replay::No,
    };
    let judgement = judge.judge(&mutant, folder.path(), replay)?;
    if request.keep {
        let kept = request.found.join(format!("kept-{seed}"));
        keep(&mutant, &judgement, folder.path(), &kept)?;
        println!("{}\n{}", description(&mutant, &judgement), mutant.text);
    } else if !judgement.contradictions.is_empty() || judgement.doubt.is_some() {
        let class = judgement.contradictions.first().map_or("doubt", |contradiction| contradiction.kind);
        let class = if judgement.undefined.is_some() { "undefined" } else { class };
        keep(&mutant, &judgement, folder.path(), &request.found.join(format!("{class}-{seed}")))?;
        eprintln!("mutants: {}", description(&mutant, &judgement).lines().next().unwrap_or_default());
    }
    Ok(judgement)
}

fn description(mutant: &Mutant<'_>, judgement: &Judgement) -> String {
    let kinds = mutant.kinds.join(", ");
    let mut text =
        format!("seed {}: {} ({kinds}): {:?}", mutant.seed, mutant.original.name, judgement.verdict);
    for contradiction in &judgement.contradictions {
        let first = contradiction.text.lines().next().unwrap_or_default();
        text += &format!("; {}: {first}", contradiction.kind);
    }
    text + "\nmade again by: " + &Options::command(mutant.seed)
}

/// The mutant and what everybody said of it.
fn keep(mutant: &Mutant<'_>, judgement: &Judgement, from: &Path, to: &Path) -> Result<(), String> {
    let copy = || -> std::io::Result<()> {
        std::fs::create_dir_all(to)?;
        for entry in std::fs::read_dir(from)? {
            let path = entry?.path();
            let is_text =
                path.extension().is_some_and(|e| ["c", "txt", "json"].iter().any(|known| e == *known));
            if let (true, Some(name)) = (is_text, path.file_name()) {
                std::fs::copy(&path, to.join(name))?;
            }
        }
        std::fs::write(to.join("original.c"), &mutant.original.text)?;
        let mut text = description(mutant, judgement) + "\n";
        text += &format!("flags: {:?}, arguments: {:?}\n", mutant.cflags, mutant.original.args);
        text += &judgement.undefined.as_ref().map_or(String::new(), |what| format!("undefined: {what}\n"));
        for contradiction in &judgement.contradictions {
            text += &format!("\n{}:\n{}\n", contradiction.kind, contradiction.text);
        }
        text += &judgement.doubt.as_ref().map_or(String::new(), |race| format!("\ndoubt:\n{race}\n"));
        std::fs::write(to.join("README.txt"), text)
    };
    copy().map_err(|error| format!("{}: {error}", to.display()))
}
