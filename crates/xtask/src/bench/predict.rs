//! Prediction: `docs/benchmarks/predict.md`. Generated traces for speed; scenarios and programs of the paper's shapes for what is found.

use super::measure::Tool;
use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, Trace};
use raddle_predict::{Deciding, Initial, Input, Options, predict};
use raddle_testkit::random::Random;
use serde_json::Value;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Writes the page, or prints the parts that are named: `scenarios`, `shapes`, `speed`.
pub(super) fn run(root: &Path, only: &[String]) -> Result<(), String> {
    let tool = Tool::find(root)?;
    let part = |name: &str| match name {
        "scenarios" => scenarios(root, &tool),
        "shapes" => shapes(root, &tool),
        _ => Ok(speed()),
    };
    let parts = [("scenarios", SCENARIOS), ("shapes", SHAPES), ("speed", SPEED)];
    if !only.is_empty() {
        for (name, _) in parts.iter().filter(|(name, _)| only.iter().any(|word| word == name)) {
            println!("{name}\n\n{}", part(name)?);
        }
        return Ok(());
    }
    let mut page = format!("{HEAD}\nMachine: {}.\n", super::machine());
    for (name, title) in parts {
        eprintln!("bench: predict: {name}");
        let _ = write!(page, "\n{title}\n\n{}", part(name)?);
    }
    let file = root.join("docs/benchmarks/predict.md");
    // What was written by hand below the tables stays.
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let kept = kept.find(BY_HAND).map_or("", |at| &kept[at..]);
    std::fs::write(&file, page + "\n" + kept).map_err(|error| format!("{}: {error}", file.display()))
}

const BY_HAND: &str = "## Real programs";

const HEAD: &str = "# Prediction

Written by `cargo run --release -p raddle-xtask -- bench predict`, from one recorded run of each program. Times are of one run and noisy.
";

const SCENARIOS: &str = "## Scenarios

The 48 programs of `tests/predict/scenarios`, 31 errors (2015 paper, Table 1). ThreadSanitizer: errors that it reported at least once in 100
runs (`tests/predict/scenarios/README.md`); its detector found 21 of the paper's 31. The test is `cargo test --release -p raddle-cli --test predict`.";

const SHAPES: &str = "## Programs of the paper's shapes

`bench/predict`, with the sizes of the paper's Table 2 and its columns. *Captured* are events of the trace, in which loops and repeated accesses of a segment
are one (of `lu`, the program makes 66 million accesses); *reduced* what the filter left, with synchronisation; *candidates* orders that lead to an error, *replayed*
those that were not yet known when their turn came, *feasible* those that showed something new; *found* pairs of places with a race, in the recorded run or a
replay; *ThreadSanitizer* those of 100 runs (10 of the programs without errors). Seconds are of everything: record, predict, confirm.";

const SPEED: &str = "## Speed

Generated traces: sections under 64 locks, accesses of each thread's own data, now and then an unguarded write. Everything but confirmation, on one
core: the filter, the linear methods, and what follows for the pairs that these leave open. Goal: 2 million events a second.";

/// Findings of one program by their evidence, and what was counted.
struct Row {
    observed: usize,
    replayed: usize,
    predicted: usize,
    deadlocks: usize,
    counts: Value,
    seconds: f64,
}

fn predicted(root: &Path, tool: &Tool, source: &Path) -> Result<Row, String> {
    let scratch = tool.scratch()?;
    let program = Path::new(&scratch).join(source.file_stem().unwrap_or_default());
    let call = |arguments: &[&OsStr]| {
        let mut command = Command::new(tool.binary());
        command.args(arguments).current_dir(&scratch).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().map_err(|error| error.to_string())
    };
    let words = ["cc", "-O1", "-g", "--raddle-no-prune", "-pthread", "-o"].map(OsStr::new);
    call(&[&words[..], &[program.as_os_str(), root.join(source).as_os_str(), OsStr::new("-lm")]].concat())?;
    let began = Instant::now();
    let words =
        ["predict", "--time-limit", "600", "--format", "json", "-o", "predicted.json"].map(OsStr::new);
    call(&[&words[..], &[program.as_os_str()]].concat())?;
    let seconds = began.elapsed().as_secs_f64();
    let text = std::fs::read_to_string(Path::new(&scratch).join("predicted.json"));
    let answer: Value =
        serde_json::from_str(&text.map_err(|error| format!("{}: {error}", source.display()))?)
            .map_err(|error| error.to_string())?;
    let findings = answer["findings"].as_array().cloned().unwrap_or_default();
    let count = |kind: &str, evidence: &[&str]| {
        let is = |finding: &&Value| {
            finding["kind"] == kind && evidence.iter().any(|word| finding["evidence"] == *word)
        };
        findings.iter().filter(is).count()
    };
    Ok(Row {
        observed: count("data-race", &["observed"]),
        replayed: count("data-race", &["replayed"]),
        predicted: count("data-race", &["predicted"]) + count("deadlock", &["predicted"]),
        deadlocks: count("deadlock", &["replayed"]).min(1),
        counts: answer["stats"]["prediction"].clone(),
        seconds,
    })
}

fn programs(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    Ok(files)
}

fn scenarios(root: &Path, tool: &Tool) -> Result<String, String> {
    let (mut observed, mut replayed, mut deadlocks, mut unconfirmed, mut seconds) = (0, 0, 0, 0, 0.0);
    let files = programs(&root.join("tests/predict/scenarios"))?;
    for file in &files {
        let row = predicted(root, tool, file)?;
        observed += row.observed;
        replayed += row.replayed;
        deadlocks += row.deadlocks;
        unconfirmed += row.predicted;
        seconds += row.seconds;
    }
    Ok(format!(
        "| scenarios | errors | races seen while recording | races predicted and replayed | deadlocks predicted and replayed | not confirmed | ThreadSanitizer | seconds |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|\n| {} | 31 | {observed} | {replayed} | {deadlocks} | {unconfirmed} | 15 | {seconds:.1} |\n",
        files.len()
    ))
}

fn shapes(root: &Path, tool: &Tool) -> Result<String, String> {
    let mut table = String::from(
        "| program | captured | reduced | sync | candidates | replayed | feasible | errors | found | not confirmed | ThreadSanitizer | seconds |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let readme =
        std::fs::read_to_string(root.join("bench/predict/README.md")).map_err(|error| error.to_string())?;
    for file in programs(&root.join("bench/predict"))? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("bench: predict: {name}");
        let line = readme.lines().find(|line| line.starts_with(&format!("| `{name}.c`")));
        let cells: Vec<&str> = line.unwrap_or_default().split('|').map(str::trim).collect();
        let cell = |back: usize| cells.len().checked_sub(back).map_or("", |at| cells[at]);
        let row = predicted(root, tool, &file)?;
        let count = |key: &str| row.counts[key].as_u64().unwrap_or(0);
        let _ = writeln!(
            table,
            "| `{name}` | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
            count("captured"),
            count("reduced"),
            count("sync"),
            count("candidates"),
            count("replayed"),
            count("feasible"),
            cell(3),
            row.observed + row.replayed,
            row.predicted,
            cell(2),
            row.seconds
        );
    }
    Ok(table)
}

/// Threads that work on shared data under locks, on data of their own, and now and then on data that nobody guards.
fn generated(threads: u32, length: usize, seed: u64) -> Trace {
    let mut random = Random::new(seed);
    let mut events = Vec::with_capacity(length + 64);
    let mut put = |thread: u32, site: u32, kind: EventKind| {
        events.push(Event { thread: ThreadId(thread), site: SiteId(site), kind });
        events.len()
    };
    put(0, 0, EventKind::Begin);
    for child in 1..threads {
        put(0, 1, EventKind::Create { child: ThreadId(child) });
        put(child, 0, EventKind::Begin);
    }
    let access = |object: u32, offset: u32, kind| EventKind::Access {
        loc: Loc { object: ObjectId(object), offset, len: 4 },
        kind,
    };
    let mut now = 0;
    while now < length {
        let thread = random.below(threads as usize) as u32;
        let lock = random.below(64) as u32;
        let place = Addr { object: ObjectId(1), offset: 64 * lock };
        put(thread, 10 + lock, EventKind::Acquire { lock: place, mode: LockMode::Exclusive });
        for step in 0..4 {
            let kind = if step % 2 == 0 { AccessKind::Read } else { AccessKind::Write };
            put(thread, 100 + 4 * lock + step, access(2, 1024 * lock + 4 * random.below(256) as u32, kind));
        }
        put(thread, 10 + lock, EventKind::Release { lock: place, mode: LockMode::Exclusive });
        for step in 0..8 {
            let kind = if step % 4 == 3 { AccessKind::Write } else { AccessKind::Read };
            now = put(thread, 400 + step, access(100 + thread, 4 * random.below(4096) as u32, kind));
        }
        if random.chance(1) {
            put(thread, 500, access(3, 4 * random.below(8) as u32, AccessKind::Write));
        }
    }
    Trace { events }
}

fn speed() -> String {
    let mut table = String::from(
        "| events | threads | seconds | million events a second | reduced | pairs of places | candidates |\n|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for length in [10_000, 100_000, 1_000_000, 10_000_000] {
        for threads in [2, 8, 64] {
            let trace = generated(threads, length, 1);
            let (initial, deciding) = (Initial::default(), Deciding::All);
            let input = Input { trace: &trace, initial: &initial, deciding: &deciding };
            let began = Instant::now();
            let prediction = predict(input, &Options::default());
            let seconds = began.elapsed().as_secs_f64();
            let counts = prediction.counts;
            let _ = writeln!(
                table,
                "| {} | {threads} | {seconds:.2} | {:.1} | {} | {} | {} |",
                trace.events.len(),
                trace.events.len() as f64 / seconds / 1e6,
                counts.reduced,
                counts.places,
                prediction.candidates.len(),
            );
        }
    }
    table
}
