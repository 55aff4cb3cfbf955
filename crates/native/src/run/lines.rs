//! The lines that the run-time library writes: one JSON object each, numbers only.
//!
//! Several processes may write to one file, and any of them may be cut off in the middle of a line. A line that cannot be read is
//! counted, never fatal.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What happened in a run, in order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) lines: Vec<Line>,
    unreadable: usize,
    missing: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Line {
    /// 0 where the library does not say.
    #[serde(default)]
    pub(crate) pid: u32,
    #[serde(flatten)]
    pub(crate) what: What,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// A process begins to write; after `exec` a second time.
    Start(Start),
    /// A process that `fork` made; its program, libraries and threads are those of its parent.
    Fork(Fork),
    Thread(Thread),
    Race(Race),
    /// A shared object with sites of its own.
    Library(Library),
    /// The process writes a trace to a file of its own.
    Trace(Trace),
    /// From here on not everything was seen.
    Gap(Gap),
    /// The findings rest on an assumption.
    Assumes(Assumes),
    Exit(Exit),
    Crash(serde::de::IgnoredAny),
    /// How an enforced schedule goes.
    Replay(Replay),
    /// An error of the program with a synchronisation object.
    Fault(Fault),
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Replay {
    pub(crate) status: Status,
    #[serde(default)]
    pub(crate) step: usize,
    #[serde(default)]
    pub(crate) steps: usize,
    #[serde(default)]
    pub(crate) thread: u32,
    #[serde(default)]
    pub(crate) expected: Option<Stop>,
    #[serde(default)]
    pub(crate) arrived: Option<Stop>,
    #[serde(default)]
    pub(crate) why: String,
    /// The two that race.
    #[serde(default)]
    pub(crate) accesses: Vec<Nth>,
    /// Who waits for what in a deadlock.
    #[serde(default)]
    pub(crate) threads: Vec<Waiting>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// The last step was done; the program goes on.
    Followed,
    Reproduced,
    Diverged,
    Deadlock,
    /// After the last step, nothing happened for too long.
    Silent,
    /// An assumption of the program does not hold.
    Infeasible,
}

/// An access by its thread and place, and the how-manieth of them it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Nth {
    pub thread: u32,
    pub site: u32,
    pub nth: u32,
}

/// A visible operation and where it is.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Stop {
    pub(crate) kind: String,
    pub(crate) site: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) thread: u32,
    pub(crate) kind: String,
    pub(crate) site: u32,
    /// Calls, innermost first.
    #[serde(default)]
    pub(crate) stack: Vec<u32>,
    #[serde(default)]
    pub(crate) locks: Vec<Lock>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fault {
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) site: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Gap {
    pub(crate) what: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Exit {
    /// How many races the process has reported.
    #[serde(default)]
    pub(crate) races: usize,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Assumes {
    pub(crate) id: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Trace {
    pub(crate) path: PathBuf,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Start {
    #[serde(default)]
    pub(crate) exe: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fork {
    #[serde(default)]
    pub(crate) parent: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Library {
    pub(crate) path: String,
    /// The first number of its sites.
    pub(crate) base: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Thread {
    pub(crate) id: u32,
    /// A site in the function that it starts with.
    #[serde(default)]
    pub(crate) function_site: u32,
    /// Where it was created, and the calls that led there, innermost first.
    #[serde(default)]
    pub(crate) site: u32,
    #[serde(default)]
    pub(crate) stack: Vec<u32>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Race {
    pub(crate) accesses: [Access; 2],
    #[serde(default)]
    pub(crate) block: Option<Block>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Access {
    pub(crate) thread: u32,
    pub(crate) site: u32,
    pub(crate) write: bool,
    #[serde(default)]
    pub(crate) atomic: bool,
    /// In bytes; 0: where and how it was is not known any more.
    #[serde(default)]
    pub(crate) size: Option<u32>,
    /// Calls, innermost first.
    #[serde(default)]
    pub(crate) stack: Vec<u32>,
    /// `None`: not known any more.
    #[serde(default)]
    pub(crate) locks: Option<Vec<Lock>>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Lock {
    pub(crate) addr: u64,
    #[serde(default)]
    pub(crate) site: u32,
    #[serde(default)]
    pub(crate) mode: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Block {
    #[serde(default)]
    pub(crate) size: u64,
    #[serde(default)]
    pub(crate) thread: u32,
    #[serde(default)]
    pub(crate) site: u32,
    #[serde(default)]
    pub(crate) stack: Vec<u32>,
}

impl Log {
    pub(crate) fn read(file: &Path) -> Self {
        // A device may have no end.
        let is_file = std::fs::metadata(file).is_ok_and(|meta| meta.is_file());
        let bytes = if is_file { std::fs::read(file).ok() } else { None };
        match bytes {
            Some(bytes) => Self::parse(&bytes),
            None => Self::unread(),
        }
    }

    /// What the program wrote cannot be read.
    pub(crate) fn unread() -> Self {
        Self { missing: true, ..Self::default() }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut log = Self::default();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(line) => log.lines.push(line),
                Err(_) => log.unreadable += 1,
            }
        }
        log
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.missing {
            warnings.push(
                "findings could not be kept: the program wrote none, or there is no room for them".to_owned(),
            );
        }
        if self.unreadable > 0 {
            warnings.push(format!("{} findings of the program could not be read", self.unreadable));
        }
        warnings
    }

    /// Why some findings may be missing.
    pub(crate) fn lost(&self) -> Option<String> {
        if self.missing || !self.lines.iter().any(|line| matches!(line.what, What::Start(_))) {
            return Some("it wrote none, or there is no room for them".to_owned());
        }
        if self.unreadable > 0 {
            return Some(format!("{} lines that it wrote cannot be read", self.unreadable));
        }
        let mut reported: BTreeMap<u32, usize> = BTreeMap::new();
        for line in &self.lines {
            let races = reported.entry(line.pid).or_default();
            match &line.what {
                What::Start(_) | What::Fork(_) => *races = 0,
                What::Race(_) => *races += 1,
                What::Exit(exit) if exit.races > *races => {
                    return Some(format!("{} of {} races are missing", exit.races - *races, exit.races));
                }
                _ => {}
            }
        }
        None
    }

    /// What made the run's findings incomplete, each once.
    pub(crate) fn gaps(&self) -> BTreeSet<String> {
        let gaps = self.lines.iter().filter_map(|line| match &line.what {
            What::Gap(gap) => Some(gap.what.clone()),
            _ => None,
        });
        gaps.collect()
    }

    /// The ids of the assumptions that the findings rest on.
    pub(crate) fn assumptions(&self) -> BTreeSet<String> {
        let ids = self.lines.iter().filter_map(|line| match &line.what {
            What::Assumes(assumes) => Some(assumes.id.clone()),
            _ => None,
        });
        ids.collect()
    }

    /// Traces that processes besides the first have written.
    pub(crate) fn traces(&self) -> Vec<PathBuf> {
        let traces = self.lines.iter().filter_map(|line| match &line.what {
            What::Trace(trace) => Some(trace.path.clone()),
            _ => None,
        });
        traces.collect()
    }

    /// Processes that said that they begin, not that they end, and are there.
    pub(crate) fn still_running(&self, but: u32) -> BTreeSet<u32> {
        let mut begun = BTreeSet::new();
        for line in &self.lines {
            match line.what {
                What::Start(_) | What::Fork(_) => begun.insert(line.pid),
                What::Exit(_) | What::Crash(_) => begun.remove(&line.pid),
                _ => continue,
            };
        }
        begun.retain(|pid| *pid != 0 && *pid != but && Path::new(&format!("/proc/{pid}")).exists());
        begun
    }
}

#[cfg(test)]
mod tests {
    use super::{Log, What};

    const LINES: &str = concat!(
        r#"{"pid":7,"start":{"exe":"/x"}}"#,
        "\n",
        r#"{"thread":{"id":1,"parent":0,"site":3,"function":99,"stack":[4]}}"#,
        "\n",
        r#"{"race":{"addr":5,"size":4,"accesses":[{"thread":1,"site":12,"write":true,"atomic":false,"size":4,"stack":[1],"locks":[{"addr":9,"site":2,"mode":"exclusive"}]},{"thread":0,"site":13,"write":false}],"block":null}}"#,
        "\n",
        r#"{"pid":7,"exit":{"races":1}}"#,
        "\n"
    );

    #[test]
    fn lines_are_read() {
        let log = Log::parse(LINES.as_bytes());
        assert_eq!(log.unreadable, 0);
        let races: Vec<_> = log
            .lines
            .iter()
            .filter_map(|line| if let What::Race(race) = &line.what { Some(race) } else { None })
            .collect();
        assert_eq!(
            (races.len(), races[0].accesses[0].site, races[0].accesses[0].locks.as_ref().unwrap()[0].addr),
            (1, 12, 9)
        );
        assert!(log.still_running(0).is_empty());
    }

    #[test]
    fn damage_loses_one_line() {
        for index in 0..LINES.len() {
            let whole = LINES[..index].matches('\n').count();
            assert!(Log::parse(&LINES.as_bytes()[..index]).lines.len() >= whole);
            for value in [0, b'{', b'"', b'9', b'\n', 0xFF] {
                let mut changed = LINES.as_bytes().to_vec();
                changed[index] = value;
                let log = Log::parse(&changed);
                assert!(log.lines.len() + log.unreadable >= 3, "byte {index}");
            }
        }
        let deep = [b'['; 100_000];
        assert!(Log::parse(&deep).lines.is_empty());
    }
}
