//! The programs of the README.

use crate::run::{Scratch, example, text};

#[test]
fn a_race_is_reported_in_full() {
    let scratch = Scratch::new();
    let ran = scratch.raddle(&["check", text(&example("counter_race.c"))]);
    ran.expect(
        1,
        &[
            "data race on counter",
            "T1 (worker)",
            "T2 (worker)",
            "counter++;",
            "was created at",
            "no lock in common: {} against {}",
            "replay: raddle replay raddle-witness/counter_race-",
            "confirmed by replay",
            "verdict: race",
        ],
    );
}

#[test]
fn verdicts_and_exit_codes() {
    for (name, extra, code, words) in [
        ("counter_race.c", &[][..], 1, &["verdict: race"][..]),
        ("counter_fixed.c", &[], 0, &["verdict: safe", "deadlocks: none"]),
        ("queue_race.c", &[], 1, &["verdict: race"]),
        ("queue_fixed.c", &[], 0, &["verdict: safe"]),
        ("message_relaxed.c", &[], 1, &["verdict: race"]),
        ("message_release.c", &[], 0, &["verdict: safe", "A-SC"]),
        ("deadlock.c", &[], 1, &["verdict: safe", "deadlocks: found", "deadlock: T"]),
        ("input.c", &[], 0, &["verdict: safe", "A-INPUT"]),
        ("input.c", &["--", "--fast"], 1, &["verdict: race"]),
    ] {
        let scratch = Scratch::new();
        let file = example(name);
        let mut args = vec!["check", text(&file)];
        args.extend(extra);
        scratch.raddle(&args).expect(code, words);
        // Explore is the same engine.
        args[0] = "explore";
        scratch.raddle(&args).expect(code, words);
    }
}

#[test]
fn own_locks_come_from_the_configuration() {
    let scratch = Scratch::new();
    let (file, config) = (example("own_lock.c"), example("own_lock.toml"));
    scratch
        .raddle(&["check", "--config", text(&config), text(&file)])
        .expect(0, &["verdict: safe", "A-LOCKFN"]);
    scratch.raddle(&["check", text(&file)]).expect(3, &["verdict: unknown", "A-EXTERN", "my_lock_enter"]);
    // Beside the input, or in the current folder.
    std::fs::copy(&config, scratch.path("raddle.toml")).unwrap();
    scratch.raddle(&["check", text(&file)]).expect(0, &["verdict: safe", "A-LOCKFN"]);
    scratch.file("bad.toml", "[[lok]]\n");
    scratch.raddle(&["check", "--config", "bad.toml", text(&file)]).expect(2, &["bad.toml", "lok"]);
}

#[test]
fn two_runs_say_the_same() {
    let scratch = Scratch::new();
    for name in ["counter_race.c", "queue_race.c", "deadlock.c"] {
        let file = example(name);
        let run = || scratch.raddle(&["check", text(&file)]).stdout;
        assert_eq!(run(), run());
    }
}

#[test]
fn every_search_says_the_same() {
    for (name, code) in [("counter_race.c", 1), ("counter_fixed.c", 0)] {
        for search in ["optimal", "pdp", "stateful", "dpor", "enumerate", "every-access"] {
            let scratch = Scratch::new();
            let file = example(name);
            scratch.raddle(&["explore", "--search", search, text(&file)]).expect(code, &[]);
        }
    }
}
