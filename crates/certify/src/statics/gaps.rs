//! What no proof may reach, and the assumptions that it must name.

mod environ;
mod errno;
mod handles;
mod numbers;
mod streams;

use super::Refusal;
use super::accesses::Access;
use super::code::{At, Code};
use super::foreign::Owner;
use super::library::{part_around, part_of_foreign};
use super::terms::constant_in;
use raddle_base::SiteId;
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{CallArg, FunctionId, GlobalId, Inst, Operand, Terminator};
use raddle_libmodel::memory::{
    Base, Doubt, Reach, Region, has_pointer_conversion, keeps_contents, maps_fresh_memory,
};
use raddle_libmodel::{Effect, How, LockFamily, Meaning, Mode, SemOp, ThreadOp};
use std::collections::BTreeSet;

const RULE: &str = "gaps";

/// Assumptions of library models that a static answer shares. Those about one run or one input it does not need: a result that is no
/// constant may be every value, and memory that was never written holds any.
const SHARED: &[&str] =
    &["A-LOCKFN", "A-KLOCK", "A-IGNORE", "A-EXTERN", "A-SIGNAL", "A-LAYOUT", "A-THREAD", "A-MTSAFE"];

pub(crate) fn check(code: &Code<'_>, accesses: &[Access<'_>]) -> Result<(), Refusal> {
    if let Some(access) = accesses.iter().find(|access| access.targets.iter().any(|at| is_unknown(code, *at)))
    {
        return code.refuse(access.site, RULE, "an access through an address of unknown origin");
    }
    streams::check(code, accesses)?;
    errno::check(code)?;
    environ::check(code, accesses)?;
    let mut needed: BTreeSet<&'static str> = BTreeSet::from(["A-BOUNDS"]);
    if handles::are_read_early(code, accesses) {
        needed.insert("A-HANDLE");
    }
    if !code.roots.entries.is_empty() {
        needed.insert("A-ENTRY");
    }
    code.each_instruction(|at, inst| {
        if numbers::is_used_by(code, at.function, inst) {
            return code.refuse_at(at, RULE, "an access through an address of unknown origin");
        }
        match inst {
            Inst::Unsupported { reason, .. } => {
                return code.refuse_at(at, RULE, code.program.text(*reason));
            }
            Inst::Asm { .. } => {
                needed.insert("A-ASM");
            }
            _ => {}
        }
        Ok(())
    })?;
    for (function, body) in code.program.functions.iter() {
        for block in code.reachable_blocks(function) {
            if let Terminator::Unsupported { reason } = &body.blocks[block].terminator {
                let at = At { function, block, index: body.blocks[block].insts.len() };
                return code.refuse_at(at, RULE, code.program.text(*reason));
            }
        }
    }
    calls(code, &mut needed)?;
    match needed.iter().find(|id| !code.proof.assumptions.iter().any(|listed| listed == *id)) {
        Some(missing) => {
            code.refuse(SiteId::NONE, "assumptions", format!("{missing} is needed and not listed"))
        }
        None => Ok(()),
    }
}

/// Memory of which nothing is known, not even that it belongs to functions without body or model.
fn is_unknown(code: &Code<'_>, (object, at): (ObjectId, Offsets)) -> bool {
    let theirs = part_of_foreign(code.program.functions.len());
    code.kind(object) == ObjectKind::Unknown && part_around(at) != theirs
}

/// Whether the argument is known not to be what the gap is about.
fn is_harmless(code: &Code<'_>, function: FunctionId, args: &[CallArg], doubt: Doubt) -> bool {
    let Some(arg) = args.get(usize::from(doubt.arg().0)) else { return matches!(doubt, Doubt::NotNull(_)) };
    let number = || code.term(function, arg.value, arg.ty)?.as_constant();
    match doubt {
        Doubt::MapsMemoryInUse(_) => number().is_some_and(maps_fresh_memory),
        Doubt::LosesContents(_) => number().is_some_and(keeps_contents),
        Doubt::NotNull(_) => {
            arg.value == Operand::Null
                || constant_in(&code.facts.values, function, arg.value, arg.ty) == Some(0)
        }
        Doubt::HasPointerConversion(_) => {
            let starts = code.pointees(function, arg.value);
            !starts.is_empty()
                && starts.iter().all(|(object, at)| match code.kind(*object) {
                    ObjectKind::Global(global) if at.is_exact() => {
                        format_at(code, global, at.low).is_some_and(|format| !has_pointer_conversion(format))
                    }
                    _ => false,
                })
        }
    }
}

/// The bytes of a constant global from an offset on.
fn format_at<'c>(code: &'c Code<'_>, global: GlobalId, offset: i64) -> Option<&'c [u8]> {
    let global = &code.program.globals[global];
    match &global.init {
        Some(init) if global.constant && init.relocations.is_empty() => {
            usize::try_from(offset).ok().and_then(|offset| init.data.get(offset..))
        }
        _ => None,
    }
}

fn calls(code: &Code<'_>, needed: &mut BTreeSet<&'static str>) -> Result<(), Refusal> {
    let (mut cleanup, mut leaves) = (None, false);
    foreign(code, needed)?;
    for (function, calls) in code.calls.from.iter() {
        for call in calls {
            let (_, args) = call.parts(code, function);
            for (target, effect) in &call.effects {
                if let Meaning::Effect(_, ids) = &code.models.meanings[*target] {
                    // A result that is a constant is the model's word.
                    let constant = effect.fixed_result().is_some();
                    needed.extend(ids.iter().filter(|id| SHARED.contains(id) || constant));
                }
                match effect {
                    Effect::Unsupported { reason } => return code.refuse(call.site, RULE, *reason),
                    Effect::Thread(ThreadOp::Cancel { .. }, _) => {
                        return code.refuse(call.site, RULE, "a thread is cancelled");
                    }
                    Effect::Thread(ThreadOp::Create { .. } | ThreadOp::CreateReturning { .. }, _) => {
                        needed.insert("A-THREAD");
                    }
                    // The number of readers or of levels is limited; C11 names no reasons at all.
                    Effect::Lock { family: LockFamily::C11Mutex, how: How::Block, .. } => {
                        needed.insert("A-LOCK");
                    }
                    Effect::Lock {
                        family: LockFamily::PthreadRwlock,
                        mode: Mode::Shared,
                        how: How::Block,
                        ..
                    } => {
                        needed.insert("A-LOCK");
                    }
                    Effect::Libc(name) if name.0 == "pthread_mutexattr_settype" => {
                        needed.insert("A-LOCK");
                    }
                    Effect::Thread(ThreadOp::CleanupRegister, _) => cleanup = cleanup.or(Some(call.site)),
                    Effect::Thread(ThreadOp::Exit { .. }, _) => leaves = true,
                    _ => {}
                }
                let memory = effect.memory();
                for touch in &memory.touches {
                    let arg = match touch.region {
                        Region { base: Base::Arg(arg), reach: Reach::Direct } => args.get(usize::from(arg.0)),
                        _ => None,
                    };
                    if arg.is_some_and(|arg| numbers::may_be_number(code, function, arg.value)) {
                        let text = "a library call is given an address of unknown origin";
                        return code.refuse(call.site, RULE, text);
                    }
                }
                if let Some(reason) = memory.gap {
                    return code.refuse(call.site, RULE, reason);
                }
                if let Some((doubt, reason)) = memory.gap_if
                    && !is_harmless(code, function, args, doubt)
                {
                    return code.refuse(call.site, RULE, reason);
                }
            }
        }
    }
    match cleanup {
        Some(site) if leaves => {
            code.refuse(site, RULE, "a thread may exit with a clean-up handler registered")
        }
        _ => Ok(()),
    }
}

/// Functions without body or model: they are not given a function, nor anything whose operations must all be known.
fn foreign(code: &Code<'_>, needed: &mut BTreeSet<&'static str>) -> Result<(), Refusal> {
    let mut counted: BTreeSet<ObjectId> = BTreeSet::new();
    for (function, calls) in code.calls.from.iter() {
        for call in calls {
            let (_, args) = call.parts(code, function);
            for (_, effect) in &call.effects {
                let arg = match effect {
                    Effect::Sem(SemOp::Wait { sem, .. } | SemOp::Post { sem }, _) => *sem,
                    Effect::BarrierWait { barrier, .. } => *barrier,
                    Effect::Once { once, .. } => *once,
                    _ => continue,
                };
                let arg = args.get(usize::from(arg.0));
                let places = arg.map_or_else(Vec::new, |arg| code.pointees(function, arg.value));
                counted.extend(places.into_iter().map(|(object, _)| object));
            }
        }
    }
    let kept = code.handed_out();
    let is_open = kept.iter().any(|(object, _)| code.kind(*object) != ObjectKind::Unknown)
        || code.foreign_calls().any(|call| call.returns_pointer);
    for call in code.foreign_calls() {
        match is_open {
            true => needed.extend(["A-EXTLOCK", "A-EXTNAME"]),
            false => needed.extend(["A-EXTERN"]),
        }
        let stays = |(object, _): &(ObjectId, _)| {
            code.owner(*object) == Owner::Caller && !kept.iter().any(|(other, _)| other == object)
        };
        if code.reach(call.function, call.args).iter().any(stays) {
            needed.insert("A-EXTLOCAL");
        }
        if is_open && code.program.functions.iter().any(|(id, _)| is_open_to_others(code, id)) {
            let text = "a function without a body may call one that other files can name";
            return code.refuse(call.site, RULE, text);
        }
        let used = code.used(call.function, call.args);
        if used.iter().any(|(object, _)| code.owner(*object) == Owner::Code) {
            return code.refuse(
                call.site,
                RULE,
                "a function without a body may call one that was handed out",
            );
        }
        if used.iter().any(|(object, _)| counted.contains(object)) {
            let text = "a function without a body may use a semaphore, barrier or once control";
            return code.refuse(call.site, RULE, text);
        }
    }
    Ok(())
}

/// Whether other files may call this function of the program; they do not start the program again.
fn is_open_to_others(code: &Code<'_>, function: FunctionId) -> bool {
    let body = &code.program.functions[function];
    body.is_defined() && body.exported && !body.library_copy && code.roots.main != Some(function)
}
