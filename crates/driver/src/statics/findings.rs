//! Warnings of the static analysis as findings.

use raddle_event::{LockMode as ReportedMode, ProblemKind};
use raddle_facts::{LockMode, ThreadId};
use raddle_finding::{AccessReport, Evidence, Finding, FindingKind, LockReport, ThreadReport};
use raddle_ir::Program;
use raddle_lockset::deadlock::Candidate;
use raddle_lockset::{Analysis, Explainer, LockNames, Warning};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

/// Warnings that are told in full; the others are counted.
const LISTED: usize = 1_000;

/// Two threads in which a pair may race.
type Racing = Option<(ThreadId, ThreadId)>;

/// The most telling warnings.
pub(crate) fn findings(program: &Program, analysis: &Analysis) -> Vec<Finding> {
    let names = analysis.lock_names();
    let mut explainer = Explainer::new(analysis);
    let told: Vec<(&Warning, Racing)> = analysis
        .warnings
        .iter()
        .take(LISTED)
        .map(|warning| (warning, explainer.racing_threads(warning.contexts[0].0, warning.contexts[0].1)))
        .collect();
    let finding = |(index, (warning, threads)): (usize, (&Warning, Racing))| {
        let (first, second) = warning.contexts[0];
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
            protection: None,
        }
    };
    told.into_par_iter().enumerate().map(finding).collect()
}

/// Cycles of locks, after the warnings of races: one access per thread that waits for a lock.
pub(crate) fn deadlocks(program: &Program, analysis: &Analysis, after: usize) -> Vec<Finding> {
    let names = analysis.lock_names();
    let lock = |term, mode| LockReport {
        name: analysis.lock_name(&names, term),
        mode: reported(mode),
        acquired: Vec::new(),
    };
    let finding = |(index, candidate): (usize, &Candidate)| {
        let waits = candidate.edges.iter().map(|edge| AccessReport {
            at: Analysis::frame(program, analysis.expanded.site_origin[edge.site]),
            thread: thread(program, analysis, Some(edge.thread)),
            action: "lock".to_owned(),
            atomic: false,
            expression: analysis.lock_name(&names, edge.acquired_term),
            locks: vec![lock(edge.held_term, edge.held_mode)],
            stack: Vec::new(),
        });
        let mut accesses: Vec<AccessReport> = waits.collect();
        tell_apart(&mut accesses);
        Finding {
            id: id(after + index),
            kind: FindingKind::Problem(ProblemKind::Deadlock),
            variable: String::new(),
            accesses,
            evidence: Evidence::Warning { contexts: 1, covered_by: None },
            engine: "static",
            rank: (after + index) as u32 + 1,
            detail: "each waits for a lock that the next one holds".to_owned(),
            assumptions: Vec::new(),
            protection: None,
        }
    };
    analysis.deadlocks.found.iter().enumerate().map(finding).collect()
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
    AccessReport {
        at: frame(analysis.expanded.site_origin[access.site]),
        thread: self::thread(program, analysis, thread),
        action: Analysis::action(access).to_owned(),
        atomic: access.atomic.is_some(),
        expression: analysis.expression(access),
        locks: analysis
            .held(index)
            .map(|held| LockReport {
                name: analysis.lock_name(names, held.lock),
                mode: reported(held.mode),
                acquired: Vec::new(),
            })
            .collect(),
        stack: analysis.callers(access).into_iter().map(frame).collect(),
    }
}

fn thread(program: &Program, analysis: &Analysis, thread: Option<ThreadId>) -> ThreadReport {
    match thread {
        Some(thread) => {
            let (name, created) = analysis.thread(thread);
            let created = created.map(|site| Analysis::frame(program, site)).into_iter().collect();
            ThreadReport { name, created }
        }
        None => ThreadReport { name: "a thread".to_owned(), created: Vec::new() },
    }
}

fn reported(mode: LockMode) -> ReportedMode {
    match mode {
        LockMode::Exclusive => ReportedMode::Exclusive,
        LockMode::Shared => ReportedMode::Shared,
    }
}
