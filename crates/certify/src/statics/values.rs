//! Rules of [`raddle_facts::values`] for blocks and registers: what is reachable, which terms and intervals registers have.
//!
//! A term says the value of its register at every use. Within a function that needs its registers to be assigned, on every path, before
//! the register itself (then none of them is assigned again in between); registers of other functions must be assigned once in the
//! run, or belong to the one activation that the function runs inside of.

use super::Refusal;
use super::calls::{Call, Passes, Run, Way};
use super::code::{At, Code};
use super::flow::Definition;
use super::initial;
use super::intervals::{includes, int_bits, meet, range, single};
use super::linear::Linear;
use super::memory::Memory;
use super::value::{Value, Where};
use raddle_base::Id;
use raddle_facts::{Interval, Term};
use raddle_ir::{BlockId, CallArg, FunctionId, Inst, Operand, Phi, Reg, Terminator, Ty};
use raddle_libmodel::memory::Value as Passed;
use raddle_libmodel::{Effect, VerifierOp};

pub(crate) fn check(code: &Code<'_>, memory: &Memory<'_, '_>) -> Result<(), Refusal> {
    for (function, body) in code.program.functions.iter() {
        if !code.is_run(function) {
            continue;
        }
        reachable(code, function)?;
        for (index, _) in body.params.iter().enumerate() {
            parameter(code, function, index)?;
        }
        for block in code.reachable_blocks(function) {
            for phi in &body.blocks[block].phis {
                check_phi(code, function, block, phi)?;
            }
            for (index, inst) in body.blocks[block].insts.iter().enumerate() {
                instruction(code, memory, At { function, block, index }, inst)?;
            }
        }
    }
    Ok(())
}

fn reachable(code: &Code<'_>, function: FunctionId) -> Result<(), Refusal> {
    let entry = At { function, block: BlockId(0), index: 0 };
    if !code.facts.values.is_reachable(function, BlockId(0)) {
        return code.refuse_at(entry, "reachable", "the entry of a function that is run");
    }
    for block in code.reachable_blocks(function) {
        for target in &code.flows[function].successors[block.index()] {
            if !code.facts.values.is_reachable(function, *target) {
                let text = format!("{target} follows {block}, which is reachable");
                return code.refuse_at(At { function, block: *target, index: 0 }, "reachable", text);
            }
        }
    }
    Ok(())
}

/// The register has this value: do the facts say no more?
fn assigned(code: &Code<'_>, at: At, reg: Reg, value: &Value, also: Option<&Linear>) -> Result<(), Refusal> {
    let function = at.function;
    let ty = code.program.functions[function].regs[reg].ty;
    let stored = code.facts.values.terms[function][reg.index()];
    if let Some(term) = stored {
        let form = Linear::of(term);
        let follows = |computed: &Linear| code.says(ty, &form, computed);
        if code.width(ty).is_none() {
            return code.refuse_at(at, "terms", format!("{reg} is of a type that no term speaks of"));
        }
        if !value.form.iter().chain(also).any(follows) {
            let text = format!("{reg} is said to be {}, computed is {:?}", show(term), value.form);
            return code.refuse_at(at, "terms", text);
        }
        if !in_scope(code, function, Some(reg), term) {
            return code.refuse_at(
                at,
                "terms",
                format!("{reg} is said to be {} out of its scope", show(term)),
            );
        }
    }
    let known = code.facts.values.intervals[function][reg.index()];
    let value = match stored.and_then(Term::as_constant) {
        Some(constant) if int_bits(ty).is_some() => meet(value.interval, single(constant)),
        _ => Some(value.interval),
    };
    // No value at all: the point is never reached.
    match value.and_then(|value| meet(value, range(ty))) {
        Some(value) if !includes(known, value) => {
            let text = format!("{reg} is said to be in {known:?}, computed is {value:?}");
            code.refuse_at(at, "intervals", text)
        }
        _ => Ok(()),
    }
}

fn show(term: Term) -> String {
    format!("{:?}", Linear::of(term))
}

/// Whether every register of a term for `reg` has, at every use of `reg`, the value that it had when `reg` was assigned.
/// `None`: a term at the entry of the function.
pub(crate) fn in_scope(code: &Code<'_>, function: FunctionId, reg: Option<Reg>, term: Term) -> bool {
    term.registers().all(|(of, used)| {
        if code.is_global(Term::reg(of, used)) {
            return true;
        }
        if of != function {
            return outer_scope(code, function, of, used);
        }
        let flow = &code.flows[function];
        match reg.map(|reg| flow.definition(reg)) {
            Some(Definition::Inst(block, index)) => flow.definition(used).precedes(flow, block, index),
            Some(Definition::Phi(block)) => {
                flow.definition(used).precedes(flow, block, 0)
                    && flow.definition(used) != Definition::Phi(block)
            }
            Some(Definition::Parameter(_) | Definition::None) | None => false,
        }
    })
}

/// Whether each activation of the function lies inside one of `of`, after `used` was assigned there.
pub(crate) fn outer_scope(code: &Code<'_>, function: FunctionId, of: FunctionId, used: Reg) -> bool {
    let mut inner = function;
    for _ in 0..code.program.functions.len() {
        let Some((caller, call)) = code.inside(inner) else { return false };
        if caller == of {
            let flow = &code.flows[of];
            return flow.definition(used).precedes(flow, call.block, call.index);
        }
        inner = caller;
    }
    false
}

impl<'a> Code<'a> {
    /// The one call that a function runs inside of: its activations lie each in one of the caller's, and none in another of its own.
    pub fn inside(&self, function: FunctionId) -> Option<(FunctionId, &Call)> {
        if self.calls.recursive[function] || self.roots.all().any(|root| root == function) {
            return None;
        }
        let mut runs = self.calls.runs_of(function);
        match (runs.next(), runs.next()) {
            (Some((caller, call, run)), None) if matches!(run.way, Way::Call | Way::AtomicCall) => {
                Some((caller, call))
            }
            _ => None,
        }
    }

    /// The operand that becomes a parameter, where it is one argument of the same type as it is.
    pub fn passed<'p>(&self, run: &Run, args: &'p [CallArg], index: usize) -> Option<&'p CallArg> {
        let body = &self.program.functions[run.function];
        let param = body.params.get(index)?;
        let position = match &run.passes {
            Passes::Arguments => index,
            Passes::Values(values) => match values.get(index)? {
                Passed::Arg(arg) => usize::from(arg.0),
                _ => return None,
            },
        };
        let arg = args.get(position)?;
        (arg.ty == body.regs[param.reg].ty && arg.by_value.is_none() && param.by_value.is_none())
            .then_some(arg)
    }
}

fn parameter(code: &Code<'_>, function: FunctionId, index: usize) -> Result<(), Refusal> {
    let body = &code.program.functions[function];
    let reg = body.params[index].reg;
    let ty = body.regs[reg].ty;
    let entry = At { function, block: BlockId(0), index: 0 };
    if code.roots.all().any(|root| root == function) {
        assigned(code, entry, reg, &Value::anything(ty), None)?;
    }
    let stored = code.facts.values.terms[function][reg.index()];
    if let Some(term) = stored {
        let all_global = code.is_global(term);
        let no_own = term.registers().all(|(of, _)| of != function);
        if !(all_global || no_own && code.inside(function).is_some()) {
            return code.refuse_at(
                entry,
                "terms",
                format!("{reg} is said by a term that callers do not share"),
            );
        }
    }
    for (caller, call, run) in code.calls.runs_of(function) {
        let (_, args) = call.parts(code, caller);
        let value = match code.passed(run, args, index) {
            Some(arg) => code.value(caller, arg.value, arg.ty, Where::Block(call.block)),
            None => Value::anything(ty),
        };
        assigned(code, entry, reg, &value, None)?;
    }
    Ok(())
}

fn check_phi(code: &Code<'_>, function: FunctionId, block: BlockId, phi: &Phi) -> Result<(), Refusal> {
    let ty = code.program.functions[function].regs[phi.dst].ty;
    let at = At { function, block, index: 0 };
    let own = Linear::of(Term::reg(function, phi.dst));
    let stored = code.facts.values.terms[function][phi.dst.index()].map(Linear::of);
    for from in &code.flows[function].predecessors[block.index()] {
        if !code.reachable(function, *from) {
            continue;
        }
        let Some((_, operand)) = phi.incoming.iter().find(|(incoming, _)| incoming == from) else {
            return code.refuse_at(at, "terms", "a phi without a value for a predecessor");
        };
        let value = code.value(function, *operand, ty, Where::Edge(*from, block));
        // The phi's own last value is what its term said, and says.
        let comes_back = value.form.as_ref() == Some(&own);
        assigned(code, at, phi.dst, &value, stored.as_ref().filter(|_| comes_back))?;
    }
    Ok(())
}

fn instruction(code: &Code<'_>, memory: &Memory<'_, '_>, at: At, inst: &Inst) -> Result<(), Refusal> {
    let body = &code.program.functions[at.function];
    match inst {
        Inst::Load { dst, ty, ptr, volatile, .. } => {
            let stored = code.facts.values.terms[at.function][dst.index()];
            let mut value = match initial::loaded(code, at, *ptr, *ty) {
                Some(form) => Value::of(form),
                None if *volatile => Value::anything(*ty),
                None => memory.loaded(at, *ptr, *ty, stored).unwrap_or_else(|| Value::anything(*ty)),
            };
            if let Some(known) = meet(value.interval, range(*ty)) {
                value.interval = known;
            }
            assigned(code, at, *dst, &value, None)?;
            let said = code.facts.values.loads.get(&code.site(at));
            if said.is_some_and(|term| stored != Some(*term)) {
                return code.refuse_at(
                    at,
                    "terms",
                    "a load is said to give another term than its register has",
                );
            }
            Ok(())
        }
        Inst::Call { dsts, args, .. } => {
            let Some(call) = code.calls.at(at.function, code.site(at)) else {
                return code.refuse_at(at, "calls", "an unknown call");
            };
            for (position, dst) in dsts.iter().enumerate() {
                let values = results(code, at, call, args, position, body.regs[*dst].ty);
                for value in &values {
                    assigned(code, at, *dst, value, None)?;
                }
            }
            Ok(())
        }
        _ => match code.computed(at, inst) {
            Some(value) => {
                let mut all = Vec::new();
                inst.each_dst(|dst| all.push(dst));
                all.iter().try_for_each(|dst| assigned(code, at, *dst, &value, None))
            }
            None => {
                let mut all = Vec::new();
                inst.each_dst(|dst| all.push(dst));
                all.iter()
                    .try_for_each(|dst| assigned(code, at, *dst, &Value::anything(body.regs[*dst].ty), None))
            }
        },
    }
}

/// All values that a call may return at a position: one for each callee and way out of it.
fn results(code: &Code<'_>, at: At, call: &Call, args: &[CallArg], position: usize, ty: Ty) -> Vec<Value> {
    let mut all = Vec::new();
    if !call.unknown.is_empty() {
        all.push(Value::anything(ty));
    }
    for (_, effect) in &call.effects {
        all.push(
            library_result(code, effect, ty).filter(|_| position == 0).unwrap_or_else(|| Value::anything(ty)),
        );
    }
    for run in call.runs.iter().filter(|run| matches!(run.way, Way::Call | Way::AtomicCall)) {
        let body = &code.program.functions[run.function];
        for block in code.reachable_blocks(run.function) {
            let Terminator::Ret { values } = &body.blocks[block].terminator else { continue };
            let value = match values.get(position) {
                Some(operand) if body.returns.get(position) == Some(&ty) => {
                    returned(code, at, run, args, *operand, ty, block)
                }
                _ => Value::anything(ty),
            };
            all.push(value);
        }
    }
    all
}

/// What one return gives, said by the caller: arguments in the place of parameters.
fn returned(
    code: &Code<'_>,
    at: At,
    run: &Run,
    args: &[CallArg],
    operand: Operand,
    ty: Ty,
    block: BlockId,
) -> Value {
    let Value { form, interval } = code.value(run.function, operand, ty, Where::Block(block));
    let body = &code.program.functions[run.function];
    let said = form.and_then(|form| {
        form.replaced(|of, reg| {
            if of != run.function || code.is_global(Term::reg(of, reg)) {
                return Some(Linear::of(Term::reg(of, reg)));
            }
            let index = body.params.iter().position(|param| param.reg == reg)?;
            let arg = code.passed(run, args, index)?;
            code.value(at.function, arg.value, arg.ty, Where::Block(at.block)).form
        })
    });
    Value { form: said, interval }
}

fn library_result(code: &Code<'_>, effect: &Effect, ty: Ty) -> Option<Value> {
    let own = code.width(ty)?;
    if let Some(result) = effect.fixed_result() {
        return Some(Value::constant(super::terms::sign_extend(result, own)));
    }
    match effect {
        Effect::Verifier(_) if int_bits(ty).is_none() => None,
        Effect::Verifier(VerifierOp::Nondet { boolean: true, .. }) if own > 1 => {
            Some(Value { form: None, interval: Interval { low: 0, high: 1 } })
        }
        Effect::Verifier(VerifierOp::Nondet { bits, signed, .. }) => {
            let bits = u32::from(*bits);
            // An unsigned number needs one bit more to be the same as a signed one.
            let needed = if *signed { bits } else { bits + 1 };
            (bits > 0 && needed <= own.min(63)).then(|| {
                let high = (1_i64 << (needed - 1)) - 1;
                Value { form: None, interval: Interval { low: if *signed { -high - 1 } else { 0 }, high } }
            })
        }
        _ => None,
    }
}
