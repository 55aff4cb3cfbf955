//! Whether other threads leave a cell alone while one is in a block (see [`raddle_facts::order`] for gates).
//!
//! *Must*. A write `w` of another thread is no danger to a block, up to some instruction, if it comes before the start of the block or after that
//! instruction: a gate that is passed at the start and that only the writer can open, after the write; or one that is passed at the
//! write and that only this thread can open, and has not. Both ends of the block count, not each point of it: otherwise a thread that
//! is created and joined inside one block would go unseen.

use super::Given;
use super::cells::Cell;
use crate::accesses::{Access, Kind};
use crate::calls::Way;
use raddle_base::Id;
use raddle_facts::{FunctionOrder, GateId, GateKind, ObjectId, Offsets, Start, ThreadId};
use raddle_ir::{BlockId, FunctionId, Inst, Terminator};
use std::cell::RefCell;
use std::collections::HashMap;

/// Writes that are looked at per question; beyond, the cell is not quiet.
const MOST_WRITES: usize = 400;

pub(crate) struct Quiet<'a> {
    given: Given<'a>,
    writes: HashMap<ObjectId, Vec<usize>>,
    known: RefCell<HashMap<(FunctionId, BlockId, usize, Cell), bool>>,
}

/// A point of a function, before an instruction of a block.
#[derive(Clone, Copy)]
struct Point {
    function: FunctionId,
    block: BlockId,
    index: usize,
}

impl<'a> Quiet<'a> {
    pub fn new(given: Given<'a>) -> Quiet<'a> {
        let mut writes: HashMap<ObjectId, Vec<usize>> = HashMap::new();
        for (at, access) in given.accesses.iter().enumerate().filter(|(_, a)| a.kind != Kind::Read) {
            for (object, _) in access.targets(given.points_to) {
                let list = writes.entry(*object).or_default();
                if list.last() != Some(&at) {
                    list.push(at);
                }
            }
        }
        Quiet { given, writes, known: RefCell::new(HashMap::new()) }
    }

    pub fn is(
        &self,
        function: FunctionId,
        block: BlockId,
        before: usize,
        cell: Cell,
        places: &[(ObjectId, Offsets)],
    ) -> bool {
        let shared = |object: ObjectId| self.given.threads.shared.get(object).copied().unwrap_or(true);
        if !places.iter().any(|(object, _)| shared(*object)) {
            return true;
        }
        let point = Point { function, block, index: before };
        let class = if self.newly_opened(function, block).is_empty() { 0 } else { before + 1 };
        let key = (function, block, class, cell);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let quiet = self.undisturbed(point, cell, places.iter().filter(|(object, _)| shared(*object)));
        self.known.borrow_mut().insert(key, quiet);
        quiet
    }

    /// Whether nothing in the program writes these bytes.
    pub fn is_never_written(&self, cell: Cell, places: &[(ObjectId, Offsets)]) -> bool {
        places.iter().all(|(object, at)| {
            let writes = self.writes.get(object).map_or(&[][..], Vec::as_slice);
            writes.iter().all(|write| {
                let access = &self.given.accesses[*write];
                !access.may_touch(self.given.points_to, *object, *at, u64::from(cell.bytes))
            })
        })
    }

    fn undisturbed<'p>(
        &self,
        point: Point,
        cell: Cell,
        places: impl Iterator<Item = &'p (ObjectId, Offsets)>,
    ) -> bool {
        let mut looked = 0;
        for (object, at) in places {
            for write in self.writes.get(object).map_or(&[][..], Vec::as_slice) {
                let access = &self.given.accesses[*write];
                if !access.may_touch(self.given.points_to, *object, *at, u64::from(cell.bytes)) {
                    continue;
                }
                looked += 1;
                if looked > MOST_WRITES || !self.apart(point, access) {
                    return false;
                }
            }
        }
        true
    }

    /// Whether a write is never parallel to the block of the point.
    fn apart(&self, point: Point, write: &Access) -> bool {
        let at = Point { function: write.function, block: write.block, index: write.index };
        let threads = &self.given.threads.runs;
        threads[point.function].iter().all(|mine| {
            threads[at.function].iter().all(|theirs| {
                if mine == theirs {
                    return !self.given.threads.threads[*mine].many;
                }
                self.comes_before(*theirs, at, *mine, point) || self.comes_before(*mine, point, *theirs, at)
            })
        })
    }

    /// A point of one thread before the block of another's.
    fn comes_before(&self, first: ThreadId, a: Point, second: ThreadId, b: Point) -> bool {
        let opened = self.opened(a);
        let passed = self.passed(second, b);
        passed.into_iter().any(|gate| {
            let is = &self.given.order.gates[gate];
            let one = !self.given.threads.threads[first].many || is.kind == GateKind::Exited(first);
            one && is.openers == [first] && !opened.contains(&gate)
        })
    }

    fn facts(&self, function: FunctionId) -> Option<&FunctionOrder> {
        self.given.order.functions.get(function)
    }

    /// *Must*: passed at the start of the point's block.
    fn passed(&self, thread: ThreadId, point: Point) -> Vec<GateId> {
        let mut passed = self.given.order.at_start.get(thread).cloned().unwrap_or_default();
        if let Some(facts) = self.facts(point.function) {
            passed.extend(&facts.entry.passed);
            if let Some(block) = facts.blocks.get(point.block.index()) {
                passed.extend(&block.passed);
            }
        }
        passed
    }

    /// *May*: opened before the point.
    fn opened(&self, point: Point) -> Vec<GateId> {
        let Some(facts) = self.facts(point.function) else { return self.given.order.gates.ids().collect() };
        let mut opened = facts.entry.opened.clone();
        if let Some(block) = facts.blocks.get(point.block.index()) {
            opened.extend(&block.opened);
            let new = self.newly_opened(point.function, point.block);
            opened.extend(new.into_iter().filter(|gate| self.opened_inside(point, *gate)));
        }
        opened
    }

    /// What a block may open: what is opened behind it and not at its start.
    fn newly_opened(&self, function: FunctionId, block: BlockId) -> Vec<GateId> {
        let Some(facts) = self.facts(function) else { return self.given.order.gates.ids().collect() };
        let Some(start) = facts.blocks.get(block.index()) else { return Vec::new() };
        let terminator = &self.given.program.functions[function].blocks[block].terminator;
        let mut after: Vec<GateId> = Vec::new();
        terminator.each_target(|target| {
            if let Some(next) = facts.blocks.get(target.index()) {
                after.extend(next.opened.iter().filter(|gate| !start.opened.contains(gate)));
            }
        });
        if matches!(
            terminator,
            Terminator::Ret { .. } | Terminator::Unreachable | Terminator::Unsupported { .. }
        ) {
            after.extend(facts.at_exit.opened.iter().filter(|gate| !start.opened.contains(gate)));
        }
        after.sort_unstable();
        after.dedup();
        after
    }

    /// Whether an instruction of the block before the point may open the gate.
    fn opened_inside(&self, point: Point, gate: GateId) -> bool {
        let block = &self.given.program.functions[point.function].blocks[point.block];
        let kind = self.given.order.gates[gate].kind;
        let flag =
            matches!(kind, GateKind::AtomicFlag(_) | GateKind::FencedFlag(_) | GateKind::LockedFlag(..));
        block.insts.iter().take(point.index).enumerate().any(|(index, inst)| match inst {
            Inst::Call { .. } => self.call_opens(point.function, block.site_of(index), gate, kind),
            Inst::Store { .. }
            | Inst::Rmw { .. }
            | Inst::CmpXchg(_)
            | Inst::MemSet { .. }
            | Inst::MemCopy { .. }
            | Inst::Fence { .. } => flag,
            _ => false,
        })
    }

    fn call_opens(
        &self,
        function: FunctionId,
        site: raddle_base::SiteId,
        gate: GateId,
        kind: GateKind,
    ) -> bool {
        let Some(call) = self.given.calls.at(function, site) else { return true };
        let thread_gate = match kind {
            GateKind::Started(thread) | GateKind::Exited(thread) => Some(thread),
            GateKind::Semaphore(_)
            | GateKind::AtomicFlag(_)
            | GateKind::FencedFlag(_)
            | GateKind::LockedFlag(..) => None,
        };
        let nested = call.runs.iter().any(|(target, way)| match way {
            Way::Call | Way::AtomicCall | Way::Callback => {
                self.facts(*target).is_none_or(|facts| facts.at_exit.opened.contains(&gate))
            }
            Way::Thread | Way::Once | Way::Handler => false,
        });
        let starts = match thread_gate {
            Some(thread) => match self.given.threads.threads[thread].start {
                Start::Created(at) => at == site,
                Start::Main | Start::Client => false,
                Start::Once(_) | Start::Handler(_) => true,
            },
            None => !call.effects.is_empty(),
        };
        nested || starts
    }
}
