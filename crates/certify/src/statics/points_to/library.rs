//! Library calls by their memory effects.

use super::super::Refusal;
use super::super::code::{At, Code};
use super::super::library::Part;
use super::super::patterns::FORWARD;
use super::instructions::{copied, object, object_at, stored};
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
    for place in &memory.stores {
        check_store(code, at, args, &memory, *place, in_order, computed.is_some())?;
    }
    if let Some(target) = computed.and_then(|target| args.get(usize::from(target.0))) {
        let places = code.held(at, target.value)?;
        let old = code.lost(&code.loaded(&places, code.pointer_bytes()));
        stored(code, at, &places, code.pointer_bytes(), &old)?;
    }
    let Some(dst) = dsts.first().filter(|dst| carried[dst.index()]) else { return Ok(()) };
    let ty = code.program.functions[at.function].regs[*dst].ty;
    for returned in &memory.returns {
        let held = value(code, at, args, *returned, Some(ty))?;
        let held = if computed.is_some() { code.lost(&held) } else { held };
        code.flows_to(at, *dst, &held)?;
    }
    Ok(())
}

/// The addresses that a value of a library call may be; of this type, where it is one.
pub(super) fn value(
    code: &Code<'_>,
    at: At,
    args: &[CallArg],
    value: Value,
    ty: Option<Ty>,
) -> Result<Places, Refusal> {
    match value {
        Value::Arg(arg) => match args.get(usize::from(arg.0)) {
            Some(arg) => code.held(at, arg.value),
            None => Ok(Places::new()),
        },
        Value::Into(region) if is_fresh(region) => pointer(code, at, args, region),
        Value::Into(region) => Ok(code.moved(&pointer(code, at, args, region)?, FORWARD)),
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
    in_order: bool,
    computes: bool,
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
        return shuffled(code, at, args, memory);
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
        let content = code.loaded(&code.moved(&from, FORWARD), word);
        return stored(code, at, &code.moved(&to, FORWARD), word, &content);
    }
    let held = value(code, at, args, place.value, None)?;
    let held = if computes { code.lost(&held) } else { held };
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

/// A call that moves bytes through a buffer of its own (`qsort`): what any of its regions holds may be anywhere in each of them.
fn shuffled(code: &Code<'_>, at: At, args: &[CallArg], memory: &MemoryEffect) -> Result<(), Refusal> {
    let named = memory.stores.iter().flat_map(|store| match store.value {
        Value::ContentOf(from) | Value::Into(from) => vec![store.to, from],
        _ => vec![store.to],
    });
    let regions: Vec<Region> = named.filter(|region| region.base != Base::Fresh).collect();
    let mut held = Places::new();
    for region in &regions {
        held.extend(
            code.loaded(&code.moved(&pointer(code, at, args, *region)?, FORWARD), code.pointer_bytes()),
        );
    }
    for region in &regions {
        let to = code.moved(&pointer(code, at, args, *region)?, FORWARD);
        stored(code, at, &to, code.pointer_bytes(), &held)?;
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
