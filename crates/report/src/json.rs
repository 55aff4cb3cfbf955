//! The JSON report: schema 1 of the design page, one object, keys in a fixed order.

use crate::names;
use crate::protection::{self, ProtectionJson};
use raddle_finding::{
    AccessReport, CertificateFile, Confirmation, Evidence, Finding, FindingKind, Frame, Natively, Outcome,
};
use serde::Serialize;

/// One object and a line end. `seconds` is the only value that differs between two runs on the same input.
pub fn json(outcome: &Outcome) -> String {
    let report = Report {
        schema: 1,
        verdict: names::verdict(outcome.verdict),
        scope: outcome.scope().map(names::scope),
        deadlocks: names::deadlocks(outcome.deadlocks),
        findings: outcome.findings.iter().map(finding).collect(),
        proved: outcome
            .proved
            .iter()
            .map(|p| {
                let (certificate, no_certificate) = match &p.certificate {
                    CertificateFile::Unwritten => ("", None),
                    CertificateFile::Written(file) => (file.as_str(), None),
                    CertificateFile::Missing(reason) => ("", Some(reason.as_str())),
                };
                ProvedJson { variable: &p.variable, by: p.by, certificate, no_certificate }
            })
            .collect(),
        assumptions: outcome.assumptions.iter().map(|a| a.id).collect(),
        deadlock_assumptions: outcome.deadlock_assumptions.iter().map(|a| a.id).collect(),
        unknown_reasons: outcome.unknown_reasons.iter().map(names::reason).collect(),
        stats: StatsJson {
            executions: outcome.stats.executions,
            seconds: rounded(outcome.stats.seconds),
            statics: outcome.stats.statics.map(|counts| StaticJson {
                shared_variables: counts.shared_variables,
                pairs: counts.pairs,
                warnings: counts.warnings,
                after_reduction: counts.after_reduction,
                after_contexts: counts.after_contexts,
                single_threaded: counts.single_threaded,
            }),
            search_seconds: (outcome.stats.search_seconds > 0.0)
                .then(|| rounded(outcome.stats.search_seconds)),
            explored: outcome.stats.explored.map(|thousandths| f64::from(thousandths) / 1000.0),
            prediction: outcome.stats.prediction.map(|counts| PredictionJson {
                captured: counts.captured,
                reduced: counts.reduced,
                sync: counts.sync,
                candidates: counts.candidates,
                replayed: counts.replayed,
                feasible: counts.feasible,
                explored: counts.explored,
                traces: counts.traces,
                rounds: counts.rounds,
            }),
            pruning: outcome.stats.pruning.map(|counts| PruningJson {
                threads: counts.threads,
                variables: counts.variables,
                accesses: counts.accesses,
                locks: counts.locks,
                checks: counts.checks,
                yes: counts.yes,
                skipped: counts.skipped,
            }),
        },
    };
    let mut text = serde_json::to_string_pretty(&report).expect("strings and numbers always serialise");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    verdict: &'static str,
    /// What `safe` covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    deadlocks: &'static str,
    findings: Vec<FindingJson<'a>>,
    proved: Vec<ProvedJson<'a>>,
    assumptions: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deadlock_assumptions: Vec<&'static str>,
    unknown_reasons: Vec<String>,
    stats: StatsJson,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    id: &'a str,
    kind: &'static str,
    variable: &'a str,
    evidence: &'static str,
    engine: &'static str,
    rank: u32,
    replay: String,
    /// How often the program itself did it, run under the schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    natively: Option<NativelyJson>,
    /// Of a prediction: how the reordering was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    /// Of a prediction that was not seen when replayed: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contexts: Option<usize>,
    accesses: Vec<AccessJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protection: Option<ProtectionJson<'a>>,
}

#[derive(Serialize)]
struct NativelyJson {
    reproduced: u32,
    runs: u32,
}

#[derive(Serialize)]
struct AccessJson<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
    thread: &'a str,
    kind: &'a str,
    atomic: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    expression: &'a str,
    locks: Vec<&'a str>,
    stack: Vec<FrameJson<'a>>,
}

#[derive(Serialize)]
struct FrameJson<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
}

#[derive(Serialize)]
struct ProvedJson<'a> {
    variable: &'a str,
    by: &'static str,
    certificate: &'a str,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_certificate: Option<&'a str>,
}

#[derive(Serialize)]
struct StatsJson {
    executions: u64,
    seconds: f64,
    #[serde(flatten)]
    statics: Option<StaticJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explored: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pruning: Option<PruningJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prediction: Option<PredictionJson>,
}

#[derive(Serialize)]
struct PredictionJson {
    captured: u64,
    reduced: u64,
    sync: u64,
    candidates: u64,
    replayed: u64,
    feasible: u64,
    explored: u64,
    traces: u64,
    rounds: u64,
}

#[derive(Serialize)]
struct PruningJson {
    threads: u64,
    variables: u64,
    accesses: u64,
    locks: u64,
    checks: u64,
    yes: u64,
    skipped: u64,
}

/// To milliseconds.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

#[derive(Serialize)]
struct StaticJson {
    shared_variables: u64,
    pairs: u64,
    warnings: u64,
    after_reduction: u64,
    after_contexts: u64,
    single_threaded: bool,
}

fn finding(finding: &Finding) -> FindingJson<'_> {
    let contexts = match finding.evidence {
        Evidence::Warning { contexts, .. } => Some(contexts),
        _ => None,
    };
    let (method, unconfirmed) = match &finding.evidence {
        Evidence::Predicted { method, confirmation } => match confirmation {
            Confirmation::Replayed { .. } | Confirmation::Interpreted { .. } => (Some(*method), None),
            Confirmation::Unconfirmed { reason } => (Some(*method), Some(reason.as_str())),
        },
        _ => (None, None),
    };
    FindingJson {
        id: &finding.id,
        kind: finding.kind.name(),
        variable: &finding.variable,
        evidence: names::evidence(&finding.evidence),
        engine: finding.engine,
        rank: finding.rank,
        method,
        unconfirmed,
        contexts,
        replay: names::replay(&finding.evidence).unwrap_or_default(),
        natively: match finding.evidence {
            Evidence::Replayed { natively: Some(Natively { reproduced, runs }), .. } => {
                Some(NativelyJson { reproduced, runs })
            }
            _ => None,
        },
        accesses: finding.accesses.iter().map(|a| access(finding.kind, a)).collect(),
        protection: finding.protection.as_ref().map(protection::json),
    }
}

fn access(kind: FindingKind, access: &AccessReport) -> AccessJson<'_> {
    AccessJson {
        file: &access.at.file,
        line: access.at.line,
        column: access.at.column,
        function: &access.at.function,
        thread: &access.thread.name,
        kind: match (kind, access.action.as_str()) {
            (FindingKind::DataRace, "read") => "read",
            (FindingKind::DataRace, _) => "write",
            (FindingKind::Problem(_), action) => action,
        },
        atomic: access.atomic,
        expression: &access.expression,
        locks: access.locks.iter().map(|lock| lock.name.as_str()).collect(),
        stack: access.stack.iter().map(frame).collect(),
    }
}

fn frame(frame: &Frame) -> FrameJson<'_> {
    FrameJson { file: &frame.file, line: frame.line, column: frame.column, function: &frame.function }
}
