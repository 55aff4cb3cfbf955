//! What the static analysis adds to a search: a proof for all inputs, warnings where nothing was decided, and a second opinion.
//!
//! A proof makes the verdict `safe` whatever the search could not finish; the search still tells of other errors. A race that was
//! replayed stays a race: if the static analysis ruled it out, that is a bug of ours, and said so. Where the search alone decides, it
//! must have come to what the static analysis warns of: see `vacuous`.

use crate::aside::Lost;
use crate::load::Loaded;
use crate::outcome::{Draft, is_cut_short, numbered_after};
use crate::reached::Reached;
use crate::statics::{StaticResult, Statically};
use crate::vacuous::{self, Warned};
use crate::witness::Claim;
use crate::{bug, plain};
use raddle_event::ProblemKind;
use raddle_finding::{Assumption, CertificateFile, Deadlocks, Outcome, Proved, UnknownReason, Verdict};
use std::collections::BTreeSet;

/// What shows that there is no race, where nothing else was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    Static,
    Search,
}

pub(crate) fn combine(
    loaded: &Loaded,
    statically: &StaticResult,
    reached: &Reached,
    draft: &mut Draft,
    warnings: &mut Vec<String>,
) -> Proof {
    match statically {
        Ok(statically) => return combine_result(loaded, statically, reached, draft, warnings),
        Err(Lost::Bug(reason)) => failed(reason.clone(), &mut draft.rest, warnings),
        Err(Lost::Stopped(text)) => {
            if draft.rest.verdict == Verdict::Unknown {
                add_reasons(&mut draft.rest, [plain(&format!("the static analysis was stopped: {text}"))]);
            }
        }
    }
    doubt(loaded, statically, reached, draft);
    Proof::Search
}

/// What the search missed, where it alone is asked: of the static analysis nothing counts but its warnings.
pub(crate) fn doubt(loaded: &Loaded, statically: &StaticResult, reached: &Reached, draft: &mut Draft) {
    let warned = match statically {
        Ok(Statically { refused: Some(refusal), .. }) => Warned::Unknown(refusal.text.clone()),
        Ok(statically) => Warned::Pairs(statically),
        Err(Lost::Bug(reason)) => Warned::Unknown(reason.text.clone()),
        Err(Lost::Stopped(text)) => Warned::Unknown(format!("the static analysis was stopped: {text}")),
    };
    vacuous::judge(loaded, reached, &warned, draft);
}

fn combine_result(
    loaded: &Loaded,
    statically: &Statically,
    reached: &Reached,
    draft: &mut Draft,
    warnings: &mut Vec<String>,
) -> Proof {
    draft.rest.stats.statics = Some(statically.counts);
    let contradictions = contradictions(loaded, statically, draft);
    if !contradictions.is_empty() {
        add_reasons(&mut draft.rest, contradictions);
        return Proof::Search;
    }
    if statically.proof.is_some() && refutes_bounds(draft) {
        let text = "the static proof rests on A-BOUNDS, and an execution breaks it: see the errors found";
        add_reasons(&mut draft.rest, [plain(text)]);
        draft.rest.verdict = Verdict::Unknown;
        draft.rest.proved.clear();
        return Proof::Search;
    }
    let rest = &mut draft.rest;
    if let Some(refusal) = statically.refused.clone() {
        failed(refusal, rest, warnings);
    }
    let variables = statically.proved();
    match (rest.verdict, &statically.proof) {
        (Verdict::Safe | Verdict::Unknown, Some(_)) if loaded.bugs.is_empty() => {
            let used = draft.shown.iter().flat_map(|shown| shown.finding.assumptions.clone());
            safe(rest, &statically.assumptions, used.collect());
            rest.proved.extend(variables);
            return Proof::Static;
        }
        (Verdict::Unknown, _) => {
            let reasons = statically.reasons();
            rest.findings = numbered_after(draft.shown.len(), statically.findings.clone());
            if !rest.findings.is_empty() {
                add_assumptions(rest, &statically.assumptions);
            }
            add_reasons(rest, reasons);
            if !variables.is_empty() {
                add_assumptions(rest, &statically.assumptions);
                rest.proved.extend(variables);
            }
        }
        (Verdict::Safe, None) => {
            let refused = statically.refused.as_ref().map(|refusal| refusal.text.clone());
            let warned = refused.map_or(Warned::Pairs(statically), Warned::Unknown);
            vacuous::judge(loaded, reached, &warned, draft);
            if !draft.rest.findings.is_empty() {
                add_assumptions(&mut draft.rest, &statically.assumptions);
            }
        }
        (Verdict::Safe | Verdict::Race, _) => {}
    }
    Proof::Search
}

/// Whether an execution was seen that does what A-BOUNDS excludes: then a proof that rests on it says nothing.
fn refutes_bounds(draft: &Draft) -> bool {
    draft.shown.iter().any(|shown| match shown.claim {
        Claim::Problem(kind, _) => {
            matches!(
                kind,
                ProblemKind::UseAfterFree
                    | ProblemKind::DoubleFree
                    | ProblemKind::InvalidFree
                    | ProblemKind::OutOfBounds
                    | ProblemKind::InvalidPointer
            ) || kind == ProblemKind::UnlockNotHeld && is_cut_short(&draft.rest, kind)
        }
        Claim::Race(..) => false,
    })
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
    let by_deadlocks = rest.deadlock_assumptions.iter().map(|assumption| assumption.id);
    let for_deadlocks: BTreeSet<&'static str> =
        by_search.difference(&used).copied().chain(by_deadlocks).collect();
    rest.deadlock_assumptions = match rest.deadlocks {
        Deadlocks::Unknown => Vec::new(),
        Deadlocks::Found | Deadlocks::None => named(&for_deadlocks),
    };
    rest.assumptions = named(&used);
    rest.verdict = Verdict::Safe;
    rest.proved.push(Proved {
        variable: String::new(),
        by: "static",
        certificate: CertificateFile::Unwritten,
    });
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

#[cfg(test)]
mod tests {
    use super::{Proof, combine};
    use crate::aside::Lost;
    use crate::load::Loaded;
    use crate::outcome::{Draft, Shown, nothing, unknown};
    use crate::reached::Reached;
    use crate::statics::Statically;
    use crate::witness::Claim;
    use crate::{bug, plain};
    use raddle_base::{SiteId, Span};
    use raddle_certify::Witness;
    use raddle_config::Config;
    use raddle_event::ThreadId;
    use raddle_facts::StaticProof;
    use raddle_finding::{Assumption, Deadlocks, Evidence, Finding, FindingKind, Outcome, Verdict};
    use raddle_interp::By;
    use raddle_ir::{DataModel, FileId, FunctionId, Program, SiteInfo};

    fn loaded() -> Loaded {
        let mut program = Program::new(DataModel::Lp64);
        for line in 1..4 {
            let span = Span { file: FileId(0), line, column: 1 };
            program.sites.push(SiteInfo { function: FunctionId(0), span: Some(span) });
        }
        Loaded::of_program(program, &Config::default())
    }

    fn finding(id: &str, evidence: Evidence) -> Finding {
        Finding {
            id: id.to_owned(),
            kind: FindingKind::DataRace,
            variable: "x".to_owned(),
            accesses: Vec::new(),
            evidence,
            engine: "static",
            rank: 1,
            detail: String::new(),
            assumptions: Vec::new(),
            protection: None,
        }
    }

    fn searched(verdict: Verdict, assumptions: &[&str]) -> Draft {
        let reasons = if verdict == Verdict::Unknown { vec![plain("a limit")] } else { Vec::new() };
        let rest = Outcome {
            verdict,
            deadlocks: if verdict == Verdict::Unknown { Deadlocks::Unknown } else { Deadlocks::None },
            assumptions: assumptions.iter().map(|id| Assumption::named(id)).collect(),
            ..unknown(reasons)
        };
        Draft { shown: Vec::new(), rest }
    }

    fn race() -> Draft {
        let mut draft = searched(Verdict::Race, &[]);
        draft.shown.push(Shown {
            finding: finding(
                "f1",
                Evidence::Replayed { schedule: Default::default(), file: None, natively: None },
            ),
            witness: Witness::default(),
            claim: Claim::Race(SiteId(0), SiteId(1)),
        });
        draft
    }

    fn proved(assumptions: &[&'static str]) -> Statically {
        let mut statically = Statically::nothing();
        statically.proof = Some(StaticProof::default());
        statically.assumptions = assumptions.iter().copied().collect();
        statically
    }

    fn warned(loaded: &Loaded, a: u32, b: u32) -> Statically {
        let mut warned = Statically::nothing().warning(&loaded.program, SiteId(a), SiteId(b));
        let evidence =
            |by: Option<&str>| Evidence::Warning { contexts: 1, covered_by: by.map(str::to_owned) };
        warned.findings = vec![finding("f1", evidence(None)), finding("f2", evidence(Some("f1")))];
        warned.assumptions.insert("A-BOUNDS");
        warned
    }

    fn ids(list: &[Assumption]) -> Vec<&str> {
        list.iter().map(|assumption| assumption.id).collect()
    }

    fn combined(statically: Result<Statically, Lost>, mut draft: Draft) -> (Outcome, bool, Vec<String>) {
        let mut warnings = Vec::new();
        let ground = combine(&loaded(), &statically, &Reached::default(), &mut draft, &mut warnings);
        (draft.into_outcome(), ground == Proof::Static, warnings)
    }

    #[test]
    fn a_proof_decides_where_the_search_could_not() {
        let (outcome, proof, _) =
            combined(Ok(proved(&["A-BOUNDS"])), searched(Verdict::Unknown, &["A-INPUT", "A-THREAD"]));
        assert!(proof && outcome.verdict == Verdict::Safe && outcome.deadlocks == Deadlocks::Unknown);
        assert_eq!(ids(&outcome.assumptions), ["A-BOUNDS"]);
        assert!(outcome.deadlock_assumptions.is_empty());
        assert_eq!(outcome.unknown_reasons.len(), 1);
        assert_eq!(outcome.proved[0].by, "static");
    }

    #[test]
    fn the_fewer_assumptions_count() {
        let both = |search: &[&str]| {
            combined(Ok(proved(&["A-BOUNDS", "A-THREAD"])), searched(Verdict::Safe, search)).0
        };
        let fewer = both(&["A-THREAD"]);
        assert_eq!(ids(&fewer.assumptions), ["A-THREAD"]);
        assert!(fewer.deadlock_assumptions.is_empty());
        let others = both(&["A-INPUT", "A-THREAD"]);
        assert_eq!(ids(&others.assumptions), ["A-BOUNDS", "A-THREAD"]);
        assert_eq!(ids(&others.deadlock_assumptions), ["A-INPUT"]);
    }

    #[test]
    fn a_replayed_race_stays_and_tells_of_a_bug() {
        for statically in [proved(&[]), warned(&loaded(), 0, 2)] {
            let (outcome, proof, _) = combined(Ok(statically), race());
            assert!(!proof && outcome.verdict == Verdict::Race && outcome.findings.len() == 1);
            let [reason] = outcome.unknown_reasons.as_slice() else { panic!("{outcome:?}") };
            assert!(reason.text.contains("ruled it out") && reason.text.contains("a bug in Raddle"));
        }
        let (outcome, ..) = combined(Ok(warned(&loaded(), 1, 0)), race());
        assert!(outcome.verdict == Verdict::Race && outcome.unknown_reasons.is_empty());
        // What is not understood rules nothing out.
        let mut partial = proved(&[]);
        partial.gaps.push(plain("odd"));
        assert!(combined(Ok(partial), race()).0.unknown_reasons.is_empty());
    }

    #[test]
    fn warnings_come_after_what_was_confirmed() {
        let mut draft = searched(Verdict::Unknown, &["A-INPUT"]);
        let mut deadlock = race().shown.remove(0);
        deadlock.claim = Claim::Problem(raddle_event::ProblemKind::Deadlock, SiteId(0));
        draft.shown.push(deadlock);
        let (outcome, proof, _) = combined(Ok(warned(&loaded(), 0, 1)), draft);
        assert!(!proof && outcome.verdict == Verdict::Unknown);
        let order: Vec<(&str, u32)> = outcome.findings.iter().map(|f| (f.id.as_str(), f.rank)).collect();
        assert_eq!(order, [("f1", 1), ("f2", 2), ("f3", 2)]);
        let covered = Evidence::Warning { contexts: 1, covered_by: Some("f2".to_owned()) };
        assert_eq!(outcome.findings[2].evidence, covered);
        assert_eq!(ids(&outcome.assumptions), ["A-BOUNDS", "A-INPUT"]);
        assert_eq!(outcome.unknown_reasons.len(), 2);
        // A search that decides needs no warnings.
        let (outcome, ..) = combined(Ok(warned(&loaded(), 0, 1)), searched(Verdict::Safe, &[]));
        assert!(outcome.findings.is_empty() && outcome.verdict == Verdict::Safe);
    }

    #[test]
    fn a_search_that_missed_what_is_warned_of_decides_nothing() {
        let missed = |ids: &[&str]| combined(Ok(warned(&loaded(), 0, 1)), searched(Verdict::Safe, ids)).0;
        let unknown = missed(&["A-INPUT", "A-TIME"]);
        assert_eq!((unknown.verdict, unknown.deadlocks), (Verdict::Unknown, Deadlocks::Unknown));
        assert_eq!(unknown.findings.len(), 1);
        assert_eq!(ids(&unknown.assumptions), ["A-BOUNDS", "A-INPUT", "A-TIME"]);
        assert!(
            unknown.unknown_reasons.iter().any(|reason| reason.text.contains("A-INPUT, A-TIME leave open"))
        );
        // The input alone decides.
        let this_input = missed(&["A-INPUT", "A-THREAD"]);
        assert_eq!((this_input.verdict, this_input.deadlocks), (Verdict::Safe, Deadlocks::None));
        assert_eq!(this_input.findings.len(), 1);
        // Nothing is left open, or two threads were there.
        assert!(missed(&["A-MALLOC", "A-THREAD"]).findings.is_empty());
        let mut draft = searched(Verdict::Safe, &["A-TIME"]);
        let sites = [(SiteId(0), By::One(ThreadId(1))), (SiteId(1), By::One(ThreadId(2)))].into();
        let reached = Reached { sites, ..Reached::default() };
        combine(&loaded(), &Ok(warned(&loaded(), 0, 1)), &reached, &mut draft, &mut Vec::new());
        assert_eq!(draft.into_outcome().verdict, Verdict::Safe);
    }

    #[test]
    fn a_failure_matters_only_where_nothing_else_decides() {
        let lost = || Err(Lost::Bug(bug("the static analysis failed")));
        let (outcome, _, warnings) = combined(lost(), searched(Verdict::Safe, &[]));
        assert_eq!((outcome.verdict, outcome.unknown_reasons.len(), warnings.len()), (Verdict::Safe, 0, 1));
        let (outcome, _, warnings) = combined(lost(), nothing(plain("a limit")));
        assert_eq!(
            (outcome.verdict, outcome.unknown_reasons.len(), warnings.len()),
            (Verdict::Unknown, 2, 0)
        );
        let stopped = || Err(Lost::Stopped("the time limit of 1 s was reached".to_owned()));
        let (outcome, _, warnings) = combined(stopped(), nothing(plain("a limit")));
        assert_eq!((outcome.unknown_reasons.len(), warnings.len()), (2, 0));
        assert!(combined(stopped(), searched(Verdict::Safe, &[])).0.unknown_reasons.is_empty());
        let mut refused = Statically::nothing();
        refused.refused = Some(bug("refused"));
        let (outcome, proof, _) = combined(Ok(refused), searched(Verdict::Unknown, &[]));
        assert!(!proof && outcome.verdict == Verdict::Unknown);
    }
}
