//! Calls of the reachable code with every function that they may run, and how.
//!
//! *May*, as far as the points-to facts are closed: a pointer runs every function in its set. A set with anything that is no
//! function, or with nothing, is refused, and so is a library function as a callback: what it does there is not followed.

use super::Refusal;
use super::code::{At, Code};
use raddle_base::IdVec;
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{BlockId, CallArg, Callee, FunctionId, Inst, Operand, Reg, SiteId};
use raddle_libmodel::memory::{Callback, Value, When};
use raddle_libmodel::{Effect, Meaning};

#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    /// Per function, its calls in program order.
    pub from: IdVec<FunctionId, Vec<Call>>,
    /// Per function, who runs it: caller, position in its list.
    pub to: IdVec<FunctionId, Vec<(FunctionId, usize)>>,
    /// Can be twice on one stack.
    pub recursive: IdVec<FunctionId, bool>,
}

/// One call instruction in a reachable block.
#[derive(Clone, Debug)]
pub struct Call {
    pub site: SiteId,
    pub block: BlockId,
    /// Position of the instruction in its block.
    pub index: usize,
    /// Functions of the program that it runs; one function can be there in several ways.
    pub runs: Vec<Run>,
    /// Modelled functions among the callees.
    pub effects: Vec<(FunctionId, Effect)>,
    /// Functions without body or model among the callees (A-EXTERN).
    pub unknown: Vec<FunctionId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub function: FunctionId,
    pub way: Way,
    pub passes: Passes,
}

/// What becomes the parameters, in order; parameters beyond get nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passes {
    /// The arguments of the call.
    Arguments,
    /// These values of the library function.
    Values(Vec<Value>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// In the calling thread, once, before the call returns.
    Call,
    /// The same inside the global atomic section.
    AtomicCall,
    /// In the calling thread, any number of times, by the library (`qsort`).
    Callback,
    /// In a new thread.
    Thread,
    /// By `pthread_once`: at most once per control object; every return comes after its end.
    Once,
    /// Later, on some thread (`atexit`, destructors of keys).
    Handler,
}

impl Way {
    /// Runs inside the caller's activation.
    pub fn is_nested(self) -> bool {
        matches!(self, Way::Call | Way::AtomicCall | Way::Callback)
    }
}

impl Call {
    pub(crate) fn at(&self, function: FunctionId) -> At {
        At { function, block: self.block, index: self.index }
    }

    /// The functions that run inside the call.
    pub fn nested(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.way.is_nested())
    }

    /// Whether the library or a function without body does (a part of) it.
    pub fn is_only_bodies(&self) -> bool {
        self.effects.is_empty() && self.unknown.is_empty()
    }

    /// The instruction's results and arguments.
    pub(crate) fn parts<'c>(&self, code: &'c Code<'_>, function: FunctionId) -> (&'c [Reg], &'c [CallArg]) {
        match &code.program.functions[function].blocks[self.block].insts[self.index] {
            Inst::Call { dsts, args, .. } => (dsts, args),
            _ => (&[], &[]),
        }
    }
}

impl Calls {
    pub fn of(code: &Code<'_>) -> Result<Calls, Refusal> {
        let mut from: IdVec<FunctionId, Vec<Call>> =
            code.program.functions.ids().map(|_| Vec::new()).collect();
        code.each_instruction(|at, inst| {
            if let Inst::Call { callee, args, .. } = inst {
                from[at.function].push(call(code, at, *callee, args)?);
            }
            Ok(())
        })?;
        let mut to: IdVec<FunctionId, Vec<(FunctionId, usize)>> =
            code.program.functions.ids().map(|_| Vec::new()).collect();
        for (caller, calls) in from.iter() {
            for (position, call) in calls.iter().enumerate() {
                for run in &call.runs {
                    if to[run.function].last() != Some(&(caller, position)) {
                        to[run.function].push((caller, position));
                    }
                }
            }
        }
        let recursive = recursive(&from);
        Ok(Calls { from, to, recursive })
    }

    /// The call at a site of a function; `None` for what is no call in a reachable block.
    pub fn at(&self, function: FunctionId, site: SiteId) -> Option<&Call> {
        let calls = &self.from[function];
        calls.binary_search_by_key(&site, |call| call.site).ok().map(|at| &calls[at])
    }

    /// All ways in which a function is run, with the caller.
    pub fn runs_of(&self, function: FunctionId) -> impl Iterator<Item = (FunctionId, &Call, &Run)> {
        self.to[function].iter().flat_map(move |(caller, position)| {
            let call = &self.from[*caller][*position];
            call.runs.iter().filter(move |run| run.function == function).map(move |run| (*caller, call, run))
        })
    }
}

fn call(code: &Code<'_>, at: At, callee: Callee, args: &[CallArg]) -> Result<Call, Refusal> {
    let site = code.site(at);
    let callees = match callee {
        Callee::Direct(target) | Callee::Indirect(Operand::Function(target)) => vec![target],
        Callee::Indirect(operand) => functions(code, site, &code.pointees(at.function, operand))?,
    };
    let mut call = Call {
        site,
        block: at.block,
        index: at.index,
        runs: Vec::new(),
        effects: Vec::new(),
        unknown: Vec::new(),
    };
    for target in callees {
        let run = |way| Run { function: target, way, passes: Passes::Arguments };
        match &code.models.meanings[target] {
            Meaning::Body | Meaning::AtomicBody if !code.program.functions[target].is_defined() => {
                return code.refuse(site, "models", "a function without a body is to be run");
            }
            Meaning::Body => call.runs.push(run(Way::Call)),
            Meaning::AtomicBody => call.runs.push(run(Way::AtomicCall)),
            Meaning::Unknown => call.unknown.push(target),
            Meaning::Effect(effect, _) => {
                call.effects.push((target, *effect));
                for callback in &effect.memory().calls {
                    call.runs.extend(callbacks(code, at, args, effect, callback)?);
                }
            }
        }
    }
    Ok(call)
}

/// The functions that a library function calls back.
fn callbacks(
    code: &Code<'_>,
    at: At,
    args: &[CallArg],
    effect: &Effect,
    callback: &Callback,
) -> Result<Vec<Run>, Refusal> {
    let site = code.site(at);
    let way = match (effect, callback.when) {
        (Effect::Once { .. }, _) => Way::Once,
        (_, When::Now) => Way::Callback,
        (_, When::NewThread) => Way::Thread,
        (_, When::ProcessExit | When::ThreadExit) => Way::Handler,
    };
    let Some(argument) = args.get(usize::from(callback.function.0)) else {
        return code.refuse(site, "calls", "the function to call back is not passed");
    };
    let targets = match argument.value {
        // No function: nothing is called, or the program goes wrong.
        Operand::Null => Vec::new(),
        Operand::Function(target) => vec![target],
        value => functions(code, site, &code.pointees(at.function, value))?,
    };
    let mut runs = Vec::new();
    for function in targets {
        match &code.models.meanings[function] {
            Meaning::Body | Meaning::AtomicBody if code.program.functions[function].is_defined() => {
                runs.push(Run { function, way, passes: Passes::Values(callback.passes.clone()) });
            }
            _ => return code.refuse(site, "calls", "the library calls back a function that has no body"),
        }
    }
    Ok(runs)
}

fn functions(
    code: &Code<'_>,
    site: SiteId,
    targets: &[(ObjectId, Offsets)],
) -> Result<Vec<FunctionId>, Refusal> {
    if targets.is_empty() {
        return code.refuse(site, "calls", "a call through a pointer that points nowhere");
    }
    let mut found = Vec::new();
    for (object, _) in targets {
        match code.kind(*object) {
            ObjectKind::Function(function) => found.push(function),
            _ => return code.refuse(site, "calls", "a call through a pointer that may be no function"),
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Functions that a chain of nested calls leads back to.
fn recursive(from: &IdVec<FunctionId, Vec<Call>>) -> IdVec<FunctionId, bool> {
    let nested: IdVec<FunctionId, Vec<FunctionId>> = from
        .values()
        .map(|calls| {
            let mut list: Vec<FunctionId> =
                calls.iter().flat_map(|call| call.nested().map(|run| run.function)).collect();
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    super::flow::on_cycles(nested.len(), |at| nested.as_slice()[at].iter().map(|f| f.0 as usize).collect())
        .into_iter()
        .collect()
}
