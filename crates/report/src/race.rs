//! Sentences about one finding, shared by the forms.

use raddle_event::{LockMode, ProblemKind};
use raddle_finding::{AccessReport, Finding, FindingKind, Frame, LockReport};

/// `data race on counter: write in T1 (worker), read in T2 (worker)`
pub(crate) fn title(finding: &Finding) -> String {
    match finding.kind {
        FindingKind::DataRace => {
            let ends: Vec<String> =
                finding.accesses.iter().map(|a| format!("{} in {}", a.action, a.thread.name)).collect();
            format!("{} on {}: {}", race_words(finding), variable(finding), ends.join(", "))
        }
        FindingKind::Problem(kind) => {
            let threads: Vec<&str> = finding.accesses.iter().map(|a| a.thread.name.as_str()).collect();
            let about =
                if finding.variable.is_empty() { String::new() } else { format!(" of {}", finding.variable) };
            format!("{}{about}: {}", problem_words(finding, kind), threads.join(", "))
        }
    }
}

/// What was not seen is not called a race.
pub(crate) fn race_words(finding: &Finding) -> &'static str {
    if finding.evidence.is_certain() { "data race" } else { "possible data race" }
}

pub(crate) fn variable(finding: &Finding) -> &str {
    if finding.variable.is_empty() { "memory without a name" } else { &finding.variable }
}

pub(crate) fn problem_words(finding: &Finding, kind: ProblemKind) -> String {
    let possible = if finding.evidence.is_certain() { "" } else { "possible " };
    format!("{possible}{}", words(kind))
}

pub(crate) fn words(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Deadlock => "deadlock",
        ProblemKind::Livelock => "livelock",
        ProblemKind::AssertionFailure => "failed assertion",
        ProblemKind::Abort => "abort",
        ProblemKind::UseAfterFree => "use after free",
        ProblemKind::DoubleFree => "double free",
        ProblemKind::InvalidFree => "invalid free",
        ProblemKind::OutOfBounds => "access out of bounds",
        ProblemKind::NullDereference => "null pointer dereference",
        ProblemKind::InvalidPointer => "access through an invalid pointer",
        ProblemKind::UninitialisedLock => "use of an uninitialised lock",
        ProblemKind::UnlockNotHeld => "unlock of a lock that is not held",
        ProblemKind::DestroyedLockUse => "use of a destroyed lock",
        ProblemKind::DestroyLocked => "destruction of a locked lock",
        ProblemKind::LockHeldAtExit => "thread ends with a lock held",
        ProblemKind::InvalidJoin => "invalid join",
        ProblemKind::DivisionByZero => "division by zero",
        ProblemKind::StackOverflow => "stack overflow",
        ProblemKind::Unreachable => "code marked as unreachable is reached",
        ProblemKind::InvalidArgument => "invalid argument",
    }
}

/// `read of counter`, `atomic write of flag`, `lock of m`
pub(crate) fn action(access: &AccessReport) -> String {
    let atomic = if access.atomic { "atomic " } else { "" };
    let action = if access.action.is_empty() { "here" } else { &access.action };
    match access.expression.as_str() {
        "" => format!("{atomic}{action}"),
        expression => format!("{atomic}{action} of {expression}"),
    }
}

/// `no lock held`, `holding {a, b (shared)}`
pub(crate) fn holding(access: &AccessReport) -> String {
    match access.locks.as_slice() {
        [] => "no lock held".to_owned(),
        locks => format!("holding {}", lock_set(locks)),
    }
}

pub(crate) fn lock_set(locks: &[LockReport]) -> String {
    let names: Vec<String> = locks
        .iter()
        .map(|lock| match lock.mode {
            LockMode::Exclusive => lock.name.clone(),
            LockMode::Shared => format!("{} (shared)", lock.name),
        })
        .collect();
    format!("{{{}}}", names.join(", "))
}

/// Why nothing orders the two accesses of a race.
pub(crate) fn missing_order(a: &AccessReport, b: &AccessReport) -> String {
    let (x, y) = (&a.locks, &b.locks);
    let same: Vec<(&LockReport, &LockReport)> = x
        .iter()
        .flat_map(|lock| y.iter().map(move |other| (lock, other)))
        .filter(|(l, o)| l.name == o.name)
        .collect();
    let locks = if same.iter().any(|(l, o)| l.mode == LockMode::Shared && o.mode == LockMode::Shared) {
        format!("both sides hold a lock in shared mode only: {} against {}", lock_set(x), lock_set(y))
    } else if !same.is_empty() {
        format!("no lock in common: {} against {}, different locks of one name", lock_set(x), lock_set(y))
    } else {
        format!("no lock in common: {} against {}", lock_set(x), lock_set(y))
    };
    if a.atomic != b.atomic { format!("{locks}; only one of the two is atomic") } else { locks }
}

/// `q.c:12:5`
pub(crate) fn place(frame: &Frame) -> String {
    match (frame.file.as_str(), frame.line, frame.column) {
        ("", ..) | (_, 0, _) if frame.function.is_empty() => "an unknown place".to_owned(),
        ("", ..) | (_, 0, _) => format!("an unknown place in {}", frame.function),
        (file, line, 0) => format!("{file}:{line}"),
        (file, line, column) => format!("{file}:{line}:{column}"),
    }
}
