//! No fixture that races is accepted, whatever the invariants say. `RADDLE_FIXTURE=part-of-a-path` looks at some fixtures.

use crate::subject::Subject;
use raddle_config::Config;
use raddle_frontend::{Request, load};
use raddle_libmodel::Models;
use raddle_testkit::fixtures::{DataModels, Truth, files, parse};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Invariants for all places but those where threads start.
const CLAIMS: &[&str] = &["true", "false", "(= tid (_ bv1 64))"];

#[test]
fn racy_fixtures_are_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let only = std::env::var("RADDLE_FIXTURE").unwrap_or_default();
    let files: Vec<PathBuf> = files(&root)
        .expect("tests/fixtures is readable")
        .into_iter()
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    let (next, counts) = (AtomicUsize::new(0), Mutex::new((0, 0, 0)));
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
            let text = std::fs::read_to_string(path).expect("a fixture is readable");
            let fixture = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            if fixture.data_models == DataModels::Ilp32 || fixture.config.is_some() {
                continue;
            }
            let request =
                Request { inputs: vec![path.clone()], cflags: fixture.cflags.clone(), ..Request::default() };
            let program = load(&request).unwrap_or_else(|error| panic!("{name}: {error}")).program;
            let models = Models::resolve(&program, &Config::default());
            let Ok(subject) = Subject::with(program, models, &[]) else { continue };
            let mut accepted = false;
            for claim in CLAIMS {
                let mut proof = subject.proof.clone();
                for (location, formula) in &mut proof.locations {
                    if !subject.is_start(location) {
                        *formula = (*claim).to_owned();
                    }
                }
                let verdict = subject.check_proof(&proof);
                if only.is_empty() {
                    assert!(
                        verdict.is_err() || fixture.truth != Truth::Race,
                        "{name}: `{claim}` is accepted"
                    );
                } else {
                    println!("{name}: `{claim}`: {verdict:?}");
                }
                accepted |= verdict.is_ok();
            }
            let mut counts = counts.lock().expect("no panic");
            match (fixture.truth, accepted) {
                (Truth::Race, _) => counts.0 += 1,
                (_, true) => counts.1 += 1,
                (_, false) => counts.2 += 1,
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let (racy, accepted, others) = counts.into_inner().expect("no panic");
    println!("{racy} racy; of the others {accepted} accepted, {others} not");
    assert!(!only.is_empty() || racy >= 50 && accepted >= 50, "{racy} racy, {accepted} accepted");
}
