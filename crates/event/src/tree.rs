//! The tree of a search: which choices were explored in each state, and why each other one was not. A value that is stored and checked.

use crate::Choice;

/// All states on the way of the explored runs, parents before children, the children of a state in the order of its explored choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchTree {
    pub nodes: Vec<Branching>,
}

/// The choices open in one state, the explored ones first and in the order in which they were explored. Empty where a run has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branching {
    pub choices: Vec<(Choice, Fate)>,
}

/// What a search did with a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Explored,
    /// Left out: explored at the state this many steps from the start, and independent of all steps since.
    Asleep {
        since: u32,
    },
    /// Left out: no race of a run below, the other way round, begins with it.
    NotNeeded,
}

impl Branching {
    pub fn explored(&self) -> impl Iterator<Item = Choice> {
        self.choices.iter().filter(|(_, fate)| *fate == Fate::Explored).map(|(choice, _)| *choice)
    }
}
