//! What Raddle answers of a mutant, against what is known without it.
//!
//! `safe` is refuted by ThreadSanitizer, and a static proof by a race that exploration finds; a race must replay natively; and whatever the
//! program is, Raddle neither crashes nor calls itself wrong nor runs over its time limit. Nothing here proves an answer right.

use super::Mutant;
use super::tsan::{Runs, Sanitizer, is_c, limited};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Options {
    /// `raddle`.
    pub binary: PathBuf,
    /// Of each answer.
    pub time: Duration,
    /// Native runs of a mutant that is called safe.
    pub runs: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    No,
    Natively,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does not compile.
    NotC,
    Race,
    Safe,
    Unknown,
    /// No answer.
    Failed,
}

/// An answer that is wrong, or may be: a report of ThreadSanitizer must be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub kind: &'static str,
    pub text: String,
}

#[derive(Clone, Debug)]
pub struct Judgement {
    pub verdict: Verdict,
    /// Native runs were quiet, or why there were none; `None` unless the verdict is safe.
    pub native: Option<&'static str>,
    /// Witnesses replayed natively, and those that only the interpreter can replay.
    pub replayed: u32,
    pub interpreted: u32,
    /// Undefined behaviour of the program: then the contradictions are none.
    pub undefined: Option<String>,
    pub contradictions: Vec<Contradiction>,
    /// A race of a native run, where the answer is for an input that the run may not have had: somebody has to read it.
    pub doubt: Option<String>,
}

pub struct Judge {
    options: Options,
    sanitizer: Sanitizer,
}

/// Reasons to replay on the interpreter only that are no fault.
const INTERPRETED: [&str; 3] =
    ["32-bit programs are interpreted only", "a native run does not show", "cannot be linked"];

impl Judge {
    /// `folder` is for what all mutants share.
    pub fn new(options: Options, folder: &Path) -> Result<Judge, String> {
        let sanitizer = Sanitizer::new(folder, options.runs)?;
        Ok(Judge { options, sanitizer })
    }

    /// Leaves the mutant and all outputs in `folder`.
    pub fn judge(&self, mutant: &Mutant<'_>, folder: &Path, replay: Replay) -> Result<Judgement, String> {
        std::fs::write(folder.join("mutant.c"), &mutant.text).map_err(|error| error.to_string())?;
        std::fs::write(folder.join("stdin.txt"), &mutant.original.stdin)
            .map_err(|error| error.to_string())?;
        let mut judgement = Judgement {
            verdict: Verdict::Failed,
            native: None,
            replayed: 0,
            interpreted: 0,
            undefined: None,
            contradictions: Vec::new(),
            doubt: None,
        };
        let check = self.raddle(mutant, folder, "check", self.options.time);
        let report = match check {
            Ok(report) => report,
            Err(_) if !is_c(mutant, folder) => {
                judgement.verdict = Verdict::NotC;
                return Ok(judgement);
            }
            Err(contradiction) => {
                judgement.contradictions.push(contradiction);
                return Ok(judgement);
            }
        };
        judgement.verdict = match report["verdict"].as_str() {
            Some("race") => Verdict::Race,
            Some("safe") => Verdict::Safe,
            _ => Verdict::Unknown,
        };
        if let Some(reason) = own_fault(&report) {
            judgement.contradictions.push(Contradiction { kind: "bug-in-raddle", text: reason });
        }
        match judgement.verdict {
            Verdict::Safe => self.refute(mutant, folder, &report, &mut judgement),
            Verdict::Race if replay == Replay::Natively => self.replay(folder, &mut judgement),
            _ => {}
        }
        if judgement.contradictions.iter().any(|contradiction| contradiction.kind != "bug-in-raddle") {
            judgement.undefined =
                told(&report).or_else(|| self.sanitizer.undefined_behaviour(mutant, folder));
        }
        Ok(judgement)
    }

    fn refute(&self, mutant: &Mutant<'_>, folder: &Path, report: &Value, judgement: &mut Judgement) {
        let proved = report["proved"].as_array().into_iter().flatten();
        if proved.into_iter().any(|proved| proved["by"] == "static") {
            match self.raddle(mutant, folder, "explore", self.options.time / 2) {
                Ok(explored) if explored["verdict"] == "race" => {
                    let text = format!("{:#}", explored["findings"]);
                    judgement.contradictions.push(Contradiction { kind: "explored-race", text });
                }
                Ok(explored) => {
                    let fault =
                        own_fault(&explored).map(|text| Contradiction { kind: "bug-in-raddle", text });
                    judgement.contradictions.extend(fault);
                }
                Err(contradiction) => judgement.contradictions.push(contradiction),
            }
        }
        let assumed = report["assumptions"].as_array().into_iter().flatten();
        if assumed.into_iter().any(|id| id == "A-KLOCK") {
            judgement.native = Some("locks by name");
            return;
        }
        match self.sanitizer.run(mutant, folder) {
            Runs::NotRun(reason) => judgement.native = Some(reason),
            Runs::Quiet => judgement.native = Some("quiet"),
            // Numbers of processes and priorities are input too, and are others there.
            Runs::Race(text) if report["scope"] == "this input" => {
                judgement.native = Some("race, the answer is for this input");
                judgement.doubt = Some(text);
            }
            Runs::Race(text) => {
                judgement.native = Some("race");
                judgement.contradictions.push(Contradiction { kind: "tsan-race", text });
            }
        }
    }

    fn replay(&self, folder: &Path, judgement: &mut Judgement) {
        let mut witnesses: Vec<PathBuf> = std::fs::read_dir(folder.join("raddle-witness"))
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "sched"))
            .collect();
        witnesses.sort();
        // One mutant may have dozens of races, all of one kind.
        for witness in witnesses.iter().take(2) {
            let mut command = Command::new(&self.options.binary);
            command.current_dir(folder).args(["replay", "--format", "json", "--output", "replay.json"]);
            command.args(["--times", "2"]).arg(witness);
            limited(&mut command, &folder.join("replay.txt"), Duration::from_secs(60));
            let said = std::fs::read_to_string(folder.join("replay.txt")).unwrap_or_default();
            let report = std::fs::read_to_string(folder.join("replay.json")).unwrap_or_default();
            let report: Value = serde_json::from_str(&report).unwrap_or_default();
            let natively = &report["findings"][0]["natively"];
            let (reproduced, runs) = (natively["reproduced"].as_u64(), natively["runs"].as_u64());
            let text = format!("{} {natively} {} {said}", witness.display(), report["unknown_reasons"]);
            if reproduced.is_some() && reproduced == runs {
                judgement.replayed += 1;
            } else if INTERPRETED.iter().any(|reason| text.contains(reason)) {
                judgement.interpreted += 1;
            } else {
                judgement.contradictions.push(Contradiction { kind: "not-replayed", text });
            }
        }
    }

    /// One command; its report, or why there is none.
    fn raddle(
        &self,
        mutant: &Mutant<'_>,
        folder: &Path,
        name: &str,
        time: Duration,
    ) -> Result<Value, Contradiction> {
        let (log, output) = (folder.join(format!("{name}.txt")), folder.join(format!("{name}.json")));
        let mut command = Command::new("prlimit");
        command.arg("--as=6442450944").arg(&self.options.binary).current_dir(folder);
        command.args([name, "--format", "json", "--output"]).arg(&output);
        command.args(["--memory-limit", "1G", "--time-limit", &time.as_secs_f64().to_string()]);
        command.args(["--stdin", "stdin.txt", "--data-model"]);
        command.arg(if mutant.original.is_32_bit { "ILP32" } else { "LP64" });
        if let Some(config) = &mutant.original.config {
            command.arg("--config").arg(config);
        }
        let include = format!("-I{}", mutant.original.folder.display());
        for flag in mutant.cflags.iter().chain([&include]) {
            command.arg(format!("--cflags={flag}"));
        }
        command.arg("mutant.c").arg("--").args(&mutant.original.args);
        // Time to start, to compile and to check, on a machine that does other things, too.
        let status = limited(&mut command, &log, time * 3 + Duration::from_secs(10));
        let said = std::fs::read(&log).map(|text| String::from_utf8_lossy(&text).into_owned());
        let said = said.unwrap_or_default();
        let failed = |kind, text: String| Contradiction { kind, text: format!("{name}: {text}\n{said}") };
        if said.contains("panicked") {
            return Err(failed("crash", "a panic".to_owned()));
        }
        match status.map(|status| status.code()) {
            None => Err(failed("time-limit", format!("no answer, the limit is {time:?}"))),
            Some(None) => Err(failed("crash", "killed by a signal".to_owned())),
            Some(Some(0 | 1 | 3)) => {
                let text = std::fs::read_to_string(&output).unwrap_or_default();
                serde_json::from_str(&text).map_err(|error| failed("crash", format!("its JSON: {error}")))
            }
            Some(Some(code)) => Err(failed("refused", format!("exit code {code}"))),
        }
    }
}

/// Undefined behaviour that the answer itself tells of.
fn told(report: &Value) -> Option<String> {
    let list = |key: &str| report[key].as_array().into_iter().flatten();
    if list("assumptions").any(|id| id == "A-UNINIT") {
        return Some("the answer is for one value of what is undefined (A-UNINIT)".to_owned());
    }
    let kinds = list("findings").filter_map(|finding| finding["kind"].as_str());
    let error = kinds.into_iter().find(|kind| !["data-race", "deadlock", "livelock"].contains(kind));
    error.map(|kind| format!("the answer reports {kind}"))
}

/// A reason of `unknown` that says so.
fn own_fault(report: &Value) -> Option<String> {
    let reasons = report["unknown_reasons"].as_array()?.iter().filter_map(Value::as_str);
    reasons.into_iter().find(|reason| reason.contains("bug in Raddle")).map(str::to_owned)
}

impl Options {
    /// The command that makes this mutant again and judges it.
    pub fn command(seed: u64) -> String {
        format!("cargo run --release -p raddle-xtask -- mutants --seeds {seed}..{} --keep", seed + 1)
    }
}
