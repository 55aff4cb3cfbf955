//! The time for a prediction is kept within the methods, too, not only from one question to the next.

use raddle_predict::{Deciding, Initial, Input, Options, predict};
use raddle_testkit::traces::parse;
use std::time::{Duration, Instant};

/// Threads that take one lock in turn, and a wait, without which nobody looks for threads that are stuck.
fn trace(rounds: usize) -> String {
    let mut lines = Vec::new();
    lines.extend((1..THREADS).map(|thread| format!("0 create {thread}")));
    lines.extend((1..THREADS).map(|thread| format!("{thread} begin")));
    lines.extend(["0 post s".to_owned(), "1 take s".to_owned()]);
    for round in 0..rounds {
        let thread = round % THREADS;
        lines.push(format!("{thread} w x{thread}"));
        lines.extend([format!("{thread} lock m"), format!("{thread} r y"), format!("{thread} w y")]);
        lines.push(format!("{thread} unlock m"));
    }
    lines.join("\n")
}

const THREADS: usize = 16;

#[test]
fn a_long_question_ends_when_the_time_is_over() {
    let case = parse(&trace(60_000)).expect("the trace is well formed");
    let (initial, deciding) = (Initial::default(), Deciding::All);
    let input = Input { trace: &case.trace, initial: &initial, deciding: &deciding };
    let began = Instant::now();
    let options = Options { until: Some(began + Duration::from_millis(500)), ..Options::default() };
    let prediction = predict(input, &options);
    let seconds = began.elapsed().as_secs_f64();
    assert!(seconds < 2.0, "{seconds} s");
    assert!(prediction.counts.deadlocks_out_of_time);
    // With time enough nothing is left open.
    let case = parse(&trace(600)).expect("the trace is well formed");
    let input = Input { trace: &case.trace, initial: &initial, deciding: &deciding };
    let prediction = predict(input, &Options::default());
    assert!(!prediction.counts.deadlocks_out_of_time && prediction.counts.out_of_time == 0);
}
