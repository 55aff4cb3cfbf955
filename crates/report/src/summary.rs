//! The answer about the whole program, in words.

use crate::full::shell_word;
use crate::names;
use crate::style::{Look, Paint, wrap};
use raddle_finding::{Assumption, CertificateFile, FindingKind, Outcome, Scope, Verdict};

/// `verdict: race, 2 data races; deadlocks: none; 12 executions`
pub(crate) fn verdict_line(outcome: &Outcome) -> String {
    let confirmed = || outcome.findings.iter().filter(|finding| finding.evidence.is_certain());
    let races = confirmed().filter(|f| f.kind == FindingKind::DataRace).count();
    let others = confirmed().count() - races;
    let possible = outcome.findings.iter().filter(|f| f.kind == FindingKind::DataRace).count() - races;
    let doubtful = outcome.findings.len() - races - others - possible;
    let mut line = match outcome.verdict {
        Verdict::Race => format!("verdict: race, {}", count(races, "data race", "data races")),
        Verdict::Safe => match outcome.scope() {
            Some(Scope::ThisInput) => "verdict: safe for this input, no data race".to_owned(),
            Some(Scope::AllInputs) | None => "verdict: safe, no data race".to_owned(),
        },
        Verdict::Unknown => "verdict: unknown".to_owned(),
    };
    if possible > 0 {
        let possible = count(possible, "possible data race", "possible data races");
        line.push_str(&match outcome.verdict {
            Verdict::Safe => format!("; {possible} with another input"),
            Verdict::Race | Verdict::Unknown => format!(", {possible}"),
        });
    }
    if others > 0 {
        line.push_str(&format!("; {}", count(others, "other error", "other errors")));
    }
    if doubtful > 0 {
        line.push_str(&format!("; {}", count(doubtful, "other warning", "other warnings")));
    }
    line.push_str(&format!("; deadlocks: {}", names::deadlocks(outcome.deadlocks)));
    if !is_static(outcome) {
        let executions = count(outcome.stats.executions as usize, "execution", "executions");
        line.push_str(&format!("; {executions}"));
        if let Some(explored) = outcome.stats.explored {
            line.push_str(&format!(", {} of random schedules", percent(explored)));
        }
        if let Some(counts) = outcome.stats.prediction.filter(|counts| counts.explored > 0) {
            line.push_str(&format!(", {} of them explored beside diverged orders", counts.explored));
        }
        if let Some(counts) = outcome.stats.prediction.filter(|counts| counts.traces > 1) {
            let rounds = count(counts.rounds as usize, "round", "rounds");
            line.push_str(&format!("; {} recorded runs in {rounds}", counts.traces));
        }
    }
    line
}

/// `about 37 %`, `under 1 %`. All is never said: the search was stopped.
fn percent(thousandths: u32) -> String {
    match thousandths {
        0..10 => "under 1 %".to_owned(),
        10..990 => format!("about {} %", thousandths / 10),
        _ => "over 99 %".to_owned(),
    }
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
    let warned = outcome.findings.iter().any(|finding| finding.engine == "static");
    if let Some(counts) = outcome.stats.statics.filter(|_| warned || is_static(outcome)) {
        let text = if counts.single_threaded {
            "static: no threads are started".to_owned()
        } else {
            format!(
                "static: {}, {} of accesses, {} ({} after reduction, {} by source place)",
                count(counts.shared_variables as usize, "shared variable", "shared variables"),
                count(counts.pairs as usize, "conflicting pair", "conflicting pairs"),
                count(counts.warnings as usize, "warning", "warnings"),
                counts.after_reduction,
                counts.after_contexts,
            )
        };
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
    for proved in &outcome.proved {
        match &proved.certificate {
            // Not folded: a command must stay one line to be copied.
            CertificateFile::Written(file) => {
                out.push_str(&format!("proved by {}: raddle certify {}\n", proved.by, shell_word(file)));
            }
            CertificateFile::Missing(reason) => {
                out.push_str(&wrap(&format!("certificate: none, because {reason}"), look.width, "  "));
                out.push('\n');
            }
            CertificateFile::Unwritten => {}
        }
    }
    assumptions("assuming:", &outcome.assumptions, look, &mut out);
    assumptions("assuming, for deadlocks only:", &outcome.deadlock_assumptions, look, &mut out);
    out
}

/// Nothing was run.
fn is_static(outcome: &Outcome) -> bool {
    outcome.stats.statics.is_some() && outcome.stats.executions == 0 && outcome.stats.steps == 0
}

fn assumptions(heading: &str, list: &[Assumption], look: &Look, out: &mut String) {
    if list.is_empty() {
        return;
    }
    out.push_str(heading);
    out.push('\n');
    for assumption in list {
        out.push_str(&wrap(&format!("  {}: {}", assumption.id, assumption.text), look.width, "    "));
        out.push('\n');
    }
}

pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
