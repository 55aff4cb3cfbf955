//! Wake-up trees: the beginnings of runs that are still to be explored from a state (Source Sets, J. ACM 2017, section 6).
//!
//! A tree is kept in the order in which it will be explored. Every leaf is a run prefix that leads to a class not yet seen; no two
//! leaves lead to the same one.

use super::run::Action;
use crate::dependence::compete;
use raddle_event::Choice;

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    branches: Vec<Branch>,
}

#[derive(Clone, Debug)]
struct Branch {
    action: Action,
    below: Tree,
}

impl Tree {
    pub(super) fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Takes out the branch to explore next.
    pub(super) fn next(&mut self) -> Option<(Action, Tree)> {
        if self.branches.is_empty() {
            return None;
        }
        let branch = self.branches.remove(0);
        Some((branch.action, branch.below))
    }

    /// All steps with their depths, in preorder.
    pub(super) fn flat(&self) -> Vec<(u32, Choice)> {
        let mut flat = Vec::new();
        let mut todo: Vec<(u32, &Branch)> = self.branches.iter().rev().map(|branch| (0, branch)).collect();
        while let Some((depth, branch)) = todo.pop() {
            flat.push((depth, branch.action.choice));
            todo.extend(branch.below.branches.iter().rev().map(|branch| (depth + 1, branch)));
        }
        flat
    }

    /// Appends a step at this depth behind the last branch, which is at least as deep.
    pub(super) fn add(&mut self, depth: usize, action: Action) {
        let mut tree = self;
        for _ in 0..depth {
            tree = &mut tree.branches.last_mut().expect("the branch is as deep").below;
        }
        tree.branches.push(Branch { action, below: Tree::default() });
    }

    /// Drops the branches that begin with a choice which is not open.
    pub(super) fn keep(&mut self, open: &[Choice]) {
        self.branches.retain(|branch| open.contains(&branch.action.choice));
    }

    /// Whether there is certainly nothing to add for this sequence.
    pub(super) fn holds(&self, mut sequence: Vec<Action>) -> bool {
        let mut tree = self;
        loop {
            let leads = |action: &Action| {
                let inside = sequence.iter().any(|other| other.choice == action.choice);
                may_come_first(action, &sequence)
                    && (inside || !sequence.iter().any(|other| compete(&action.footprint, &other.footprint)))
            };
            let Some(branch) = tree.branches.iter().find(|branch| leads(&branch.action)) else {
                return false;
            };
            if branch.below.is_empty() {
                return true;
            }
            remove_first(&mut sequence, branch.action.choice);
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
        loop {
            let mut may_lead = |action: &Action| {
                if !may_come_first(action, &sequence) {
                    return false;
                }
                let inside = sequence.iter().any(|other| other.choice == action.choice);
                if inside || !sequence.iter().any(|other| compete(&action.footprint, &other.footprint)) {
                    return true;
                }
                lead.push(action.choice);
                let answer = fits(&lead, &sequence);
                lead.pop();
                answer
            };
            let Some(at) = tree.branches.iter().position(|branch| may_lead(&branch.action)) else {
                return tree.append(sequence);
            };
            let branch = &mut tree.branches[at];
            if branch.below.is_empty() {
                return;
            }
            remove_first(&mut sequence, branch.action.choice);
            lead.push(branch.action.choice);
            tree = &mut branch.below;
        }
    }

    fn append(&mut self, sequence: Vec<Action>) {
        let mut tree = self;
        for action in sequence {
            // Most have one branch only, and there are many.
            tree.branches.reserve_exact(1);
            tree.branches.push(Branch { action, below: Tree::default() });
            tree = &mut tree.branches.last_mut().expect("it was pushed").below;
        }
    }
}

/// Whether some run that begins with `sequence` is equivalent to one that begins with `action`: a weak initial.
pub(super) fn may_come_first(action: &Action, sequence: &[Action]) -> bool {
    for other in sequence {
        if other.choice.thread == action.choice.thread {
            return other.choice == action.choice;
        }
        if !other.leaves(action) {
            return false;
        }
    }
    true
}

pub(super) fn remove_first(sequence: &mut Vec<Action>, choice: Choice) {
    if let Some(own) = sequence.iter().position(|action| action.choice == choice) {
        sequence.remove(own);
    }
}
