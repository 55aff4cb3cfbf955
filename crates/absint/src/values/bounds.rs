//! Intervals of operands where they are used.

use super::interval::{int_bits, range, single};
use super::narrow::{At, Narrowing};
use super::shape::Shape;
use super::terms::constant;
use raddle_base::{Id, IdVec};
use raddle_facts::{Interval, Values};
use raddle_ir::{BlockId, FunctionId, IcmpPred, Operand, Program, Ty};
use std::cell::OnceCell;

/// Answers for one solution; the shape of a function is found when it is first asked for.
pub struct Bounds<'a> {
    program: &'a Program,
    values: &'a Values,
    shapes: IdVec<FunctionId, OnceCell<Shape>>,
}

impl<'a> Bounds<'a> {
    pub fn new(program: &'a Program, values: &'a Values) -> Bounds<'a> {
        Bounds { program, values, shapes: program.functions.ids().map(|_| OnceCell::new()).collect() }
    }

    /// *May*: all values that an operand of this type can have in this block, as signed numbers of its width: the register's interval,
    /// narrowed by the comparisons that dominate the block.
    pub fn at(&self, function: FunctionId, block: BlockId, operand: Operand, ty: Ty) -> Interval {
        let Operand::Reg(reg) = operand else { return constant(operand, ty).map_or(range(ty), single) };
        let interval = self.values.intervals[function][reg.index()];
        if int_bits(ty).is_none() {
            return interval;
        }
        let known = |reg: raddle_ir::Reg| Some(self.values.intervals[function][reg.index()]);
        self.narrowing(function, known).at(reg, interval, At::Block(block))
    }

    /// *Must*: comparisons that hold in this block, each by its left side, the predicate and its right side.
    pub fn comparisons(&self, function: FunctionId, block: BlockId) -> Vec<(Operand, IcmpPred, Operand)> {
        self.narrowing(function, |_| None).comparisons(block)
    }

    fn narrowing<F: Fn(raddle_ir::Reg) -> Option<Interval>>(
        &self,
        function: FunctionId,
        interval: F,
    ) -> Narrowing<'_, F> {
        let body = &self.program.functions[function];
        let shape = self.shapes[function].get_or_init(|| Shape::of(body));
        Narrowing { body, shape, interval }
    }
}
