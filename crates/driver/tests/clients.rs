//! Clients of a program without `main`: what they may pass to its entries (A-ENTRY). Each program of `clients/` names its entries; with
//! `CLIENT` defined it has one client too, so that exploration confirms what is expected of the static analysis, in both directions.

use raddle_driver::{Control, Engines, Outcome, Search, StaticRequest, Subject, check, statics};
use raddle_testkit::fixtures::{Completeness, Coverage, compare, files, judge, parse};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);

fn of_clients(path: &Path, text: &str) -> Outcome {
    let entries = text.lines().find_map(|line| line.strip_prefix("// entries: ")).expect("names its entries");
    let entries = entries.split(' ').map(str::to_owned).collect();
    let subject = Subject { inputs: vec![path.to_owned()], entries, ..Subject::default() };
    statics(&subject, &StaticRequest::default(), &NEVER).expect("it compiles").0.outcome
}

fn with_a_client(path: &Path) -> Outcome {
    let subject =
        Subject { inputs: vec![path.to_owned()], cflags: vec!["-DCLIENT".to_owned()], ..Subject::default() };
    let search =
        Search { engines: Engines::Explore, time: Some(Duration::from_secs(60)), ..Search::default() };
    check(&subject, &search, Control { interrupt: &NEVER, progress: None }).expect("it compiles").outcome
}

#[test]
fn clients_pass_what_they_may() {
    let only = std::env::var("RADDLE_FIXTURE").unwrap_or_default();
    let mut complaints = Vec::new();
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")).expect("readable") {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let fixture = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let ran = compare(&fixture, &with_a_client(&path), Completeness::Exact);
        complaints.extend(ran.into_iter().map(|line| format!("{name}, with a client: {line}")));
        let outcome = of_clients(&path, &text);
        // That proofs about clients are not accepted is no reason to miss a race.
        let judged = judge(&fixture, "static", &[(Coverage::Whole, outcome)]);
        complaints.extend(judged.complaints.into_iter().map(|line| format!("{name}: {line}")));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
