//! The report as SARIF 2.1.0, for code-scanning services and editors: one run, one result per finding.
//!
//! A result stands at its first access; the others are related locations, and every access has its stack. What a service that knows only
//! results would lose (the verdict, reasons of `unknown`, assumptions) is in the run's properties and notifications: a log without results is not
//! an answer `safe`. The few objects of the format that are used are written out here: the crate for all of them does not build with
//! today's serde.

use crate::names;
use crate::race::{action, holding, missing_order, title, words};
use raddle_finding::{AccessReport, Finding, FindingKind, Frame, Outcome};
use serde::Serialize;
use std::collections::BTreeMap;

/// One object and a line end.
pub fn sarif(outcome: &Outcome) -> String {
    let mut rules: Vec<Rule> = Vec::new();
    for finding in &outcome.findings {
        let id = finding.kind.name();
        if rules.iter().all(|rule| rule.id != id) {
            rules.push(Rule { id, short_description: Message { text: rule_text(finding.kind) } });
        }
    }
    let results = outcome
        .findings
        .iter()
        .map(|finding| {
            let index = rules.iter().position(|rule| rule.id == finding.kind.name());
            result(finding, index.expect("each finding's rule was entered above"))
        })
        .collect();
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Component { name: "Raddle", semantic_version: env!("CARGO_PKG_VERSION"), rules },
            },
            invocations: [Invocation {
                execution_successful: true,
                tool_execution_notifications: outcome
                    .unknown_reasons
                    .iter()
                    .map(|reason| Notification {
                        level: "warning",
                        message: Message { text: names::reason(reason) },
                    })
                    .collect(),
            }],
            results,
            column_kind: "utf16CodeUnits",
            properties: RunProperties {
                verdict: names::verdict(outcome.verdict),
                scope: outcome.scope().map(names::scope),
                deadlocks: names::deadlocks(outcome.deadlocks),
                assumptions: outcome.assumptions.iter().map(|assumption| assumption.id).collect(),
                deadlock_assumptions: outcome
                    .deadlock_assumptions
                    .iter()
                    .map(|assumption| assumption.id)
                    .collect(),
            },
        }],
    };
    let mut text = serde_json::to_string_pretty(&log).expect("strings and numbers always serialise");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    invocations: [Invocation; 1],
    results: Vec<ResultObject>,
    column_kind: &'static str,
    properties: RunProperties,
}

#[derive(Serialize)]
struct Tool {
    driver: Component,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Component {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunProperties {
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    deadlocks: &'static str,
    assumptions: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deadlock_assumptions: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultObject {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stacks: Vec<Stack>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    rank: f64,
    properties: ResultProperties,
}

#[derive(Serialize)]
struct ResultProperties {
    evidence: &'static str,
    engine: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    variable: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumptions: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

#[derive(Serialize)]
struct LogicalLocation {
    name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Stack {
    message: Message,
    frames: Vec<StackFrame>,
}

#[derive(Serialize)]
struct StackFrame {
    location: Location,
}

fn result(finding: &Finding, rule_index: usize) -> ResultObject {
    let certain = finding.evidence.is_certain();
    let mut text = title(finding);
    if let (FindingKind::DataRace, [a, b]) = (finding.kind, finding.accesses.as_slice()) {
        text = format!("{text}; {}", missing_order(a, b));
    }
    ResultObject {
        rule_id: finding.kind.name(),
        rule_index,
        level: if certain { "error" } else { "warning" },
        message: Message { text },
        locations: finding.accesses.iter().take(1).filter_map(|access| end(access, None)).collect(),
        related_locations: finding
            .accesses
            .iter()
            .enumerate()
            .skip(1)
            .filter_map(|(id, access)| end(access, Some(id)))
            .collect(),
        stacks: finding.accesses.iter().filter_map(stack).collect(),
        partial_fingerprints: BTreeMap::from([("raddle/v1", fingerprint(finding))]),
        rank: if certain { 100.0 } else { 100.0 / f64::from(finding.rank.max(1) + 1) },
        properties: ResultProperties {
            evidence: names::evidence(&finding.evidence),
            engine: finding.engine,
            variable: finding.variable.clone(),
            replay: names::replay(&finding.evidence),
            assumptions: finding.assumptions.clone(),
        },
    }
}

fn end(access: &AccessReport, id: Option<usize>) -> Option<Location> {
    let words = format!("{} in {}, {}", action(access), access.thread.name, holding(access));
    location(&access.at, id, Some(words))
}

/// `None` for a place without a source line: the format has no such place.
fn location(frame: &Frame, id: Option<usize>, words: Option<String>) -> Option<Location> {
    if frame.file.is_empty() || frame.line == 0 {
        return None;
    }
    let function = LogicalLocation { name: frame.function.clone(), kind: "function" };
    Some(Location {
        id,
        physical_location: PhysicalLocation {
            artifact_location: Artifact { uri: uri(&frame.file) },
            region: Region {
                start_line: frame.line,
                start_column: (frame.column > 0).then_some(frame.column),
            },
        },
        logical_locations: if frame.function.is_empty() { Vec::new() } else { vec![function] },
        message: words.map(|text| Message { text }),
    })
}

fn stack(access: &AccessReport) -> Option<Stack> {
    let frames: Vec<StackFrame> = std::iter::once(&access.at)
        .chain(&access.stack)
        .filter_map(|frame| location(frame, None, None))
        .map(|location| StackFrame { location })
        .collect();
    let text = format!("{} in {}", action(access), access.thread.name);
    (!frames.is_empty()).then_some(Stack { message: Message { text }, frames })
}

fn rule_text(kind: FindingKind) -> String {
    match kind {
        FindingKind::DataRace => {
            "Two accesses to the same memory, at least one of them a write and one not atomic, that nothing orders"
                .to_owned()
        }
        FindingKind::Problem(kind) => words(kind).to_owned(),
    }
}

/// The same for the same finding after lines have moved: what, and in which functions.
fn fingerprint(finding: &Finding) -> String {
    let mut ends: Vec<String> = finding
        .accesses
        .iter()
        .map(|access| {
            let file = access.at.file.rsplit('/').next().unwrap_or_default();
            format!("{file}:{}:{}:{}", access.at.function, access.action, access.expression)
        })
        .collect();
    ends.sort();
    format!("{} {} {}", finding.kind.name(), finding.variable, ends.join(" "))
}

/// A path as a URI reference: relative ones stay relative, so that they are found in a checkout.
fn uri(path: &str) -> String {
    let mut out = String::new();
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
