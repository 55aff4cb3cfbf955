//! The whole program as [`crate::must_alias`] sees it.

use super::super::initial::initial_value;
use super::super::terms::wrap;
use super::super::typed_term_of;
use super::Given;
use super::cells::{self, Cell, Known};
use super::mods::Mods;
use super::names::Names;
use super::quiet::Quiet;
use crate::accesses::{Kind, Objects};
use crate::calls::{Call, Way};
use crate::must_alias::{At, Effect, Entry, View};
use crate::published::known_to_clients;
use crate::terms::term_of;
use raddle_base::{Id, IdVec};
use raddle_facts::{ObjectId, Offsets, Root, Term};
use raddle_ir::{BlockId, FunctionId, Inst, Operand, Reg, Ty};
use raddle_libmodel::memory::{Extent, Fill, Life};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A function with more ways in is not asked about its callers.
const MOST_CALLERS: usize = 24;

pub(crate) struct Memory<'a> {
    pub given: Given<'a>,
    names: Names<'a>,
    mods: Mods,
    quiet: Quiet<'a>,
    objects: Objects,
    /// What clients may have set.
    clients: BTreeSet<ObjectId>,
    known: RefCell<Known>,
    callers_of: RefCell<BTreeMap<FunctionId, BTreeSet<FunctionId>>>,
    /// Per function, sorted by place: what may write memory.
    events: IdVec<FunctionId, Vec<Event>>,
    /// Per function and register: where it is assigned; [`AT_START`] for phis and parameters.
    assigned: IdVec<FunctionId, Vec<(BlockId, u32)>>,
    predecessors: IdVec<FunctionId, Vec<Vec<BlockId>>>,
}

/// Assigned when the block starts.
const AT_START: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    block: BlockId,
    index: usize,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// By position in the list of accesses.
    Write(usize),
    /// By position among the calls of the function.
    Call(usize),
    Unsupported,
}

impl<'a> Memory<'a> {
    pub fn new(given: Given<'a>) -> Memory<'a> {
        let is_root =
            |f: FunctionId| given.main == Some(f) || given.threads.threads.values().any(|t| t.entry == f);
        let mut events: IdVec<FunctionId, Vec<Event>> =
            given.program.functions.ids().map(|_| Vec::new()).collect();
        for (at, access) in given.accesses.iter().enumerate().filter(|(_, a)| a.kind != Kind::Read) {
            let event = Event { block: access.block, index: access.index, what: What::Write(at) };
            events[access.function].push(event);
        }
        for (function, calls) in given.calls.from.iter() {
            for (at, call) in calls.iter().enumerate().filter(|(_, call)| !call.runs.is_empty()) {
                events[function].push(Event { block: call.block, index: call.index, what: What::Call(at) });
            }
        }
        for (function, body) in given.program.functions.iter() {
            for (block, code) in body.blocks.iter() {
                for (index, inst) in code.insts.iter().enumerate() {
                    if matches!(inst, Inst::Unsupported { .. }) {
                        events[function].push(Event { block, index, what: What::Unsupported });
                    }
                }
            }
            events[function].sort_unstable();
        }
        Memory {
            given,
            names: Names::new(given, is_root),
            mods: Mods::of(given.calls, given.points_to, given.accesses),
            quiet: Quiet::new(given),
            objects: Objects::new(given.points_to),
            clients: known_to_clients(given.program, given.threads, given.points_to),
            known: RefCell::default(),
            callers_of: RefCell::default(),
            events,
            assigned: given.program.functions.values().map(assignments).collect(),
            predecessors: given.program.functions.ids().map(|f| reachable_predecessors(given, f)).collect(),
        }
    }

    pub fn objects(&self, cell: Cell) -> Rc<[(ObjectId, Offsets)]> {
        let mut known = self.known.borrow_mut();
        let found = known.found.entry(cell);
        found.or_insert_with(|| cells::objects_of(self.given.points_to, &self.objects, cell).into()).clone()
    }

    /// A cell of a global that nothing writes.
    pub fn never_written(&self, cell: Cell) -> bool {
        let (Root::Global(global), None) = (cell.address.root, cell.address.index) else { return false };
        let places = self.objects(cell);
        let constant = self.given.program.globals[global].constant;
        (constant || !self.is_of_clients(&places)) && self.quiet.is_never_written(cell, &places)
    }

    fn is_of_clients(&self, places: &[(ObjectId, Offsets)]) -> bool {
        places.iter().any(|(object, _)| self.clients.contains(object))
    }

    fn assigned_in(
        &self,
        function: FunctionId,
        block: BlockId,
        term: Term,
    ) -> impl Iterator<Item = (Reg, u32)> {
        term.registers()
            .filter(move |(of, _)| *of == function)
            .map(move |(_, reg)| (reg, self.assigned[function][reg.index()]))
            .filter(move |(_, (at, _))| *at == block)
            .map(|(reg, (_, index))| (reg, index))
    }

    fn effect(&self, function: FunctionId, event: Event, cell: Cell) -> Option<Effect<Cell>> {
        match event.what {
            What::Unsupported => Some(Effect::Loses),
            What::Write(access) => self.write(function, event, access, cell),
            What::Call(position) => {
                let call = &self.given.calls.from[function][position];
                let at = At { function, block: event.block, index: event.index };
                let places = self.objects(cell);
                let inside = |way: Way| way.is_nested() || way == Way::Once;
                let matters = |target: FunctionId| {
                    self.mods.may_write(target, &places, cell.bytes)
                        || self.may_assign(target, function, cell.address)
                };
                let mut writers = call.runs.iter().filter(|(target, way)| inside(*way) && matters(*target));
                let (writer, more) = (writers.next(), writers.next());
                match (writer, more) {
                    (None, _) => None,
                    (Some((target, Way::Call | Way::AtomicCall)), None) if only(call) => {
                        Some(self.through(at, *target, cell))
                    }
                    _ => Some(Effect::Loses),
                }
            }
        }
    }

    /// Whether a callee, or what it calls, may assign a register that the term names: one of another function than the caller,
    /// assigned once in the run.
    fn may_assign(&self, function: FunctionId, caller: FunctionId, term: Term) -> bool {
        term.registers().filter(|(of, _)| *of != caller).any(|(of, _)| {
            let mut known = self.callers_of.borrow_mut();
            let above = known.entry(of).or_insert_with(|| self.callers(of));
            above.contains(&function)
        })
    }

    /// The function and all that may have it on the stack above them.
    fn callers(&self, of: FunctionId) -> BTreeSet<FunctionId> {
        let mut all = BTreeSet::from([of]);
        let mut work = vec![of];
        while let Some(function) = work.pop() {
            for (caller, position) in &self.given.calls.to[function] {
                let call = &self.given.calls.from[*caller][*position];
                let nested = call
                    .runs
                    .iter()
                    .any(|(target, way)| *target == function && (way.is_nested() || *way == Way::Once));
                if nested && all.insert(*caller) {
                    work.push(*caller);
                }
            }
        }
        all
    }

    /// The cell at the returns of the only function that a call runs.
    fn through(&self, at: At, function: FunctionId, cell: Cell) -> Effect<Cell> {
        let mut returns = Vec::new();
        for block in self.names.returning(function) {
            match self.names.at_return(at, function, block, cell.address) {
                Some(address) => returns.push((block, Cell { address, ..cell })),
                None => return Effect::Loses,
            }
        }
        Effect::Call { function, returns }
    }

    fn write(&self, function: FunctionId, event: Event, access: usize, cell: Cell) -> Option<Effect<Cell>> {
        let access = &self.given.accesses[access];
        let address = access.address.map(|operand| term_of(self.given.values, function, operand));
        if let Some(distance) = address.and_then(|address| cell.address.distance(address)) {
            let behind = i64::try_from(access.bytes).is_ok_and(|bytes| distance >= bytes);
            if behind || distance.saturating_add(i64::from(cell.bytes)) <= 0 {
                return None;
            }
            let at = At { function, block: event.block, index: event.index };
            return Some(self.overwritten(at, distance, cell));
        }
        let places = self.objects(cell);
        let touches = places
            .iter()
            .any(|(object, at)| access.may_touch(self.given.points_to, *object, *at, u64::from(cell.bytes)));
        touches.then_some(Effect::Loses)
    }

    /// A write to an address that the cell is `distance` bytes behind.
    fn overwritten(&self, at: At, distance: i64, cell: Cell) -> Effect<Cell> {
        let function = at.function;
        let term = |operand: &Operand, ty: Ty| typed_term_of(self.given.values, function, operand, ty);
        let covers = |len: &Operand, ty: Ty| {
            let len = term(len, ty).and_then(Term::as_constant);
            distance >= 0 && len.is_some_and(|len| distance + i64::from(cell.bytes) <= len)
        };
        let filled = |byte: Option<Term>| match byte.and_then(Term::as_constant) {
            Some(byte) => {
                let all = (byte as u8 as u64).wrapping_mul(0x0101_0101_0101_0101);
                Effect::Sets(Term::constant(wrap(all as i64, u32::from(cell.bytes) * 8)))
            }
            None => Effect::Loses,
        };
        let copied = |source: &Operand| {
            let address = term_of(self.given.values, function, *source).plus(distance);
            let source = Cell { address, ..cell };
            if self.objects(source).is_empty() { Effect::Loses } else { Effect::Copies(source) }
        };
        let size = Ty::Int(64);
        match &self.given.program.functions[function].blocks[at.block].insts[at.index] {
            Inst::Store { ty, value, .. } => {
                let whole = distance == 0 && cells::bytes(self.given.program, *ty) == Some(cell.bytes);
                let value = whole.then(|| term(value, *ty)).flatten();
                value.map_or(Effect::Loses, Effect::Sets)
            }
            Inst::MemSet { byte, len, .. } if covers(len, size) => filled(term(byte, Ty::Int(8))),
            Inst::MemCopy { src, len, .. } if covers(len, size) => copied(src),
            Inst::Call { args, .. } => match (self.library_function(at), &args[..]) {
                (Some("memset"), [_, byte, len]) if covers(&len.value, len.ty) => {
                    filled(term(&byte.value, byte.ty))
                }
                (Some("bzero"), [_, len]) if covers(&len.value, len.ty) => filled(Some(Term::constant(0))),
                (Some("memcpy" | "memmove"), [_, src, len]) if covers(&len.value, len.ty) => {
                    copied(&src.value)
                }
                _ => Effect::Loses,
            },
            _ => Effect::Loses,
        }
    }

    /// The library function that a call runs and nothing else.
    fn library_function(&self, at: At) -> Option<&'static str> {
        let call = self.names.call(at)?;
        match (&call.runs[..], &call.effects[..], &call.unknown[..]) {
            ([], [raddle_libmodel::Effect::Libc(function)], []) => Some(function.0),
            _ => None,
        }
    }

    /// The instruction that assigns a register which the cell's address names: before it there was no such cell.
    fn made(&self, at: At, reg: Reg, cell: Cell) -> Effect<Cell> {
        let root = cell.address.root == Root::Reg(at.function, reg);
        let Some(call) = self.names.call(at).filter(|_| root) else { return Effect::Loses };
        match (&call.runs[..], &call.effects[..]) {
            ([(target, Way::Call | Way::AtomicCall)], []) if only(call) => self.through(at, *target, cell),
            ([], [effect]) if call.unknown.is_empty() => {
                let memory = effect.memory();
                let (_, args) = call.parts(self.given.program, at.function);
                let size = |extent: Extent| -> Option<i64> {
                    let value = |arg: raddle_libmodel::Arg| {
                        let arg = args.get(usize::from(arg.0))?;
                        typed_term_of(self.given.values, at.function, &arg.value, arg.ty)?.as_constant()
                    };
                    match extent {
                        Extent::Arg(arg) => value(arg),
                        Extent::Product(a, b) => value(a)?.checked_mul(value(b)?),
                        _ => None,
                    }
                };
                let end = cell.address.offset.checked_add(i64::from(cell.bytes));
                let zero = memory.allocates.is_some_and(|block| {
                    block.fill == Fill::Zero
                        && block.life == Life::Handed
                        && size(block.size).zip(end).is_some_and(|(size, end)| end <= size)
                });
                let inside = cell.address.index.is_none() && cell.address.offset >= 0;
                if zero && inside { Effect::Sets(Term::constant(0)) } else { Effect::Loses }
            }
            _ => Effect::Loses,
        }
    }

    fn initial(&self, cell: Cell) -> Entry<Cell> {
        let before_main = self.given.constructors;
        let places = self.objects(cell);
        if self.is_of_clients(&places)
            || before_main.iter().any(|function| self.mods.may_write(*function, &places, cell.bytes))
        {
            return Entry::Unknown;
        }
        let ty = Ty::Int(cell.bytes * 8);
        match (cell.address.root, cell.address.index) {
            (Root::Global(global), None) => {
                initial_value(self.given.program, global, cell.address.offset, ty)
                    .map_or(Entry::Unknown, Entry::Value)
            }
            _ => Entry::Unknown,
        }
    }
}

impl View for Memory<'_> {
    type Cell = Cell;

    fn predecessors(&self, function: FunctionId, block: BlockId) -> Vec<BlockId> {
        self.predecessors[function][block.index()].clone()
    }

    fn length(&self, function: FunctionId, block: BlockId) -> usize {
        self.given.program.functions[function].blocks[block].insts.len()
    }

    fn last_effect(
        &self,
        function: FunctionId,
        block: BlockId,
        before: usize,
        cell: Cell,
    ) -> Option<(usize, Effect<Cell>)> {
        let made = self
            .assigned_in(function, block, cell.address)
            .filter(|(_, index)| *index != AT_START && (*index as usize) < before)
            .max_by_key(|(_, index)| *index);
        let events = &self.events[function];
        let from = events.partition_point(|event| event.block < block);
        let to = events.partition_point(|event| (event.block, event.index) < (block, before));
        for event in events[from..to].iter().rev() {
            if made.is_some_and(|(_, index)| event.index <= index as usize) {
                break;
            }
            if let Some(effect) = self.effect(function, *event, cell) {
                return Some((event.index, effect));
            }
        }
        made.map(|(reg, index)| {
            let index = index as usize;
            (index, self.made(At { function, block, index }, reg, cell))
        })
    }

    fn entry(&self, function: FunctionId, cell: Cell) -> Entry<Cell> {
        let callers = &self.given.calls.to[function];
        if self.given.main == Some(function) || self.given.constructors.contains(&function) {
            return if callers.is_empty() { self.initial(cell) } else { Entry::Unknown };
        }
        let outside = self.given.threads.threads.values().any(|thread| {
            thread.entry == function
                && matches!(thread.start, raddle_facts::Start::Client | raddle_facts::Start::Handler(_))
        });
        if outside || callers.is_empty() || callers.len() > MOST_CALLERS {
            return Entry::Unknown;
        }
        let mut all = Vec::new();
        for (caller, position) in callers {
            let call = &self.given.calls.from[*caller][*position];
            let at = At { function: *caller, block: call.block, index: call.index };
            let known_way = matches!(
                self.names.way(call, function),
                Some(Way::Call | Way::AtomicCall | Way::Thread | Way::Once)
            );
            match self.names.to_caller(at, function, cell.address) {
                Some(address) if known_way => {
                    let there = Cell { address, ..cell };
                    if self.objects(there).is_empty() {
                        return Entry::Unknown;
                    }
                    all.push((at, there));
                }
                _ => return Entry::Unknown,
            }
        }
        Entry::Callers(all)
    }

    fn inward(&self, call: At, function: FunctionId, value: Term) -> Option<Term> {
        self.names.to_callee(call, function, value)
    }

    fn outward(&self, call: At, function: FunctionId, block: BlockId, value: Term) -> Option<Term> {
        self.names.returned_value(call, function, block, value)
    }

    fn outward_cell(&self, call: At, function: FunctionId, cell: Cell) -> Option<Cell> {
        self.names.to_caller(call, function, cell.address).map(|address| Cell { address, ..cell })
    }

    fn stands(&self, function: FunctionId, block: BlockId, cell: Cell) -> bool {
        let here = self.assigned_in(function, block, cell.address).any(|(reg, index)| {
            index == AT_START && !self.given.program.functions[function].params.iter().any(|p| p.reg == reg)
        });
        !here && !self.objects(cell).is_empty()
    }

    fn lasts(
        &self,
        function: FunctionId,
        block: BlockId,
        after: Option<usize>,
        before: usize,
        value: Term,
    ) -> bool {
        self.assigned_in(function, block, value).all(|(reg, index)| match (after, index) {
            (None, AT_START) => self.given.program.functions[function].params.iter().any(|p| p.reg == reg),
            (Some(_), AT_START) => true,
            (None, index) => index as usize >= before,
            (Some(after), index) => (index as usize) <= after || index as usize >= before,
        })
    }

    fn quiet(&self, function: FunctionId, block: BlockId, before: usize, cell: Cell) -> bool {
        self.quiet.is(function, block, before, cell, &self.objects(cell))
    }
}

/// Nothing else can come out of the call than what its one function does.
fn only(call: &Call) -> bool {
    call.effects.is_empty() && call.unknown.is_empty() && call.runs.len() == 1
}

fn assignments(function: &raddle_ir::Function) -> Vec<(BlockId, u32)> {
    let mut all = vec![(BlockId(0), AT_START); function.regs.len()];
    for (id, block) in function.blocks.iter() {
        block.phis.iter().for_each(|phi| all[phi.dst.index()] = (id, AT_START));
        for (index, inst) in block.insts.iter().enumerate() {
            inst.each_dst(|dst| all[dst.index()] = (id, index as u32));
        }
    }
    all
}

/// Edges from reachable blocks that the branch's condition does not rule out.
fn reachable_predecessors(given: Given<'_>, function: FunctionId) -> Vec<Vec<BlockId>> {
    let body = &given.program.functions[function];
    let mut all = vec![Vec::new(); body.blocks.len()];
    for (from, block) in body.blocks.iter() {
        if !given.values.is_reachable(function, from) {
            continue;
        }
        super::super::each_open_target(given.values, function, &block.terminator, |to| {
            let list: &mut Vec<BlockId> = &mut all[to.index()];
            if list.last() != Some(&from) {
                list.push(from);
            }
        });
    }
    all
}
