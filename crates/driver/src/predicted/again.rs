//! `raddle replay` of an order that a prediction was confirmed with.

use crate::{Answer, DriverError, Native, plain};
use raddle_finding::{
    Confirmation, Deadlocks, Evidence, Finding, FindingKind, Outcome, Stats, UnknownReason, Verdict,
};
use raddle_native::enforce::{EnforceRequest, Status, Target, Witness};
use raddle_native::{Afterwards, Around, CommandOutput, Commands};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Whether the file is such an order.
pub fn is_order(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| Witness::is_witness(&text))
}

/// The commands that the file, a trace or an order, wants to run.
pub fn commands_of(path: &Path) -> Commands {
    let order = std::fs::read_to_string(path).ok().and_then(|text| Witness::parse(&text).ok());
    match order {
        Some(order) => order.program.commands,
        None => raddle_native::trace::program(path).map(|program| program.commands).unwrap_or_default(),
    }
}

/// In a run that is made again nobody wants to see what commands print.
pub(super) fn around(commands: &Commands) -> Around {
    Around { commands: commands.clone(), output: CommandOutput::Dropped }
}

/// Runs the program under the order as often as was asked for. `programs` may name the program, if it is not where it was recorded.
pub fn replay_order(
    path: &Path,
    programs: &[PathBuf],
    native: &Native,
    interrupt: &AtomicBool,
) -> Result<Answer, DriverError> {
    let began = Instant::now();
    let text = std::fs::read_to_string(path)
        .map_err(|source| DriverError::Read { path: path.to_owned(), source })?;
    let witness = Witness::parse(&text)
        .map_err(|message| DriverError::BrokenWitness { path: path.to_owned(), message })?;
    let target = Target::of_program(&witness.program, programs.first().map(PathBuf::as_path))?;
    let request = EnforceRequest {
        arguments: witness.program.arguments.clone(),
        stdin: witness.stdin.clone(),
        env: Vec::new(),
        around: around(&witness.program.commands),
        plan: witness.plan.clone(),
        afterwards: Afterwards::GoesOn,
        time: native.time,
        patience: Some(native.patience),
        trace: None,
    };
    let mut findings: Vec<Finding> = Vec::new();
    let mut reasons: Vec<UnknownReason> = Vec::new();
    let (mut runs, mut reproduced) = (0, 0);
    while runs < native.times {
        let Some(enforced) = target.enforce(&request, interrupt)? else {
            reasons.push(plain("it was interrupted"));
            break;
        };
        runs += 1;
        reproduced += u32::from(enforced.reproduced);
        if !enforced.reproduced && reasons.is_empty() {
            reasons.push(plain(&match enforced.status {
                Status::Diverged { step, steps, why } => {
                    format!("the program diverged from the order at step {} of {steps}: {why}", step + 1)
                }
                Status::Followed => "the order was followed, and it was not seen".to_owned(),
            }));
            reasons.extend(enforced.client_failure.as_deref().map(plain));
        }
        for finding in enforced.races.into_iter().chain(enforced.deadlock) {
            let places = |finding: &Finding| {
                finding
                    .accesses
                    .iter()
                    .map(|access| (access.at.clone(), access.action.clone()))
                    .collect::<Vec<_>>()
            };
            let is_known =
                findings.iter().any(|known| known.kind == finding.kind && places(known) == places(&finding));
            if !is_known {
                let confirmation = Confirmation::Replayed { file: None };
                let number = findings.len() as u32 + 1;
                findings.push(Finding {
                    id: format!("f{number}"),
                    rank: number,
                    engine: "replay",
                    evidence: Evidence::Predicted { method: "recorded order", confirmation },
                    ..finding
                });
            }
        }
    }
    let is_race = |finding: &Finding| finding.kind == FindingKind::DataRace;
    let outcome = Outcome {
        verdict: if findings.iter().any(is_race) { Verdict::Race } else { Verdict::Unknown },
        deadlocks: match findings.iter().all(is_race) {
            true => Deadlocks::Unknown,
            false => Deadlocks::Found,
        },
        findings,
        proved: Vec::new(),
        assumptions: Vec::new(),
        deadlock_assumptions: Vec::new(),
        unknown_reasons: reasons,
        stats: Stats {
            executions: u64::from(runs),
            seconds: began.elapsed().as_secs_f64(),
            ..Stats::default()
        },
    };
    let warnings = match (runs, reproduced) {
        (0 | 1, _) => Vec::new(),
        _ => vec![format!("{reproduced} of {runs} runs showed what the order is for")],
    };
    Ok(Answer { outcome, warnings })
}
