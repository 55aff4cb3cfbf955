//! Addresses that points-to knows no object of: made of numbers that no address is known to have gone into, of floating-point numbers, single
//! bits, text or bytes.
//!
//! *May*, and of registers of one function only: such an address that goes through memory or a call, and may there be a known one as well, is
//! taken to be that one (A-BOUNDS).

use raddle_absint::terms::term_of;
use raddle_base::Id;
use raddle_facts::{PointsTo, Values};
use raddle_ir::{CallArg, CastOp, FunctionId, Inst, Operand, Program, Reg};
use raddle_libmodel::memory::{Base, Reach, Region, Touch};

pub(super) struct MadeOfNumbers<'a> {
    function: FunctionId,
    values: &'a Values,
    points_to: &'a PointsTo,
    /// Per register: it may be an integer without objects that became a pointer.
    converted: Vec<bool>,
}

impl<'a> MadeOfNumbers<'a> {
    pub(super) fn of(
        program: &Program,
        values: &'a Values,
        points_to: &'a PointsTo,
        function: FunctionId,
    ) -> MadeOfNumbers<'a> {
        let body = &program.functions[function];
        let mut made = MadeOfNumbers { function, values, points_to, converted: vec![false; body.regs.len()] };
        let mut changed = true;
        while std::mem::take(&mut changed) {
            let reachable = body.blocks.iter().filter(|(block, _)| values.is_reachable(function, *block));
            for (_, block) in reachable {
                for phi in &block.phis {
                    let taken = phi.incoming.iter().filter(|(from, _)| values.is_reachable(function, *from));
                    let any = taken.into_iter().any(|(_, operand)| made.is_converted(*operand));
                    changed |= made.mark(phi.dst, any);
                }
                for inst in &block.insts {
                    changed |= match inst {
                        Inst::Cast { dst, op: CastOp::IntToPtr, a, .. } => {
                            made.mark(*dst, made.leads_nowhere(*a))
                        }
                        Inst::Cast { dst, op: CastOp::Bitcast, a, .. } | Inst::Copy { dst, a, .. } => {
                            made.mark(*dst, made.is_converted(*a))
                        }
                        Inst::Select { dst, a, b, .. } => {
                            made.mark(*dst, made.is_converted(*a) || made.is_converted(*b))
                        }
                        Inst::Gep(gep) => made.mark(gep.dst, made.is_converted(gep.base)),
                        _ => false,
                    };
                }
            }
        }
        made
    }

    /// Whether an instruction, calls excepted, reads or writes through such an address.
    pub(super) fn is_used_by(&self, inst: &Inst) -> bool {
        match inst {
            Inst::Load { ptr, .. } | Inst::Store { ptr, .. } | Inst::Rmw { ptr, .. } => self.is(*ptr),
            Inst::CmpXchg(x) => self.is(x.ptr),
            Inst::MemCopy { dst, src, .. } => self.is(*dst) || self.is(*src),
            Inst::MemSet { dst, .. } => self.is(*dst),
            _ => false,
        }
    }

    /// Whether a library call touches what such an argument points to.
    pub(super) fn is_touched(&self, touch: &Touch, args: &[CallArg]) -> bool {
        match touch.region {
            Region { base: Base::Arg(arg), reach: Reach::Direct } => {
                args.get(usize::from(arg.0)).is_some_and(|arg| self.is(arg.value))
            }
            _ => false,
        }
    }

    fn is(&self, address: Operand) -> bool {
        self.leads_nowhere(address) || self.is_converted(address)
    }

    fn is_converted(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Reg(reg) if self.converted[reg.index()])
    }

    /// Whether the value is in no object, and not one known number.
    fn leads_nowhere(&self, operand: Operand) -> bool {
        let Operand::Reg(reg) = operand else { return false };
        let interval = self.values.intervals[self.function].get(reg.index());
        self.points_to.targets_of(self.points_to.regs[self.function][reg.index()]).is_empty()
            && term_of(self.values, self.function, operand).as_constant().is_none()
            && interval.is_none_or(|interval| interval.low != interval.high)
    }

    /// Whether that is new.
    fn mark(&mut self, reg: Reg, is_converted: bool) -> bool {
        is_converted && !std::mem::replace(&mut self.converted[reg.index()], true)
    }
}
