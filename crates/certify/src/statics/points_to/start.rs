//! What is in memory before anything runs, and what the roots are given.
//!
//! Memory from outside ([`ObjectKind::Outside`], A-ENTRY) is not followed here: a proof that speaks of it is refused.

use super::super::Refusal;
use super::super::code::{At, Code};
use super::super::foreign::Owner;
use super::super::library::{Part, anywhere_unknown, part_around};
use super::super::patterns::sum;
use super::RULE;
use super::instructions::object_at;
use raddle_base::SiteId;
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{
    BlockId, DebugType, DebugTypeId, FunctionId, Global, GlobalId, Init, Program, SymbolRef, Ty,
};
use raddle_libmodel::memory::Library;
use raddle_libmodel::{Variable, variable};

/// Nesting of types that is followed.
const MOST_NESTED: usize = 32;

pub(super) fn check(code: &Code<'_>) -> Result<(), Refusal> {
    for root in code.roots.constructors.iter().chain(&code.roots.main).chain(&code.roots.destructors) {
        for (index, param) in code.program.functions[*root].params.iter().enumerate() {
            let at = At { function: *root, block: BlockId(0), index: 0 };
            by_value(code, at, *root, index)?;
            if code.program.functions[*root].regs[param.reg].ty == Ty::Ptr {
                let arguments = object_at(code, at, ObjectKind::Library, Part::Arguments.start())?;
                code.flows_to(at, param.reg, &arguments)?;
            }
        }
    }
    for entry in &code.roots.entries {
        for param in &code.program.functions[*entry].params {
            let at = At { function: *entry, block: BlockId(0), index: 0 };
            let ty = code.program.functions[*entry].regs[param.reg].ty;
            if param.by_value.is_some() || ty == Ty::Ptr {
                return code.refuse_at(at, RULE, "what callers of an entry pass by pointer is not followed");
            }
            // A number may be an address of theirs.
            if code.is_wide(ty) {
                let unknown = object_at(code, at, ObjectKind::Unknown, anywhere_unknown())?;
                code.flows_to(at, param.reg, &unknown)?;
            }
        }
        given_back(code, *entry)?;
    }
    for (object, facts) in code.facts.points_to.objects.iter() {
        sizes(code, object)?;
        match facts.kind {
            ObjectKind::Global(global) | ObjectKind::ThreadLocal(global) => {
                initialised(code, object, global)?
            }
            ObjectKind::Outside(_) => {
                return code.refuse(SiteId::NONE, RULE, "memory that comes from outside is not followed");
            }
            ObjectKind::Library
            | ObjectKind::Unknown
            | ObjectKind::Stack(_)
            | ObjectKind::Parameter(..)
            | ObjectKind::Heap(_)
            | ObjectKind::Function(_) => {}
        }
    }
    let sets = code.facts.points_to.sets.values().flatten();
    sets.copied().try_for_each(|(object, at)| inside(code, object, at))
}

/// No client learns an address of memory that the program uses.
fn given_back(code: &Code<'_>, entry: FunctionId) -> Result<(), Refusal> {
    for set in &code.facts.points_to.returns[entry] {
        for (object, _) in code.targets(*set) {
            if matches!(code.owner(*object), Owner::Program | Owner::Caller) {
                let at = At { function: entry, block: BlockId(0), index: 0 };
                return code.refuse_at(at, RULE, "an entry may return the address of memory of the program");
            }
        }
    }
    Ok(())
}

/// A struct passed by value to a root is refused: nobody passes it.
fn by_value(code: &Code<'_>, at: At, function: FunctionId, index: usize) -> Result<(), Refusal> {
    match code.program.functions[function].params[index].by_value {
        Some(_) => code.refuse_at(at, RULE, "a root takes a struct by value"),
        None => Ok(()),
    }
}

fn holds(
    code: &Code<'_>,
    object: ObjectId,
    at: Offsets,
    kind: ObjectKind,
    target: Offsets,
) -> Result<(), Refusal> {
    let held = code.object(kind).map(|held| (held, target));
    match held {
        Some(held) if code.holds(&[(object, at)], code.pointer_bytes(), &[held]) => Ok(()),
        _ => {
            let text = format!("{:?} must point to {kind:?} at {at:?} from the start", code.kind(object));
            code.refuse(SiteId::NONE, RULE, text)
        }
    }
}

/// What the parts of the library's and of unknown objects point to, as soon as something points there.
fn inside(code: &Code<'_>, object: ObjectId, at: Offsets) -> Result<(), Refusal> {
    let part = part_around(at);
    match code.kind(object) {
        ObjectKind::Unknown => holds(code, object, part, ObjectKind::Unknown, part),
        ObjectKind::Library if part == Offsets::ANY => {
            code.refuse(SiteId::NONE, RULE, "a pointer to all of the library's memory")
        }
        ObjectKind::Library if part == Part::Arguments.offsets() => {
            holds(code, object, part, ObjectKind::Library, part)
        }
        ObjectKind::Library if part == Part::Static(Library::CharacterTablePointer).offsets() => {
            let table = Part::Static(Library::CharacterTable).offsets();
            holds(code, object, part, ObjectKind::Library, table)
        }
        _ => Ok(()),
    }
}

fn initialised(code: &Code<'_>, object: ObjectId, id: GlobalId) -> Result<(), Refusal> {
    let global = &code.program.globals[id];
    if code.is_set_by_clients(id) && variable(code.program.text(global.symbol)).is_none() {
        set_by_clients(code, object, global)?;
    }
    match &global.init {
        Some(init) => relocations(code, object, init),
        None => declared(code, object, global),
    }
}

/// Clients put numbers there, which may be addresses of theirs where they are wide enough. Pointers of theirs are not followed.
fn set_by_clients(code: &Code<'_>, object: ObjectId, global: &Global) -> Result<(), Refusal> {
    let word = u64::from(code.pointer_bytes());
    let Some(ty) = global.debug_type else {
        return holds(code, object, Offsets::ANY, ObjectKind::Unknown, anywhere_unknown());
    };
    if !is_numbers(&code.program, ty, 0) {
        return code.refuse(
            SiteId::NONE,
            RULE,
            "clients may put addresses into a variable that they can name",
        );
    }
    let mut places = Vec::new();
    wide_numbers(&code.program, ty, word, Offsets::exact(0), &mut places);
    for at in places {
        holds(code, object, at, ObjectKind::Unknown, anywhere_unknown())?;
    }
    Ok(())
}

/// Where numbers as wide as an address are.
fn wide_numbers(program: &Program, ty: DebugTypeId, word: u64, at: Offsets, places: &mut Vec<Offsets>) {
    match &program.debug_types[program.strip(ty)] {
        DebugType::Scalar { bytes, .. } if *bytes >= word => places.push(at),
        DebugType::Array { element, count } => {
            let (stride, last) = (bytes_of(program, *element, 0), count.unwrap_or(1).saturating_sub(1));
            let high = i64::try_from(stride.saturating_mul(last)).unwrap_or(i64::MAX);
            let elements = Offsets { anchor: 0, stride, low: 0, high };
            wide_numbers(program, *element, word, sum(at, elements), places);
        }
        DebugType::Record { fields, .. } => {
            for field in fields.iter().filter(|field| field.bit_width.is_none()) {
                let start = i64::try_from(field.bit_offset / 8).unwrap_or(i64::MAX);
                wide_numbers(program, field.ty, word, sum(at, Offsets::exact(start)), places);
            }
        }
        _ => {}
    }
}

fn bytes_of(program: &Program, ty: DebugTypeId, depth: usize) -> u64 {
    match &program.debug_types[program.strip(ty)] {
        DebugType::Scalar { bytes, .. } | DebugType::Record { bytes, .. } => *bytes,
        DebugType::Array { element, count } if depth < MOST_NESTED => {
            bytes_of(program, *element, depth + 1).saturating_mul(count.unwrap_or(0))
        }
        _ => 0,
    }
}

fn relocations(code: &Code<'_>, object: ObjectId, init: &Init) -> Result<(), Refusal> {
    for relocation in &init.relocations {
        let kind = match relocation.target {
            SymbolRef::Global(target) => code.global_kind(target),
            SymbolRef::Function(target) => ObjectKind::Function(target),
            SymbolRef::Block(..) => continue,
        };
        let Ok(offset) = i64::try_from(relocation.offset) else {
            return code.refuse(SiteId::NONE, RULE, "an initialiser beyond all objects");
        };
        holds(code, object, Offsets::exact(offset), kind, Offsets::exact(relocation.addend))?;
    }
    Ok(())
}

/// A variable that is declared only.
fn declared(code: &Code<'_>, object: ObjectId, global: &Global) -> Result<(), Refusal> {
    let start = Offsets::exact(0);
    match variable(code.program.text(global.symbol)) {
        Some(Variable::Stream(_)) => {
            holds(code, object, start, ObjectKind::Library, Part::Static(Library::Stream).offsets())
        }
        Some(Variable::Environment | Variable::ProgramName) => {
            holds(code, object, start, ObjectKind::Library, Part::Arguments.offsets())
        }
        Some(Variable::Int(_) | Variable::Long(_) | Variable::NullPointer) => Ok(()),
        None => match global.debug_type {
            Some(ty) if is_numbers(&code.program, ty, 0) => Ok(()),
            Some(_) => code.refuse(SiteId::NONE, RULE, "a variable without a definition may hold addresses"),
            None => holds(code, object, Offsets::ANY, ObjectKind::Unknown, anywhere_unknown()),
        },
    }
}

/// Whether a type has no pointers in it.
fn is_numbers(program: &Program, ty: DebugTypeId, depth: usize) -> bool {
    depth < MOST_NESTED
        && match &program.debug_types[program.strip(ty)] {
            DebugType::Scalar { .. } => true,
            DebugType::Array { element, .. } => is_numbers(program, *element, depth + 1),
            DebugType::Record { fields, .. } => fields.iter().all(|f| is_numbers(program, f.ty, depth + 1)),
            _ => false,
        }
}

/// The size that the facts give an object is that of every concrete one.
fn sizes(code: &Code<'_>, object: ObjectId) -> Result<(), Refusal> {
    let facts = &code.facts.points_to.objects[object];
    let Some(said) = facts.bytes else { return Ok(()) };
    let known = match facts.kind {
        ObjectKind::Global(global) | ObjectKind::ThreadLocal(global) => {
            Some(code.program.globals[global].bytes)
        }
        ObjectKind::Parameter(function, index) => {
            let param = code.program.functions[function].params.get(index as usize);
            param.and_then(|param| param.by_value).map(|(bytes, _)| bytes).or(Some(said))
        }
        ObjectKind::Stack(site) | ObjectKind::Heap(site) => code.made_bytes(site),
        ObjectKind::Function(_) | ObjectKind::Library | ObjectKind::Outside(_) | ObjectKind::Unknown => None,
    };
    if known == Some(said) {
        return Ok(());
    }
    code.refuse(SiteId::NONE, "objects", format!("{:?} is said to have {said} bytes", facts.kind))
}
