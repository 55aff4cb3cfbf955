//! The programs of `bench/programs`, small: verdicts and numbers of runs as their headers say.
//!
//! `//@ check: FLAGS VERDICT [PROBLEM…] [executions=N] [optimal=N] [stateful=N]`: with these flags the optimal and the stateful search see
//! everything, find a race or none, these other problems and no others, in so many runs (`executions` for both, and then no path of the
//! stateful search ends in a state that it knows).

use raddle_config::Config;
use raddle_explore::dpor::optimal;
use raddle_explore::enumerate::{Coverage, Exploration, Gap, Goal, Limits};
use raddle_explore::stateful::{Caching, stateful};
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_libmodel::Models;
use raddle_machine::Visibility;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Check {
    flags: Vec<String>,
    /// `race` or `safe`, then kinds of other problems.
    found: BTreeSet<String>,
    optimal: Option<u64>,
    stateful: Option<u64>,
    /// No path ends before its run does.
    to_the_end: bool,
}

fn parse(line: &str) -> Check {
    let mut check =
        Check { flags: Vec::new(), found: BTreeSet::new(), optimal: None, stateful: None, to_the_end: false };
    for word in line.split_whitespace() {
        match word.split_once('=').filter(|_| !word.starts_with('-')) {
            None if word.starts_with('-') => check.flags.push(word.to_owned()),
            None => drop(check.found.insert(word.to_owned())),
            Some((name, count)) => {
                let count = Some(count.parse().expect("a number of runs"));
                if matches!(name, "executions" | "optimal") {
                    check.optimal = count;
                }
                if matches!(name, "executions" | "stateful") {
                    check.stateful = count;
                }
                check.to_the_end |= name == "executions";
                assert!(matches!(name, "executions" | "optimal" | "stateful"), "{word} is not known");
            }
        }
    }
    check
}

fn load(file: &Path, flags: &[String]) -> Interp {
    let request = Request {
        inputs: vec![file.to_owned()],
        cflags: flags.to_vec(),
        data_model: None,
        ..Request::default()
    };
    let program = raddle_frontend::load(&request).expect("the programs are valid C").program;
    let models = Models::resolve(&program, &Config::default());
    Interp::new(Arc::new(program), Arc::new(models), Options::default()).expect("the programs have a main")
}

fn disagreement(search: &str, seen: &Exploration, check: &Check, runs: Option<u64>) -> Option<String> {
    let mut found: BTreeSet<String> =
        seen.problems.iter().map(|found| found.problems[0].kind.name().to_owned()).collect();
    found.insert(if seen.races.is_empty() { "safe" } else { "race" }.to_owned());
    let count = seen.runs.executions;
    // An error that the header names ends its executions: what would come after it is not seen.
    let expected = |gap: &Gap| matches!(gap, Gap::CutShort { kind, .. } if check.found.contains(kind));
    if seen.coverage != Coverage::Complete && !seen.unknown_reasons.iter().all(expected) {
        Some(format!("{search}: {:?}", seen.unknown_reasons))
    } else if found != check.found {
        Some(format!("{search}: found {found:?}"))
    } else if runs.is_some_and(|runs| runs != count) {
        Some(format!("{search}: {count} runs"))
    } else {
        None
    }
}

#[test]
fn programs_do_as_their_headers_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/programs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("there is a folder of programs")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    let (mut wrong, mut checks) = (Vec::new(), 0);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        for line in text.lines().filter_map(|line| line.strip_prefix("//@ check:")) {
            checks += 1;
            let check = parse(line);
            let limits = Limits { goal: Goal::AllRaces, executions: 20_000, ..Limits::default() };
            let began = std::time::Instant::now();
            let mut machine = load(&file, &check.flags);
            let best = optimal(&mut machine, &limits, Visibility::SyncOnly).exploration;
            let middle = std::time::Instant::now();
            let cached = stateful(&mut machine, &limits, Visibility::SyncOnly, Caching::On);
            println!(
                "{}{line}: optimal {} in {:?}; stateful {}, {} states, {} covered, {} steps in {:?}",
                file.file_name().expect("it is a file").to_string_lossy(),
                best.runs.executions,
                middle - began,
                cached.exploration.runs.executions,
                cached.states,
                cached.covered,
                cached.exploration.steps,
                middle.elapsed()
            );
            let both = [
                disagreement("optimal", &best, &check, check.optimal),
                disagreement("stateful", &cached.exploration, &check, check.stateful),
            ];
            if check.to_the_end && cached.covered > 0 {
                wrong.push(format!("{}{line}: {} states met again", file.display(), cached.covered));
            }
            wrong.extend(both.into_iter().flatten().map(|what| format!("{}{line}: {what}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checks > 20, "only {checks} checks were found");
}
