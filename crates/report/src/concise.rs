//! One line per finding, in the form that editors jump to.

use crate::race::{place, problem_words, race_words, variable};
use crate::summary::verdict_line;
use raddle_finding::{Evidence, Finding, FindingKind, Natively, Outcome};

/// `file:line:col: data race on x (write in worker / read in main)`, then the verdict.
pub fn concise(outcome: &Outcome) -> String {
    let mut out = String::new();
    for finding in &outcome.findings {
        out.push_str(&line(finding));
        out.push('\n');
    }
    out.push_str(&verdict_line(outcome));
    out.push('\n');
    if !outcome.assumptions.is_empty() {
        let ids: Vec<&str> = outcome.assumptions.iter().map(|assumption| assumption.id).collect();
        out.push_str(&format!("assuming {}\n", ids.join(", ")));
    }
    if !outcome.deadlock_assumptions.is_empty() {
        let ids: Vec<&str> = outcome.deadlock_assumptions.iter().map(|assumption| assumption.id).collect();
        out.push_str(&format!("for deadlocks also assuming {}\n", ids.join(", ")));
    }
    for reason in &outcome.unknown_reasons {
        let at = if reason.place.is_empty() { String::new() } else { format!("{}: ", reason.place) };
        out.push_str(&format!("{at}{}\n", reason.text));
    }
    out
}

fn line(finding: &Finding) -> String {
    let at = finding.accesses.first().map(|access| place(&access.at)).unwrap_or_default();
    let ends: Vec<String> = finding
        .accesses
        .iter()
        .map(|access| match access.action.as_str() {
            "" => format!("in {}", access.at.function),
            action => format!("{action} in {}", access.at.function),
        })
        .collect();
    let what = match finding.kind {
        FindingKind::DataRace => format!("{} on {}", race_words(finding), variable(finding)),
        FindingKind::Problem(kind) if finding.variable.is_empty() => problem_words(finding, kind),
        FindingKind::Problem(kind) => format!("{} of {}", problem_words(finding, kind), finding.variable),
    };
    let natively = match finding.evidence {
        Evidence::Replayed { natively: Some(Natively { reproduced, runs }), .. } => {
            format!("; reproduced natively, {reproduced} of {runs}")
        }
        _ => String::new(),
    };
    format!("{at}: {what} ({}){natively}", ends.join(" / "))
}
