//! An answer that must cover every input: what covers one input alone is `unknown` then.

use crate::{Inputs, plain};
use raddle_finding::{Deadlocks, Outcome, Scope, UnknownReason, Verdict};

/// Withdraws what the outcome says of one input alone, where every input was asked for.
pub(crate) fn demand(inputs: Inputs, outcome: &mut Outcome) {
    if inputs == Inputs::This {
        return;
    }
    if outcome.scope() == Some(Scope::ThisInput) {
        outcome.verdict = Verdict::Unknown;
        outcome.proved.retain(|proved| !proved.variable.is_empty());
        let reason = limited(outcome);
        outcome.unknown_reasons.push(reason);
        outcome.unknown_reasons.sort();
    }
    let ids = outcome.assumptions.iter().chain(&outcome.deadlock_assumptions).map(|assumption| assumption.id);
    if outcome.deadlocks == Deadlocks::None && Scope::of(ids) == Scope::ThisInput {
        outcome.deadlocks = Deadlocks::Unknown;
        outcome.deadlock_assumptions.clear();
    }
}

fn limited(outcome: &Outcome) -> UnknownReason {
    let ids: Vec<&str> = outcome
        .assumptions
        .iter()
        .map(|assumption| assumption.id)
        .filter(|id| Scope::INPUT.contains(id))
        .collect();
    plain(&format!(
        "all inputs were asked for, and the executions without a data race cover this input only ({})",
        ids.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::demand;
    use crate::Inputs;
    use crate::outcome::unknown;
    use raddle_finding::{Assumption, CertificateFile, Deadlocks, Outcome, Proved, Verdict};

    fn safe(assumptions: &[&str], for_deadlocks: &[&str]) -> Outcome {
        let named = |ids: &[&str]| ids.iter().map(|id| Assumption::named(id)).collect();
        let proved = |variable: &str| Proved {
            variable: variable.to_owned(),
            by: "explore",
            certificate: CertificateFile::Unwritten,
        };
        Outcome {
            verdict: Verdict::Safe,
            deadlocks: Deadlocks::None,
            assumptions: named(assumptions),
            deadlock_assumptions: named(for_deadlocks),
            proved: vec![proved(""), proved("x")],
            ..unknown(Vec::new())
        }
    }

    fn demanded(inputs: Inputs, mut outcome: Outcome) -> Outcome {
        demand(inputs, &mut outcome);
        outcome
    }

    #[test]
    fn one_input_is_not_enough_where_all_are_asked_for() {
        for id in ["A-INPUT", "A-IO"] {
            let one = safe(&["A-MALLOC", id], &[]);
            assert_eq!(demanded(Inputs::This, one.clone()), one);
            let all = demanded(Inputs::All, one);
            assert_eq!((all.verdict, all.deadlocks), (Verdict::Unknown, Deadlocks::Unknown));
            assert!(all.unknown_reasons[0].text.contains(id), "{all:?}");
            assert_eq!(all.proved.len(), 1, "what the static analysis proved of a variable stays");
        }
        let every = safe(&["A-MALLOC", "A-TIME"], &[]);
        assert_eq!(demanded(Inputs::All, every.clone()), every);
    }

    #[test]
    fn a_proof_for_all_inputs_keeps_its_verdict() {
        let all = demanded(Inputs::All, safe(&["A-BOUNDS"], &["A-INPUT"]));
        assert_eq!((all.verdict, all.deadlocks), (Verdict::Safe, Deadlocks::Unknown));
        assert!(all.deadlock_assumptions.is_empty() && all.unknown_reasons.is_empty());
    }
}
