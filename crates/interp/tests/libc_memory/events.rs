//! The events of a probed program against the declared effects of its calls. What stands behind a `va_list` or in an array of
//! pointers is not shown by the probes: such touches allow any object here, and are checked on random arguments.

use crate::declared::kind;
use crate::probes::{Call, LARGE, MARK_AT, Mark, NULL_AT, Probed, Shown};
use raddle_event::{AccessKind, AtomicOp, Event, EventKind, Loc, ObjectId, ThreadId};
use raddle_ir::DataModel;
use raddle_libmodel::memory::{Access, Atomicity, Base, Extent, Reach, Region, Touch, Value};
use raddle_machine::{Machine, ObjectKind, Sink, StackSource};
use std::collections::{BTreeMap, BTreeSet};

pub struct Watcher<'p> {
    calls: &'p [Call],
    marks: &'p BTreeMap<raddle_base::SiteId, Mark>,
    model: DataModel,
    /// Calls under way, innermost last: callbacks make calls of their own.
    active: BTreeMap<ThreadId, Vec<Active>>,
    /// Objects whose nature only the machine knows.
    open: Vec<Open>,
    pub complaints: BTreeSet<String>,
    /// Names of functions, and how many accesses of their calls were seen.
    pub seen: BTreeMap<String, u64>,
}

struct Active {
    call: usize,
    /// `None`: null.
    pointers: BTreeMap<Shown, Option<(ObjectId, u32)>>,
    numbers: BTreeMap<u8, u64>,
    fresh: Vec<ObjectId>,
    written: Vec<Loc>,
}

/// An object that must be one of these, or the complaint stands.
struct Open {
    object: ObjectId,
    allowed: Vec<Base>,
    complaint: String,
}

/// Whether a region contains an object.
enum Holds {
    From(u32),
    No,
    /// If the object is this one of the library.
    If(Base),
}

impl<'p> Watcher<'p> {
    pub fn new(probed: &'p Probed) -> Watcher<'p> {
        Watcher {
            calls: &probed.calls,
            marks: &probed.marks,
            model: probed.program.data_model,
            active: BTreeMap::new(),
            open: Vec::new(),
            complaints: BTreeSet::new(),
            seen: BTreeMap::new(),
        }
    }

    /// Asks the machine about objects that were not known by themselves.
    pub fn settle(&mut self, machine: &impl Machine) {
        for open in std::mem::take(&mut self.open) {
            let info = machine.object_info(open.object);
            let known = open.allowed.iter().any(|base| match base {
                Base::Library(library) => {
                    info.kind == ObjectKind::Library && kind(&info.name) == Some(*library)
                }
                Base::Variable(name) => {
                    matches!(info.kind, ObjectKind::Library | ObjectKind::Global) && info.name == *name
                }
                Base::Errno => info.kind == ObjectKind::ThreadLocal && info.name == "errno",
                _ => false,
            });
            // What orders the two ends of a channel is no memory of the program.
            let channel = info.kind == ObjectKind::Library
                && ["pipe ", "socket pair ", "eventfd ", "epoll "]
                    .iter()
                    .any(|name| info.name.starts_with(name));
            if !known && !channel {
                self.complaints.insert(format!("{} ({:?} {})", open.complaint, info.kind, info.name));
            }
        }
    }

    fn shows(&mut self, thread: ThreadId, call: usize, shown: Shown, loc: Loc) {
        let Some(active) = self.active.get_mut(&thread).and_then(|stack| stack.last_mut()) else { return };
        assert_eq!(active.call, call, "probes of one call stand together");
        if let Shown::Number(index) = shown {
            let number = if loc.offset == LARGE { u64::MAX } else { u64::from(loc.offset) };
            active.numbers.insert(index, number);
            return;
        }
        // The global of the test is the only object of this size.
        let pointer = (loc.offset != NULL_AT).then_some((loc.object, loc.offset));
        active.pointers.insert(shown, pointer);
        let Some((object, offset)) = pointer else { return };
        let memory = &self.calls[call].memory;
        let active = &self.active[&thread][self.active[&thread].len() - 1];
        let values: Vec<Value> = match shown {
            Shown::Result => memory.returns.clone(),
            // What the call did not write was there before.
            Shown::Stored(arg) if active.wrote(arg) => {
                let here = memory.stores.iter().filter(|store| store.to == raddle_libmodel::Arg(arg).into());
                here.map(|store| store.value).collect()
            }
            _ => return,
        };
        let complaint = format!("{}: {shown:?} is a pointer to {object} + {offset}", self.calls[call].name);
        let mut allowed = Vec::new();
        for value in values {
            match value {
                Value::Arg(arg) => {
                    if active.pointers.get(&Shown::Pointer(arg.0)) == Some(&pointer) {
                        return;
                    }
                }
                Value::Into(region) => {
                    for holds in active.region(region, object) {
                        match holds {
                            Holds::From(_) => return,
                            Holds::No => {}
                            Holds::If(base) => allowed.push(base),
                        }
                    }
                }
                Value::ContentOf(_) | Value::Outside | Value::NewThread | Value::ThisThread => return,
            }
        }
        self.open.push(Open { object, allowed, complaint });
    }

    fn accesses(
        &mut self,
        thread: ThreadId,
        call: usize,
        loc: Loc,
        fits: &dyn Fn(&Touch) -> bool,
        what: &str,
    ) {
        let known = &self.calls[call];
        *self.seen.entry(known.name.clone()).or_default() += 1;
        let Some(active) = self.active.get_mut(&thread).and_then(|stack| stack.last_mut()) else { return };
        assert_eq!(active.call, call, "the call under way is the innermost");
        let mut allowed = Vec::new();
        for touch in known.memory.touches.iter().filter(|touch| fits(touch)) {
            for holds in active.region(touch.region, loc.object) {
                match holds {
                    Holds::From(start) => {
                        let first = u64::from(start) + u64::from(touch.from);
                        let end = first.saturating_add(active.bytes(touch.extent, self.model));
                        if u64::from(loc.offset) >= first && u64::from(loc.offset) + u64::from(loc.len) <= end
                        {
                            return;
                        }
                    }
                    Holds::No => {}
                    Holds::If(base) => allowed.push(base),
                }
            }
        }
        let complaint = format!("{}: {what} of {loc:?}", known.name);
        self.open.push(Open { object: loc.object, allowed, complaint });
    }
}

impl Sink for Watcher<'_> {
    fn event(&mut self, event: Event, _stack: &dyn StackSource) {
        let thread = event.thread;
        match (self.marks.get(&event.site), event.kind) {
            (Some(Mark::Begin(call)), EventKind::Access { loc, .. }) => {
                assert_eq!(loc.offset, MARK_AT);
                let active = Active {
                    call: *call,
                    pointers: BTreeMap::new(),
                    numbers: BTreeMap::new(),
                    fresh: Vec::new(),
                    written: Vec::new(),
                };
                self.active.entry(thread).or_default().push(active);
            }
            (Some(Mark::End(call)), EventKind::Access { .. }) => {
                let stack = self.active.entry(thread).or_default();
                if self.calls[*call].name.contains("setjmp") {
                    // It returns again in a thread that exits, which never comes back from that.
                    stack.retain(|active| {
                        active.call != *call && self.calls[active.call].name != "pthread_exit"
                    });
                    return;
                }
                let ended = stack.pop();
                assert_eq!(ended.map(|active| active.call), Some(*call), "calls end in order");
            }
            (Some(Mark::Shows(call, shown)), EventKind::Access { loc, .. }) => {
                self.shows(thread, *call, *shown, loc);
            }
            (Some(Mark::Call(call)), EventKind::Access { loc, kind }) => {
                let fits = |touch: &Touch| {
                    matches!(touch.atomicity, Atomicity::Plain | Atomicity::Life)
                        && match kind {
                            AccessKind::Read => touch.access == Access::Read,
                            AccessKind::Write => matches!(touch.access, Access::Write | Access::Free),
                        }
                };
                self.accesses(thread, *call, loc, &fits, &format!("{kind:?}"));
                if let (AccessKind::Write, Some(stack)) = (kind, self.active.get_mut(&thread)) {
                    stack.last_mut().expect("a call is under way").written.push(loc);
                }
            }
            (Some(Mark::Call(call)), EventKind::Atomic { loc, op }) => {
                let fits = |touch: &Touch| {
                    touch.atomicity != Atomicity::Plain
                        && match touch.access {
                            Access::Read => matches!(op, AtomicOp::Load(_)),
                            Access::Write => matches!(op, AtomicOp::Store(_)),
                            Access::Update => !matches!(op, AtomicOp::Store(_)),
                            Access::Free => false,
                        }
                };
                self.accesses(thread, *call, loc, &fits, &format!("{op:?}"));
            }
            (Some(Mark::Call(call)), EventKind::Alloc { object }) => {
                let known = &self.calls[*call];
                if known.memory.allocates.is_none() {
                    self.complaints.insert(format!("{}: a block is made", known.name));
                }
                if let Some(active) = self.active.get_mut(&thread).and_then(|stack| stack.last_mut()) {
                    active.fresh.push(object);
                }
            }
            _ => {}
        }
    }
}

impl Active {
    fn region(&self, region: Region, object: ObjectId) -> Vec<Holds> {
        let at = |shown: Shown| match self.pointers.get(&shown) {
            Some(Some((own, offset))) if *own == object => Holds::From(*offset),
            _ => Holds::No,
        };
        match (region.base, region.reach) {
            (Base::Arg(arg), Reach::Direct) => vec![at(Shown::Pointer(arg.0))],
            (Base::Arg(arg), Reach::Behind) => vec![at(Shown::Behind(arg.0))],
            (Base::VarArgs(from), Reach::Direct) => {
                let later =
                    self.pointers.keys().filter(|shown| matches!(shown, Shown::Pointer(i) if *i >= from.0));
                later.map(|shown| at(*shown)).collect()
            }
            (Base::Fresh, Reach::Direct) => {
                vec![if self.fresh.contains(&object) { Holds::From(0) } else { Holds::No }]
            }
            (base @ (Base::Library(_) | Base::Variable(_) | Base::Errno), Reach::Direct) => {
                vec![Holds::If(base)]
            }
            // Not shown.
            _ => vec![Holds::From(0)],
        }
    }

    fn wrote(&self, arg: u8) -> bool {
        self.pointers.get(&Shown::Pointer(arg)).copied().flatten().is_some_and(|(object, offset)| {
            self.written.iter().any(|loc| loc.object == object && loc.offset == offset)
        })
    }

    fn bytes(&self, extent: Extent, model: DataModel) -> u64 {
        let number = |arg: raddle_libmodel::Arg| self.numbers.get(&arg.0).copied().unwrap_or(u64::MAX);
        let word = u64::from(model.pointer_bytes());
        match extent {
            Extent::Fixed { .. } => extent.bytes(model).expect("fixed"),
            Extent::Arg(arg) | Extent::CStringUpTo(arg) => number(arg),
            Extent::Product(a, b) => number(a).saturating_mul(number(b)),
            Extent::Times(arg, each) => number(arg).saturating_mul(u64::from(each)),
            Extent::TimesWords(arg, each) => number(arg).saturating_mul(u64::from(each) * word),
            Extent::Pages(_) | Extent::CString | Extent::StringOf(_) | Extent::ToEnd => u64::MAX,
        }
    }
}
