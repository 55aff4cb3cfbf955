//! The words of the forms that programs read, JSON and SARIF: part of the schema, never changed for style.

use crate::full::shell_word;
use raddle_finding::{Confirmation, Deadlocks, Evidence, Scope, UnknownReason, Verdict};

pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Race => "race",
        Verdict::Safe => "safe",
        Verdict::Unknown => "unknown",
    }
}

pub(crate) fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::AllInputs => "all inputs",
        Scope::ThisInput => "this input",
    }
}

pub(crate) fn deadlocks(deadlocks: Deadlocks) -> &'static str {
    match deadlocks {
        Deadlocks::Found => "found",
        Deadlocks::None => "none",
        Deadlocks::Unknown => "unknown",
    }
}

pub(crate) fn evidence(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Replayed { .. } => "replayed",
        Evidence::Observed => "observed",
        Evidence::Predicted { confirmation: Confirmation::Unconfirmed { .. }, .. } => "predicted",
        Evidence::Predicted { .. } => "replayed",
        Evidence::Warning { .. } => "warning",
    }
}

/// The command that shows the finding again, where a schedule was written.
pub(crate) fn replay(evidence: &Evidence) -> Option<String> {
    match evidence {
        Evidence::Replayed { file: Some(file), .. } => Some(format!("raddle replay {}", shell_word(file))),
        Evidence::Predicted {
            confirmation:
                Confirmation::Replayed { file: Some(file) } | Confirmation::Interpreted { file: Some(file) },
            ..
        } => Some(format!("raddle replay {}", shell_word(file))),
        _ => None,
    }
}

/// `q.c:12: why`
pub(crate) fn reason(reason: &UnknownReason) -> String {
    match reason.place.as_str() {
        "" => reason.text.clone(),
        place => format!("{place}: {}", reason.text),
    }
}
