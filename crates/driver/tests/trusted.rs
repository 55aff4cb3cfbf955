//! What `certify` takes on trust: for every such clause a program where it matters, and the assumption that its answer names. The programs are
//! in `trusted/`; `//@ static: safe A-LOCK !A-SIGNAL` says the verdict, assumptions that are named and that are not.

use raddle_driver::{Control, Engines, Outcome, Search, StaticRequest, Subject, Verdict, check, statics};
use raddle_testkit::fixtures::files;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);

fn answer(path: &Path, engine: &str) -> Outcome {
    let subject = Subject { inputs: vec![path.to_owned()], ..Subject::default() };
    match engine {
        "static" => statics(&subject, &StaticRequest::default(), &NEVER).expect("it compiles").0.outcome,
        "explore" => {
            let time = Some(Duration::from_secs(60));
            let search = Search { engines: Engines::Explore, time, ..Search::default() };
            let control = Control { interrupt: &NEVER, progress: None };
            check(&subject, &search, control).expect("it compiles").outcome
        }
        other => panic!("no engine {other}"),
    }
}

#[test]
fn clauses_on_trust_are_named() {
    let mut complaints = Vec::new();
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trusted")).expect("readable") {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("readable");
        for line in text.lines().filter_map(|line| line.strip_prefix("//@ ")) {
            let (engine, rest) = line.split_once(": ").expect("engine: verdict");
            let mut words = rest.split(' ');
            let expected = match words.next() {
                Some("safe") => Verdict::Safe,
                Some("unknown") => Verdict::Unknown,
                other => panic!("{name}: {other:?} is no verdict"),
            };
            let outcome = answer(&path, engine);
            if outcome.verdict != expected {
                complaints.push(format!("{name}: {engine}: {:?}", outcome.verdict));
            }
            for word in words {
                let (id, wanted) = word.strip_prefix('!').map_or((word, true), |id| (id, false));
                if outcome.assumptions.iter().any(|assumption| assumption.id == id) != wanted {
                    complaints.push(format!("{name}: {engine}: {word} does not hold"));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
