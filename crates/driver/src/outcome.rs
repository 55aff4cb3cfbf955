//! One outcome from what was explored and confirmed. `safe` only when everything was seen and nothing was left open.

use crate::confirm::Confirmed;
use crate::engine::Explored;
use crate::load::Loaded;
use crate::witness::Claim;
use crate::{Mode, Search, plain};
use raddle_base::SiteId;
use raddle_certify::Witness;
use raddle_event::ProblemKind;
use raddle_explore::enumerate::{Coverage, Gap};
use raddle_finding::{
    Assumption, CertificateFile, Deadlocks, Evidence, Finding, FindingKind, Frame, Natively, Outcome, Proved,
    Stats, UnknownReason, Verdict,
};
use raddle_interp::SpuriousWakeups;
use raddle_ir::Program;
use std::collections::{BTreeMap, BTreeSet};

/// A finding with what is needed to write its witness.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) finding: Finding,
    pub(crate) witness: Witness,
    pub(crate) claim: Claim,
}

impl Shown {
    pub(crate) fn set_file(&mut self, path: String) {
        if let Evidence::Replayed { file, .. } = &mut self.finding.evidence {
            *file = Some(path);
        }
    }

    /// The program itself was run under the schedule.
    pub(crate) fn set_natively(&mut self, tally: Natively) {
        if let Evidence::Replayed { natively, .. } = &mut self.finding.evidence {
            *natively = Some(tally);
        }
    }
}

/// An outcome whose witnesses are not written yet.
#[derive(Clone)]
pub(crate) struct Draft {
    /// Confirmed findings.
    pub(crate) shown: Vec<Shown>,
    /// Everything else; its findings come after the confirmed ones.
    pub(crate) rest: Outcome,
}

impl Draft {
    pub(crate) fn shown_mut(&mut self) -> impl Iterator<Item = &mut Shown> {
        self.shown.iter_mut()
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        let Outcome { findings, .. } = self.rest;
        let shown = self.shown.into_iter().map(|shown| shown.finding);
        Outcome { findings: shown.chain(findings).collect(), ..self.rest }
    }
}

/// Warnings, with ids that come after those of the confirmed findings.
pub(crate) fn numbered_after(confirmed: usize, mut warnings: Vec<Finding>) -> Vec<Finding> {
    let ids: BTreeMap<String, String> = warnings
        .iter()
        .enumerate()
        .map(|(index, warning)| (warning.id.clone(), format!("f{}", confirmed + index + 1)))
        .collect();
    for warning in &mut warnings {
        warning.id = ids[&warning.id].clone();
        warning.rank += confirmed as u32;
        if let Evidence::Warning { covered_by, .. } = &mut warning.evidence {
            *covered_by = covered_by.as_ref().and_then(|id| ids.get(id)).cloned();
        }
    }
    warnings
}

/// Nothing was found out, for this reason.
pub(crate) fn nothing(reason: UnknownReason) -> Draft {
    Draft { shown: Vec::new(), rest: unknown(vec![reason]) }
}

/// Nothing but reasons.
pub(crate) fn unknown(unknown_reasons: Vec<UnknownReason>) -> Outcome {
    Outcome {
        verdict: Verdict::Unknown,
        deadlocks: Deadlocks::Unknown,
        findings: Vec::new(),
        proved: Vec::new(),
        assumptions: Vec::new(),
        deadlock_assumptions: Vec::new(),
        unknown_reasons,
        stats: Stats::default(),
    }
}

pub(crate) fn merge(loaded: &Loaded, explored: &Explored, confirmed: Confirmed, search: &Search) -> Draft {
    let exploration = &explored.exploration;
    let mut shown = confirmed.shown;
    sort(&mut shown);

    let mut assumptions: BTreeSet<&'static str> = exploration.assumptions.iter().copied().collect();
    assumptions.extend(&loaded.assumptions);
    assumptions.extend(shown.iter().flat_map(|shown| &shown.finding.assumptions));

    let mut reasons: BTreeSet<UnknownReason> =
        loaded.bugs.iter().chain(&confirmed.refused).cloned().collect();
    reasons
        .extend(exploration.unknown_reasons.iter().map(|gap| reason(&loaded.program, gap, explored, search)));
    reasons.extend(explored.incomplete.iter().cloned());
    reasons.extend(confirmed.doubtful);
    if !loaded.entries.is_empty() {
        let names = loaded.entries.join(", ");
        reasons.insert(plain(&format!("a run has no clients: {names} were not called from outside")));
    }

    let races = shown.iter().filter(|shown| shown.finding.kind == FindingKind::DataRace).count();
    if races == 0 && reasons.is_empty() {
        reasons.extend(limits_of_mode(loaded, &assumptions, search));
        if exploration.coverage != Coverage::Complete {
            reasons.insert(plain("the search did not see every run"));
        }
    }
    let verdict = match (races, reasons.is_empty()) {
        (0, true) => Verdict::Safe,
        (0, false) => Verdict::Unknown,
        _ => Verdict::Race,
    };
    let deadlocks = match exploration.deadlocks {
        _ if has_deadlock(&shown) => Deadlocks::Found,
        Deadlocks::None if reasons.is_empty() => Deadlocks::None,
        _ => Deadlocks::Unknown,
    };
    // More executions are explored than the system may have: races do not rest on it.
    let by_deadlocks = assumptions.take("A-RWLOCK").filter(|_| deadlocks != Deadlocks::Unknown);
    let proved = match verdict {
        Verdict::Safe => {
            vec![Proved { variable: String::new(), by: "explore", certificate: CertificateFile::Unwritten }]
        }
        Verdict::Race | Verdict::Unknown => Vec::new(),
    };
    Draft {
        shown,
        rest: Outcome {
            verdict,
            deadlocks,
            findings: Vec::new(),
            proved,
            assumptions: assumptions.into_iter().map(Assumption::named).collect(),
            deadlock_assumptions: by_deadlocks.into_iter().map(Assumption::named).collect(),
            unknown_reasons: reasons.into_iter().collect(),
            stats: Stats {
                executions: exploration.runs.executions,
                steps: exploration.steps,
                search_seconds: explored.seconds,
                explored: exploration.explored,
                pruning: explored.pruning,
                ..Stats::default()
            },
        },
    }
}

/// What was confirmed of a search that did not come to its end, for this reason.
pub(crate) fn unfinished(mut shown: Vec<Shown>, reason: UnknownReason) -> Draft {
    sort(&mut shown);
    let races = shown.iter().any(|shown| shown.finding.kind == FindingKind::DataRace);
    let used: BTreeSet<&'static str> =
        shown.iter().flat_map(|shown| shown.finding.assumptions.iter().copied()).collect();
    let rest = Outcome {
        verdict: if races { Verdict::Race } else { Verdict::Unknown },
        deadlocks: if has_deadlock(&shown) { Deadlocks::Found } else { Deadlocks::Unknown },
        assumptions: used.into_iter().map(Assumption::named).collect(),
        ..unknown(vec![reason])
    };
    Draft { shown, rest }
}

fn has_deadlock(shown: &[Shown]) -> bool {
    let deadlock = FindingKind::Problem(ProblemKind::Deadlock);
    shown.iter().any(|shown| shown.finding.kind == deadlock)
}

/// Races first, then by place; numbered in that order.
fn sort(shown: &mut [Shown]) {
    shown.sort_by_key(|shown| {
        let finding = &shown.finding;
        let mut places: Vec<Frame> = finding.accesses.iter().map(|access| access.at.clone()).collect();
        places.sort();
        (finding.kind, places, finding.variable.clone())
    });
    for (index, shown) in shown.iter_mut().enumerate() {
        shown.finding.id = format!("f{}", index + 1);
        shown.finding.rank = index as u32 + 1;
    }
}

/// The every-access mode looks at simultaneity, not at order: some races have no state in which both accesses are next.
fn limits_of_mode(loaded: &Loaded, assumptions: &BTreeSet<&str>, search: &Search) -> Vec<UnknownReason> {
    let mut reasons = Vec::new();
    if search.mode == Mode::EveryAccess {
        if assumptions.contains("A-SC") {
            reasons.push(plain(
                "an order may rest on an atomic that does not synchronise; every-access mode cannot tell",
            ));
        }
        if loaded.has_unordered_outcomes() || loaded.options.spurious_wakeups == SpuriousWakeups::Off {
            reasons.push(plain(
                "the outcome of a try, timed or compare-exchange operation may hide a race from the every-access mode",
            ));
        }
    }
    reasons
}

fn reason(program: &Program, gap: &Gap, explored: &Explored, search: &Search) -> UnknownReason {
    match gap {
        Gap::Unsupported { site, reason } => {
            UnknownReason { place: place(program, *site), text: reason.clone() }
        }
        Gap::Machine { reason } => plain(&format!("a limit was reached: {reason}")),
        Gap::RunSteps => plain("a run was longer than the limit on visible operations in one run"),
        Gap::RunEvents => plain("a run had more events than are kept"),
        Gap::Preemptions => plain("runs with more preemptions than the bound were left out"),
        Gap::LoopRounds => plain("a thread came to the same operation more often than the bound on loops"),
        Gap::PlainLoop => {
            plain("a loop without synchronisation did not end; other races in it were not looked for")
        }
        Gap::CutShort { site, kind } => UnknownReason { place: place(program, *site), text: cut_short(kind) },
        Gap::Sample => plain("runs were picked by chance, so others may behave differently"),
        Gap::Steps => plain("the limit on visible operations over all runs was reached"),
        Gap::Executions => {
            plain(&format!("the limit of {} executions was reached", search.executions.unwrap_or(u64::MAX)))
        }
        Gap::Time => plain("the time limit was reached"),
        Gap::Interrupted => plain(&explored.stopped),
    }
}

fn cut_short(kind: &str) -> String {
    format!(
        "executions end at an error ({kind}) after which the real program may go on; what follows was not seen"
    )
}

/// Whether executions ended at an error of this kind although the program may go on.
pub(crate) fn is_cut_short(outcome: &Outcome, kind: ProblemKind) -> bool {
    let text = cut_short(kind.name());
    outcome.unknown_reasons.iter().any(|reason| reason.text == text)
}

/// `file:line`, or the function where there is no line.
pub(crate) fn place(program: &Program, site: SiteId) -> String {
    let Some(info) = program.sites.get(site) else { return String::new() };
    match info.span.filter(|span| span.line > 0).and_then(|span| Some((span, program.files.get(span.file)?)))
    {
        Some((span, file)) => format!("{file}:{}", span.line),
        None => {
            program.functions.get(info.function).map(|f| program.text(f.name).to_owned()).unwrap_or_default()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Draft, Shown, merge};
    use crate::confirm::Confirmed;
    use crate::engine::Explored;
    use crate::load::Loaded;
    use crate::reached::Reached;
    use crate::witness::Claim;
    use crate::{Goal, Mode, Search, bug, plain};
    use raddle_base::{IdVec, SiteId};
    use raddle_certify::Witness;
    use raddle_event::ProblemKind;
    use raddle_explore::enumerate::{Coverage, Exploration, Gap, RunCount};
    use raddle_finding::{
        AccessReport, Deadlocks, Evidence, Finding, FindingKind, Frame, Outcome, ThreadReport, Verdict,
    };
    use raddle_interp::Options;
    use raddle_ir::{DataModel, Program};
    use raddle_libmodel::Models;
    use std::collections::BTreeSet;
    use std::sync::{Arc, OnceLock};

    fn loaded() -> Loaded {
        Loaded {
            program: Arc::new(Program::new(DataModel::Lp64)),
            models: Arc::new(Models { meanings: IdVec::new() }),
            options: Options::default(),
            hash: OnceLock::new(),
            config: None,
            stdin_digest: None,
            warnings: Vec::new(),
            assumptions: vec!["A-LAYOUT"],
            entries: Vec::new(),
            has_main: true,
            bugs: Vec::new(),
            stop: Arc::default(),
            _release: None,
        }
    }

    fn complete() -> Explored {
        let exploration = Exploration {
            races: Vec::new(),
            problems: Vec::new(),
            coverage: Coverage::Complete,
            unknown_reasons: BTreeSet::new(),
            deadlocks: Deadlocks::None,
            runs: RunCount { executions: 3, infeasible: 0, truncated: 0 },
            steps: 20,
            passes: 1,
            explored: None,
            assumptions: BTreeSet::from(["A-THREAD"]),
        };
        Explored {
            exploration,
            pruning: None,
            seconds: 0.0,
            incomplete: Vec::new(),
            stopped: String::new(),
            tree: Err(String::new()),
            reached: Reached::default(),
            warnings: Vec::new(),
        }
    }

    pub(crate) fn shown(kind: FindingKind, line: u32, variable: &str) -> Shown {
        let at = Frame { file: "a.c".to_owned(), line, column: 1, function: "f".to_owned() };
        let access = AccessReport {
            at,
            thread: ThreadReport { name: "T1 (f)".to_owned(), created: Vec::new() },
            action: "write".to_owned(),
            atomic: false,
            expression: variable.to_owned(),
            locks: Vec::new(),
            stack: Vec::new(),
        };
        Shown {
            finding: Finding {
                id: String::new(),
                kind,
                variable: variable.to_owned(),
                accesses: vec![access.clone(), access],
                evidence: Evidence::Replayed { schedule: Default::default(), file: None, natively: None },
                engine: "explore",
                rank: 0,
                detail: String::new(),
                assumptions: vec!["A-MALLOC"],
                protection: None,
            },
            witness: Witness::default(),
            claim: Claim::Race(SiteId(0), SiteId(1)),
        }
    }

    fn outcome(loaded: &Loaded, explored: &Explored, shown: Vec<Shown>, search: &Search) -> Outcome {
        let confirmed = Confirmed { shown, doubtful: Vec::new(), refused: Vec::new() };
        Draft::into_outcome(merge(loaded, explored, confirmed, search))
    }

    fn ids(outcome: &Outcome) -> Vec<&str> {
        outcome.assumptions.iter().map(|assumption| assumption.id).collect()
    }

    #[test]
    fn safe_when_everything_was_seen() {
        let safe = outcome(&loaded(), &complete(), Vec::new(), &Search::default());
        assert_eq!((safe.verdict, safe.deadlocks), (Verdict::Safe, Deadlocks::None));
        assert_eq!(safe.proved[0].by, "explore");
        assert_eq!(ids(&safe), ["A-LAYOUT", "A-THREAD"]);
        assert_eq!(safe.stats.executions, 3);
    }

    #[test]
    fn anything_left_open_is_unknown() {
        let search = Search::default();
        type Change = fn(&mut Loaded, &mut Explored);
        let open: [(&str, Change); 7] = [
            ("no clients", |l, _| l.entries.push("open".to_owned())),
            ("executions", |_, e| e.exploration.unknown_reasons.extend([Gap::Executions])),
            ("deep", |_, e| {
                e.exploration.unknown_reasons.insert(Gap::Machine { reason: "too deep".to_owned() });
            }),
            ("asm", |_, e| {
                let reason = "asm".to_owned();
                e.exploration.unknown_reasons.insert(Gap::Unsupported { site: SiteId(0), reason });
            }),
            ("every run", |_, e| e.exploration.coverage = Coverage::Partial),
            ("values", |_, e| e.incomplete.push(plain("not all values"))),
            ("bug in Raddle", |l, _| l.bugs.push(bug("odd"))),
        ];
        for (word, change) in open {
            let (mut loaded, mut explored) = (loaded(), complete());
            change(&mut loaded, &mut explored);
            let unknown = outcome(&loaded, &explored, Vec::new(), &search);
            assert_eq!(unknown.verdict, Verdict::Unknown, "{word}");
            assert_eq!(unknown.deadlocks, Deadlocks::Unknown, "{word}");
            assert!(unknown.proved.is_empty());
            assert!(unknown.unknown_reasons.iter().any(|reason| reason.text.contains(word)), "{word}");
        }
        let bug = vec![bug("a data race was not confirmed")];
        for confirmed in [
            Confirmed { shown: Vec::new(), doubtful: Vec::new(), refused: bug.clone() },
            Confirmed { shown: Vec::new(), doubtful: bug, refused: Vec::new() },
        ] {
            let unknown = merge(&loaded(), &complete(), confirmed, &search).into_outcome();
            assert_eq!(unknown.verdict, Verdict::Unknown);
        }
    }

    #[test]
    fn a_race_stays_a_race() {
        let mut explored = complete();
        explored.exploration.unknown_reasons.insert(Gap::Time);
        explored.exploration.coverage = Coverage::Partial;
        let race = vec![shown(FindingKind::DataRace, 7, "x")];
        let race =
            outcome(&loaded(), &explored, race, &Search { goal: Goal::FirstRace, ..Search::default() });
        assert_eq!(race.verdict, Verdict::Race);
        assert_eq!(race.unknown_reasons.len(), 1);
        assert_eq!(ids(&race), ["A-LAYOUT", "A-MALLOC", "A-THREAD"]);
    }

    #[test]
    fn a_deadlock_is_no_race() {
        let mut explored = complete();
        explored.exploration.deadlocks = Deadlocks::Found;
        let deadlock = vec![shown(FindingKind::Problem(ProblemKind::Deadlock), 7, "")];
        let found = outcome(&loaded(), &explored, deadlock, &Search::default());
        assert_eq!((found.verdict, found.deadlocks), (Verdict::Safe, Deadlocks::Found));
        // Claimed and not confirmed.
        let none = outcome(&loaded(), &explored, Vec::new(), &Search::default());
        assert_eq!(none.deadlocks, Deadlocks::Unknown);
    }

    #[test]
    fn findings_are_sorted_and_numbered() {
        let findings = vec![
            shown(FindingKind::Problem(ProblemKind::Abort), 1, ""),
            shown(FindingKind::DataRace, 9, "x"),
            shown(FindingKind::DataRace, 10, "a"),
            shown(FindingKind::DataRace, 9, "b"),
        ];
        let sorted = outcome(&loaded(), &complete(), findings, &Search::default()).findings;
        let order: Vec<_> = sorted.iter().map(|f| (f.id.as_str(), f.rank, f.variable.as_str())).collect();
        assert_eq!(order, [("f1", 1, "b"), ("f2", 2, "x"), ("f3", 3, "a"), ("f4", 4, "")]);
    }

    #[test]
    fn the_every_access_mode_knows_its_limits() {
        let search = Search { mode: Mode::EveryAccess, ..Search::default() };
        assert_eq!(outcome(&loaded(), &complete(), Vec::new(), &search).verdict, Verdict::Safe);
        let mut weak = complete();
        weak.exploration.assumptions.insert("A-SC");
        assert_eq!(outcome(&loaded(), &weak, Vec::new(), &search).verdict, Verdict::Unknown);
        assert_eq!(outcome(&loaded(), &weak, Vec::new(), &Search::default()).verdict, Verdict::Safe);
    }
}
