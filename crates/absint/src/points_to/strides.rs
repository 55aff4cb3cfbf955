//! Counters that move by more than one: `for (i = id; i < n; i += threads)` has only every so many of the numbers.
//!
//! *Must*. A phi that gets numbers and itself plus a number, and nothing else, is congruent to each of the first modulo the common
//! divisor of all steps and of the distances between the first. An addition that wraps around changes a value by a power of two: either the
//! divisor divides it, or the phi's interval shows that it does not happen.

use super::pattern::gcd;
use raddle_facts::Interval;
use raddle_ir::{BinOp, CastOp, Function, Inst, Operand, Reg, Ty};
use std::collections::HashMap;

/// All values of a register are `first` modulo `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stride {
    pub first: i64,
    pub step: u64,
}

/// Of counters of a function, and of what they are widened to.
pub(super) fn strides(
    function: &Function,
    number: impl Fn(Operand, Ty) -> Option<i64>,
    interval: impl Fn(Reg) -> Interval,
) -> HashMap<Reg, Stride> {
    let mut found = HashMap::new();
    if !function.blocks.values().any(|block| !block.phis.is_empty()) {
        return found;
    }
    let mut sums: HashMap<Reg, (Reg, i64)> = HashMap::new();
    let mut widened: Vec<(Reg, Reg)> = Vec::new();
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        match inst {
            Inst::Bin { dst, op: BinOp::Add, ty: ty @ Ty::Int(_), a, b } => match (a, b) {
                (Operand::Reg(of), by) | (by, Operand::Reg(of)) => {
                    sums.extend(number(*by, *ty).map(|by| (*dst, (*of, by))));
                }
                _ => {}
            },
            Inst::Cast { dst, op: CastOp::SExt, a: Operand::Reg(from), .. } => widened.push((*dst, *from)),
            _ => {}
        }
    }
    for phi in function.blocks.values().flat_map(|block| &block.phis) {
        let Ty::Int(bits @ 1..=64) = function.regs[phi.dst].ty else { continue };
        let (mut first, mut step, mut furthest) = (None, 0, 0);
        let known = phi.incoming.iter().all(|(_, value)| {
            let by = match value {
                Operand::Reg(next) => sums.get(next).filter(|(of, _)| *of == phi.dst).map(|(_, by)| *by),
                _ => None,
            };
            let start = || number(*value, function.regs[phi.dst].ty);
            let (distance, moved) = match (by, first) {
                (Some(by), _) => (by.unsigned_abs(), by.unsigned_abs()),
                (None, Some(first)) => match start() {
                    Some(start) => (i64::abs_diff(start, first), 0),
                    None => return false,
                },
                (None, None) => {
                    first = start();
                    (0, 0)
                }
            };
            step = gcd(step, distance);
            furthest = furthest.max(moved);
            by.is_some() || first.is_some()
        });
        let Some(first) = first.filter(|_| known && step > 1) else { continue };
        let range = interval(phi.dst);
        let end = 1_i128 << (bits - 1);
        let inside = i128::from(range.low) - i128::from(furthest) >= -end
            && i128::from(range.high) + i128::from(furthest) < end;
        if inside || step.is_power_of_two() && u128::from(step) <= 1 << bits {
            found.insert(phi.dst, Stride { first, step });
        }
    }
    for (dst, from) in widened {
        if let Some(stride) = found.get(&from).copied() {
            found.insert(dst, stride);
        }
    }
    found
}
