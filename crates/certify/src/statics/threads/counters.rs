//! Counters: phis that grow by a constant on every edge back to their block, and never have a value twice.
//!
//! Unsigned arithmetic wraps around, so one of these must hold, on every edge back: the interval there leaves room for the step; the
//! step is one and the counter is below (for steps down: above) another unsigned number there; the step is one and the counter is there
//! different from a number that is the same in all rounds; the counter has 64 bits and a short step, for fewer than 2^40 threads
//! are created (A-THREAD); it is a pointer, which stays in its object (A-BOUNDS).

use super::super::code::Code;
use super::super::flow::{Definition, Flow};
use super::super::intervals::{int_bits, mirrored, negated, single, without_wrapping};
use super::super::linear::Linear;
use super::super::terms::number;
use super::super::value::Where;
use super::distinct::walk;
use raddle_base::Id;
use raddle_facts::{MOST_APART, Term};
use raddle_ir::{BinOp, BlockId, FunctionId, IcmpPred, Inst, Operand, Phi, Reg, Terminator, Ty};

/// Counters of 64 bits move by no more than this.
const LONGEST_STEP: u64 = 1 << 16;

/// Rounds that create a thread are fewer.
const MOST_ROUNDS: u64 = 1 << 40;

/// Any two values, as signed numbers, differ by at least and at most so much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Apart {
    pub least: u64,
    pub most: u64,
}

/// How far apart the values are that a phi has one after the other.
pub(super) fn apart(code: &Code<'_>, function: FunctionId, header: BlockId, phi: &Phi) -> Option<Apart> {
    let counter = Counter { code, function, header, phi };
    let back = counter.edges_back();
    let step = counter.step(&back)?;
    let least = step.unsigned_abs();
    let by_rounds = least.checked_mul(MOST_ROUNDS).filter(|most| *most <= MOST_APART);
    let ty = code.program.functions[function].regs[phi.dst].ty;
    if ty == Ty::Ptr {
        return by_rounds.map(|most| Apart { least, most });
    }
    let bits = int_bits(ty)?;
    let known = code.facts.values.intervals[function][phi.dst.index()];
    let span = u64::try_from(i128::from(known.high) - i128::from(known.low)).unwrap_or(u64::MAX);
    let most = span.min(by_rounds.unwrap_or(u64::MAX));
    let counts = bits == 64 && least <= LONGEST_STEP
        // A step across the sign bit changes the distance by the size of the type: no harm only to multiples of a power of two.
        || (known.low >= 0 || bits == 64 || least.is_power_of_two())
            && (back.iter().all(|from| counter.has_room(*from, bits, ty, step))
                || least == 1 && (counter.stays_on_one_side(&back, step) || counter.stops_at_a_number(&back)));
    (counts && most <= MOST_APART).then_some(Apart { least, most })
}

struct Counter<'c, 'a> {
    code: &'c Code<'a>,
    function: FunctionId,
    header: BlockId,
    phi: &'c Phi,
}

impl Counter<'_, '_> {
    fn flow(&self) -> &Flow {
        &self.code.flows[self.function]
    }

    fn edges_back(&self) -> Vec<BlockId> {
        let flow = self.flow();
        let inside: Vec<BlockId> = walk(flow, self.header, None).collect();
        flow.predecessors[self.header.index()].iter().copied().filter(|from| inside.contains(from)).collect()
    }

    /// What every edge back adds.
    fn step(&self, back: &[BlockId]) -> Option<i64> {
        let ty = self.code.program.functions[self.function].regs[self.phi.dst].ty;
        let own = Linear::of(Term::reg(self.function, self.phi.dst));
        let mut step = None;
        for from in back {
            let (_, operand) = self.phi.incoming.iter().find(|(incoming, _)| incoming == from)?;
            let by_form = self
                .code
                .value(self.function, *operand, ty, Where::Edge(*from, self.header))
                .form
                .and_then(|form| form.minus(&own).as_constant());
            let moved = by_form.or_else(|| self.added(*operand))?;
            if step.is_some_and(|step| step != moved) {
                return None;
            }
            step = Some(moved);
        }
        step.filter(|step| *step != 0)
    }

    /// What is added to the counter to get an operand, as one instruction.
    fn added(&self, operand: Operand) -> Option<i64> {
        let Operand::Reg(next) = operand else { return None };
        let own = Operand::Reg(self.phi.dst);
        match self.definition(next)? {
            Inst::Bin { op: BinOp::Add, ty, a, b, .. } if *a == own => number(*b, *ty),
            Inst::Bin { op: BinOp::Add, ty, a, b, .. } if *b == own => number(*a, *ty),
            Inst::Bin { op: BinOp::Sub, ty, a, b, .. } if *a == own => number(*b, *ty).map(i64::wrapping_neg),
            _ => None,
        }
    }

    fn definition(&self, reg: Reg) -> Option<&Inst> {
        match self.flow().definition(reg) {
            Definition::Inst(block, index) => {
                self.code.program.functions[self.function].blocks[block].insts.get(index)
            }
            _ => None,
        }
    }

    fn has_room(&self, from: BlockId, bits: u32, ty: Ty, step: i64) -> bool {
        let place = Where::Edge(from, self.header);
        let now = self.code.value(self.function, Operand::Reg(self.phi.dst), ty, place);
        without_wrapping(BinOp::Add, bits, now.interval, single(step)).is_some()
    }

    /// What the counter is compared with wherever an edge back is taken, with the counter on the left.
    fn comparisons(&self, from: BlockId) -> Vec<(IcmpPred, Operand)> {
        let own = Operand::Reg(self.phi.dst);
        let body = &self.code.program.functions[self.function];
        let above = self.flow().edges_above(from);
        above
            .filter_map(|(branch, to)| {
                let Terminator::CondBr { cond: Operand::Reg(cond), then, other } =
                    &body.blocks[branch].terminator
                else {
                    return None;
                };
                let Some(Inst::Icmp { pred, a, b, .. }) = self.definition(*cond).filter(|_| then != other)
                else {
                    return None;
                };
                let holds = if to == *then { *pred } else { negated(*pred) };
                match (*a == own, *b == own) {
                    (true, false) => Some((holds, *b)),
                    (false, true) => Some((mirrored(holds), *a)),
                    _ => None,
                }
            })
            .collect()
    }

    /// Below some number, one more does not wrap around; above some number, one less does not.
    fn stays_on_one_side(&self, back: &[BlockId], step: i64) -> bool {
        let side = if step > 0 { IcmpPred::Ult } else { IcmpPred::Ugt };
        back.iter().all(|from| self.comparisons(*from).iter().any(|(pred, _)| *pred == side))
    }

    /// By steps of one, the counter cannot come round without being that number, where it stops.
    fn stops_at_a_number(&self, back: &[BlockId]) -> bool {
        let stops = |from: &BlockId| {
            let all = self.comparisons(*from).into_iter();
            all.filter(|(pred, other)| *pred == IcmpPred::Ne && self.is_fixed(*other))
                .map(|(_, other)| other)
                .collect::<Vec<Operand>>()
        };
        let Some(first) = back.first() else { return false };
        stops(first).iter().any(|number| back.iter().all(|from| stops(from).contains(number)))
    }

    /// Whether an operand is the same in all rounds: assigned before the first, and not in one.
    fn is_fixed(&self, operand: Operand) -> bool {
        let Operand::Reg(reg) = operand else { return matches!(operand, Operand::Const(_) | Operand::Null) };
        let flow = self.flow();
        let assigned = match flow.definition(reg) {
            Definition::Parameter(_) => return true,
            Definition::Phi(block) | Definition::Inst(block, _) => block,
            Definition::None => return false,
        };
        assigned != self.header
            && flow.dominates(assigned, self.header)
            && !walk(flow, self.header, None).any(|reached| reached == assigned)
    }
}
