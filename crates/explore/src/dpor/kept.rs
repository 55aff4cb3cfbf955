//! A search that was put down: all that is needed to go on later, as plain data.
//!
//! Only choices are written down. What they do is found out again on the machine when the search is taken up, and so are the races and
//! other problems found so far, from their schedules.

use super::deeds::Action;
use super::node::{Fresh, Left, Open, Plan};
use super::run::attempt;
use super::sections::Grouping;
use super::tally::{Counted, Tally};
use super::wakeup::Tree;
use crate::enumerate::{Gap, Ledger, Limits, Recorder, RunCount, Taken};
use raddle_base::SiteId;
use raddle_event::{Choice, ThreadId};
use raddle_finding::Assumption;
use raddle_machine::{IgnoreEvents, Machine, Visibility};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// How a search is kept.
pub struct Keeping<'a, M> {
    /// Not more often than this, and when the search is stopped.
    pub every: Duration,
    /// Gets the machines as they are.
    pub save: &'a dyn Fn(&Kept, &[&M]),
    /// Where to go on.
    pub from: Option<Kept>,
}

/// The state of a search between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pass: u32,
    /// Sites of accesses that are visible in this pass.
    visible: Vec<u32>,
    /// Executions, infeasible and truncated runs.
    runs: [u64; 3],
    blocked: u64,
    steps: u64,
    gaps: BTreeSet<Gap>,
    assumptions: Vec<String>,
    found: Vec<KeptSchedule>,
    /// Parents first.
    open: Vec<KeptOpen>,
    fresh: Vec<KeptFresh>,
}

/// Thread and variant.
type KeptChoice = (u32, u32);

/// What shows something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptSchedule {
    visible: Vec<u32>,
    choices: Vec<KeptChoice>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptOpen {
    before: Option<(usize, KeptChoice)>,
    sleep: Vec<KeptChoice>,
    inside: Vec<(KeptChoice, usize)>,
    /// Depth in the tree and choice, in preorder.
    tree: Vec<(u32, KeptChoice)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptFresh {
    before: Option<(usize, KeptChoice)>,
    sleep: Vec<KeptChoice>,
}

/// What was kept is not of this program, or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A schedule that showed something is not possible.
    Found,
    /// The way to a state is not possible.
    Way,
    /// Something refers to what is not there.
    Reference,
}

impl Kept {
    /// Whether nothing is left to explore.
    pub fn is_finished(&self) -> bool {
        self.open.is_empty() && self.fresh.is_empty()
    }

    pub(super) fn of(tally: &Tally, left: &[Left]) -> Kept {
        let mut kept = tally.kept();
        let mut states = States::default();
        for left in left {
            match left {
                Left::Open(open) => {
                    states.add(open);
                }
                Left::Fresh(Fresh { before, sleep }) => {
                    let before = before.as_ref().map(|(open, choice)| (states.add(open), out(*choice)));
                    kept.fresh.push(KeptFresh { before, sleep: asleep(sleep) });
                }
            }
        }
        kept.open = states.all.iter().map(|open| states.keep(open)).collect();
        kept
    }

    pub(super) fn new(
        pass: u32,
        visibility: &Visibility,
        Counted { runs, blocked, steps }: Counted,
        gaps: BTreeSet<Gap>,
        assumptions: impl Iterator<Item = &'static str>,
        ledger: &Ledger,
    ) -> Kept {
        let RunCount { executions, infeasible, truncated } = runs;
        let schedule = |(schedule, visibility): (&raddle_event::Schedule, &Visibility)| KeptSchedule {
            visible: sites(visibility),
            choices: schedule.choices.iter().copied().map(out).collect(),
        };
        Kept {
            pass,
            visible: sites(visibility),
            runs: [executions, infeasible, truncated],
            blocked,
            steps,
            gaps,
            assumptions: assumptions.map(str::to_owned).collect(),
            found: ledger.schedules().map(schedule).collect(),
            open: Vec::new(),
            fresh: Vec::new(),
        }
    }

    /// The counts and findings so far. The machine stands at its start, and does so afterwards.
    pub(super) fn tally<'a, M: Machine>(
        &self,
        machine: &mut M,
        limits: &'a Limits<'a>,
    ) -> Result<Tally<'a>, Misfit> {
        let [executions, infeasible, truncated] = self.runs;
        let runs = RunCount { executions, infeasible, truncated };
        let mut ledger = Ledger::seeing(visibility(&self.visible));
        let start = machine.checkpoint();
        for KeptSchedule { visible, choices } in &self.found {
            machine.restore(&start);
            machine.set_visibility(visibility(visible));
            let (mut recorder, mut path, mut enabled) = (Recorder::default(), Vec::new(), Vec::new());
            for choice in choices.iter().copied().map(back) {
                machine.enabled(&mut enabled);
                if !enabled.contains(&choice) {
                    return Err(Misfit::Found);
                }
                path.push(Taken { choice, events: recorder.len() });
                machine.step(choice, &mut recorder);
            }
            let mut shown = Ledger::seeing(visibility(visible));
            shown.run(machine, recorder.trace(), &path);
            ledger.add(shown);
        }
        machine.restore(&start);
        machine.discard(start);
        // The pass would have ended there.
        if ledger.has_outgrown_its_pass() {
            return Err(Misfit::Found);
        }
        let known = Assumption::ALL.iter().map(|assumption| assumption.id);
        let assumptions: BTreeSet<&'static str> =
            known.filter(|id| self.assumptions.iter().any(|kept| kept == id)).collect();
        if assumptions.len() < self.assumptions.len() || self.pass == 0 {
            return Err(Misfit::Reference);
        }
        let counted = Counted { runs, blocked: self.blocked, steps: self.steps };
        Ok(Tally::resumed(limits, ledger, self.pass - 1, counted, assumptions))
    }

    pub(super) fn gaps(&self) -> BTreeSet<Gap> {
        self.gaps.clone()
    }

    /// What is left to explore. The machine stands at its start, and does so afterwards.
    pub(super) fn left<M: Machine>(&self, machine: &mut M) -> Result<Vec<Left>, Misfit> {
        machine.set_visibility(visibility(&self.visible));
        let mut reader = Reader::new(machine);
        let mut open: Vec<Arc<Open>> = Vec::new();
        for (number, kept) in self.open.iter().enumerate() {
            let before = place(&open, kept.before)?;
            reader.go(&self.open, kept.before)?;
            let sleep = reader.actions(&kept.sleep);
            let tree = reader.tree(&kept.tree)?;
            reader.stay(number);
            open.push(Arc::new(Open::new(before, Plan::new(sleep, tree))));
        }
        for (kept, one) in self.open.iter().zip(&open) {
            for (choice, number) in &kept.inside {
                let inside = open.get(*number).ok_or(Misfit::Reference)?;
                one.plan().inside.push((back(*choice), Arc::clone(inside)));
            }
        }
        let mut left: Vec<Left> =
            open.iter().filter(|open| !open.plan().tree.is_empty()).cloned().map(Left::Open).collect();
        for kept in &self.fresh {
            let before = place(&open, kept.before)?;
            reader.go(&self.open, kept.before)?;
            left.push(Left::Fresh(Fresh { before, sleep: reader.actions(&kept.sleep) }));
        }
        reader.leave();
        Ok(left)
    }
}

/// States with their numbers, parents first.
#[derive(Default)]
struct States {
    all: Vec<Arc<Open>>,
    numbers: HashMap<*const Open, usize>,
}

impl States {
    /// The number of the state. Adds it with all that it refers to.
    fn add(&mut self, open: &Arc<Open>) -> usize {
        let mut todo = vec![Arc::clone(open)];
        while let Some(open) = todo.pop() {
            let mut way = vec![open];
            while let Some((before, _)) = &way[way.len() - 1].before
                && !self.numbers.contains_key(&Arc::as_ptr(before))
            {
                let before = Arc::clone(before);
                way.push(before);
            }
            for open in way.into_iter().rev() {
                if self.numbers.contains_key(&Arc::as_ptr(&open)) {
                    continue;
                }
                self.numbers.insert(Arc::as_ptr(&open), self.all.len());
                todo.extend(open.plan().inside.iter().map(|(_, inside)| Arc::clone(inside)));
                self.all.push(open);
            }
        }
        self.numbers[&Arc::as_ptr(open)]
    }

    fn keep(&self, open: &Open) -> KeptOpen {
        let plan = open.plan();
        let number = |open: &Arc<Open>| self.numbers[&Arc::as_ptr(open)];
        KeptOpen {
            before: open.before.as_ref().map(|(before, choice)| (number(before), out(*choice))),
            sleep: asleep(&plan.sleep),
            inside: plan.inside.iter().map(|(choice, inside)| (out(*choice), number(inside))).collect(),
            tree: plan.tree.flat().into_iter().map(|(depth, choice)| (depth, out(choice))).collect(),
        }
    }
}

/// A state that has been read already, and a choice in it.
fn place(
    open: &[Arc<Open>],
    kept: Option<(usize, KeptChoice)>,
) -> Result<Option<(Arc<Open>, Choice)>, Misfit> {
    let Some((number, choice)) = kept else { return Ok(None) };
    Ok(Some((Arc::clone(open.get(number).ok_or(Misfit::Reference)?), back(choice))))
}

/// A machine in a state, to find out what choices do there.
struct Reader<'m, M: Machine> {
    machine: &'m mut M,
    /// States on the way, numbered, the first one without a number.
    known: Vec<(Option<usize>, M::Checkpoint)>,
    /// The states from the present one down in a tree, and what is open there.
    way: Vec<(M::Checkpoint, Vec<Choice>)>,
}

impl<'m, M: Machine> Reader<'m, M> {
    /// The machine stands at its start.
    fn new(machine: &'m mut M) -> Self {
        let start = machine.checkpoint();
        Self { machine, known: vec![(None, start)], way: Vec::new() }
    }

    /// To the state behind this choice, or to the first one.
    fn go(&mut self, open: &[KeptOpen], before: Option<(usize, KeptChoice)>) -> Result<(), Misfit> {
        self.up_to(0);
        let mut choices = Vec::new();
        let mut next = before;
        let near = loop {
            let wanted = next.map(|(number, _)| number);
            if let Some((_, choice)) = next {
                choices.push(back(choice));
            }
            if let Some(near) = self.known.iter().rposition(|(number, _)| *number == wanted) {
                break near;
            }
            let state = wanted.and_then(|number| open.get(number)).ok_or(Misfit::Reference)?;
            // Parents come first, so that this ends.
            next = state.before.filter(|(number, _)| Some(*number) < wanted);
            if state.before != next {
                return Err(Misfit::Reference);
            }
        };
        while self.known.len() > near + 1 {
            let (_, checkpoint) = self.known.pop().expect("it is longer");
            self.machine.restore(&checkpoint);
            self.machine.discard(checkpoint);
        }
        self.machine.restore(&self.known[near].1);
        let mut enabled = Vec::new();
        for choice in choices.into_iter().rev() {
            self.machine.enabled(&mut enabled);
            if !enabled.contains(&choice) {
                return Err(Misfit::Way);
            }
            self.machine.step(choice, &mut IgnoreEvents);
        }
        self.machine.enabled(&mut enabled);
        self.way.push((self.machine.checkpoint(), enabled));
        Ok(())
    }

    /// The present state has this number.
    fn stay(&mut self, number: usize) {
        let (checkpoint, _) = self.way.pop().expect("it stands in a state");
        self.machine.restore(&checkpoint);
        self.known.push((Some(number), checkpoint));
    }

    /// What the choices do, each alone. One that is not open was not needed.
    fn actions(&mut self, choices: &[KeptChoice]) -> Vec<Action> {
        let open: Vec<Choice> =
            choices.iter().copied().map(back).filter(|choice| self.way[0].1.contains(choice)).collect();
        let actions = open.into_iter().map(|choice| self.step(choice)).collect();
        self.machine.restore(&self.way[0].0);
        actions
    }

    fn tree(&mut self, flat: &[(u32, KeptChoice)]) -> Result<Tree, Misfit> {
        let mut tree = Tree::default();
        let mut closed = None;
        for (depth, choice) in flat {
            let (depth, choice) = (*depth as usize, back(*choice));
            // What is behind a choice that is not open would not be explored either.
            if closed.is_some_and(|closed| depth > closed) {
                continue;
            }
            closed = None;
            if depth >= self.way.len() {
                return Err(Misfit::Reference);
            }
            self.up_to(depth + 1);
            if !self.way[depth].1.contains(&choice) {
                closed = Some(depth);
                continue;
            }
            let action = self.step(choice);
            tree.add(depth, action);
            let mut enabled = Vec::new();
            self.machine.enabled(&mut enabled);
            self.way.push((self.machine.checkpoint(), enabled));
        }
        self.up_to(1);
        Ok(tree)
    }

    /// Takes the choice in the last state of the way.
    fn step(&mut self, choice: Choice) -> Action {
        let (here, enabled) = self.way.last().expect("there is a state");
        self.machine.restore(here);
        attempt(self.machine, choice, enabled, &mut Vec::new(), &Grouping::default())
    }

    fn up_to(&mut self, count: usize) {
        while self.way.len() > count {
            let (checkpoint, _) = self.way.pop().expect("it is longer");
            self.machine.restore(&checkpoint);
            self.machine.discard(checkpoint);
        }
    }

    /// Back to the start.
    fn leave(mut self) {
        self.up_to(0);
        while let Some((_, checkpoint)) = self.known.pop() {
            self.machine.restore(&checkpoint);
            self.machine.discard(checkpoint);
        }
    }
}

fn sites(visibility: &Visibility) -> Vec<u32> {
    match visibility {
        Visibility::Sites(sites) => sites.iter().map(|site| site.0).collect(),
        Visibility::SyncOnly | Visibility::EveryAccess => Vec::new(),
    }
}

fn visibility(sites: &[u32]) -> Visibility {
    match sites {
        [] => Visibility::SyncOnly,
        sites => Visibility::Sites(sites.iter().copied().map(SiteId).collect()),
    }
}

fn asleep(sleep: &[Action]) -> Vec<KeptChoice> {
    sleep.iter().map(|action| out(action.choice)).collect()
}

fn out(choice: Choice) -> KeptChoice {
    (choice.thread.0, choice.variant)
}

fn back((thread, variant): KeptChoice) -> Choice {
    Choice { thread: ThreadId(thread), variant }
}
