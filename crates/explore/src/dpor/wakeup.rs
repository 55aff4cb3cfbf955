//! Wake-up trees: the beginnings of runs that are still to be explored from a state (Source Sets, J. ACM 2017, section 6).
//!
//! A tree is kept in the order in which it will be explored. Every leaf is a run prefix that leads to a class not yet seen; no two
//! leaves lead to the same one. There may be many of them and they are long, so steps with nothing beside them are kept in one piece.

use super::deeds::Action;
use crate::dependence::compete;
use raddle_event::Choice;

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    branches: Vec<Branch>,
}

/// Some steps, and what is behind them.
#[derive(Clone, Debug)]
struct Branch {
    /// The last one first; there is one at least.
    steps: Vec<Action>,
    below: Tree,
}

impl Branch {
    /// The sequence is not empty.
    fn of(mut sequence: Vec<Action>) -> Branch {
        sequence.reverse();
        sequence.shrink_to_fit();
        Branch { steps: sequence, below: Tree::default() }
    }

    fn first(&self) -> &Action {
        self.steps.last().expect("there is a step")
    }

    /// Whether nothing comes behind the first `count` steps.
    fn ends_behind(&self, count: usize) -> bool {
        count == self.steps.len() && self.below.is_empty()
    }

    /// Makes the first `count` steps a branch of their own, with the rest below them.
    fn split(&mut self, count: usize) {
        if count < self.steps.len() {
            let first = self.steps.split_off(self.steps.len() - count);
            let rest = std::mem::replace(&mut self.steps, first);
            let below = std::mem::take(&mut self.below);
            self.below.branches.push(Branch { steps: rest, below });
        }
    }
}

impl Tree {
    pub(super) fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Takes out the branch to explore next: its first step, and what is behind that.
    pub(super) fn next(&mut self) -> Option<(Action, Tree)> {
        if self.branches.is_empty() {
            return None;
        }
        let mut branch = self.branches.remove(0);
        let action = branch.steps.pop().expect("there is a step");
        let below = if branch.steps.is_empty() { branch.below } else { Tree { branches: vec![branch] } };
        Some((action, below))
    }

    /// The choices that will be explored next, one behind the other.
    pub(super) fn first_way(&self, choices: &mut Vec<Choice>) {
        let mut tree = self;
        while let Some(branch) = tree.branches.first() {
            choices.extend(branch.steps.iter().rev().map(|action| action.choice));
            tree = &branch.below;
        }
    }

    /// All steps with their depths, in preorder.
    pub(super) fn flat(&self) -> Vec<(u32, Choice)> {
        let mut flat = Vec::new();
        let mut todo: Vec<(u32, &Branch)> = self.branches.iter().rev().map(|branch| (0, branch)).collect();
        while let Some((depth, branch)) = todo.pop() {
            flat.extend((depth..).zip(branch.steps.iter().rev().map(|action| action.choice)));
            let behind = depth + branch.steps.len() as u32;
            todo.extend(branch.below.branches.iter().rev().map(|branch| (behind, branch)));
        }
        flat
    }

    /// Appends a step at this depth behind the last branch, which is at least as deep.
    pub(super) fn add(&mut self, mut depth: usize, action: Action) {
        let mut tree = self;
        while depth > 0 {
            let last = tree.branches.last_mut().expect("the branch is as deep");
            if last.ends_behind(depth) {
                return last.steps.insert(0, action);
            }
            last.split(depth);
            depth = depth.saturating_sub(last.steps.len());
            tree = &mut last.below;
        }
        tree.branches.push(Branch::of(vec![action]));
    }

    /// Drops the branches that begin with another choice.
    pub(super) fn keep(&mut self, open: impl Fn(Choice) -> bool) {
        self.branches.retain(|branch| open(branch.first().choice));
    }

    /// Whether there is certainly nothing to add for this sequence.
    pub(super) fn holds(&self, mut sequence: Vec<Action>) -> bool {
        let leads = |action: &Action, sequence: &[Action]| match lead_of(action, sequence) {
            Lead::No => false,
            Lead::Inside => true,
            Lead::Outside => !sequence.iter().any(|other| compete(&action.footprint, &other.footprint)),
        };
        let mut tree = self;
        loop {
            let Some(branch) = tree.branches.iter().find(|branch| leads(branch.first(), &sequence)) else {
                return false;
            };
            for (at, action) in branch.steps.iter().rev().enumerate() {
                if at > 0 && !leads(action, &sequence) {
                    return false;
                }
                if branch.ends_behind(at + 1) {
                    return true;
                }
                remove_first(&mut sequence, action.choice);
            }
            tree = &branch.below;
        }
    }

    /// Adds what is missing for the tree to hold a leaf that this sequence can be continued to, up to equivalence. `fits` tells whether
    /// actions do the same behind some choices, where that cannot be told from what they did before.
    pub(super) fn insert(
        &mut self,
        mut sequence: Vec<Action>,
        mut fits: impl FnMut(&[Choice], &[Action]) -> bool,
    ) {
        let mut tree = self;
        let mut lead: Vec<Choice> = Vec::new();
        let mut may_lead = |action: &Action, sequence: &[Action], lead: &mut Vec<Choice>| {
            match lead_of(action, sequence) {
                Lead::No => return false,
                Lead::Inside => return true,
                Lead::Outside => {}
            }
            if !sequence.iter().any(|other| compete(&action.footprint, &other.footprint)) {
                return true;
            }
            lead.push(action.choice);
            let answer = fits(lead, sequence);
            lead.pop();
            answer
        };
        loop {
            let leads = |branch: &Branch| may_lead(branch.first(), &sequence, &mut lead);
            let Some(at) = tree.branches.iter().position(leads) else {
                return tree.append(sequence);
            };
            let branch = &mut tree.branches[at];
            let mut followed = 0;
            while followed < branch.steps.len() {
                let action = &branch.steps[branch.steps.len() - 1 - followed];
                if followed > 0 && !may_lead(action, &sequence, &mut lead) {
                    branch.split(followed);
                    return branch.below.append(sequence);
                }
                followed += 1;
                if branch.ends_behind(followed) {
                    return;
                }
                remove_first(&mut sequence, action.choice);
                lead.push(action.choice);
            }
            tree = &mut tree.branches[at].below;
        }
    }

    fn append(&mut self, sequence: Vec<Action>) {
        if !sequence.is_empty() {
            // Most have one branch only, and there are many.
            self.branches.reserve_exact(1);
            self.branches.push(Branch::of(sequence));
        }
    }
}

/// Whether some run that begins with `sequence` is equivalent to one that begins with `action`: a weak initial.
pub(super) fn may_come_first(action: &Action, sequence: &[Action]) -> bool {
    lead_of(action, sequence) != Lead::No
}

/// How an action may come first in a sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lead {
    No,
    /// It is one of the sequence.
    Inside,
    /// It is independent of all of them.
    Outside,
}

fn lead_of(action: &Action, sequence: &[Action]) -> Lead {
    for other in sequence {
        if other.choice.thread == action.choice.thread {
            return if other.choice == action.choice { Lead::Inside } else { Lead::No };
        }
        if !other.leaves(action) {
            return Lead::No;
        }
    }
    Lead::Outside
}

pub(super) fn remove_first(sequence: &mut Vec<Action>, choice: Choice) {
    if let Some(own) = sequence.iter().position(|action| action.choice == choice) {
        sequence.remove(own);
    }
}
