//! What plain writes may leave in the field of a mutex, or of an attribute, that holds its kind: an assigned initialiser, a copy of another.
//!
//! *May*. Writes of zeros leave glibc's default kind, copies that of the source; whatever else is written may be the kind of a mutex that
//! fails to lock. What the library's functions make of an attribute is not looked at here.

use super::Locks;
use raddle_absint::accesses::{self, Access};
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

/// What a kind is looked for in.
struct Search<'a> {
    locks: &'a Locks<'a>,
    /// Where the field is in the object, which has so many bytes.
    offset: i64,
    bytes: u64,
    /// Objects that got a kind that makes locking fail, by a call: copies of them have it too.
    fallible: &'a [Released],
}

struct Write {
    at: Offsets,
    bytes: u64,
    start: Option<Start>,
    what: What,
}

enum What {
    /// Zeros, or an attribute by the library.
    Harmless,
    /// As many bytes as the field has.
    Number(i64),
    /// From the places of an operand.
    Copy(Vec<(ObjectId, Offsets)>),
    Anything,
}

impl Overwritten {
    /// `attributes`: those that mutexes are initialised with.
    pub fn of<'a>(locks: &Locks<'_>, attributes: impl Iterator<Item = &'a Released>) -> Overwritten {
        let mut objects: BTreeSet<ObjectId> = BTreeSet::new();
        for places in attributes {
            if let Released::These(list) = places {
                objects.extend(list.iter().map(|(object, _)| *object));
            }
        }
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
            for access in all.iter().filter(|one| one.overwrites()) {
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

    /// Whether the mutex at a place may have been given a kind that makes locking fail, by a plain write. `fallible` are mutexes that have
    /// got one by a call.
    pub fn may_be_fallible(
        &self,
        locks: &Locks<'_>,
        (object, mutex): (ObjectId, Offsets),
        fallible: &[Released],
    ) -> bool {
        let model = locks.program.data_model;
        let (offset, bytes) = (kind_offset(model), SyncKind::Mutex.bytes(model));
        let search = Search { locks, offset, bytes, fallible };
        match shifted(mutex, offset) {
            Some(field) => self.may_hold(&search, object, field, &mut Vec::new()),
            None => true,
        }
    }

    /// Whether an attribute may have been given such a kind by a plain write or its initialiser.
    pub fn may_make_fallible(&self, locks: &Locks<'_>, (object, attribute): (ObjectId, Offsets)) -> bool {
        let search = Search { locks, offset: 0, bytes: FIELD, fallible: &[] };
        !starts_harmless(locks, object, attribute)
            || self.may_hold(&search, object, attribute, &mut Vec::new())
    }

    /// The same of the field itself.
    fn may_hold(
        &self,
        search: &Search<'_>,
        object: ObjectId,
        field: Offsets,
        seen: &mut Vec<(ObjectId, Offsets)>,
    ) -> bool {
        if seen.contains(&(object, field)) {
            return false;
        }
        seen.push((object, field));
        let Some(start) = shifted(field, -search.offset) else { return true };
        let touches = |write: &&Write| {
            may_overwrite(write.at, write.bytes, write.start, start, search.bytes)
                && write.at.may_overlap(write.bytes, field, FIELD)
        };
        self.writes.get(&object).into_iter().flatten().filter(touches).any(|write| match &write.what {
            What::Harmless => false,
            What::Number(number) => {
                !(write.at == field && write.bytes == FIELD && matches!(number, 0 | 1 | 3))
            }
            What::Anything => true,
            What::Copy(from) => {
                from.is_empty()
                    || from.iter().any(|(source, start)| match moved(write.at, field, *start) {
                        Some(there) => {
                            !starts_harmless(search.locks, *source, there)
                                || search.is_made_fallible(*source, there)
                                || self.may_hold(search, *source, there, seen)
                        }
                        None => true,
                    })
            }
        })
    }
}

impl Search<'_> {
    fn is_made_fallible(&self, object: ObjectId, field: Offsets) -> bool {
        let Some(start) = shifted(field, -self.offset) else { return true };
        let place = Released::These(vec![(object, start)]);
        self.fallible.iter().any(|made| self.locks.overlap(made, &place))
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
            Some(0) => What::Harmless,
            Some(number) => What::Number(number),
            None => What::Anything,
        },
        Inst::MemSet { byte, .. } if constant(*byte) == Some(0) => What::Harmless,
        Inst::MemCopy { src, .. } => copied(*src),
        Inst::Call { args, .. } => {
            let call = locks.calls.at(access.function, access.site);
            let name = call.and_then(|call| match (&call.effects[..], &call.runs[..], &call.unknown[..]) {
                ([Effect::Libc(function)], [], []) => Some(function.0),
                _ => None,
            });
            match (name, &args[..]) {
                (Some("memset"), [_, byte, _]) if constant(byte.value) == Some(0) => What::Harmless,
                (Some("bzero"), _) => What::Harmless,
                (Some(name), _) if name.starts_with("pthread_mutexattr_") => What::Harmless,
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
