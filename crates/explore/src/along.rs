//! One execution whose choices somebody else makes, and everything that it shows.

use crate::enumerate::{Exploration, Gap, Limits, Recorder, Taken};
use crate::random::Dice;
use crate::stateful::{Account, Stop};
use raddle_event::{Choice, Event, ThreadId};
use raddle_machine::{Machine, OpKind, Sink, StackSource, Status, Visibility};

/// Makes the choices of an execution.
pub trait Guide<M> {
    /// One of the open choices.
    fn choose(&mut self, machine: &M, open: &[Choice]) -> Choice;

    /// The step was made, with these events.
    fn stepped(&mut self, machine: &M, choice: Choice, events: &[Event]);
}

/// Follows the guide to the end of the execution, or to a limit. The machine stands at its start, and stays where the execution ended. Errors of
/// the execution are in the exploration, each once.
pub fn along<M: Machine>(
    machine: &mut M,
    limits: &Limits,
    visibility: Visibility,
    guide: &mut dyn Guide<M>,
) -> Exploration {
    let mut account = Account::new(limits, visibility.clone());
    machine.set_visibility(visibility);
    let mut heard = Heard::default();
    let mut path: Vec<Taken> = Vec::new();
    let mut open = Vec::new();
    let mut excess = None;
    while machine.status() == Status::Running && excess.is_none() {
        excess = if path.len() as u64 >= limits.run_steps {
            Some(Gap::RunSteps)
        } else if heard.recorder.len() > limits.run_events {
            Some(Gap::RunEvents)
        } else {
            match account.step(path.len()) {
                Err(Stop::GivenUp(gap)) => Some(gap),
                _ => None,
            }
        };
        if excess.is_none() {
            machine.enabled(&mut open);
            let choice = guide.choose(machine, &open);
            path.push(Taken { choice, events: heard.recorder.len() });
            machine.step(choice, &mut heard);
            guide.stepped(machine, choice, &heard.of_step);
            heard.of_step.clear();
        }
    }
    account.only(machine, heard.recorder, &path, excess)
}

/// For the happens-before relation, and for the guide.
#[derive(Default)]
struct Heard {
    recorder: Recorder,
    of_step: Vec<Event>,
}

impl Sink for Heard {
    fn event(&mut self, event: Event, stack: &dyn StackSource) {
        self.of_step.push(event);
        self.recorder.event(event, stack);
    }
}

/// A scheduler for an execution that nobody has wishes about.
#[derive(Clone, Debug)]
pub struct Scheduler {
    dice: Option<Dice>,
    last: Option<ThreadId>,
    /// Steps that it has made since another one did.
    turn: u32,
}

/// Steps after which another thread may go on.
const TURN: u32 = 10_000;

impl Scheduler {
    /// Without a seed, a thread goes on as long as it can and does not work for long on its own; then the next one does. The process ends
    /// when nobody can do anything else. With a seed every open choice is as likely as any other.
    pub fn new(seed: Option<u64>) -> Self {
        Self { dice: seed.map(Dice::new), last: None, turn: 0 }
    }

    pub fn choose<M: Machine>(&mut self, machine: &M, open: &[Choice]) -> Choice {
        let choice = match &mut self.dice {
            Some(dice) => open[dice.below(open.len() as u64) as usize],
            None => self.in_turn(machine, &before_the_end(machine, open)),
        };
        self.turn = if self.last == Some(choice.thread) { self.turn.saturating_add(1) } else { 0 };
        self.last = Some(choice.thread);
        choice
    }

    /// Whether the thread that made the last step has made many in a row.
    pub fn is_turn_over(&self) -> bool {
        self.turn >= TURN
    }

    fn in_turn<M: Machine>(&self, machine: &M, open: &[Choice]) -> Choice {
        let is_last = |choice: &&Choice| Some(choice.thread) == self.last;
        let yields = |choice: &Choice| is_pending(machine, choice, OpKind::Yield);
        let own = open.iter().find(is_last);
        *match own {
            Some(own) if !yields(own) && !self.is_turn_over() => own,
            Some(own) => open.iter().find(|choice| choice.thread > own.thread).unwrap_or(&open[0]),
            None => &open[0],
        }
    }
}

/// The choices that do not end the process, if there are any.
pub fn before_the_end<M: Machine>(machine: &M, open: &[Choice]) -> Vec<Choice> {
    let goes_on = |choice: &Choice| !is_pending(machine, choice, OpKind::Exit);
    let others: Vec<Choice> = open.iter().copied().filter(goes_on).collect();
    if others.is_empty() { open.to_vec() } else { others }
}

fn is_pending<M: Machine>(machine: &M, choice: &Choice, kind: OpKind) -> bool {
    machine.pending(choice.thread).is_some_and(|pending| pending.kind == kind)
}
