//! Objects that are private until published: accesses that the maker of a heap block does before anybody else can know it.
//!
//! Such an access comes, in the maker's program order, before the store that publishes the block. Whoever touches the block later got
//! the address by a read, and a read that is not racing comes after the write that it reads from. So the pair is ordered if the cells
//! through which the address travels are themselves free of races: the caller of this module checks that, and withdraws the
//! argument where a cell is not. By time, that is no circle: the first race of an execution cannot be explained by a later one.
//!
//! *Must*: says "not yet published" only if no path since the allocation stores the address into shared memory, hands it to a new
//! thread or calls something that may.

use crate::pairs::Cell;
use raddle_absint::accesses::{Access, Atomic};
use raddle_absint::calls::{Call, Calls, Way};
use raddle_absint::cfg::Cfg;
use raddle_absint::terms::{Definitions, term_of};
use raddle_base::{Id, IdVec};
use raddle_facts::{ObjectId, ObjectKind, Offsets, PointsTo, Root, SetId, ThreadFacts, Values};
use raddle_ir::{BlockId, FunctionId, Inst, Operand, Program, Reg, Terminator};
use raddle_libmodel::memory::{Base, Value};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Heap objects times functions.
const LARGEST: usize = 4_000_000;

pub(crate) struct Unpublished<'a> {
    program: &'a Program,
    calls: &'a Calls,
    definitions: &'a Definitions,
    values: &'a Values,
    points_to: &'a PointsTo,
    threads: &'a ThreadFacts,
    /// Per function, with its callees: objects whose address it may store into shared memory or hand on.
    publishes: IdVec<FunctionId, Arc<[ObjectId]>>,
    known: Known,
    heap: HashMap<raddle_base::SiteId, ObjectId>,
    /// In programs with very many functions and allocations the question is not asked.
    followed: bool,
    shapes: HashMap<FunctionId, Cfg>,
    /// Blocks (from their start) that come after a publication, by function, object and register that the allocation assigns.
    after: HashMap<(FunctionId, ObjectId, FunctionId, Reg), Vec<bool>>,
}

/// Sorted lists of heap objects, made once: many operands share a set.
#[derive(Default)]
struct Known {
    /// In a set.
    pointed: RefCell<HashMap<SetId, Arc<[ObjectId]>>>,
    /// In what the objects of a set hold.
    inside: RefCell<HashMap<SetId, Arc<[ObjectId]>>>,
}

impl<'a> Unpublished<'a> {
    pub fn new(
        program: &'a Program,
        calls: &'a Calls,
        definitions: &'a Definitions,
        values: &'a Values,
        points_to: &'a PointsTo,
        threads: &'a ThreadFacts,
    ) -> Self {
        let heap = points_to
            .objects
            .iter()
            .filter_map(|(id, object)| match object.kind {
                ObjectKind::Heap(site) => Some((site, id)),
                _ => None,
            })
            .collect();
        let mut this = Unpublished {
            program,
            calls,
            definitions,
            values,
            points_to,
            threads,
            publishes: program.functions.ids().map(|_| Arc::default()).collect(),
            known: Known::default(),
            heap,
            followed: true,
            shapes: HashMap::new(),
            after: HashMap::new(),
        };
        this.followed = this.heap.len().saturating_mul(program.functions.len()) <= LARGEST;
        if this.followed {
            this.summarise();
        }
        this
    }

    /// The block that an access touches, if the access makes it, or its address comes from an allocation in the same function and the
    /// block is not yet published at the access.
    pub fn object_of(&mut self, access: &Access) -> Option<ObjectId> {
        if !self.followed {
            return None;
        }
        if access.makes_block {
            return self.heap.get(&access.site).copied();
        }
        let term = term_of(self.values, access.function, access.address?);
        let Root::Reg(owner, reg) = term.root else { return None };
        let object = self.fresh(owner, reg, 0)?;
        if !access.targets(self.points_to).iter().all(|(target, _)| *target == object) {
            return None;
        }
        self.is_private(owner, reg, object, (access.function, access.block, access.index), 0)
            .then_some(object)
    }

    /// Whether, at a point of `owner` or of what it calls, the block in `reg` cannot have been published.
    fn is_private(
        &mut self,
        owner: FunctionId,
        reg: Reg,
        object: ObjectId,
        (function, block, index): (FunctionId, BlockId, usize),
        depth: usize,
    ) -> bool {
        if self.comes_after(function, object, reg, owner, block, index) {
            return false;
        }
        if function == owner {
            return true;
        }
        // In a callee: the same must hold at all its calls, which lie inside an activation of the owner.
        let callers = self.calls.to[function].clone();
        depth < 6
            && !self.threads.threads.values().any(|thread| thread.entry == function)
            && !self.calls.recursive[function]
            && !callers.is_empty()
            && callers.into_iter().all(|(caller, position)| {
                let call = &self.calls.from[caller][position];
                let nested = call.runs.iter().all(|(target, way)| *target != function || *way == Way::Call);
                let at = (caller, call.block, call.index);
                nested && self.is_private(owner, reg, object, at, depth + 1)
            })
    }

    /// Whether a publication in this function may come before the point, without a new allocation in between.
    fn comes_after(
        &mut self,
        function: FunctionId,
        object: ObjectId,
        reg: Reg,
        owner: FunctionId,
        block: BlockId,
        index: usize,
    ) -> bool {
        let code = &self.program.functions[function].blocks[block];
        let made = |at: usize| function == owner && defines(&code.insts[at], reg);
        // The nearest allocation or publication before the point in its own block decides.
        for at in (0..index).rev() {
            if made(at) {
                return false;
            }
            if self.publishes_here(function, block, at, object) {
                return true;
            }
        }
        let key = (function, object, owner, reg);
        if !self.after.contains_key(&key) {
            let reached = self.reached(function, object, reg, owner);
            self.after.insert(key, reached);
        }
        self.after[&key][block.index()]
    }

    /// Per block: whether its start may come after a publication with no new allocation in between.
    fn reached(&mut self, function: FunctionId, object: ObjectId, reg: Reg, owner: FunctionId) -> Vec<bool> {
        let body = &self.program.functions[function];
        let values = self.values;
        let cfg = self
            .shapes
            .entry(function)
            .or_insert_with(|| Cfg::new(body, |_, to| values.is_reachable(function, to)))
            .clone();
        // Leaves the block published / not published / as it was entered.
        let mut leaves: Vec<Option<bool>> = vec![None; body.blocks.len()];
        for block in &cfg.order {
            for (at, inst) in body.blocks[*block].insts.iter().enumerate() {
                if function == owner && defines(inst, reg) {
                    leaves[block.index()] = Some(false);
                } else if self.publishes_here(function, *block, at, object) {
                    leaves[block.index()] = Some(true);
                }
            }
        }
        let mut reached = vec![false; body.blocks.len()];
        let mut work: Vec<BlockId> =
            cfg.order.iter().copied().filter(|block| leaves[block.index()] == Some(true)).collect();
        while let Some(block) = work.pop() {
            for to in &cfg.successors[block.index()] {
                if !std::mem::replace(&mut reached[to.index()], true) && leaves[to.index()].is_none() {
                    work.push(*to);
                }
            }
        }
        reached
    }

    /// The heap object in a register that holds nothing but a new block.
    fn fresh(&self, function: FunctionId, reg: Reg, depth: usize) -> Option<ObjectId> {
        let block = &self.program.functions[function].blocks[self.definitions.block(function, reg)];
        let index = block.insts.iter().position(|inst| defines(inst, reg))?;
        let call = self.calls.at(function, block.site_of(index))?;
        match (call.effects.as_slice(), call.runs.as_slice()) {
            ([effect], []) if call.unknown.is_empty() => {
                let memory = effect.memory();
                let handed = memory.hands_out_block()
                    && memory
                        .returns
                        .iter()
                        .all(|v| matches!(v, Value::Into(place) if place.base == Base::Fresh));
                handed.then(|| self.heap.get(&call.site).copied()).flatten()
            }
            ([], [(target, Way::Call)]) if call.unknown.is_empty() && depth < 4 => {
                let mut object = None;
                for (id, block) in self.program.functions[*target].blocks.iter() {
                    if !self.values.is_reachable(*target, id) {
                        continue;
                    }
                    if let Terminator::Ret { values } = &block.terminator {
                        let term = term_of(self.values, *target, *values.first()?);
                        let (Root::Reg(owner, inner), None, 0) = (term.root, term.index, term.offset) else {
                            return None;
                        };
                        let one =
                            (owner == *target).then(|| self.fresh(*target, inner, depth + 1)).flatten()?;
                        if object.is_some_and(|before| before != one)
                            || self.publishes[*target].binary_search(&one).is_ok()
                        {
                            return None;
                        }
                        object = Some(one);
                    }
                }
                object
            }
            _ => None,
        }
    }

    fn set_id(&self, function: FunctionId, operand: Operand) -> SetId {
        match operand {
            Operand::Reg(reg) => self.points_to.regs[function][reg.index()],
            _ => SetId(0),
        }
    }

    fn points_to_shared(&self, function: FunctionId, operand: Operand) -> bool {
        match operand {
            Operand::Global(..) => true,
            _ => {
                let targets = self.points_to.targets_of(self.set_id(function, operand));
                targets.iter().any(|(object, _)| self.threads.shared[*object])
            }
        }
    }

    fn publishes_here(&self, function: FunctionId, block: BlockId, index: usize, object: ObjectId) -> bool {
        let code = &self.program.functions[function].blocks[block];
        let mut found = false;
        self.published_by(function, &code.insts[index], code.site_of(index), &mut |set| {
            found |= set.binary_search(&object).is_ok();
        });
        found
    }

    /// Objects whose address an instruction may make known to others.
    fn published_by(
        &self,
        function: FunctionId,
        inst: &Inst,
        site: raddle_base::SiteId,
        visit: &mut dyn FnMut(&[ObjectId]),
    ) {
        match inst {
            Inst::Store { value, ptr, .. } | Inst::Rmw { value, ptr, .. }
                if self.points_to_shared(function, *ptr) =>
            {
                visit(&self.pointed(function, *value));
            }
            Inst::CmpXchg(x) if self.points_to_shared(function, x.ptr) => {
                visit(&self.pointed(function, x.new));
            }
            Inst::MemCopy { dst, src, .. } if self.points_to_shared(function, *dst) => {
                visit(&self.inside(function, *src));
            }
            Inst::Asm { .. } | Inst::Unsupported { .. } | Inst::VaStart { .. } => {
                inst.each_operand(|operand| visit(&self.pointed(function, operand)));
            }
            Inst::Call { args, .. } => {
                let Some(call) = self.calls.at(function, site) else { return };
                for (target, way) in &call.runs {
                    if way.is_nested() {
                        visit(&self.publishes[*target]);
                    }
                }
                if self.hands_on(call) {
                    for arg in args {
                        visit(&self.pointed(function, arg.value));
                        visit(&self.inside(function, arg.value));
                    }
                }
            }
            _ => {}
        }
    }

    /// The heap objects that an operand may point to.
    fn pointed(&self, function: FunctionId, operand: Operand) -> Arc<[ObjectId]> {
        let set = self.set_id(function, operand);
        let mut known = self.known.pointed.borrow_mut();
        let list = known.entry(set).or_insert_with(|| self.heap_only(self.points_to.targets_of(set).iter()));
        list.clone()
    }

    /// What the memory behind an operand may point to.
    fn inside(&self, function: FunctionId, operand: Operand) -> Arc<[ObjectId]> {
        let set = self.set_id(function, operand);
        let mut known = self.known.inside.borrow_mut();
        let list = known.entry(set).or_insert_with(|| {
            let holders = self.points_to.targets_of(set).iter().map(|(object, _)| *object);
            let mut sets: Vec<SetId> =
                holders.flat_map(|object| &self.points_to.contents[object]).map(|cell| cell.holds).collect();
            sets.sort_unstable();
            sets.dedup();
            self.heap_only(sets.iter().flat_map(|set| self.points_to.targets_of(*set)))
        });
        list.clone()
    }

    fn heap_only<'s>(&self, list: impl Iterator<Item = &'s (ObjectId, Offsets)>) -> Arc<[ObjectId]> {
        let is_heap = |object: &ObjectId| matches!(self.points_to.objects[*object].kind, ObjectKind::Heap(_));
        let objects: BTreeSet<ObjectId> = list.map(|(object, _)| *object).filter(is_heap).collect();
        objects.into_iter().collect()
    }

    /// Library calls that may keep, store or pass on an argument; functions without body.
    fn hands_on(&self, call: &Call) -> bool {
        !call.unknown.is_empty()
            || call.effects.iter().any(|effect| {
                let memory = effect.memory();
                !memory.stores.is_empty() || !memory.calls.is_empty()
            })
    }

    fn summarise(&mut self) {
        for component in &self.calls.bottom_up {
            let mut all: BTreeSet<ObjectId> = BTreeSet::new();
            for function in component {
                let body = &self.program.functions[*function];
                for (id, block) in body.blocks.iter() {
                    if !self.values.is_reachable(*function, id) {
                        continue;
                    }
                    for (index, inst) in block.insts.iter().enumerate() {
                        self.published_by(*function, inst, block.site_of(index), &mut |set| all.extend(set));
                    }
                }
            }
            let all: Arc<[ObjectId]> = all.into_iter().collect();
            for function in component {
                self.publishes[*function] = all.clone();
            }
        }
    }
}

fn synchronises(write: bool, atomic: Atomic) -> bool {
    (!write || atomic.release) && (write && !atomic.update || atomic.acquire)
}

fn defines(inst: &Inst, reg: Reg) -> bool {
    let mut found = false;
    inst.each_dst(|dst| found |= dst == reg);
    found
}

/// Per wanted object, the shared cells through which its address may travel; `None` if an atomic access to one of them does
/// not synchronise.
pub(crate) fn routes(
    points_to: &PointsTo,
    threads: &ThreadFacts,
    accesses: &[Access],
    wanted: &BTreeSet<ObjectId>,
) -> HashMap<ObjectId, Option<Vec<Cell>>> {
    let mut atomics: HashMap<ObjectId, Vec<&Access>> = HashMap::new();
    for access in accesses {
        let loose = |atomic| !access.operates && !synchronises(access.is_write(), atomic);
        if access.atomic.is_some_and(loose) {
            for (object, _) in access.targets(points_to) {
                atomics.entry(*object).or_default().push(access);
            }
        }
    }
    let mut held: HashMap<SetId, Vec<ObjectId>> = HashMap::new();
    let mut routes: HashMap<ObjectId, Option<Vec<Cell>>> =
        wanted.iter().map(|object| (*object, Some(Vec::new()))).collect();
    for (holder, cells) in points_to.contents.iter().filter(|(holder, _)| threads.shared[*holder]) {
        for cell in cells {
            let objects = held.entry(cell.holds).or_insert_with(|| {
                let targets = points_to.targets_of(cell.holds).iter().map(|(target, _)| *target);
                let objects: BTreeSet<ObjectId> = targets.filter(|target| wanted.contains(target)).collect();
                objects.into_iter().collect()
            });
            if objects.is_empty() {
                continue;
            }
            let bytes = u64::from(cell.bytes);
            let loose = atomics.get(&holder).is_some_and(|list| {
                list.iter().any(|access| access.may_touch(points_to, holder, cell.at, bytes))
            });
            for object in objects {
                let route = routes.get_mut(object).expect("wanted");
                match route {
                    Some(_) if loose => *route = None,
                    Some(route) => route.push((holder, cell.at, bytes)),
                    None => {}
                }
            }
        }
    }
    routes
}
