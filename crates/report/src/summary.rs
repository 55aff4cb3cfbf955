//! The answer about the whole program, in words.

use crate::style::{Look, Paint, wrap};
use raddle_finding::{Deadlocks, FindingKind, Outcome, Verdict};

/// `verdict: race, 2 data races; deadlocks: none; 12 executions`
pub(crate) fn verdict_line(outcome: &Outcome) -> String {
    let races = outcome.findings.iter().filter(|f| f.kind == FindingKind::DataRace).count();
    let others = outcome.findings.len() - races;
    let mut line = match outcome.verdict {
        Verdict::Race => format!("verdict: race, {}", count(races, "data race", "data races")),
        Verdict::Safe => "verdict: safe, no data race".to_owned(),
        Verdict::Unknown => "verdict: unknown".to_owned(),
    };
    if others > 0 {
        line.push_str(&format!("; {}", count(others, "other error", "other errors")));
    }
    let deadlocks = match outcome.deadlocks {
        Deadlocks::Found => "found",
        Deadlocks::None => "none",
        Deadlocks::Unknown => "unknown",
    };
    let executions = count(outcome.stats.executions as usize, "execution", "executions");
    line.push_str(&format!("; deadlocks: {deadlocks}; {executions}"));
    line
}

/// The verdict with its reasons and assumptions.
pub(crate) fn summary(outcome: &Outcome, look: &Look) -> String {
    let paint = match outcome.verdict {
        Verdict::Race => Paint::Bad,
        Verdict::Safe => Paint::Good,
        Verdict::Unknown => Paint::Doubt,
    };
    let mut out = look.paint(paint, &wrap(&verdict_line(outcome), look.width, "  "));
    out.push('\n');
    if let Some(counts) = outcome.stats.statics {
        let text = format!(
            "static: {}, {} of accesses, {} ({} after reduction, {} by source place)",
            count(counts.shared_variables as usize, "shared variable", "shared variables"),
            count(counts.pairs as usize, "conflicting pair", "conflicting pairs"),
            count(counts.warnings as usize, "warning", "warnings"),
            counts.after_reduction,
            counts.after_contexts,
        );
        out.push_str(&wrap(&text, look.width, "  "));
        out.push('\n');
    }
    if !outcome.unknown_reasons.is_empty() {
        out.push_str(match outcome.verdict {
            Verdict::Unknown => "not known because:\n",
            Verdict::Race | Verdict::Safe => "not everything was covered:\n",
        });
        for reason in &outcome.unknown_reasons {
            let at = if reason.place.is_empty() { String::new() } else { format!("{}: ", reason.place) };
            out.push_str(&wrap(&format!("  {at}{}", reason.text), look.width, "    "));
            out.push('\n');
        }
    }
    if !outcome.assumptions.is_empty() {
        out.push_str("assuming:\n");
        for assumption in &outcome.assumptions {
            out.push_str(&wrap(&format!("  {}: {}", assumption.id, assumption.text), look.width, "    "));
            out.push('\n');
        }
    }
    out
}

pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
