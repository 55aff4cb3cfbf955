//! From a schedule of the interpreter to steps of the real program: which operation each choice performs, and where.

use crate::load::Loaded;
use raddle_certify::Witness;
use raddle_event::{Addr, Event, EventKind};
use raddle_interp::{Interp, SpuriousWakeups};
use raddle_ir::{Callee, Inst};
use raddle_libmodel::{DescriptorUse, Effect, Meaning, SemOp, ThreadOp};
use raddle_machine::{Machine, OpKind, Sink, StackSource, Visibility};
use raddle_native::machine::{self, NativeMachine, Stacks};
use raddle_native::{Plan, Spurious, Step, StepKind, Visible};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A choice of the interpreter's environment that cannot be forced on the real program.
const NOT_FORCED: &str = "a native run does not show an operation that fails for no reason, or a library call that goes another way than here";

/// Operations that the real program does when it likes.
const NOT_CONTROLLED: &str =
    "a native run does not show operations on pipes, socket pairs, eventfds and epolls in a chosen order";

/// Steps that the real program does in the order that comes of the others.
const NOT_ORDERED: &str = "a native run does not show calls on state of the C library in a chosen order";

/// A semaphore that nobody initialised: the runtime does not know what it counts.
const COPIED: &str = "a native run does not show semaphores that were copied";

/// The interpreter reads a fixed value there (A-UNINIT).
const NEVER_WRITTEN: &str = "a native run may have other values in memory that was never written";

/// The witness cannot be run, which `certify` would have said.
const NOT_FOLLOWED: &str = "the schedule cannot be followed";

/// What the real program is to do.
pub(super) struct Walk {
    pub plan: Plan,
    /// A part of the schedule that is left to the program, and may go another way there.
    pub uncontrolled: Option<&'static str>,
}

/// Runs the witness once more on the interpreter, writing down what it does. `Err`: why it cannot be run on the program.
pub(super) fn plan(loaded: &Loaded, witness: &Witness) -> Result<Walk, &'static str> {
    let (program, models) = (Arc::clone(&loaded.program), Arc::clone(&loaded.models));
    let mut interp = Interp::new(program, models, loaded.options.clone()).map_err(|_| NOT_FOLLOWED)?;
    let Walk { plan, uncontrolled } = walked(&mut interp, loaded, witness)?;
    Ok(Walk { plan: Plan { aside: aside(loaded), ..plan }, uncontrolled })
}

/// The same for a schedule of native exploration, in which operations of libraries are steps like all others.
pub(super) fn native_plan(
    loaded: &Loaded,
    native: &machine::Subject,
    witness: &Witness,
) -> Result<Walk, &'static str> {
    let mut machine = NativeMachine::start(native, Stacks::Unwanted).map_err(|_| NOT_FOLLOWED)?;
    walked(&mut machine, loaded, witness)
}

fn walked<M: Machine>(machine: &mut M, loaded: &Loaded, witness: &Witness) -> Result<Walk, &'static str> {
    machine.set_visibility(witness.visibility.clone());
    let own = own_choices(loaded);
    let library = calls_of(loaded, uses_library_state);
    let outside = calls_of(loaded, |meaning| matches!(meaning, Meaning::Effect(Effect::Libc(_), _)));
    let mut objects = BTreeMap::new();
    let mut steps = Vec::new();
    let mut enabled = Vec::new();
    let mut initialised = BTreeSet::new();
    let mut uncontrolled = None;
    for choice in &witness.schedule.choices {
        machine.enabled(&mut enabled);
        if !enabled.contains(choice) {
            return Err(NOT_FOLLOWED);
        }
        let operation = machine.pending(choice.thread).ok_or(NOT_FOLLOWED)?;
        if library.contains(&operation.site.0)
            && matches!(operation.kind, OpKind::Channel { channel: Some(_) })
        {
            machine.step(*choice, &mut Chosen(None));
            uncontrolled = uncontrolled.or(Some(NOT_ORDERED));
            continue;
        }
        match operation.kind {
            OpKind::SyncInit { object } => _ = initialised.insert(object),
            OpKind::SemPost { sem } | OpKind::SemWait { sem, .. } | OpKind::SemRead { sem }
                if !initialised.contains(&sem) =>
            {
                uncontrolled = uncontrolled.or(Some(COPIED));
            }
            _ => {}
        }
        let (kind, object) = translated(operation.kind).ok_or(NOT_CONTROLLED)?;
        let count = objects.len() as u32 + 1;
        let object = object.map_or(0, |object| *objects.entry(object).or_insert(count));
        let mut chosen = Chosen(None);
        machine.step(*choice, &mut chosen);
        if kind == StepKind::Choose && own.contains(&operation.site.0) {
            match choice.variant {
                0 => {
                    uncontrolled = uncontrolled.or(outside.contains(&operation.site.0).then_some(NOT_FORCED));
                    continue;
                }
                _ => return Err(NOT_FORCED),
            }
        }
        let value = if kind == StepKind::Choose { chosen.0 } else { None };
        let (thread, variant) = (choice.thread.0, choice.variant);
        let site = match operation.kind {
            // A function that is atomic by its name leaves the section at its return, which is no place for the program.
            OpKind::Unlock { lock: Addr::ATOMIC_SECTION, .. } => 0,
            _ => operation.site.0,
        };
        steps.push(Step { thread, kind, site, variant, value, object });
    }
    if machine.assumptions().contains(&"A-UNINIT") {
        uncontrolled = uncontrolled.or(Some(NEVER_WRITTEN));
    }
    let visible = match &witness.visibility {
        Visibility::SyncOnly => Visible::None,
        Visibility::Sites(sites) => Visible::Sites(sites.iter().map(|site| site.0).collect()),
        Visibility::EveryAccess => Visible::All,
    };
    let spurious = match loaded.options.spurious_wakeups {
        SpuriousWakeups::On => Spurious::On,
        SpuriousWakeups::Off => Spurious::Off,
    };
    Ok(Walk { plan: Plan { steps, visible, spurious, ..Plan::default() }, uncontrolled })
}

/// Where the environment of the interpreter chooses what the system and the processor decide for the real program: whether an operation fails
/// for no reason, and how a library call goes.
pub(super) fn own_choices(loaded: &Loaded) -> BTreeSet<u32> {
    let mut sites = BTreeSet::new();
    for block in loaded.program.functions.values().flat_map(|function| function.blocks.values()) {
        for (index, inst) in block.insts.iter().enumerate() {
            let own = match inst {
                Inst::CmpXchg(exchange) => exchange.weak,
                Inst::Call { callee: Callee::Direct(function), .. } => matches!(
                    loaded.models.meanings[*function],
                    Meaning::Effect(Effect::Lock { .. } | Effect::Libc(_), _)
                ),
                _ => false,
            };
            if own {
                sites.insert(block.first_site.0 + index as u32);
            }
        }
    }
    sites
}

/// Direct calls of functions that are no visible operation themselves: what a library synchronises there is its own business.
fn aside(loaded: &Loaded) -> BTreeSet<u32> {
    calls_of(loaded, |meaning| !is_operation(meaning))
}

/// Whether it uses state of the library that threads share, or numbers of descriptors: the real program does that in the order that comes
/// of the other steps.
fn uses_library_state(meaning: &Meaning) -> bool {
    use DescriptorUse::{Accepts, Closes, ClosesStream, Opens};
    match meaning {
        Meaning::Effect(Effect::Libc(function), _) => {
            function.shared_use().is_some()
                || matches!(function.descriptor_use(), Some(Accepts | Closes | ClosesStream | Opens))
        }
        Meaning::Effect(Effect::Sem(SemOp::Open { .. }, _) | Effect::Tls(..), _) => true,
        _ => false,
    }
}

/// Direct calls of functions of this meaning.
fn calls_of(loaded: &Loaded, wanted: impl Fn(&Meaning) -> bool) -> BTreeSet<u32> {
    let program = &loaded.program;
    let mut sites = BTreeSet::new();
    for block in program.functions.values().flat_map(|function| function.blocks.values()) {
        for (index, inst) in block.insts.iter().enumerate() {
            if let Inst::Call { callee: Callee::Direct(function), .. } = inst
                && wanted(&loaded.models.meanings[*function])
            {
                sites.insert(block.first_site.0 + index as u32);
            }
        }
    }
    sites
}

/// Whether it is a visible operation: on a synchronisation object, a thread, an atomic or a choice.
pub(super) fn is_operation(meaning: &Meaning) -> bool {
    let effect = match meaning {
        Meaning::Effect(effect, _) => effect,
        other => return *other == Meaning::AtomicBody,
    };
    match effect {
        Effect::Thread(op, _) => {
            matches!(
                op,
                ThreadOp::Create { .. }
                    | ThreadOp::CreateReturning { .. }
                    | ThreadOp::Join { .. }
                    | ThreadOp::Detach { .. }
            )
        }
        Effect::Sem(op, _) => !matches!(op, SemOp::Open { .. }),
        Effect::Lock { .. }
        | Effect::Unlock { .. }
        | Effect::SyncInit { .. }
        | Effect::SyncDestroy { .. }
        | Effect::MutexConsistent { .. }
        | Effect::Cond(..)
        | Effect::BarrierWait { .. }
        | Effect::Once { .. }
        | Effect::Atomic(_)
        | Effect::Verifier(_) => true,
        Effect::Tls(..)
        | Effect::Process(_)
        | Effect::Libc(_)
        | Effect::Nothing { .. }
        | Effect::Unsupported { .. } => false,
    }
}

/// The value of the last choice of the environment.
struct Chosen(Option<u64>);

impl Sink for Chosen {
    fn event(&mut self, event: Event, _stack: &dyn StackSource) {
        if let EventKind::Choose { value } = event.kind
            && self.0.is_none()
        {
            self.0 = Some(value);
        }
    }
}

/// The kind of step, and the object that it is about; `None` where the program's own runtime does not control it.
fn translated(kind: OpKind) -> Option<(StepKind, Option<Addr>)> {
    Some(match kind {
        OpKind::Begin => (StepKind::Begin, None),
        OpKind::End => (StepKind::End, None),
        OpKind::Create => (StepKind::Create, None),
        OpKind::Join { .. } => (StepKind::Join, None),
        OpKind::Detach { .. } => (StepKind::Detach, None),
        OpKind::Lock { lock, .. } => (StepKind::Lock, Some(lock)),
        OpKind::Unlock { lock, .. } => (StepKind::Unlock, Some(lock)),
        OpKind::SyncInit { object } => (StepKind::SyncInit, Some(object)),
        OpKind::SyncDestroy { object } => (StepKind::SyncDestroy, Some(object)),
        OpKind::WaitBegin { cond, .. } => (StepKind::WaitBegin, Some(cond)),
        OpKind::WaitEnd { cond, .. } => (StepKind::WaitEnd, Some(cond)),
        OpKind::Signal { cond } => (StepKind::Signal, Some(cond)),
        OpKind::Broadcast { cond } => (StepKind::Broadcast, Some(cond)),
        OpKind::BarrierArrive { barrier } => (StepKind::BarrierArrive, Some(barrier)),
        OpKind::BarrierLeave { barrier } => (StepKind::BarrierLeave, Some(barrier)),
        OpKind::SemPost { sem } => (StepKind::SemPost, Some(sem)),
        OpKind::SemWait { sem, .. } => (StepKind::SemWait, Some(sem)),
        OpKind::SemRead { sem } => (StepKind::SemRead, Some(sem)),
        OpKind::Once { once } => (StepKind::Once, Some(once)),
        OpKind::OnceEnd { once } => (StepKind::OnceEnd, Some(once)),
        OpKind::Atomic { .. } => (StepKind::Atomic, None),
        OpKind::Fence => (StepKind::Fence, None),
        OpKind::Access { .. } => (StepKind::Access, None),
        OpKind::Choose { .. } => (StepKind::Choose, None),
        OpKind::Exit => (StepKind::Exit, None),
        OpKind::Yield => (StepKind::Yield, None),
        OpKind::Spin => (StepKind::Spin, None),
        OpKind::Channel { .. } => return None,
    })
}
