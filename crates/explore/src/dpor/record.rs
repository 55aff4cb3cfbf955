//! Writes down the tree of a search while it goes: which choices were explored in each state and why the others were not. For a checker;
//! the search itself never looks at it.

use super::deeds::Action;
use raddle_event::{Branching, Choice, Fate, SearchTree};

/// The tree so far.
#[derive(Debug, Default)]
pub(super) struct Recording {
    tree: SearchTree,
    path: Vec<State>,
    most: usize,
    size: Size,
}

/// A state of the present path.
#[derive(Debug)]
struct State {
    /// Where it is in the tree.
    at: usize,
    enabled: Vec<Choice>,
    /// What was asleep when it was reached.
    asleep: Vec<Choice>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Size {
    #[default]
    Fits,
    TooLarge,
}

impl Recording {
    /// Gives up beyond this many states.
    pub(super) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// A new pass begins.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.most);
    }

    /// `None` when it became too large.
    pub(super) fn finish(self) -> Option<SearchTree> {
        (self.size == Size::Fits).then_some(self.tree)
    }

    /// A state was reached in which the search goes on.
    pub(super) fn enter(&mut self, enabled: &[Choice], sleep: &[Action]) {
        self.path.push(State {
            at: self.tree.nodes.len(),
            enabled: enabled.to_vec(),
            asleep: sleep.iter().map(|action| action.choice).collect(),
        });
        self.add();
    }

    /// A state was reached in which the run has ended.
    pub(super) fn end(&mut self) {
        self.add();
    }

    /// A choice is taken in the last state of the path.
    pub(super) fn take(&mut self, choice: Choice) {
        if let Some(node) = self.path.last().and_then(|state| self.tree.nodes.get_mut(state.at)) {
            node.choices.push((choice, Fate::Explored));
        }
    }

    /// The search is done with the last state of the path.
    pub(super) fn leave(&mut self) {
        if let Some(state) = self.path.last()
            && let Some(written) = self.tree.nodes.get_mut(state.at)
        {
            for choice in &state.enabled {
                if written.explored().all(|explored| explored != *choice) {
                    written.choices.push((*choice, fate(&self.path, *choice)));
                }
            }
        }
        self.path.pop();
    }

    fn add(&mut self) {
        if self.tree.nodes.len() >= self.most {
            self.size = Size::TooLarge;
            self.tree = SearchTree::default();
            self.most = 0;
        }
        if self.size == Size::Fits {
            self.tree.nodes.push(Branching::default());
        }
    }
}

/// Why the choice was not explored in the last of these states: it was explored in the one before those in which it is asleep.
fn fate(path: &[State], choice: Choice) -> Fate {
    match path.iter().rev().take_while(|state| state.asleep.contains(&choice)).count() {
        0 => Fate::NotNeeded,
        count => Fate::Asleep { since: (path.len() - 1 - count) as u32 },
    }
}
