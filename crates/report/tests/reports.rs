//! Every form of every kind of outcome against a file in `tests/data`. `RADDLE_BLESS=1` writes the files anew.

use raddle_event::{LockMode, ProblemKind, Schedule};
use raddle_finding::{
    AccessReport, Assumption, CertificateFile, Deadlocks, Evidence, ExplainedAccess, ExplainedLock,
    Explanation, Finding, FindingKind, Frame, LockReport, OrderBy, OrderedAfter, OtherAccess, Outcome,
    PairStanding, Passage, ProtectedAccess, Protection, Proved, Reach, RunningThread, StaticCounts, Stats,
    ThreadReport, UnknownReason, Verdict, Why,
};
use raddle_report::{Colour, Look, Sources, concise, explain, full, json, sarif};
use std::path::Path;

const SOURCE: &str = "tests/data/queue.c";

struct Queue(String);

impl Sources for Queue {
    fn line(&self, file: &str, line: u32) -> Option<String> {
        (file == "queue.c").then(|| self.0.lines().nth(line as usize - 1).map(str::to_owned)).flatten()
    }
}

fn frame(line: u32, column: u32, function: &str) -> Frame {
    Frame { file: "queue.c".to_owned(), line, column, function: function.to_owned() }
}

fn thread(name: &str, created: u32) -> ThreadReport {
    let created = if created == 0 { vec![] } else { vec![frame(created, 5, "main")] };
    ThreadReport { name: name.to_owned(), created }
}

fn lock(name: &str, mode: LockMode, line: u32) -> LockReport {
    LockReport { name: name.to_owned(), mode, acquired: vec![frame(line, 5, "put")] }
}

fn access(action: &str, at: Frame, thread: ThreadReport, locks: Vec<LockReport>) -> AccessReport {
    AccessReport {
        at,
        thread,
        action: action.to_owned(),
        atomic: false,
        expression: "q->count".to_owned(),
        locks,
        stack: vec![frame(24, 5, "worker")],
    }
}

fn finding(kind: FindingKind, variable: &str, accesses: Vec<AccessReport>) -> Finding {
    Finding {
        id: "f1".to_owned(),
        kind,
        variable: variable.to_owned(),
        accesses,
        evidence: Evidence::Replayed {
            schedule: Schedule::default(),
            file: Some("raddle-witness/queue-0123abcd-f1.sched".to_owned()),
            natively: None,
        },
        engine: "explore",
        rank: 1,
        detail: String::new(),
        assumptions: vec!["A-MALLOC", "A-THREAD"],
        protection: None,
    }
}

fn outcome(verdict: Verdict, findings: Vec<Finding>) -> Outcome {
    Outcome {
        verdict,
        deadlocks: Deadlocks::None,
        findings,
        proved: vec![],
        assumptions: vec![Assumption::named("A-MALLOC"), Assumption::named("A-THREAD")],
        deadlock_assumptions: vec![],
        unknown_reasons: vec![],
        stats: Stats { executions: 12, steps: 240, seconds: 0.1251, ..Stats::default() },
    }
}

fn race() -> Outcome {
    let put = access(
        "write",
        frame(13, 14, "put"),
        thread("T1 (worker)", 31),
        vec![lock("q->m", LockMode::Exclusive, 12), lock("table", LockMode::Shared, 11)],
    );
    let mut get = access("read", frame(19, 16, "size"), thread("T0 (main)", 0), vec![]);
    get.stack = vec![frame(33, 12, "main")];
    let mut race = finding(FindingKind::DataRace, "q->count", vec![put, get]);
    race.detail = "malloc(48), 48 bytes, allocated by T0 (main) at queue.c:30".to_owned();
    outcome(Verdict::Race, vec![race])
}

/// A race with the story of what protected the variable.
fn protected() -> Outcome {
    let mut outcome = race();
    let finding = &mut outcome.findings[0];
    finding.evidence = Evidence::Observed;
    let access = |line, action: &str, thread: &str, holding: &[&str]| ProtectedAccess {
        at: frame(line, 14, "put"),
        action: action.to_owned(),
        thread: thread.to_owned(),
        holding: holding.iter().map(|name| (*name).to_owned()).collect(),
        ordered_by: vec![],
        after: None,
        times: 1,
    };
    let after = |line, thread: &str| {
        let at = frame(line, 14, "put");
        Some(OrderedAfter { at, action: "write".to_owned(), thread: thread.to_owned() })
    };
    finding.protection = Some(Protection {
        accesses: vec![
            ProtectedAccess { times: 3, ..access(13, "write", "T1 (worker)", &["q->m"]) },
            ProtectedAccess {
                ordered_by: vec!["q->m".to_owned()],
                after: after(13, "T1 (worker)"),
                ..access(13, "write", "T2 (worker)", &["q->m"])
            },
            ProtectedAccess { after: after(13, "T2 (worker)"), ..access(19, "read", "T0 (main)", &[]) },
        ],
        passages: vec![Passage {
            at: frame(24, 5, "worker"),
            thread: "T2 (worker)".to_owned(),
            action: "create".to_owned(),
            reaches: vec!["T3 (worker)".to_owned()],
        }],
        reached: vec!["T2 (worker)".to_owned(), "T3 (worker)".to_owned(), "q->m".to_owned()],
    });
    outcome
}

/// Threads and locks of C++: what lies in system headers is not what the programmer looks for.
fn headers() -> Outcome {
    let header = |line, function: &str| Frame {
        file: "/usr/include/c++/12/bits/std_thread.h".to_owned(),
        ..frame(line, 2, function)
    };
    let mut outcome = race();
    let [put, get] = outcome.findings[0].accesses.as_mut_slice() else { panic!("two accesses") };
    put.thread.created.insert(0, header(142, "thread<void (&)()>"));
    put.locks[0].acquired.insert(0, header(749, "lock"));
    put.stack.extend([header(61, "invoke"), header(259, "operator()"), header(210, "_M_run")]);
    get.stack.push(header(210, "_M_run"));
    outcome
}

fn shared_locks() -> Outcome {
    let side = |name: &str, line| {
        let mut side = access(
            "write",
            frame(13, 14, "put"),
            thread(name, line),
            vec![lock("table", LockMode::Shared, 11)],
        );
        side.atomic = line == 31;
        side
    };
    let mut race = finding(FindingKind::DataRace, "", vec![side("T1 (worker)", 31), side("T2 (worker)", 32)]);
    race.evidence = Evidence::Replayed {
        schedule: Schedule::default(),
        file: Some("it's odd.sched".to_owned()),
        natively: None,
    };
    outcome(Verdict::Race, vec![race])
}

fn deadlock() -> Outcome {
    let side = |name: &str, line, holds: &str, wants: &str| {
        let mut side = access(
            "lock",
            frame(12, 5, "put"),
            thread(name, line),
            vec![lock(holds, LockMode::Exclusive, 11)],
        );
        side.expression = wants.to_owned();
        side
    };
    let threads = vec![side("T1 (worker)", 31, "a", "b"), side("T2 (worker)", 32, "b", "a")];
    let mut outcome =
        outcome(Verdict::Safe, vec![finding(FindingKind::Problem(ProblemKind::Deadlock), "", threads)]);
    outcome.deadlocks = Deadlocks::Found;
    outcome
}

fn unknown() -> Outcome {
    let mut free = access("free", frame(26, 5, "worker"), thread("T1 (worker)", 31), vec![]);
    free.expression = String::new();
    free.stack = vec![];
    let mut bad = finding(FindingKind::Problem(ProblemKind::DoubleFree), "q", vec![free]);
    bad.detail = "freed before by T0 (main)".to_owned();
    bad.evidence = Evidence::Warning { contexts: 1, covered_by: None };
    bad.assumptions = vec![];
    let mut outcome = outcome(Verdict::Unknown, vec![bad]);
    outcome.deadlocks = Deadlocks::Unknown;
    outcome.unknown_reasons = vec![
        UnknownReason { place: "queue.c:14".to_owned(), text: "setjmp is not supported".to_owned() },
        UnknownReason { place: String::new(), text: "time limit of 10 s".to_owned() },
    ];
    outcome
}

fn warnings() -> Outcome {
    let warning = |id: &str, line, contexts, covered_by: Option<&str>| {
        let put = access(
            "write",
            frame(13, 14, "put"),
            thread("worker", 31),
            vec![lock("q->m", LockMode::Exclusive, 0)],
        );
        let get = access("read", frame(line, 16, "size"), thread("another worker", 31), vec![]);
        let mut warning = finding(FindingKind::DataRace, "q->count", vec![put, get]);
        warning.id = id.to_owned();
        warning.engine = "static";
        warning.evidence = Evidence::Warning { contexts, covered_by: covered_by.map(str::to_owned) };
        warning.assumptions = vec![];
        for access in &mut warning.accesses {
            access.locks.iter_mut().for_each(|lock| lock.acquired.clear());
        }
        warning
    };
    let mut outcome =
        outcome(Verdict::Unknown, vec![warning("f1", 19, 1, None), warning("f2", 20, 2, Some("f1"))]);
    outcome.deadlocks = Deadlocks::Unknown;
    outcome.unknown_reasons = vec![UnknownReason {
        place: String::new(),
        text: "2 pairs of accesses could not be ruled out statically".to_owned(),
    }];
    outcome.proved = vec![Proved {
        variable: "q->items[...]".to_owned(),
        by: "static",
        certificate: CertificateFile::Unwritten,
    }];
    outcome.stats = static_stats(false);
    outcome
}

fn static_stats(single_threaded: bool) -> Stats {
    let statics = StaticCounts {
        shared_variables: 2,
        pairs: 9,
        warnings: 3,
        after_reduction: 2,
        after_contexts: 2,
        single_threaded,
    };
    Stats { seconds: 0.25, statics: Some(statics), ..Stats::default() }
}

fn proved() -> Outcome {
    let mut outcome = outcome(Verdict::Safe, vec![]);
    let certificate = "raddle-witness/queue-0123abcd.cert".to_owned();
    outcome.proved = vec![Proved {
        variable: String::new(),
        by: "static",
        certificate: CertificateFile::Written(certificate),
    }];
    outcome.deadlock_assumptions = vec![Assumption::named("A-INPUT")];
    outcome
}

/// No execution came to an access that is warned of, because of the input.
fn this_input() -> Outcome {
    let Outcome { mut findings, .. } = warnings();
    findings.truncate(1);
    let mut outcome = outcome(Verdict::Safe, findings);
    outcome.assumptions = ["A-BOUNDS", "A-INPUT", "A-THREAD"].map(Assumption::named).to_vec();
    outcome.unknown_reasons = vec![UnknownReason {
        place: "queue.c:13".to_owned(),
        text: "the access to q->count was not reached: no thread was started; the branch at queue.c:29 always went \
               another way"
            .to_owned(),
    }];
    outcome
}

fn no_threads() -> Outcome {
    let mut outcome = outcome(Verdict::Safe, vec![]);
    outcome.deadlocks = Deadlocks::Unknown;
    outcome.stats = static_stats(true);
    outcome
}

fn explanation() -> Explanation {
    let other = |line, action: &str, threads: &[&str], standing| OtherAccess {
        at: frame(line, 16, "size"),
        action: action.to_owned(),
        atomic: false,
        expression: "q->count".to_owned(),
        threads: threads.iter().map(|name| (*name).to_owned()).collect(),
        standing,
    };
    let by =
        |by: OrderBy, this_is_earlier| PairStanding::RuledOut(vec![Why::Ordered { by, this_is_earlier }]);
    let name = || "q->ready".to_owned();
    let thread_name = || "worker".to_owned();
    let lock = |name: &str, shared, conditional, since: &[&str]| ExplainedLock {
        name: name.to_owned(),
        shared,
        conditional,
        since: since.iter().map(|name| (*name).to_owned()).collect(),
    };
    let mut access = ExplainedAccess {
        at: frame(13, 14, "put"),
        action: "write".to_owned(),
        atomic: false,
        expression: "q->count".to_owned(),
        contexts: 2,
        objects: vec!["queue".to_owned(), "the block of line 30".to_owned()],
        reach: Reach::Shared,
        threads: vec![
            RunningThread { thread: thread("main", 0), many: false },
            RunningThread { thread: thread("worker", 31), many: true },
        ],
        locks: vec![lock("q->m", false, false, &["a", "b"]), lock("table", true, true, &[])],
        after: vec![OrderBy::End { thread: "loader".to_owned() }],
        others: vec![
            other(19, "read", &["main", "worker"], PairStanding::MayRace),
            other(20, "read", &["main"], by(OrderBy::Creation { thread: thread_name() }, false)),
            other(21, "read", &["main"], by(OrderBy::End { thread: thread_name() }, true)),
            other(22, "read", &["main"], by(OrderBy::Semaphore { name: name() }, true)),
            other(23, "read", &["main"], by(OrderBy::Flag { name: name() }, false)),
            other(
                24,
                "read",
                &["main"],
                by(OrderBy::LockedFlag { name: name(), lock: "q->m".to_owned() }, true),
            ),
            other(
                25,
                "free",
                &["worker"],
                PairStanding::RuledOut(vec![
                    Why::Rounds { barrier: "phase".to_owned() },
                    Why::CommonLock { name: "q->m".to_owned() },
                    Why::Histories { held_here: "a".to_owned(), held_there: "b".to_owned() },
                    Why::OwnCell,
                    Why::Unpublished { this_is_earlier: true },
                    Why::Unpublished { this_is_earlier: false },
                ]),
            ),
            other(
                13,
                "write",
                &["worker"],
                PairStanding::RuledOut(vec![Why::SameThread { thread: thread_name() }]),
            ),
        ],
        more: 3,
    };
    let shared = access.clone();
    access.reach = Reach::Private;
    access.others = vec![];
    access.locks = vec![];
    access.after = vec![];
    access.more = 0;
    Explanation { file: "queue.c".to_owned(), line: 13, accesses: vec![shared, access], nearby: vec![] }
}

fn check(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    if std::env::var_os("RADDLE_BLESS").is_some() {
        std::fs::write(&path, got).expect("the data folder is writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == expected, "{name} differs; got:\n{got}\nexpected:\n{expected}");
}

#[test]
fn all_forms() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCE);
    let sources = Queue(std::fs::read_to_string(source).expect("the sample source"));
    let outcomes = [
        ("race", race()),
        ("protected", protected()),
        ("headers", headers()),
        ("shared_locks", shared_locks()),
        ("deadlock", deadlock()),
        ("unknown", unknown()),
        ("safe", outcome(Verdict::Safe, vec![])),
        ("warnings", warnings()),
        ("proved", proved()),
        ("no_threads", no_threads()),
        ("this_input", this_input()),
    ];
    for (name, outcome) in &outcomes {
        let wide = full(outcome, &sources, &Look::default());
        check(&format!("{name}.full.txt"), &wide);
        check(&format!("{name}.concise.txt"), &concise(outcome));
        check(&format!("{name}.json"), &json(outcome));
        check(&format!("{name}.sarif"), &sarif(outcome));
        // Colours change nothing but colours.
        let coloured = full(outcome, &sources, &Look { colour: Colour::Ansi, ..Look::default() });
        assert_ne!(coloured, wide);
        assert_eq!(plain(&coloured), wide);
    }
    for (name, outcome) in [("race", race()), ("this_input", this_input())] {
        let narrow = full(&outcome, &sources, &Look { width: 50, ..Look::default() });
        check(&format!("{name}.narrow.txt"), &narrow);
        let unfoldable = |line: &str| line.contains("raddle replay") || !line.trim().contains(' ');
        assert!(narrow.lines().all(|line| line.chars().count() <= 50 || unfoldable(line)), "{narrow}");
    }
}

#[test]
fn explanations() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCE);
    let sources = Queue(std::fs::read_to_string(source).expect("the sample source"));
    check("explanation.txt", &explain(&explanation(), &sources, &Look::default()));
    let narrow = explain(&explanation(), &sources, &Look { width: 50, ..Look::default() });
    assert!(narrow.lines().all(|line| line.chars().count() <= 50), "{narrow}");
    let nothing = |nearby: Vec<u32>| {
        let nothing = Explanation { file: "queue.c".to_owned(), line: 1, accesses: vec![], nearby };
        explain(&nothing, &sources, &Look::default())
    };
    assert_eq!(
        nothing(vec![12, 13]),
        "queue.c:1 touches no memory that threads could share; the nearest that do: 12, 13\n"
    );
    assert_eq!(
        nothing(vec![]),
        "queue.c:1 touches no memory that threads could share; nor does any other line of the file\n"
    );
}

fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut pieces = text.split('\x1b');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        out.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
    }
    out
}
