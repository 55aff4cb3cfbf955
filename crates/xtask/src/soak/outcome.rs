//! What came out of a part, and the file that keeps it: one JSON object a line, the last one of a part counts.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    Failed,
    /// It did not stop within its share.
    Killed,
}

impl End {
    pub(super) fn name(self) -> &'static str {
        match self {
            End::Passed => "passed",
            End::Failed => "failed",
            End::Killed => "killed",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) part: String,
    pub(super) commit: String,
    pub(super) end: End,
    pub(super) seconds: f64,
    /// The time that it had, in seconds.
    pub(super) share: f64,
    /// What stands after `soak: ` on the lines that it printed.
    pub(super) counts: Vec<String>,
}

/// How a part ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ran {
    pub(super) end: End,
    pub(super) seconds: f64,
    pub(super) share: f64,
}

impl Outcome {
    pub(super) fn new(part: String, commit: String, ran: Ran, said: &str) -> Outcome {
        let Ran { end, seconds, share } = ran;
        let counts = said.lines().filter_map(|line| Some(line.split_once("soak: ")?.1.to_owned()));
        Outcome { part, commit, end, seconds, share, counts: counts.collect() }
    }

    pub(super) fn line(&self) -> String {
        let counts = self.counts.join("; ");
        format!("{} {} after {:.1} s {counts}", self.part, self.end.name(), self.seconds)
    }

    fn json(&self) -> Value {
        json!({
            "part": self.part, "commit": self.commit, "end": self.end.name(), "seconds": self.seconds, "share": self.share,
            "counts": self.counts,
        })
    }

    fn parse(line: &str) -> Option<Outcome> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let end = text("end")?;
        Some(Outcome {
            part: text("part")?,
            commit: text("commit")?,
            end: [End::Passed, End::Failed, End::Killed].into_iter().find(|known| known.name() == end)?,
            seconds: value["seconds"].as_f64()?,
            share: value["share"].as_f64()?,
            counts: value["counts"].as_array()?.iter().filter_map(|c| Some(c.as_str()?.to_owned())).collect(),
        })
    }
}

pub(super) struct State {
    file: PathBuf,
    outcomes: BTreeMap<String, Outcome>,
}

impl State {
    pub(super) fn read(file: &Path) -> Result<State, String> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{}: {error}", file.display())),
        };
        // A line that was not written in full is a part that is not done.
        let outcomes = text.lines().filter_map(Outcome::parse).map(|outcome| (outcome.part.clone(), outcome));
        Ok(State { file: file.to_path_buf(), outcomes: outcomes.collect() })
    }

    /// At one of these commits.
    pub(super) fn done(&self, part: &str, commits: &[&str]) -> Option<&Outcome> {
        self.outcomes.get(part).filter(|outcome| commits.contains(&outcome.commit.as_str()))
    }

    pub(super) fn add(&mut self, outcome: Outcome) -> Result<(), String> {
        let written = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file)
            .and_then(|mut file| writeln!(file, "{}", outcome.json()));
        self.outcomes.insert(outcome.part.clone(), outcome);
        written.map_err(|error| format!("{}: {error}", self.file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Outcome, Ran, State};

    #[test]
    fn what_is_done_at_these_commits_is_found_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("state.jsonl");
        let said = "running 1 test\nsoak: a property: 3 of 5 cases, holds\ntest result: ok\n";
        let ran = Ran { end: End::Passed, seconds: 1.5, share: 240.0 };
        let outcome = Outcome::new("order/agreement a".to_owned(), "abc".to_owned(), ran, said);
        assert_eq!(outcome.counts, ["a property: 3 of 5 cases, holds"]);
        State::read(&file).and_then(|mut state| state.add(outcome.clone())).expect("it can be written");
        let state = State::read(&file).expect("it is readable");
        assert_eq!(state.done("order/agreement a", &["abc"]), Some(&outcome));
        assert_eq!(state.done("order/agreement a", &["abd"]), None);
        assert_eq!(state.done("order/agreement a", &["abd", "abc"]), Some(&outcome));
    }
}
