//! What only this crate can make: a race or an error that a replay has shown.

use crate::Witness;
use raddle_base::SiteId;
use raddle_event::ProblemKind;
use raddle_finding::AccessReport;
use std::collections::BTreeSet;

/// A race seen in a replay. No public constructor: see [`crate::confirm_race`].
#[derive(Clone, Debug)]
pub struct ConfirmedRace {
    pub(crate) sites: (SiteId, SiteId),
    pub(crate) variable: String,
    pub(crate) accesses: [AccessReport; 2],
    pub(crate) assumptions: Vec<&'static str>,
    pub(crate) detail: String,
    pub(crate) doubt: BTreeSet<SiteId>,
    pub(crate) witness: Witness,
}

/// An error seen in a replay. No public constructor: see [`crate::confirm_problem`].
#[derive(Clone, Debug)]
pub struct ConfirmedProblem {
    pub(crate) kind: ProblemKind,
    pub(crate) variable: String,
    pub(crate) accesses: Vec<AccessReport>,
    pub(crate) assumptions: Vec<&'static str>,
    pub(crate) detail: String,
    pub(crate) witness: Witness,
}

impl ConfirmedRace {
    /// In the order in which they came in the replay.
    pub fn sites(&self) -> (SiteId, SiteId) {
        self.sites
    }

    pub fn variable(&self) -> &str {
        &self.variable
    }

    pub fn accesses(&self) -> &[AccessReport; 2] {
        &self.accesses
    }

    /// Numbered assumptions on which the replayed run rests.
    pub fn assumptions(&self) -> &[&'static str] {
        &self.assumptions
    }

    /// Which object it is and where it was allocated, in words; empty for a global.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Calls of functions without body or model that could have ordered the accesses or kept them apart; empty: there are none.
    pub fn doubt(&self) -> &BTreeSet<SiteId> {
        &self.doubt
    }

    pub fn witness(&self) -> &Witness {
        &self.witness
    }
}

impl ConfirmedProblem {
    pub fn kind(&self) -> ProblemKind {
        self.kind
    }

    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// One per blocked thread for a deadlock, else one.
    pub fn accesses(&self) -> &[AccessReport] {
        &self.accesses
    }

    pub fn assumptions(&self) -> &[&'static str] {
        &self.assumptions
    }

    pub fn detail(&self) -> &str {
        &self.detail
    }

    pub fn witness(&self) -> &Witness {
        &self.witness
    }
}
