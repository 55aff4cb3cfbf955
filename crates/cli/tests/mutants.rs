//! A slice of the mutants of fixtures, examples and bench programs: what Raddle answers is not refuted.
//!
//! `make soak` judges 5,000; `cargo run --release -p raddle-xtask -- mutants` any others. A report of ThreadSanitizer must be read before it
//! is believed: it has false alarms of its own.

use raddle_testkit::mutants::{Judge, Options, Replay, Verdict, mutant, originals};
use std::path::Path;
use std::time::Duration;

/// Mutants of a slice.
const SLICE: std::ops::Range<u64> = 40..70;

fn judge(folder: &Path, runs: u32) -> Judge {
    let binary = env!("CARGO_BIN_EXE_raddle").into();
    Judge::new(Options { binary, time: Duration::from_secs(2), runs }, folder).expect("clang works")
}

#[test]
fn no_answer_is_refuted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let originals = originals(&root).expect("they are readable");
    let shared = tempfile::tempdir().expect("a folder");
    let judge = judge(shared.path(), 5);
    let (mut compiled, mut safe) = (0, 0);
    let mut wrong = Vec::new();
    for seed in SLICE {
        let mutant = mutant(&originals, seed);
        let folder = tempfile::tempdir().expect("a folder");
        let replay = if seed % 10 == 0 { Replay::Natively } else { Replay::No };
        let judgement = judge.judge(&mutant, folder.path(), replay).expect("it can be written");
        compiled += u32::from(judgement.verdict != Verdict::NotC);
        safe += u32::from(judgement.verdict == Verdict::Safe);
        if judgement.undefined.is_none() {
            let said = judgement.contradictions.iter();
            wrong.extend(said.map(|c| {
                format!("{}: {}: {}\n{}", mutant.original.name, c.kind, c.text, Options::command(seed))
            }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compiled > 15 && safe > 2, "{compiled} compiled, {safe} safe");
}

/// The judge can fail: a raddle that calls everything safe is refuted.
#[test]
fn a_wrong_answer_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let liar = folder.path().join("liar");
    let script = "#!/bin/sh\nwhile [ \"$1\" != --output ]; do shift; done\n\
                  echo '{\"verdict\":\"safe\",\"proved\":[],\"unknown_reasons\":[]}' > \"$2\"\n";
    std::fs::write(&liar, script).expect("it can be written");
    let mut rights = std::fs::metadata(&liar).expect("it is there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o755);
    std::fs::set_permissions(&liar, rights).expect("it is ours");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut originals = originals(&root).expect("they are readable");
    originals.retain(|original| original.name == "examples/counter_race.c");
    let options = Options { binary: liar, time: Duration::from_secs(2), runs: 20 };
    let judge = Judge::new(options, folder.path()).expect("clang works");
    let mut unchanged = mutant(&originals, 0);
    unchanged.text = unchanged.original.text.clone();
    let judgement = judge.judge(&unchanged, folder.path(), Replay::No).expect("it can be written");
    let kinds: Vec<&str> = judgement.contradictions.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, ["tsan-race"]);
}
