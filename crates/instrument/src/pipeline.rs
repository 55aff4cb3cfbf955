//! The order of things: passes that lose no race, checks, optimisation, hooks inlined, code.

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use raddle_frontend::embedded::Level;
use raddle_ir::Program;

use crate::accesses;
use crate::atomics;
use crate::barriers::Barriers;
use crate::body::Body;
use crate::checks;
use crate::emit::Emitter;
use crate::graph::Graph;
use crate::hooks::{Hooks, PREFIX, WRAPPED, hook_name};
use crate::inlining;
use crate::llvm::{Builder, CodeModel, Module, OptLevel, Problems, Target, Value};
use crate::locals::{Captures, Locals};
use crate::marks::{Marks, UsedSites};
use crate::merged::Merged;
use crate::own_locks;
use crate::redundancy;
use crate::stack::{self, Silent};
use crate::undefined;
use crate::wait_loops::{self, Waits};
use crate::walks;
use crate::{BuildError, Keep, Options, Output, Reduce, Text};

pub(crate) struct Made {
    pub(crate) object: Vec<u8>,
    pub(crate) sites: UsedSites,
    pub(crate) text: Option<String>,
    pub(crate) warnings: Vec<String>,
}

/// Inlining and splitting of locals: removes memory of one thread only. Simplifying control flow is not among them, because LLVM's
/// pass makes conditional loads unconditional.
const BEFORE: &str = "cgscc(inline,function(sroa))";
/// Once every access has its check: merges equal addresses, moves what does not change out of loops. Checks stay where they are; the
/// program's own accesses may go.
const SIMPLIFY: &str = "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
    loop-mssa(loop-rotate,licm),gvn,loop-mssa(licm),loop(indvars),\
    instcombine<no-verify-fixpoint>,loop-simplify)";
/// Between two rounds: what was written at the exits of inner loops moves out of outer ones, as far as it does not change there.
const AGAIN: &str =
    "function(loop-mssa(licm),loop(indvars),early-cse,instcombine<no-verify-fixpoint>,loop-simplify)";
/// Rounds at most: one for each loop that a walk may move out of.
const NESTING: u32 = 3;
/// After the hooks have been linked: they are small and marked to be inlined.
const AFTER: &str =
    "always-inline,globaldce,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

pub(crate) fn run(
    marked: &[u8],
    program: &Program,
    keep: Keep,
    options: &Options<'_>,
    level: Level,
    text: Text,
) -> Result<Made, BuildError> {
    let failed = |what: &'static str| move |reason: String| BuildError::Llvm { what, reason };
    let context = Context::create();
    let problems = Problems::of(&context);
    let module = Module::read(&context, marked).map_err(failed("reading the linked bitcode"))?;
    let pic = options.pic
        || options.output == Output::SharedLibrary
        || module.flag("PIC Level").is_none_or(|level| level > 0);
    let model = if pic { CodeModel::PositionIndependent } else { CodeModel::Fixed };
    let target = Target::new(&module, code_level(level), model).map_err(failed("code generation"))?;

    let mut marks = Marks::collect(&module, program, keep);
    // Before any pass: the optimiser knows what `strcpy` does, and would put unchecked accesses in its place.
    rename_wrapped(&module, options.wrapped);
    let warnings = own_locks::surround(&module, options.own_locks);
    let pinned = pin_unused_loads(&module);
    undefined::define_all(&module, &ours(&module));
    module.run(BEFORE, &target).map_err(failed("inlining"))?;
    unpin(&module, pinned);

    let hooks = Hooks::declare(&module);
    let emitter = Emitter { module: &module, builder: Builder::new(&module), hooks: &hooks };
    let functions = ours(&module);
    undefined::define_values(&functions);
    check_all(&emitter, &functions, &mut marks);
    module.verify().map_err(failed("the instrumented program"))?;
    if options.reduce == Reduce::All {
        module.run(SIMPLIFY, &target).map_err(failed("simplification"))?;
        for _ in 0..NESTING {
            if !check_less(&emitter, &functions, &mut marks) {
                break;
            }
            module.run(AGAIN, &target).map_err(failed("simplification"))?;
        }
    }
    finish(&emitter, &functions, options, &mut marks);
    module.verify().map_err(failed("the reduced program"))?;
    let text = (text == Text::Yes).then(|| module.print());

    module.run(passes(level), &target).map_err(failed("optimisation"))?;
    if let Some(hot) = options.hot {
        let hot = Module::read(&context, hot).map_err(failed("reading the inlined hooks"))?;
        let inlined: Vec<String> = hot
            .functions()
            .into_iter()
            .filter(|function| function.function_has(None, "alwaysinline"))
            .map(Value::name)
            .collect();
        module.link(hot).map_err(failed("linking the inlined hooks"))?;
        module.hide(&inlined);
        module.preserve_registers(&inlined);
        inlining::limit(&module, inlined.iter().filter(|name| is_check(name)));
        module.run(AFTER, &target).map_err(failed("inlining of hooks"))?;
    }
    let object = module.object(&target).map_err(failed("code generation"))?;
    problems.none().map_err(failed("code generation"))?;
    Ok(Made { object, sites: marks.into_used(), text, warnings })
}

/// A check for every access, and the runtime told of every atomic operation.
fn check_all(emitter: &Emitter<'_>, functions: &[Value], marks: &mut Marks) {
    let captures = Captures::find(emitter.module);
    let waits = Waits::find(emitter.module, functions);
    let merged = Merged::find(emitter.module, functions, &captures, marks);
    for &function in functions {
        let body = Body::read(function);
        let mut locals = Locals::new(&captures);
        accesses::instrument(emitter, &body, (&mut locals, &merged), marks);
        atomics::instrument(emitter, &body, (&mut locals, &merged), marks);
        wait_loops::instrument(emitter, &body, &waits, marks);
    }
}

/// Whether there are walks within further loops, so that another round may find more.
fn check_less(emitter: &Emitter<'_>, functions: &[Value], marks: &mut Marks) -> bool {
    let mut nested = false;
    let barriers = Barriers::find(emitter.module);
    let hooks = checks::hooks_by_function(emitter.hooks);
    for &function in functions {
        let body = Body::read(function);
        let found = checks::read(&body, &hooks);
        if found.is_empty() {
            continue;
        }
        let graph = Graph::of(&body);
        let (needed, mut dead) = redundancy::reduce(emitter.module, &body, &graph, &barriers, found, marks);
        let walked = walks::write(emitter, &body, &graph, &barriers, &needed);
        nested |= !walked.is_empty() && graph.is_nested();
        dead.extend(walked);
        // Only now: the body still names these calls.
        for call in dead {
            call.erase();
        }
    }
    nested
}

/// The shadow stack, and the sites of libraries.
fn finish(emitter: &Emitter<'_>, functions: &[Value], options: &Options<'_>, marks: &mut Marks) {
    let module = emitter.module;
    let silent = Silent::find(module);
    for &function in functions {
        stack::instrument(emitter, function, &silent, marks);
    }
    if options.output == Output::SharedLibrary {
        emitter.add_base(module.hidden_zero(&format!("{PREFIX}site_base"), module.int(32)));
    }
}

/// Calls and pointers to a library function then mean the runtime's.
fn rename_wrapped(module: &Module, wrapped: &[&str]) {
    for name in wrapped {
        if let Some(function) = module.function(name).filter(|function| function.is_declaration()) {
            function.set_name(&format!("{WRAPPED}{name}"));
        }
    }
}

/// The hooks that come once for each access, and are more than a store or two.
fn is_check(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|hook| hook.starts_with("read") || hook.starts_with("write"))
}

/// Functions that get checks.
fn ours(module: &Module) -> Vec<Value> {
    module.functions().into_iter().filter(|function| is_ours(*function)).collect()
}

/// Those with a body, unless they forbid it or have no ordinary frame.
fn is_ours(function: Value) -> bool {
    !function.is_declaration()
        && !function.function_has(None, "naked")
        && !function.function_has(None, "disable_sanitizer_instrumentation")
        && hook_name(&function.name()).is_none()
}

/// A load whose value nobody uses is dead code for the inliner, but a read for a race checker.
fn pin_unused_loads(module: &Module) -> u32 {
    let kind = module.metadata_kind("raddle.pinned");
    for function in module.functions() {
        for inst in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            if inst.is(LLVMOpcode::LLVMLoad) && !inst.is_volatile() && inst.users().is_empty() {
                inst.set_volatile(true);
                module.set_number(inst, kind, 1);
            }
        }
    }
    kind
}

fn unpin(module: &Module, kind: u32) {
    for function in module.functions() {
        for inst in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            if module.number(inst, kind).is_some() {
                inst.set_volatile(false);
            }
        }
    }
}

fn code_level(level: Level) -> OptLevel {
    match level {
        Level::O0 => OptLevel::None,
        Level::O1 => OptLevel::Less,
        Level::Oz | Level::Os | Level::O2 => OptLevel::Default,
        Level::O3 => OptLevel::Aggressive,
    }
}

fn passes(level: Level) -> &'static str {
    match level {
        Level::O0 => "default<O0>",
        Level::O1 => "default<O1>",
        Level::Oz => "default<Oz>",
        Level::Os => "default<Os>",
        Level::O2 => "default<O2>",
        Level::O3 => "default<O3>",
    }
}
