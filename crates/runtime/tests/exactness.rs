//! The racy bytes that the detector finds in a native run are exactly those of the closure of what was logged of the same run.
//!
//! Random scripts run on real threads, through the hooks and interposed functions that instrumented programs use. Every run is another
//! interleaving; a failure prints the seed of the script and the trace that was seen.

#[path = "exactness/scripts.rs"]
mod scripts;
#[path = "exactness/trace.rs"]
mod trace;

mod program;

use raddle_order::Closure;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPTS: u64 = 1_500;
const SCRIPTS_OF_A_SOAK: u64 = 300_000;

#[test]
fn racy_bytes_equal_the_closure() {
    let program = program::build(Path::new("tests/exactness/script.c"));
    compare(&program, "every=1", 0);
    // Again with a collection after every few new sets: nothing that is still needed may go.
    compare(&program, "every=1,collect=1", 1 << 32);
    // Where somebody observes, acquires end epochs, too.
    compare(&program, "every=1,mode=record", 1 << 33);
}

fn compare(program: &Path, options: &str, first: u64) {
    let soak = std::env::var_os("RADDLE_SOAK").is_some();
    let count = if soak { SCRIPTS_OF_A_SOAK } else { SCRIPTS };
    let findings = program.with_extension("jsonl");
    let _ = std::fs::remove_file(&findings);
    let mut child = Command::new(program)
        .env("RADDLE_OPTIONS", options)
        .env("RADDLE_OUT", if soak { Path::new("/dev/null") } else { &findings })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let (mut racing, mut quiet) = (0, 0);
    for seed in first..first + count {
        let threads = scripts::random(seed);
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
        let entries = u64::from_le_bytes(head[..8].try_into().unwrap()) as usize;
        let place = u64::from_le_bytes(head[8..].try_into().unwrap());
        let mut log = vec![0; entries * trace::ENTRY_BYTES];
        output.read_exact(&mut log).unwrap();
        let (trace, found) = trace::read(&log, place);
        let closure = Closure::of(&trace);
        let expected: BTreeSet<u32> = closure.first_races().keys().map(|byte| byte.offset).collect();
        if found != expected {
            let events: Vec<String> =
                trace.events.iter().map(|event| format!("{} {:?}", event.thread.0, event.kind)).collect();
            panic!("seed {seed}: found {found:?}, expected {expected:?}\n{}", events.join("\n"));
        }
        if found.is_empty() { quiet += 1 } else { racing += 1 }
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    // Both sides of every race are there: no access is of no bytes.
    let lines = std::fs::read_to_string(&findings).unwrap_or_default();
    assert!(soak || lines.contains("\"race\""));
    assert!(!lines.contains("\"site\":0,\"write\""), "an access without its context");
    // Both directions must have been tested.
    assert!(racing > count / 10 && quiet > count / 10, "{racing} with races, {quiet} without");
}
