//! Values and cells of one function in the names of another: across a call, a thread creation, a return.

use super::calls::Run;
use super::code::{At, Code};
use super::linear::{Atom, Linear};
use super::value::Where;
use super::values::outer_scope;
use raddle_facts::Term;
use raddle_ir::{BlockId, FunctionId, Reg, Terminator};

/// What a form of the callee stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Value,
    /// The address of so many bytes, asked for what they hold: a struct passed by value holds at its start what the caller's does.
    Cell(u8),
}

/// What a form at the entry of a function is at the call, in the caller's names: arguments for parameters. `None`: it cannot be said.
pub(crate) fn in_caller(code: &Code<'_>, at: At, run: &Run, form: &Linear, place: Place) -> Option<Linear> {
    let callee = &code.program.functions[run.function];
    let (_, args) = code.calls.at(at.function, code.site(at))?.parts(code, at.function);
    form.replaced(|of, reg| {
        let index = callee.params.iter().position(|param| of == run.function && param.reg == reg);
        let is_copy = |index: usize| place != Place::Value && callee.params[index].by_value.is_some();
        if code.is_global(Term::reg(of, reg)) && !index.is_some_and(is_copy) {
            return Some(Linear::of(Term::reg(of, reg)));
        }
        if of != run.function {
            return outer_scope(code, run.function, of, reg).then(|| Linear::of(Term::reg(of, reg)));
        }
        let index = index?;
        if let (Some((size, _)), Place::Cell(bytes)) = (callee.params[index].by_value, place) {
            let alone = form.atoms[..] == [(Atom::Reg(of, reg), 1)];
            let inside = form.constant >= 0
                && u64::try_from(form.constant).is_ok_and(|at| at.saturating_add(u64::from(bytes)) <= size);
            let arg = args.get(index)?;
            let same = arg.by_value.map(|(bytes, _)| bytes) == Some(size);
            let by_call = run.passes == super::calls::Passes::Arguments;
            return (alone && inside && same && by_call)
                .then(|| code.value(at.function, arg.value, arg.ty, Where::Block(at.block)).form)
                .flatten();
        }
        let arg = code.passed(run, args, index)?;
        code.value(at.function, arg.value, arg.ty, Where::Block(at.block)).form
    })
}

/// The forms by which a callee, where it returns from a block, says what the caller's form says right after the call.
pub(crate) fn in_callee(code: &Code<'_>, at: At, run: &Run, block: BlockId, form: &Linear) -> Vec<Linear> {
    let callee = &code.program.functions[run.function];
    let Some(call) = code.calls.at(at.function, code.site(at)) else { return Vec::new() };
    let (dsts, args) = call.parts(code, at.function);
    let returned = |position: usize| {
        let Terminator::Ret { values } = &callee.blocks[block].terminator else { return None };
        let ty = *callee.returns.get(position)?;
        let same =
            dsts.get(position).is_some_and(|dst| code.program.functions[at.function].regs[*dst].ty == ty);
        let value = code.value(run.function, *values.get(position)?, ty, Where::Block(block)).form?;
        same.then_some(value)
    };
    let result = |of: FunctionId, reg: Reg| {
        (of == at.function).then(|| dsts.iter().position(|dst| *dst == reg)).flatten()
    };
    // Registers of the caller, and of those that it runs inside of, keep their values during the call.
    let inside = code.inside(run.function).is_some();
    let stays = |of: FunctionId, reg: Reg| inside || code.is_global(Term::reg(of, reg));
    let mut found = Vec::new();
    let own = form.replaced(|of, reg| match result(of, reg) {
        Some(position) => returned(position),
        None => stays(of, reg).then(|| Linear::of(Term::reg(of, reg))),
    });
    found.extend(own);
    if form.registers().any(|(of, reg)| result(of, reg).is_some()) {
        return found;
    }
    // As a parameter plus a distance: parameters keep what they were given.
    for (index, param) in callee.params.iter().enumerate() {
        let Some(arg) = code.passed(run, args, index) else { continue };
        let Some(given) = code.value(at.function, arg.value, arg.ty, Where::Block(at.block)).form else {
            continue;
        };
        if let Some(distance) = form.minus(&given).as_constant() {
            let named = Linear::of(code.reg_term(run.function, param.reg));
            found.push(named.plus(&Linear::constant(distance)));
        }
    }
    found
}
