//! How a value changes from one iteration of a loop to the next, where that is the same every time.
//!
//! A small scalar evolution: header phis with a fixed increment, and sums, products and extensions of them. Exact or nothing: a value
//! of fewer bits than an address may be extended only if it cannot wrap, which C's signed arithmetic promises (`nsw`), LLVM has proved
//! (`nuw`), or a test against an upper bound before each increment proves.

use std::collections::HashMap;

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode};

use crate::address::{Summand, summands};
use crate::body::Body;
use crate::graph::{Graph, Loop};
use crate::llvm::{Builder, Module, Value};

/// The difference between two iterations, of the value's own width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Fixed(i64),
    /// A value that does not change in the loop, so many times.
    Times(Value, i64),
}

#[derive(Clone, Copy)]
struct Change {
    step: Step,
    /// Whether the value cannot wrap as a signed number.
    no_wrap: bool,
    /// The same as an unsigned number.
    no_unsigned_wrap: bool,
}

const STEADY: Change = Change { step: Step::Fixed(0), no_wrap: true, no_unsigned_wrap: true };

pub(crate) struct Induction<'a> {
    pub(crate) module: &'a Module,
    pub(crate) body: &'a Body,
    pub(crate) graph: &'a Graph,
    pub(crate) area: &'a Loop,
    pub(crate) preheader: usize,
    pub(crate) latch: usize,
}

const DEEPEST: u32 = 32;

impl Induction<'_> {
    /// The step of an address or number.
    pub(crate) fn step(&self, value: Value) -> Option<Step> {
        Some(self.change(value, 0)?.step)
    }

    pub(crate) fn is_invariant(&self, value: Value) -> bool {
        self.body.block_of(value).is_none_or(|block| !self.area.contains(block))
    }

    fn change(&self, value: Value, depth: u32) -> Option<Change> {
        if self.is_invariant(value) {
            return Some(STEADY);
        }
        if depth > DEEPEST {
            return None;
        }
        let operand = |index: u32| value.operand(index);
        let of = |index: u32| self.change(value.operand(index)?, depth + 1);
        match value.opcode()? {
            LLVMOpcode::LLVMPHI => self.phi(value, depth),
            LLVMOpcode::LLVMBitCast => of(0),
            LLVMOpcode::LLVMAdd => {
                let (a, b) = (of(0)?, of(1)?);
                Some(kept(value, plus(a.step, b.step)?, a, b))
            }
            LLVMOpcode::LLVMSub => {
                let (a, b) = (of(0)?, of(1)?);
                Some(kept(value, plus(a.step, times(b.step, -1)?)?, a, b))
            }
            LLVMOpcode::LLVMMul => {
                let (a, b) = (of(0)?, of(1)?);
                let step = match (operand(0)?.int_signed(), operand(1)?.int_signed()) {
                    (_, Some(factor)) => times(a.step, factor)?,
                    (Some(factor), _) => times(b.step, factor)?,
                    (None, None) => match (a.step, b.step) {
                        (Step::Fixed(0), Step::Fixed(0)) => Step::Fixed(0),
                        (Step::Fixed(step), _) if self.is_invariant(operand(1)?) => {
                            Step::Times(operand(1)?, step)
                        }
                        (_, Step::Fixed(step)) if self.is_invariant(operand(0)?) => {
                            Step::Times(operand(0)?, step)
                        }
                        _ => return None,
                    },
                };
                Some(kept(value, step, a, b))
            }
            LLVMOpcode::LLVMShl => {
                let a = of(0)?;
                let by = operand(1)?.int_signed().filter(|by| (0..32).contains(by))?;
                Some(kept(value, times(a.step, 1 << by)?, a, a))
            }
            LLVMOpcode::LLVMSExt => of(0).filter(|change| change.no_wrap),
            LLVMOpcode::LLVMZExt => {
                let inner = operand(0)?;
                let change = of(0)?;
                let upward = matches!(change.step, Step::Fixed(0..));
                let same = (value.is_of_non_negative() && change.no_wrap)
                    || (upward && change.no_unsigned_wrap)
                    || self.is_bounded_above(inner, change.step);
                same.then_some(Change { no_wrap: true, no_unsigned_wrap: upward, ..change })
            }
            LLVMOpcode::LLVMGetElementPtr => {
                let mut step = of(0)?.step;
                for summand in summands(self.module, value)? {
                    if let Summand::Index(index, scale) = summand {
                        let change = self.change(index, depth + 1)?;
                        if index.ty().int_width()? < 64 && !change.no_wrap {
                            return None;
                        }
                        step = plus(step, times(change.step, scale)?)?;
                    }
                }
                Some(Change { step, no_wrap: false, no_unsigned_wrap: false })
            }
            _ => None,
        }
    }

    fn phi(&self, phi: Value, depth: u32) -> Option<Change> {
        let incoming = phi.incoming();
        if let [(_, only)] = incoming[..] {
            return self.change(only, depth + 1);
        }
        if self.body.block_of(phi) != Some(self.area.header) {
            return None;
        }
        let latch = self.body.blocks[self.latch];
        let next = incoming.iter().find(|(block, _)| *block == latch).map(|(_, value)| *value)?;
        self.increment(next, phi, 0)
    }

    /// What was added to a phi to get the value of the next iteration.
    fn increment(&self, value: Value, phi: Value, depth: u32) -> Option<Change> {
        if value == phi {
            return Some(STEADY);
        }
        if depth > DEEPEST {
            return None;
        }
        let invariant = |value: Value| -> Option<Step> {
            if !self.is_invariant(value) {
                return None;
            }
            Some(value.int_signed().map_or(Step::Times(value, 1), Step::Fixed))
        };
        let from = |value: Value| self.increment(value, phi, depth + 1);
        match value.opcode()? {
            LLVMOpcode::LLVMAdd => {
                let (a, b) = (value.operand(0)?, value.operand(1)?);
                let (inner, more) = match invariant(b) {
                    Some(more) => (from(a)?, more),
                    None => (from(b)?, invariant(a)?),
                };
                Some(kept(value, plus(inner.step, more)?, inner, inner))
            }
            LLVMOpcode::LLVMSub => {
                let inner = from(value.operand(0)?)?;
                let less = times(invariant(value.operand(1)?)?, -1)?;
                Some(kept(value, plus(inner.step, less)?, inner, inner))
            }
            LLVMOpcode::LLVMGetElementPtr => {
                let mut step = from(value.operand(0)?)?.step;
                for summand in summands(self.module, value)? {
                    step = match summand {
                        Summand::Bytes(bytes) => plus(step, Step::Fixed(bytes))?,
                        Summand::Index(index, scale) => plus(step, times(invariant(index)?, scale)?)?,
                    };
                }
                Some(Change { step, no_wrap: false, no_unsigned_wrap: false })
            }
            LLVMOpcode::LLVMPHI => match value.incoming()[..] {
                [(_, only)] => from(only),
                _ => None,
            },
            LLVMOpcode::LLVMBitCast => from(value.operand(0)?),
            _ => None,
        }
    }

    /// Whether an unsigned counter that goes up by one is below some bound whenever it goes up.
    fn is_bounded_above(&self, counter: Value, step: Step) -> bool {
        if step != Step::Fixed(1) || !counter.is(LLVMOpcode::LLVMPHI) {
            return false;
        }
        counter.users().into_iter().any(|test| {
            let below = match (test.predicate(), test.operand(0) == Some(counter)) {
                (Some(LLVMIntPredicate::LLVMIntULT), true) => Some(true),
                (Some(LLVMIntPredicate::LLVMIntUGT), false) => Some(true),
                (Some(LLVMIntPredicate::LLVMIntUGE), true) => Some(false),
                (Some(LLVMIntPredicate::LLVMIntULE), false) => Some(false),
                _ => None,
            };
            below.is_some_and(|below| self.goes_on_only_if(test, below))
        })
    }

    /// Whether every complete iteration leaves a branch on `test` on one side, and the other side leaves the loop.
    fn goes_on_only_if(&self, test: Value, side: bool) -> bool {
        test.users().into_iter().any(|branch| {
            let Some(block) = self.body.block_of(branch) else { return false };
            let targets = branch.successors();
            let [then, other] = targets[..] else { return false };
            let leaving = if side { other } else { then };
            branch.is(LLVMOpcode::LLVMBr)
                && then != other
                && self.area.contains(block)
                && self.graph.dominates(block, self.latch)
                && self.body.number(leaving).is_some_and(|leaving| !self.area.contains(leaving))
        })
    }

    /// The value that `value` has in the first iteration, computed at the builder's position in the preheader.
    pub(crate) fn first(
        &self,
        builder: &Builder<'_>,
        value: Value,
        known: &mut HashMap<Value, Value>,
    ) -> Value {
        if self.is_invariant(value) {
            return value;
        }
        if let Some(first) = known.get(&value) {
            return *first;
        }
        let first = if value.is(LLVMOpcode::LLVMPHI) {
            let incoming = value.incoming();
            let preheader = self.body.blocks[self.preheader];
            let outside = incoming.iter().find(|(block, _)| *block == preheader).or(incoming.first());
            let (_, from) = *outside.expect("a phi has incoming values");
            if incoming.len() == 1 { self.first(builder, from, known) } else { from }
        } else {
            let operands: Vec<Value> = (0..value.operand_count())
                .filter_map(|index| value.operand(index))
                .map(|operand| self.first(builder, operand, known))
                .collect();
            builder.copy_with(value, &operands)
        };
        known.insert(value, first);
        first
    }
}

/// The change of an operation on two values that change.
fn kept(value: Value, step: Step, a: Change, b: Change) -> Change {
    Change {
        step,
        no_wrap: value.has_no_signed_wrap() && a.no_wrap && b.no_wrap,
        no_unsigned_wrap: value.has_no_unsigned_wrap() && a.no_unsigned_wrap && b.no_unsigned_wrap,
    }
}

fn plus(a: Step, b: Step) -> Option<Step> {
    match (a, b) {
        (Step::Fixed(a), Step::Fixed(b)) => Some(Step::Fixed(a.checked_add(b)?)),
        (Step::Fixed(0), step) | (step, Step::Fixed(0)) => Some(step),
        (Step::Times(a, x), Step::Times(b, y)) if a == b => Some(Step::Times(a, x.checked_add(y)?)),
        _ => None,
    }
}

fn times(step: Step, factor: i64) -> Option<Step> {
    Some(match step {
        Step::Fixed(step) => Step::Fixed(step.checked_mul(factor)?),
        Step::Times(value, times) => Step::Times(value, times.checked_mul(factor)?),
    })
}
