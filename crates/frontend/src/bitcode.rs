//! Reads and checks bitcode, links it to one module, and promotes locals to registers.
//!
//! Bitcode from outside may be damaged, and LLVM's reader is not proof against that: it can abort or crash the process. So a given
//! file is first read and verified by LLVM's own `opt` in a child process; what that survived, the same reader survives here. Without
//! `opt` the file is read and verified directly, which is safe for any file that a compiler wrote.
//!
//! A compilation database does not say what is linked with what. A program is the source with its `main`, and from the other sources
//! without `main` those that define what is still missing, like members of an archive: first come, first taken.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use inkwell::context::Context;
use raddle_ir::DataModel;

use crate::compile::{Compiled, Language, Origin, Unit};
use crate::llvm::{Module, Value, new_context};
use crate::toolchain;
use crate::{FrontendError, Request};

pub(crate) struct Linked<'c> {
    pub(crate) module: Module<'c>,
    pub(crate) data_model: DataModel,
    pub(crate) warnings: Vec<String>,
    /// Functions that are `inline` and without a body all the same.
    pub(crate) withheld: BTreeSet<String>,
}

const TRIPLE_64: &str = "x86_64-pc-linux-gnu";
const LAYOUT_64: &str = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";
const TRIPLE_32: &str = "i386-pc-linux-gnu";
const LAYOUT_32: &str =
    "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i128:128-f64:32:64-f80:32-n8:16:32-S128";

pub(crate) fn link<'c>(
    context: &'c Context,
    compiled: &Compiled,
    request: &Request,
) -> Result<Linked<'c>, FrontendError> {
    let mut modules = Vec::new();
    let (mut warnings, mut withheld) = (Vec::new(), BTreeSet::new());
    for unit in &compiled.units {
        let module = read(context, unit, compiled.data_model, &request.stop)?;
        let found = data_model(&module).ok_or_else(|| FrontendError::ForeignTarget {
            path: unit.source.clone(),
            triple: module.triple(),
        })?;
        let wanted = request.data_model.unwrap_or(compiled.data_model);
        if found != wanted && (request.data_model.is_some() || unit.origin == Origin::Compiled) {
            return Err(FrontendError::DataModel { path: unit.source.clone(), found, wanted });
        }
        if !module.assembly().is_empty() {
            warnings.push(format!(
                "{}: assembly outside of functions is not read; functions written in it have no body",
                unit.source.display()
            ));
        }
        if unit.language == Language::C {
            withheld.extend(withheld_bodies(&module));
        }
        modules.push((unit, module, found));
    }
    if let Some(path) = &compiled.database {
        modules = choose(path, modules, request.target.as_deref(), &mut warnings)?;
    }
    let mut modules = modules.into_iter();
    let Some((first, mut module, data_model)) = modules.next() else {
        return Err(FrontendError::NoInputs);
    };
    for (unit, other, _) in modules {
        if other.layout_text() != module.layout_text() {
            return Err(FrontendError::MixedTargets {
                first: first.source.clone(),
                second: unit.source.clone(),
            });
        }
        module.link(other).map_err(|message| FrontendError::Link { path: unit.source.clone(), message })?;
    }
    module.promote_locals().map_err(|reason| FrontendError::Tool { what: "mem2reg".to_owned(), reason })?;
    Ok(Linked { module, data_model, warnings, withheld })
}

/// Clang does not emit the inline definition of a function that is also `noinline`. It shows in the debug information that our flags ask
/// for: a function that is called and defined elsewhere is described there, unless it is declared `inline` (or without a prototype).
fn withheld_bodies(module: &Module<'_>) -> Vec<String> {
    let described = |function: &Value<'_>| function.subprogram(module.context()).is_some();
    let prototype = |function: &Value<'_>| {
        function.global_type().is_some_and(|ty| !ty.is_variadic() || !ty.param_types().is_empty())
    };
    let called = |function: &Value<'_>| function.users().any(|user| user.called_value() == Some(*function));
    let candidates = module.functions().filter(|function| function.is_declaration() && !described(function));
    let names = candidates.filter(|function| prototype(function) && called(function)).map(Value::name);
    // Functions that clang itself calls have no declaration either; of those of a library we know what they do.
    let own = |name: &String| !name.starts_with("llvm.") && !name.starts_with('_');
    names.filter(|name| own(name) && raddle_libmodel::lookup(name).is_none()).collect()
}

/// The data model of a bitcode file, if it can be read and says one.
pub(crate) fn data_model_of(path: &Path, stop: &AtomicBool) -> Option<DataModel> {
    check(path, stop).ok()?;
    let context = new_context();
    let module = Module::read(&context, path).ok()?;
    data_model(&module)
}

fn read<'c>(
    context: &'c Context,
    unit: &Unit,
    default: DataModel,
    stop: &AtomicBool,
) -> Result<Module<'c>, FrontendError> {
    let problem = |message| FrontendError::Bitcode { path: unit.source.clone(), message };
    let verified = match unit.origin {
        Origin::Compiled => Verified::Whole,
        Origin::Given => match check(&unit.bitcode, stop) {
            Ok(verified) => verified,
            Err(_) if stop.load(Ordering::Relaxed) => return Err(FrontendError::Stopped),
            Err(message) => return Err(problem(message)),
        },
    };
    let mut module = Module::read(context, &unit.bitcode).map_err(problem)?;
    match verified {
        Verified::Whole => {}
        Verified::Code => module.strip(),
        Verified::NotYet => {
            if module.verify().is_err() {
                module.strip();
                module.verify().map_err(problem)?;
            }
        }
    }
    // Textual IR written by hand may leave out its target.
    if module.triple().is_empty() && module.layout_text().is_empty() {
        match default {
            DataModel::Lp64 => module.set_target(TRIPLE_64, LAYOUT_64),
            DataModel::Ilp32 => module.set_target(TRIPLE_32, LAYOUT_32),
        }
    }
    Ok(module)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verified {
    Whole,
    /// But for debug information.
    Code,
    NotYet,
}

/// Has `opt`, if there is one, read and verify a file.
fn check(path: &Path, stop: &AtomicBool) -> Result<Verified, String> {
    let Some(opt) = toolchain::opt() else { return Ok(Verified::NotYet) };
    // Once, as a pass that looks at debug information too, and not while reading, before it and after it.
    const ONCE: &str = "-disable-auto-upgrade-debug-info";
    let run = |options: &[&str]| {
        let options = ["-disable-verify", "-passes=verify", "-disable-output"].iter().chain(options);
        let mut arguments: Vec<OsString> = options.map(OsString::from).collect();
        arguments.extend(["--".into(), path.into()]);
        toolchain::run(&opt, &arguments, None, stop).map_err(|error| error.to_string())
    };
    if run(&[ONCE])?.success {
        return Ok(Verified::Whole);
    }
    // Broken debug information is left out, and not an error.
    let outcome = run(&[])?;
    if outcome.success {
        return Ok(Verified::Code);
    }
    // A crash prints a stack trace; its first line says enough.
    let first = outcome.message.lines().find(|line| !line.trim().is_empty()).unwrap_or("unreadable");
    let message = first.rsplit_once("opt: ").map_or(first, |(_, message)| message);
    Err(if message.starts_with("PLEASE submit") { "damaged file".to_owned() } else { message.to_owned() })
}

pub(crate) fn data_model(module: &Module<'_>) -> Option<DataModel> {
    let triple = module.triple();
    let architecture = triple.split('-').next()?;
    let linux = triple.contains("linux") || triple.ends_with("-elf") || triple.contains("-none");
    let layout = module.layout();
    if !layout.is_little_endian() || !linux {
        return None;
    }
    match (architecture, layout.pointer_bytes()) {
        ("x86_64" | "amd64", 8) => Some(DataModel::Lp64),
        ("i386" | "i486" | "i586" | "i686", 4) => Some(DataModel::Ilp32),
        _ => None,
    }
}

type Read<'a, 'c> = (&'a Unit, Module<'c>, DataModel);

/// The modules of one program of a database.
fn choose<'a, 'c>(
    database: &Path,
    modules: Vec<Read<'a, 'c>>,
    target: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Read<'a, 'c>>, FrontendError> {
    let has_main = |module: &Module<'_>| module.function("main").is_some_and(|main| !main.is_declaration());
    let candidates: Vec<usize> = (0..modules.len()).filter(|index| has_main(&modules[*index].1)).collect();
    let name = |index: usize| modules[index].0.source.display().to_string();
    let names: Vec<String> = candidates.iter().map(|index| name(*index)).collect();
    let main = match target {
        Some(target) => {
            let found = candidates.iter().find(|index| matches_target(&modules[**index].0.source, target));
            *found.ok_or_else(|| FrontendError::NoSuchTarget {
                path: database.to_owned(),
                target: target.to_owned(),
                candidates: names.clone(),
            })?
        }
        None => match candidates[..] {
            [only] => only,
            // A library: everything there is.
            [] => return Ok(modules),
            _ => {
                return Err(FrontendError::SeveralTargets { path: database.to_owned(), candidates: names });
            }
        },
    };
    let mut definitions: BTreeMap<String, usize> = BTreeMap::new();
    for (index, (_, module, _)) in modules.iter().enumerate() {
        if index != main && candidates.contains(&index) {
            continue;
        }
        for symbol in module.symbols().filter(|symbol| symbol.is_definition) {
            definitions.entry(symbol.name).or_insert(index);
        }
    }
    let (mut taken, mut queue) = (BTreeSet::from([main]), vec![main]);
    let mut defined: BTreeSet<String> = BTreeSet::new();
    while let Some(index) = queue.pop() {
        for symbol in modules[index].1.symbols() {
            if symbol.is_definition {
                defined.insert(symbol.name);
            } else if let Some(&provider) = definitions.get(&symbol.name)
                && !defined.contains(&symbol.name)
                && taken.insert(provider)
            {
                queue.push(provider);
            }
        }
    }
    let left_out = modules.len() - taken.len();
    if left_out > 0 {
        warnings.push(format!("{left_out} sources of {} are not part of {}", database.display(), name(main)));
    }
    let mut chosen: Vec<Read<'a, 'c>> = Vec::new();
    for (index, entry) in modules.into_iter().enumerate() {
        if taken.contains(&index) {
            chosen.push(entry);
        }
    }
    Ok(chosen)
}

/// `server`, `server.c` and `src/server.c` all name `src/server.c`.
fn matches_target(source: &Path, target: &str) -> bool {
    source.ends_with(target) || source.file_stem().is_some_and(|stem| stem == target)
}
