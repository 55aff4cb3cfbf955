//! Heap blocks before anybody but their maker can know them.
//!
//! Such an access comes, in the maker's program order, before the store that makes the address known. Whoever touches the block later got
//! the address by a read, and a read that does not race comes after the write that it reads from. *Must*: no path since the
//! allocation stores the address into shared memory, hands it to a thread or calls something that may. Two places of the library are no
//! accesses: the result of a thread is read by whoever has joined it, and comes after its end (POSIX XBD 4.12, C11 7.26.5.6); thread-specific
//! data is read by the thread that put it there.

use super::super::accesses::{Access, Kind};
use super::super::calls::{Call, Way};
use super::super::code::{At, Code};
use super::super::flow::Definition;
use super::super::library::{Part, part_around};
use raddle_base::{Id, IdVec};
use raddle_facts::{Cell, ObjectId, ObjectKind, Offsets, Root};
use raddle_ir::{FunctionId, Inst, Operand, Reg, Terminator, Ty};
use raddle_libmodel::memory::{Base, Value};
use std::collections::{BTreeSet, HashMap};

/// Functions between an access and the one that allocates.
const DEPTH: usize = 6;
/// Heap objects times functions.
const LARGEST: usize = 4_000_000;

pub(crate) struct Published<'c, 'a> {
    code: &'c Code<'a>,
    /// Per function, with its callees: heap objects whose address it may make known. `None`: too much to follow.
    by: Option<IdVec<FunctionId, BTreeSet<ObjectId>>>,
    /// Blocks whose start may come after a publication, by function, object and register that the allocation assigns.
    after: HashMap<(FunctionId, ObjectId, FunctionId, Reg), Vec<bool>>,
}

impl<'c, 'a> Published<'c, 'a> {
    pub fn of(code: &'c Code<'a>) -> Self {
        let heap = code.facts.points_to.objects.values().filter(|object| is_heap(object.kind)).count();
        let mut this = Published { code, by: None, after: HashMap::new() };
        if heap.saturating_mul(code.program.functions.len()) > LARGEST {
            return this;
        }
        let mut by: IdVec<FunctionId, BTreeSet<ObjectId>> =
            code.program.functions.ids().map(|_| BTreeSet::new()).collect();
        if heap > 0 {
            for (function, body) in code.program.functions.iter() {
                for block in code.reachable_blocks(function) {
                    for index in 0..body.blocks[block].insts.len() {
                        by[function].extend(this.itself(At { function, block, index }));
                    }
                }
            }
        }
        let mut changed = heap > 0;
        while changed {
            changed = false;
            for (caller, calls) in code.calls.from.iter() {
                for run in calls.iter().flat_map(Call::nested).filter(|run| run.function != caller) {
                    let theirs = by[run.function].clone();
                    let before = by[caller].len();
                    by[caller].extend(theirs);
                    changed |= by[caller].len() > before;
                }
            }
        }
        this.by = Some(by);
        this
    }

    /// The block that an access touches, if it is not yet known to others.
    pub fn not_yet(&mut self, access: &Access<'_>) -> Option<ObjectId> {
        let code = self.code;
        self.by.as_ref()?;
        if access.makes_block {
            return code.object(ObjectKind::Heap(access.site));
        }
        let term = code.term(access.at.function, access.address?, Ty::Ptr)?;
        let Root::Reg(owner, reg) = term.root else { return None };
        let object = self.fresh(owner, reg, 0)?;
        let only = access.targets.iter().all(|(target, _)| *target == object);
        (only && self.is_private(owner, reg, object, access.at, 0)).then_some(object)
    }

    /// The heap object in a register that holds nothing but a new block.
    fn fresh(&self, function: FunctionId, reg: Reg, depth: usize) -> Option<ObjectId> {
        let code = self.code;
        let Definition::Inst(block, index) = code.flows[function].definition(reg) else { return None };
        let call = code.calls.at(function, code.site(At { function, block, index }))?;
        match (&call.effects[..], &call.runs[..], &call.unknown[..]) {
            ([(_, effect)], [], []) => {
                let memory = effect.memory();
                let new = |value: &Value| matches!(value, Value::Into(place) if place.base == Base::Fresh);
                let only = memory.hands_out_block() && memory.returns.iter().all(new);
                only.then(|| code.object(ObjectKind::Heap(call.site))).flatten()
            }
            ([], [run], []) if run.way == Way::Call && depth < DEPTH => {
                let mut object = None;
                for block in code.reachable_blocks(run.function) {
                    let Terminator::Ret { values } =
                        &code.program.functions[run.function].blocks[block].terminator
                    else {
                        continue;
                    };
                    let term = code.term(run.function, *values.first()?, Ty::Ptr)?;
                    let (Root::Reg(owner, inner), None, 0) = (term.root, term.index, term.offset) else {
                        return None;
                    };
                    (owner == run.function).then_some(())?;
                    let one = self.fresh(owner, inner, depth + 1)?;
                    let known = self.by.as_ref()?[run.function].contains(&one);
                    if known || object.is_some_and(|before| before != one) {
                        return None;
                    }
                    object = Some(one);
                }
                object
            }
            _ => None,
        }
    }

    /// Whether the block in `reg` of `owner` cannot be known to others at a point of `owner` or of what it calls.
    fn is_private(&mut self, owner: FunctionId, reg: Reg, object: ObjectId, at: At, depth: usize) -> bool {
        if self.comes_after(owner, reg, object, at) {
            return false;
        }
        if at.function == owner {
            return true;
        }
        let code = self.code;
        let starts = code.roots.all().any(|root| root == at.function);
        if depth == DEPTH || starts || code.calls.recursive[at.function] {
            return false;
        }
        let callers: Vec<(At, Way)> =
            code.calls.runs_of(at.function).map(|(caller, call, run)| (call.at(caller), run.way)).collect();
        !callers.is_empty()
            && callers
                .into_iter()
                .all(|(at, way)| way == Way::Call && self.is_private(owner, reg, object, at, depth + 1))
    }

    /// Whether a publication in this function may come before the point, with no new allocation in between.
    fn comes_after(&mut self, owner: FunctionId, reg: Reg, object: ObjectId, at: At) -> bool {
        for index in (0..at.index).rev() {
            let before = At { index, ..at };
            if self.makes(owner, reg, before) {
                return false;
            }
            if self.publishes(before, object) {
                return true;
            }
        }
        let key = (at.function, object, owner, reg);
        if !self.after.contains_key(&key) {
            let starts = self.starts_after(owner, reg, object, at.function);
            self.after.insert(key, starts);
        }
        self.after[&key][at.block.index()]
    }

    fn starts_after(&self, owner: FunctionId, reg: Reg, object: ObjectId, function: FunctionId) -> Vec<bool> {
        let code = self.code;
        let blocks = &code.program.functions[function].blocks;
        // How each block leaves it: known, not known, or as it was.
        let mut leaves: Vec<Option<bool>> = vec![None; blocks.len()];
        for block in code.reachable_blocks(function) {
            for index in 0..blocks[block].insts.len() {
                let at = At { function, block, index };
                if self.makes(owner, reg, at) {
                    leaves[block.index()] = Some(false);
                } else if self.publishes(at, object) {
                    leaves[block.index()] = Some(true);
                }
            }
        }
        let mut reached = vec![false; blocks.len()];
        let mut work: Vec<usize> = (0..leaves.len()).filter(|at| leaves[*at] == Some(true)).collect();
        while let Some(at) = work.pop() {
            for to in &code.flows[function].successors[at] {
                if !std::mem::replace(&mut reached[to.index()], true) && leaves[to.index()].is_none() {
                    work.push(to.index());
                }
            }
        }
        reached
    }

    fn makes(&self, owner: FunctionId, reg: Reg, at: At) -> bool {
        at.function == owner && self.code.flows[owner].definition(reg) == Definition::Inst(at.block, at.index)
    }

    fn publishes(&self, at: At, object: ObjectId) -> bool {
        let code = self.code;
        let inside = code.calls.at(at.function, code.site(at)).is_some_and(|call| {
            call.nested().any(|run| self.by.as_ref().is_none_or(|by| by[run.function].contains(&object)))
        });
        inside || self.itself(at).contains(&object)
    }

    /// Heap objects whose address an instruction, callees aside, may make known.
    fn itself(&self, at: At) -> BTreeSet<ObjectId> {
        let code = self.code;
        let inst = &code.program.functions[at.function].blocks[at.block].insts[at.index];
        let set = |operand: Operand| code.pointees(at.function, operand);
        let is_known = |ptr: Operand| {
            matches!(ptr, Operand::Global(..))
                || set(ptr).iter().any(|(object, _)| code.facts.threads.shared[*object])
        };
        let mut found: Vec<(ObjectId, Offsets)> = Vec::new();
        match inst {
            Inst::Store { value, ptr, .. } | Inst::Rmw { value, ptr, .. } if is_known(*ptr) => {
                found.extend(set(*value));
            }
            Inst::CmpXchg(x) if is_known(x.ptr) => found.extend(set(x.new)),
            Inst::MemCopy { dst, src, .. } if is_known(*dst) => found.extend(self.behind(&set(*src))),
            Inst::Asm { .. } | Inst::Unsupported { .. } | Inst::VaStart { .. } | Inst::VaCopy { .. } => {
                inst.each_operand(|operand| {
                    found.extend(self.behind(&set(operand)));
                    found.extend(set(operand));
                });
            }
            Inst::Call { args, .. } => {
                let hands_on = code.calls.at(at.function, code.site(at)).is_none_or(|call| {
                    !call.unknown.is_empty()
                        || call.effects.iter().any(|(_, effect)| {
                            let memory = effect.memory();
                            !memory.stores.is_empty() || !memory.calls.is_empty()
                        })
                });
                // What lies in shared memory was made known by the write that put it there.
                for arg in args.iter().filter(|_| hands_on) {
                    let mut places = set(arg.value);
                    found.extend(&places);
                    places.retain(|(object, _)| !code.facts.threads.shared[*object]);
                    found.extend(self.behind(&places));
                }
            }
            _ => {}
        }
        found.into_iter().map(|(object, _)| object).filter(|object| is_heap(code.kind(*object))).collect()
    }

    /// What memory may point to.
    fn behind(&self, places: &[(ObjectId, Offsets)]) -> Vec<(ObjectId, Offsets)> {
        let cells = places.iter().flat_map(|(object, _)| &self.code.facts.points_to.contents[*object]);
        cells.flat_map(|cell| self.code.targets(cell.holds)).copied().collect()
    }
}

fn is_heap(kind: ObjectKind) -> bool {
    matches!(kind, ObjectKind::Heap(_))
}

/// Whether every atomic access to a shared cell that may hold the object's address orders what it reads and writes.
pub(crate) fn travels_in_order(code: &Code<'_>, accesses: &[Access<'_>], object: ObjectId) -> bool {
    let facts = code.facts;
    facts.points_to.contents.iter().filter(|(holder, _)| facts.threads.shared[*holder]).all(
        |(holder, cells)| {
            let ways = cells
                .iter()
                .filter(|cell| code.targets(cell.holds).iter().any(|(target, _)| *target == object));
            ways.into_iter().all(|cell| {
                is_looked_at(code, accesses, holder, cell)
                    && accesses.iter().all(|access| match access.atomic {
                        Some(atomic)
                            if !access.operates
                                && access.may_touch(holder, cell.at, u64::from(cell.bytes)) =>
                        {
                            match access.kind {
                                Kind::Read => atomic.acquire,
                                Kind::Write | Kind::Free => atomic.release,
                                Kind::Update => atomic.acquire && atomic.release,
                            }
                        }
                        _ => true,
                    })
            })
        },
    )
}

/// Whether what puts addresses into memory of the library is among the accesses, or in order anyway.
fn is_looked_at(code: &Code<'_>, accesses: &[Access<'_>], holder: ObjectId, cell: &Cell) -> bool {
    let part = part_around(cell.at);
    code.kind(holder) != ObjectKind::Library
        || [Part::ThreadResult, Part::Specific].iter().any(|own| part == own.offsets())
        || accesses
            .iter()
            .any(|access| access.is_write() && access.may_touch(holder, cell.at, u64::from(cell.bytes)))
}
