//! Rules of [`raddle_facts::points_to`]: every flow of addresses is in the facts.
//!
//! One rule per instruction, call, library effect and initial content. Assumed, all of it A-BOUNDS: pointer arithmetic stays in its
//! object and does not wrap around; an index is a number; the difference of two pointers is a number, and what is
//! subtracted leaves no address behind; addresses are not taken apart into single bits or computed with in floating point.

mod calls;
mod foreign;
mod instructions;
mod library;
mod sets;
mod start;
mod strides;

use super::Refusal;
use super::code::{At, Code};
use raddle_base::Id;
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{BlockId, FloatTy, FunctionId, Operand, Reg, Terminator, Ty};

pub(crate) const RULE: &str = "points-to";

pub(crate) fn check(code: &Code<'_>) -> Result<(), Refusal> {
    if let Some((site, text)) = code.facts.points_to.unresolved.first() {
        return code.refuse(*site, RULE, format!("a call is not resolved: {text}"));
    }
    start::check(code)?;
    for function in code.program.functions.ids().filter(|function| code.is_run(*function)) {
        check_function(code, function)?;
    }
    foreign::check(code)?;
    calls::check_targets(code)
}

fn check_function(code: &Code<'_>, function: FunctionId) -> Result<(), Refusal> {
    let body = &code.program.functions[function];
    let carried = instructions::carried(code, body);
    for block in code.reachable_blocks(function) {
        for phi in body.blocks[block].phis.iter().filter(|phi| carried[phi.dst.index()]) {
            let at = At { function, block, index: 0 };
            for from in &code.flows[function].predecessors[block.index()] {
                let operand = phi.incoming.iter().find(|(incoming, _)| incoming == from);
                if let Some((_, operand)) = operand.filter(|_| code.reachable(function, *from)) {
                    code.flows_to(at, phi.dst, &code.held(at, *operand)?)?;
                }
            }
        }
        for (index, inst) in body.blocks[block].insts.iter().enumerate() {
            instructions::check(code, &carried, At { function, block, index }, inst)?;
        }
        returns(code, function, block)?;
    }
    Ok(())
}

fn returns(code: &Code<'_>, function: FunctionId, block: BlockId) -> Result<(), Refusal> {
    let body = &code.program.functions[function].blocks[block];
    let at = At { function, block, index: body.insts.len() };
    let Terminator::Ret { values } = &body.terminator else { return Ok(()) };
    for (index, value) in values.iter().enumerate() {
        let held = code.held(at, *value)?;
        let set = code.facts.points_to.returns[function].get(index).map_or(&[][..], |set| code.targets(*set));
        if !code.includes(set, &held) {
            return code.refuse_at(at, RULE, format!("a returned value may point to more: {held:?}"));
        }
    }
    Ok(())
}

impl Code<'_> {
    /// The addresses that an operand may hold. A constant address must be of an object that the facts have.
    pub(crate) fn held(&self, at: At, operand: Operand) -> Result<Vec<(ObjectId, Offsets)>, Refusal> {
        let known = |kind: ObjectKind| match self.object(kind) {
            Some(_) => Ok(()),
            None => self.refuse_at(at, "objects", format!("{kind:?} is missing")),
        };
        match operand {
            Operand::Global(global, _) => known(self.global_kind(global))?,
            Operand::Function(target) => known(ObjectKind::Function(target))?,
            Operand::Reg(reg) if !self.carries(self.program.functions[at.function].regs[reg].ty) => {
                return Ok(Vec::new());
            }
            Operand::Reg(_) | Operand::Const(_) | Operand::Block(_) | Operand::Null | Operand::Undef => {}
        }
        Ok(self.pointees(at.function, operand))
    }

    /// A register of this function must have all these places.
    pub(crate) fn flows_to(&self, at: At, reg: Reg, places: &[(ObjectId, Offsets)]) -> Result<(), Refusal> {
        self.flows_into(at, at.function, reg, places)
    }

    /// The same for a register of another function.
    pub(crate) fn flows_into(
        &self,
        at: At,
        function: FunctionId,
        reg: Reg,
        places: &[(ObjectId, Offsets)],
    ) -> Result<(), Refusal> {
        let carries = self.carries(self.program.functions[function].regs[reg].ty);
        if carries && !self.includes(self.set(function, reg), places) {
            let named: Vec<_> = places.iter().map(|(object, at)| (self.kind(*object), *at)).collect();
            return self.refuse_at(at, RULE, format!("{reg} of {function} may point to more: {named:?}"));
        }
        Ok(())
    }

    /// Whether values of this type may hold an address or a part of one.
    pub(crate) fn carries(&self, ty: Ty) -> bool {
        match ty {
            Ty::Ptr | Ty::Float(FloatTy::F64) => true,
            Ty::Int(bits) => bits > 1,
            Ty::Float(float) => float.access_bytes() == self.pointer_bytes(),
        }
    }

    /// Whether a value of this type can be a whole address.
    pub(crate) fn is_wide(&self, ty: Ty) -> bool {
        !matches!(ty, Ty::Float(_)) && ty.access_bytes(self.pointer_bytes()) >= self.pointer_bytes()
    }
}
