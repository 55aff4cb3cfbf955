//! What Raddle tells its user: verdict, findings, evidence, assumptions. Plain values; only `report` makes sentences of them.

mod assumption;
mod explanation;
mod protection;
mod race;
mod recording;
mod verdict;

pub use assumption::Assumption;
pub use explanation::{
    ExplainedAccess, ExplainedLock, Explanation, OrderBy, OtherAccess, PairStanding, Reach, RunningThread,
    Why,
};
pub use protection::{OrderedAfter, Passage, ProtectedAccess, Protection};
pub use race::{
    AccessReport, Confirmation, Evidence, Finding, FindingKind, Frame, LockReport, Natively, ThreadReport,
};
pub use recording::{RecordedEvent, RecordedLoop, Recording};
pub use verdict::{
    CertificateFile, Deadlocks, Outcome, PredictionCounts, Proved, PruningCounts, Scope, StaticCounts, Stats,
    UnknownReason, Verdict,
};
