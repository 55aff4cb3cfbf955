//! Places that hold thread handles, and which functions and library calls may write them.
//!
//! A place counts if a creation writes a handle into it and one single thread does all the writing, or nobody else can see it. Nothing
//! here depends on gates or locks: it is found once, however often order is solved.

use super::gates::{each_effect, union};
use crate::accesses::{Access, Kind, Objects, Targets};
use crate::calls::Calls;
use crate::fast_hash::{FastMap, FastSet};
use raddle_base::{IdVec, SiteId};
use raddle_facts::{ObjectId, Offsets, PointsTo, SetId, ThreadFacts, ThreadId};
use raddle_ir::{FunctionId, Inst, Operand, Program};
use raddle_libmodel::{Effect, ThreadOp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

pub struct Holders {
    cells: BTreeMap<ObjectId, Vec<Offsets>>,
    /// Per function, with all that it calls: places of handles that it may write.
    pub(super) overwrites: IdVec<FunctionId, Overwrites>,
    /// What library calls may write of them.
    pub(super) call_writes: HashMap<SiteId, Vec<(ObjectId, Offsets)>>,
    pub objects: Objects,
    /// Where writes of so many bytes through a set of pointers may touch handles: mostly nowhere.
    known: Mutex<FastMap<(SetId, u64), Held>>,
}

pub(super) type Overwrites = Arc<BTreeSet<(ObjectId, Offsets)>>;

/// Places that may hold handles.
pub(super) type Held = Arc<[(ObjectId, Offsets)]>;

impl Holders {
    pub fn find(
        program: &Program,
        calls: &Calls,
        points_to: &PointsTo,
        threads: &ThreadFacts,
        accesses: &[Access],
    ) -> Holders {
        let mut holders = Holders {
            cells: BTreeMap::new(),
            overwrites: program.functions.ids().map(|_| Arc::default()).collect(),
            call_writes: HashMap::new(),
            objects: Objects::new(points_to),
            known: Mutex::default(),
        };
        each_effect(program, calls, |function, _, args, effect| {
            if let Effect::Thread(ThreadOp::Create { id, .. }, _) = effect
                && let Some(arg) = args.get(usize::from(id.0))
            {
                let targets = holders.objects.targets(points_to, function, arg.value);
                for (object, at) in targets.of(points_to) {
                    let cells = holders.cells.entry(*object).or_default();
                    if !cells.contains(at) {
                        cells.push(*at);
                    }
                }
            }
        });
        if !holders.cells.is_empty() {
            holders.keep_single(points_to, threads, accesses);
            holders.find_writes(program, calls, points_to, accesses);
        }
        holders
    }

    /// Where a write of so many bytes may touch handles that are followed.
    pub(super) fn followed(
        &self,
        points_to: &PointsTo,
        function: FunctionId,
        pointer: Operand,
        bytes: u64,
    ) -> Held {
        self.held(points_to, &self.objects.targets(points_to, function, pointer), bytes)
    }

    fn held(&self, points_to: &PointsTo, targets: &Targets, bytes: u64) -> Held {
        let holds = |(object, at): &(ObjectId, Offsets)| {
            let mut cells = self.cells.get(object).into_iter().flatten();
            cells.any(|cell| cell.may_overlap(8, *at, bytes))
        };
        let compute = || targets.of(points_to).iter().copied().filter(holds).collect();
        match targets {
            Targets::Set(set) => {
                let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                known.entry((*set, bytes)).or_insert_with(compute).clone()
            }
            Targets::List(_) => compute(),
        }
    }

    /// Keeps places that one single thread writes, or that nobody else can see.
    fn keep_single(&mut self, points_to: &PointsTo, threads: &ThreadFacts, accesses: &[Access]) {
        let mut writers: HashMap<ObjectId, BTreeSet<ThreadId>> = HashMap::new();
        // Through each set, who writes that many bytes.
        let mut through: BTreeMap<(SetId, u64), BTreeSet<FunctionId>> = BTreeMap::new();
        let mut add = |held: &Held, function: FunctionId| {
            for (object, _) in held.iter() {
                writers.entry(*object).or_default().extend(&threads.runs[function]);
            }
        };
        for access in accesses.iter().filter(|access| access.kind == Kind::Write) {
            match access.targets {
                Targets::Set(set) => {
                    through.entry((set, access.bytes)).or_default().insert(access.function);
                }
                Targets::List(_) => {
                    add(&self.held(points_to, &access.targets, access.bytes), access.function)
                }
            }
        }
        let mut by_thread: FastSet<(ObjectId, ThreadId)> = FastSet::default();
        for ((set, bytes), functions) in through {
            let held = self.held(points_to, &Targets::Set(set), bytes);
            if held.is_empty() {
                continue;
            }
            let by: BTreeSet<ThreadId> =
                functions.iter().flat_map(|function| &threads.runs[*function]).copied().collect();
            for (object, _) in held.iter() {
                for thread in by.iter().filter(|thread| by_thread.insert((*object, **thread))) {
                    writers.entry(*object).or_default().insert(*thread);
                }
            }
        }
        self.cells.retain(|object, _| {
            !threads.shared[*object]
                || writers
                    .get(object)
                    .is_none_or(|by| by.len() <= 1 && by.iter().all(|thread| !threads.threads[*thread].many))
        });
        self.known = Mutex::default();
    }

    fn find_writes(&mut self, program: &Program, calls: &Calls, points_to: &PointsTo, accesses: &[Access]) {
        let mut repeated: FastSet<(FunctionId, SetId, u64)> = FastSet::default();
        for access in accesses.iter().filter(|access| access.kind == Kind::Write) {
            let inst = &program.functions[access.function].blocks[access.block].insts[access.index];
            let is_call = matches!(inst, Inst::Call { .. });
            let is_new = match access.targets {
                Targets::Set(set) => repeated.insert((access.function, set, access.bytes)),
                Targets::List(_) => true,
            };
            if !is_new && !is_call {
                continue;
            }
            for (object, at) in self.held(points_to, &access.targets, access.bytes).iter() {
                // A long write is taken to be anywhere behind its start.
                let at = if access.bytes > 8 { Offsets::ANY } else { *at };
                Arc::make_mut(&mut self.overwrites[access.function]).insert((*object, at));
                if is_call {
                    self.call_writes.entry(access.site).or_default().push((*object, at));
                }
            }
        }
        for component in &calls.bottom_up {
            // Members of a component do what all of them do.
            let all = calls.of_component(component);
            let overwrites = union(all.iter().map(|callee| &self.overwrites[*callee]));
            for function in component {
                self.overwrites[*function] = overwrites.clone();
            }
        }
    }
}
