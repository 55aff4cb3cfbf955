//! A recorded run with the programmer's places and names, for a report.

use super::Recorded;
use crate::places::{Places, frame};
use crate::{NativeError, binary, record};
use raddle_base::SiteId;
use raddle_event::{
    AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, WakeReason,
};
use raddle_finding::{Frame, RecordedEvent, RecordedLoop, Recording};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// Whether each event is wanted, or only how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Summary,
    Events,
}

/// Reads a file and names what is in it. `program` stands for the one that the file names.
pub fn tell(
    file: &Path,
    program: Option<&Path>,
    limit: usize,
    detail: Detail,
) -> Result<(Recording, Vec<String>), NativeError> {
    let recorded = super::read(file, limit)?;
    let mut warnings = Vec::new();
    let places = match recorded.places(program) {
        Ok((places, mut found)) => {
            warnings.append(&mut found);
            places
        }
        // Who names a program means it.
        Err(error) if program.is_some() => return Err(error),
        Err(error) => {
            warnings.push(format!("{error}; places are not shown"));
            Places::default()
        }
    };
    Ok((recorded.told(&places, detail), warnings))
}

impl Recorded {
    /// The tables of sites of the program, if it is the recorded one, and of its libraries.
    pub(crate) fn places(&self, program: Option<&Path>) -> Result<(Places, Vec<String>), NativeError> {
        let path = program.unwrap_or(&self.program.path);
        // A process that another one started runs another program.
        let own = self.modules.first().map_or(path, |module| module.path.as_path());
        let other = program.is_none() && own != self.program.path;
        let path = if other { own } else { path };
        if !other && record::hash(path)? != self.program.hash {
            return Err(NativeError::OtherProgram { path: path.to_owned() });
        }
        let mut places = Places::default();
        places.add(0, Rc::new(binary::table(path)?));
        let mut warnings = Vec::new();
        for (first, path) in &self.libraries {
            match binary::table(path) {
                Ok(table) => places.add(*first, Rc::new(table)),
                Err(error) => warnings.push(error.to_string()),
            }
        }
        Ok((places, warnings))
    }

    fn told(&self, places: &Places, detail: Detail) -> Recording {
        let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut threads: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for event in &self.trace.events {
            *kinds.entry(kind(event)).or_default() += 1;
            *threads.entry(event.thread).or_default() += 1;
        }
        let lines = match detail {
            Detail::Summary => Vec::new(),
            Detail::Events => self.trace.events.iter().map(|event| self.line(event, places)).collect(),
        };
        Recording {
            program: self.program.path.display().to_string(),
            arguments: self.program.arguments.clone(),
            before: self.program.commands.before.clone(),
            client: self.program.commands.client.clone(),
            process: self.process,
            ended: self.ended,
            bytes: self.bytes,
            threads: threads.len() as u64,
            events: self.trace.events.len() as u64,
            kinds: kinds.into_iter().collect(),
            shared: self.shared().len() as u64,
            racy_bytes: self.racy_bytes().len() as u64,
            wait_loops: self.loops(places),
            gaps: self.gaps.iter().map(ToString::to_string).collect(),
            lines,
        }
    }

    /// Loops at the same place together.
    fn loops(&self, places: &Places) -> Vec<RecordedLoop> {
        let mut by_place: BTreeMap<Frame, RecordedLoop> = BTreeMap::new();
        for one in &self.wait_loops {
            let at = place(places, one.site).unwrap_or_else(nowhere);
            let told = RecordedLoop { at: at.clone(), entered: 0, passed: 0, waits: 0 };
            let told = by_place.entry(at).or_insert(told);
            told.entered += 1;
            told.passed += u64::from(one.waits == 0 && one.end.is_some());
            told.waits += u64::from(one.waits);
        }
        by_place.into_values().collect()
    }

    fn line(&self, event: &Event, places: &Places) -> RecordedEvent {
        let sites = places.sites(event.site.0);
        let expression = sites.first().map(|site| match event.kind {
            EventKind::Access { .. } | EventKind::Atomic { .. } => site.expression,
            _ => site.source,
        });
        let named = expression.filter(|text| !text.is_empty()).map(str::to_owned);
        let name = named.or_else(|| object(event).map(|id| self.describe_number(id))).unwrap_or_default();
        let at = sites.first().map(frame);
        RecordedEvent { thread: event.thread.0, kind: kind(event), detail: operand(event), name, at }
    }

    fn describe_number(&self, id: ObjectId) -> String {
        self.objects.get(id.0 as usize).map(|object| self.describe(*object)).unwrap_or_default()
    }
}

pub(super) fn place(places: &Places, site: SiteId) -> Option<Frame> {
    places.sites(site.0).first().map(frame)
}

pub(super) fn nowhere() -> Frame {
    Frame { file: String::new(), line: 0, column: 0, function: String::new() }
}

pub(super) fn kind(event: &Event) -> &'static str {
    match event.kind {
        EventKind::Begin => "begin",
        EventKind::End => "end",
        EventKind::Create { .. } => "create",
        EventKind::Join { .. } => "join",
        EventKind::Detach { .. } => "detach",
        EventKind::Access { kind: AccessKind::Read, .. } => "read",
        EventKind::Access { kind: AccessKind::Write, .. } => "write",
        EventKind::Atomic { op: AtomicOp::Load(_), .. } => "atomic load",
        EventKind::Atomic { op: AtomicOp::Store(_), .. } => "atomic store",
        EventKind::Atomic { op: AtomicOp::Rmw(_), .. } => "atomic update",
        EventKind::Fence { .. } => "fence",
        EventKind::Acquire { mode: LockMode::Exclusive, .. } => "lock",
        EventKind::Acquire { mode: LockMode::Shared, .. } => "lock shared",
        EventKind::Release { mode: LockMode::Exclusive, .. } => "unlock",
        EventKind::Release { mode: LockMode::Shared, .. } => "unlock shared",
        EventKind::AcquireFailed { .. } => "lock failed",
        EventKind::WaitBegin { .. } => "wait begins",
        EventKind::WaitEnd { .. } => "wait ends",
        EventKind::Signal { .. } => "signal",
        EventKind::Broadcast { .. } => "broadcast",
        EventKind::BarrierArrive { .. } => "arrive",
        EventKind::BarrierLeave { .. } => "leave",
        EventKind::SemPost { .. } => "post",
        EventKind::SemWait { .. } => "semaphore wait",
        EventKind::OnceBegin { .. } => "once begins",
        EventKind::OnceEnd { .. } => "once ends",
        EventKind::OncePass { .. } => "once passed",
        EventKind::SyncInit { .. } => "init",
        EventKind::SyncDestroy { .. } => "destroy",
        EventKind::Alloc { .. } => "alloc",
        EventKind::Free { .. } => "free",
        EventKind::BranchBegin { .. } => "branch begins",
        EventKind::BranchEnd => "branch ends",
        EventKind::Choose { .. } => "choose",
        EventKind::Exit => "exit",
    }
}

fn object(event: &Event) -> Option<ObjectId> {
    match event.kind {
        EventKind::Access { loc, .. } | EventKind::Atomic { loc, .. } => Some(loc.object),
        EventKind::Alloc { object } | EventKind::Free { object } => Some(object),
        _ => event.kind.sync_object().map(|addr| addr.object),
    }
}

fn operand(event: &Event) -> String {
    let range = |loc: Loc| format!("{}+{} ({} bytes)", loc.object, loc.offset, loc.len);
    match event.kind {
        EventKind::Create { child } | EventKind::Join { child } | EventKind::Detach { child } => {
            child.to_string()
        }
        EventKind::Access { loc, .. } => range(loc),
        EventKind::Atomic { loc, op } => {
            let order = match op {
                AtomicOp::Load(order) => format!("{order:?}"),
                AtomicOp::Store(order) => format!("{order:?}"),
                AtomicOp::Rmw(order) => format!("{order:?}"),
            };
            format!("{} {}", range(loc), order.to_lowercase())
        }
        EventKind::Fence { order } => format!("{order:?}").to_lowercase(),
        EventKind::Alloc { object } | EventKind::Free { object } => object.to_string(),
        EventKind::BranchBegin { taken } => taken.to_string(),
        EventKind::Choose { value } => value.to_string(),
        _ => {
            let Some(Addr { object, offset }) = event.kind.sync_object() else { return String::new() };
            let place = format!("{object}+{offset}");
            match event.kind {
                EventKind::WaitEnd { reason: WakeReason::TimedOut, .. } => format!("{place} (timed out)"),
                EventKind::WaitEnd { reason: WakeReason::Spurious, .. } => format!("{place} (cancelled)"),
                EventKind::BarrierArrive { round, .. } | EventKind::BarrierLeave { round, .. } => {
                    format!("{place} round {round}")
                }
                _ => place,
            }
        }
    }
}
