//! Programs behave with checks as they do without: output and exit status are those of clang's own program.

mod harness;

use std::process::Command;

use harness::{LOG_HOOKS, Language, Workshop, execute};
use raddle_instrument::Reduce;

#[test]
fn programs_behave_as_without_checks() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let mut seen = 0;
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("programs").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a program");
        let language = if path.extension().is_some_and(|e| e == "cc") { Language::Cxx } else { Language::C };
        let workshop = Workshop::new();
        let plain = workshop.path("plain");
        let compiler = if language == Language::Cxx { "clang++-19" } else { "clang-19" };
        let status = Command::new(compiler)
            .args(["-O2", "-w", "-pthread", "-o"])
            .args([&plain, &path])
            .args(["-lm"])
            .status()
            .expect("clang runs");
        assert!(status.success());
        let wanted = execute(&plain);
        assert!(wanted.status.success(), "{}: {}", path.display(), wanted.status);
        let unit = workshop.unit("program", &text, language);
        for (name, reduce) in [("all", Reduce::Nothing), ("reduced", Reduce::All)] {
            let built = workshop.instrument(std::slice::from_ref(&unit), reduce);
            let program = workshop.link(name, &built.object, LOG_HOOKS, language);
            let found = execute(&program);
            let (found_text, wanted_text) = (lossy(&found.stdout), lossy(&wanted.stdout));
            assert_eq!(found_text, wanted_text, "{} with {name} checks", path.display());
            assert_eq!(found.status, wanted.status, "{} with {name} checks", path.display());
        }
        seen += 1;
    }
    assert!(seen >= 2);
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
