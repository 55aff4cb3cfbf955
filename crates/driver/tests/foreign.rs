//! Functions without body or model: what each engine answers, and on which assumptions. The programs are in `foreign/`; their first lines say
//! what is expected.

use raddle_driver::{
    Control, Engines, External, Outcome, Search, StaticRequest, Subject, Verdict, check, statics,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign");
    let entries = std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> = entries.collect();
    files.sort();
    files
}

fn answer(subject: &Subject, engine: &str) -> Outcome {
    let search = |engines| {
        let search = Search { engines, time: Some(Duration::from_secs(60)), ..Search::default() };
        let control = Control { interrupt: &NEVER, progress: None };
        check(subject, &search, control).expect("it compiles").outcome
    };
    match engine {
        "static" => statics(subject, &StaticRequest::default(), &NEVER).expect("it compiles").0.outcome,
        "explore" => search(Engines::Explore),
        "check" => search(Engines::All),
        other => panic!("no engine {other}"),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Race => "race",
        Verdict::Safe => "safe",
        Verdict::Unknown => "unknown",
    }
}

/// `//@ static: safe A-EXTERN`: the verdict, and all assumptions on functions without body or model that it names.
fn expected(text: &str) -> Vec<(String, String, BTreeSet<String>)> {
    text.lines()
        .filter_map(|line| line.strip_prefix("//@ "))
        .map(|line| {
            let (engine, rest) = line.split_once(": ").expect("engine: verdict");
            let mut words = rest.split(' ').map(str::to_owned);
            (engine.to_owned(), words.next().expect("a verdict"), words.collect())
        })
        .collect()
}

#[test]
fn answers_are_those_expected() {
    let mut complaints = Vec::new();
    for path in programs() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let subject = Subject { inputs: vec![path.clone()], ..Subject::default() };
        for (engine, verdict, assumptions) in expected(&text) {
            let outcome = answer(&subject, &engine);
            let used: BTreeSet<String> = outcome
                .assumptions
                .iter()
                .map(|assumption| assumption.id.to_owned())
                .filter(|id| id.starts_with("A-EXT"))
                .collect();
            let differs = word(outcome.verdict) != verdict || !assumptions.is_empty() && used != assumptions;
            if differs {
                complaints.push(format!(
                    "{}: {engine}: {} {used:?}, not {verdict} {assumptions:?}: {:?}",
                    path.display(),
                    word(outcome.verdict),
                    outcome.unknown_reasons
                ));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// On request they do nothing, whatever they are given.
#[test]
fn pure_functions_do_nothing() {
    for name in ["handle_kept_twin.c", "given_under_lock_twin.c", "semaphore_given.c"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name);
        let subject = Subject { inputs: vec![path], external: Some(External::Pure), ..Subject::default() };
        let outcome = answer(&subject, "static");
        assert_eq!(word(outcome.verdict), "safe", "{name}: {:?}", outcome.unknown_reasons);
        assert!(outcome.assumptions.iter().any(|assumption| assumption.id == "A-EXTERN"), "{name}");
    }
}
