//! *May*: which kind a plain write can have given a mutex or an attribute. Zeros are the default kind, a copy has the kind of its source,
//! and anything else may be the kind of a mutex whose lock fails.

use super::super::accesses::Access;
use super::super::code::Code;
use super::super::patterns::shifted;
use super::super::renewed::may_overwrite;
use raddle_facts::{ObjectId, ObjectKind, Offsets, Released};
use raddle_ir::{DataModel, Inst, Operand, Ty};
use raddle_libmodel::{Effect, SyncKind};
use std::collections::BTreeSet;

/// Bytes of the field that holds the kind.
const FIELD: u64 = 4;

/// Places that copies are followed to; beyond them any kind is possible.
const MOST_COPIES: usize = 64;

/// Places that were looked at, or are being looked at: a copy of a copy that comes back brings no new kind.
type Seen = BTreeSet<(ObjectId, Offsets)>;

/// The objects that have a kind: where their field for it is, and how many bytes they have.
pub(super) struct Kinded<'c> {
    code: &'c Code<'c>,
    accesses: &'c [Access<'c>],
    field: i64,
    bytes: u64,
    /// Those whose lock may fail since they were initialised.
    made: &'c [Released],
}

impl<'c> Kinded<'c> {
    pub fn mutexes(code: &'c Code<'c>, accesses: &'c [Access<'c>], made: &'c [Released]) -> Kinded<'c> {
        // Where glibc's mutex has its kind.
        let field = match code.program.data_model {
            DataModel::Lp64 => 16,
            DataModel::Ilp32 => 12,
        };
        let bytes = SyncKind::Mutex.bytes(code.program.data_model);
        Kinded { code, accesses, field, bytes, made }
    }

    pub fn attributes(code: &'c Code<'c>, accesses: &'c [Access<'c>]) -> Kinded<'c> {
        Kinded { code, accesses, field: 0, bytes: FIELD, made: &[] }
    }

    /// Whether a plain write may have given the object at a place a kind that makes locking fail.
    pub fn may_be_given(&self, object: ObjectId, at: Offsets) -> bool {
        self.written(object, at, &mut Seen::new())
    }

    /// The same, or its initialiser has such a kind.
    pub fn may_have(&self, object: ObjectId, at: Offsets) -> bool {
        !starts_harmless(self.code, object, shifted(at, self.field)) || self.may_be_given(object, at)
    }

    fn written(&self, object: ObjectId, start: Offsets, seen: &mut Seen) -> bool {
        if !seen.insert((object, start)) {
            return false;
        }
        if seen.len() > MOST_COPIES {
            return true;
        }
        let field = shifted(start, self.field);
        let mut writes = self.accesses.iter().filter(|one| one.overwrites());
        writes.any(|access| {
            let mut hits = access.targets.iter().filter(|(target, at)| {
                *target == object
                    && may_overwrite(self.code, access, (object, *at), start, self.bytes)
                    && at.may_overlap(access.bytes, field, FIELD)
            });
            hits.any(|(_, at)| !self.is_harmless(access, *at, field, seen))
        })
    }

    fn is_harmless(&self, access: &Access<'_>, at: Offsets, field: Offsets, seen: &mut Seen) -> bool {
        let (code, function) = (self.code, access.at.function);
        let constant =
            |operand: Operand, ty: Ty| code.term(function, operand, ty).and_then(|term| term.as_constant());
        let mut copied = |from: Operand| self.copies_harmless(access, (at, field), from, seen);
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
                let ([(_, Effect::Libc(name))], [], []) =
                    (&call.effects[..], &call.runs[..], &call.unknown[..])
                else {
                    return false;
                };
                match (name.0, &args[..]) {
                    ("memset", [_, byte, _]) => constant(byte.value, byte.ty) == Some(0),
                    ("bzero", _) => true,
                    ("memcpy" | "memmove", [_, from, _]) => copied(from.value),
                    // What these put there is known from their calls.
                    (name, _) => name.starts_with("pthread_mutexattr_"),
                }
            }
            _ => false,
        }
    }

    /// Whether a copy from an operand, which puts the field where it is, brings a kind that does not fail.
    fn copies_harmless(
        &self,
        access: &Access<'_>,
        (at, field): (Offsets, Offsets),
        from: Operand,
        seen: &mut Seen,
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
        let sources = self.code.pointees(access.at.function, from);
        !sources.is_empty()
            && sources.iter().all(|(source, start)| {
                let there = shifted(*start, distance);
                let object = shifted(there, -self.field);
                let place = Released::These(vec![(*source, object)]);
                starts_harmless(self.code, *source, there)
                    && !self.made.iter().any(|made| self.code.may_be_same(made, &place))
                    && !self.written(*source, object, seen)
            })
    }
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
