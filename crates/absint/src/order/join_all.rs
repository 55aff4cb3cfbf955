//! Loops that join every thread that another loop created, for any number of threads.
//!
//! The shape: a loop that runs once creates a thread in every round and puts its handle into `base + i * scale`; when it is left at
//! its head, all were created. A loop over the same numbers (same start, step, comparison and bound), which also runs once, joins the
//! handle in `base + j * scale` in every round; when it is left at its head, and the same thread has left the first loop before, all are
//! joined. Nothing else may write those cells. The two loops may stand in different functions. A loop that counts down by ones to a bound
//! handles the cells of one that counts up, in another order.

use super::Input;
use super::gates::Gates;
use crate::accesses::Kind;
use crate::calls::{Call, Way};
use crate::cfg::Cfg;
use crate::induction::{Induction, induction};
use crate::terms::term_of;
use raddle_facts::{Index, Root, Start, Term, Times};
use raddle_ir::{BinOp, BlockId, CastOp, FunctionId, IcmpPred, Inst, Operand, Reg, Terminator, Ty};
use raddle_libmodel::{Effect, How, ThreadOp};

/// Cells of neighbouring handles are no further apart.
const FURTHEST: u64 = 1 << 22;

pub(super) fn find(input: Input<'_>, gates: &mut Gates) {
    let creating: Vec<_> = input
        .threads
        .threads
        .iter()
        .filter(|(id, thread)| thread.many && !gates.detached.contains(id))
        .filter_map(|(id, thread)| match thread.start {
            Start::Created(site) if crate::threads::starting_calls(input.calls, thread).len() == 1 => {
                Some((id, site))
            }
            _ => None,
        })
        .collect();
    if creating.is_empty() {
        return;
    }
    let joins = join_loops(input);
    for (id, site) in creating {
        let function = input.program.sites[site].function;
        let Some(create) = input.calls.at(function, site) else { continue };
        let only = create.effects.len() == 1
            && create.runs.iter().filter(|(_, way)| *way == Way::Thread).count() == 1;
        let Some(shape) = Shape::new(input, function).filter(|_| only) else { continue };
        let (_, args) = create.parts(input.program, function);
        let handle = match create.effects.as_slice() {
            [Effect::Thread(ThreadOp::Create { id, .. }, _)] => args.get(usize::from(id.0)),
            _ => None,
        };
        let Some(cell) = handle.map(|arg| term_of(input.values, function, arg.value)) else { continue };
        let Some(first) = shape.round(create.block, cell) else { continue };
        let Some(started) = gates.started(id).filter(|_| written_only_by(input, cell, create)) else {
            continue;
        };
        let edge = (function, first.induction.header, first.leave);
        gates.on_edge.entry(edge).or_default().push(started);
        for (joining, second) in &joins {
            if first.cells == second.cells {
                let edge = (*joining, second.induction.header, second.leave);
                gates.joined_on_edge.entry(edge).or_default().push((id, function));
            }
        }
    }
}

/// Loops that join a handle from memory in every round.
fn join_loops(input: Input<'_>) -> Vec<(FunctionId, Round)> {
    let mut found = Vec::new();
    for (function, list) in input.calls.from.iter() {
        for join in list {
            let (_, args) = join.parts(input.program, function);
            let handle = match join.effects.as_slice() {
                [Effect::Thread(ThreadOp::Join { thread, how: How::Block, .. }, _)]
                    if join.runs.is_empty() =>
                {
                    args.get(usize::from(thread.0))
                }
                _ => None,
            };
            let Some(arg) = handle else { continue };
            let Some(shape) = Shape::new(input, function) else { continue };
            let round =
                shape.loaded_from(join.block, arg.value).and_then(|cell| shape.round(join.block, cell));
            found.extend(round.map(|round| (function, round)));
        }
    }
    found
}

/// A loop whose every round handles one cell.
struct Round {
    induction: Induction,
    cells: Cells,
    /// Where the header goes when it is done.
    leave: BlockId,
}

/// Which cells a loop handles, one after the other.
#[derive(PartialEq)]
struct Cells {
    /// The cell without its index.
    base: Term,
    scale: i64,
    start: Term,
    step: i64,
    /// Comparison and bound under which the loop goes on.
    test: (IcmpPred, Term, bool),
    /// The counter's type and how it is widened for the comparison and for the cell; `None` where none of it matters.
    widths: Option<(Ty, Widening, Widening)>,
    /// How the index of the bound is widened.
    bound_index: Widening,
}

type Widening = Vec<(CastOp, Ty)>;

/// A function that runs once in the whole run.
struct Shape<'a> {
    input: Input<'a>,
    function: FunctionId,
    cfg: Cfg,
}

impl<'a> Shape<'a> {
    fn new(input: Input<'a>, function: FunctionId) -> Option<Shape<'a>> {
        if input.threads.times[function].first() != Some(&Times::Once) {
            return None;
        }
        let cfg =
            Cfg::new(&input.program.functions[function], |_, to| input.values.is_reachable(function, to));
        cfg.is_reducible().then_some(Shape { input, function, cfg })
    }

    /// The loop around a block that is executed once in every round and touches `cell`.
    fn round(&self, block: BlockId, cell: Term) -> Option<Round> {
        let input = self.input;
        let body = &input.program.functions[self.function];
        let natural = &self.cfg.loops[self.cfg.innermost_loop(block)?];
        let (base, (reg, indexed), scale) = match (cell.index, cell.root) {
            (Some(index), _) if index.function == self.function => {
                (Term { index: None, ..cell }, self.unextended(index.reg), index.scale)
            }
            (None, Root::Reg(owner, reg)) if owner == self.function => {
                (Term::constant(cell.offset), (reg, Vec::new()), 1)
            }
            _ => return None,
        };
        let (reg, one_less) = match self.one_more(reg) {
            Some(more) => (more, true),
            None => (reg, false),
        };
        let induction = induction(self.function, body, &self.cfg, input.definitions, input.values, reg)?;
        let every_round = natural.latches.iter().all(|latch| self.cfg.dominates(block, *latch));
        if induction.header != natural.header || natural.outer.is_some() || !every_round {
            return None;
        }
        let Terminator::CondBr { cond, then, other } = &body.blocks[natural.header].terminator else {
            return None;
        };
        let (stay, leave) = match (natural.blocks.contains(then), natural.blocks.contains(other)) {
            (true, false) => (true, *other),
            (false, true) => (false, *then),
            _ => return None,
        };
        let Operand::Reg(condition) = cond else { return None };
        let (pred, limit, compared) =
            body.blocks[natural.header].insts.iter().find_map(|inst| match inst {
                Inst::Icmp { dst, pred, a: Operand::Reg(a), b, .. } if dst == condition => {
                    let (counter, compared) = self.unextended(*a);
                    (counter == reg).then_some((*pred, *b, compared))
                }
                _ => None,
            })?;
        // A counter that goes up to a bound by ones does not wrap: no width matters.
        let signed = |widening: &Widening| widening.iter().all(|(op, _)| *op == CastOp::SExt);
        let counts =
            pred == IcmpPred::Slt && stay && induction.step == 1 && signed(&compared) && signed(&indexed);
        let bound = match limit {
            Operand::Reg(limit) if counts => {
                let (narrow, widening) = self.unextended(limit);
                Operand::Reg(if signed(&widening) { narrow } else { limit })
            }
            _ => limit,
        };
        let (bound, bound_index) = self.with_narrow_index(term_of(input.values, self.function, bound));
        let down = stay && induction.step == -1 && signed(&compared) && signed(&indexed);
        // The numbers that a loop by ones handles: the first and the one behind the last.
        let range = match (pred, one_less) {
            (IcmpPred::Sgt, true) if down => Some((bound, induction.start)),
            (IcmpPred::Sgt, false) if down => Some((bound.plus(1), induction.start.plus(1))),
            (IcmpPred::Sge, false) if down && bound.as_constant() == Some(0) => {
                Some((bound, induction.start.plus(1)))
            }
            (_, false) => counts.then_some((induction.start, bound)),
            (_, true) => return None,
        };
        let word = u64::from(input.program.data_model.pointer_bytes());
        let step = induction.step.unsigned_abs();
        // So near to each other that no two addresses are the same again modulo 2^64, in fewer than 2^40 rounds (A-THREAD).
        let near = scale.unsigned_abs() <= FURTHEST && step.saturating_mul(scale.unsigned_abs()) <= FURTHEST;
        let apart = near && (scale.unsigned_abs() >= word || step >= word && step.is_power_of_two());
        // All mean the same in the other loop: they have one value in the whole run.
        let fixed = [base, bound, induction.start]
            .iter()
            .all(|term| input.definitions.is_global(input.threads, *term));
        let cells = Cells {
            base,
            scale,
            start: range.map_or(induction.start, |(first, _)| first),
            step: if range.is_some() { 1 } else { induction.step },
            test: range.map_or((pred, bound, stay), |(_, behind)| (IcmpPred::Slt, behind, true)),
            widths: range.is_none().then_some((body.regs[reg].ty, compared, indexed)),
            bound_index,
        };
        (fixed && apart).then_some(Round { induction, cells, leave })
    }

    /// The term with the register that its index is widened from, and how.
    fn with_narrow_index(&self, term: Term) -> (Term, Widening) {
        match term.index {
            Some(index) if index.function == self.function => {
                let (reg, widening) = self.unextended(index.reg);
                (Term { index: Some(Index { reg, ..index }), ..term }, widening)
            }
            _ => (term, Vec::new()),
        }
    }

    /// The register that is one more than this.
    fn one_more(&self, reg: Reg) -> Option<Reg> {
        let block = self.input.definitions.block(self.function, reg);
        self.input.program.functions[self.function].blocks[block].insts.iter().find_map(|inst| match inst {
            Inst::Bin { dst, op, ty: Ty::Int(bits), a: Operand::Reg(a), b: Operand::Const(number) }
                if *dst == reg =>
            {
                let minus_one = u128::MAX >> 128u32.saturating_sub(u32::from(*bits));
                let less = match op {
                    BinOp::Add => *number == minus_one,
                    BinOp::Sub => *number == 1,
                    _ => false,
                };
                less.then_some(*a)
            }
            _ => None,
        })
    }

    /// The register that one is widened from, and how.
    fn unextended(&self, mut reg: Reg) -> (Reg, Widening) {
        let body = &self.input.program.functions[self.function];
        let mut widening = Vec::new();
        loop {
            let block = &body.blocks[self.input.definitions.block(self.function, reg)];
            let source = block.insts.iter().find_map(|inst| match inst {
                Inst::Cast {
                    dst, op: op @ (CastOp::SExt | CastOp::ZExt), to, a: Operand::Reg(from), ..
                } if *dst == reg => Some((*from, (*op, *to))),
                _ => None,
            });
            let Some((from, step)) = source else { return (reg, widening) };
            widening.push(step);
            reg = from;
        }
    }

    /// The cell that a register was loaded from in the same round.
    fn loaded_from(&self, block: BlockId, handle: Operand) -> Option<Term> {
        let Operand::Reg(reg) = handle else { return None };
        let at = self.input.definitions.block(self.function, reg);
        if self.cfg.innermost_loop(at) != self.cfg.innermost_loop(block) {
            return None;
        }
        let body = &self.input.program.functions[self.function];
        body.blocks[at].insts.iter().find_map(|inst| match inst {
            Inst::Load { dst, ptr, .. } if *dst == reg => {
                Some(term_of(self.input.values, self.function, *ptr))
            }
            _ => None,
        })
    }
}

/// Whether the creation is the only access that may write the handles. Memory that was freed is not read again (A-BOUNDS).
fn written_only_by(input: Input<'_>, cell: Term, create: &Call) -> bool {
    let places = super::handles::places(input, cell);
    !places.is_empty()
        && input.accesses.iter().filter(|access| access.kind == Kind::Write).all(|access| {
            access.site == create.site
                || !access.targets(input.points_to).iter().any(|(object, at)| {
                    places
                        .iter()
                        .any(|(other, offsets)| other == object && at.may_overlap(access.bytes, *offsets, 8))
                })
        })
}
