//! Programs that do not end, end oddly or are too large: every search stops in bounded time and says why, and none is called safe by accident.

use crate::run::{Scratch, program, text};
use std::time::{Duration, Instant};

/// Of a search with `--time-limit 1`, on a machine that does other things too.
const BOUND: Duration = Duration::from_secs(60);

#[test]
fn odd_programs_end_and_are_explained() {
    let scratch = Scratch::new();
    let all = ["optimal", "dpor", "pdp", "stateful", "random", "pct"];
    let exhaustive = ["optimal", "stateful"];
    for (name, searches, code, words) in [
        ("endless_race.c", &all[..], 1, &["data race on x"][..]),
        ("endless.c", &all, 3, &["the time limit of 1 s was reached"]),
        ("endless_locked.c", &["stateful"], 0, &["verdict: safe, no data race; deadlocks: none", "A-HASH"]),
        ("endless_locked.c", &["pdp"], 0, &["verdict: safe, no data race; deadlocks: unknown"]),
        ("endless_locked.c", &["optimal", "dpor", "random", "pct"], 3, &["verdict: unknown"]),
        ("thousand_threads.c", &all, 3, &["verdict: unknown"]),
        ("spawns.c", &["optimal", "dpor", "stateful", "random", "pct"], 3, &["verdict: unknown"]),
        ("spawns.c", &["pdp"], 0, &["verdict: safe, no data race; deadlocks: unknown"]),
        ("unjoined.c", &all, 1, &["data race on x"]),
        ("dies_with_lock.c", &exhaustive, 1, &["thread ends with a lock held of m:", "deadlocks: found"]),
        ("deep.c", &all, 1, &["stack overflow"]),
    ] {
        let file = program(&format!("explore/{name}"));
        // What ends of itself may take its time on a busy machine.
        let options: &[&str] = match name {
            "endless_race.c" => &["--first", "--max-steps", "20", "--time-limit", "30"],
            "deep.c" => &["--time-limit", "30"],
            _ => &["--time-limit", "1"],
        };
        for search in searches {
            let began = Instant::now();
            let arguments = [&["explore", "--search", search][..], options, &[text(&file)]].concat();
            scratch.raddle(&arguments).expect(code, words);
            assert!(began.elapsed() < BOUND, "{name}, {search}: {:?}", began.elapsed());
        }
    }
}

#[test]
fn a_bounded_search_is_never_safe() {
    let scratch = Scratch::new();
    let file = program("explore/dies_with_lock.c");
    for (bound, words) in [
        (["--max-executions", "1"], "the limit of 1 executions was reached"),
        (["--max-steps", "3"], "the limit on visible operations over all runs was reached"),
    ] {
        let run = scratch.raddle(&["explore", bound[0], bound[1], text(&file)]);
        assert!(run.stdout.contains("verdict: unknown") && run.stdout.contains(words), "{}", run.stdout);
    }
    let fixed = crate::run::example("counter_fixed.c");
    for search in ["random", "pct"] {
        scratch
            .raddle(&["explore", "--search", search, "--runs", "50", text(&fixed)])
            .expect(3, &["runs were picked by chance"]);
    }
    let preemptions = ["explore", "--search", "stateful", "--preemptions", "0", text(&fixed)];
    scratch.raddle(&preemptions).expect(3, &["more preemptions than the bound"]);
}

/// Spurious wake-ups need not happen, so what only they can end may hang.
#[test]
fn luck_is_no_way_out_of_a_deadlock() {
    let scratch = Scratch::new();
    for name in ["waits_once.c", "waits_forever.c"] {
        let file = program(&format!("explore/{name}"));
        for search in ["optimal", "dpor", "stateful", "enumerate", "every-access"] {
            let run = scratch.raddle(&["explore", "--search", search, text(&file)]);
            assert!(!run.stdout.contains("deadlocks: none"), "{name}, {search}: {}", run.stdout);
            assert!(run.stdout.contains("deadlocks: "), "{name}, {search}: {}", run.stdout);
        }
    }
}
