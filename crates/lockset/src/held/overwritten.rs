//! What plain writes may leave in the field of a mutex that holds its kind: an assigned initialiser, a copy of another mutex.
//!
//! *May*. Writes of zeros leave glibc's default kind, copies that of the source; whatever else is written may be the kind of a mutex that
//! fails to lock.

use super::Locks;
use raddle_absint::accesses::{self, Access, Kind};
use raddle_absint::order::renewed::{Start, may_overwrite, start_of};
use raddle_facts::{ObjectId, ObjectKind, Offsets, Released};
use raddle_ir::{DataModel, Inst, Operand};
use raddle_libmodel::{Effect, LockFamily, SyncKind};
use std::collections::{BTreeMap, BTreeSet};

/// Copies of copies that are followed.
const ROUNDS: usize = 4;

/// Bytes of the field.
const FIELD: u64 = 4;

/// The writes that matter, by object.
#[derive(Default)]
pub(super) struct Overwritten {
    writes: BTreeMap<ObjectId, Vec<Write>>,
}

struct Write {
    at: Offsets,
    bytes: u64,
    start: Option<Start>,
    what: What,
}

enum What {
    Zeros,
    /// As many bytes as the field has.
    Number(i64),
    /// From the places of an operand.
    Copy(Vec<(ObjectId, Offsets)>),
    Anything,
}

impl Overwritten {
    pub fn of(locks: &Locks<'_>) -> Overwritten {
        let mut objects: BTreeSet<ObjectId> = BTreeSet::new();
        for (caller, calls) in locks.calls.from.iter() {
            for call in calls {
                let (_, args) = call.parts(locks.program, caller);
                for effect in &call.effects {
                    if let Effect::Lock { family: LockFamily::PthreadMutex, lock, .. } = effect
                        && let Released::These(list) = locks.argument_places(caller, args, *lock)
                    {
                        objects.extend(list.iter().map(|(object, _)| *object));
                    }
                }
            }
        }
        let mut found = Overwritten::default();
        if objects.is_empty() {
            return found;
        }
        let all = accesses::collect(locks.program, &locks.calls, locks.values, locks.points_to);
        let mut new = objects.clone();
        for _ in 0..ROUNDS {
            let mut sources = BTreeSet::new();
            for access in all.iter().filter(|one| one.kind == Kind::Write && !one.makes_block) {
                for (object, at) in access.targets(locks.points_to).iter().filter(|one| new.contains(&one.0))
                {
                    let what = what(locks, access);
                    if let What::Copy(from) = &what {
                        sources.extend(from.iter().map(|(object, _)| *object));
                    }
                    let list = found.writes.entry(*object).or_default();
                    let start = start_of(locks.program, &locks.definitions, locks.points_to, access, *object);
                    list.push(Write { at: *at, bytes: access.bytes, start, what });
                }
            }
            new = sources.into_iter().filter(|object| objects.insert(*object)).collect();
            if new.is_empty() {
                return found;
            }
        }
        // Too many copies of copies: whatever they come from.
        for object in new {
            let anything = Write { at: Offsets::ANY, bytes: u64::MAX, start: None, what: What::Anything };
            found.writes.entry(object).or_default().push(anything);
        }
        found
    }

    /// Whether the mutex at a place may have been given a kind that makes locking fail.
    pub fn may_be_fallible(&self, locks: &Locks<'_>, object: ObjectId, mutex: Offsets) -> bool {
        match shifted(mutex, kind_offset(locks.program.data_model)) {
            Some(field) => self.may_hold(locks, object, field, &mut Vec::new()),
            None => true,
        }
    }

    /// The same of the field itself.
    fn may_hold(
        &self,
        locks: &Locks<'_>,
        object: ObjectId,
        field: Offsets,
        seen: &mut Vec<(ObjectId, Offsets)>,
    ) -> bool {
        if seen.contains(&(object, field)) {
            return false;
        }
        seen.push((object, field));
        let model = locks.program.data_model;
        let Some(mutex) = shifted(field, -kind_offset(model)) else { return true };
        let whole = SyncKind::Mutex.bytes(model);
        let touches = |write: &&Write| {
            may_overwrite(write.at, write.bytes, write.start, mutex, whole)
                && write.at.may_overlap(write.bytes, field, FIELD)
        };
        self.writes.get(&object).into_iter().flatten().filter(touches).any(|write| match &write.what {
            What::Zeros => false,
            What::Number(number) => {
                !(write.at == field && write.bytes == FIELD && matches!(number, 0 | 1 | 3))
            }
            What::Anything => true,
            What::Copy(from) => {
                from.is_empty()
                    || from.iter().any(|(source, start)| match moved(write.at, field, *start) {
                        Some(there) => {
                            !starts_harmless(locks, *source, there)
                                || self.may_hold(locks, *source, there, seen)
                        }
                        None => true,
                    })
            }
        })
    }
}

fn what(locks: &Locks<'_>, access: &Access) -> What {
    let body = &locks.program.functions[access.function].blocks[access.block];
    let constant = |operand: Operand| locks.term(access.function, operand).as_constant();
    let copied = |from: Operand| match locks.places_of(access.function, from) {
        Released::These(list) => What::Copy(list),
        Released::Anything => What::Anything,
    };
    match &body.insts[access.index] {
        Inst::Store { value, .. } => match constant(*value) {
            Some(0) => What::Zeros,
            Some(number) => What::Number(number),
            None => What::Anything,
        },
        Inst::MemSet { byte, .. } if constant(*byte) == Some(0) => What::Zeros,
        Inst::MemCopy { src, .. } => copied(*src),
        Inst::Call { args, .. } => {
            let call = locks.calls.at(access.function, access.site);
            let name = call.and_then(|call| match (&call.effects[..], &call.runs[..], &call.unknown[..]) {
                ([Effect::Libc(function)], [], []) => Some(function.0),
                _ => None,
            });
            match (name, &args[..]) {
                (Some("memset"), [_, byte, _]) if constant(byte.value) == Some(0) => What::Zeros,
                (Some("bzero"), _) => What::Zeros,
                (Some("memcpy" | "memmove"), [_, src, _]) => copied(src.value),
                _ => What::Anything,
            }
        }
        _ => What::Anything,
    }
}

/// Whether the field of an initialiser, at one offset, has a kind that does not fail. What is no global holds nothing at first.
fn starts_harmless(locks: &Locks<'_>, source: ObjectId, field: Offsets) -> bool {
    let global = match locks.points_to.objects[source].kind {
        ObjectKind::Global(global) => global,
        ObjectKind::Stack(_) | ObjectKind::Heap(_) => return true,
        _ => return false,
    };
    let Some(init) = &locks.program.globals[global].init else { return false };
    if init.data.iter().all(|byte| *byte == 0) && init.relocations.is_empty() {
        return true;
    }
    let Some(start) = usize::try_from(field.anchor).ok().filter(|_| field.is_exact()) else { return false };
    // Bytes beyond the data are zero.
    let kind = [0, 1, 2, 3].map(|at| init.data.get(start.saturating_add(at)).copied().unwrap_or(0));
    matches!(i32::from_le_bytes(kind), 0 | 1 | 3)
}

/// Where glibc's mutex has its kind.
fn kind_offset(model: DataModel) -> i64 {
    match model {
        DataModel::Lp64 => 16,
        DataModel::Ilp32 => 12,
    }
}

fn shifted(at: Offsets, by: i64) -> Option<Offsets> {
    let moved = |bound: i64| match bound {
        i64::MIN | i64::MAX => Some(bound),
        bound => bound.checked_add(by),
    };
    let anchor = at.anchor.checked_add(by)?;
    Some(Offsets { anchor, low: moved(at.low)?, high: moved(at.high)?, ..at })
}

/// Where the field is in the source of a copy that starts at `start` and puts it at `field` of what is written from `at` on.
fn moved(at: Offsets, field: Offsets, start: Offsets) -> Option<Offsets> {
    let distance = field.anchor.checked_sub(at.anchor)?;
    match (at.stride, field.stride) {
        (0, 0) => shifted(start, distance),
        (a, b) if a == b => shifted(start, distance.rem_euclid(i64::try_from(a).ok()?)),
        _ => None,
    }
}
