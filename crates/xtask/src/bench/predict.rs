//! Prediction: `docs/benchmarks/predict.md`. Generated traces for speed; scenarios and programs of the paper's shapes for what is found.

use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, Trace};
use raddle_predict::{Deciding, Initial, Input, Options, predict};
use raddle_testkit::random::Random;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

pub(super) fn run(_root: &Path, only: &[String]) -> Result<(), String> {
    if only.is_empty() || only.iter().any(|word| word == "speed") {
        println!("{}", speed());
    }
    Ok(())
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
            eprint!("{}", table.lines().last().unwrap_or_default().to_owned() + "\n");
        }
    }
    table
}
