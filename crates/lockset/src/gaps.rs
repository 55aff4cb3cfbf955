//! What the analysis does not cover: constructs that are not understood, and assumptions that it makes.

mod addresses;
mod environ;
mod errno;
mod handles;
mod streams;

use addresses::MadeOfNumbers;
use environ::mixed_use;
use errno::{errno_is_kept, gives_errno};
use handles::handle_is_read_early;
use raddle_absint::Roots;
use raddle_absint::accesses::{Access, Objects};
use raddle_absint::calls::Calls;
use raddle_absint::foreign::Foreign;
use raddle_absint::terms::term_of;
use raddle_base::{Id, SiteId};
use raddle_facts::{ObjectId, ObjectKind, Offsets, OrderFacts, PointsTo, ThreadFacts, Values};
use raddle_ir::expand::Expanded;
use raddle_ir::{CallArg, FunctionId, GlobalId, Inst, Operand, Program, Terminator, Ty};
use raddle_libmodel::memory::{Doubt, has_pointer_conversion, keeps_contents, maps_fresh_memory};
use raddle_libmodel::{Arg, Effect, How, LockFamily, Meaning, Mode, Models, SemOp, ThreadOp};
use std::collections::{BTreeMap, BTreeSet};
use streams::{may_outlast, may_return};

const UNKNOWN_ORIGIN: &str = "an access through an address of unknown origin";

/// Something reachable that makes every proof void.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// In the original program.
    pub site: SiteId,
    pub text: String,
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn find(
    roots: &Roots,
    expanded: &Expanded,
    models: &Models,
    values: &Values,
    points_to: &PointsTo,
    calls: &Calls,
    accesses: &[Access],
    threads: &ThreadFacts,
    order: &OrderFacts,
) -> (Vec<Gap>, BTreeSet<&'static str>) {
    let mut gaps: BTreeMap<SiteId, String> = BTreeMap::new();
    // These hold for every answer of this engine: see docs/soundness.md.
    let mut assumptions: BTreeSet<&'static str> = BTreeSet::from(["A-BOUNDS"]);
    let mut gap = |site: SiteId, text: String| {
        gaps.entry(expanded.site_origin[site]).or_insert(text);
    };
    if let (None, Some(constructor)) = (roots.main, roots.constructors.first())
        && let Some(block) = expanded.program.functions[*constructor].blocks.values().next()
    {
        let text = "no thread runs the constructors of a program without `main`";
        gap(block.site_of(0), text.to_owned());
    }
    for (site, text) in &points_to.unresolved {
        gap(*site, text.clone());
    }
    for (id, function) in expanded.program.functions.iter() {
        let made = MadeOfNumbers::of(&expanded.program, values, points_to, id);
        for (block_id, block) in function.blocks.iter() {
            if !values.is_reachable(id, block_id) {
                continue;
            }
            for (index, inst) in block.insts.iter().enumerate() {
                if made.is_used_by(inst) {
                    gap(block.site_of(index), UNKNOWN_ORIGIN.to_owned());
                }
                match inst {
                    Inst::Unsupported { reason, .. } => {
                        gap(block.site_of(index), expanded.program.text(*reason).to_owned());
                    }
                    Inst::Asm { .. } => {
                        assumptions.insert("A-ASM");
                    }
                    _ => {}
                }
            }
            if let Terminator::Unsupported { reason } = &block.terminator {
                gap(block.terminator_site(), expanded.program.text(*reason).to_owned());
            }
        }
    }
    let foreign = Foreign::new(&expanded.program, points_to);
    let is_unknown = |(object, at): &(ObjectId, Offsets)| foreign.is_unknown(*object, *at);
    for access in accesses.iter().filter(|access| access.targets(points_to).iter().any(is_unknown)) {
        gap(access.site, UNKNOWN_ORIGIN.to_owned());
    }
    if let Some(main) = roots.main.filter(|main| may_return(&expanded.program, values, *main)) {
        let is_late = |access: &&Access| may_outlast(points_to, threads, order, main, access);
        for access in accesses.iter().filter(is_late) {
            gap(access.site, "the end of the process may flush the stream at the same time".to_owned());
        }
    }
    if errno_is_kept(&expanded.program, points_to, threads)
        && let Some(site) = calls.from.values().flatten().find(|call| gives_errno(call)).map(|call| call.site)
    {
        gap(site, "the address of `errno` is kept".to_owned());
    }
    if let Some(site) = mixed_use(&expanded.program, points_to, accesses) {
        gap(site, "functions on the environment in a program that also uses environ".to_owned());
    }
    if handle_is_read_early(&expanded.program, points_to, calls, accesses, threads) {
        assumptions.insert("A-HANDLE");
    }
    let counted = counted(&expanded.program, points_to, calls);
    let is_open = foreign.is_open() || returns_pointer(&expanded.program, calls);
    let (mut cleanup, mut exits) = (None, false);
    for (function, list) in calls.from.iter() {
        let made = MadeOfNumbers::of(&expanded.program, values, points_to, function);
        for call in list {
            let (_, args) = call.parts(&expanded.program, function);
            if let Some(unknown) = call.unknown.first() {
                let used = foreign.of_call(function, args);
                match is_open {
                    true => assumptions.extend(["A-EXTLOCK", "A-EXTNAME"]),
                    false => assumptions.extend(["A-EXTERN"]),
                }
                if used.keeps_locals_apart {
                    assumptions.insert("A-EXTLOCAL");
                }
                let name =
                    |function: FunctionId| expanded.program.text(expanded.program.functions[function].name);
                let unknown = name(*unknown);
                let named = || nameable(&expanded.program, roots).filter(|_| is_open);
                let callback = used.function.map(|function| (function, "was handed out"));
                let callback = callback.or_else(|| Some((named()?, "other files can name")));
                if let Some((callback, why)) = callback {
                    let callback = name(callback);
                    gap(call.site, format!("`{unknown}` has no body and may call `{callback}`, which {why}"));
                }
                if used.memory.iter().any(|(object, _)| counted.contains(object)) {
                    let text =
                        "has no body and may use a semaphore, barrier or once control that was handed out";
                    gap(call.site, format!("`{unknown}` {text}"));
                }
            }
            for target in &call.modelled {
                if let Meaning::Effect(effect, ids) = &models.meanings[*target] {
                    // A result that is a constant is the model's word.
                    let constant = effect.fixed_result().is_some();
                    assumptions.extend(ids.iter().filter(|id| KEPT.contains(id) || constant));
                }
            }
            for effect in &call.effects {
                match effect {
                    Effect::Unsupported { reason } => gap(call.site, (*reason).to_owned()),
                    Effect::Thread(ThreadOp::Cancel { .. }, _) => {
                        gap(call.site, "a thread is cancelled".to_owned());
                    }
                    Effect::Thread(ThreadOp::CleanupRegister, _) => cleanup = cleanup.or(Some(call.site)),
                    Effect::Thread(ThreadOp::Exit { .. }, _) => exits = true,
                    effect if may_lack_resources(effect) => {
                        assumptions.insert("A-LOCK");
                    }
                    Effect::Thread(ThreadOp::Create { .. } | ThreadOp::CreateReturning { .. }, _) => {
                        assumptions.insert("A-THREAD");
                    }
                    _ => {}
                }
                let memory = effect.memory();
                if memory.touches.iter().any(|touch| made.is_touched(touch, args)) {
                    gap(call.site, UNKNOWN_ORIGIN.to_owned());
                }
                if memory
                    .calls
                    .iter()
                    .any(|back| may_be_variadic(&expanded.program, points_to, function, args, back.function))
                {
                    gap(call.site, "the library calls back a function with variable arguments".to_owned());
                }
                if let Some(reason) = memory.gap {
                    gap(call.site, reason.to_owned());
                }
                if let Some((doubt, reason)) = memory.gap_if
                    && is_doubtful(&expanded.program, values, points_to, function, args, doubt)
                {
                    gap(call.site, reason.to_owned());
                }
            }
        }
    }
    if let Some(site) = cleanup.filter(|_| exits) {
        gap(site, "a thread may exit with a clean-up handler registered, which then runs".to_owned());
    }
    (gaps.into_iter().map(|(site, text)| Gap { site, text }).collect(), assumptions)
}

/// Locks that wait and may still fail, without an error of the program: for more readers than can be counted (POSIX), for more levels of a
/// recursive mutex, or for reasons that are not named (C11 7.26.4.3).
fn may_lack_resources(effect: &Effect) -> bool {
    match effect {
        Effect::Lock { family: LockFamily::PthreadRwlock, mode: Mode::Shared, how: How::Block, .. }
        | Effect::Lock { family: LockFamily::C11Mutex, how: How::Block, .. } => true,
        Effect::Libc(function) => function.0 == "pthread_mutexattr_settype",
        _ => false,
    }
}

/// Whether the function that is given by an argument takes variable arguments: C leaves undefined what they are when another than the
/// program's own code calls it.
fn may_be_variadic(
    program: &Program,
    points_to: &PointsTo,
    caller: FunctionId,
    args: &[CallArg],
    given: Arg,
) -> bool {
    let is_variadic = |target: FunctionId| {
        let function = &program.functions[target];
        function.is_defined() && function.variadic
    };
    match args.get(usize::from(given.0)).map(|arg| arg.value) {
        Some(Operand::Function(target)) => is_variadic(target),
        Some(Operand::Reg(reg)) => {
            let targets = points_to.targets_of(points_to.regs[caller][reg.index()]);
            targets.iter().any(|(object, _)| match points_to.objects[*object].kind {
                ObjectKind::Function(target) => is_variadic(target),
                _ => false,
            })
        }
        _ => false,
    }
}

fn is_doubtful(
    program: &Program,
    values: &Values,
    points_to: &PointsTo,
    function: FunctionId,
    args: &[CallArg],
    doubt: Doubt,
) -> bool {
    let arg = args.get(usize::from(doubt.arg().0));
    let number = |arg: &CallArg| term_of(values, function, arg.value).as_constant();
    match doubt {
        Doubt::NotNull(_) => arg.is_some_and(|arg| arg.value != Operand::Null && number(arg) != Some(0)),
        Doubt::MapsMemoryInUse(_) => !arg.and_then(number).is_some_and(maps_fresh_memory),
        Doubt::LosesContents(_) => !arg.and_then(number).is_some_and(keeps_contents),
        Doubt::HasPointerConversion(_) => arg.is_none_or(|arg| {
            let may_have = |global: GlobalId, offset: i64| {
                constant_text(program, global, offset).is_none_or(has_pointer_conversion)
            };
            match arg.value {
                Operand::Global(global, offset) => may_have(global, offset),
                Operand::Reg(reg) => {
                    let targets = points_to.targets_of(points_to.regs[function][reg.index()]);
                    targets.is_empty()
                        || targets.iter().any(|(object, at)| match points_to.objects[*object].kind {
                            ObjectKind::Global(global) if at.is_exact() => may_have(global, at.anchor),
                            _ => true,
                        })
                }
                _ => true,
            }
        }),
    }
}

/// The bytes of a constant from there to its end.
fn constant_text(program: &Program, global: GlobalId, offset: i64) -> Option<&[u8]> {
    let global = &program.globals[global];
    let init = global.init.as_ref().filter(|init| global.constant && init.relocations.is_empty())?;
    init.data.get(usize::try_from(offset).ok()?..)
}

/// A function of the program that other files can call by its name.
fn nameable(program: &Program, roots: &Roots) -> Option<FunctionId> {
    let mut all = program.functions.iter();
    all.find(|(id, body)| body.exported && body.is_defined() && !body.library_copy && roots.main != Some(*id))
        .map(|(id, _)| id)
}

/// Whether some function without body or model returns a pointer.
fn returns_pointer(program: &Program, calls: &Calls) -> bool {
    calls.from.iter().any(|(function, list)| {
        list.iter().filter(|call| !call.unknown.is_empty()).any(|call| {
            let (dsts, _) = call.parts(program, function);
            dsts.iter().any(|dst| program.functions[function].regs[*dst].ty == Ty::Ptr)
        })
    })
}

/// Objects with something whose operations are counted: the facts about order know all of them.
fn counted(program: &Program, points_to: &PointsTo, calls: &Calls) -> BTreeSet<ObjectId> {
    let objects = Objects::new(points_to);
    let mut found = BTreeSet::new();
    for (function, list) in calls.from.iter() {
        for call in list {
            let (_, args) = call.parts(program, function);
            for effect in &call.effects {
                let arg = match effect {
                    Effect::Sem(SemOp::Wait { sem, .. } | SemOp::Post { sem }, _) => *sem,
                    Effect::BarrierWait { barrier, .. } => *barrier,
                    Effect::Once { once, .. } => *once,
                    _ => continue,
                };
                if let Some(arg) = args.get(usize::from(arg.0)) {
                    let targets = objects.targets(points_to, function, arg.value);
                    found.extend(targets.of(points_to).iter().map(|(object, _)| *object));
                }
            }
        }
    }
    found
}

/// Assumptions of library models that a static answer shares. Those about one run or one input it does not need: a result that is no
/// constant may be every value, and memory that was never written holds any.
const KEPT: &[&str] =
    &["A-LOCKFN", "A-KLOCK", "A-IGNORE", "A-EXTERN", "A-SIGNAL", "A-LAYOUT", "A-THREAD", "A-MTSAFE"];
