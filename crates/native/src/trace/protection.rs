//! What protected the bytes of a race in a recorded run: the lockset form of the 2006 paper (`raddle_order::lockset::history`) with names.
//!
//! A race of the report is found again in the trace by its places and threads; where it is not (the trace has a gap), nothing is told.

use super::Recorded;
use super::told::{kind, nowhere, place};
use crate::places::Places;
use raddle_event::{AccessKind, Addr, Event, EventKind, Loc, ThreadId};
use raddle_finding::{AccessReport, Finding, Frame, OrderedAfter, Passage, ProtectedAccess, Protection};
use raddle_order::lockset::history::{self, History};
use raddle_order::lockset::point::Point;

/// So many accesses are told at most.
const STORY: usize = 6;
/// So many earlier accesses are tried with each later one, and so many pairs in all.
const NEAREST: usize = 4;
const TRIES: usize = 200;

impl Recorded {
    pub(crate) fn protection(&self, places: &Places, finding: &Finding) -> Option<Protection> {
        let [a, b] = finding.accesses.as_slice() else { return None };
        let teller = Teller { recorded: self, places, known: [a, b] };
        let (first, second, loc) = teller.race()?;
        let story = teller.story(loc, second);
        let history = history::between(&self.trace, first, second);
        let mut reached = history.start.clone();
        reached.extend(history.passages.iter().flat_map(|passage| &passage.added));
        Some(Protection {
            accesses: story.iter().map(|told| teller.access(told, loc)).collect(),
            passages: history.passages.iter().map(|passage| teller.passage(passage)).collect(),
            reached: reached.iter().map(|point| teller.name(*point, second)).collect(),
        })
    }
}

struct Teller<'a> {
    recorded: &'a Recorded,
    places: &'a Places,
    /// The accesses of the report, whose threads have names.
    known: [&'a AccessReport; 2],
}

/// An access, and how often it was repeated in a row.
struct Told {
    event: usize,
    times: usize,
}

impl Teller<'_> {
    fn event(&self, index: usize) -> &Event {
        &self.recorded.trace.events[index]
    }

    /// Two events at the places of the report that nothing orders, and the bytes that they share.
    fn race(&self) -> Option<(usize, usize, Loc)> {
        let at = |access| (0..self.recorded.trace.events.len()).filter(move |index| self.is(*index, access));
        let [a, b] = self.known.map(|access| at(access).collect::<Vec<usize>>());
        let later = |first: &[usize], second: &[usize]| {
            let mut pairs = Vec::new();
            for &second in second {
                let earlier = &first[..first.partition_point(|first| *first < second)];
                pairs.extend(earlier.iter().rev().take(NEAREST).map(|first| (*first, second)));
            }
            pairs
        };
        let mut pairs = later(&a, &b);
        pairs.extend(later(&b, &a));
        pairs.sort_by_key(|(_, second)| *second);
        let shared = |first: usize, second: usize| {
            let (a, b) = (accessed(self.event(first))?, accessed(self.event(second))?);
            a.overlaps(b).then(|| common(a, b))
        };
        let places = pairs.into_iter().filter_map(|(a, b)| Some((a, b, shared(a, b)?)));
        places.take(TRIES).find(|(first, second, _)| {
            history::between(&self.recorded.trace, *first, *second).meets.is_empty()
        })
    }

    fn is(&self, index: usize, access: &AccessReport) -> bool {
        let event = self.event(index);
        thread_number(&access.thread.name) == Some(event.thread)
            && place(self.places, event.site).as_ref() == Some(&access.at)
    }

    /// The last accesses to the bytes up to an event, those of one thread at one place in a row together.
    fn story(&self, loc: Loc, last: usize) -> Vec<Told> {
        let mut story: Vec<Told> = Vec::new();
        for index in (0..=last).rev() {
            let event = self.event(index);
            if !accessed(event).is_some_and(|other| other.overlaps(loc)) {
                continue;
            }
            let (full, newest) = (story.len() == STORY, story.len() == 1);
            match story.last_mut() {
                Some(told) if same(self.event(told.event), event) => {
                    told.times += 1;
                    // What orders a row is what orders its first access; the racing one stands for itself.
                    told.event = if newest { told.event } else { index };
                }
                _ if full => break,
                _ => story.push(Told { event: index, times: 1 }),
            }
        }
        story.reverse();
        story
    }

    fn access(&self, told: &Told, loc: Loc) -> ProtectedAccess {
        let event = self.event(told.event);
        let earlier = (0..told.event).rev().find(|index| {
            let other = self.event(*index);
            let overlaps = accessed(other).is_some_and(|other| other.overlaps(loc));
            overlaps && other.thread != event.thread && (writes(other) || writes(event))
        });
        let history = history::between(&self.recorded.trace, earlier.unwrap_or(told.event), told.event);
        let locks = history.held.iter().filter(|point| !matches!(point, Point::Thread(_)));
        ProtectedAccess {
            at: self.place(event),
            action: kind(event).to_owned(),
            thread: self.thread(event.thread),
            holding: locks.map(|point| self.name(*point, told.event)).collect(),
            ordered_by: if earlier.is_some() {
                self.order(&history, event.thread, told.event)
            } else {
                Vec::new()
            },
            after: earlier.map(|index| {
                let other = self.event(index);
                OrderedAfter {
                    at: self.place(other),
                    action: kind(other).to_owned(),
                    thread: self.thread(other.thread),
                }
            }),
            times: told.times,
        }
    }

    /// What leads from one access to another: the step that reached the thread, a lock by its name if that is held.
    fn order(&self, history: &History, thread: ThreadId, at: usize) -> Vec<String> {
        if history.meets.is_empty() {
            return Vec::new();
        }
        let reaches = |passage: &&history::Passage| passage.added.contains(&Point::Thread(thread));
        let step = history.passages.iter().find(reaches).map(|passage| self.event(passage.event));
        let locks = || history.meets.iter().filter(|point| !matches!(point, Point::Thread(_)));
        let is_lock = |event: &Event| matches!(event.kind, EventKind::Acquire { .. });
        match step {
            Some(event) if !is_lock(event) || locks().next().is_none() => {
                let Frame { file, line, .. } = self.place(event);
                vec![format!("{} at {file}:{line}", kind(event))]
            }
            _ => locks().map(|point| self.name(*point, at)).collect(),
        }
    }

    fn passage(&self, passage: &history::Passage) -> Passage {
        let event = self.event(passage.event);
        Passage {
            at: self.place(event),
            thread: self.thread(event.thread),
            action: kind(event).to_owned(),
            reaches: passage.added.iter().map(|point| self.name(*point, passage.event)).collect(),
        }
    }

    fn place(&self, event: &Event) -> Frame {
        place(self.places, event.site).unwrap_or_else(nowhere)
    }

    /// A point as a person would call it, seen from an event.
    fn name(&self, point: Point, at: usize) -> String {
        match point {
            Point::Thread(thread) => self.thread(thread),
            Point::Lock(address) | Point::Semaphore(address) | Point::Once(address) => {
                self.object(address, at)
            }
            Point::ReadLock(address) => format!("{} (shared)", self.object(address, at)),
            Point::Round(barrier, round) => format!("{} round {round}", self.object(barrier, at)),
            Point::Message(_) => "a value that was stored".to_owned(),
            Point::ReleaseFence(thread) => format!("a release fence of {}", self.thread(thread)),
            Point::RelaxedRead(thread) => format!("a relaxed read of {}", self.thread(thread)),
        }
    }

    /// As it was called where it was last used until then.
    fn object(&self, address: Addr, at: usize) -> String {
        let used = (0..=at)
            .rev()
            .map(|index| self.event(index))
            .filter(|event| event.kind.sync_object() == Some(address));
        let named = used.filter_map(|event| {
            let sites = self.places.sites(event.site.0);
            sites.first().map(|site| site.source.to_owned()).filter(|name| !name.is_empty())
        });
        named.take(1).next().unwrap_or_else(|| format!("{}+{}", address.object, address.offset))
    }

    fn thread(&self, thread: ThreadId) -> String {
        let known = self.known.iter().map(|access| &access.thread.name);
        known.into_iter().find(|name| thread_number(name) == Some(thread)).cloned().unwrap_or_else(|| {
            if thread == ThreadId::MAIN { "T0 (main)".to_owned() } else { thread.to_string() }
        })
    }
}

fn common(a: Loc, b: Loc) -> Loc {
    let offset = a.offset.max(b.offset);
    let end = (a.offset + a.len).min(b.offset + b.len);
    Loc { object: a.object, offset, len: end - offset }
}

fn accessed(event: &Event) -> Option<Loc> {
    match event.kind {
        EventKind::Access { loc, .. } | EventKind::Atomic { loc, .. } => Some(loc),
        _ => None,
    }
}

fn writes(event: &Event) -> bool {
    match event.kind {
        EventKind::Access { kind, .. } => kind == AccessKind::Write,
        EventKind::Atomic { op, .. } => op.writes(),
        _ => false,
    }
}

fn same(a: &Event, b: &Event) -> bool {
    a.thread == b.thread && a.site == b.site && kind(a) == kind(b)
}

/// `T3 (worker)`
fn thread_number(name: &str) -> Option<ThreadId> {
    let digits: String = name.strip_prefix('T')?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().map(ThreadId)
}
