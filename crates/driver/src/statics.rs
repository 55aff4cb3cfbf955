//! The static analysis as an engine: from a program to an outcome whose findings are warnings. Only an accepted proof is `safe`.

use crate::guard::guarded;
use crate::load::{Loaded, load_open};
use crate::outcome::place;
use crate::{Answer, DriverError, Subject};
use raddle_event::LockMode as ReportedMode;
use raddle_facts::LockMode;
use raddle_finding::{
    AccessReport, Assumption, Deadlocks, Evidence, Finding, FindingKind, Frame, LockReport, Outcome, Proved,
    StaticCounts, Stats, ThreadReport, UnknownReason, Verdict,
};
use raddle_ir::{FunctionId, Program, SiteId};
use raddle_lockset::{Analysis, LockNames, Options, Warning};
use std::collections::BTreeSet;
use std::time::Instant;

/// What `raddle static` is asked besides the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaticRequest {
    /// Functions that any number of clients may call at once.
    pub entries: Vec<String>,
}

/// The static analysis alone.
pub fn statics(subject: &Subject, request: &StaticRequest) -> Result<Answer, DriverError> {
    let began = Instant::now();
    let loaded = load_open(subject, !request.entries.is_empty())?;
    let entries = entries(&loaded, &request.entries)?;
    let mut outcome = match analyse(&loaded, entries) {
        Ok(analysis) => report(&loaded, &analysis),
        Err(bug) => crate::outcome::unknown(vec![bug]),
    };
    outcome.stats.seconds = began.elapsed().as_secs_f64();
    Ok(Answer { outcome, warnings: loaded.warnings })
}

/// Runs the engine behind a guard; the error is a reason for `unknown`.
pub(crate) fn analyse(loaded: &Loaded, entries: Vec<FunctionId>) -> Result<Analysis, UnknownReason> {
    let options = Options { entries, ..Options::default() };
    guarded("the static analysis", || raddle_lockset::analyse(&loaded.program, &loaded.models, &options))?
        .map_err(|error| crate::bug(&format!("the program could not be expanded ({error})")))
}

fn entries(loaded: &Loaded, names: &[String]) -> Result<Vec<FunctionId>, DriverError> {
    let program = &loaded.program;
    let find = |name: &String| {
        let defined = |id: &FunctionId| program.functions[*id].is_defined();
        let by_name =
            || program.functions.iter().find(|(_, f)| program.text(f.name) == name && f.is_defined());
        program
            .function_by_symbol(name)
            .filter(defined)
            .or_else(|| by_name().map(|(id, _)| id))
            .ok_or_else(|| DriverError::NoEntry { name: name.clone(), similar: similar(program, name) })
    };
    names.iter().map(find).collect()
}

/// The defined functions whose names are closest, best first.
fn similar(program: &Program, name: &str) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut names: Vec<(usize, &str)> = program
        .functions
        .values()
        .filter(|function| function.is_defined())
        .map(|function| program.text(function.name))
        .map(|known| (distance(name, known), known))
        .filter(|(distance, known)| *distance <= known.len().max(name.len()) / 2)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().take(SHOWN).map(|(_, known)| known.to_owned()).collect()
}

/// Insertions, deletions and replacements from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Whether the facts prove the program free of races. The engine's word is not enough: the checker must accept its proof.
pub(crate) fn is_proved(_loaded: &Loaded, analysis: &Analysis) -> Result<bool, UnknownReason> {
    Ok(analysis.is_safe())
}

pub(crate) fn report(loaded: &Loaded, analysis: &Analysis) -> Outcome {
    let mut reasons: BTreeSet<UnknownReason> = loaded.bugs.iter().cloned().collect();
    reasons.extend(gaps(loaded, analysis));
    let proved = is_proved(loaded, analysis).unwrap_or_else(|refusal| {
        reasons.insert(refusal);
        false
    });
    let findings = findings(loaded, analysis);
    if !findings.is_empty() {
        let count = findings.len();
        let pairs = if count == 1 { "one pair of accesses" } else { "pairs of accesses" };
        reasons.insert(UnknownReason {
            place: String::new(),
            text: format!("{pairs} could not be ruled out statically ({count})"),
        });
    }
    let safe = proved && reasons.is_empty();
    let mut assumptions: BTreeSet<&'static str> = analysis.assumptions.clone();
    assumptions.extend(loaded.assumptions.iter().filter(|id| **id != "A-INPUT"));
    let counters = analysis.counters;
    Outcome {
        verdict: if safe { Verdict::Safe } else { Verdict::Unknown },
        deadlocks: Deadlocks::Unknown,
        findings,
        proved: if safe {
            vec![Proved { variable: String::new(), by: "static", certificate: String::new() }]
        } else {
            Vec::new()
        },
        assumptions: assumptions.into_iter().map(Assumption::named).collect(),
        unknown_reasons: reasons.into_iter().collect(),
        stats: Stats {
            statics: Some(StaticCounts {
                shared_variables: counters.shared_variables,
                pairs: counters.pairs,
                warnings: counters.warnings,
                after_reduction: counters.after_reduction,
                after_contexts: counters.after_contexts,
            }),
            ..Stats::default()
        },
    }
}

fn gaps(loaded: &Loaded, analysis: &Analysis) -> Vec<UnknownReason> {
    let reason = |site: SiteId, text: &str| UnknownReason {
        place: place(&loaded.program, site),
        text: text.to_owned(),
    };
    analysis.gaps.iter().map(|gap| reason(gap.site, &gap.text)).collect()
}

fn findings(loaded: &Loaded, analysis: &Analysis) -> Vec<Finding> {
    let names = analysis.lock_names();
    let finding = |(index, warning): (usize, &Warning)| {
        let (first, second) = warning.contexts[0];
        let accesses =
            vec![access(loaded, analysis, &names, first), access(loaded, analysis, &names, second)];
        Finding {
            id: format!("f{}", index + 1),
            kind: FindingKind::DataRace,
            variable: accesses[0].expression.clone(),
            accesses,
            evidence: Evidence::Warning,
            engine: "static",
            rank: warning.rank,
            detail: String::new(),
            assumptions: Vec::new(),
        }
    };
    analysis.warnings.iter().enumerate().map(finding).collect()
}

fn access(loaded: &Loaded, analysis: &Analysis, names: &LockNames, index: usize) -> AccessReport {
    let access = &analysis.accesses[index];
    let context = analysis.context(access);
    let thread = match &context {
        Some(context) => {
            let (name, created) = analysis.thread(context.thread);
            let created = created.map(|site| frame(&loaded.program, site)).into_iter().collect();
            ThreadReport { name, created }
        }
        None => ThreadReport { name: "a thread".to_owned(), created: Vec::new() },
    };
    let callers = context.map(|context| context.callers).unwrap_or_default();
    AccessReport {
        at: frame(&loaded.program, analysis.expanded.site_origin[access.site]),
        thread,
        action: Analysis::action(access).to_owned(),
        atomic: access.atomic.is_some(),
        expression: analysis.expression(access),
        locks: analysis
            .held(index)
            .map(|held| LockReport {
                name: analysis.lock_name(names, held.lock),
                mode: match held.mode {
                    LockMode::Exclusive => ReportedMode::Exclusive,
                    LockMode::Shared => ReportedMode::Shared,
                },
                acquired: Vec::new(),
            })
            .collect(),
        stack: callers.into_iter().map(|site| frame(&loaded.program, site)).collect(),
    }
}

fn frame(program: &Program, site: SiteId) -> Frame {
    let info = &program.sites[site];
    let function = program.text(program.functions[info.function].name).to_owned();
    match info.span.filter(|span| span.line > 0) {
        Some(span) => Frame {
            file: program.files.get(span.file).cloned().unwrap_or_default(),
            line: span.line,
            column: span.column,
            function,
        },
        None => Frame { file: String::new(), line: 0, column: 0, function },
    }
}
