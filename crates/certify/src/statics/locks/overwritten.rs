//! *May*: which kind a plain write can have given a mutex. Zeros are the default kind, a copy has the kind of its source, and anything else
//! may be the kind of a mutex whose lock fails.

use super::super::accesses::{Access, Kind};
use super::super::code::Code;
use super::super::patterns::shifted;
use super::super::renewed::may_overwrite;
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{DataModel, Inst, Operand, Ty};
use raddle_libmodel::{Effect, SyncKind};

/// Bytes of the field that holds the kind.
const FIELD: u64 = 4;

/// Copies that are followed; beyond them any kind is possible.
const MOST_COPIES: usize = 6;

/// Whether the mutex at these offsets of an object may have got a kind that makes its lock fail.
pub(super) fn may_fail(code: &Code<'_>, accesses: &[Access<'_>], object: ObjectId, mutex: Offsets) -> bool {
    written(code, accesses, object, mutex, MOST_COPIES)
}

/// Where glibc's mutex has its kind.
fn kind_offset(code: &Code<'_>) -> i64 {
    match code.program.data_model {
        DataModel::Lp64 => 16,
        DataModel::Ilp32 => 12,
    }
}

fn written(code: &Code<'_>, accesses: &[Access<'_>], object: ObjectId, mutex: Offsets, left: usize) -> bool {
    let field = shifted(mutex, kind_offset(code));
    let size = SyncKind::Mutex.bytes(code.program.data_model);
    let writes = accesses.iter().filter(|one| one.is_write() && one.kind != Kind::Free && !one.makes_block);
    writes.into_iter().any(|access| {
        let mut hits = access.targets.iter().filter(|(target, at)| {
            *target == object
                && may_overwrite(code, access, (object, *at), mutex, size)
                && at.may_overlap(access.bytes, field, FIELD)
        });
        hits.any(|(_, at)| !is_harmless(code, accesses, access, *at, field, left))
    })
}

fn is_harmless(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    access: &Access<'_>,
    at: Offsets,
    field: Offsets,
    left: usize,
) -> bool {
    let function = access.at.function;
    let constant =
        |operand: Operand, ty: Ty| code.term(function, operand, ty).and_then(|term| term.as_constant());
    let copied =
        |from: Operand| left > 0 && copies_harmless(code, accesses, access, (at, field), from, left - 1);
    match &code.program.functions[function].blocks[access.at.block].insts[access.at.index] {
        Inst::Store { value, ty, .. } => match constant(*value, *ty) {
            Some(0) => true,
            Some(1 | 3) => at == field && access.bytes == FIELD,
            _ => false,
        },
        Inst::MemSet { byte, .. } => constant(*byte, Ty::Int(8)) == Some(0),
        Inst::MemCopy { src, .. } => copied(*src),
        Inst::Call { args, .. } => {
            let Some(call) = code.calls.at(function, access.site) else { return false };
            let ([(_, Effect::Libc(name))], [], []) = (&call.effects[..], &call.runs[..], &call.unknown[..])
            else {
                return false;
            };
            match (name.0, &args[..]) {
                ("memset", [_, byte, _]) => constant(byte.value, byte.ty) == Some(0),
                ("bzero", _) => true,
                ("memcpy" | "memmove", [_, from, _]) => copied(from.value),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether a copy from an operand, which puts the field where it is, brings a kind that does not fail.
fn copies_harmless(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    access: &Access<'_>,
    (at, field): (Offsets, Offsets),
    from: Operand,
    left: usize,
) -> bool {
    if at.stride != field.stride {
        return false;
    }
    let Some(distance) = field.anchor.checked_sub(at.anchor) else { return false };
    let distance = match i64::try_from(at.stride) {
        Ok(0) => distance,
        Ok(stride) => distance.rem_euclid(stride),
        Err(_) => return false,
    };
    let sources = code.pointees(access.at.function, from);
    !sources.is_empty()
        && sources.iter().all(|(source, start)| {
            let there = shifted(*start, distance);
            let mutex = shifted(there, -kind_offset(code));
            starts_harmless(code, *source, there) && !written(code, accesses, *source, mutex, left)
        })
}

/// What an object holds before it is written: nothing, or its initialiser.
fn starts_harmless(code: &Code<'_>, source: ObjectId, field: Offsets) -> bool {
    let global = match code.kind(source) {
        ObjectKind::Stack(_) | ObjectKind::Heap(_) => return true,
        ObjectKind::Global(global) => global,
        _ => return false,
    };
    let Some(init) = &code.program.globals[global].init else { return false };
    if init.relocations.is_empty() && init.data.iter().all(|byte| *byte == 0) {
        return true;
    }
    let byte = |at: usize| init.data.get(at).copied().unwrap_or(0);
    match usize::try_from(field.anchor) {
        Ok(start) if field.stride == 0 => {
            let kind = i32::from_le_bytes([0, 1, 2, 3].map(|at| byte(start.saturating_add(at))));
            matches!(kind, 0 | 1 | 3)
        }
        _ => false,
    }
}
