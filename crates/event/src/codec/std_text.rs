//! The STD text format, which trace analysers share: `T0|w(V1)|loc`, an event a line.
//!
//! It knows `r`, `w`, `acq`, `rel`, `fork` and `join`, with a thread, variable or lock by name and a place. Reading gives every name a
//! number in order of appearance; writing gives those names back. What STD cannot say (conditions, barriers, semaphores, atomics, lives of
//! memory) is left out when a trace is written, and counted: an analyser that reads the text sees less order than there was, and may report a
//! race that there is not. Accesses that overlap without being equal are written as several, one for each piece.

use super::CodecError;
use crate::{AccessKind, Addr, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, Trace};
use raddle_base::SiteId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// A trace with what its numbers are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StdTrace {
    pub trace: Trace,
    pub threads: Vec<String>,
    /// Variables and locks; each is an object of one byte.
    pub objects: Vec<String>,
    pub places: Vec<String>,
    /// `begin`, `end` and `req`, which say nothing about order.
    pub ignored: usize,
}

#[derive(Default)]
struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

impl StdTrace {
    pub fn parse(text: &str) -> Result<StdTrace, CodecError> {
        let (mut threads, mut variables, mut places) = (Names::default(), Names::default(), Names::default());
        let (mut events, mut ignored) = (Vec::new(), 0);
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let wrong = |what: &str| CodecError::line(index + 1, format!("`{}`: {what}", shortened(line)));
            let mut fields = line.split('|');
            let (Some(thread), Some(action), place, None) =
                (fields.next(), fields.next(), fields.next(), fields.next())
            else {
                return Err(wrong("not of the form `thread|operation(name)|place`"));
            };
            if thread.is_empty() {
                return Err(wrong("the thread has no name"));
            }
            let (operation, name) = match action.split_once('(') {
                Some((operation, rest)) => {
                    (operation, rest.strip_suffix(')').ok_or_else(|| wrong("the parenthesis is not closed"))?)
                }
                None => (action, ""),
            };
            if matches!(operation, "begin" | "end" | "req") {
                ignored += 1;
                continue;
            }
            if name.is_empty() {
                return Err(wrong("the operation has no operand"));
            }
            let thread = ThreadId(threads.number(thread));
            let mut object = |prefix: &str| ObjectId(variables.number(&format!("{prefix}{name}")));
            let kind = match operation {
                "r" | "w" => EventKind::Access {
                    loc: Loc { object: object(VARIABLE), offset: 0, len: 1 },
                    kind: if operation == "r" { AccessKind::Read } else { AccessKind::Write },
                },
                "acq" | "rel" => {
                    let lock = Addr { object: object(LOCK), offset: 0 };
                    match operation {
                        "acq" => EventKind::Acquire { lock, mode: LockMode::Exclusive },
                        _ => EventKind::Release { lock, mode: LockMode::Exclusive },
                    }
                }
                "fork" => EventKind::Create { child: ThreadId(threads.number(name)) },
                "join" => EventKind::Join { child: ThreadId(threads.number(name)) },
                _ => return Err(wrong("the operation is not known")),
            };
            let site = place.map_or(SiteId::NONE, |place| SiteId(places.number(place)));
            events.push(Event { thread, site, kind });
        }
        Ok(StdTrace {
            trace: Trace { events },
            threads: threads.names,
            objects: variables.names,
            places: places.names,
            ignored,
        })
    }

    /// What a variable or lock is called.
    pub fn object(&self, id: ObjectId) -> &str {
        self.objects[id.0 as usize].trim_start_matches([VARIABLE, LOCK].map(char_of))
    }

    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let object = |id: ObjectId| self.object(id);
        for event in &self.trace.events {
            let (operation, name) = match event.kind {
                EventKind::Access { loc, kind: AccessKind::Read } => ("r", object(loc.object)),
                EventKind::Access { loc, .. } => ("w", object(loc.object)),
                EventKind::Acquire { lock, .. } => ("acq", object(lock.object)),
                EventKind::Release { lock, .. } => ("rel", object(lock.object)),
                EventKind::Create { child } => ("fork", self.threads[child.0 as usize].as_str()),
                EventKind::Join { child } => ("join", self.threads[child.0 as usize].as_str()),
                _ => continue,
            };
            let _ = write!(text, "{}|{operation}({name})", self.threads[event.thread.0 as usize]);
            if let Some(place) = self.places.get(event.site.0 as usize) {
                let _ = write!(text, "|{place}");
            }
            text.push('\n');
        }
        text
    }
}

/// Variables and locks may have the same name.
const VARIABLE: &str = "\u{1}";
const LOCK: &str = "\u{2}";

fn char_of(prefix: &str) -> char {
    prefix.chars().next().unwrap_or_default()
}

fn shortened(line: &str) -> String {
    let mut short: String = line.chars().take(60).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

impl Trace {
    /// In the STD format, and how many events of each kind it cannot say.
    pub fn to_std(&self) -> (String, BTreeMap<&'static str, usize>) {
        let pieces = Pieces::of(self);
        let (mut text, mut lost) = (String::new(), BTreeMap::new());
        for Event { thread, site, kind } in &self.events {
            let place = match *site {
                SiteId::NONE => "-".to_owned(),
                site => site.0.to_string(),
            };
            let mut put = |operation: &str, name: String| {
                let _ = writeln!(text, "{thread}|{operation}({name})|{place}");
            };
            match *kind {
                EventKind::Access { loc, kind } => {
                    let operation = if kind == AccessKind::Read { "r" } else { "w" };
                    pieces.each(loc, |offset| put(operation, format!("V{}.{offset}", loc.object.0)));
                }
                EventKind::Acquire { lock, mode: LockMode::Exclusive } => put("acq", name(lock)),
                EventKind::Release { lock, mode: LockMode::Exclusive } => put("rel", name(lock)),
                EventKind::Create { child } => put("fork", child.to_string()),
                EventKind::Join { child } => put("join", child.to_string()),
                EventKind::Begin | EventKind::End | EventKind::Exit => {}
                other => *lost.entry(lost_kind(&other)).or_default() += 1,
            }
        }
        (text, lost)
    }
}

fn name(lock: Addr) -> String {
    format!("L{}.{}", lock.object.0, lock.offset)
}

fn lost_kind(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Atomic { .. } | EventKind::Fence { .. } => "atomics",
        EventKind::Acquire { .. } | EventKind::Release { .. } => "shared locks",
        EventKind::WaitBegin { .. }
        | EventKind::WaitEnd { .. }
        | EventKind::Signal { .. }
        | EventKind::Broadcast { .. } => "condition variables",
        EventKind::BarrierArrive { .. } | EventKind::BarrierLeave { .. } => "barriers",
        EventKind::SemPost { .. } | EventKind::SemWait { .. } => "semaphores",
        EventKind::OnceBegin { .. } | EventKind::OnceEnd { .. } | EventKind::OncePass { .. } => "once",
        EventKind::Alloc { .. } | EventKind::Free { .. } => "allocations",
        EventKind::SyncInit { .. } | EventKind::SyncDestroy { .. } => "initialisations of objects",
        _ => "others",
    }
}

/// Where accesses to each object begin and end: between two neighbouring ends all accesses have all bytes or none.
struct Pieces {
    ends: HashMap<ObjectId, BTreeSet<u64>>,
}

impl Pieces {
    fn of(trace: &Trace) -> Self {
        let mut ends: HashMap<ObjectId, BTreeSet<u64>> = HashMap::new();
        for event in &trace.events {
            if let EventKind::Access { loc, .. } = event.kind {
                let of_object = ends.entry(loc.object).or_default();
                of_object.insert(loc.offset.into());
                of_object.insert(u64::from(loc.offset) + u64::from(loc.len));
            }
        }
        Self { ends }
    }

    fn each(&self, loc: Loc, visit: impl FnMut(u64)) {
        let range = u64::from(loc.offset)..u64::from(loc.offset) + u64::from(loc.len);
        self.ends
            .get(&loc.object)
            .into_iter()
            .flat_map(|ends| ends.range(range.clone()))
            .copied()
            .for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::StdTrace;
    use crate::{AccessKind, Event, EventKind, Loc, ObjectId, ThreadId, Trace};
    use raddle_base::SiteId;

    const TEXT: &str = "main|w(x)|1\nmain|fork(worker)|2\nmain|acq(x)|3\nmain|rel(x)|4\nworker|r(x)|1\nmain|join(worker)|5\n";

    #[test]
    fn text_and_back() {
        let read = StdTrace::parse(TEXT).unwrap();
        assert_eq!(read.to_text(), TEXT);
        assert_eq!(read.threads, ["main", "worker"]);
        // The variable and the lock are two objects, the first and the last place one.
        assert_eq!((read.objects.len(), read.places.len()), (2, 5));
        assert_eq!(read.trace.events[4].site, SiteId(0));
    }

    #[test]
    fn what_is_no_event_is_named_with_its_line() {
        for (line, words) in [
            ("T0", "not of the form"),
            ("T0|w(x|1", "parenthesis"),
            ("T0|w|1", "no operand"),
            ("T0|write(x)|1", "not known"),
            ("|w(x)|1", "no name"),
            ("T0|w(x)|1|2", "not of the form"),
        ] {
            let error = StdTrace::parse(&format!("{TEXT}{line}\n")).unwrap_err();
            assert!(error.to_string().contains(words) && error.to_string().starts_with("line 7"), "{error}");
        }
        assert_eq!(StdTrace::parse("T0|begin|1\nT0|req(l)|2\nT0|end|3").unwrap().ignored, 3);
    }

    #[test]
    fn overlapping_accesses_become_pieces() {
        let access = |thread, offset, len| Event {
            thread: ThreadId(thread),
            site: SiteId(7),
            kind: EventKind::Access {
                loc: Loc { object: ObjectId(3), offset, len },
                kind: AccessKind::Write,
            },
        };
        let (text, lost) = Trace { events: vec![access(0, 0, 8), access(1, 4, 8)] }.to_std();
        assert_eq!(text, "T0|w(V3.0)|7\nT0|w(V3.4)|7\nT1|w(V3.4)|7\nT1|w(V3.8)|7\n");
        assert!(lost.is_empty());
        assert_eq!(StdTrace::parse(&text).unwrap().to_text(), text);
    }
}
