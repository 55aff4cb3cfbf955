//! The events of random runs of the fixture programs form legal traces: locks are held when released, threads begin once, …
//!
//! A slice in `cargo test`; `RADDLE_SOAK=1` takes all fixtures and more runs, `RADDLE_FIXTURE=part-of-a-path` some fixtures.

use crate::explore::random_choice;
use crate::load::machine_for;
use raddle_frontend::{Request, load};
use raddle_interp::Options;
use raddle_ir::DataModel;
use raddle_machine::{Machine, Status, TraceSink, Visibility};
use raddle_testkit::soak;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut found = Vec::new();
    for topic in std::fs::read_dir(folder).expect("tests/fixtures exists") {
        let topic = topic.expect("a readable entry").path();
        if topic.is_dir() {
            let files = std::fs::read_dir(topic).expect("a readable folder");
            found.extend(files.map(|file| file.expect("a readable entry").path()));
        }
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    found.sort();
    found
}

/// Of a run.
const MOST_EVENTS: usize = 100_000;

#[test]
fn traces_of_fixtures_are_legal() {
    let (mut every, runs) = if soak::is_on() { (1, 200) } else { (5, 8) };
    let mut fixtures = fixtures();
    assert!(fixtures.len() > 80, "{} fixtures", fixtures.len());
    let some = std::env::var("RADDLE_FIXTURE").ok();
    if let Some(part) = &some {
        every = 1;
        fixtures.retain(|path| path.to_str().is_some_and(|path| path.contains(part)));
    }
    let mut events = 0;
    for file in soak::cases("traces of fixtures are legal", fixtures.iter().step_by(every)) {
        let text = std::fs::read_to_string(file).expect("a readable fixture");
        let model = if text.contains("ILP32") { DataModel::Ilp32 } else { DataModel::Lp64 };
        let request = Request { inputs: vec![file.clone()], data_model: Some(model), ..Request::default() };
        let Ok(loaded) = load(&request) else { continue };
        let options = Options { step_limit: 3_000, ..Options::default() };
        let mut interp = machine_for(Arc::new(loaded.program), options);
        for seed in 0..runs {
            let visibility = if seed % 2 == 0 { Visibility::SyncOnly } else { Visibility::EveryAccess };
            interp.reset();
            interp.set_visibility(visibility);
            let (mut sink, mut choices, mut state) = (TraceSink::default(), Vec::new(), seed * 31 + 7);
            // An endless loop of plain accesses has thousands of them in a step.
            while interp.status() == Status::Running && sink.trace.events.len() < MOST_EVENTS {
                interp.enabled(&mut choices);
                let choice = random_choice(&choices, &mut state);
                interp.step(choice, &mut sink);
            }
            events += sink.trace.events.len();
            // The checker lets semaphores start at 1, whatever the program says; a race may be one on the object itself; a wait
            // releases a recursive mutex once, which may leave it held.
            let renewed = ["initialised while in use", "destroyed while in use"];
            let is_race = text.contains("//@ verdict: race");
            if let Err(illegal) = raddle_testkit::traces::check(&sink.trace)
                && illegal.reason != "the semaphore is 0"
                && !(illegal.reason == "no release follows" && text.contains("RECURSIVE"))
                && !(is_race && renewed.contains(&illegal.reason))
            {
                panic!("RADDLE_FIXTURE={} seed {seed}: {illegal:?}", file.display());
            }
        }
    }
    assert!(events > 5_000 || some.is_some() || soak::is_over(), "{events} events");
}
