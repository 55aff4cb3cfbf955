//! Registers that differ from instance to instance of a thread, and what the creator does before it starts one.
//!
//! A value differs from one execution of a place to the next
//! * if it moves with a counter of a function that is entered once, and every cycle through the place passes the counter's block;
//! * if it is a block of memory made by the library, and every cycle through the place passes the call that makes it.
//!
//! So does the field that the creator sets before the creation, if the places of these fields differ, nothing else ever writes them, and
//! the values set differ. That a counter does not come round again is for [`super::counters`] to show.

use super::super::Refusal;
use super::super::accesses::{Access, Kind};
use super::super::calls::{Call, Passes, Way};
use super::super::code::{At, Code};
use super::super::flow::{Definition, Flow};
use super::super::intervals::int_bits;
use super::super::linear::{Atom, Linear};
use super::super::memory::Memory;
use super::super::value::Where;
use super::counters::{self, Apart};
use super::refuse;
use raddle_base::Id;
use raddle_facts::{BeforeStart, Distinct, MOST_APART, Spacing, Start, Term, ThreadId, Times};
use raddle_ir::{BlockId, CallArg, CastOp, FunctionId, Inst, Operand, Reg, Ty};
use raddle_libmodel::memory::{Base, Life, Reach, Value};

pub(super) fn check(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    memory: &Memory<'_, '_>,
) -> Result<(), Refusal> {
    let threads = &code.facts.threads;
    for distinct in &threads.distinct {
        let holds = Creation::of(code, distinct.thread).is_some_and(|creation| {
            creation.argument_differs(distinct)
                || creation.narrowed_differs(distinct)
                || creation.field_differs(distinct, accesses, memory)
        });
        if !holds {
            return refuse(code, format!("{distinct:?} does not follow"));
        }
    }
    for before in &threads.before_start {
        let holds = Creation::of(code, before.thread)
            .is_some_and(|creation| creation.prepares(before, accesses, &threads.distinct));
        if !holds {
            return code.refuse(before.site, "threads", format!("{before:?} does not follow"));
        }
    }
    Ok(())
}

/// What the facts say an access does for an instance before its creation: the thread, and the offset from its argument. A site may have
/// more accesses than the one that they speak of.
pub(crate) fn prepared_by(code: &Code<'_>, access: &Access<'_>) -> Vec<(ThreadId, i64)> {
    let of_site = code.facts.threads.before_start.iter().filter(|before| before.site == access.site);
    of_site
        .filter(|before| {
            Creation::of(code, before.thread)
                .is_some_and(|creation| creation.distance(access) == Some(before.offset))
        })
        .map(|before| (before.thread, before.offset))
        .collect()
}

/// The one place where instances of a thread are created, and the argument that it hands over.
struct Creation<'c, 'a> {
    code: &'c Code<'a>,
    thread: ThreadId,
    creator: FunctionId,
    call: &'c Call,
    argument: &'c CallArg,
    /// The parameter that gets it.
    entry: FunctionId,
    param: Reg,
}

impl<'c, 'a> Creation<'c, 'a> {
    fn of(code: &'c Code<'a>, id: ThreadId) -> Option<Creation<'c, 'a>> {
        let thread = &code.facts.threads.threads[id];
        let Start::Created(site) = thread.start else { return None };
        if code.roots.all().any(|root| root == thread.entry) {
            return None;
        }
        let mut runs = code.calls.runs_of(thread.entry);
        let (creator, call, run) = runs.next().filter(|_| runs.next().is_none())?;
        if run.way != Way::Thread || call.site != site || call.effects.len() != 1 {
            return None;
        }
        let Passes::Values(values) = &run.passes else { return None };
        let index = values.iter().position(|value| matches!(value, Value::Arg(_)))?;
        let (_, args) = call.parts(code, creator);
        let argument = code.passed(run, args, index)?;
        let param = code.program.functions[thread.entry].params.get(index)?.reg;
        Some(Creation { code, thread: id, creator, call, argument, entry: thread.entry, param })
    }

    fn flow(&self) -> &Flow {
        &self.code.flows[self.creator]
    }

    fn form(&self, operand: Operand, ty: Ty, block: BlockId) -> Option<Linear> {
        self.code.value(self.creator, operand, ty, Where::Block(block)).form
    }

    fn given(&self) -> Option<Linear> {
        self.form(self.argument.value, self.argument.ty, self.call.block)
    }

    /// Whether the values of an operand at a block differ from one execution of the block to the next, at least so far.
    fn differs(&self, operand: Operand, ty: Ty, block: BlockId, spacing: Spacing) -> bool {
        let Some(form) = self.form(operand, ty, block) else { return false };
        match spacing {
            Spacing::Apart { least, most } => self
                .step(&form, block)
                .is_some_and(|apart| 0 < least && least <= apart.least && apart.most <= most),
            Spacing::Objects => self.is_fresh(&form, block),
        }
    }

    /// How far apart the values of a form at a block are in two executions.
    fn step(&self, form: &Linear, block: BlockId) -> Option<Apart> {
        if self.code.facts.threads.times[self.creator].first() != Some(&Times::Once) {
            return None;
        }
        let is_fixed = |atom: &Atom| match atom {
            Atom::Reg(of, reg) => *of != self.creator || self.code.is_global(Term::reg(*of, *reg)),
            Atom::Global(_) | Atom::Function(_) => true,
        };
        let mut moving = form.atoms.iter().filter(|(atom, _)| !is_fixed(atom));
        let ((Atom::Reg(_, reg), factor), None) = (moving.next()?, moving.next()) else { return None };
        let counter = self.unextended(*reg);
        let Definition::Phi(header) = self.flow().definition(counter) else { return None };
        let phi = self.code.program.functions[self.creator].blocks[header]
            .phis
            .iter()
            .find(|phi| phi.dst == counter)?;
        let apart = counters::apart(self.code, self.creator, header, phi)?;
        let passes = !on_cycle_avoiding(self.flow(), block, header);
        let factor = factor.unsigned_abs();
        let (least, most) = (apart.least.checked_mul(factor)?, apart.most.checked_mul(factor)?);
        (passes && most <= MOST_APART).then_some(Apart { least, most })
    }

    fn definition(&self, reg: Reg) -> Option<&'c Inst> {
        match self.flow().definition(reg) {
            Definition::Inst(block, index) => {
                self.code.program.functions[self.creator].blocks[block].insts.get(index)
            }
            _ => None,
        }
    }

    /// Looks through conversions that keep different values apart.
    fn unextended(&self, reg: Reg) -> Reg {
        let mut reg = reg;
        loop {
            let keeps = |op: CastOp, from: Ty, to: Ty| match op {
                CastOp::SExt | CastOp::ZExt => true,
                CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast => {
                    self.code.width(from).zip(self.code.width(to)).is_some_and(|(from, to)| from <= to)
                }
                _ => false,
            };
            match self.definition(reg) {
                Some(Inst::Cast { op, from, to, a: Operand::Reg(inner), .. }) if keeps(*op, *from, *to) => {
                    reg = *inner;
                }
                Some(Inst::Copy { a: Operand::Reg(inner), .. }) => reg = *inner,
                _ => return reg,
            }
        }
    }

    /// Whether the form is a block of memory that is made anew for every execution of a block.
    fn is_fresh(&self, form: &Linear, block: BlockId) -> bool {
        let [(Atom::Reg(of, reg), 1)] = form.atoms[..] else { return false };
        if of != self.creator {
            return false;
        }
        let Definition::Inst(made, index) = self.flow().definition(reg) else { return false };
        let site = self.code.site(At { function: self.creator, block: made, index });
        let Some(call) = self.code.calls.at(self.creator, site) else { return false };
        let ([], [(_, effect)], []) = (&call.runs[..], &call.effects[..], &call.unknown[..]) else {
            return false;
        };
        let effect = effect.memory();
        let is_new = |value: &Value| matches!(value, Value::Into(region) if region.base == Base::Fresh && region.reach == Reach::Direct);
        let (dsts, _) = call.parts(self.code, self.creator);
        dsts.first() == Some(&reg)
            && effect.allocates.is_some_and(|block| block.life == Life::Handed)
            && !effect.returns.is_empty()
            && effect.returns.iter().all(is_new)
            && !on_cycle_avoiding(self.flow(), block, made)
    }

    /// The argument itself.
    fn argument_differs(&self, distinct: &Distinct) -> bool {
        (distinct.function, distinct.reg, distinct.source) == (self.entry, self.param, None)
            && self.differs(self.argument.value, self.argument.ty, self.call.block, distinct.spacing)
    }

    /// The argument cut to no less than the width of the counter that it is an extension of.
    fn narrowed_differs(&self, distinct: &Distinct) -> bool {
        let code = self.code;
        let body = &code.program.functions[distinct.function];
        let Definition::Inst(block, index) = code.flows[distinct.function].definition(distinct.reg) else {
            return false;
        };
        let Inst::Cast { op: CastOp::Trunc, from, to: Ty::Int(width), a, .. } =
            &body.blocks[block].insts[index]
        else {
            return false;
        };
        let is_argument =
            code.value(distinct.function, *a, *from, Where::Block(block)).form == Some(self.parameter());
        let Some(given) = self.given() else { return false };
        let [(Atom::Reg(of, reg), 1)] = given.atoms[..] else { return false };
        let counter = self.unextended(reg);
        let own = int_bits(code.program.functions[self.creator].regs[counter].ty);
        distinct.source == Some(i64::MIN + i64::from(*width))
            && code.facts.threads.runs[distinct.function] == [self.thread]
            && is_argument
            && of == self.creator
            && given.constant == 0
            && own.is_some_and(|own| own <= u32::from(*width))
            && self.differs(self.argument.value, self.argument.ty, self.call.block, distinct.spacing)
    }

    fn parameter(&self) -> Linear {
        Linear::of(Term::reg(self.entry, self.param))
    }

    /// A field of what the argument points to, which the creator sets before every creation.
    fn field_differs(&self, distinct: &Distinct, accesses: &[Access<'_>], memory: &Memory<'_, '_>) -> bool {
        let code = self.code;
        let Some(offset) = distinct.source else { return false };
        let Definition::Inst(block, index) = code.flows[distinct.function].definition(distinct.reg) else {
            return false;
        };
        let body = &code.program.functions[distinct.function];
        let Inst::Load { ty, ptr, .. } = &body.blocks[block].insts[index] else { return false };
        let read_from = code.value(distinct.function, *ptr, Ty::Ptr, Where::Block(block)).form;
        if read_from != Some(self.parameter().plus(&Linear::constant(offset)))
            || code.facts.threads.runs[distinct.function] != [self.thread]
        {
            return false;
        }
        let bytes = u64::from(ty.access_bytes(code.pointer_bytes()));
        let places = code.pointees(distinct.function, *ptr);
        let mut writers: Vec<&Access<'_>> = memory.writes.writers(accesses, &places, bytes).collect();
        writers.dedup_by_key(|access| access.site);
        let [writer] = writers[..] else { return false };
        let Some((value, stored_ty)) = writer.value else { return false };
        let Some(address) = writer.address else { return false };
        let (Some(set), Some(given)) = (self.form(address, Ty::Ptr, writer.at.block), self.given()) else {
            return false;
        };
        writer.at.function == self.creator
            && writer.kind == Kind::Write
            && writer.bytes == bytes
            && stored_ty == *ty
            && set == given.plus(&Linear::constant(offset))
            && self.comes_first(writer.at)
            && self.keeps_apart(bytes)
            && self.differs_as_argument(address, writer.at.block)
            && self.differs(value, stored_ty, writer.at.block, distinct.spacing)
    }

    /// Whether fields of this size, at the same offset from two arguments, do not overlap.
    fn keeps_apart(&self, bytes: u64) -> bool {
        let Some(given) = self.given() else { return false };
        self.is_fresh(&given, self.call.block)
            || self.step(&given, self.call.block).is_some_and(|apart| apart.least >= bytes)
    }

    fn differs_as_argument(&self, address: Operand, block: BlockId) -> bool {
        let Some(form) = self.form(address, Ty::Ptr, block) else { return false };
        self.is_fresh(&form, block) || self.step(&form, block).is_some()
    }

    /// Whether a point of the creator comes before the creation on every way to it. With a value that differs from one creation to the
    /// next, it then comes after the creation before.
    fn comes_first(&self, at: At) -> bool {
        if at.block == self.call.block {
            at.index < self.call.index
        } else {
            self.flow().dominates(at.block, self.call.block)
        }
    }

    /// An access to the memory of the argument before the creation.
    fn prepares(&self, before: &BeforeStart, accesses: &[Access<'_>], distinct: &[Distinct]) -> bool {
        let argument_differs = distinct
            .iter()
            .any(|one| one.thread == self.thread && one.source.is_none() && self.argument_differs(one));
        let mut at_site = accesses.iter().filter(|access| access.site == before.site);
        argument_differs
            && at_site.any(|access| {
                self.distance(access) == Some(before.offset)
                    && self.in_creator(access.at).is_some_and(|at| self.comes_first(at))
            })
    }

    /// How far behind the argument an access starts, where that is one number.
    fn distance(&self, access: &Access<'_>) -> Option<i64> {
        let address = self
            .code
            .value(access.at.function, access.address?, Ty::Ptr, Where::Block(access.at.block))
            .form?;
        address.minus(&self.given()?).as_constant()
    }

    /// The point itself, or the one call of the creator that leads to it.
    fn in_creator(&self, at: At) -> Option<At> {
        let mut at = at;
        for _ in 0..self.code.program.functions.len() {
            if at.function == self.creator {
                return Some(at);
            }
            let (caller, call) = self.code.inside(at.function)?;
            at = call.at(caller);
        }
        None
    }
}

/// Whether a path leads from the block back to it without passing the other.
fn on_cycle_avoiding(flow: &Flow, block: BlockId, avoided: BlockId) -> bool {
    block != avoided && walk(flow, block, Some(avoided)).any(|reached| reached == block)
}

/// The blocks that paths of at least one edge lead to, without passing the avoided one.
pub(super) fn walk(flow: &Flow, from: BlockId, avoided: Option<BlockId>) -> impl Iterator<Item = BlockId> {
    let mut seen = vec![false; flow.successors.len()];
    let mut found = Vec::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        for next in &flow.successors[block.index()] {
            if Some(*next) != avoided && !std::mem::replace(&mut seen[next.index()], true) {
                found.push(*next);
                work.push(*next);
            }
        }
    }
    found.into_iter()
}
