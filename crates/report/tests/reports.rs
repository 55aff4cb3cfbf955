//! Every form of every kind of outcome against a file in `tests/data`. `RADDLE_BLESS=1` writes the files anew.

use raddle_event::{LockMode, ProblemKind, Schedule};
use raddle_finding::{
    AccessReport, Assumption, Deadlocks, Evidence, Finding, FindingKind, Frame, LockReport, Outcome, Stats,
    ThreadReport, UnknownReason, Verdict,
};
use raddle_report::{Colour, Look, Sources, concise, full, json};
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
        },
        engine: "explore",
        rank: 1,
        detail: String::new(),
        assumptions: vec!["A-MALLOC", "A-THREAD"],
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
        stats: Stats { executions: 12, steps: 240, seconds: 0.1251, statics: None },
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
    race.evidence =
        Evidence::Replayed { schedule: Schedule::default(), file: Some("it's odd.sched".to_owned()) };
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
    bad.evidence = Evidence::Warning;
    bad.assumptions = vec![];
    let mut outcome = outcome(Verdict::Unknown, vec![bad]);
    outcome.deadlocks = Deadlocks::Unknown;
    outcome.unknown_reasons = vec![
        UnknownReason { place: "queue.c:14".to_owned(), text: "setjmp is not supported".to_owned() },
        UnknownReason { place: String::new(), text: "time limit of 10 s".to_owned() },
    ];
    outcome
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
        ("shared_locks", shared_locks()),
        ("deadlock", deadlock()),
        ("unknown", unknown()),
        ("safe", outcome(Verdict::Safe, vec![])),
    ];
    for (name, outcome) in &outcomes {
        let wide = full(outcome, &sources, &Look::default());
        check(&format!("{name}.full.txt"), &wide);
        check(&format!("{name}.concise.txt"), &concise(outcome));
        check(&format!("{name}.json"), &json(outcome));
        // Colours change nothing but colours.
        let coloured = full(outcome, &sources, &Look { colour: Colour::Ansi, ..Look::default() });
        assert_ne!(coloured, wide);
        assert_eq!(plain(&coloured), wide);
    }
    let narrow = full(&race(), &sources, &Look { width: 50, ..Look::default() });
    check("race.narrow.txt", &narrow);
    let unfoldable = |line: &str| line.contains("raddle replay") || !line.trim().contains(' ');
    assert!(narrow.lines().all(|line| line.chars().count() <= 50 || unfoldable(line)), "{narrow}");
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
