//! Counts of judged mutants, and the file that keeps those of each part.

use raddle_testkit::mutants::{Judgement, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// By name, so that a new count needs no new format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    counts: BTreeMap<String, u64>,
}

/// Rows of the table that are always there, in this order.
const ROWS: [&str; 8] = [
    "mutants",
    "not compiled",
    "race",
    "safe",
    "unknown",
    "no answer",
    "replayed natively",
    "replayed by the interpreter only",
];

impl Tally {
    pub(super) fn add(&mut self, judgement: &Judgement) {
        self.count("mutants", 1);
        let verdict = match judgement.verdict {
            Verdict::NotC => "not compiled",
            Verdict::Race => "race",
            Verdict::Safe => "safe",
            Verdict::Unknown => "unknown",
            Verdict::Failed => "no answer",
        };
        self.count(verdict, 1);
        if let Some(native) = judgement.native {
            self.count(&format!("safe, native runs: {native}"), 1);
        }
        self.count("replayed natively", u64::from(judgement.replayed));
        self.count("replayed by the interpreter only", u64::from(judgement.interpreted));
        for contradiction in &judgement.contradictions {
            match judgement.undefined {
                Some(_) => self.count("undefined behaviour: no contradiction", 1),
                None => self.count(&format!("contradiction: {}", contradiction.kind), 1),
            }
        }
    }

    pub(super) fn add_all(&mut self, other: &Tally) {
        for (name, count) in &other.counts {
            self.count(name, *count);
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        if by > 0 {
            *self.counts.entry(name.to_owned()).or_default() += by;
        }
    }

    pub(super) fn mutants(&self) -> u64 {
        self.counts.get("mutants").copied().unwrap_or_default()
    }

    pub(super) fn contradictions(&self) -> u64 {
        let wrong = self.counts.iter().filter(|(name, _)| name.starts_with("contradiction"));
        wrong.map(|(_, count)| count).sum()
    }

    /// `mutants=250;race=40`.
    pub(super) fn line(&self) -> String {
        let parts: Vec<String> = self.counts.iter().map(|(name, count)| format!("{name}={count}")).collect();
        parts.join(";")
    }

    fn parse(text: &str) -> Option<Tally> {
        let mut counts = BTreeMap::new();
        for part in text.split(';').filter(|part| !part.is_empty()) {
            let (name, count) = part.rsplit_once('=')?;
            counts.insert(name.to_owned(), count.parse().ok()?);
        }
        Some(Tally { counts })
    }

    pub(super) fn table(&self) -> String {
        let mut text =
            String::from("| mutants of fixtures, examples and bench programs | count |\n|---|---|\n");
        let others = self.counts.keys().map(String::as_str).filter(|name| !ROWS.contains(name));
        for name in ROWS.into_iter().chain(others) {
            let _ = writeln!(text, "| {name} | {} |", self.counts.get(name).unwrap_or(&0));
        }
        text
    }
}

/// Lines `from..to commit counts`.
pub(super) struct State {
    file: Option<PathBuf>,
    parts: BTreeMap<(u64, u64), (String, Tally)>,
}

impl State {
    pub(super) fn read(file: Option<&Path>) -> Result<State, String> {
        let text = match file.map(std::fs::read_to_string) {
            None => String::new(),
            Some(Ok(text)) => text,
            Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Some(Err(error)) => return Err(format!("the state file: {error}")),
        };
        let mut parts = BTreeMap::new();
        for line in text.lines() {
            let part = parse_line(line).ok_or_else(|| format!("the state file has the line `{line}`"))?;
            parts.insert(part.0, part.1);
        }
        Ok(State { file: file.map(Path::to_path_buf), parts })
    }

    /// At this commit, or at any.
    pub(super) fn done(&self, part: &Range<u64>, commit: Option<&str>) -> Option<Tally> {
        let (at, tally) = self.parts.get(&(part.start, part.end))?;
        commit.is_none_or(|commit| at == commit).then(|| tally.clone())
    }

    pub(super) fn add(&mut self, part: &Range<u64>, commit: &str, tally: &Tally) -> Result<(), String> {
        self.parts.insert((part.start, part.end), (commit.to_owned(), tally.clone()));
        let Some(file) = &self.file else { return Ok(()) };
        let mut out = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        writeln!(out, "{}..{} {commit} {}", part.start, part.end, tally.line())
            .map_err(|error| format!("{}: {error}", file.display()))
    }
}

type Part = ((u64, u64), (String, Tally));

fn parse_line(line: &str) -> Option<Part> {
    let mut words = line.splitn(3, ' ');
    let (from, to) = words.next()?.split_once("..")?;
    let commit = words.next()?.to_owned();
    let tally = Tally::parse(words.next()?)?;
    Some(((from.parse().ok()?, to.parse().ok()?), (commit, tally)))
}

#[cfg(test)]
mod tests {
    use super::{State, Tally};

    #[test]
    fn parts_are_read_back_and_hold_for_their_commit_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("state");
        let mut tally = Tally::default();
        tally.count("mutants", 7);
        tally.count("safe, native runs: quiet", 2);
        let mut state = State::read(Some(&file)).expect("there is none yet");
        state.add(&(0..7), "abc", &tally).expect("it can be written");
        let state = State::read(Some(&file)).expect("it is readable");
        assert_eq!(state.done(&(0..7), Some("abc")), Some(tally.clone()));
        assert_eq!(state.done(&(0..7), Some("abd")), None);
        assert_eq!(state.done(&(0..7), None), Some(tally));
        assert_eq!(state.done(&(7..14), Some("abc")), None);
    }

    #[test]
    fn a_damaged_state_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("state");
        std::fs::write(&file, "0..7 abc mutants=x\n").expect("it can be written");
        assert!(State::read(Some(&file)).is_err());
    }
}
