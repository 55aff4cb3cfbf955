//! Sites, threads and locks in the programmer's words.

use crate::path;
use crate::replay::Held;
use raddle_base::{SiteId, Symbol};
use raddle_event::{Addr, Loc, ThreadId};
use raddle_finding::{Frame, LockReport, ThreadReport};
use raddle_ir::{CallArg, Callee, Code, DebugTypeId, Global, Inst, PlaceId, PlaceStep, Program};
use raddle_machine::{Machine, ObjectKind};
use std::collections::BTreeMap;

/// Library functions that write what argument 0 points to and read what argument 1 points to.
const COPYING: [&str; 12] = [
    "memcpy", "memmove", "mempcpy", "memccpy", "strcpy", "strncpy", "stpcpy", "strcat", "strncat", "stpncpy",
    "strlcpy", "strlcat",
];

/// What a person calls the parts of an execution.
pub struct Names<'a, M> {
    pub program: &'a Program,
    pub machine: &'a M,
}

impl<M: Machine> Names<'_, M> {
    pub fn frame(&self, site: SiteId) -> Frame {
        let info = self.program.sites.get(site);
        let span = info.and_then(|info| info.span);
        let function = info.and_then(|info| self.program.functions.get(info.function));
        Frame {
            file: span.and_then(|span| self.program.files.get(span.file)).cloned().unwrap_or_default(),
            line: span.map_or(0, |span| span.line),
            column: span.map_or(0, |span| span.column),
            function: function.map(|f| self.program.text(f.name).to_owned()).unwrap_or_default(),
        }
    }

    pub(crate) fn frames(&self, sites: &[SiteId]) -> Vec<Frame> {
        sites.iter().map(|site| self.frame(*site)).collect()
    }

    fn frames_from(&self, site: SiteId, stack: &[SiteId]) -> Vec<Frame> {
        let mut frames = vec![self.frame(site)];
        frames.extend(self.frames(stack));
        frames
    }

    pub fn thread(&self, thread: ThreadId) -> ThreadReport {
        let info = self.machine.thread_info(thread);
        let created = info.created.map(|(_, site, stack)| self.frames_from(site, &stack));
        ThreadReport { name: format!("{thread} ({})", info.entry), created: created.unwrap_or_default() }
    }

    /// The access path at a site, by direction where an instruction has two.
    pub(crate) fn place(&self, site: SiteId, direction: Direction) -> Option<PlaceId> {
        let Some(Code::Inst(inst)) = self.program.code_at(site) else { return None };
        match inst {
            Inst::Load { place, .. }
            | Inst::Store { place, .. }
            | Inst::Rmw { place, .. }
            | Inst::MemSet { place, .. } => Some(*place),
            Inst::CmpXchg(x) => Some(x.place),
            Inst::MemCopy { dst_place, src_place, .. } => Some(match direction {
                Direction::Read => *src_place,
                Direction::Write => *dst_place,
            }),
            Inst::Call { args, .. } => self.call_place(site, args, direction),
            _ => None,
        }
    }

    /// What a library function touches: its only named pointer; or, of a copying function, target or source.
    fn call_place(&self, site: SiteId, args: &[CallArg], direction: Direction) -> Option<PlaceId> {
        let mut named = args.iter().filter_map(|arg| arg.place);
        match (named.next(), named.next()) {
            (Some(place), None) => Some(place),
            (Some(_), Some(_)) if COPYING.contains(&self.callee(site)?) => match direction {
                Direction::Write => args.first()?.place,
                Direction::Read => args.get(1)?.place,
            },
            _ => None,
        }
    }

    /// The expression at a site; empty when the compiler left none.
    pub fn expression(&self, site: SiteId, direction: Direction) -> String {
        self.place(site, direction).map(|place| self.place_text(place)).unwrap_or_default()
    }

    pub(crate) fn place_text(&self, place: PlaceId) -> String {
        match self.program.places.get(place) {
            Some(_) => self.program.place_text(place),
            None => String::new(),
        }
    }

    /// The name of the function that is called at a site.
    pub(crate) fn callee(&self, site: SiteId) -> Option<&str> {
        match self.program.code_at(site)? {
            Code::Inst(Inst::Call { callee: Callee::Direct(function), .. }) => {
                Some(self.program.text(self.program.functions.get(*function)?.name))
            }
            _ => None,
        }
    }

    /// The expression of the first pointer argument of a call that has one: `q->m` of `pthread_mutex_lock(&q->m)`.
    pub fn argument(&self, site: SiteId) -> String {
        let Some(Code::Inst(Inst::Call { args, .. })) = self.program.code_at(site) else {
            return String::new();
        };
        args.iter().find_map(|arg| arg.place).map(|place| self.place_text(place)).unwrap_or_default()
    }

    /// What a synchronisation object is called where `site` uses it. A global goes by its own name, so that one lock has one
    /// name everywhere; others by the expression, for want of a better one.
    pub(crate) fn sync_object(&self, object: Addr, site: SiteId) -> String {
        if object == Addr::ATOMIC_SECTION {
            return "the atomic section".to_owned();
        }
        let info = self.machine.object_info(object.object);
        if matches!(info.kind, ObjectKind::Global | ObjectKind::ThreadLocal)
            && let Some(ty) = self.global_type(&info.name)
        {
            let last = self.last_field(site);
            return info.name + &path::member(self.program, ty, u64::from(object.offset), last);
        }
        let expression = self.argument(site);
        if !expression.is_empty() {
            return expression;
        }
        let own = self.machine.place_name(Loc { object: object.object, offset: object.offset, len: 1 });
        if own.is_empty() { info.name } else { own }
    }

    fn global_type(&self, name: &str) -> Option<DebugTypeId> {
        let symbol = self.program.strings.lookup(name)?;
        let named = |global: &&Global| global.name.unwrap_or(global.symbol) == symbol;
        self.program.globals.values().find(named)?.debug_type
    }

    /// The last member named in the expression of a call's pointer argument.
    fn last_field(&self, site: SiteId) -> Option<Symbol> {
        let Some(Code::Inst(Inst::Call { args, .. })) = self.program.code_at(site) else { return None };
        let place = self.program.places.get(args.iter().find_map(|arg| arg.place)?)?;
        place.steps.iter().rev().find_map(|step| match step {
            PlaceStep::Field(name) => Some(*name),
            _ => None,
        })
    }

    /// Names for these objects (each with a site that uses it), different ones for different objects.
    pub(crate) fn sync_objects(&self, uses: impl Iterator<Item = (Addr, SiteId)>) -> BTreeMap<Addr, String> {
        let mut names = BTreeMap::new();
        for (object, site) in uses {
            names.entry(object).or_insert_with(|| self.sync_object(object, site));
        }
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        for name in names.values() {
            *known.entry(name.clone()).or_default() += 1;
        }
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        for name in names.values_mut().filter(|name| known[*name] > 1) {
            let number = numbers.entry(name.clone()).or_default();
            *number += 1;
            *name = format!("{name}#{number}");
        }
        names
    }

    pub(crate) fn locks(&self, held: &[Held], names: &BTreeMap<Addr, String>) -> Vec<LockReport> {
        held.iter()
            .map(|held| LockReport {
                name: names.get(&held.lock).cloned().unwrap_or_default(),
                mode: held.mode,
                acquired: self.frames_from(held.site, &held.stack),
            })
            .collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
}
