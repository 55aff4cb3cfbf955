//! `raddle predict` of C files: the interpreter executes the program once, and again under every candidate.
//!
//! Carril and Tichy (SEPS 2015), with the interpreter in the place of the program. Accesses that two threads make to the same bytes are visible
//! operations in all these executions, so that an order can put threads between them; found in an execution of its own before. What is seen
//! is handed to `certify` like what a search has found, with its schedule as the witness. Which way it errs: what cannot be followed is not
//! confirmed; what only a call's result tells a thread, beyond locks and waits, makes candidates uncertain.

mod deciding;
mod following;
mod names;
mod recorded;

use super::confirming::Confirming;
use super::ground::{Ground, Run, Seen};
use super::tally::Tally;
use super::{PredictRequest, Stage, Watching};
use crate::board::Board;
use crate::confirm::{self, Group};
use crate::guard::guarded;
use crate::load::{self, Loaded};
use crate::outcome::{Shown, place, unknown};
use crate::witness::Claim;
use crate::{Answer, DriverError, Mode, Subject, Substrate, engine, plain, witness};
use deciding::Deciding;
use following::Following;
use names::Threads;
use raddle_base::SiteId;
use raddle_certify::Names;
use raddle_config::Config;
use raddle_event::{EventKind, ProblemKind};
use raddle_explore::along::along;
use raddle_explore::enumerate::{Exploration, FoundProblem, Goal, Limits};
use raddle_finding::{AccessReport, Assumption, Confirmation, Evidence, Finding, UnknownReason};
use raddle_interp::Interp;
use raddle_libmodel::{CondOp, Effect, How, Meaning};
use raddle_machine::{LockHow, Machine, OpKind, Status, Visibility};
use raddle_predict::{Candidate, Error, Input, Options, predict};
use recorded::{Recorded, Recording};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// `seed`: for an execution by chance.
pub(super) fn run(
    request: &PredictRequest,
    subject: &Subject,
    seed: Option<u64>,
    watching: Watching<'_>,
) -> Result<Answer, DriverError> {
    guarded("predict", || predicted(request, subject, seed, watching))
        .unwrap_or_else(|bug| Ok(Answer { outcome: unknown(vec![bug]), warnings: Vec::new() }))
}

fn predicted(
    request: &PredictRequest,
    subject: &Subject,
    seed: Option<u64>,
    watching: Watching<'_>,
) -> Result<Answer, DriverError> {
    let loaded = load::load(subject, &Arc::default())?;
    let config = loaded.config.as_ref().map(Config::load).transpose()?.unwrap_or_default();
    let nothing = |why: &str| Ok(Answer { outcome: unknown(vec![plain(why)]), warnings: Vec::new() });
    if !loaded.has_main {
        return nothing("there is no `main`, so nothing was run");
    }
    let (program, models) = (Arc::clone(&loaded.program), Arc::clone(&loaded.models));
    let mut machine = match Interp::new(program, models, loaded.options.clone()) {
        Ok(machine) => machine,
        Err(error) => return nothing(&error.to_string()),
    };
    (watching.progress)(Stage::Recording);
    let limits = limits(request.run_time, watching.interrupt);
    let mut alone = Recording::new(seed, request.limit);
    along(&mut machine, &limits, Visibility::SyncOnly, &mut alone);
    let visibility = alone.recorded.shared_sites();
    machine.reset();
    let mut recording = Recording::new(seed, request.limit);
    let observed = along(&mut machine, &limits, visibility.clone(), &mut recording);
    let Recording { recorded, is_full, .. } = recording;
    let began = Instant::now();
    let mut warnings = loaded.warnings.clone();
    if let Some(gap) = gap(&loaded, &machine, is_full, watching.interrupt) {
        warnings.push(format!("the trace is not the whole execution: {gap}"));
    }
    let events = &recorded.trace.events;
    (watching.progress)(Stage::Predicting { events: events.len() });
    let deciding = Deciding::of(&loaded.program, &loaded.models);
    let of_events = raddle_predict::Deciding::Sites(deciding.among(events.iter().map(|event| event.site)));
    let input = Input { trace: &recorded.trace, initial: &recorded.initial, deciding: &of_events };
    // Confirming is to have its share.
    let until = request.time.map(|time| began + time / 2);
    let prediction = predict(input, &Options { candidates: request.candidates, until, ..Options::default() });
    let mut ground = Interpreted {
        subject: match &request.witness_dir {
            Some(folder) => witness::with_kept_stdin(&loaded, subject, folder)
                .map_err(|source| DriverError::Write { path: folder.clone(), source })?,
            None => subject.clone(),
        },
        sees_everything: sees_everything(&loaded, &recorded, &deciding),
        threads: Threads::of(&Names { program: &loaded.program, machine: &machine }),
        loaded: &loaded,
        judge: loaded.certify_subject(),
        machine,
        recorded: &recorded,
        visibility,
        is_void: false,
        interrupt: watching.interrupt,
        told: BTreeSet::new(),
        withheld: BTreeSet::new(),
        latest: Vec::new(),
        reasons: loaded.bugs.iter().cloned().collect(),
    };
    let mut seen = ground.judged(observed).findings;
    if let Some(folder) = &request.witness_dir {
        for (_, finding) in &mut seen {
            match ground.write(folder, std::slice::from_ref(finding)) {
                Ok(files) => set_file(finding, files),
                Err(error) => {
                    warnings.push(format!("cannot write a schedule to {}: {error}", folder.display()));
                    break;
                }
            }
        }
    }
    let assumptions: BTreeSet<&str> =
        loaded.assumptions.iter().chain(seen.iter().flat_map(|(_, one)| &one.assumptions)).copied().collect();
    let mut tally = Tally { predicted_from: 1, rounds: 1, ..Tally::default() };
    tally.observed(seen);
    tally.assumptions.extend(assumptions.into_iter().map(Assumption::named));
    let mut confirming = Confirming::new(request, &prediction, watching, ground, tally);
    confirming.all(began)?;
    let Confirming { ground, tally, .. } = confirming;
    let mut answer = tally.answer(&config, &prediction.counts, ground.reasons());
    answer.warnings.splice(0..0, warnings);
    answer.outcome.stats.seconds = began.elapsed().as_secs_f64();
    Ok(answer)
}

fn set_file(finding: &mut Finding, files: Vec<String>) {
    if let Evidence::Replayed { file, .. } = &mut finding.evidence {
        *file = files.into_iter().next();
    }
}

/// For one execution.
fn limits(time: Duration, interrupt: &AtomicBool) -> Limits<'_> {
    Limits {
        goal: Goal::AllRaces,
        run_steps: u64::MAX,
        time: (!time.is_zero()).then_some(time),
        interrupt: Some(interrupt),
        ..Limits::default()
    }
}

/// Why the execution did not come to its end, or was not recorded to it.
fn gap(loaded: &Loaded, machine: &Interp, is_full: bool, interrupt: &AtomicBool) -> Option<String> {
    match machine.status() {
        _ if is_full => Some("there are more events than are read".to_owned()),
        Status::Running if interrupt.load(Ordering::Relaxed) => Some("it was interrupted".to_owned()),
        Status::Running => Some("the time for one execution was over".to_owned()),
        Status::Unsupported { site, reason } => Some(format!("{}: {reason}", place(&loaded.program, site))),
        Status::Limit { reason } => Some(format!("a limit was reached: {reason}")),
        Status::Exited(_) | Status::Crashed | Status::Deadlock | Status::Livelock | Status::Infeasible => {
            None
        }
    }
}

/// Whether reads, locks and waits are all that tells a thread what others did. Descriptors, the state of the library and values of semaphores
/// may tell it more, and so may the barrier's result; what has no body or model may do anything.
fn sees_everything(loaded: &Loaded, recorded: &Recorded, deciding: &Deciding<'_>) -> bool {
    let tells_more = |kind: OpKind, site: SiteId| match kind {
        OpKind::SemRead { .. } | OpKind::Channel { .. } => true,
        OpKind::BarrierLeave { .. } => deciding.asks(site),
        _ => false,
    };
    let mut steps = recorded.steps.iter();
    loaded.unknown_functions().is_empty()
        && !loaded.has_assembly()
        && !steps.any(|step| tells_more(step.operation.kind, step.operation.site))
}

struct Interpreted<'a> {
    /// As a witness names it.
    subject: Subject,
    loaded: &'a Loaded,
    judge: raddle_certify::Subject,
    machine: Interp,
    recorded: &'a Recorded,
    visibility: Visibility,
    threads: Threads,
    sees_everything: bool,
    /// The latest execution was cut by an assumption of the program: it is none.
    is_void: bool,
    interrupt: &'a AtomicBool,
    /// What was handed to `certify`, and what of that is no finding.
    told: BTreeSet<Key>,
    withheld: BTreeSet<Key>,
    /// What the latest execution has shown.
    latest: Vec<Shown>,
    reasons: BTreeSet<UnknownReason>,
}

/// Errors that a person would call the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Race(Group),
    /// Where its threads are.
    Problem(ProblemKind, Vec<String>),
}

impl Key {
    fn problem(loaded: &Loaded, kind: ProblemKind, sites: impl Iterator<Item = SiteId>) -> Key {
        let mut places: Vec<String> = sites.map(|site| place(&loaded.program, site)).collect();
        places.sort();
        Key::Problem(kind, places)
    }

    fn of(loaded: &Loaded, found: &FoundProblem) -> Key {
        let kind = found.problems.first().map_or(ProblemKind::Deadlock, |problem| problem.kind);
        Key::problem(loaded, kind, found.problems.iter().map(|problem| problem.site))
    }

    /// Whether all threads of the one deadlock are where threads of the other are, which may be more.
    fn is_in(&self, other: &Key) -> bool {
        let (Key::Problem(kind, own), Key::Problem(other, places)) = (self, other) else { return false };
        let mut left = places.clone();
        kind == other
            && own
                .iter()
                .all(|place| left.iter().position(|one| one == place).map(|at| left.remove(at)).is_some())
    }
}

impl Interpreted<'_> {
    /// Hands to `certify` what the execution has shown and is not known.
    fn judged(&mut self, mut exploration: Exploration) -> Seen<Key> {
        let program = &self.loaded.program;
        exploration.races.retain(|race| !self.told.contains(&Key::Race(Group::of(program, race))));
        exploration.problems.retain(|found| !self.told.contains(&Key::of(self.loaded, found)));
        self.machine.reset();
        engine::simplify(&mut self.machine, &mut exploration, self.interrupt);
        let confirmed =
            confirm::confirm(&self.judge, self.loaded, &exploration, Mode::Optimal, &Board::default());
        let no_findings: Vec<UnknownReason> =
            confirmed.doubtful.into_iter().chain(confirmed.refused).collect();
        let races = exploration.races.iter().map(|race| Key::Race(Group::of(program, race)));
        let problems = exploration.problems.iter().map(|found| Key::of(self.loaded, found));
        let handed: Vec<Key> = races.chain(problems).collect();
        self.latest = confirmed.shown;
        let findings = self.latest.iter().map(|shown| {
            let key = match shown.claim {
                Claim::Race(a, b) => Key::Race(Group::of_sites(program, (a, b))),
                Claim::Problem(kind, _) => {
                    let places = shown.finding.accesses.iter();
                    let mut places: Vec<String> =
                        places.map(|access| format!("{}:{}", access.at.file, access.at.line)).collect();
                    places.sort();
                    Key::Problem(kind, places)
                }
            };
            (key, Finding { engine: "predict", ..shown.finding.clone() })
        });
        let findings: Vec<(Key, Finding)> = findings.collect();
        if !no_findings.is_empty() {
            let is_finding = |key: &Key| findings.iter().any(|(own, _)| own == key);
            self.withheld.extend(handed.iter().filter(|key| !is_finding(key)).cloned());
        }
        self.told.extend(handed);
        self.reasons.extend(no_findings);
        let assumptions = findings.iter().flat_map(|(_, finding)| &finding.assumptions);
        let assumptions = assumptions.map(|id| Assumption::named(id)).collect();
        Seen { reproduced: false, findings, assumptions, why: String::new(), followed: 0, trace: None }
    }

    fn key_of(&self, error: &Error) -> Key {
        let site = |event: &usize| self.recorded.trace.events[*event].site;
        match error {
            Error::Race { first, second } => {
                Key::Race(Group::of_sites(&self.loaded.program, (site(first), site(second))))
            }
            Error::Deadlock { blocked } => {
                Key::problem(self.loaded, ProblemKind::Deadlock, blocked.iter().map(site))
            }
        }
    }
}

impl Ground for Interpreted<'_> {
    type Key = Key;

    fn report(&self, event: usize) -> AccessReport {
        let names = Names { program: &self.loaded.program, machine: &self.machine };
        self.threads.report(&names, self.recorded, event)
    }

    fn key(&self, candidate: &Candidate, _finding: &Finding) -> Key {
        self.key_of(&candidate.error)
    }

    fn gives_up(&self, event: usize) -> bool {
        let event_kind = self.recorded.trace.events[event].kind;
        let operation = self.recorded.steps[self.recorded.of_event[event] as usize].operation;
        match operation.kind {
            OpKind::Lock { how, .. } | OpKind::SemWait { how, .. } | OpKind::Join { how, .. } => {
                how != LockHow::Block
            }
            _ if matches!(event_kind, EventKind::WaitEnd { .. }) => {
                !matches!(wait_at(self.loaded, operation.site), Some(How::Block))
            }
            _ => false,
        }
    }

    fn sees_everything(&self) -> bool {
        self.sees_everything && !self.is_void
    }

    fn run(&mut self, candidate: &Candidate, time: Duration) -> Result<Run<Key>, DriverError> {
        self.machine.reset();
        let mut following = Following::new(self.recorded, candidate);
        let limits = limits(time, self.interrupt);
        let exploration = along(&mut self.machine, &limits, self.visibility.clone(), &mut following);
        if self.interrupt.load(Ordering::Relaxed) {
            return Ok(Run::Interrupted);
        }
        self.is_void = self.machine.status() == Status::Infeasible;
        let key = self.key_of(&candidate.error);
        let shows_it = match &key {
            Key::Race(group) => {
                exploration.races.iter().any(|race| Group::of(&self.loaded.program, race) == *group)
            }
            Key::Problem(..) => {
                exploration.problems.iter().any(|found| key.is_in(&Key::of(self.loaded, found)))
            }
        };
        let why = match (following.divergence(), shows_it) {
            (_, true) => "it was seen, and is withheld".to_owned(),
            (Some(why), _) => why,
            (None, _) => "the order was followed, and it was not seen".to_owned(),
        };
        let seen = self.judged(exploration);
        let reproduced = shows_it && !self.withheld.contains(&key);
        Ok(Run::Made(Seen { reproduced, why, followed: following.followed(), ..seen }))
    }

    fn write(&mut self, folder: &Path, shown: &[Finding]) -> std::io::Result<Vec<String>> {
        let stem = witness::stem(&self.subject);
        let same = |shown: &&Shown, finding: &Finding| {
            shown.finding.kind == finding.kind && shown.finding.accesses == finding.accesses
        };
        let one = |finding: &Finding| {
            let Some(shown) = self.latest.iter().find(|shown| same(shown, finding)) else {
                return Ok(String::new());
            };
            let record = witness::record(self.loaded, &self.subject, shown, Substrate::Interpreter);
            let path = witness::write(folder, &stem, record.name_hash(), ".sched", &record.to_text())?;
            Ok(path.to_string_lossy().into_owned())
        };
        shown.iter().map(one).collect()
    }

    fn confirmation(file: Option<String>) -> Confirmation {
        Confirmation::Interpreted { file }
    }

    fn reasons(&self) -> Vec<UnknownReason> {
        self.reasons.iter().cloned().collect()
    }
}

/// How the call there waits for a condition.
fn wait_at(loaded: &Loaded, site: SiteId) -> Option<How> {
    let raddle_ir::Code::Inst(raddle_ir::Inst::Call { callee: raddle_ir::Callee::Direct(function), .. }) =
        loaded.program.code_at(site)?
    else {
        return None;
    };
    match loaded.models.meanings.get(*function)? {
        Meaning::Effect(Effect::Cond(CondOp::Wait { how, .. }, _), _) => Some(*how),
        _ => None,
    }
}
