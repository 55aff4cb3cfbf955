//! Makes text of findings: terminal reports, one-line lists, JSON, SARIF. The only place where findings become sentences.
//!
//! Everything here is a pure function of the outcome, the options and the source lines that are shown; nothing is decided.

mod concise;
mod explain;
mod full;
mod json;
mod names;
mod protection;
mod race;
mod recording;
mod sarif;
mod snippet;
mod sources;
mod style;
mod summary;

pub use concise::concise;
pub use explain::explain;
pub use full::full;
pub use json::json;
pub use recording::{recording, recording_json};
pub use sarif::sarif;
pub use sources::{FileSources, NoSources, Sources};
pub use style::{Colour, Look};
