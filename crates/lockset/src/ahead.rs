//! What a thread can still come to from where it stands: of the accesses that are warned of, those that its code can reach. The explorer's
//! pruning asks for it.
//!
//! *May*: by control flow alone, through all calls, callbacks, once functions and threads to be created; handlers that run at some end count for
//! every thread. In terms of the original program: what a call can run is the union over its copies.

use crate::analyse::Analysis;
use crate::warnings::{Listing, Place, place};
use raddle_absint::calls::Way;
use raddle_base::{IdVec, SiteId};
use raddle_ir::{BlockId, FunctionId, Program};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Answers about one program; remembers them.
pub struct Places<'a> {
    program: &'a Program,
    warned: BTreeSet<(Place, Place)>,
    calls: BTreeMap<SiteId, BTreeSet<(FunctionId, Way)>>,
    /// Sites of accesses that are warned of.
    accesses: BTreeSet<SiteId>,
    inside: IdVec<FunctionId, Reached>,
    handlers: Reached,
    from: RefCell<HashMap<(SiteId, From), Rc<Reached>>>,
}

/// Accesses that can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    pub sites: BTreeSet<SiteId>,
    /// Some of them in threads that do not exist yet.
    pub creates_threads: bool,
}

/// Where in an instruction the thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum From {
    Before,
    /// In a function that it called.
    Inside,
}

impl Analysis {
    /// `None` when something is not understood, or not all warnings are known.
    pub fn places<'a>(&self, program: &'a Program) -> Option<Places<'a>> {
        if !self.gaps.is_empty() || self.listing != Listing::Complete || !program.constructors.is_empty() {
            return None;
        }
        let mut warned = BTreeSet::new();
        let mut places = BTreeSet::new();
        for warning in &self.warnings {
            let (a, b) = (place(program, warning.first), place(program, warning.second));
            warned.insert((a.min(b), a.max(b)));
            places.extend([a, b]);
        }
        let origin = &self.expanded.site_origin;
        let accesses = self.accesses.iter().map(|access| origin[access.site]);
        let accesses = accesses.filter(|site| places.contains(&place(program, *site))).collect();
        let mut calls: BTreeMap<SiteId, BTreeSet<(FunctionId, Way)>> = BTreeMap::new();
        for call in self.calls.from.values().flatten() {
            let runs = call.runs.iter().map(|(target, way)| (self.expanded.function_origin[*target], *way));
            calls.entry(origin[call.site]).or_default().extend(runs);
        }
        let inside = program.functions.ids().map(|_| Reached::default()).collect();
        let mut found = Places {
            program,
            warned,
            calls,
            accesses,
            inside,
            handlers: Reached::default(),
            from: RefCell::default(),
        };
        found.close();
        Some(found)
    }
}

impl Places<'_> {
    /// Whether accesses of these sites are warned of as a pair.
    pub fn may_race(&self, a: SiteId, b: SiteId) -> bool {
        let (a, b) = (place(self.program, a), place(self.program, b));
        self.warned.contains(&(a.min(b), a.max(b)))
    }

    /// What a thread can come to that stands before the first of these sites and was called from the others. `None`: not known.
    pub fn ahead(&self, stack: &[SiteId]) -> Option<Reached> {
        let mut reached = self.handlers.clone();
        for (depth, site) in stack.iter().enumerate() {
            let from = if depth == 0 { From::Before } else { From::Inside };
            reached.add(&*self.behind(*site, from)?);
        }
        Some(reached)
    }

    fn behind(&self, site: SiteId, from: From) -> Option<Rc<Reached>> {
        if let Some(known) = self.from.borrow().get(&(site, from)) {
            return Some(known.clone());
        }
        let function = &self.program.functions[self.program.sites.get(site)?.function];
        let holds = |(_, block): &(BlockId, &raddle_ir::Block)| {
            (block.first_site..=block.terminator_site()).contains(&site)
        };
        let (start, block) = function.blocks.iter().find(holds)?;
        let mut reached = Reached::default();
        let next = match from {
            From::Before => site.0,
            From::Inside => site.0 + 1,
        };
        self.visit((next..=block.terminator_site().0).map(SiteId), &mut reached);
        let mut seen = BTreeSet::new();
        let mut work: Vec<BlockId> = Vec::new();
        function.blocks[start].terminator.each_target(|target| work.push(target));
        while let Some(at) = work.pop() {
            if seen.insert(at) {
                let block = &function.blocks[at];
                self.visit((block.first_site.0..=block.terminator_site().0).map(SiteId), &mut reached);
                block.terminator.each_target(|target| work.push(target));
            }
        }
        let reached = Rc::new(reached);
        self.from.borrow_mut().insert((site, from), reached.clone());
        Some(reached)
    }

    fn visit(&self, sites: impl Iterator<Item = SiteId>, reached: &mut Reached) {
        for site in sites {
            if self.accesses.contains(&site) {
                reached.sites.insert(site);
            }
            for (target, way) in self.calls.get(&site).into_iter().flatten() {
                reached.add(&self.inside[*target]);
                reached.creates_threads |= *way == Way::Thread;
            }
        }
    }

    /// What can be reached inside of each function, and in handlers.
    fn close(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for id in self.program.functions.ids() {
                let mut reached = self.inside[id].clone();
                for block in self.program.functions[id].blocks.values() {
                    self.visit((block.first_site.0..=block.terminator_site().0).map(SiteId), &mut reached);
                }
                if reached != self.inside[id] {
                    self.inside[id] = reached;
                    changed = true;
                }
            }
        }
        let later = self.calls.values().flatten().filter(|(_, way)| *way == Way::Handler);
        let ends = later.map(|(target, _)| *target).chain(self.program.destructors.iter().copied());
        let mut handlers = Reached::default();
        for target in ends {
            handlers.add(&self.inside[target]);
        }
        self.handlers = handlers;
    }
}

impl Reached {
    fn add(&mut self, other: &Reached) {
        self.sites.extend(&other.sites);
        self.creates_threads |= other.creates_threads;
    }
}
