//! Warnings of the static analysis as findings.

use raddle_event::LockMode as ReportedMode;
use raddle_facts::{LockMode, ThreadId};
use raddle_finding::{AccessReport, Evidence, Finding, FindingKind, LockReport, ThreadReport};
use raddle_ir::Program;
use raddle_lockset::{Analysis, Explainer, LockNames, Warning};

/// Warnings that are told in full; the others are counted.
const LISTED: usize = 1_000;

/// The most telling warnings.
pub(crate) fn findings(program: &Program, analysis: &Analysis) -> Vec<Finding> {
    let names = analysis.lock_names();
    let mut explainer = Explainer::new(analysis);
    let finding = |(index, warning): (usize, &Warning)| {
        let (first, second) = warning.contexts[0];
        let threads = explainer.racing_threads(first, second);
        let mut accesses = vec![
            access(program, analysis, &names, first, threads.map(|pair| pair.0)),
            access(program, analysis, &names, second, threads.map(|pair| pair.1)),
        ];
        tell_apart(&mut accesses);
        Finding {
            id: id(index),
            kind: FindingKind::DataRace,
            variable: analysis.variable(first, second),
            accesses,
            evidence: Evidence::Warning {
                contexts: warning.contexts.len(),
                covered_by: warning.covered_by.filter(|other| *other < LISTED).map(id),
            },
            engine: "static",
            rank: warning.rank,
            detail: analysis.memory(first, second),
            assumptions: Vec::new(),
        }
    };
    analysis.warnings.iter().take(LISTED).enumerate().map(finding).collect()
}

/// Threads of one name, by where they are created; instances of one thread as one and another.
fn tell_apart(accesses: &mut [AccessReport]) {
    let [AccessReport { thread: a, .. }, AccessReport { thread: b, .. }] = accesses else { return };
    match (a.created.as_slice(), b.created.as_slice()) {
        _ if a.name != b.name => {}
        ([x, ..], [y, ..]) if x.line != y.line => {
            (a.name, b.name) =
                (format!("{} (line {})", a.name, x.line), format!("{} (line {})", b.name, y.line));
        }
        _ => b.name = format!("another {}", b.name.trim_start_matches("a ")),
    }
}

fn id(index: usize) -> String {
    format!("f{}", index + 1)
}

fn access(
    program: &Program,
    analysis: &Analysis,
    names: &LockNames,
    index: usize,
    thread: Option<ThreadId>,
) -> AccessReport {
    let access = &analysis.accesses[index];
    let frame = |site| Analysis::frame(program, site);
    let thread = match thread {
        Some(thread) => {
            let (name, created) = analysis.thread(thread);
            ThreadReport { name, created: created.map(frame).into_iter().collect() }
        }
        None => ThreadReport { name: "a thread".to_owned(), created: Vec::new() },
    };
    AccessReport {
        at: frame(analysis.expanded.site_origin[access.site]),
        thread,
        action: Analysis::action(access).to_owned(),
        atomic: access.atomic.is_some(),
        expression: analysis.expression(access),
        locks: analysis
            .held(index)
            .map(|held| LockReport {
                name: analysis.lock_name(names, held.lock),
                mode: match held.mode {
                    LockMode::Exclusive => ReportedMode::Exclusive,
                    LockMode::Shared => ReportedMode::Shared,
                },
                acquired: Vec::new(),
            })
            .collect(),
        stack: analysis.callers(access).into_iter().map(frame).collect(),
    }
}
