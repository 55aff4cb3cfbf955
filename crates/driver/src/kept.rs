//! Checkpoint files: a search that was stopped or killed, to go on with later.
//!
//! One JSON object. It names the program and all that decides what its runs are; a search of anything else is refused, and so is a
//! file that was cut or changed. A new file takes the place of the old one at once, so that there is always a whole one.

use crate::load::{Loaded, digest};
use crate::reached::{Reached, ReachedNumbers};
use crate::{Checkpoint, DriverError, Goal, Search, Start};
use raddle_explore::dpor::{Kept, Misfit};
use raddle_interp::Interp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FORMAT: &str = "raddle-checkpoint 2";

#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    /// Of the rest, as text.
    digest: String,
    content: String,
}

#[derive(Serialize, Deserialize)]
struct Content {
    /// What decides the runs of the search, by name.
    search: Vec<(String, String)>,
    /// Values of the environment that were not all tried.
    uncovered: BTreeSet<String>,
    reached: ReachedNumbers,
    kept: Kept,
}

/// What a search goes on from.
pub(crate) struct Resumed {
    pub(crate) kept: Kept,
    pub(crate) seen: Seen,
}

/// What the machines of earlier searches noted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Values of the environment that were not all tried.
    pub(crate) uncovered: BTreeSet<String>,
    pub(crate) reached: Reached,
}

/// Where the search begins; an old file is never overwritten by a search that does not go on from it.
pub(crate) fn begin(loaded: &Loaded, search: &Search) -> Result<Option<Resumed>, DriverError> {
    match &search.checkpoint {
        None => Ok(None),
        Some(Checkpoint { file, start: Start::Resume }) => read(file, loaded, search).map(Some),
        Some(Checkpoint { file, start: Start::New }) if file.exists() => {
            Err(DriverError::CheckpointExists { path: file.clone() })
        }
        Some(Checkpoint { start: Start::New, .. }) => Ok(None),
    }
}

/// Writes the state of a search.
pub(crate) fn write(
    path: &Path,
    loaded: &Loaded,
    search: &Search,
    kept: &Kept,
    machines: &[&Interp],
    before: &Seen,
) -> std::io::Result<()> {
    let uncovered = machines.iter().flat_map(|machine| machine.uncovered());
    let mut reached = Reached::by(machines.iter().copied());
    reached.add(before.reached.clone());
    let content = Content {
        search: identity(loaded, search),
        uncovered: uncovered.chain(before.uncovered.iter().cloned()).collect(),
        reached: reached.numbers(),
        kept: kept.clone(),
    };
    let content = serde_json::to_string(&content)?;
    let digest = format!("{:032x}", digest(content.as_bytes()));
    let text = serde_json::to_string(&File { format: FORMAT.to_owned(), digest, content })?;
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let aside = PathBuf::from(aside);
    std::fs::write(&aside, text)?;
    std::fs::rename(&aside, path)
}

/// Reads what [`write`] wrote for the same search of the same program.
fn read(path: &Path, loaded: &Loaded, search: &Search) -> Result<Resumed, DriverError> {
    let broken =
        |message: &str| DriverError::BrokenCheckpoint { path: path.into(), message: message.to_owned() };
    let text =
        std::fs::read_to_string(path).map_err(|source| DriverError::Read { path: path.into(), source })?;
    let file: File = serde_json::from_str(&text).map_err(|_| broken("it is cut, or something else"))?;
    if file.format != FORMAT {
        return Err(broken("it is of another version"));
    }
    if file.digest != format!("{:032x}", digest(file.content.as_bytes())) {
        return Err(broken("it was changed"));
    }
    let content: Content = serde_json::from_str(&file.content).map_err(|_| broken("it is damaged"))?;
    let present = identity(loaded, search);
    if let Some((name, _)) = present.iter().find(|part| !content.search.contains(part)) {
        return Err(DriverError::OtherCheckpoint { path: path.into(), what: name.clone() });
    }
    let seen = Seen { uncovered: content.uncovered, reached: content.reached.into() };
    Ok(Resumed { kept: content.kept, seen })
}

pub(crate) fn misfit(path: &Path, misfit: Misfit) -> String {
    let what = match misfit {
        Misfit::Found => "a schedule in it is not possible",
        Misfit::Way => "a state in it cannot be reached",
        Misfit::Reference => "it refers to what is not there",
    };
    format!("{} does not fit the program: {what}", path.display())
}

fn identity(loaded: &Loaded, search: &Search) -> Vec<(String, String)> {
    let bound = |bound: Option<u32>| bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string());
    let goal = match search.goal {
        Goal::AllRaces => "all races",
        Goal::FirstRace => "first race",
    };
    let options = &loaded.options;
    let models = format!("{:?}", loaded.models.meanings.values().collect::<Vec<_>>());
    [
        ("program", format!("{:032x}", loaded.hash())),
        ("configuration", format!("{:032x}", digest(models.as_bytes()))),
        ("version of Raddle", env!("CARGO_PKG_VERSION").to_owned()),
        ("arguments", format!("{:?}", options.args)),
        ("standard input", format!("{:032x}", digest(&options.stdin))),
        ("environment", format!("{:?}", options.env)),
        ("spurious wake-ups", format!("{:?}", options.spurious_wakeups)),
        ("goal", goal.to_owned()),
        ("--preemptions", bound(search.preemptions)),
        ("--loop-bound", bound(search.rounds)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
