//! The exhaustive check in traces that are too long for it: in a part around accesses that are close to each other.

use super::Predicting;
use crate::pairs::Pairs;
use crate::windows::Windows;
use crate::{Error, Method, exhaustive};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Whether accesses at a pair of places race in a part of the trace.
pub(super) struct Question {
    /// Which pair of places.
    number: usize,
    window: Range<usize>,
    accesses: Vec<(usize, usize)>,
}

impl Predicting<'_> {
    /// Of each two series the accesses that are closest to each other, and the first ones of their window.
    pub(super) fn leave_for_windows(&mut self, series: &[(u32, u32)], pairs: &Pairs) {
        let events = |series: u32| &pairs.series[series as usize].events[..];
        let series = series.iter().take(self.options.attempts).map(|(a, b)| (events(*a), events(*b)));
        let mut near: Vec<_> = series.map(|(a, b)| (closest(a, b), a, b)).collect();
        let (size, end) = (self.options.window_events, self.prepared.position.len());
        near.retain(|((first, second), ..)| second - first < size);
        if near.is_empty() {
            self.across_windows += 1;
            return;
        }
        self.in_windows += 1;
        near.sort_by_key(|((first, second), ..)| second - first);
        for ((first, second), a, b) in near.into_iter().take(self.options.reversals) {
            // As many events before them as after them, where there are so many.
            let start = first.saturating_sub((size - (second - first)) / 2).min(end.saturating_sub(size));
            let window = start..(start + size).min(end);
            let earliest =
                |events: &[u32]| events[events.partition_point(|at| (*at as usize) < start)] as usize;
            let earliest = (earliest(a).min(earliest(b)), earliest(a).max(earliest(b)));
            let mut accesses = vec![(first, second), earliest];
            accesses.dedup();
            self.questions.push(Question { number: self.in_windows, window, accesses });
        }
    }

    pub(super) fn answer_in_windows(&mut self) {
        let mut questions = std::mem::take(&mut self.questions);
        if questions.is_empty() {
            return;
        }
        questions.sort_by_key(|question| (question.window.start, question.number));
        let mut windows = Windows::new(self.prepared.input);
        let mut answers: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut exhausted, mut late) = (BTreeSet::new(), BTreeSet::new());
        for Question { number, window, accesses } in questions {
            if answers.get(&number).is_some_and(|found| *found >= self.options.candidates) {
                continue;
            }
            if self.is_over() {
                late.insert(number);
                continue;
            }
            let window = windows.window(window);
            let start = window.start;
            let wanted: Vec<_> =
                accesses.iter().map(|(first, second)| (first - start, second - start)).collect();
            let budget = self.budget();
            let found =
                window.with_index(self.prepared.input, |index| exhaustive::races_of(index, &wanted, &budget));
            if found.exhausted {
                exhausted.insert(number);
            }
            for candidate in found.candidates {
                let Error::Race { first, second } = candidate.error else { continue };
                let error = Error::Race { first: start + first, second: start + second };
                let behind = candidate.order.iter().map(|event| start + event);
                let order = (0..start).chain(behind).collect();
                *answers.entry(number).or_default() +=
                    usize::from(self.add(error, order, Method::Exhaustive));
            }
        }
        self.not_exhaustive += exhausted.len();
        self.out_of_time += late.len();
    }
}

/// One of each list, sorted, as close to each other as any.
fn closest(a: &[u32], b: &[u32]) -> (usize, usize) {
    let (mut at, mut other) = (0, 0);
    let mut best = (a[0].min(b[0]) as usize, a[0].max(b[0]) as usize);
    while let (Some(&one), Some(&two)) = (a.get(at), b.get(other)) {
        let pair = (one.min(two) as usize, one.max(two) as usize);
        if pair.1 - pair.0 < best.1 - best.0 {
            best = pair;
        }
        if one < two {
            at += 1;
        } else {
            other += 1;
        }
    }
    best
}
