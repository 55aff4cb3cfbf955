//! From the functions of one program to what calling them means.

use crate::{
    Answer, Arg, AtomicCall, Effect, How, LockFamily, Mode, Returns, Row, SyncKind, VerifierOp, lookup,
};
use raddle_base::IdVec;
use raddle_config::{Config, External, LockFunctions, LockMode, TrySuccess};
use raddle_ir::{DebugType, DebugTypeId, Function, FunctionId, Program, Ty};

/// The meaning of every function of a program.
#[derive(Clone, Debug)]
pub struct Models {
    pub meanings: IdVec<FunctionId, Meaning>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Run the body.
    Body,
    /// Run the body inside the global atomic section (`__VERIFIER_atomic_*`).
    AtomicBody,
    /// Do this instead of the body, if there is one; numbered assumptions it relies on.
    Effect(Effect, Vec<&'static str>),
    /// Declared, never defined, no row and not to be ignored: it may use what it is given and what was published.
    Unknown,
}

impl Meaning {
    /// Whether calling the function runs its body.
    pub fn is_body(&self) -> bool {
        matches!(self, Meaning::Body | Meaning::AtomicBody)
    }
}

impl Models {
    /// Resolves every function by name; user lock functions come from the configuration.
    pub fn resolve(program: &Program, config: &Config) -> Models {
        Models { meanings: program.functions.values().map(|f| meaning(program, config, f)).collect() }
    }

    /// The meanings for a program made of copies of functions: `function_origin` says of which function of this program each is a
    /// copy.
    pub fn of_expanded(&self, function_origin: &IdVec<FunctionId, FunctionId>) -> Models {
        Models { meanings: function_origin.values().map(|&origin| self.meanings[origin].clone()).collect() }
    }
}

fn meaning(program: &Program, config: &Config, function: &Function) -> Meaning {
    let name = library_name(program, function);
    if let Some(effect) = config.locks.iter().find_map(|functions| user_lock(functions, name)) {
        return Meaning::Effect(effect, vec!["A-LOCKFN"]);
    }
    let row = lookup(name);
    if !function.is_defined() || (function.library_copy && row.is_some()) {
        if config.ignore.iter().any(|ignored| ignored == name) {
            return Meaning::Effect(Effect::Nothing { result: IGNORED }, vec!["A-IGNORE"]);
        }
        return match row {
            Some(row) => {
                let mut assumptions = row.assumptions.to_vec();
                if is_kernel(&row.effect) {
                    assumptions.push("A-KLOCK");
                }
                Meaning::Effect(narrowed(row.effect, function), assumptions)
            }
            // Any value, but of which type: not 0, which is what an unknown function would return.
            None if name.starts_with("__VERIFIER_nondet_") => {
                let reason = "a nondeterministic value of an unknown type";
                Meaning::Effect(Effect::Unsupported { reason }, Vec::new())
            }
            None if throws(name) => {
                Meaning::Effect(Effect::Unsupported { reason: "a C++ exception" }, Vec::new())
            }
            None if config.external == External::Pure => {
                Meaning::Effect(Effect::Nothing { result: Answer::Open(0) }, vec!["A-EXTERN"])
            }
            None => Meaning::Unknown,
        };
    }
    if let Some(rest) = name.strip_prefix("__VERIFIER_atomic_") {
        return match row {
            Some(row) if matches!(rest, "begin" | "end") => Meaning::Effect(row.effect, Vec::new()),
            _ => Meaning::AtomicBody,
        };
    }
    match row {
        Some(row) if is_kernel_lock_of_a_header(program, function, row) => {
            let mut assumptions = row.assumptions.to_vec();
            assumptions.push("A-KLOCK");
            Meaning::Effect(row.effect, assumptions)
        }
        _ => Meaning::Body,
    }
}

/// The name by which the table knows a function: the linker's, without the number that linking adds to a `static` function of a
/// second file (`spin_lock.3`) and without the mark of an `asm` label.
fn library_name<'p>(program: &'p Program, function: &Function) -> &'p str {
    let symbol = program.text(function.symbol);
    let name = program.text(function.name);
    match symbol.split_once('.') {
        Some((stem, _)) if stem == name => name,
        _ => symbol.strip_prefix('\u{1}').unwrap_or(symbol),
    }
}

/// `std::__throw_out_of_range(…)` and its siblings, which the headers of the C++ library call.
fn throws(name: &str) -> bool {
    let rest = name.strip_prefix("_ZSt").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.is_some_and(|rest| rest.starts_with("__throw_"))
}

/// A nondeterministic value is no wider than the declared result: `long` depends on the data model.
fn narrowed(effect: Effect, function: &Function) -> Effect {
    match (effect, function.returns.first()) {
        (Effect::Verifier(VerifierOp::Nondet { bits, signed, boolean }), Some(Ty::Int(width))) => {
            Effect::Verifier(VerifierOp::Nondet { bits: bits.min(*width), signed, boolean })
        }
        _ => effect,
    }
}

fn user_lock(functions: &LockFunctions, name: &str) -> Option<Effect> {
    let is = |candidate: &Option<String>| candidate.as_deref() == Some(name);
    let (family, lock) = (LockFamily::Custom, Arg(functions.argument));
    let mode = match functions.mode {
        LockMode::Exclusive => Mode::Exclusive,
        LockMode::Shared => Mode::Shared,
    };
    if is(&functions.acquire) {
        Some(Effect::Lock { family, lock, mode, how: How::Block, returns: Returns::Errno })
    } else if is(&functions.try_acquire) {
        let returns = match functions.try_success {
            TrySuccess::Zero => Returns::ZeroOnSuccess,
            TrySuccess::NonZero => Returns::OneOnSuccess,
        };
        Some(Effect::Lock { family, lock, mode, how: How::Try, returns })
    } else if is(&functions.release) {
        Some(Effect::Unlock { family, lock, mode: Some(mode), returns: Returns::Errno })
    } else {
        None
    }
}

/// What a function returns that the configuration tells to ignore.
const IGNORED: Answer = Answer::Fixed { value: 0, because: "the configuration says so (A-IGNORE)" };

/// Types that the kernel's locks have, by `struct` tag or typedef name.
const KERNEL_LOCK_TYPES: &[&str] = &[
    "spinlock",
    "spinlock_t",
    "raw_spinlock",
    "raw_spinlock_t",
    "arch_spinlock",
    "arch_spinlock_t",
    "qspinlock",
    "rwlock_t",
    "mutex",
    "rt_mutex",
    "semaphore",
    "rw_semaphore",
];

/// Whether the body of a kernel lock function comes from a header and takes a kernel lock: then its name says more than the inline
/// assembly inside (A-KLOCK). A function of the same name that the program itself defines, or over another type, runs its body.
fn is_kernel_lock_of_a_header(program: &Program, function: &Function, row: &Row) -> bool {
    let Some(lock) = kernel_lock_argument(&row.effect) else { return false };
    !function.in_primary_file
        && function
            .params
            .get(usize::from(lock.0))
            .and_then(|param| param.debug_type)
            .is_some_and(|ty| points_to_kernel_lock(program, ty))
}

/// Whether only the kernel gives the name of a row its meaning.
fn is_kernel(effect: &Effect) -> bool {
    kernel_lock_argument(effect).is_some() || matches!(effect, Effect::Atomic(AtomicCall::Kernel { .. }))
}

fn kernel_lock_argument(effect: &Effect) -> Option<Arg> {
    match *effect {
        Effect::Lock { family, lock, .. } | Effect::Unlock { family, lock, .. } if family.is_kernel() => {
            Some(lock)
        }
        Effect::SyncInit { kind: SyncKind::KernelLock | SyncKind::KernelSemaphore, object, .. } => {
            Some(object)
        }
        _ => None,
    }
}

fn points_to_kernel_lock(program: &Program, ty: DebugTypeId) -> bool {
    match program.debug_types[program.strip(ty)] {
        DebugType::Pointer { to } => is_kernel_lock(program, to),
        _ => false,
    }
}

fn is_kernel_lock(program: &Program, ty: DebugTypeId) -> bool {
    let named = |name| KERNEL_LOCK_TYPES.contains(&program.text(name));
    match &program.debug_types[ty] {
        DebugType::Typedef { name, to } => named(*name) || is_kernel_lock(program, *to),
        DebugType::Qualified { to, .. } => is_kernel_lock(program, *to),
        DebugType::Record { name, .. } | DebugType::Unknown { name } => name.is_some_and(named),
        _ => false,
    }
}
