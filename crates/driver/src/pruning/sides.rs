//! What the sides of a branch do that were not taken (2008 paper, section 3.2), from the program text: the paper's instrumentation.
//!
//! A side goes from a target of the branch to where all sides have come together, calls and rounds of loops included. Its accesses are listed
//! with the locks that are certainly acquired since the branch and those that may be released; a lock or place counts as known only if
//! its address is a constant, also one handed down by a direct call. Everything that is not listed here makes the side unknown: the
//! creation of a thread, waiting, a call that is not understood, recursion. For deadlocks, the places where a side takes a lock are listed
//! with the locks that it may hold there.

use super::Answers;
use super::shape::Shape;
use raddle_base::{Id, IdVec, SiteId};
use raddle_event::{AccessKind, Addr, Loc, LockMode};
use raddle_explore::enumerate::Atomicity;
use raddle_explore::pdp::{
    Awaited, MayHold, Released, SideAccess, SideOperations, SidePath, SideWait, Untaken,
};
use raddle_interp::Merge;
use raddle_ir::{
    Block, BlockId, CallArg, Callee, CastOp, FunctionId, GlobalId, Inst, Operand, Program, Reg, Terminator,
    Ty,
};
use raddle_libmodel::memory::Base;
use raddle_libmodel::{Arg, CondOp, Effect, How, Meaning, Mode, Models, ProcessOp, SemOp, ThreadOp};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub(super) struct Sides<'p> {
    program: &'p Program,
    models: &'p Models,
    shapes: IdVec<FunctionId, Shape>,
    /// Where each global is.
    addresses: IdVec<GlobalId, Option<Addr>>,
    /// Whether functions may run when a thread or the process ends.
    handlers: Handlers,
    functions: Answers<(FunctionId, Env), Region>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handlers {
    None,
    Some,
}

/// Constant arguments.
type Env = Vec<Option<(GlobalId, i64)>>;

/// Part of a function, up to a merge.
#[derive(Default)]
struct Region {
    accesses: Vec<SideAccess>,
    operations: SideOperations,
    waits: Vec<(Awaited, State)>,
    /// At the merge; `None`: it does not come there.
    end: Option<State>,
}

/// Since the beginning of the region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    acquired: BTreeMap<Addr, LockMode>,
    released: Lost,
    perhaps: MayHold,
    /// Certainly released at some time; what was acquired since is in `perhaps`.
    freed: BTreeSet<Addr>,
}

/// Of the locks that were held at the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lost {
    These(BTreeSet<Addr>),
    Any,
}

/// What comes after an instruction.
enum Flow {
    On,
    Ends,
}

/// More accesses than these make a side unknown.
const MOST_ACCESSES: usize = 4096;

impl Default for Lost {
    fn default() -> Self {
        Lost::These(BTreeSet::new())
    }
}

impl State {
    fn release(&mut self, lock: Addr) {
        self.acquired.remove(&lock);
        self.perhaps.release(lock);
        self.freed.insert(lock);
        if let Lost::These(locks) = &mut self.released {
            locks.insert(lock);
        }
    }

    fn release_any(&mut self) {
        self.acquired.clear();
        self.released = Lost::Any;
    }

    /// What both say.
    fn meet(&mut self, other: &State) {
        self.acquired.retain(|lock, mode| other.acquired.get(lock) == Some(mode));
        self.lose(&other.released);
        self.perhaps.or(&other.perhaps);
        self.freed.retain(|lock| other.freed.contains(lock));
    }

    fn lose(&mut self, other: &Lost) {
        match (&mut self.released, other) {
            (Lost::These(locks), Lost::These(more)) => locks.extend(more),
            _ => self.released = Lost::Any,
        }
    }

    /// First this, then the other.
    fn then(&self, other: &State) -> State {
        let mut result = self.clone();
        match &other.released {
            Lost::These(locks) => result.acquired.retain(|lock, _| !locks.contains(lock)),
            Lost::Any => result.acquired.clear(),
        }
        result.acquired.extend(&other.acquired);
        result.lose(&other.released);
        other.freed.iter().for_each(|lock| result.perhaps.release(*lock));
        result.perhaps.then(&other.perhaps);
        result.freed.extend(&other.freed);
        result
    }

    fn path(&self) -> SidePath {
        SidePath {
            acquired: self.acquired.iter().map(|(lock, mode)| (*lock, *mode)).collect(),
            released: match &self.released {
                Lost::These(locks) => Released::These(locks.iter().copied().collect()),
                Lost::Any => Released::Any,
            },
        }
    }

    fn of(path: &SidePath) -> State {
        State {
            acquired: path.acquired.iter().copied().collect(),
            released: match &path.released {
                Released::These(locks) => Lost::These(locks.iter().copied().collect()),
                Released::Any => Lost::Any,
            },
            ..State::default()
        }
    }
}

impl<'p> Sides<'p> {
    pub(super) fn new(
        program: &'p Program,
        models: &'p Models,
        shapes: IdVec<FunctionId, Shape>,
        addresses: IdVec<GlobalId, Option<Addr>>,
        handlers: Handlers,
    ) -> Self {
        Self { program, models, shapes, addresses, handlers, functions: Answers::default() }
    }

    /// The sides other than the one taken; `None`: they may do anything.
    pub(super) fn untaken(&self, function: FunctionId, block: BlockId, taken: BlockId) -> Option<Untaken> {
        let shape = &self.shapes[function];
        let merge = shape.merge(block);
        let unknown: Env = vec![None; self.program.functions[function].params.len()];
        let mut all = Untaken::default();
        for target in shape.successors[block.index()].iter().filter(|target| **target != taken) {
            let region = self.region(function, &unknown, *target, merge)?;
            all.accesses.extend(region.accesses);
            all.merges.extend(region.end.iter().map(State::path));
            region.end.iter().for_each(|end| all.perhaps.or(&end.perhaps));
            all.waits.extend(region.waits.into_iter().map(|(what, state)| SideWait {
                what,
                path: state.path(),
                perhaps: state.perhaps,
            }));
            if region.operations == SideOperations::Some {
                all.operations = SideOperations::Some;
            }
        }
        Some(all)
    }

    fn region(&self, function: FunctionId, env: &Env, target: BlockId, merge: Merge) -> Option<Region> {
        let mut region = Region::default();
        if merge == Merge::Block(target) {
            region.end = Some(State::default());
            return Some(region);
        }
        let body = &self.program.functions[function].blocks;
        let mut states: BTreeMap<BlockId, State> = BTreeMap::from([(target, State::default())]);
        let mut work = BTreeSet::from([target]);
        let mut end: Option<State> = None;
        while let Some(at) = work.pop_first() {
            let mut state = states[&at].clone();
            let mut ignored = Region::default();
            let Flow::On = self.block(function, env, &body[at], &mut state, &mut ignored)? else { continue };
            if matches!(body[at].terminator, Terminator::Ret { .. }) {
                // Only a region that ends at the return comes here: every other merge lies before it.
                join(&mut end, &state);
            }
            for next in &self.shapes[function].successors[at.index()] {
                if merge == Merge::Block(*next) {
                    join(&mut end, &state);
                    continue;
                }
                match states.get_mut(next) {
                    None => {
                        states.insert(*next, state.clone());
                        work.insert(*next);
                    }
                    Some(known) => {
                        let before = known.clone();
                        known.meet(&state);
                        if *known != before {
                            work.insert(*next);
                        }
                    }
                }
            }
        }
        for (at, state) in &states {
            self.block(function, env, &body[*at], &mut state.clone(), &mut region)?;
        }
        region.end = end;
        Some(region)
    }

    /// A call of the whole function.
    fn function(&self, function: FunctionId, env: Env) -> Option<Rc<Region>> {
        let key = (function, env);
        if let Some(known) = self.functions.borrow().get(&key) {
            return known.clone();
        }
        // What comes back to itself is unknown.
        self.functions.borrow_mut().insert(key.clone(), None);
        let region = self.region(function, &key.1, BlockId(0), Merge::Return).map(Rc::new);
        self.functions.borrow_mut().insert(key, region.clone());
        region
    }

    fn block(
        &self,
        function: FunctionId,
        env: &Env,
        block: &Block,
        state: &mut State,
        into: &mut Region,
    ) -> Option<Flow> {
        for (index, inst) in block.insts.iter().enumerate() {
            let site = block.site_of(index);
            let place = |ptr: Operand, ty: Ty| self.place(function, env, ptr, ty);
            let (plain, atomic) = (Atomicity::Plain, Atomicity::Atomic);
            let (read, write) = (AccessKind::Read, AccessKind::Write);
            let mut access = |loc, kind, atomicity| {
                into.accesses.push(SideAccess { site, loc, kind, atomicity, path: state.path() });
                if atomicity == Atomicity::Atomic {
                    into.operations = SideOperations::Some;
                }
            };
            match inst {
                Inst::Load { ptr, ty, atomic: order, .. } => {
                    access(place(*ptr, *ty), read, if order.is_some() { atomic } else { plain });
                }
                Inst::Store { ptr, ty, atomic: order, .. } => {
                    access(place(*ptr, *ty), write, if order.is_some() { atomic } else { plain });
                }
                Inst::Rmw { ptr, ty, .. } => access(place(*ptr, *ty), write, atomic),
                Inst::CmpXchg(exchange) => access(place(exchange.ptr, exchange.ty), write, atomic),
                Inst::MemCopy { .. } => {
                    access(None, read, plain);
                    access(None, write, plain);
                }
                Inst::MemSet { .. } => access(None, write, plain),
                Inst::Fence { .. } => into.operations = SideOperations::Some,
                Inst::Call { callee, args, .. } => {
                    if args.iter().any(|arg| arg.by_value.is_some()) {
                        access(None, read, plain);
                    }
                    if let Flow::Ends = self.call((function, env, site), *callee, args, state, into)? {
                        return Some(Flow::Ends);
                    }
                }
                Inst::VaStart { .. }
                | Inst::VaEnd { .. }
                | Inst::VaCopy { .. }
                | Inst::VaArg { .. }
                | Inst::Asm { .. }
                | Inst::Unsupported { .. } => return None,
                Inst::Bin { .. }
                | Inst::FBin { .. }
                | Inst::FNeg { .. }
                | Inst::Icmp { .. }
                | Inst::Fcmp { .. }
                | Inst::Cast { .. }
                | Inst::Select { .. }
                | Inst::Copy { .. }
                | Inst::Alloca { .. }
                | Inst::TlsAddr { .. }
                | Inst::SignalFence
                | Inst::Gep(_)
                | Inst::Intrinsic { .. }
                | Inst::StackSave { .. }
                | Inst::StackRestore { .. } => {}
            }
        }
        match block.terminator {
            Terminator::Unsupported { .. } => None,
            _ => (into.accesses.len() <= MOST_ACCESSES).then_some(Flow::On),
        }
    }

    fn call(
        &self,
        (function, env, site): (FunctionId, &Env, SiteId),
        callee: Callee,
        args: &[CallArg],
        state: &mut State,
        into: &mut Region,
    ) -> Option<Flow> {
        let Callee::Direct(callee) = callee else { return None };
        let value = |arg: Arg| args.get(usize::from(arg.0)).map(|arg| arg.value);
        let lock_of = |arg: Arg| self.address(self.constant(function, env, value(arg)?)?);
        let effect = match self.models.meanings.get(callee)? {
            Meaning::Effect(effect, _) => effect,
            Meaning::Body if self.program.functions[callee].is_defined() => {
                let given = args.iter().take(self.program.functions[callee].params.len());
                let constant = |arg: &CallArg| match arg.by_value {
                    Some(_) => None,
                    None => self.constant(function, env, arg.value),
                };
                let mut inner: Env = given.map(constant).collect();
                inner.resize(self.program.functions[callee].params.len(), None);
                let region = self.function(callee, inner)?;
                for access in &region.accesses {
                    let path = state.then(&State::of(&access.path)).path();
                    into.accesses.push(SideAccess { path, ..access.clone() });
                }
                into.waits.extend(region.waits.iter().map(|(what, inner)| (*what, state.then(inner))));
                if region.operations == SideOperations::Some {
                    into.operations = SideOperations::Some;
                }
                let Some(end) = &region.end else { return Some(Flow::Ends) };
                *state = state.then(end);
                return Some(Flow::On);
            }
            _ => return None,
        };
        match effect {
            Effect::Nothing { .. } => return Some(Flow::On),
            Effect::Libc(library) if !library.may_keep_pointers() && library.descriptor_use().is_none() => {
                for kind in [AccessKind::Read, AccessKind::Write] {
                    let (loc, atomicity, path) = (None, Atomicity::Plain, state.path());
                    into.accesses.push(SideAccess { site, loc, kind, atomicity, path });
                }
                return Some(Flow::On);
            }
            _ => {}
        }
        into.operations = SideOperations::Some;
        // A call on a lock or the like is an atomic read of it.
        for touch in effect.memory().touches.iter().filter(|touch| touch.atomicity.operates()) {
            let Base::Arg(object) = touch.region.base else { continue };
            let bytes =
                touch.extent.bytes(self.program.data_model).and_then(|bytes| u32::try_from(bytes).ok());
            let place = |(Addr { object, offset }, len)| Loc { object, offset, len };
            let loc = lock_of(object).zip(bytes).map(place);
            let (kind, atomicity, path) = (AccessKind::Read, Atomicity::Atomic, state.path());
            into.accesses.push(SideAccess { site, loc, kind, atomicity, path });
        }
        let ends = || (self.handlers == Handlers::None).then_some(Flow::Ends);
        match effect {
            Effect::Lock { lock, mode, how, .. } => {
                let mode = match mode {
                    Mode::Exclusive => LockMode::Exclusive,
                    Mode::Shared => LockMode::Shared,
                };
                let lock = lock_of(*lock);
                if *how == How::Block {
                    into.waits.push((Awaited::Lock(lock, mode), state.clone()));
                    if let Some(lock) = lock {
                        state.acquired.entry(lock).or_insert(mode);
                    }
                }
                state.perhaps.acquire(lock, mode);
                Some(Flow::On)
            }
            Effect::Cond(CondOp::Signal { .. } | CondOp::Broadcast { .. }, _)
            | Effect::Sem(SemOp::Post { .. }, _) => Some(Flow::On),
            Effect::Unlock { lock, .. } => {
                match lock_of(*lock) {
                    Some(lock) => state.release(lock),
                    None => state.release_any(),
                }
                Some(Flow::On)
            }
            Effect::Thread(ThreadOp::SelfId | ThreadOp::Equal { .. } | ThreadOp::Yield, _) => Some(Flow::On),
            Effect::Thread(ThreadOp::Exit { .. }, _) => {
                into.waits.push((Awaited::End, state.clone()));
                ends()
            }
            Effect::Process(ProcessOp::Exit { .. }) => ends(),
            Effect::Process(ProcessOp::Abort | ProcessOp::AssertFail { .. }) => Some(Flow::Ends),
            _ => None,
        }
    }

    /// The address, if it is a constant.
    fn constant(&self, function: FunctionId, env: &Env, operand: Operand) -> Option<(GlobalId, i64)> {
        match operand {
            Operand::Global(global, offset) => Some((global, offset)),
            Operand::Reg(reg) => self.constant_register(function, env, reg),
            _ => None,
        }
    }

    fn constant_register(&self, function: FunctionId, env: &Env, reg: Reg) -> Option<(GlobalId, i64)> {
        let code = &self.program.functions[function];
        if let Some(position) = code.params.iter().position(|param| param.reg == reg) {
            return env[position];
        }
        let defines = |inst: &&Inst| {
            let mut found = false;
            inst.each_dst(|dst| found |= dst == reg);
            found
        };
        match code.blocks.values().flat_map(|block| &block.insts).find(defines)? {
            Inst::Copy { a, .. } | Inst::Cast { op: CastOp::Bitcast, a, .. } => {
                self.constant(function, env, *a)
            }
            Inst::Gep(gep) => {
                let (global, mut offset) = self.constant(function, env, gep.base)?;
                offset = offset.checked_add(gep.offset)?;
                for (index, ty, scale) in &gep.indices {
                    let (Operand::Const(index), Ty::Int(bits)) = (index, ty) else { return None };
                    let shift = 128_u32.checked_sub(u32::from(*bits))?;
                    let index = (*index << shift).cast_signed() >> shift;
                    offset = offset.checked_add(i64::try_from(index).ok()?.checked_mul(*scale)?)?;
                }
                Some((global, offset))
            }
            _ => None,
        }
    }

    fn address(&self, (global, offset): (GlobalId, i64)) -> Option<Addr> {
        let start = self.addresses[global]?;
        let offset = u32::try_from(i64::from(start.offset).checked_add(offset)?).ok()?;
        Some(Addr { object: start.object, offset })
    }

    fn place(&self, function: FunctionId, env: &Env, ptr: Operand, ty: Ty) -> Option<Loc> {
        let Addr { object, offset } = self.address(self.constant(function, env, ptr)?)?;
        let len = ty.access_bytes(self.program.data_model.pointer_bytes());
        Some(Loc { object, offset, len })
    }
}

fn join(end: &mut Option<State>, state: &State) {
    match end {
        Some(known) => known.meet(state),
        None => *end = Some(state.clone()),
    }
}
