//! Who moves next in a run by chance.

use super::Strategy;
use super::dice::Dice;
use raddle_event::{Choice, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Chooser {
    dice: Dice,
    priorities: Option<Priorities>,
}

/// Of the threads in one run of PCT: the highest that can move moves.
struct Priorities {
    of: BTreeMap<ThreadId, u64>,
    /// Steps before which the thread that would move falls below all others.
    changes: BTreeSet<u64>,
    /// The next one to fall gets this one, below all who fell before. Starting priorities lie above all of them.
    lowest: u64,
}

const FIRST_FALL: u64 = 1 << 32;

impl Chooser {
    /// `longest` is the number of steps that a run is expected to have at most.
    pub(super) fn new(strategy: Strategy, seed: u64, longest: u64) -> Self {
        let mut dice = Dice::new(seed);
        let priorities = match strategy {
            Strategy::Walk => None,
            Strategy::Pct { depth } => {
                let changes = (1..depth).map(|_| dice.below(longest.max(1))).collect();
                Some(Priorities { of: BTreeMap::new(), changes, lowest: FIRST_FALL })
            }
        };
        Self { dice, priorities }
    }

    pub(super) fn choose(&mut self, step: u64, choices: &[Choice]) -> Choice {
        let Some(priorities) = &mut self.priorities else {
            return choices[self.dice.below(choices.len() as u64) as usize];
        };
        let mut thread = priorities.highest(choices, &mut self.dice);
        if priorities.changes.contains(&step) {
            priorities.lowest -= 1;
            priorities.of.insert(thread, priorities.lowest);
            thread = priorities.highest(choices, &mut self.dice);
        }
        let variants: Vec<Choice> = choices.iter().copied().filter(|c| c.thread == thread).collect();
        variants[self.dice.below(variants.len() as u64) as usize]
    }
}

impl Priorities {
    fn highest(&mut self, choices: &[Choice], dice: &mut Dice) -> ThreadId {
        for choice in choices {
            self.of.entry(choice.thread).or_insert_with(|| FIRST_FALL + (dice.roll() >> 1));
        }
        let best = choices.iter().max_by_key(|choice| (self.of[&choice.thread], choice.thread));
        best.expect("somebody can move").thread
    }
}
