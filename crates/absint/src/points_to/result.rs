//! From the solved graph to plain facts.

use super::calls::How;
use super::sets::{EMPTY, Set};
use super::solver::Solver;
use crate::fast_hash::{FastHasher, FastMap};
use raddle_base::{Id, IdVec, SiteId};
use raddle_facts::{Cell, ObjectId, ObjectKind, Offsets, PointsTo, SetId};
use raddle_ir::FunctionId;
use std::collections::BTreeMap;

pub(super) fn facts(mut solver: Solver) -> PointsTo {
    let (objects, whole) = solver.objects.facts();
    let mut sets = Interned {
        sets: IdVec::from_vec(vec![Vec::new()]),
        ids: FastMap::default(),
        known: FastMap::default(),
        whole: &whole,
    };
    let (mut regs, mut returns) = (IdVec::new(), IdVec::new());
    for (id, function) in solver.program.functions.iter() {
        let nodes = solver.functions[id.index()].take();
        let of = |solver: &mut Solver, sets: &mut Interned, node| {
            let set = solver.graph.set_of(node);
            sets.of(solver, set)
        };
        let (mut own, mut back) =
            (vec![SetId(0); function.regs.len()], vec![SetId(0); function.returns.len()]);
        if let Some(nodes) = nodes {
            for (slot, node) in own.iter_mut().zip(&nodes.regs) {
                if let Some(node) = node {
                    *slot = of(&mut solver, &mut sets, *node);
                }
            }
            for (slot, node) in back.iter_mut().zip(&nodes.returns) {
                *slot = of(&mut solver, &mut sets, *node);
            }
        }
        regs.push(own);
        returns.push(back);
    }
    let mut contents = IdVec::from_vec(vec![Vec::new(); objects.len()]);
    for object in 0..solver.objects.len() {
        let cells = solver.memory.region_if_any(object).map(|region| region.cells.clone());
        for cell in cells.unwrap_or_default() {
            let set = solver.graph.set_of(cell.node);
            if set != EMPTY {
                let at = solver.objects.offsets(object, cell.at);
                let holds = sets.of(&solver, set);
                contents[whole[object as usize]].push(Cell { at, bytes: cell.width.bytes, holds });
            }
        }
    }
    for (_, cells) in contents.iter_mut() {
        cells.sort_by_key(|cell| (cell.at, cell.bytes, cell.holds));
    }
    let mut targets: BTreeMap<SiteId, Vec<FunctionId>> = BTreeMap::new();
    for (site, function) in &solver.targets {
        targets.entry(*site).or_default().push(*function);
    }
    for functions in targets.values_mut() {
        functions.sort_unstable();
        functions.dedup();
    }
    let unresolved = unresolved(&mut solver);
    PointsTo { objects, sets: sets.sets, regs, returns, contents, targets, unresolved }
}

struct Interned<'a> {
    sets: IdVec<SetId, Vec<(ObjectId, Offsets)>>,
    ids: FastMap<Set, SetId>,
    /// By hash.
    known: FastMap<u64, Vec<SetId>>,
    whole: &'a [ObjectId],
}

impl Interned<'_> {
    fn of(&mut self, solver: &Solver, set: Set) -> SetId {
        if set == EMPTY {
            return SetId(0);
        }
        if let Some(id) = self.ids.get(&set) {
            return *id;
        }
        let mut targets: Vec<(ObjectId, Offsets)> = solver
            .sets
            .entries(set)
            .map(|entry| {
                let at = solver.sets.offsets(entry.pattern());
                (self.whole[entry.object() as usize], solver.objects.offsets(entry.object(), at))
            })
            .collect();
        targets.sort_unstable();
        targets.dedup();
        let alike = self.known.entry(FastHasher::of_value(&targets)).or_default();
        let id = match alike.iter().find(|id| self.sets[**id] == targets) {
            Some(id) => *id,
            None => {
                targets.shrink_to_fit();
                let id = self.sets.push(targets);
                alike.push(id);
                id
            }
        };
        self.ids.insert(set, id);
        id
    }
}

/// Calls through pointers that may be something else than a function of the program.
fn unresolved(solver: &mut Solver) -> Vec<(SiteId, String)> {
    let mut all = Vec::new();
    let pointers: Vec<_> =
        solver.invokes.iter().filter_map(|invoke| Some((invoke.site, invoke.how, invoke.pointer?))).collect();
    for (site, how, pointer) in pointers {
        let set = solver.graph.set_of(pointer);
        if set == EMPTY {
            all.push((site, "a call through a pointer that no function was ever assigned to".to_owned()));
            continue;
        }
        let mut words: Vec<&str> = solver
            .sets
            .entries(set)
            .filter_map(|entry| match (solver.objects.kind(entry.object()), how) {
                (ObjectKind::Function(function), How::Callback(_)) if !solver.has_body(function) => {
                    Some("the library calls back a function that has no body")
                }
                (kind, _) => reason(kind),
            })
            .collect();
        words.sort_unstable();
        words.dedup();
        all.extend(words.into_iter().map(|words| (site, words.to_owned())));
    }
    all.sort();
    all.dedup();
    all
}

fn reason(kind: ObjectKind) -> Option<&'static str> {
    match kind {
        ObjectKind::Function(_) => None,
        ObjectKind::Unknown => Some("a call through a pointer that came from an unknown place"),
        ObjectKind::Outside(_) => {
            Some("a call through a pointer that the callers of an entry function provide")
        }
        ObjectKind::Library => Some("a call through a pointer that the library provided"),
        ObjectKind::Global(_)
        | ObjectKind::ThreadLocal(_)
        | ObjectKind::Stack(_)
        | ObjectKind::Parameter(..)
        | ObjectKind::Heap(_) => Some("a call through a pointer that may point to data"),
    }
}
