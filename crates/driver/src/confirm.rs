//! Hands every claim of the engine to `certify` and keeps what is confirmed.
//!
//! Races are grouped by the two source lines and the two expressions first, and one of each group is confirmed; what the groups
//! then have in common (lines and variable) is one finding.

use crate::board::Board;
use crate::load::Loaded;
use crate::outcome::Shown;
use crate::witness::Claim;
use crate::{Mode, bug, plain};
use raddle_base::SiteId;
use raddle_certify::{
    ConfirmedProblem, ConfirmedRace, Refusal, Subject, Witness, confirm_problem, confirm_race,
};
use raddle_event::{Choice, ProblemKind};
use raddle_explore::enumerate::{Exploration, FoundRace};
use raddle_finding::{Evidence, Finding, FindingKind, Frame, UnknownReason};
use raddle_ir::Program;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Confirmed {
    pub(crate) shown: Vec<Shown>,
    /// Claims that hold only if something unknown does nothing.
    pub(crate) doubtful: Vec<UnknownReason>,
    /// Claims that did not hold up: bugs of ours.
    pub(crate) refused: Vec<UnknownReason>,
}

pub(crate) fn confirm(
    judge: &dyn Judge,
    loaded: &Loaded,
    exploration: &Exploration,
    mode: Mode,
    board: &Board,
) -> Confirmed {
    let mut confirmed = Confirmed { shown: Vec::new(), doubtful: Vec::new(), refused: Vec::new() };
    let mut show = |shown: &mut Vec<Shown>, finding: Shown| {
        board.confirmed(&finding);
        shown.push(finding);
    };
    races(judge, loaded, exploration, mode, &mut confirmed, &mut show);
    problems(judge, loaded, exploration, &mut confirmed, &mut show);
    confirmed
}

/// Takes note of a confirmed finding.
type Show<'a> = &'a mut dyn FnMut(&mut Vec<Shown>, Shown);

/// Replays on a machine of the kind that the claims are about.
pub(crate) trait Judge {
    fn race(&self, witness: &Witness, sites: (SiteId, SiteId)) -> Result<ConfirmedRace, Refusal>;

    fn problem(
        &self,
        witness: &Witness,
        kind: ProblemKind,
        site: SiteId,
    ) -> Result<ConfirmedProblem, Refusal>;
}

impl Judge for Subject {
    fn race(&self, witness: &Witness, sites: (SiteId, SiteId)) -> Result<ConfirmedRace, Refusal> {
        confirm_race(self, witness, sites)
    }

    fn problem(
        &self,
        witness: &Witness,
        kind: ProblemKind,
        site: SiteId,
    ) -> Result<ConfirmedProblem, Refusal> {
        confirm_problem(self, witness, kind, site)
    }
}

fn races(
    judge: &dyn Judge,
    loaded: &Loaded,
    exploration: &Exploration,
    mode: Mode,
    confirmed: &mut Confirmed,
    show: Show<'_>,
) {
    let mut groups: BTreeMap<Group, Vec<&FoundRace>> = BTreeMap::new();
    for race in &exploration.races {
        groups.entry(Group::of(&loaded.program, race)).or_default().push(race);
    }
    let mut told = BTreeSet::new();
    for candidates in groups.values_mut() {
        candidates.sort_by_key(|race| (race.schedule.choices.len(), race.key));
        let mut doubt = None;
        for race in candidates.iter() {
            match judge.race(&witness_of(race, mode), race.key.sites()) {
                Ok(race) => {
                    doubt = foreign(loaded, &race)
                        .or_else(|| by_assembly(loaded, race.assumptions(), || race_words(&race)));
                    if doubt.is_some() {
                        continue;
                    }
                    if told.insert(identity(&race)) {
                        show(&mut confirmed.shown, race_finding(race));
                    }
                    break;
                }
                Err(Refusal::Stopped) => {
                    confirmed.doubtful.push(not_in_time("data race"));
                    return;
                }
                Err(refusal) => confirmed.refused.push(refused("data race", &refusal)),
            }
        }
        confirmed.doubtful.extend(doubt);
    }
}

/// In the every-access mode the schedule leads to the state in which both accesses are next.
fn witness_of(race: &FoundRace, mode: Mode) -> Witness {
    let mut schedule = race.schedule.clone();
    if mode == Mode::EveryAccess {
        for event in [race.first, race.second] {
            schedule.choices.push(Choice { thread: event.thread, variant: 0 });
        }
    }
    Witness { schedule, visibility: race.visibility.clone() }
}

fn problems(
    judge: &dyn Judge,
    loaded: &Loaded,
    exploration: &Exploration,
    confirmed: &mut Confirmed,
    show: Show<'_>,
) {
    let mut told = BTreeSet::new();
    for found in &exploration.problems {
        let Some(first) = found.problems.first() else { continue };
        let witness = Witness { schedule: found.schedule.clone(), visibility: found.visibility.clone() };
        match judge.problem(&witness, first.kind, first.site) {
            Ok(problem) => {
                let words =
                    || format!("the {} at {}", problem.kind().name(), line(&problem.accesses()[0].at));
                if let Some(doubt) = doubtful(loaded, problem.assumptions(), words) {
                    confirmed.doubtful.push(doubt);
                    continue;
                }
                let mut places: Vec<Frame> = problem.accesses().iter().map(|a| a.at.clone()).collect();
                places.sort();
                if told.insert((problem.kind(), places)) {
                    show(&mut confirmed.shown, problem_finding(problem, first.site));
                }
            }
            Err(Refusal::Stopped) => {
                confirmed.doubtful.push(not_in_time(first.kind.name()));
                return;
            }
            Err(refusal) => confirmed.refused.push(refused(first.kind.name(), &refusal)),
        }
    }
}

/// What can be told of a race without replaying it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group([(String, u32, String); 2]);

impl Group {
    pub(crate) fn of(program: &Program, race: &FoundRace) -> Group {
        Group::of_sites(program, race.key.sites())
    }

    pub(crate) fn of_sites(program: &Program, (a, b): (SiteId, SiteId)) -> Group {
        let mut ends = [a, b].map(|site| {
            let span = program.sites.get(site).and_then(|info| info.span);
            let file = span.and_then(|span| program.files.get(span.file)).cloned().unwrap_or_default();
            (file, span.map_or(0, |span| span.line), expression(program, site))
        });
        ends.sort();
        Group(ends)
    }
}

fn expression(program: &Program, site: SiteId) -> String {
    use raddle_ir::{Code, Inst};
    match program.code_at(site) {
        Some(Code::Inst(
            Inst::Load { place, .. }
            | Inst::Store { place, .. }
            | Inst::Rmw { place, .. }
            | Inst::MemSet { place, .. },
        )) => program.place_text(*place),
        Some(Code::Inst(Inst::CmpXchg(x))) => program.place_text(x.place),
        // The site alone tells apart what has no expression or two of them.
        _ => site.to_string(),
    }
}

type Line = (String, u32);

/// A race is told once per pair of source lines and variable.
fn identity(race: &ConfirmedRace) -> ([Line; 2], String) {
    let mut lines = race.accesses().each_ref().map(|access| (access.at.file.clone(), access.at.line));
    lines.sort();
    (lines, race.variable().to_owned())
}

pub(crate) fn race_finding(race: ConfirmedRace) -> Shown {
    Shown {
        finding: Finding {
            id: String::new(),
            kind: FindingKind::DataRace,
            variable: race.variable().to_owned(),
            accesses: race.accesses().to_vec(),
            evidence: Evidence::Replayed {
                schedule: race.witness().schedule.clone(),
                file: None,
                natively: None,
            },
            engine: "explore",
            rank: 0,
            detail: race.detail().to_owned(),
            assumptions: race.assumptions().to_vec(),
            protection: None,
        },
        witness: race.witness().clone(),
        claim: Claim::Race(race.sites().0, race.sites().1),
    }
}

pub(crate) fn problem_finding(problem: ConfirmedProblem, site: SiteId) -> Shown {
    let kind: ProblemKind = problem.kind();
    Shown {
        finding: Finding {
            id: String::new(),
            kind: FindingKind::Problem(kind),
            variable: problem.variable().to_owned(),
            accesses: problem.accesses().to_vec(),
            evidence: Evidence::Replayed {
                schedule: problem.witness().schedule.clone(),
                file: None,
                natively: None,
            },
            engine: "explore",
            rank: 0,
            detail: problem.detail().to_owned(),
            assumptions: problem.assumptions().to_vec(),
            protection: None,
        },
        witness: problem.witness().clone(),
        claim: Claim::Problem(kind, site),
    }
}

/// Calls that could have ordered the accesses, had they done something.
fn foreign(loaded: &Loaded, race: &ConfirmedRace) -> Option<UnknownReason> {
    let calls: BTreeSet<String> = race
        .doubt()
        .iter()
        .map(|site| {
            let span = loaded.program.sites.get(*site).and_then(|info| info.span);
            let line = span.map_or(0, |span| span.line);
            match called(&loaded.program, *site) {
                Some(name) => format!("`{name}` (line {line})"),
                None => format!("a function called in line {line}"),
            }
        })
        .collect();
    if calls.is_empty() {
        return None;
    }
    let calls: Vec<String> = calls.into_iter().collect();
    Some(UnknownReason {
        place: String::new(),
        text: format!(
            "{} is withheld: {} may order these accesses or keep them apart, and have no body or model. \
             Give their source, or name them in raddle.toml, as locks or to be ignored; or pass `--extern pure`",
            race_words(race),
            calls.join(", ")
        ),
    })
}

/// The function that a site calls by its name.
fn called(program: &Program, site: SiteId) -> Option<&str> {
    match program.code_at(site) {
        Some(raddle_ir::Code::Inst(raddle_ir::Inst::Call {
            callee: raddle_ir::Callee::Direct(target),
            ..
        })) => Some(program.text(program.functions[*target].name)),
        _ => None,
    }
}

/// What other errors rest on: a function without body or model does nothing.
fn doubtful(
    loaded: &Loaded,
    assumptions: &[&'static str],
    what: impl Fn() -> String,
) -> Option<UnknownReason> {
    let unknown = loaded.unknown_functions().join(", ");
    if unknown.is_empty() || !assumptions.contains(&"A-EXTERN") {
        return by_assembly(loaded, assumptions, what);
    }
    let text = format!(
        "{} is seen only where functions without body or model do nothing (A-EXTERN): {unknown}. \
         Give their source, or name them in raddle.toml, as locks or to be ignored; or pass `--extern pure`",
        what()
    );
    Some(UnknownReason { place: String::new(), text })
}

/// Inline assembly may be a lock, too.
fn by_assembly(
    loaded: &Loaded,
    assumptions: &[&'static str],
    what: impl FnOnce() -> String,
) -> Option<UnknownReason> {
    let is_doubtful = assumptions.contains(&"A-ASM") && loaded.has_assembly();
    is_doubtful.then(|| UnknownReason {
        place: String::new(),
        text: format!("{} is seen only where inline assembly is taken to order nothing (A-ASM)", what()),
    })
}

fn race_words(race: &ConfirmedRace) -> String {
    let [a, b] = race.accesses().each_ref().map(|access| line(&access.at));
    format!("the data race on {} ({a} and {b})", race.variable())
}

fn line(frame: &Frame) -> String {
    format!("{}:{}", frame.file, frame.line)
}

fn not_in_time(what: &str) -> UnknownReason {
    plain(&format!("there was no time to replay every {what} that explore found"))
}

fn refused(what: &str, refusal: &Refusal) -> UnknownReason {
    bug(&format!("a {what} found by explore was not confirmed ({refusal})"))
}
