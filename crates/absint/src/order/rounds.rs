//! Counts of barrier rounds: one interval per barrier; an empty list is zero everywhere.

use raddle_facts::Rounds;

pub(super) fn none(barriers: usize) -> Vec<Rounds> {
    vec![Rounds::default(); barriers]
}

pub(super) fn unknown(barriers: usize) -> Vec<Rounds> {
    vec![Rounds { at_least: 0, at_most: u32::MAX }; barriers]
}

pub(super) fn one_more(rounds: &mut [Rounds], barrier: usize) {
    if let Some(round) = rounds.get_mut(barrier) {
        round.at_least = round.at_least.saturating_add(1);
        round.at_most = round.at_most.saturating_add(1);
    }
}

pub(super) fn add(a: &[Rounds], b: &[Rounds]) -> Vec<Rounds> {
    pairs(a, b)
        .map(|(a, b)| Rounds {
            at_least: a.at_least.saturating_add(b.at_least),
            at_most: a.at_most.saturating_add(b.at_most),
        })
        .collect()
}

pub(super) fn merge(a: &[Rounds], b: &[Rounds]) -> Vec<Rounds> {
    pairs(a, b)
        .map(|(a, b)| Rounds { at_least: a.at_least.min(b.at_least), at_most: a.at_most.max(b.at_most) })
        .collect()
}

/// In a loop: no upper bound on what has moved.
pub(super) fn widen(rounds: &mut [Rounds]) {
    for round in rounds.iter_mut().filter(|round| round.at_most > 0) {
        round.at_most = u32::MAX;
    }
}

fn pairs<'a>(a: &'a [Rounds], b: &'a [Rounds]) -> impl Iterator<Item = (Rounds, Rounds)> + 'a {
    let at = |list: &[Rounds], i: usize| list.get(i).copied().unwrap_or_default();
    (0..a.len().max(b.len())).map(move |i| (at(a, i), at(b, i)))
}
