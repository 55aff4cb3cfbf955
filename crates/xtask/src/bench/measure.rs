//! One run of `raddle`: wall time, processor time, peak memory, and the counters of its JSON.

use crate::tool::release_binary;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The release binary, run under GNU `time`.
pub(super) struct Tool {
    binary: PathBuf,
    processor_seconds: u32,
}

#[derive(Clone, Default)]
pub(super) struct Run {
    pub(super) seconds: f64,
    pub(super) processor_seconds: f64,
    /// Of the largest process.
    pub(super) peak_mib: f64,
    pub(super) verdict: String,
    pub(super) counters: Counters,
    pub(super) search: Search,
}

/// From `stats`, too.
#[derive(Clone, Copy, Default)]
pub(super) struct Search {
    pub(super) executions: u64,
    /// Without loading the program.
    pub(super) seconds: f64,
    /// Checks, yes, skipped.
    pub(super) pruning: Option<[u64; 3]>,
}

/// From `stats`; what the binary does not tell is `None`.
#[derive(Clone, Default)]
pub(super) struct Counters {
    pub(super) shared_variables: Option<u64>,
    pub(super) pairs: Option<u64>,
    pub(super) warnings: Option<u64>,
    pub(super) after_reduction: Option<u64>,
    pub(super) after_contexts: Option<u64>,
}

/// Of the wall clock and of the processor: a run that takes longer has missed its goal by far.
const LIMIT_SECONDS: u32 = 600;
/// Address space: four times the goal for memory, so that a run that is lost does not take the machine with it.
const MEMORY_LIMIT: &str = "--as=8589934592";

impl Tool {
    pub(super) fn find(root: &Path) -> Result<Tool, String> {
        Ok(Tool { binary: release_binary(root)?, processor_seconds: LIMIT_SECONDS })
    }

    pub(super) fn binary(&self) -> &Path {
        &self.binary
    }

    pub(super) fn within(self, processor_seconds: u32) -> Tool {
        Tool { processor_seconds, ..self }
    }

    /// A folder for reports and witnesses.
    pub(super) fn scratch(&self) -> Result<String, String> {
        let folder = self.binary.with_file_name("bench-scratch");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder.display().to_string())
    }

    /// Runs `raddle COMMAND ARGUMENTS`; the report goes to `log`.
    pub(super) fn run(&self, command: &str, arguments: &[&OsStr], log: &Path) -> Result<Run, String> {
        let usage = log.with_extension("time");
        let report = std::fs::File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
        let limit = LIMIT_SECONDS.to_string();
        let mut words: Vec<OsString> = ["-q", "-f", "%e %U %S %M", "-o"].map(OsString::from).to_vec();
        words.push(usage.clone().into());
        let processor = format!("--cpu={}", self.processor_seconds);
        words.extend(
            ["prlimit", MEMORY_LIMIT, &processor, "timeout", "--foreground", &limit].map(OsString::from),
        );
        words.push(self.binary.clone().into());
        words.extend([command, "--format", "json"].map(OsString::from));
        words.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        let mut timed = Command::new("/usr/bin/time");
        let output = timed.args(words).stdout(report).stderr(Stdio::piped()).output();
        let output = output.map_err(|error| format!("/usr/bin/time: {error}"))?;
        match output.status.code() {
            Some(0 | 1 | 3) => {}
            Some(124) => return Err(format!("not done after {LIMIT_SECONDS} s")),
            None | Some(137 | 152) => {
                return Err(format!("not done after {} s of processor time", self.processor_seconds));
            }
            code => {
                let message = String::from_utf8_lossy(&output.stderr);
                // Warnings come first, the error last.
                let last = message.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
                let code = code.map_or_else(|| "killed".to_owned(), |code| format!("exit code {code}"));
                return Err(format!("{code}: {last}"));
            }
        }
        let usage = std::fs::read_to_string(&usage).map_err(|error| error.to_string())?;
        let numbers: Vec<f64> = usage.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [seconds, user, system, kib] = numbers[..] else {
            return Err(format!("GNU time said: {usage}"));
        };
        let report = std::fs::read_to_string(log).map_err(|error| error.to_string())?;
        let report: Value = serde_json::from_str(&report).map_err(|error| format!("its JSON: {error}"))?;
        let reasons = report["unknown_reasons"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if command == "static"
            && let Some(reason) = reasons.into_iter().find(|reason| reason.ends_with("was reached"))
        {
            return Err(format!("after {:.1} s of processor time {reason}", user + system));
        }
        Ok(Run {
            seconds,
            processor_seconds: user + system,
            peak_mib: kib / 1024.0,
            verdict: report["verdict"].as_str().unwrap_or_default().to_owned(),
            counters: Counters::of(&report["stats"]),
            search: Search::of(&report["stats"]),
        })
    }
}

impl Search {
    fn of(stats: &Value) -> Search {
        let pruning = stats
            .get("pruning")
            .map(|pruning| ["checks", "yes", "skipped"].map(|key| pruning[key].as_u64().unwrap_or_default()));
        Search {
            executions: stats["executions"].as_u64().unwrap_or_default(),
            seconds: stats["search_seconds"].as_f64().unwrap_or_default(),
            pruning,
        }
    }
}

impl Counters {
    fn of(stats: &Value) -> Counters {
        // A counter may stand in `stats` itself or in the part of one engine.
        let find = |key: &str| stats.get(key).or_else(|| stats.get("static")?.get(key)).cloned();
        let count = |key: &str| find(key)?.as_u64();
        Counters {
            shared_variables: count("shared_variables"),
            pairs: count("pairs"),
            warnings: count("warnings"),
            after_reduction: count("after_reduction"),
            after_contexts: count("after_contexts"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counters;

    #[test]
    fn counters_are_found_at_both_depths() {
        let flat = serde_json::json!({ "shared_variables": 3, "warnings": 5 });
        let deep = serde_json::json!({ "executions": 1, "static": flat });
        for stats in [flat, deep] {
            let counters = Counters::of(&stats);
            assert_eq!(
                (counters.shared_variables, counters.warnings, counters.pairs),
                (Some(3), Some(5), None)
            );
        }
    }
}
