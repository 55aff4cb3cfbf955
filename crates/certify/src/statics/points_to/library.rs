//! Library calls by their memory effects.

use super::super::Refusal;
use super::super::code::{At, Code};
use super::super::library::Part;
use super::super::patterns::FORWARD;
use super::instructions::{copied, number, object, object_at, stored};
use super::sets::Places;
use raddle_base::Id;
use raddle_facts::{ObjectKind, Offsets};
use raddle_ir::{CallArg, Reg, Ty};
use raddle_libmodel::memory::{Access, Base, Library, Life, MemoryEffect, Reach, Region, Store, Value};
use raddle_libmodel::{Arg, AtomicCall, Effect, KernelAtomic, SizedAtomic};

/// Functions whose copies keep the order of bytes; others may put any pointer anywhere.
const IN_ORDER: &[&str] = &[
    "memcpy",
    "memmove",
    "mempcpy",
    "bcopy",
    "memccpy",
    "realloc",
    "reallocarray",
    "strcpy",
    "stpcpy",
    "strncpy",
    "stpncpy",
    "strlcpy",
    "strdup",
    "strndup",
];

pub(super) fn check(
    code: &Code<'_>,
    carried: &[bool],
    at: At,
    dsts: &[Reg],
    args: &[CallArg],
    effect: &Effect,
) -> Result<(), Refusal> {
    let memory = effect.memory();
    let in_order = match effect {
        Effect::Libc(function) => IN_ORDER.contains(&function.0),
        Effect::Atomic(_) | Effect::Thread(..) => true,
        _ => false,
    };
    let computed = computed_target(effect);
    // Without its object the facts would hide an access.
    for touch in &memory.touches {
        if matches!(touch.region.base, Base::Library(_) | Base::Variable(_)) {
            pointer(code, at, args, touch.region.base.into())?;
        }
    }
    let step = elements(code, at, args, effect);
    for place in &memory.stores {
        check_store(code, at, args, &memory, *place, Kept { in_order, computes: computed.is_some(), step })?;
    }
    if let Some(target) = computed.and_then(|target| args.get(usize::from(target.0))) {
        let places = code.held(at, target.value)?;
        let old = code.lost(&code.loaded(&places, code.pointer_bytes()));
        stored(code, at, &places, code.pointer_bytes(), &old)?;
    }
    let Some(dst) = dsts.first().filter(|dst| carried[dst.index()]) else { return Ok(()) };
    let ty = code.program.functions[at.function].regs[*dst].ty;
    for returned in &memory.returns {
        let held = value(code, at, args, *returned, Some(ty), step)?;
        let held = if computed.is_some() { code.lost(&held) } else { held };
        code.flows_to(at, *dst, &held)?;
    }
    Ok(())
}

/// How a call leaves what it moves.
#[derive(Clone, Copy)]
struct Kept {
    in_order: bool,
    computes: bool,
    step: Offsets,
}

/// Where pointers into an array that is given to a call may point: the starts of elements, where the call moves and shows these as a whole
/// and their size is a constant (C17 7.22.5), else anywhere.
pub(super) fn elements(code: &Code<'_>, at: At, args: &[CallArg], effect: &Effect) -> Offsets {
    let size = match effect {
        Effect::Libc(function) if matches!(function.0, "qsort" | "qsort_r") => 2,
        Effect::Libc(function) if function.0 == "bsearch" => 3,
        _ => return FORWARD,
    };
    let size = args.get(size).and_then(|arg| number(code, at.function, arg.value, arg.ty));
    match size {
        Some(size) if size > 0 => Offsets { stride: size.unsigned_abs(), ..FORWARD },
        _ => FORWARD,
    }
}

/// The addresses that a value of a library call may be; of this type, where it is one. `step`: from [`elements`].
pub(super) fn value(
    code: &Code<'_>,
    at: At,
    args: &[CallArg],
    value: Value,
    ty: Option<Ty>,
    step: Offsets,
) -> Result<Places, Refusal> {
    match value {
        Value::Arg(arg) => match args.get(usize::from(arg.0)) {
            Some(arg) => code.held(at, arg.value),
            None => Ok(Places::new()),
        },
        Value::Into(region) if is_fresh(region) => pointer(code, at, args, region),
        Value::Into(region) => Ok(code.moved(&pointer(code, at, args, region)?, step)),
        Value::ContentOf(region) => {
            let bytes = ty.map_or(code.pointer_bytes(), |ty| ty.access_bytes(code.pointer_bytes()));
            Ok(code.loaded(&pointer(code, at, args, region)?, bytes))
        }
        Value::NewThread | Value::ThisThread if ty == Some(Ty::Ptr) => {
            object_at(code, at, ObjectKind::Library, Part::Handle.start())
        }
        Value::Outside => {
            let written = pointer(code, at, args, Library::Written.into())?;
            Ok(code.loaded(&written, code.pointer_bytes()))
        }
        Value::NewThread | Value::ThisThread => Ok(Places::new()),
    }
}

fn is_fresh(region: Region) -> bool {
    region.base == Base::Fresh && region.reach == Reach::Direct
}

/// Where a region starts. What the library owns must be among the facts.
fn pointer(code: &Code<'_>, at: At, args: &[CallArg], region: Region) -> Result<Places, Refusal> {
    match region.base {
        Base::Fresh => {
            object(code, at, ObjectKind::Heap(code.site(at)))?;
        }
        Base::Library(_) | Base::ThreadResult(_) | Base::Specific(_) | Base::Errno => {
            object(code, at, ObjectKind::Library)?;
        }
        Base::Variable(name) => {
            let kind =
                code.library_variable(name).map_or(ObjectKind::Library, |global| code.global_kind(global));
            object(code, at, kind)?;
        }
        Base::Arg(_) | Base::VarArgs(_) | Base::VaList(_) => {}
    }
    Ok(match region.reach {
        Reach::Direct => code.region(at, args, region),
        Reach::Behind => {
            let base = code.region(at, args, Region { reach: Reach::Direct, ..region });
            code.loaded(&base, code.pointer_bytes())
        }
        Reach::BehindAny => {
            let base = code.region(at, args, Region { reach: Reach::Direct, ..region });
            code.loaded(&code.moved(&base, FORWARD), code.pointer_bytes())
        }
        Reach::BehindTwice => {
            let base = code.region(at, args, Region { reach: Reach::Direct, ..region });
            let first = code.loaded(&code.moved(&base, FORWARD), code.pointer_bytes());
            code.loaded(&code.moved(&first, FORWARD), code.pointer_bytes())
        }
    })
}

fn check_store(
    code: &Code<'_>,
    at: At,
    args: &[CallArg],
    memory: &MemoryEffect,
    place: Store,
    Kept { in_order, computes, step }: Kept,
) -> Result<(), Refusal> {
    // A block that is gone when the call returns: what passes through it came from a region that it goes to.
    let inside = memory.allocates.is_some_and(|block| block.life == Life::Inside);
    let mentions_inside = |region: Region| inside && region.base == Base::Fresh;
    let word = code.pointer_bytes();
    let from = match place.value {
        Value::ContentOf(from) | Value::Into(from) => Some(from),
        _ => None,
    };
    if mentions_inside(place.to) || from.is_some_and(mentions_inside) {
        return shuffled(code, at, args, memory, step);
    }
    let to = pointer(code, at, args, place.to)?;
    let written = memory
        .touches
        .iter()
        .find(|touch| touch.region == place.to && matches!(touch.access, Access::Write | Access::Update));
    if let Value::ContentOf(from) = place.value {
        let from = pointer(code, at, args, from)?;
        if in_order {
            let bytes = written.map_or(u64::MAX, |touch| code.extent(at.function, args, touch.extent));
            return copied(code, at, &to, &from, bytes);
        }
        if step.stride > 1 {
            return copied(code, at, &code.moved(&to, step), &code.moved(&from, step), u64::MAX);
        }
        let content = code.loaded(&code.moved(&from, FORWARD), word);
        return stored(code, at, &code.moved(&to, FORWARD), word, &content);
    }
    let held = value(code, at, args, place.value, None, step)?;
    let held = if computes { code.lost(&held) } else { held };
    let held = if place.points_inside() { code.moved(&held, FORWARD) } else { held };
    if matches!(place.to.base, Base::ThreadResult(_) | Base::Specific(_)) {
        return stored(code, at, &to, word, &held);
    }
    let fixed = written.and_then(|touch| Some((touch.from, touch.extent.bytes(code.program.data_model)?)));
    match fixed {
        Some((from, bytes)) => {
            let bytes = u32::try_from(bytes).unwrap_or(word);
            stored(code, at, &code.moved(&to, Offsets::exact(i64::from(from))), bytes, &held)
        }
        None => stored(code, at, &code.moved(&to, FORWARD), word, &held),
    }
}

/// A call that moves bytes through a buffer of its own (`qsort`): what any of its regions holds may be anywhere in each of them, or, where
/// elements move as a whole, in the same place of any element.
fn shuffled(
    code: &Code<'_>,
    at: At,
    args: &[CallArg],
    memory: &MemoryEffect,
    step: Offsets,
) -> Result<(), Refusal> {
    let named = memory.stores.iter().flat_map(|store| match store.value {
        Value::ContentOf(from) | Value::Into(from) => vec![store.to, from],
        _ => vec![store.to],
    });
    let mut regions = Vec::new();
    for region in named.filter(|region| region.base != Base::Fresh) {
        regions.push(code.moved(&pointer(code, at, args, region)?, step));
    }
    for from in &regions {
        if step.stride > 1 {
            regions.iter().try_for_each(|to| copied(code, at, to, from, u64::MAX))?;
            continue;
        }
        let held = code.loaded(from, code.pointer_bytes());
        regions.iter().try_for_each(|to| stored(code, at, to, code.pointer_bytes(), &held))?;
    }
    Ok(())
}

/// The target of an atomic operation that computes with the old value.
fn computed_target(effect: &Effect) -> Option<Arg> {
    match effect {
        Effect::Atomic(AtomicCall::Sized {
            op: SizedAtomic::Fetch(_) | SizedAtomic::FetchNew(_), ..
        }) => Some(Arg(0)),
        Effect::Atomic(AtomicCall::Kernel {
            op: KernelAtomic::Add { .. } | KernelAtomic::AddUnless { .. },
            target,
            ..
        }) => Some(*target),
        _ => None,
    }
}
