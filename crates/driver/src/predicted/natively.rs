//! The recorded program itself under an order of its recorded events.

use super::again::around;
use super::ground::{Ground, Run, Seen};
use super::{PredictRequest, Source};
use crate::{DriverError, witness};
use raddle_finding::{AccessReport, Confirmation, Finding, FindingKind, Frame, UnknownReason};
use raddle_native::enforce::{EnforcePlan, EnforceRequest, Enforced, Status, Target, Wanted, Witness};
use raddle_native::trace::{Named, Program, Recorded};
use raddle_native::{Afterwards, Commands, End};
use raddle_predict::{Candidate, Error};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Errors that a person would call the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Race([Frame; 2]),
    Deadlock(Vec<Frame>),
}

impl Key {
    pub(super) fn of(finding: &Finding) -> Key {
        let at = |access: &AccessReport| access.at.clone();
        match (finding.kind, finding.accesses.as_slice()) {
            (FindingKind::DataRace, [a, b]) => {
                let mut ends = [at(a), at(b)];
                ends.sort();
                Key::Race(ends)
            }
            _ => {
                let mut places: Vec<Frame> =
                    finding.accesses.iter().map(|access| access.at.clone()).collect();
                places.sort();
                Key::Deadlock(places)
            }
        }
    }
}

pub(super) struct Natively<'a> {
    pub(super) recorded: &'a Recorded,
    pub(super) target: &'a Target,
    interrupt: &'a AtomicBool,
    named: Named<'a>,
    stdin: Option<PathBuf>,
    /// What runs before and beside the program.
    commands: Commands,
    /// Where runs are recorded, if they are.
    records: Option<&'a Path>,
    /// What the latest run was made with.
    latest: Option<EnforceRequest>,
}

impl<'a> Natively<'a> {
    /// Also what is worth saying besides.
    pub(super) fn new(
        request: &'a PredictRequest,
        recorded: &'a Recorded,
        target: &'a Target,
        interrupt: &'a AtomicBool,
        records: Option<&'a Path>,
    ) -> Result<(Self, Vec<String>), DriverError> {
        let (program, stdin, given) = match &request.source {
            Source::Trace { program, stdin, around, .. } => {
                (program.as_deref(), stdin.clone(), around.commands.clone())
            }
            Source::Program { run, .. } => (None, run.stdin.clone(), run.around.commands.clone()),
            Source::Files { subject, .. } => (None, subject.stdin.clone(), Commands::default()),
        };
        let commands = given.or(&recorded.program.commands);
        let (named, warnings) = recorded.named(program)?;
        let ground = Self { recorded, target, interrupt, named, stdin, commands, records, latest: None };
        Ok((ground, warnings))
    }

    pub(super) fn is_recording(&self) -> bool {
        self.records.is_some()
    }

    /// The schedule that has the candidate's events and then comes to its error.
    pub(super) fn plan(&self, candidate: &Candidate) -> Result<EnforcePlan, String> {
        let wanted = match &candidate.error {
            Error::Race { first, second } => Wanted::Race([*first, *second]),
            Error::Deadlock { blocked } => Wanted::Deadlock(blocked.clone()),
        };
        self.target.plan(self.recorded, &candidate.order, &wanted)
    }

    /// Runs the program as it was recorded, under this schedule.
    pub(super) fn enforce(
        &mut self,
        plan: EnforcePlan,
        patience: Option<Duration>,
        time: Duration,
    ) -> Result<Run<Key>, DriverError> {
        let trace = self.records.map(unused);
        let request = EnforceRequest {
            arguments: self.recorded.program.arguments.clone(),
            stdin: self.stdin.clone(),
            env: Vec::new(),
            around: around(&self.commands),
            plan,
            afterwards: Afterwards::GoesOn,
            time,
            patience,
            trace: trace.clone(),
        };
        let Some(enforced) = self.target.enforce(&request, self.interrupt)? else {
            return Ok(Run::Interrupted);
        };
        let (why, reproduced) = (words(&enforced), enforced.reproduced);
        let followed = match enforced.status {
            Status::Followed => request.plan.steps(),
            Status::Diverged { step, .. } => step,
        };
        self.latest = Some(request);
        let is_whole = matches!(enforced.end, End::Exited(_))
            && enforced.status == Status::Followed
            && enforced.deadlock.is_none();
        let deadlock = enforced.deadlock.filter(|_| reproduced);
        let findings = enforced.races.into_iter().chain(deadlock);
        let findings = findings.map(|finding| (Key::of(&finding), finding)).collect();
        Ok(Run::Made(Seen {
            reproduced,
            findings,
            assumptions: enforced.assumptions,
            why,
            followed,
            trace: trace.filter(|_| is_whole),
        }))
    }
}

impl Ground for Natively<'_> {
    type Key = Key;

    fn report(&self, event: usize) -> AccessReport {
        self.named.report(event)
    }

    fn key(&self, _candidate: &Candidate, finding: &Finding) -> Key {
        Key::of(finding)
    }

    fn gives_up(&self, event: usize) -> bool {
        self.named.gives_up(event)
    }

    fn sees_everything(&self) -> bool {
        self.target.sees_every_access()
    }

    fn run(&mut self, candidate: &Candidate, time: Duration) -> Result<Run<Key>, DriverError> {
        match self.plan(candidate) {
            Ok(plan) => self.enforce(plan, None, time),
            Err(why) => Ok(Run::None(why)),
        }
    }

    /// One schedule shows all of them.
    fn write(&mut self, folder: &Path, shown: &[Finding]) -> std::io::Result<Vec<String>> {
        let Some(request) = &self.latest else { return Ok(Vec::new()) };
        let shows = shown.iter().map(|finding| {
            let places =
                finding.accesses.iter().map(|access| format!("{}:{}", access.at.file, access.at.line));
            format!(
                "{} {} at {}",
                finding.kind.name(),
                finding.variable,
                places.collect::<Vec<_>>().join(" and ")
            )
        });
        let text = Witness {
            program: Program { commands: self.commands.clone(), ..self.recorded.program.clone() },
            stdin: request.stdin.clone(),
            shows: shows.collect(),
            plan: request.plan.clone(),
        }
        .to_text();
        let stem = self.recorded.program.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hash = crate::load::digest(text.as_bytes()) as u32;
        let path = witness::write(folder, &stem, hash, ".order", &text)?;
        Ok(vec![path.to_string_lossy().into_owned(); shown.len()])
    }

    fn confirmation(file: Option<String>) -> Confirmation {
        Confirmation::Replayed { file }
    }

    fn reasons(&self) -> Vec<UnknownReason> {
        Vec::new()
    }
}

/// A file that is not there yet.
fn unused(folder: &Path) -> PathBuf {
    let mut number = 0;
    loop {
        let file = folder.join(format!("confirmed-{number}"));
        if !file.exists() {
            return file;
        }
        number += 1;
    }
}

/// Why what a run was for was not seen, if it was not.
fn words(enforced: &Enforced) -> String {
    let client = enforced.client_failure.as_ref().map_or(String::new(), |why| format!("; {why}"));
    let words = match &enforced.status {
        // Where and why: a step that was not made is named.
        Status::Diverged { why, .. } => format!("the program diverged from the order: {why}"),
        Status::Followed => match enforced.end {
            End::Stopped => {
                "the order was followed; the time for the run was over before it was seen".to_owned()
            }
            _ => "the order was followed, and it was not seen".to_owned(),
        },
    };
    words + &client
}
