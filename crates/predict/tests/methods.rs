//! Every candidate of every method keeps to the definition, on random traces of all primitives.
//!
//! Which way it errs: says nothing of what the methods miss; `oracle.rs` does.

use raddle_predict::legality::check;
use raddle_predict::{Deciding, Error, Initial, Input, Options, predict};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use raddle_testkit::traces::{print, random};

#[test]
fn candidates_keep_to_the_definition() {
    let (mut certain, mut uncertain, mut deadlocks) = (0, 0, 0);
    for seed in cases_of_seeds("predicted candidates are reorderings", seeds(20_000, 200_000)) {
        let trace = random(seed);
        let initial = Initial::default();
        // Every second event; sites are numbered by their places in the text.
        let some = trace.events.iter().enumerate().filter(|(index, _)| index % 2 == 0);
        let some = Deciding::Sites(some.map(|(_, event)| event.site).collect());
        for deciding in [Deciding::All, some] {
            let input = Input { trace: &trace, initial: &initial, deciding: &deciding };
            for candidate in predict(input, &Options::default()).candidates {
                if let Err(wrong) = check(input, &candidate) {
                    panic!("seed {seed}: {wrong:?}\n{candidate:?}\n{}", print(&trace));
                }
                match candidate.error {
                    Error::Deadlock { .. } => deadlocks += 1,
                    Error::Race { .. } if candidate.uncertain.is_empty() => certain += 1,
                    Error::Race { .. } => uncertain += 1,
                }
            }
        }
    }
    println!("{certain} certain races, {uncertain} uncertain ones, {deadlocks} deadlocks");
    assert!(certain > 1000 && uncertain > 100, "{certain} {uncertain} {deadlocks}");
}
