//! What the static analysis adds to a search: a proof for all inputs, warnings where nothing was decided, and a second opinion.
//!
//! A proof makes the verdict `safe` whatever the search could not finish; the search still tells of other errors. A race that was
//! replayed stays a race: if the static analysis ruled it out, that is a bug of ours, and said so. Where the search alone decides, a
//! static analysis that failed or took too long changes nothing.

use crate::aside::Lost;
use crate::load::Loaded;
use crate::outcome::Draft;
use crate::statics::Statically;
use crate::witness::Claim;
use crate::{bug, plain};
use raddle_facts::StaticProof;
use raddle_finding::{Assumption, Deadlocks, Outcome, Proved, UnknownReason, Verdict};
use std::collections::BTreeSet;

/// The proof comes back where the verdict rests on it.
pub(crate) fn combine(
    loaded: &Loaded,
    statically: Result<Statically, Lost>,
    draft: &mut Draft,
    warnings: &mut Vec<String>,
) -> Option<StaticProof> {
    match statically {
        Ok(statically) => combine_result(loaded, statically, draft, warnings),
        Err(Lost::Bug(reason)) => {
            failed(reason, &mut draft.rest, warnings);
            None
        }
        Err(Lost::Stopped(text)) => {
            if draft.rest.verdict == Verdict::Unknown {
                add_reasons(&mut draft.rest, [plain(&format!("the static analysis was stopped: {text}"))]);
            }
            None
        }
    }
}

fn combine_result(
    loaded: &Loaded,
    mut statically: Statically,
    draft: &mut Draft,
    warnings: &mut Vec<String>,
) -> Option<StaticProof> {
    draft.rest.stats.statics = Some(statically.counts);
    let contradictions = contradictions(loaded, &statically, draft);
    if !contradictions.is_empty() {
        add_reasons(&mut draft.rest, contradictions);
        return None;
    }
    let rest = &mut draft.rest;
    if let Some(refusal) = statically.refused.clone() {
        failed(refusal, rest, warnings);
    }
    let variables = statically.proved();
    match (rest.verdict, statically.proof.take()) {
        (Verdict::Safe | Verdict::Unknown, Some(proof)) if loaded.bugs.is_empty() => {
            let used = draft.shown.iter().flat_map(|shown| shown.finding.assumptions.clone());
            safe(rest, &statically.assumptions, used.collect());
            rest.proved.extend(variables);
            return Some(proof);
        }
        (Verdict::Unknown, _) => {
            let reasons = statically.reasons();
            let confirmed = draft.shown.len();
            rest.findings = std::mem::take(&mut statically.findings);
            for (index, finding) in rest.findings.iter_mut().enumerate() {
                finding.id = format!("f{}", confirmed + index + 1);
                finding.rank = (confirmed + index) as u32 + 1;
            }
            if !rest.findings.is_empty() {
                add_assumptions(rest, &statically.assumptions);
            }
            add_reasons(rest, reasons);
            if !variables.is_empty() {
                add_assumptions(rest, &statically.assumptions);
                rest.proved.extend(variables);
            }
        }
        _ => {}
    }
    None
}

/// Replayed races that the static analysis ruled out.
fn contradictions(loaded: &Loaded, statically: &Statically, draft: &Draft) -> Vec<UnknownReason> {
    let wrong = draft.shown.iter().filter(|shown| match shown.claim {
        Claim::Race(a, b) => statically.rules_out(&loaded.program, a, b),
        Claim::Problem(..) => false,
    });
    wrong
        .map(|shown| {
            let finding = &shown.finding;
            let lines: Vec<String> = finding
                .accesses
                .iter()
                .map(|access| format!("{}:{}", access.at.file, access.at.line))
                .collect();
            bug(&format!(
                "the race on {} ({}) was replayed, and the static analysis ruled it out",
                finding.variable,
                lines.join(" and ")
            ))
        })
        .collect()
}

/// A failure of the static analysis matters to the verdict only where the search did not decide.
fn failed(reason: UnknownReason, rest: &mut Outcome, warnings: &mut Vec<String>) {
    if rest.verdict == Verdict::Unknown {
        add_reasons(rest, [reason]);
    } else {
        warnings.push(reason.text);
    }
}

/// The verdict is that of the proof. Where the search proved it too, with fewer assumptions, they are what it rests on.
fn safe(rest: &mut Outcome, by_proof: &BTreeSet<&'static str>, mut used: BTreeSet<&'static str>) {
    let by_search: BTreeSet<&'static str> = rest.assumptions.iter().map(|assumption| assumption.id).collect();
    let fewer = rest.verdict == Verdict::Safe && by_search.is_subset(by_proof);
    used.extend(if fewer { &by_search } else { by_proof });
    rest.deadlock_assumptions = match rest.deadlocks {
        Deadlocks::Unknown => Vec::new(),
        Deadlocks::Found | Deadlocks::None => named(by_search.difference(&used)),
    };
    rest.assumptions = named(&used);
    rest.verdict = Verdict::Safe;
    rest.proved.push(Proved { variable: String::new(), by: "static", certificate: String::new() });
}

fn named<'a>(ids: impl IntoIterator<Item = &'a &'static str>) -> Vec<Assumption> {
    ids.into_iter().copied().map(Assumption::named).collect()
}

fn add_assumptions(rest: &mut Outcome, ids: &BTreeSet<&'static str>) {
    let mut all: BTreeSet<&'static str> = rest.assumptions.iter().map(|assumption| assumption.id).collect();
    all.extend(ids);
    rest.assumptions = named(&all);
}

fn add_reasons(rest: &mut Outcome, reasons: impl IntoIterator<Item = UnknownReason>) {
    rest.unknown_reasons.extend(reasons);
    rest.unknown_reasons.sort();
    rest.unknown_reasons.dedup();
}
