//! What the sides of branches do: the solver of [`raddle_facts::branches`], for one function at a time.
//!
//! A callee's accesses count at every call of it, with what the caller has acquired by then added to what the callee has. In
//! recursive callees every access counts as if all locks were released.

use crate::held::{Branching, Locks};
use raddle_absint::accesses::Access;
use raddle_absint::calls::{Call, Way};
use raddle_base::SiteId;
use raddle_facts::{
    Branch, BranchFacts, LocalLocks, LockFacts, LockMode, ObjectKind, PointsTo, Released, Side, SideAccess,
    SideFlags, SideLocks, Term,
};
use raddle_ir::{FunctionId, Program};
use raddle_libmodel::{CondOp, Effect, SemOp, ThreadOp};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Reads solved facts; remembers what it found about callees.
pub struct Branches<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    locks: &'a Locks<'a>,
    facts: &'a LockFacts,
    /// Per site, positions in `accesses`.
    at: BTreeMap<SiteId, Vec<usize>>,
    accesses: &'a [Access],
    callees: BTreeMap<FunctionId, Rc<Inside>>,
}

/// What happens in a function and its callees, relative to its entry.
#[derive(Default)]
struct Inside {
    accesses: Vec<SideAccess>,
    flags: SideFlags,
}

/// A longer list is cut off, and says so.
const MOST_ACCESSES: usize = 4096;

impl<'a> Branches<'a> {
    pub fn new(
        program: &'a Program,
        points_to: &'a PointsTo,
        locks: &'a Locks<'a>,
        facts: &'a LockFacts,
        accesses: &'a [Access],
    ) -> Branches<'a> {
        let mut at: BTreeMap<SiteId, Vec<usize>> = BTreeMap::new();
        for (position, access) in accesses.iter().enumerate() {
            at.entry(access.site).or_default().push(position);
        }
        Branches { program, points_to, locks, facts, at, accesses, callees: BTreeMap::new() }
    }

    /// Every branch of a function that can go more than one way.
    pub fn of(&mut self, function: FunctionId) -> BranchFacts {
        let (locks, facts) = (self.locks, self.facts);
        let branching = Branching::new(locks, facts, function);
        let mut found = BranchFacts::default();
        for (block, targets) in branching.branches() {
            let merge = branching.merge(block);
            let sides = targets
                .into_iter()
                .map(|target| {
                    let region = branching.side(block, target);
                    let mut inside = Inside::default();
                    for (at, start) in &region.blocks {
                        branching.walk(*at, start, |index, state| {
                            let site = self.program.functions[function].blocks[*at].site_of(index);
                            self.visit(function, site, state, &mut inside);
                        });
                    }
                    inside.flags.leaves |= region.leaves;
                    inside.accesses.sort_by_key(|access| access.site);
                    let at_merge = region.at_merge.map(|state| relative(&state)).unwrap_or_default();
                    Side { target, accesses: inside.accesses, at_merge, flags: inside.flags }
                })
                .collect();
            let site = self.program.functions[function].blocks[block].terminator_site();
            found.branches.insert(site, Branch { merge, sides });
        }
        found
    }

    fn visit(&mut self, function: FunctionId, site: SiteId, state: &LocalLocks, into: &mut Inside) {
        if let Some(positions) = self.at.get(&site) {
            for position in positions {
                let access = &self.accesses[*position];
                let targets = access.targets(self.points_to).to_vec();
                into.flags.indirect_access |= !self.is_direct(&targets);
                into.push(SideAccess {
                    site,
                    write: access.is_write(),
                    atomic: access.atomic.is_some(),
                    targets,
                    bytes: access.bytes,
                    locks: relative(state),
                });
            }
        }
        let Some(call) = self.locks.call_at(function, site) else { return };
        into.flags.add(flags(call, self.locks.is_unresolved(site)));
        for (target, way) in &call.runs {
            if matches!(way, Way::Thread | Way::Handler) {
                continue;
            }
            let inside = self.inside(*target);
            into.flags.add(SideFlags { leaves: false, ..inside.flags });
            for access in &inside.accesses {
                let locks = self.composed(state, &access.locks);
                into.push(SideAccess { locks, ..access.clone() });
            }
        }
    }

    /// First the caller's, then the callee's.
    fn composed(&self, outer: &LocalLocks, inner: &SideLocks) -> SideLocks {
        let mut result = relative(outer);
        result.acquired.retain(|(lock, _)| !self.locks.may_release(*lock, &inner.released));
        result.acquired.extend(&inner.acquired);
        result.acquired.sort();
        result.acquired.dedup_by_key(|(lock, _)| *lock);
        self.locks.add_released(&mut result.released, &inner.released);
        result
    }

    fn inside(&mut self, function: FunctionId) -> Rc<Inside> {
        if let Some(known) = self.callees.get(&function) {
            return known.clone();
        }
        // A once function can come back to itself without being recursive.
        let again = SideFlags { incomplete: true, ..SideFlags::default() };
        self.callees.insert(function, Rc::new(Inside { accesses: Vec::new(), flags: again }));
        let mut inside = Inside::default();
        if self.locks.is_recursive(function) {
            self.recursive(function, &mut inside);
        } else {
            let branching = Branching::new(self.locks, self.facts, function);
            for block in branching.blocks() {
                let start = self.locks.start_of(self.facts, function, block);
                branching.walk(block, &start, |index, state| {
                    let site = self.program.functions[function].blocks[block].site_of(index);
                    self.visit(function, site, state, &mut inside);
                });
            }
        }
        let inside = Rc::new(inside);
        self.callees.insert(function, inside.clone());
        inside
    }

    /// All that can be reached, as if nothing were held.
    fn recursive(&mut self, function: FunctionId, inside: &mut Inside) {
        let nothing = LocalLocks { released: Released::Anything, ..LocalLocks::default() };
        let mut seen = BTreeSet::from([function]);
        let mut work = vec![function];
        while let Some(id) = work.pop() {
            for block in self.program.functions[id].blocks.values() {
                for index in 0..block.insts.len() {
                    let site = block.site_of(index);
                    let targets = match self.locks.call_at(id, site) {
                        Some(call) => {
                            inside.flags.add(flags(call, self.locks.is_unresolved(site)));
                            call.runs.clone()
                        }
                        None => Vec::new(),
                    };
                    for (target, way) in targets {
                        if !matches!(way, Way::Thread | Way::Handler) && seen.insert(target) {
                            work.push(target);
                        }
                    }
                    for position in self.at.get(&site).into_iter().flatten() {
                        let access = &self.accesses[*position];
                        let targets = access.targets(self.points_to).to_vec();
                        inside.flags.indirect_access |= !self.is_direct(&targets);
                        inside.push(SideAccess {
                            site,
                            write: access.is_write(),
                            atomic: access.atomic.is_some(),
                            targets,
                            bytes: access.bytes,
                            locks: relative(&nothing),
                        });
                    }
                }
            }
        }
    }

    fn is_direct(&self, targets: &[(raddle_facts::ObjectId, raddle_facts::Offsets)]) -> bool {
        match targets {
            [(object, at)] => {
                at.is_exact() && matches!(self.points_to.objects[*object].kind, ObjectKind::Global(_))
            }
            _ => false,
        }
    }
}

impl Inside {
    fn push(&mut self, access: SideAccess) {
        if self.accesses.len() < MOST_ACCESSES {
            self.accesses.push(access);
        } else {
            self.flags.incomplete = true;
        }
    }
}

fn relative(state: &LocalLocks) -> SideLocks {
    let certain = state.held.iter().filter(|held| held.guard.is_none());
    let acquired: Vec<(Term, LockMode)> = certain.map(|held| (held.lock, held.mode)).collect();
    SideLocks { acquired, released: state.released.clone() }
}

fn flags(call: &Call, unresolved: bool) -> SideFlags {
    let mut flags = SideFlags {
        unknown_call: unresolved
            || !call.unknown.is_empty()
            || call.runs.is_empty() && call.effects.is_empty(),
        creates_thread: call.runs.iter().any(|(_, way)| *way == Way::Thread),
        ..SideFlags::default()
    };
    for effect in &call.effects {
        match effect {
            Effect::Thread(ThreadOp::Create { .. } | ThreadOp::CreateReturning { .. }, _) => {
                flags.creates_thread = true;
            }
            Effect::Thread(ThreadOp::Join { .. }, _)
            | Effect::Cond(CondOp::Wait { .. }, _)
            | Effect::BarrierWait { .. }
            | Effect::Sem(SemOp::Wait { .. }, _)
            | Effect::Once { .. } => flags.waits = true,
            Effect::Unsupported { .. } => flags.unknown_call = true,
            Effect::Thread(ThreadOp::Exit { .. }, _) | Effect::Process(_) => flags.leaves = true,
            _ => {}
        }
    }
    flags
}
