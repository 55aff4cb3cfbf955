//! The first half of the check: the tree is one of the program. In every state the choices are the open ones, what is said to be asleep is,
//! nothing asleep is explored, and every run goes to its end.

use super::step::{Action, Listener, perform, slept};
use super::{Refusal, Rule, go_on};
use raddle_event::{Branching, Choice, Fate, SearchTree};
use raddle_machine::{Machine, Status};
use std::sync::atomic::AtomicBool;

/// A state of the tree, with what its choices did there.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) asleep: Vec<Action>,
    /// In the order in which they were explored, with the states behind them.
    pub(super) explored: Vec<(Action, usize)>,
}

/// A state on the way down.
struct Open<C> {
    node: usize,
    checkpoint: C,
    enabled: Vec<Choice>,
    /// Inherited, with where each was explored; then what was explored here.
    sleep: Vec<(Action, u32)>,
    choices: Vec<Choice>,
    /// A thread was put to sleep on the way here.
    slept: bool,
}

/// Goes through the tree from the start of the machine; leaves the machine there.
pub(super) fn walk<M: Machine>(
    machine: &mut M,
    tree: &SearchTree,
    stop: &AtomicBool,
) -> Result<Vec<Node>, Refusal> {
    let mut nodes: Vec<Node> = Vec::with_capacity(tree.nodes.len());
    let mut path: Vec<Open<M::Checkpoint>> = Vec::new();
    let mut sleep = Vec::new();
    let start = machine.checkpoint();
    loop {
        go_on(stop)?;
        let branching = tree.nodes.get(nodes.len()).ok_or_else(|| broken("it ends before a run does"))?;
        if let Some(open) = enter(machine, branching, std::mem::take(&mut sleep), nodes.len(), &path)? {
            nodes.push(Node {
                asleep: open.sleep.iter().map(|(action, _)| action.clone()).collect(),
                ..Node::default()
            });
            path.push(open);
        } else {
            nodes.push(Node::default());
        }
        loop {
            let depth = path.len();
            let Some(open) = path.last_mut() else {
                machine.restore(&start);
                machine.discard(start);
                return if nodes.len() == tree.nodes.len() {
                    Ok(nodes)
                } else {
                    Err(broken("it goes on behind its end"))
                };
            };
            machine.restore(&open.checkpoint);
            let done = nodes[open.node].explored.len();
            let Some(choice) = open.choices.get(done).copied() else {
                let open = path.pop().expect("it is the last");
                machine.discard(open.checkpoint);
                continue;
            };
            let mut after = Vec::new();
            let action = perform(machine, choice, &open.enabled, &mut after, &mut Listener::default());
            let stays =
                |(asleep, _): &&(Action, u32)| asleep.thread() != choice.thread && action.leaves(asleep);
            sleep = open.sleep.iter().filter(stays).cloned().collect();
            open.sleep.push((action.clone(), depth as u32 - 1));
            let below = nodes.len();
            nodes[open.node].explored.push((action, below));
            break;
        }
    }
}

/// Compares a state with what the tree says of it. `None` when the run has ended.
fn enter<M: Machine>(
    machine: &mut M,
    branching: &Branching,
    sleep: Vec<(Action, u32)>,
    node: usize,
    above: &[Open<M::Checkpoint>],
) -> Result<Option<Open<M::Checkpoint>>, Refusal> {
    let depth = above.len();
    let slept = above.last().is_some_and(|open| open.slept) || slept(machine);
    let wrong = |text: String| Refusal {
        rule: Rule::Tree,
        text: format!("state {node}, {depth} steps from the start: {text}"),
    };
    // Where a thread sleeps in a waiting loop, independent steps may not commute.
    let doubtful =
        |text: String| Refusal { rule: if slept { Rule::Loops } else { Rule::Tree }, ..wrong(text) };
    let error = machine.problems().last().filter(|last| !last.kind.ends_the_process());
    match machine.status() {
        Status::Running => {}
        Status::Crashed if error.is_some() => {
            let kind = error.map_or("", |error| error.kind.name());
            return Err(wrong(format!("the run ends at an error ({kind}), and the program need not")));
        }
        Status::Exited(_) | Status::Crashed | Status::Deadlock | Status::Livelock | Status::Infeasible => {
            return match branching.choices.as_slice() {
                [] => Ok(None),
                [(choice, _), ..] => Err(wrong(format!("the run has ended, {} is not open", shown(*choice)))),
            };
        }
        Status::Unsupported { reason, .. } => return Err(wrong(format!("not supported: {reason}"))),
        Status::Limit { reason } => return Err(wrong(format!("a limit of the interpreter: {reason}"))),
    }
    let mut enabled = Vec::new();
    machine.enabled(&mut enabled);
    for choice in &enabled {
        let named = branching.choices.iter().filter(|(named, _)| named == choice).count();
        if named != 1 {
            return Err(wrong(format!("{} is open and named {named} times", shown(*choice))));
        }
    }
    if let Some((choice, _)) = sleep
        .iter()
        .find(|(action, _)| !enabled.contains(&action.choice))
        .map(|(action, since)| (action.choice, since))
    {
        return Err(doubtful(format!("{} was independent of all since and is not open", shown(choice))));
    }
    let mut choices = Vec::new();
    for (choice, fate) in &branching.choices {
        if !enabled.contains(choice) {
            return Err(wrong(format!("{} is not open", shown(*choice))));
        }
        let asleep = sleep.iter().find(|(action, _)| action.choice == *choice).map(|(_, since)| *since);
        match (fate, asleep) {
            (Fate::Explored, None) => choices.push(*choice),
            (Fate::Explored, Some(_)) => {
                return Err(doubtful(format!("{} is explored and asleep", shown(*choice))));
            }
            (Fate::Asleep { since }, Some(known)) if *since == known => {}
            (Fate::Asleep { since }, _) => {
                return Err(wrong(format!("{} is not asleep since step {since}", shown(*choice))));
            }
            (Fate::NotNeeded, None) => {}
            (Fate::NotNeeded, Some(since)) => {
                return Err(wrong(format!("{} is asleep since step {since}", shown(*choice))));
            }
        }
    }
    if choices.is_empty() && sleep.len() != enabled.len() {
        return Err(wrong("nothing is explored although something is open that is not asleep".to_owned()));
    }
    Ok(Some(Open { node, checkpoint: machine.checkpoint(), enabled, sleep, choices, slept }))
}

fn broken(text: &str) -> Refusal {
    Refusal { rule: Rule::Tree, text: text.to_owned() }
}

/// As in a schedule.
pub(super) fn shown(choice: Choice) -> String {
    match choice.variant {
        0 => choice.thread.to_string(),
        variant => format!("{}/{variant}", choice.thread),
    }
}
