//! What the detector reports of a recorded run are exactly the racy bytes of the trace that is read back: of fixtures and random programs.
//!
//! Small traces are judged by the closure, all by the epochs of `raddle-order`. A slice in `cargo test`; `RADDLE_SOAK=1` takes all fixtures
//! and more programs, `RADDLE_FIXTURE=part-of-a-path` some fixtures.

use super::random::CHOICES;
use raddle_event::{Addr, EventKind, Loc, Trace};
use raddle_native::trace::{Gap, read};
use raddle_order::{Closure, epochs};
use raddle_testkit::fixtures::{DataModels, files, parse};
use raddle_testkit::programs::{Profile, branchy, generate, knotted};
use raddle_testkit::soak;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// The closure takes time by the third power.
const SMALL: usize = 400;
const LIMIT: usize = 2_000_000;

#[test]
fn racy_bytes_are_those_of_the_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut racing, mut quiet, mut small, mut complaints) = (0, 0, 0, Vec::new());
    let all = programs(folder.path()).into_iter();
    for (name, sources, cflags, args) in soak::cases("racy bytes of recorded runs = closure", all) {
        for level in [&["-O0"][..], &["-O2", "--raddle-no-prune"]] {
            let Some(outcome) = compare(folder.path(), &sources, &cflags, &args, level) else { continue };
            match outcome {
                Ok((events, bytes)) => {
                    if bytes > 0 {
                        racing += 1
                    } else {
                        quiet += 1
                    }
                    small += usize::from(events <= SMALL);
                }
                Err(message) => complaints.push(format!("{name} {level:?}: {message}")),
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let chosen = std::env::var_os("RADDLE_FIXTURE").is_some();
    assert!(
        chosen || (racing > 5 && quiet > 5 && small > 10),
        "{racing} with races, {quiet} without, {small} small"
    );
}

/// Name, sources, flags, arguments.
type Program = (String, Vec<String>, Vec<String>, Vec<String>);

fn programs(folder: &Path) -> Vec<Program> {
    let soak = std::env::var_os("RADDLE_SOAK").is_some();
    let part = std::env::var("RADDLE_FIXTURE").ok();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut programs = Vec::new();
    for (index, path) in files(&root).expect("tests/fixtures").into_iter().enumerate() {
        let chosen = match &part {
            Some(part) => path.to_string_lossy().contains(part),
            None => soak || index % 40 == 0,
        };
        let text = std::fs::read_to_string(&path).expect("a fixture is readable");
        let fixture = parse(&text).expect("a right fixture");
        if chosen && fixture.data_models != DataModels::Ilp32 && fixture.stdin.is_empty() {
            let name = path.display().to_string();
            programs.push((name.clone(), vec![name], fixture.cflags, fixture.args));
        }
    }
    let seeds = if part.is_some() {
        0
    } else if soak {
        300
    } else {
        2
    };
    // Order through descriptors is in the trace, too.
    let through =
        [("descriptors.c", "race-position"), ("descriptors.c", "tcp"), ("descriptor_queue.c", "seq")];
    for (file, way) in through.into_iter().filter(|_| part.is_none()) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/native/programs/").to_owned() + file;
        programs.push((format!("{file} {way}"), vec![path], Vec::new(), vec![way.to_owned()]));
    }
    std::fs::write(folder.join("choices.c"), CHOICES).expect("it can be written");
    for seed in 0..seeds {
        let samples = [generate(seed, &Profile::default()), branchy(seed), knotted(seed)];
        for (kind, sample) in samples.iter().enumerate() {
            let name = format!("random-{kind}-{seed}.c");
            std::fs::write(folder.join(&name), sample.source.text()).expect("it can be written");
            programs.push((name.clone(), vec![name, "choices.c".to_owned()], Vec::new(), Vec::new()));
        }
    }
    programs
}

/// Events and racy bytes; `None` where the program cannot be built.
fn compare(
    folder: &Path,
    sources: &[String],
    cflags: &[String],
    args: &[String],
    level: &[&str],
) -> Option<Result<(usize, usize), String>> {
    let raddle = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        command.current_dir(folder).stdin(Stdio::null());
        command
    };
    let mut build = raddle();
    build.args(["cc", "-g", "-w", "-pthread", "-fcommon", "-o", "program", "-lm"]).args(level);
    if !build.args(cflags).args(sources).output().expect("raddle starts").status.success() {
        return None;
    }
    let mut record = raddle();
    record.args(["record", "-q", "--time-limit", "2", "-o", "program.trace", "./program"]).args(args);
    record.output().expect("raddle starts");
    let recorded = match read(&folder.join("program.trace"), LIMIT) {
        Ok(recorded) => recorded,
        Err(error) => return Some(Err(error.to_string())),
    };
    if recorded.gaps.contains(&Gap::Limit) {
        return None;
    }
    let found = recorded.racy_bytes();
    let trace = &recorded.trace;
    let expected: BTreeSet<Addr> =
        epochs::first_races(trace).into_iter().flat_map(|race| bytes(race.loc)).collect();
    if trace.events.len() <= SMALL && closed(trace) != expected {
        return Some(Err("closure and epochs do not agree".to_owned()));
    }
    // A thread that was stopped, by a signal or by the end of the process, may have been about to report.
    let count = |kind| trace.events.iter().filter(|event| event.kind == kind).count();
    let all_ended = recorded.ended && count(EventKind::Begin) == count(EventKind::End) + 1;
    let right = if all_ended { found == expected } else { found.is_subset(&expected) };
    let message = format!("detector {found:?}, trace {expected:?}, gaps {:?}", recorded.gaps);
    Some(if right && recorded.gaps.is_empty() { Ok((trace.events.len(), found.len())) } else { Err(message) })
}

fn closed(trace: &Trace) -> BTreeSet<Addr> {
    Closure::of(trace).first_races().into_keys().collect()
}

fn bytes(loc: Loc) -> impl Iterator<Item = Addr> {
    (0..loc.len).map(move |i| Addr { object: loc.object, offset: loc.offset + i })
}
