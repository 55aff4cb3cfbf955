//! Counters that do not come round again: the values of an induction register, as signed numbers, are all different.
//!
//! *Must*. Unsigned arithmetic wraps around in C, so that a counter counts must be shown: by an interval that leaves room for one more
//! step; by a comparison that every further round depends on (`i < n` as unsigned numbers, `i != n` with one `n` for the whole loop), for
//! steps of one; or by its width: fewer than 2^40 threads are created (A-THREAD), which no counter of 64 bits with a short step comes
//! round in. A pointer stays in its object (A-BOUNDS).

use crate::cfg::Cfg;
use crate::induction::Induction;
use crate::terms::Definitions;
use crate::values::Bounds;
use raddle_base::Id;
use raddle_facts::{Interval, MOST_APART, Values};
use raddle_ir::{BlockId, FunctionId, IcmpPred, Operand, Program, Ty};

/// Counters of 64 bits move by no more than this.
const LONGEST_STEP: u64 = 1 << 16;

/// Rounds that create a thread are fewer.
const MOST_ROUNDS: u64 = 1 << 40;

/// How far apart two values of a counter can be at most, where no two are the same.
pub(super) fn widest(
    program: &Program,
    definitions: &Definitions,
    values: &Values,
    cfg: &Cfg,
    function: FunctionId,
    counter: &Induction,
) -> Option<u64> {
    let by_rounds = counter.step.unsigned_abs().checked_mul(MOST_ROUNDS).filter(|most| *most <= MOST_APART);
    let ty = program.functions[function].regs[counter.reg].ty;
    let bits = match ty {
        Ty::Ptr => return by_rounds,
        Ty::Int(bits @ 1..=64) => u32::from(bits),
        Ty::Int(_) | Ty::Float(_) => return None,
    };
    let one = One { program, definitions, values, cfg, function, counter };
    let known = values.intervals[function][counter.reg.index()];
    // As unsigned numbers the values may lie on the other side of the sign bit: only such steps keep their distance there.
    let keeps_distance = known.low >= 0 || bits == 64 || counter.step.unsigned_abs().is_power_of_two();
    let wide = bits == 64 && counter.step.unsigned_abs() <= LONGEST_STEP;
    if !(wide || keeps_distance && (one.is_bounded(bits, ty) || one.is_compared())) {
        return None;
    }
    let span = u64::try_from(i128::from(known.high) - i128::from(known.low)).unwrap_or(u64::MAX);
    Some(span.min(by_rounds.unwrap_or(u64::MAX))).filter(|most| *most <= MOST_APART)
}

struct One<'a> {
    program: &'a Program,
    definitions: &'a Definitions,
    values: &'a Values,
    cfg: &'a Cfg,
    function: FunctionId,
    counter: &'a Induction,
}

impl One<'_> {
    fn latches(&self) -> &[BlockId] {
        self.cfg.loops.iter().find(|one| one.header == self.counter.header).map_or(&[], |one| &one.latches)
    }

    /// Whether every further step stays in the range of the type.
    fn is_bounded(&self, bits: u32, ty: Ty) -> bool {
        let bounds = Bounds::new(self.program, self.values);
        let end = 1_i128 << (bits - 1);
        self.latches().iter().all(|latch| {
            let Interval { low, high } = bounds.at(self.function, *latch, Operand::Reg(self.counter.reg), ty);
            let step = i128::from(self.counter.step);
            i128::from(low) + step >= -end && i128::from(high) + step < end
        })
    }

    /// Whether every further step by one is taken under a comparison of the counter that keeps it from coming round.
    fn is_compared(&self) -> bool {
        let bounds = Bounds::new(self.program, self.values);
        let own = Operand::Reg(self.counter.reg);
        let all: Vec<Vec<(Operand, IcmpPred, Operand)>> =
            self.latches().iter().map(|latch| bounds.comparisons(self.function, *latch)).collect();
        let (below, above) = match self.counter.step {
            1 => (IcmpPred::Ult, IcmpPred::Ugt),
            -1 => (IcmpPred::Ugt, IcmpPred::Ult),
            _ => return false,
        };
        let by_order = |list: &Vec<(Operand, IcmpPred, Operand)>| {
            list.iter().any(|(a, pred, b)| *a == own && *pred == below || *b == own && *pred == above)
        };
        let bound = |list: &Vec<(Operand, IcmpPred, Operand)>| {
            list.iter().find_map(|(a, pred, b)| match pred {
                IcmpPred::Ne if *a == own && self.is_fixed(*b) => Some(*b),
                IcmpPred::Ne if *b == own && self.is_fixed(*a) => Some(*a),
                _ => None,
            })
        };
        let stop = all.first().and_then(bound);
        all.iter().all(by_order) || stop.is_some() && all.iter().all(|list| bound(list) == stop)
    }

    /// Whether an operand is the same in all rounds.
    fn is_fixed(&self, operand: Operand) -> bool {
        let natural = self.cfg.loops.iter().find(|one| one.header == self.counter.header);
        match operand {
            Operand::Reg(reg) => {
                natural.is_some_and(|one| !one.blocks.contains(&self.definitions.block(self.function, reg)))
            }
            Operand::Const(_) | Operand::Null => true,
            Operand::Global(..) | Operand::Function(_) | Operand::Block(_) | Operand::Undef => false,
        }
    }
}
