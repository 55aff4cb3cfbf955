//! Calls: arguments to parameters, results back; functions without a body.

use super::super::Refusal;
use super::super::calls::{Call, Passes, Run, Way};
use super::super::code::{At, Code};
use super::super::library::{Part, returned_by};
use super::super::patterns::FORWARD;
use super::instructions::{copied, object, object_at, stored};
use super::{RULE, foreign, library};
use raddle_base::Id;
use raddle_facts::{ObjectKind, Offsets};
use raddle_ir::{CallArg, FunctionId, Reg};
use raddle_libmodel::Effect;

pub(super) fn check(
    code: &Code<'_>,
    carried: &[bool],
    at: At,
    dsts: &[Reg],
    args: &[CallArg],
) -> Result<(), Refusal> {
    let Some(call) = code.calls.at(at.function, code.site(at)) else {
        return code.refuse_at(at, "calls", "an unknown call");
    };
    for arg in args {
        code.held(at, arg.value)?;
    }
    let step = match &call.effects[..] {
        [(_, effect)] => library::elements(code, at, args, effect),
        _ => FORWARD,
    };
    for run in &call.runs {
        run_body(code, carried, at, dsts, args, run, step)?;
    }
    for (target, effect) in &call.effects {
        match effect {
            Effect::Unsupported { .. } => unknown_result(code, carried, at, dsts, *target)?,
            _ => library::check(code, carried, at, dsts, args, effect)?,
        }
    }
    if call.unknown.is_empty() { Ok(()) } else { foreign::call(code, carried, at, dsts, args) }
}

fn run_body(
    code: &Code<'_>,
    carried: &[bool],
    at: At,
    dsts: &[Reg],
    args: &[CallArg],
    run: &Run,
    step: Offsets,
) -> Result<(), Refusal> {
    let target = run.function;
    let body = &code.program.functions[target];
    for (index, param) in body.params.iter().enumerate() {
        let (held, by_value) = match &run.passes {
            Passes::Arguments => match args.get(index) {
                Some(arg) => (code.held(at, arg.value)?, arg.by_value.map(|(bytes, _)| bytes)),
                None => continue,
            },
            Passes::Values(values) => match values.get(index) {
                Some(value) => {
                    (library::value(code, at, args, *value, Some(raddle_ir::Ty::Ptr), step)?, None)
                }
                None => continue,
            },
        };
        match param.by_value.map(|(bytes, _)| bytes).or(by_value) {
            Some(bytes) => {
                let copy = object(code, at, ObjectKind::Parameter(target, index as u32))?;
                code.flows_into(at, target, param.reg, &copy)?;
                copied(code, at, &copy, &held, bytes)?;
            }
            None => code.flows_into(at, target, param.reg, &held)?,
        }
    }
    if body.variadic {
        let area =
            object_at(code, at, ObjectKind::Parameter(target, body.params.len() as u32), Offsets::ANY)?;
        let rest = match run.passes {
            Passes::Arguments => args.iter().skip(body.params.len()),
            Passes::Values(_) => {
                return code.refuse_at(at, RULE, "the library calls back a variadic function");
            }
        };
        for arg in rest {
            let held = code.held(at, arg.value)?;
            match arg.by_value {
                Some((bytes, _)) => copied(code, at, &area, &held, bytes)?,
                None => stored(code, at, &area, code.pointer_bytes(), &held)?,
            }
        }
    }
    let returned = |index: usize| {
        code.facts.points_to.returns[target].get(index).map_or(&[][..], |set| code.targets(*set))
    };
    match run.way {
        Way::Call | Way::AtomicCall => {
            for (index, dst) in dsts.iter().enumerate().filter(|(_, dst)| carried[dst.index()]) {
                code.flows_to(at, *dst, returned(index))?;
            }
            Ok(())
        }
        Way::Thread => {
            let cell = object_at(code, at, ObjectKind::Library, Part::ThreadResult.start());
            let held = returned(0);
            if held.is_empty() { Ok(()) } else { stored(code, at, &cell?, code.pointer_bytes(), held) }
        }
        Way::Callback | Way::Once | Way::Handler => Ok(()),
    }
}

/// A function that is not supported returns an address of its own; reaching it is a gap.
fn unknown_result(
    code: &Code<'_>,
    carried: &[bool],
    at: At,
    dsts: &[Reg],
    target: FunctionId,
) -> Result<(), Refusal> {
    for dst in dsts {
        if carried[dst.index()] && code.is_wide(code.program.functions[at.function].regs[*dst].ty) {
            let place = object_at(code, at, ObjectKind::Unknown, returned_by(target))?;
            code.flows_to(at, *dst, &place)?;
        }
    }
    Ok(())
}

/// The table of targets has at least what the sets say.
pub(super) fn check_targets(code: &Code<'_>) -> Result<(), Refusal> {
    for (function, calls) in code.calls.from.iter() {
        for call in calls {
            check_site(code, function, call)?;
        }
    }
    Ok(())
}

fn check_site(code: &Code<'_>, function: FunctionId, call: &Call) -> Result<(), Refusal> {
    let listed = code.facts.points_to.targets.get(&call.site).map_or(&[][..], Vec::as_slice);
    let direct = code.direct_callee(call.at(function));
    let by_pointer = |target: FunctionId| direct != Some(target);
    let run = call.runs.iter().filter(|run| run.passes != Passes::Arguments || by_pointer(run.function));
    let others = call.effects.iter().map(|(target, _)| *target).chain(call.unknown.iter().copied());
    let missing =
        run.map(|run| run.function).chain(others.filter(|f| by_pointer(*f))).find(|f| !listed.contains(f));
    match missing {
        Some(target) => {
            code.refuse(call.site, RULE, format!("{target} is not among the targets of the call"))
        }
        None => Ok(()),
    }
}
