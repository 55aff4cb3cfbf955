//! The racy bytes that the detector finds in a native run are exactly those of the closure of what was logged of the same run.
//!
//! Random scripts run on real threads, through the hooks and interposed functions that instrumented programs use. Every run is another
//! interleaving; a failure prints the seed of the script and the trace that was seen. `RADDLE_PROGRAMS=a..b` runs these scripts only, each in
//! the setting that its seed belongs to, as often as the whole test would run scripts.

#[path = "exactness/scripts.rs"]
mod scripts;
#[path = "exactness/sites.rs"]
mod sites;
#[path = "exactness/trace.rs"]
mod trace;

mod program;

use raddle_order::Closure;
use raddle_runtime::trace::new_header;
use raddle_testkit::soak;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPTS: u64 = 1_500;
const SCRIPTS_OF_A_SOAK: u64 = 300_000;
/// Scripts that one process runs.
const BATCH: u64 = 500;

#[test]
fn racy_bytes_equal_the_closure() {
    let program = program::build(Path::new("tests/exactness/script.c"));
    let settings = [
        ("every=1", 0),
        // Again with a collection after every few new sets: nothing that is still needed may go.
        ("every=1,collect=1", 1 << 32),
        // Where somebody observes, acquires end epochs, too; and the recorder logs the accesses.
        ("every=1,mode=record", 1 << 33),
        // Clocks that begin just before their last value.
        ("every=1,clock=4294967290", 1 << 34),
    ];
    let count = soak::count(SCRIPTS, SCRIPTS_OF_A_SOAK);
    if let Some(seeds) = soak::named_seeds() {
        return repeat(&program, &settings, seeds, count);
    }
    let mut tallies = settings.map(|_| [0_u64; 2]);
    let starts: Vec<u64> = (0..count).step_by(BATCH as usize).collect();
    let mut done = 0;
    // The settings take turns, so that a soak that is cut has tried all of them.
    for start in starts.into_iter().take_while(|_| !soak::is_over()) {
        let end = (start + BATCH).min(count);
        for ((options, first), tally) in settings.iter().zip(&mut tallies) {
            let seeds: Vec<u64> = (first + start..first + end).collect();
            for found in batch(&program, options, &seeds) {
                tally[usize::from(found)] += 1;
            }
            done += end - start;
        }
    }
    soak::report("racy bytes of native runs = closure, in four settings", done, 4 * count, 0);
    // Both directions must have been tested.
    for [quiet, racing] in tallies {
        let all = quiet + racing;
        assert!(racing > all / 10 && quiet > all / 10, "{racing} with races, {quiet} without");
    }
}

/// Named scripts, each in its setting, again and again: every time is another interleaving.
fn repeat(program: &Path, settings: &[(&str, u64)], seeds: Range<u64>, count: u64) {
    assert!(!seeds.is_empty(), "no scripts");
    let mut done = 0;
    while done < count && !soak::is_over() {
        for (at, (options, first)) in settings.iter().enumerate() {
            let end = settings.get(at + 1).map_or(u64::MAX, |(_, next)| *next);
            let own = seeds.start.max(*first)..seeds.end.min(end);
            let many: Vec<u64> =
                own.clone().cycle().take(own.clone().count().next_multiple_of(BATCH as usize)).collect();
            for some in many.chunks(BATCH as usize) {
                done += batch(program, options, some).len() as u64;
            }
        }
    }
    println!("{done} runs of the scripts {seeds:?}");
}

/// Whether each script had races.
fn batch(program: &Path, options: &str, seeds: &[u64]) -> Vec<bool> {
    let findings = program.with_extension("jsonl");
    let recorded = program.with_extension("trace");
    let _ = std::fs::remove_file(&findings);
    std::fs::write(&recorded, new_header("{}")).unwrap();
    let mut child = Command::new(program)
        .env("RADDLE_OPTIONS", options)
        .env("RADDLE_OUT", &findings)
        .env("RADDLE_TRACE", &recorded)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut places = Vec::new();
    let mut size = 0;
    for seed in seeds {
        let threads = scripts::random(*seed);
        let mut words = vec![threads.len() as u32];
        for ops in &threads {
            words.push(ops.len() as u32);
            words.extend(ops.iter().flatten());
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        input.write_all(&bytes).unwrap();
        input.flush().unwrap();
        let mut head = [0; 16];
        output.read_exact(&mut head).unwrap_or_else(|_| panic!("seed {seed}: the program ended"));
        places.push(u64::from_le_bytes(head[..8].try_into().unwrap()));
        size = u64::from_le_bytes(head[8..].try_into().unwrap());
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    let lines = std::fs::read_to_string(&findings).unwrap_or_default();
    let entries = trace::entries(&std::fs::read(&recorded).unwrap());
    let slices = trace::scripts(&entries, size);
    assert_eq!(slices.len(), places.len());
    // Both sides of every race are there, and are of the script that raced.
    let scripts = trace::scripts_of_threads(&slices);
    for line in lines.lines().filter(|line| line.contains("\"race\"")) {
        sites::check(line, &scripts).unwrap_or_else(|why| {
            panic!("{options} {}..={}: {why}\n{line}", seeds[0], seeds[seeds.len() - 1])
        });
    }
    let outcomes = seeds.iter().zip(slices.into_iter().zip(places)).map(|(seed, (entries, place))| {
        let (trace, found) = trace::read(entries, place);
        let closure = Closure::of(&trace);
        let expected: BTreeSet<u32> = closure.first_races().keys().map(|byte| byte.offset).collect();
        if found != expected {
            let events: Vec<String> =
                trace.events.iter().map(|event| format!("{} {:?}", event.thread.0, event.kind)).collect();
            panic!(
                "{options} {seed}: found {found:?}, expected {expected:?}; \
                 RADDLE_PROGRAMS={seed}..{} runs the script again\n{}",
                seed + 1,
                events.join("\n")
            );
        }
        !found.is_empty()
    });
    let outcomes: Vec<bool> = outcomes.collect();
    assert!(
        lines.contains("\"race\"") || !outcomes.contains(&true),
        "{options}: races that were not written"
    );
    outcomes
}
