//! The solver: conditional constant propagation (Wegman, Zadeck 1991) over the whole program, with terms in the place of constants and
//! with intervals beside them.
//!
//! Terms start as "not seen" and only ever become less: another term by way of operands that became less, in the end the
//! register itself. Intervals only grow, are widened (to constants that the function compares with, then to the type) where they could grow for
//! ever, and are then computed again from above. The last thing done is always a sweep that changes nothing, so that the result is
//! closed under the rules of [`raddle_facts::values`].
//!
//! It comes to an end, whatever the transfer functions do, since a block is looked at again only after something was counted: a
//! register's term is replaced at most [`MOST_CHANGES`] times, its interval grows so often before it is the whole type, and what is
//! reached, entered or led to only becomes more. A term may become better late (a load names a register that is not yet
//! known to be a constant), so none of this can rest on the transfer functions being monotone.

use super::interval::{includes, join, meet, range, single};
use super::once::OnceRegs;
use super::shape::Shape;
use super::targets::Targets;
use super::terms;
use crate::Roots;
use raddle_base::{Id, IdVec, SiteId};
use raddle_facts::{Interval, PointsTo, Term};
use raddle_ir::{BlockId, FunctionId, Inst, Program, Reg, Terminator};
use raddle_libmodel::Models;
use std::collections::{BTreeMap, BTreeSet};

/// Terms of one register may change this often before it stands for itself.
const MOST_CHANGES: u8 = 8;
/// Growths before an interval is widened: where a loop, recursion or many callers feed it, and anywhere else.
const GROWTHS_AT_JOINS: u8 = 2;
const GROWTHS_ANYWHERE: u8 = 20;
/// Widenings to thresholds before the interval becomes the whole type.
const THRESHOLDS_TRIED: u8 = 12;
const DESCENTS: usize = 2;

pub(crate) struct Input<'a> {
    pub program: &'a Program,
    pub models: &'a Models,
    pub roots: &'a Roots,
    pub points_to: Option<&'a PointsTo>,
    pub loads: &'a BTreeMap<SiteId, Term>,
    pub once: Option<&'a OnceRegs>,
}

pub(crate) struct Solver<'a> {
    pub input: &'a Input<'a>,
    pub program: &'a Program,
    pub targets: Targets<'a>,
    pub functions: IdVec<FunctionId, Option<Box<State>>>,
    queue: BTreeSet<(u32, FunctionId, u32)>,
    pub mode: Mode,
    changed: bool,
    /// Entered with any arguments: roots, and targets of calls that have too many.
    pub from_outside: BTreeSet<FunctionId>,
    /// A call may run any function whose address is taken.
    pub anything_runs: bool,
    /// Descending: intervals that calls pass, per function and parameter.
    pub passed: BTreeMap<FunctionId, Vec<Option<Interval>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Ascend,
    /// Intervals only, from a solution.
    Descend,
}

/// What is known of one function that is reached.
pub(crate) struct State {
    pub shape: Shape,
    pub cells: Vec<Cell>,
    pub reached: Vec<bool>,
    pub leads: Vec<Leads>,
    pub returns: Vec<Cell>,
    pub return_blocks: BTreeSet<BlockId>,
    pub entered: Entered,
    pub callers: BTreeSet<(FunctionId, BlockId)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub known: Known,
    pub interval: Interval,
    changes: u8,
    growths: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Never assigned, as far as was seen.
    Unseen,
    Term(Term),
    /// It stands for itself.
    Own,
}

/// Where a block's terminator may go. This only grows, also where a condition becomes a constant after it was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    Nowhere,
    To(BlockId),
    Anywhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    Never,
    /// By this one call, and inside it.
    Inside(SiteId),
    /// Any other way.
    Variously,
}

/// What an operand or result is known to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub term: Option<Term>,
    pub interval: Interval,
}

/// How a register takes a new value: where an interval can grow without end it is widened soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Widen {
    Soon,
    Late,
}

impl<'a> Solver<'a> {
    pub fn run(input: &'a Input<'a>) -> Solver<'a> {
        let mut solver = Solver {
            input,
            program: input.program,
            targets: Targets::new(input.program, input.models, input.points_to),
            functions: input.program.functions.ids().map(|_| None).collect(),
            queue: BTreeSet::new(),
            mode: Mode::Ascend,
            changed: false,
            from_outside: input.roots.all().collect(),
            anything_runs: false,
            passed: BTreeMap::new(),
        };
        for root in input.roots.all() {
            solver.enter_from_outside(root);
        }
        solver.ascend();
        for _ in 0..DESCENTS {
            solver.descend();
        }
        for state in solver.functions.iter_mut().filter_map(|(_, state)| state.as_mut()) {
            state.cells.iter_mut().chain(&mut state.returns).for_each(|cell| cell.growths = 0);
        }
        solver.settle();
        solver
    }

    pub fn state(&self, function: FunctionId) -> &State {
        self.functions[function].as_deref().expect("a function that is being looked at was entered")
    }

    pub fn state_mut(&mut self, function: FunctionId) -> &mut State {
        self.functions[function].as_deref_mut().expect("a function that is being looked at was entered")
    }

    /// Until nothing is left to look at again and every register of a reached block was seen.
    fn ascend(&mut self) {
        self.drain();
        while self.give_up_on_unseen() {
            self.drain();
        }
    }

    /// Until a sweep over everything changes nothing and every register of a reached block was seen.
    fn settle(&mut self) {
        loop {
            self.drain();
            self.changed = false;
            self.queue_everything();
            self.drain();
            if !self.changed && !self.give_up_on_unseen() {
                return;
            }
        }
    }

    fn drain(&mut self) {
        while let Some((_, function, position)) = self.queue.pop_first() {
            let block = self.state(function).shape.order[position as usize];
            self.block(function, block);
        }
    }

    fn queue_everything(&mut self) {
        let all: Vec<(FunctionId, BlockId)> = self
            .functions
            .iter()
            .filter_map(|(id, state)| state.as_ref().map(|state| (id, state)))
            .flat_map(|(id, state)| state.shape.order.iter().map(move |block| (id, *block)))
            .collect();
        all.into_iter().for_each(|(function, block)| self.queue(function, block));
    }

    /// A block that is not reached is not looked at.
    pub fn queue(&mut self, function: FunctionId, block: BlockId) {
        let state = self.state(function);
        if state.reached[block.index()] {
            let position = state.shape.position[block.index()];
            self.queue.insert((self.targets.rank[function], function, position));
        }
    }

    /// Results of calls that never return, and what was computed from them: taken for anything, since the code behind such a call
    /// counts as reachable. True if there was one.
    fn give_up_on_unseen(&mut self) -> bool {
        let mut unseen: Vec<(FunctionId, Reg)> = Vec::new();
        for (id, state) in self.functions.iter() {
            let Some(state) = state else { continue };
            for block in state.shape.order.iter().filter(|b| state.reached[b.index()]) {
                for inst in &self.program.functions[id].blocks[*block].insts {
                    if let Inst::Call { dsts, .. } = inst {
                        let fresh = |dst: &&Reg| state.cells[dst.index()].known == Known::Unseen;
                        unseen.extend(dsts.iter().filter(fresh).map(|dst| (id, *dst)));
                    }
                }
            }
        }
        for (function, reg) in &unseen {
            self.assign(*function, *reg, self.anything(*function, *reg), Widen::Late);
        }
        !unseen.is_empty()
    }

    pub fn anything(&self, function: FunctionId, reg: Reg) -> Value {
        Value { term: None, interval: range(self.program.functions[function].regs[reg].ty) }
    }

    fn block(&mut self, function: FunctionId, id: BlockId) {
        let block = &self.program.functions[function].blocks[id];
        for phi in &block.phis {
            if let Some(value) = self.phi(function, id, phi) {
                let widen = match self.state(function).shape.heads_loop[id.index()] {
                    true => Widen::Soon,
                    false => Widen::Late,
                };
                self.assign(function, phi.dst, value, widen);
            }
        }
        for (index, inst) in block.insts.iter().enumerate() {
            self.instruction(function, id, block.site_of(index), inst);
        }
        self.terminator(function, id, &block.terminator);
    }

    fn terminator(&mut self, function: FunctionId, id: BlockId, terminator: &Terminator) {
        if let Terminator::Ret { values } = terminator {
            self.state_mut(function).return_blocks.insert(id);
            self.returns(function, values.len());
            return;
        }
        let leads = self.leads(function, terminator);
        let old = self.state(function).leads[id.index()];
        let leads = if old == Leads::Nowhere || old == leads { leads } else { Leads::Anywhere };
        if self.mode == Mode::Descend || leads == old {
            return;
        }
        self.changed = true;
        self.state_mut(function).leads[id.index()] = leads;
        let mut next = Vec::new();
        terminator.each_target(|target| {
            if leads == Leads::Anywhere || leads == Leads::To(target) {
                next.push(target);
            }
        });
        for target in next {
            self.state_mut(function).reached[target.index()] = true;
            self.queue(function, target);
        }
    }

    /// A register is assigned a value on some path.
    pub fn assign(&mut self, function: FunctionId, reg: Reg, value: Value, widen: Widen) {
        let ty = self.program.functions[function].regs[reg].ty;
        let mode = self.mode;
        let own = Term::reg(function, reg);
        let state = self.state_mut(function);
        let cell = &mut state.cells[reg.index()];
        let value = Value { term: value.term.filter(|term| *term != own), ..value };
        if take(cell, value, mode, widen, range(ty), &state.shape.thresholds) {
            let readers = state.shape.readers(reg).len();
            self.changed = true;
            for at in 0..readers {
                let block = self.state(function).shape.readers(reg)[at];
                self.queue(function, block);
            }
        }
    }

    /// A returned value, by position.
    pub fn assign_return(&mut self, function: FunctionId, position: usize, value: Value) {
        let ty = self.program.functions[function].returns.get(position).copied();
        let mode = self.mode;
        let state = self.state_mut(function);
        if state.returns.len() <= position {
            state.returns.resize(position + 1, Cell::UNSEEN);
        }
        let range = ty.map_or(Interval::ANY, range);
        if take(&mut state.returns[position], value, mode, Widen::Soon, range, &state.shape.thresholds) {
            let callers: Vec<_> = state.callers.iter().copied().collect();
            self.changed = true;
            callers.into_iter().for_each(|(caller, block)| self.queue(caller, block));
        }
    }

    fn descend(&mut self) {
        self.mode = Mode::Descend;
        self.passed.clear();
        for function in self.from_outside.clone() {
            self.enter_from_outside(function);
        }
        let functions: Vec<FunctionId> = self.functions.ids().collect();
        for function in functions.into_iter().filter(|f| self.functions[*f].is_some()).collect::<Vec<_>>() {
            let blocks: Vec<BlockId> = self.state(function).shape.order.clone();
            for block in blocks {
                if self.state(function).reached[block.index()] {
                    self.block(function, block);
                }
            }
        }
        for (function, intervals) in std::mem::take(&mut self.passed) {
            for (param, interval) in self.program.functions[function].params.iter().zip(intervals) {
                if let Some(interval) = interval {
                    self.assign(function, param.reg, Value { term: None, interval }, Widen::Late);
                }
            }
        }
        self.mode = Mode::Ascend;
        self.queue.clear();
    }
}

impl Cell {
    pub const UNSEEN: Cell = Cell { known: Known::Unseen, interval: Interval::ANY, changes: 0, growths: 0 };

    /// How often its term was replaced by another.
    pub fn changes(&self) -> u8 {
        self.changes
    }
}

impl State {
    pub fn new(program: &Program, function: FunctionId) -> State {
        let body = &program.functions[function];
        State {
            shape: Shape::of(body),
            cells: vec![Cell::UNSEEN; body.regs.len()],
            reached: vec![false; body.blocks.len()],
            leads: vec![Leads::Nowhere; body.blocks.len()],
            returns: Vec::new(),
            return_blocks: BTreeSet::new(),
            entered: Entered::Never,
            callers: BTreeSet::new(),
        }
    }
}

/// True if the cell changed.
fn take(
    cell: &mut Cell,
    value: Value,
    mode: Mode,
    widen: Widen,
    range: Interval,
    thresholds: &[i64],
) -> bool {
    if mode == Mode::Descend {
        if cell.known != Known::Unseen {
            cell.interval = meet(cell.interval, value.interval).unwrap_or(cell.interval);
        }
        return false;
    }
    let known = match (cell.known, value.term) {
        (Known::Own, _) | (_, None) => Known::Own,
        (Known::Unseen, Some(term)) => Known::Term(term),
        (Known::Term(old), Some(term)) if old == term => cell.known,
        (Known::Term(_), Some(term)) => {
            cell.changes += 1;
            if cell.changes > MOST_CHANGES { Known::Own } else { Known::Term(term) }
        }
    };
    let interval = match cell.known {
        Known::Unseen => value.interval,
        Known::Term(_) | Known::Own if includes(cell.interval, value.interval) => cell.interval,
        Known::Term(_) | Known::Own => {
            cell.growths = cell.growths.saturating_add(1);
            grown(cell, value.interval, widen, range, thresholds)
        }
    };
    let interval = match known {
        Known::Term(term) => term.as_constant().map_or(interval, |value| join(interval, single(value))),
        Known::Unseen | Known::Own => interval,
    };
    let changed = known != cell.known || interval != cell.interval;
    (cell.known, cell.interval) = (known, interval);
    changed
}

fn grown(cell: &Cell, new: Interval, widen: Widen, range: Interval, thresholds: &[i64]) -> Interval {
    let old = cell.interval;
    let all = join(old, new);
    let patience = match widen {
        Widen::Soon => GROWTHS_AT_JOINS,
        Widen::Late => GROWTHS_ANYWHERE,
    };
    if cell.growths <= patience {
        return all;
    }
    let tries = cell.growths - patience <= THRESHOLDS_TRIED;
    let below = |value: i64| {
        let at = thresholds.partition_point(|t| *t <= value);
        at.checked_sub(1).filter(|_| tries).map_or(range.low, |at| thresholds[at].max(range.low))
    };
    let above = |value: i64| {
        let at = thresholds.partition_point(|t| *t < value);
        thresholds.get(at).filter(|_| tries).map_or(range.high, |t| (*t).min(range.high))
    };
    Interval {
        low: if all.low < old.low { below(all.low) } else { old.low },
        high: if all.high > old.high { above(all.high) } else { old.high },
    }
}

/// The same as an operand would see it.
pub(crate) fn cell_value(function: FunctionId, reg: Reg, cell: &Cell) -> Option<Value> {
    let term = match cell.known {
        Known::Unseen => return None,
        Known::Term(term) => term,
        Known::Own => Term::reg(function, reg),
    };
    Some(Value { term: Some(term), interval: cell.interval })
}

/// A constant as a value.
pub(crate) fn constant_value(value: i64) -> Value {
    Value { term: Some(Term::constant(value)), interval: single(value) }
}

impl Value {
    /// An address or another term without bounds.
    pub fn of_term(term: Term) -> Value {
        let interval = term.as_constant().map_or(Interval::ANY, single);
        Value { term: Some(term), interval }
    }

    pub fn constant(self) -> Option<i64> {
        self.term.and_then(Term::as_constant)
    }
}

/// Whether a term means the same in every thread and activation.
pub(crate) fn is_global(term: Term, once: Option<&OnceRegs>) -> bool {
    term.registers().all(|(function, reg)| once.is_some_and(|once| once.contains(function, reg)))
}

/// The terms that a term of another round has now.
pub(crate) fn resolved(solver: &Solver, term: Term) -> Term {
    let now = |function: FunctionId, reg: Reg| -> Option<Term> {
        match solver.functions[function].as_ref()?.cells[reg.index()].known {
            Known::Term(term) => Some(term),
            Known::Unseen | Known::Own => Some(Term::reg(function, reg)),
        }
    };
    terms::substitute(term, now).unwrap_or(term)
}
