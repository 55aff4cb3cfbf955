//! Paths from a location to the next ones: the visible instruction that the thread stands before, and what it does on its own after it.

use super::cells::Cells;
use super::values::{Inputs, Values, updated};
use super::{NotCovered, Place};
use crate::ground::{Called, Ground, Held, Spot, Touch};
use crate::names::{self, Cell};
use raddle_facts::{LockMode, ObjectId, Offsets, Phase};
use raddle_ir::{BlockId, CmpXchg, FunctionId, Inst, Operand, Reg, SiteId, Terminator, Ty};
use raddle_libmodel::{CondOp, Effect, ProcessOp, ThreadOp, VerifierOp};
use raddle_logic::{Term, Var};
use std::collections::{BTreeMap, BTreeSet};

/// More steps or branches on the way from one location to the next ones are given up on.
const MOST_PATHS: usize = 512;
const MOST_STEPS: usize = 20_000;

/// A way on.
#[derive(Debug)]
pub(super) struct Path {
    /// `None`: the thread ends.
    pub(super) to: Option<Place>,
    pub(super) guard: Term,
    pub(super) updates: Vec<(Var, Term)>,
}

/// What others may see of the visible instruction, whatever the thread comes to after it.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) guard: Term,
    /// Of shared variables.
    pub(super) updates: Vec<(Var, Term)>,
    /// Creating site, start function, argument.
    pub(super) creates: Vec<(SiteId, FunctionId, Term)>,
}

/// From one place.
#[derive(Debug, Default)]
pub(super) struct Ways {
    pub(super) paths: Vec<Path>,
    pub(super) seen: Vec<Seen>,
}

pub(super) struct Walker<'g> {
    pub(super) ground: &'g dyn Ground,
    pub(super) cells: &'g Cells,
    /// With the bytes of each.
    pub(super) locks: &'g BTreeMap<(ObjectId, i64), u64>,
    /// Blocks at whose start a thread stands, too: one in each loop without a visible instruction.
    pub(super) stops: &'g BTreeSet<(FunctionId, BlockId)>,
    pub(super) inputs: Inputs,
}

#[derive(Clone)]
struct Walk {
    stack: Vec<Spot>,
    at: Spot,
    values: Values,
    creates: Vec<(SiteId, FunctionId, Term)>,
}

/// What an instruction comes to: the ways on.
enum Next {
    /// With the next instruction.
    On(Vec<Walk>),
    /// Here, for another thread to take a step.
    Stops(Vec<Walk>, Place),
    /// The thread is over.
    Ends(Walk),
}

impl Walker<'_> {
    pub(super) fn ways(&mut self, place: &Place) -> Result<Ways, NotCovered> {
        let start = Walk {
            stack: place.stack.clone(),
            at: place.spot,
            values: Values::default(),
            creates: Vec::new(),
        };
        let mut found = Vec::new();
        let mut open = Vec::new();
        let mut ended = Vec::new();
        let inst = self.inst(place.spot);
        match (place.phase, inst) {
            (Phase::Waiting, _) => open.extend(self.woken(start)),
            // The block has nothing but its end.
            (Phase::Before, None) => open.push(start),
            (Phase::Before, Some(_)) => match self.perform(start)? {
                Next::On(walks) => open.extend(walks),
                Next::Stops(walks, place) => {
                    ended.extend(walks.iter().cloned());
                    found.extend(walks.into_iter().map(|walk| path(walk, Some(place.clone()))));
                }
                Next::Ends(walk) => {
                    ended.push(walk.clone());
                    found.push(path(walk, None));
                }
            },
        }
        let seen = open.iter().chain(&ended).map(seen).filter(Seen::matters).collect();
        let mut steps = 0;
        while let Some(walk) = open.pop() {
            steps += 1;
            if steps > MOST_STEPS || found.len() + open.len() > MOST_PATHS {
                return self.not_covered(place.spot, "too many paths without a visible instruction");
            }
            if walk.values.guard.iter().any(Term::is_false) {
                continue;
            }
            match self.inst(walk.at) {
                None => self.terminator(walk, &mut open, &mut found)?,
                Some(_) if self.is_visible(walk.at) => {
                    let place = Place { stack: walk.stack.clone(), spot: walk.at, phase: Phase::Before };
                    found.push(path(walk, Some(place)));
                }
                Some(_) => match self.perform(walk)? {
                    Next::On(walks) => open.extend(walks),
                    Next::Stops(walks, place) => {
                        found.extend(walks.into_iter().map(|walk| path(walk, Some(place.clone()))));
                    }
                    Next::Ends(walk) => found.push(path(walk, None)),
                },
            }
        }
        found.retain(|path| !path.guard.is_false());
        Ok(Ways { paths: found, seen })
    }

    fn inst(&self, spot: Spot) -> Option<&Inst> {
        self.ground.program().functions[spot.function].blocks[spot.block].insts.get(spot.index)
    }

    pub(super) fn is_visible(&self, spot: Spot) -> bool {
        is_visible(self.ground, spot)
    }

    fn not_covered<T>(&self, spot: Spot, text: &'static str) -> Result<T, NotCovered> {
        let block = &self.ground.program().functions[spot.function].blocks[spot.block];
        Err(NotCovered { site: Some(block.site_of(spot.index)), text })
    }

    fn operand(&mut self, walk: &Walk, operand: Operand, ty: Ty) -> Option<Term> {
        let width = names::width(self.ground.program(), ty)?;
        Some(walk.values.operand(self.ground, &mut self.inputs, walk.at.function, operand, width))
    }

    fn assign(&mut self, walk: &mut Walk, reg: Reg, value: Option<Term>) {
        walk.values.assign(self.ground, &mut self.inputs, walk.at.function, reg, value);
    }

    /// The instruction that the walk stands before.
    fn perform(&mut self, mut walk: Walk) -> Result<Next, NotCovered> {
        let spot = walk.at;
        let ground = self.ground;
        let inst = &ground.program().functions[spot.function].blocks[spot.block].insts[spot.index];
        for cell in self.cells.blurred(spot) {
            let (any, writer) = (self.inputs.any(8 * cell.bytes), self.inputs.any(names::TID_BITS));
            walk.values.set(cell.value(), any);
            walk.values.set(cell.writer(), writer);
        }
        for (lock, bytes) in self.locks {
            let there = (lock.0, Offsets::exact(lock.1));
            let hits = |touch: &Touch| touch.write && !touch.operates && touch.may_hit(there, *bytes);
            if ground.touches(spot).iter().any(hits) {
                let any = self.inputs.any(names::TID_BITS);
                walk.values.set(names::owner(*lock), any);
            }
        }
        if walk.values.instruction(ground, &mut self.inputs, spot.function, inst) {
            return Ok(Next::On(vec![advanced(walk)]));
        }
        let cell = self.cells.exact(spot);
        let walks = match inst {
            Inst::Load { dst, atomic, .. } => {
                self.load(walk, *dst, cell, atomic.map(|order| order.acquires()))
            }
            Inst::Store { value, ty, .. } => {
                if let Some(cell) = cell {
                    let value = self.operand(&walk, *value, *ty);
                    self.store(&mut walk, cell, value);
                }
                vec![walk]
            }
            Inst::Rmw { dst, op, ty, value, order, .. } => {
                let value = self.operand(&walk, *value, *ty);
                let mut walks = Vec::new();
                for old in self.seen(cell, *ty, order.acquires()) {
                    let mut walk = walk.clone();
                    self.assign(&mut walk, *dst, old.clone());
                    let Some(cell) = cell else {
                        walks.push(walk);
                        continue;
                    };
                    let before = walk.values.get(&cell.value());
                    let new =
                        value.as_ref().zip(old.as_ref()).and_then(|(value, old)| updated(*op, old, value));
                    let new = new.unwrap_or_else(|| self.inputs.any(8 * cell.bytes));
                    walks.extend(self.update(&walk, cell, &before, new));
                }
                walks
            }
            Inst::CmpXchg(exchange) => self.compare_exchange(&walk, exchange, cell),
            Inst::MemCopy { .. } | Inst::MemSet { .. } => vec![walk],
            Inst::Unsupported { .. } => return self.not_covered(spot, "a construct that is not understood"),
            Inst::Call { .. } => return self.call(walk),
            _ => return self.not_covered(spot, "an instruction that is not translated"),
        };
        Ok(Next::On(walks.into_iter().map(advanced).collect()))
    }

    /// What a read of the cell may see.
    fn seen(&mut self, cell: Option<Cell>, ty: Ty, acquires: bool) -> Vec<Option<Term>> {
        let known = cell.filter(|_| acquires).and_then(|cell| self.cells.seen(cell));
        match known {
            Some(values) => values.into_iter().map(Some).collect(),
            None => {
                let width = names::width(self.ground.program(), ty);
                vec![width.map(|width| self.inputs.any(width))]
            }
        }
    }

    fn load(&mut self, mut walk: Walk, dst: Reg, cell: Option<Cell>, acquires: Option<bool>) -> Vec<Walk> {
        match (cell, acquires) {
            (Some(cell), None) => {
                let value = walk.values.get(&cell.value());
                self.assign(&mut walk, dst, self.cells.seen(cell).map(|_| value));
                vec![walk]
            }
            (Some(cell), Some(acquires)) => {
                let mut walks = Vec::new();
                for value in self.seen(Some(cell), Ty::Int((8 * cell.bytes) as u8), acquires) {
                    let mut walk = walk.clone();
                    self.assign(&mut walk, dst, value);
                    walks.push(walk);
                }
                walks
            }
            (None, _) => {
                self.assign(&mut walk, dst, None);
                vec![walk]
            }
        }
    }

    fn store(&mut self, walk: &mut Walk, cell: Cell, value: Option<Term>) {
        let value = value.unwrap_or_else(|| self.inputs.any(8 * cell.bytes));
        walk.values.set(cell.value(), value);
        walk.values.set(cell.writer(), Term::from(names::tid()));
    }

    /// One that reads and writes in one step: who leaves the bytes as they were is not their writer.
    fn update(&mut self, walk: &Walk, cell: Cell, before: &Term, value: Term) -> Vec<Walk> {
        let same = value.equals(before);
        let (mut kept, mut written) = (walk.clone(), walk.clone());
        kept.values.guard.push(same.clone());
        written.values.guard.push(same.negated());
        self.store(&mut written, cell, Some(value));
        [kept, written].into_iter().filter(|walk| !walk.values.guard.iter().any(Term::is_false)).collect()
    }

    fn compare_exchange(&mut self, walk: &Walk, exchange: &CmpXchg, cell: Option<Cell>) -> Vec<Walk> {
        let CmpXchg { old, success, ty, expected, new, on_success, on_failure, weak, .. } = *exchange;
        let expected = self.operand(walk, expected, ty);
        let new = self.operand(walk, new, ty);
        let mut walks = Vec::new();
        for seen in self.seen(cell, ty, on_success.acquires()) {
            let mut walk = walk.clone();
            if let (Some(seen), Some(expected)) = (&seen, &expected) {
                walk.values.guard.push(seen.equals(expected));
            }
            self.assign(&mut walk, old, seen.clone());
            self.assign(&mut walk, success, Some(Term::bits(1, 1)));
            let Some(cell) = cell else {
                walks.push(walk);
                continue;
            };
            let now = walk.values.get(&cell.value());
            // What it saw is what was there, unless that told it nothing.
            let before = if seen.as_ref() == Some(&now) { expected.clone().unwrap_or(now) } else { now };
            let new = new.clone().unwrap_or_else(|| self.inputs.any(8 * cell.bytes));
            walks.extend(self.update(&walk, cell, &before, new));
        }
        for seen in self.seen(cell, ty, on_failure.acquires()) {
            let mut walk = walk.clone();
            if let (Some(seen), Some(expected), false) = (&seen, &expected, weak) {
                walk.values.guard.push(seen.differs(expected));
            }
            self.assign(&mut walk, old, seen);
            self.assign(&mut walk, success, Some(Term::bits(0, 1)));
            walks.push(walk);
        }
        walks
    }

    fn call(&mut self, mut walk: Walk) -> Result<Next, NotCovered> {
        let spot = walk.at;
        let ground = self.ground;
        let Some(called) = ground.call(spot) else { return Ok(Next::On(Vec::new())) };
        if let Some(text) = called.not_followed {
            return self.not_covered(spot, text);
        }
        if !called.bodies.is_empty() {
            return self.enter(&walk, &called);
        }
        let (dsts, args) =
            match &ground.program().functions[spot.function].blocks[spot.block].insts[spot.index] {
                Inst::Call { dsts, args, .. } => (dsts.clone(), args.clone()),
                _ => (Vec::new(), Vec::new()),
            };
        let [effect] = &called.effects[..] else {
            return self.not_covered(spot, "a call that may run several library functions");
        };
        match effect {
            Effect::Process(ProcessOp::Exit { .. } | ProcessOp::Abort | ProcessOp::AssertFail { .. })
            | Effect::Verifier(VerifierOp::Error) => return Ok(Next::On(Vec::new())),
            Effect::Thread(ThreadOp::Exit { .. }, _) => return Ok(Next::Ends(walk)),
            Effect::Unsupported { .. } => {
                return self.not_covered(spot, "a library function that is not supported");
            }
            Effect::Once { .. } => return self.not_covered(spot, "`pthread_once`"),
            Effect::Cond(CondOp::Wait { .. }, _) => {
                let place = Place { stack: walk.stack.clone(), spot, phase: Phase::Waiting };
                return Ok(Next::Stops(self.release(&walk), place));
            }
            Effect::Verifier(VerifierOp::Assume { condition }) => {
                if let Some(arg) = args.get(usize::from(condition.0)) {
                    let value = self.operand(&walk, arg.value, arg.ty);
                    walk.values.guard.extend(value.map(|value| value.is_nonzero()));
                }
            }
            Effect::Thread(
                ThreadOp::Create { argument, .. } | ThreadOp::CreateReturning { argument, .. },
                _,
            ) => {
                let site = self.site(spot);
                let value = args.get(usize::from(argument.0));
                let value = value.and_then(|arg| self.operand(&walk, arg.value, arg.ty));
                for function in &called.threads {
                    let value = match &value {
                        Some(value) => value.clone(),
                        None => self.inputs.any(8 * ground.program().data_model.pointer_bytes()),
                    };
                    walk.creates.push((site, *function, value));
                }
            }
            _ => {}
        }
        let boolean = matches!(effect, Effect::Verifier(VerifierOp::Nondet { boolean: true, .. }));
        let fixed = effect.fixed_result();
        for dst in dsts {
            let ty = ground.program().functions[spot.function].regs[dst].ty;
            let value = names::width(ground.program(), ty).map(|width| match fixed {
                Some(value) => Term::bits(value as i128 as u128, width),
                None => self.inputs.any(width),
            });
            if let Some(value) = value.as_ref().filter(|value| boolean && value.width() > 1) {
                let limit = Term::bits(1, value.width());
                walk.values.guard.push(Term::app(raddle_logic::Op::Ule, vec![value.clone(), limit]));
            }
            self.assign(&mut walk, dst, value);
        }
        let released = self.release(&walk);
        Ok(Next::On(released.iter().flat_map(|walk| self.acquire(walk)).map(advanced).collect()))
    }

    fn site(&self, spot: Spot) -> SiteId {
        self.ground.program().functions[spot.function].blocks[spot.block].site_of(spot.index)
    }

    /// Locks that the call may take away.
    fn release(&mut self, walk: &Walk) -> Vec<Walk> {
        let mut walks = vec![walk.clone()];
        for lock in self.locks.keys().filter(|lock| self.ground.may_release(walk.at, **lock)) {
            let (owner, any) = (names::owner(*lock), self.inputs.any(names::TID_BITS));
            let one = |mut walk: Walk| {
                walk.values.set(names::lock(*lock), Term::bits(0, 2));
                let mine = walk.values.get(&owner).equals(&Term::from(names::tid()));
                let mut other = walk.clone();
                other.values.guard.push(mine.negated());
                // What another one holds is free or not afterwards.
                other.values.set(owner.clone(), any.clone());
                walk.values.guard.push(mine);
                walk.values.set(owner.clone(), Term::bits(0, names::TID_BITS));
                [walk, other]
            };
            walks = walks.into_iter().flat_map(one).collect();
        }
        walks
    }

    /// The lock that is held right after the call.
    fn acquire(&self, walk: &Walk) -> Vec<Walk> {
        let mut walk = walk.clone();
        let Some(taken) = self.ground.taken(walk.at) else { return vec![walk] };
        if !self.locks.contains_key(&taken.lock) {
            return vec![walk];
        }
        let mode = |mode: LockMode| match mode {
            LockMode::Shared => Term::bits(1, 2),
            LockMode::Exclusive => Term::bits(2, 2),
        };
        let none = Term::bits(0, 2);
        let function = walk.at.function;
        let program = self.ground.program();
        let is_zero = |walk: &Walk, reg: Reg| {
            names::register(program, function, reg).map(|var| walk.values.get(&var).is_nonzero().negated())
        };
        let (taken_if, held) = match taken.held {
            Held::No => (Some(Term::truth(false)), LockMode::Shared),
            Held::Always(held) => (Some(Term::truth(true)), held),
            Held::IfZero(reg, held) => (is_zero(&walk, reg), held),
            Held::IfNonZero(reg, held) => (is_zero(&walk, reg).map(|zero| zero.negated()), held),
        };
        let taken_if = taken_if.unwrap_or_else(|| Term::truth(false));
        let mut without = walk.clone();
        without.values.guard.push(taken_if.negated());
        without.values.set(names::lock(taken.lock), none);
        walk.values.guard.push(taken_if);
        walk.values.set(names::lock(taken.lock), mode(held));
        if self.ground.has_lasting_owner(taken.lock) {
            let owner = names::owner(taken.lock);
            let now = walk.values.get(&owner);
            let tid = Term::from(names::tid());
            let is_free = Term::or([now.equals(&Term::bits(0, names::TID_BITS)), now.equals(&tid)]);
            walk.values.guard.push(is_free);
            if held == LockMode::Exclusive {
                walk.values.set(owner, tid);
            }
        }
        [walk, without].into_iter().filter(|walk| !walk.values.guard.iter().any(Term::is_false)).collect()
    }

    /// A wait that is over: it has its mutex again.
    fn woken(&mut self, mut walk: Walk) -> Vec<Walk> {
        if let Some(Inst::Call { dsts, .. }) = self.inst(walk.at) {
            for dst in dsts.clone() {
                self.assign(&mut walk, dst, None);
            }
        }
        self.acquire(&walk).into_iter().map(advanced).collect()
    }

    fn enter(&mut self, walk: &Walk, called: &Called) -> Result<Next, NotCovered> {
        let ground = self.ground;
        let program = ground.program();
        let spot = walk.at;
        let Inst::Call { args, .. } = &program.functions[spot.function].blocks[spot.block].insts[spot.index]
        else {
            return self.not_covered(spot, "a call that is none");
        };
        if !called.effects.is_empty() {
            return self.not_covered(spot, "a call of a library function or of one with a body");
        }
        let mut walks = Vec::new();
        for callee in &called.bodies {
            if *callee == spot.function || walk.stack.iter().any(|frame| frame.function == *callee) {
                return self.not_covered(spot, "recursion");
            }
            let body = &program.functions[*callee];
            if body.params.iter().any(|param| param.by_value.is_some())
                || args.iter().any(|arg| arg.by_value.is_some())
            {
                return self.not_covered(spot, "a structure passed by value");
            }
            let mut inner = walk.clone();
            let passed: Vec<Option<Term>> =
                args.iter().map(|arg| self.operand(walk, arg.value, arg.ty)).collect();
            inner.stack.push(spot);
            inner.at = Spot { function: *callee, block: BlockId(0), index: 0 };
            for (index, param) in body.params.iter().enumerate() {
                let value = passed.get(index).cloned().flatten();
                self.assign(&mut inner, param.reg, value);
            }
            walks.push(inner);
        }
        let (stopped, on): (Vec<Walk>, Vec<Walk>) =
            walks.into_iter().partition(|walk| self.stops.contains(&(walk.at.function, walk.at.block)));
        match (stopped.len(), on.len()) {
            (0, _) => Ok(Next::On(on)),
            (1, 0) => {
                let walk = stopped.into_iter().next().unwrap_or_else(|| walk.clone());
                let place = Place { stack: walk.stack.clone(), spot: walk.at, phase: Phase::Before };
                Ok(Next::Stops(vec![walk], place))
            }
            _ => {
                self.not_covered(spot, "several functions that begin with a loop, called through one pointer")
            }
        }
    }

    fn terminator(
        &mut self,
        mut walk: Walk,
        open: &mut Vec<Walk>,
        found: &mut Vec<Path>,
    ) -> Result<(), NotCovered> {
        let ground = self.ground;
        let program = ground.program();
        let spot = walk.at;
        match &program.functions[spot.function].blocks[spot.block].terminator {
            Terminator::Br(to) => self.goes(walk, *to, open, found),
            Terminator::CondBr { cond, then, other } => {
                let cond = self.operand(&walk, *cond, Ty::Int(1));
                let cond = cond.map_or_else(|| Term::truth(true), |cond| cond.is_nonzero());
                let mut no = walk.clone();
                no.values.guard.push(cond.negated());
                walk.values.guard.push(cond);
                self.goes(walk, *then, open, found);
                self.goes(no, *other, open, found);
            }
            Terminator::Switch { value, ty, cases, default } => {
                let Some(value) = self.operand(&walk, *value, *ty) else {
                    return self.not_covered(spot, "a switch that is not understood");
                };
                let mut by_target: BTreeMap<BlockId, Vec<Term>> = BTreeMap::new();
                let mut all = Vec::new();
                for (case, to) in cases {
                    let is = value.equals(&Term::bits(*case, value.width()));
                    all.push(is.clone());
                    by_target.entry(*to).or_default().push(is);
                }
                by_target.entry(*default).or_default().push(Term::or(all).negated());
                for (to, conditions) in by_target {
                    let mut walk = walk.clone();
                    walk.values.guard.push(Term::or(conditions));
                    self.goes(walk, to, open, found);
                }
            }
            Terminator::Ret { values } => match walk.stack.pop() {
                None => found.push(path(walk, None)),
                Some(caller) => {
                    let Inst::Call { dsts, .. } =
                        &program.functions[caller.function].blocks[caller.block].insts[caller.index]
                    else {
                        return self.not_covered(caller, "a return to what is no call");
                    };
                    let types = &program.functions[spot.function].returns;
                    let returned: Vec<Option<Term>> = values
                        .iter()
                        .zip(types)
                        .map(|(value, ty)| self.operand(&walk, *value, *ty))
                        .collect();
                    walk.at = caller;
                    for (index, dst) in dsts.iter().enumerate() {
                        let value = returned.get(index).cloned().flatten();
                        self.assign(&mut walk, *dst, value);
                    }
                    open.push(advanced(walk));
                }
            },
            Terminator::Unreachable => {}
            Terminator::IndirectBr { .. } => return self.not_covered(spot, "a computed goto"),
            Terminator::Unsupported { .. } => {
                return self.not_covered(spot, "a construct that is not understood");
            }
        }
        Ok(())
    }

    /// Over an edge, with the phis of the block that it leads to.
    fn goes(&mut self, mut walk: Walk, to: BlockId, open: &mut Vec<Walk>, found: &mut Vec<Path>) {
        let ground = self.ground;
        let Spot { function, block: from, .. } = walk.at;
        if !ground.is_reachable(function, to) || walk.values.guard.iter().any(Term::is_false) {
            return;
        }
        let body = &ground.program().functions[function].blocks[to];
        let values: Vec<(Reg, Option<Term>)> = body
            .phis
            .iter()
            .map(|phi| {
                let ty = ground.program().functions[function].regs[phi.dst].ty;
                let incoming = phi.incoming.iter().find(|(block, _)| *block == from);
                (phi.dst, incoming.and_then(|(_, operand)| self.operand(&walk, *operand, ty)))
            })
            .collect();
        for (reg, value) in values {
            self.assign(&mut walk, reg, value);
        }
        walk.at = Spot { function, block: to, index: 0 };
        if self.stops.contains(&(function, to)) {
            let place = Place { stack: walk.stack.clone(), spot: walk.at, phase: Phase::Before };
            found.push(path(walk, Some(place)));
        } else {
            open.push(walk);
        }
    }
}

pub(super) fn is_visible(ground: &dyn Ground, spot: Spot) -> bool {
    let shared = &ground.facts().threads.shared;
    if ground.touches(spot).iter().any(|touch| touch.targets.iter().any(|(object, _)| shared[*object])) {
        return true;
    }
    let inst = ground.program().functions[spot.function].blocks[spot.block].insts.get(spot.index);
    matches!(inst, Some(Inst::Call { .. }))
        && ground.call(spot).is_some_and(|called| !called.effects.is_empty() || called.not_followed.is_some())
}

fn advanced(mut walk: Walk) -> Walk {
    walk.at.index += 1;
    walk
}

fn path(walk: Walk, to: Option<Place>) -> Path {
    Path { to, guard: Term::and(walk.values.guard), updates: walk.values.changed.into_iter().collect() }
}

fn seen(walk: &Walk) -> Seen {
    let shared = walk.values.changed.iter().filter(|(var, _)| names::is_shared(&var.name));
    Seen {
        guard: Term::and(walk.values.guard.clone()),
        updates: shared.map(|(var, value)| (var.clone(), value.clone())).collect(),
        creates: walk.creates.clone(),
    }
}

impl Seen {
    fn matters(&self) -> bool {
        !self.updates.is_empty() || !self.creates.is_empty()
    }
}
