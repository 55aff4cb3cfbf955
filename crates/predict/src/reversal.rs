//! Reorderings in which critical sections change places.
//!
//! After the idea of Shi, Mathur and Pavlogiannis, *Optimistic Prediction of Synchronization-Reversal Data Races* (ICSE 2024): take the smallest set
//! of events that the two places need, without regard to the order of critical sections; end as many sections in it as must end, so that at
//! most one is left open on each lock; then put the set in some order. We differ in that last step: instead of a graph
//! of orders that is tested for cycles, the set is scheduled by the definition itself ([`State`]), under a few fixed preferences among
//! threads. Sections that stay open come after all others of their lock.
//!
//! Polynomial: as many attempts as preferences, each as long as the set. Which way it errs: what is found is a reordering; a
//! set that no preference can schedule is left to the exhaustive check.

use crate::closure::{Closure, Locks, Values};
use crate::legality::{Index, State};
use crate::prepared::{Prepared, Section};
use raddle_base::fast_hash::FastMap;
use raddle_event::LockMode;

/// Who goes first among those that can go.
#[derive(Clone, Copy)]
enum Preference {
    /// Whose next event came first in the trace.
    Trace,
    /// This thread; then as in the trace.
    Thread(usize),
    /// All others; then this thread.
    NotThread(usize),
}

/// An order of events after which these events, of different threads, are the next of their threads.
pub(crate) fn before(
    prepared: &Prepared<'_>,
    index: &Index<'_>,
    values: Values,
    ends: &[(usize, u32)],
) -> Option<Vec<usize>> {
    let mut closure = Closure::new(prepared, values, Locks::Free);
    if !ends.iter().all(|(thread, at)| closure.require_before(*thread, *at)) || contains(&closure, ends) {
        return None;
    }
    end_sections(prepared, &mut closure, ends)?;
    let cut = closure.cut().to_vec();
    let threads = ends.iter().map(|(thread, _)| *thread);
    let preferences = std::iter::once(Preference::Trace)
        .chain(threads.clone().map(Preference::Thread))
        .chain(threads.map(Preference::NotThread));
    preferences.into_iter().find_map(|preference| scheduled(prepared, index, &cut, preference))
}

/// Deadlocks that no cycle of locks shows: lost signals, missing posts and arrivals. Lets each thread go last, or first, until nobody can go on.
pub(crate) fn stuck_ends(prepared: &Prepared<'_>, index: &Index<'_>) -> Vec<(Vec<usize>, Vec<usize>)> {
    let threads = 0..prepared.threads().min(MOST_THREADS);
    let preferences = threads.flat_map(|thread| [Preference::NotThread(thread), Preference::Thread(thread)]);
    let mut found: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for preference in preferences {
        let mut state = State::new(index);
        let mut order = Vec::new();
        loop {
            let possible = state.nexts().into_iter().filter(|event| state.is_possible(*event));
            let rank = |event: &usize| (preference.is_last(prepared.event(*event).thread.0 as usize), *event);
            let Some(next) = possible.min_by_key(rank) else { break };
            if prepared.clock.step_is_over() {
                return found;
            }
            state.take(next);
            order.push(next);
        }
        let blocked = state.smallest_deadlock();
        if !blocked.is_empty() && found.iter().all(|(_, known)| *known != blocked) {
            found.push((order, blocked));
        }
    }
    found
}

const MOST_THREADS: usize = 16;

impl Preference {
    fn is_last(self, thread: usize) -> bool {
        match self {
            Preference::Trace => false,
            Preference::Thread(first) => thread != first,
            Preference::NotThread(last) => thread == last,
        }
    }
}

fn contains(closure: &Closure<'_>, ends: &[(usize, u32)]) -> bool {
    ends.iter().any(|(thread, at)| closure.contains(*thread, *at))
}

/// Sections that are begun in the set and not ended, by lock.
fn open(prepared: &Prepared<'_>, cut: &[u32]) -> FastMap<u32, Vec<(usize, Section)>> {
    let mut open: FastMap<u32, Vec<(usize, Section)>> = FastMap::default();
    for (thread, sections) in prepared.sections.iter().enumerate() {
        let begun = sections.iter().take_while(|section| section.acquire < cut[thread]);
        for section in begun.filter(|section| section.release.is_none_or(|release| release >= cut[thread])) {
            open.entry(section.lock).or_default().push((thread, *section));
        }
    }
    open
}

/// Ends sections until none excludes another one. `None`: two that cannot end exclude each other, or the time is over.
fn end_sections(prepared: &Prepared<'_>, closure: &mut Closure<'_>, ends: &[(usize, u32)]) -> Option<()> {
    loop {
        if prepared.clock.is_over() {
            return None;
        }
        let open = open(prepared, closure.cut());
        let excluded = open.values().find_map(|sections| {
            let excludes =
                |a: &Section, b: &Section| a.mode == LockMode::Exclusive || b.mode == LockMode::Exclusive;
            sections.iter().enumerate().find_map(|(place, (_, a))| {
                let (_, b) = sections[place + 1..].iter().find(|(_, b)| excludes(a, b))?;
                let of = |section: &Section| {
                    *sections.iter().find(|(_, other)| other == section).expect("it is there")
                };
                Some([of(a), of(b)])
            })
        });
        let Some(pair) = excluded else { return Some(()) };
        // The one that began first in the trace, if it can.
        let mut pair = pair.to_vec();
        pair.sort_by_key(|(thread, section)| prepared.of_thread[*thread][section.acquire as usize]);
        let ended = pair.into_iter().find_map(|(thread, section)| {
            let mut further = closure.clone();
            let ended = further.require(thread, section.release? + 1) && !contains(&further, ends);
            ended.then_some(further)
        });
        *closure = ended?;
    }
}

fn scheduled(
    prepared: &Prepared<'_>,
    index: &Index<'_>,
    cut: &[u32],
    preference: Preference,
) -> Option<Vec<usize>> {
    let mut state = State::new(index);
    let mut done = vec![0_u32; cut.len()];
    let mut order = Vec::with_capacity(cut.iter().map(|upto| *upto as usize).sum());
    // Acquisitions in the set that have not come yet, by lock; and those whose sections stay open.
    let mut left: FastMap<u32, u32> = FastMap::default();
    let mut acquisitions: FastMap<usize, (u32, bool)> = FastMap::default();
    for (thread, sections) in prepared.sections.iter().enumerate() {
        for section in sections.iter().take_while(|section| section.acquire < cut[thread]) {
            let stays = section.release.is_none_or(|release| release >= cut[thread]);
            *left.entry(section.lock).or_default() += u32::from(!stays);
            let event = prepared.of_thread[thread][section.acquire as usize] as usize;
            let entry = prepared.of_thread[thread][section.entry as usize] as usize;
            acquisitions.insert(entry, (section.lock, stays));
            acquisitions.insert(event, (section.lock, stays));
        }
    }
    let total: u32 = cut.iter().sum();
    let mut taken = 0;
    while taken < total {
        if prepared.clock.step_is_over() {
            return None;
        }
        let nexts = (0..cut.len()).filter(|thread| done[*thread] < cut[*thread]);
        let mut nexts: Vec<(usize, usize)> = nexts
            .map(|thread| (prepared.of_thread[thread][done[thread] as usize] as usize, thread))
            .collect();
        nexts.sort_by_key(|(event, thread)| (preference.is_last(*thread), *event));
        let may = |event: usize| match acquisitions.get(&event) {
            Some((lock, true)) => left.get(lock).is_none_or(|left| *left == 0),
            _ => true,
        };
        let next = nexts.into_iter().find(|(event, _)| may(*event) && state.is_possible(*event));
        let (event, thread) = next?;
        if let Some((lock, false)) = acquisitions.get(&event)
            && matches!(
                prepared.event(event).kind,
                raddle_event::EventKind::Acquire { .. } | raddle_event::EventKind::SemWait { .. }
            )
        {
            *left.entry(*lock).or_default() -= 1;
        }
        state.take(event);
        order.push(event);
        done[thread] += 1;
        taken += 1;
    }
    Some(order)
}
