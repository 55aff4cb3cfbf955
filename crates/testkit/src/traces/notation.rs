//! Traces as text, one event per line, for hand-written tests and for failures worth keeping.
//!
//! ```text
//! == unlock orders the next lock          a case begins
//! 0 fork 1 2                              create 1, begin of 1, create 2, begin of 2
//! 1 w x !a                                thread 1 writes x; races with the other event marked !a
//! 2 ld.acq y+4:2 @7                       an acquire load of two bytes of y, at site 7
//! ```
//!
//! Operations: `begin end create join detach fork`, `r w`, `ld.{rlx,acq,sc} st.{rlx,rel,sc} rmw.{rlx,acq,rel,ar,sc}`,
//! `fence.{acq,rel,ar,sc}`, `lock unlock rdlock rdunlock lockfail`, `wait woken spurious timeout signal broadcast`,
//! `arrive leave` (with a round), `post take`, `once-begin once-end once-pass`, `init destroy alloc free`,
//! `branch branch-end choose exit`. Memory is `name`, `name+offset` or `name+offset:length`; the length is 4 unless told.
//! `o12` is object 12, other names are numbered as they come. `#` starts a comment.

use raddle_base::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{
    AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, Trace, WakeReason,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A trace with the pairs of events that are marked as racing.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub title: String,
    pub trace: Trace,
    /// Pairs of event indices, each the earlier first, sorted by the later, then the earlier.
    pub races: Vec<(usize, usize)>,
    /// The objects by the names that the text uses.
    pub objects: BTreeMap<String, ObjectId>,
}

/// All cases of a text.
pub fn parse_cases(text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<(String, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("== "), cases.last_mut()) {
            (Some(title), _) => cases.push((title.trim().to_owned(), "\n".repeat(number + 1))),
            (None, Some((_, body))) => writeln!(body, "{line}").expect("writing to a string"),
            (None, None) if line.trim().is_empty() || line.starts_with('#') => {}
            (None, None) => return Err(format!("line {}: before the first case", number + 1)),
        }
    }
    cases.into_iter().map(|(title, body)| parse(&body).map(|case| Case { title, ..case })).collect()
}

/// One trace.
pub fn parse(text: &str) -> Result<Case, String> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if !line.is_empty() {
            reader.line(line).map_err(|reason| format!("line {}: {reason}: {line}", number + 1))?;
        }
    }
    let mut races = Vec::new();
    for (mark, events) in &reader.marks {
        let [first, second] = events[..] else { return Err(format!("mark {mark} is not on two events")) };
        races.push((first, second));
    }
    races.sort_by_key(|&(first, second)| (second, first));
    Ok(Case { title: String::new(), trace: reader.trace, races, objects: reader.objects })
}

/// The trace in the notation that `parse` reads.
pub fn print(trace: &Trace) -> String {
    let mut text = String::new();
    for event in &trace.events {
        writeln!(text, "{} {} @{}", event.thread.0, operation(&event.kind), event.site.0)
            .expect("writing to a string");
    }
    text
}

#[derive(Default)]
struct Reader {
    trace: Trace,
    marks: BTreeMap<String, Vec<usize>>,
    objects: BTreeMap<String, ObjectId>,
}

const FIRST_NAMED: u32 = 1000;

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let mut site = None;
        while let Some(word) = words.last() {
            if let Some(mark) = word.strip_prefix('!') {
                self.marks.entry(mark.to_owned()).or_default().push(self.trace.events.len());
            } else if let Some(number) = word.strip_prefix('@') {
                site = Some(SiteId(parse_number(number)?));
            } else {
                break;
            }
            words.pop();
        }
        let [thread, name, arguments @ ..] = &words[..] else { return Err("no operation".to_owned()) };
        let thread = parse_thread(thread)?;
        if *name == "fork" {
            for child in arguments {
                let child = parse_thread(child)?;
                self.push(thread, site, EventKind::Create { child });
                self.push(child, site, EventKind::Begin);
            }
            return Ok(());
        }
        let kind = self.kind(name, arguments)?;
        self.push(thread, site, kind);
        Ok(())
    }

    fn push(&mut self, thread: ThreadId, site: Option<SiteId>, kind: EventKind) {
        let site = site.unwrap_or(SiteId(self.trace.events.len() as u32));
        self.trace.events.push(Event { thread, site, kind });
    }

    fn kind(&mut self, name: &str, arguments: &[&str]) -> Result<EventKind, String> {
        if let Some(kind) = self.memory_kind(name, arguments)? {
            return Ok(kind);
        }
        let argument = |index: usize| arguments.get(index).copied().ok_or("argument missing".to_owned());
        let exclusive = LockMode::Exclusive;
        let shared = LockMode::Shared;
        Ok(match name {
            "begin" => EventKind::Begin,
            "end" => EventKind::End,
            "create" => EventKind::Create { child: parse_thread(argument(0)?)? },
            "join" => EventKind::Join { child: parse_thread(argument(0)?)? },
            "detach" => EventKind::Detach { child: parse_thread(argument(0)?)? },
            "lock" => EventKind::Acquire { lock: self.object(argument(0)?), mode: exclusive },
            "unlock" => EventKind::Release { lock: self.object(argument(0)?), mode: exclusive },
            "rdlock" => EventKind::Acquire { lock: self.object(argument(0)?), mode: shared },
            "rdunlock" => EventKind::Release { lock: self.object(argument(0)?), mode: shared },
            "lockfail" => EventKind::AcquireFailed { lock: self.object(argument(0)?) },
            "wait" => EventKind::WaitBegin { cond: self.object(argument(0)?) },
            "woken" | "spurious" | "timeout" => {
                EventKind::WaitEnd { cond: self.object(argument(0)?), reason: wake_reason(name) }
            }
            "signal" => {
                let woken = arguments.get(1).map(|thread| parse_thread(thread)).transpose()?;
                EventKind::Signal { cond: self.object(argument(0)?), woken }
            }
            "broadcast" => EventKind::Broadcast { cond: self.object(argument(0)?) },
            "arrive" => EventKind::BarrierArrive {
                barrier: self.object(argument(0)?),
                round: parse_number(argument(1)?)?,
            },
            "leave" => EventKind::BarrierLeave {
                barrier: self.object(argument(0)?),
                round: parse_number(argument(1)?)?,
            },
            "post" => EventKind::SemPost { sem: self.object(argument(0)?) },
            "take" => EventKind::SemWait { sem: self.object(argument(0)?) },
            "once-begin" => EventKind::OnceBegin { once: self.object(argument(0)?) },
            "once-end" => EventKind::OnceEnd { once: self.object(argument(0)?) },
            "once-pass" => EventKind::OncePass { once: self.object(argument(0)?) },
            "init" => EventKind::SyncInit { object: self.object(argument(0)?) },
            "destroy" => EventKind::SyncDestroy { object: self.object(argument(0)?) },
            "alloc" => EventKind::Alloc { object: self.object(argument(0)?).object },
            "free" => EventKind::Free { object: self.object(argument(0)?).object },
            "branch" => EventKind::BranchBegin { taken: parse_number(argument(0)?)? },
            "branch-end" => EventKind::BranchEnd,
            "choose" => EventKind::Choose { value: u64::from(parse_number(argument(0)?)?) },
            "exit" => EventKind::Exit,
            _ => return Err(format!("unknown operation {name}")),
        })
    }

    fn memory_kind(&mut self, name: &str, arguments: &[&str]) -> Result<Option<EventKind>, String> {
        let (base, order) = name.split_once('.').unwrap_or((name, ""));
        if base == "fence" {
            return fence_order(order).map(|order| Some(EventKind::Fence { order }));
        }
        if !matches!(base, "r" | "w" | "ld" | "st" | "rmw") {
            return Ok(None);
        }
        let loc = self.loc(arguments.first().ok_or("argument missing")?)?;
        Ok(Some(match base {
            "r" => EventKind::Access { loc, kind: AccessKind::Read },
            "w" => EventKind::Access { loc, kind: AccessKind::Write },
            _ => EventKind::Atomic { loc, op: atomic_op(base, order)? },
        }))
    }

    fn loc(&mut self, text: &str) -> Result<Loc, String> {
        let (place, len) = text.split_once(':').unwrap_or((text, "4"));
        let (name, offset) = place.split_once('+').unwrap_or((place, "0"));
        let object = self.object(name).object;
        Ok(Loc { object, offset: parse_number(offset)?, len: parse_number(len)? })
    }

    fn object(&mut self, text: &str) -> Addr {
        let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
        let next = FIRST_NAMED + self.objects.len() as u32;
        let number = name.strip_prefix('o').and_then(|digits| digits.parse().ok());
        let object = *self.objects.entry(name.to_owned()).or_insert(ObjectId(number.unwrap_or(next)));
        Addr { object, offset: offset.parse().unwrap_or(0) }
    }
}

fn parse_thread(text: &str) -> Result<ThreadId, String> {
    parse_number(text).map(ThreadId)
}

fn parse_number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

fn wake_reason(name: &str) -> WakeReason {
    match name {
        "woken" => WakeReason::Signalled,
        "spurious" => WakeReason::Spurious,
        _ => WakeReason::TimedOut,
    }
}

const LOADS: [(&str, LoadOrder); 3] =
    [("rlx", LoadOrder::Relaxed), ("acq", LoadOrder::Acquire), ("sc", LoadOrder::SeqCst)];
const STORES: [(&str, StoreOrder); 3] =
    [("rlx", StoreOrder::Relaxed), ("rel", StoreOrder::Release), ("sc", StoreOrder::SeqCst)];
const RMWS: [(&str, RmwOrder); 5] = [
    ("rlx", RmwOrder::Relaxed),
    ("acq", RmwOrder::Acquire),
    ("rel", RmwOrder::Release),
    ("ar", RmwOrder::AcqRel),
    ("sc", RmwOrder::SeqCst),
];
const FENCES: [(&str, FenceOrder); 4] = [
    ("acq", FenceOrder::Acquire),
    ("rel", FenceOrder::Release),
    ("ar", FenceOrder::AcqRel),
    ("sc", FenceOrder::SeqCst),
];

fn fence_order(name: &str) -> Result<FenceOrder, String> {
    by_name(&FENCES, name)
}

fn atomic_op(base: &str, order: &str) -> Result<AtomicOp, String> {
    match base {
        "ld" => by_name(&LOADS, order).map(AtomicOp::Load),
        "st" => by_name(&STORES, order).map(AtomicOp::Store),
        _ => by_name(&RMWS, order).map(AtomicOp::Rmw),
    }
}

fn by_name<T: Copy>(table: &[(&str, T)], name: &str) -> Result<T, String> {
    table.iter().find(|(n, _)| *n == name).map(|(_, v)| *v).ok_or(format!("unknown order {name}"))
}

fn name_of<'a, T: Copy + PartialEq>(table: &[(&'a str, T)], value: T) -> &'a str {
    table.iter().find(|(_, v)| *v == value).map(|(n, _)| *n).expect("every order has a name")
}

fn operation(kind: &EventKind) -> String {
    let at = |addr: Addr| format!("o{}+{}", addr.object.0, addr.offset);
    let bytes = |loc: Loc| format!("o{}+{}:{}", loc.object.0, loc.offset, loc.len);
    match *kind {
        EventKind::Begin => "begin".to_owned(),
        EventKind::End => "end".to_owned(),
        EventKind::Create { child } => format!("create {}", child.0),
        EventKind::Join { child } => format!("join {}", child.0),
        EventKind::Detach { child } => format!("detach {}", child.0),
        EventKind::Access { loc, kind: AccessKind::Read } => format!("r {}", bytes(loc)),
        EventKind::Access { loc, kind: AccessKind::Write } => format!("w {}", bytes(loc)),
        EventKind::Atomic { loc, op: AtomicOp::Load(o) } => {
            format!("ld.{} {}", name_of(&LOADS, o), bytes(loc))
        }
        EventKind::Atomic { loc, op: AtomicOp::Store(o) } => {
            format!("st.{} {}", name_of(&STORES, o), bytes(loc))
        }
        EventKind::Atomic { loc, op: AtomicOp::Rmw(o) } => {
            format!("rmw.{} {}", name_of(&RMWS, o), bytes(loc))
        }
        EventKind::Fence { order } => format!("fence.{}", name_of(&FENCES, order)),
        EventKind::Acquire { lock, mode: LockMode::Exclusive } => format!("lock {}", at(lock)),
        EventKind::Acquire { lock, mode: LockMode::Shared } => format!("rdlock {}", at(lock)),
        EventKind::Release { lock, mode: LockMode::Exclusive } => format!("unlock {}", at(lock)),
        EventKind::Release { lock, mode: LockMode::Shared } => format!("rdunlock {}", at(lock)),
        EventKind::AcquireFailed { lock } => format!("lockfail {}", at(lock)),
        EventKind::WaitBegin { cond } => format!("wait {}", at(cond)),
        EventKind::WaitEnd { cond, reason: WakeReason::Signalled } => format!("woken {}", at(cond)),
        EventKind::WaitEnd { cond, reason: WakeReason::Spurious } => format!("spurious {}", at(cond)),
        EventKind::WaitEnd { cond, reason: WakeReason::TimedOut } => format!("timeout {}", at(cond)),
        EventKind::Signal { cond, woken: Some(woken) } => format!("signal {} {}", at(cond), woken.0),
        EventKind::Signal { cond, woken: None } => format!("signal {}", at(cond)),
        EventKind::Broadcast { cond } => format!("broadcast {}", at(cond)),
        EventKind::BarrierArrive { barrier, round } => format!("arrive {} {round}", at(barrier)),
        EventKind::BarrierLeave { barrier, round } => format!("leave {} {round}", at(barrier)),
        EventKind::SemPost { sem } => format!("post {}", at(sem)),
        EventKind::SemWait { sem } => format!("take {}", at(sem)),
        EventKind::OnceBegin { once } => format!("once-begin {}", at(once)),
        EventKind::OnceEnd { once } => format!("once-end {}", at(once)),
        EventKind::OncePass { once } => format!("once-pass {}", at(once)),
        EventKind::SyncInit { object } => format!("init {}", at(object)),
        EventKind::SyncDestroy { object } => format!("destroy {}", at(object)),
        EventKind::Alloc { object } => format!("alloc {object}"),
        EventKind::Free { object } => format!("free {object}"),
        EventKind::BranchBegin { taken } => format!("branch {taken}"),
        EventKind::BranchEnd => "branch-end".to_owned(),
        EventKind::Choose { value } => format!("choose {value}"),
        EventKind::Exit => "exit".to_owned(),
    }
}
