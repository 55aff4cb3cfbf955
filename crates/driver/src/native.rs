//! The native commands: what `raddle-native` needs from the engines and from `raddle.toml`.
//!
//! A static proof that a pair of accesses never races saves their checks. It may rest only on assumptions that also hold of a real run
//! ([`TRUE_OF_REAL_RUNS`]); otherwise everything is checked. Errs to more checks.

use crate::aside::Lost;
use crate::load::{self, Loaded};
use crate::statics::{self, OpenPairs, Question};
use crate::watchdog::Bounds;
use crate::{Answer, DriverError, plain};
use raddle_config::{Config, LockFunctions, LockMode, Suppression, TrySuccess};
use raddle_finding::{Deadlocks, Finding, Outcome, Recording, Stats, Verdict};
use raddle_ir::Program;
use raddle_native::cc::{Advice, Does, Mode, OwnLock, Prune, Success};
use raddle_native::{Keep, Ran};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub use raddle_native::cc::Driver;
pub use raddle_native::trace::{Detail, USUAL_LIMIT};
pub use raddle_native::{Around, CommandOutput, Commands, End, RecordRequest, RunRequest};

/// `raddle cc` and `raddle c++`: the exit status is clang's own.
pub fn cc(driver: Driver, arguments: Vec<OsString>) -> Result<u8, DriverError> {
    let config = load::config_above().map(Config::load).transpose()?.unwrap_or_default();
    let own_locks = config.locks.iter().flat_map(own_locks).collect();
    Ok(raddle_native::cc::cc(driver, arguments, &Known { config, own_locks })?)
}

/// What `raddle.toml` and the static analysis tell a build.
struct Known {
    config: Config,
    own_locks: Vec<OwnLock>,
}

impl Advice for Known {
    fn keep(&self, program: &Program, prune: Prune) -> Option<Keep> {
        choose(program, prune, &self.config)
    }

    fn own_locks(&self) -> &[OwnLock] {
        &self.own_locks
    }
}

pub(crate) fn own_locks(functions: &LockFunctions) -> Vec<OwnLock> {
    let mode = match functions.mode {
        LockMode::Exclusive => Mode::Exclusive,
        LockMode::Shared => Mode::Shared,
    };
    let success = match functions.try_success {
        TrySuccess::Zero => Success::Zero,
        TrySuccess::NonZero => Success::NonZero,
    };
    [
        (&functions.acquire, Does::Acquire),
        (&functions.release, Does::Release),
        (&functions.try_acquire, Does::Try(success)),
    ]
    .into_iter()
    .filter_map(|(function, does)| {
        let function = function.clone()?;
        Some(OwnLock { function, argument: u32::from(functions.argument), mode, does })
    })
    .collect()
}

/// `raddle run`: one run of a program that `raddle cc` built, and how it ended.
pub fn run(
    request: &RunRequest,
    config: Option<PathBuf>,
    explain: Explain,
) -> Result<(Answer, End), DriverError> {
    let config = config_of(request, config)?;
    let ran = match explain {
        Explain::No => raddle_native::run(request)?,
        Explain::Yes => raddle_native::run_explained(request)?,
    };
    Ok(answer(ran, &config))
}

/// Whether findings say what protected the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explain {
    No,
    Yes,
}

/// `raddle record`: the same with a trace of the run. Also the files that other processes than the first have written.
pub fn record(
    request: &RecordRequest,
    config: Option<PathBuf>,
) -> Result<(Answer, End, Vec<PathBuf>), DriverError> {
    let config = config_of(&request.run, config)?;
    let mut ran = raddle_native::record(request)?;
    let traces = std::mem::take(&mut ran.traces);
    let (answer, end) = answer(ran, &config);
    Ok((answer, end, traces))
}

/// What a trace says, and what is worth saying besides. `program` stands for the one that the trace names.
pub fn recorded(
    trace: &Path,
    program: Option<&Path>,
    limit: usize,
    detail: Detail,
) -> Result<(Recording, Vec<String>), DriverError> {
    Ok(raddle_native::trace::tell(trace, program, limit, detail)?)
}

pub(crate) fn config_of(request: &RunRequest, config: Option<PathBuf>) -> Result<Config, DriverError> {
    let program = PathBuf::from(&request.program);
    let config = config.or_else(|| load::config_nearby(&[program]));
    Ok(config.as_ref().map(Config::load).transpose()?.unwrap_or_default())
}

fn answer(ran: Ran, config: &Config) -> (Answer, End) {
    let Ran { mut findings, end, assumptions, gaps, client_failure, mut warnings, seconds, .. } = ran;
    findings.retain(|finding| !config.suppressions.iter().any(|one| is_suppressed(finding, one)));
    for (index, finding) in findings.iter_mut().enumerate() {
        finding.id = format!("f{}", index + 1);
    }
    let mut reasons = Vec::new();
    if findings.is_empty() {
        reasons.push(plain("one run shows the races of one schedule on one input"));
    }
    if end == End::Stopped {
        reasons.push(plain("the time limit was reached"));
    }
    if findings.is_empty() {
        // Such a report is one line, which must not say too much.
        warnings.extend(gaps.iter().map(|gap| format!("the run was not followed in full: {gap}")));
    }
    reasons.extend(gaps.iter().chain(&client_failure).map(|gap| plain(gap)));
    warnings.extend(client_failure);
    let outcome = Outcome {
        verdict: if findings.is_empty() { Verdict::Unknown } else { Verdict::Race },
        deadlocks: Deadlocks::Unknown,
        findings,
        proved: Vec::new(),
        assumptions,
        deadlock_assumptions: Vec::new(),
        unknown_reasons: reasons,
        stats: Stats { executions: 1, seconds, ..Stats::default() },
    };
    (Answer { outcome, warnings }, end)
}

pub(crate) fn is_suppressed(finding: &Finding, one: &Suppression) -> bool {
    let frames = finding.accesses.iter().flat_map(|access| access.stack.iter().chain([&access.at]));
    let functions: Vec<&str> = frames.map(|frame| frame.function.as_str()).collect();
    let files: Vec<&str> = finding.accesses.iter().map(|access| access.at.file.as_str()).collect();
    let expressions = finding.accesses.iter().map(|access| access.expression.as_str());
    let variables: Vec<&str> = expressions.chain([finding.variable.as_str()]).collect();
    one.fits(&functions, &files, &variables)
}

/// What a proof may assume about the program for its checks to be left out. Others are about what only the interpreter leaves out:
/// library code, assembly, signal handlers; or about orders of weak atomics that real processors do not keep.
const TRUE_OF_REAL_RUNS: [&str; 6] = ["A-INPUT", "A-MALLOC", "A-THREAD", "A-TIME", "A-BOUNDS", "A-LOCKFN"];

/// A build should not take longer than this for checks that are saved.
const LONGEST: Duration = Duration::from_secs(60);
const MEMORY: u64 = 4 << 30;

fn choose(program: &Program, prune: Prune, config: &Config) -> Option<Keep> {
    let main = program.function_by_symbol("main");
    // Without `main` it is a library, and its callers are not known.
    if prune == Prune::Nothing || !main.is_some_and(|main| program.functions[main].is_defined()) {
        return Some(Keep::All);
    }
    let loaded = Loaded::of_program(program.clone(), config);
    let question = Question { entries: Vec::new(), explain: None, open: OpenPairs::NotWanted };
    let bounds = Bounds { time: Some(LONGEST), memory: Some(MEMORY), began: Instant::now() };
    let result = match statics::run(&loaded, question, &AtomicBool::new(false), bounds) {
        Ok(result) => result,
        Err(Lost::Bug(_)) => return Some(Keep::All),
        Err(Lost::Stopped(_)) => return None,
    };
    let known =
        result.refused.is_none() && result.assumptions.iter().all(|id| TRUE_OF_REAL_RUNS.contains(id));
    let warned = match prune {
        Prune::Unwarned => result.warned_sites(program),
        Prune::Proved | Prune::Nothing => {
            result.warned_sites(program).filter(|_| known && result.gaps.is_empty())
        }
    };
    Some(warned.map_or(Keep::All, Keep::Sites))
}
