//! What a check has found out so far, in a place from which an answer can be made when the rest of it is left behind or fails.

use crate::aside::Lost;
use crate::load::Loaded;
use crate::outcome::{self, Draft, Shown};
use crate::reached::Reached;
use crate::statics::StaticResult;
use crate::{Answer, combine, plain};
use raddle_finding::{CertificateFile, UnknownReason};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Clones are the same board.
#[derive(Clone, Default)]
pub(crate) struct Board(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    phase: Phase,
    program: Option<Arc<Loaded>>,
    statically: Option<Arc<StaticResult>>,
    confirmed: Vec<Shown>,
    /// The outcome, once nothing but its certificate is missing.
    settled: Option<Draft>,
    warnings: Vec<String>,
}

/// What is being done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Compiling,
    Analysing,
    Searching,
    Confirming,
    Certifying,
}

impl Phase {
    fn words(self) -> &'static str {
        match self {
            Phase::Compiling => "while the program was compiled",
            Phase::Analysing => "in the static analysis",
            Phase::Searching => "in a part of the search that cannot be stopped",
            Phase::Confirming => "while findings were replayed",
            Phase::Certifying => "while the tree of the search was checked",
        }
    }
}

impl Board {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.known().phase = phase;
    }

    pub(crate) fn loaded(&self, program: &Arc<Loaded>) {
        let mut known = self.known();
        known.warnings.clone_from(&program.warnings);
        known.program = Some(Arc::clone(program));
    }

    pub(crate) fn analysed(&self, statically: &Arc<StaticResult>) {
        self.known().statically = Some(Arc::clone(statically));
    }

    pub(crate) fn confirmed(&self, shown: &Shown) {
        self.known().confirmed.push(shown.clone());
    }

    pub(crate) fn settled(&self, draft: &Draft, warnings: &[String]) {
        let mut known = self.known();
        known.settled = Some(draft.clone());
        known.warnings = warnings.to_vec();
    }

    /// The answer without what a limit or a bug left unfinished.
    pub(crate) fn without(&self, lost: Lost) -> Answer {
        let phase = self.known().phase.words();
        self.answer(match lost {
            Lost::Stopped(limit) => plain(&format!("{limit} {phase}")),
            Lost::Bug(bug) => bug,
        })
    }

    fn answer(&self, reason: UnknownReason) -> Answer {
        let mut known = std::mem::take(&mut *self.known());
        if let Some(mut draft) = known.settled {
            for proved in &mut draft.rest.proved {
                if proved.certificate == CertificateFile::Unwritten && proved.variable.is_empty() {
                    proved.certificate = CertificateFile::Missing(reason.text.clone());
                }
            }
            return Answer { outcome: draft.into_outcome(), warnings: known.warnings };
        }
        let mut draft = outcome::unfinished(known.confirmed, reason);
        if let (Some(program), Some(statically)) = (&known.program, &known.statically) {
            combine::combine(program, statically, &Reached::default(), &mut draft, &mut known.warnings);
        }
        Answer { outcome: draft.into_outcome(), warnings: known.warnings }
    }
}

#[cfg(test)]
mod tests {
    use super::{Board, Phase};
    use crate::aside::Lost;
    use crate::outcome::tests::shown;
    use crate::outcome::unfinished;
    use crate::{bug, plain};
    use raddle_event::ProblemKind;
    use raddle_finding::{CertificateFile, Deadlocks, FindingKind, Proved, Verdict};

    fn stopped() -> Lost {
        Lost::Stopped("the time limit of 3 s was reached".to_owned())
    }

    #[test]
    fn what_was_confirmed_stays() {
        let board = Board::default();
        board.enter(Phase::Confirming);
        board.confirmed(&shown(FindingKind::Problem(ProblemKind::Deadlock), 9, ""));
        board.confirmed(&shown(FindingKind::DataRace, 7, "x"));
        let outcome = board.without(stopped()).outcome;
        assert_eq!((outcome.verdict, outcome.deadlocks), (Verdict::Race, Deadlocks::Found));
        let ids: Vec<&str> = outcome.findings.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(ids, ["f1", "f2"]);
        assert_eq!(outcome.findings[0].kind, FindingKind::DataRace);
        assert_eq!(
            outcome.unknown_reasons[0].text,
            "the time limit of 3 s was reached while findings were replayed"
        );
        assert_eq!(outcome.assumptions[0].id, "A-MALLOC");
    }

    #[test]
    fn without_anything_it_is_unknown() {
        let outcome = Board::default().without(Lost::Bug(bug("odd"))).outcome;
        assert_eq!((outcome.verdict, outcome.deadlocks), (Verdict::Unknown, Deadlocks::Unknown));
        assert!(outcome.unknown_reasons[0].text.contains("a bug in Raddle"));
    }

    #[test]
    fn a_settled_answer_lacks_its_certificate_only() {
        let board = Board::default();
        let mut draft = unfinished(Vec::new(), plain("none"));
        draft.rest.verdict = Verdict::Safe;
        draft.rest.unknown_reasons.clear();
        let certificate = CertificateFile::Unwritten;
        draft.rest.proved = vec![Proved { variable: String::new(), by: "explore", certificate }];
        board.settled(&draft, &[]);
        board.enter(Phase::Certifying);
        let outcome = board.without(stopped()).outcome;
        assert_eq!(outcome.verdict, Verdict::Safe);
        let why = "the time limit of 3 s was reached while the tree of the search was checked".to_owned();
        assert_eq!(outcome.proved[0].certificate, CertificateFile::Missing(why));
    }
}
