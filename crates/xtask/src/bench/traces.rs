//! Random traces on which the three forms of happens-before are compared.

use raddle_order::{Closure, epochs, lockset, races};
use raddle_testkit::traces::random;
use std::time::Instant;

const COUNT: u64 = 50_000;

pub(super) fn section() -> Result<String, String> {
    let traces: Vec<_> = (0..COUNT).map(random).collect();
    let events: usize = traces.iter().map(|trace| trace.events.len()).sum();
    let mut text = format!(
        "\n## Happens-before\n\n{COUNT} random traces over all kinds of events, {events} events. `cargo test` compares 20,000 of them for the \
         first racing access of every byte and 20,000 for all pairs; `make soak` 400,000 each (see soak.md).\n\n\
         | form | seconds | million events a second |\n|---|---|---|\n"
    );
    let mut disagreements = 0;
    let mut row = |name: &str, seconds: f64| {
        text.push_str(&format!("| {name} | {seconds:.2} | {:.2} |\n", events as f64 / seconds / 1e6));
    };
    let start = Instant::now();
    let by_closure: Vec<_> = traces.iter().map(|trace| Closure::of(trace).races()).collect();
    row("closure (the definition)", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let by_pairs: Vec<_> = traces.iter().map(races).collect();
    row("vector clocks, all pairs", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let by_epochs: Vec<_> = traces.iter().map(epochs::first_races).collect();
    row("epochs, first race per byte", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let by_locksets: Vec<_> = traces.iter().map(lockset::first_races).collect();
    row("locksets, first race per byte", start.elapsed().as_secs_f64());
    for index in 0..traces.len() {
        disagreements += usize::from(by_closure[index] != by_pairs[index]);
        disagreements += usize::from(by_epochs[index].is_empty() != by_pairs[index].is_empty());
        disagreements += usize::from(by_locksets[index].is_empty() != by_pairs[index].is_empty());
    }
    if disagreements > 0 {
        return Err(format!("{disagreements} disagreements between the forms of happens-before"));
    }
    let racy = by_pairs.iter().filter(|races| !races.is_empty()).count();
    text.push_str(&format!("\nDisagreements: 0. Traces with a race: {racy}.\n"));
    Ok(text)
}
