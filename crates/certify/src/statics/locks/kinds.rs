//! *May*: which mutexes are error-checking, robust or with a priority ceiling, so that locking them can fail without the program's
//! fault; and what is counted.

use super::super::accesses::Access;
use super::super::code::Code;
use super::overwritten::Kinded;
use raddle_facts::{LockMode, ObjectId, ObjectKind, Offsets, Released};
use raddle_ir::{DataModel, GlobalId};
use raddle_libmodel::{Effect, LockFamily, SyncKind};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Kinds {
    fallible: Vec<Released>,
    /// Objects with places of mutexes that plain writes may have made fallible.
    overwritten: BTreeSet<(ObjectId, Key)>,
}

/// The offsets of a place, in an order.
type Key = (i64, u64, i64, i64);

const ERROR_CHECKING: i32 = 2;

impl Kinds {
    pub fn of(code: &Code<'_>, accesses: &[Access<'_>]) -> Kinds {
        let mut made: Vec<(Released, bool)> = Vec::new();
        let attributes = Kinded::attributes(code, accesses);
        let mut is_set = false;
        let mut mutexes: BTreeMap<(ObjectId, Key), Offsets> = BTreeMap::new();
        for (caller, calls) in code.calls.from.iter() {
            for call in calls {
                let (_, args) = call.parts(code, caller);
                let constant = |at: usize| {
                    let arg = args.get(at)?;
                    code.term(caller, arg.value, arg.ty)?.as_constant()
                };
                for (_, effect) in &call.effects {
                    match effect {
                        Effect::Lock { family: LockFamily::PthreadMutex, lock, .. } => {
                            if let Some(Released::These(list)) =
                                code.named(caller, args, *lock).map(|named| named.places)
                            {
                                mutexes.extend(list.iter().map(|(object, at)| ((*object, key(*at)), *at)));
                            }
                        }
                        Effect::SyncInit {
                            kind: SyncKind::Mutex,
                            object,
                            attribute: Some(attribute),
                            ..
                        } if constant(usize::from(attribute.0)) != Some(0) => {
                            let places = |arg| {
                                code.named(caller, args, arg).map_or(Released::Anything, |named| named.places)
                            };
                            made.push((
                                places(*object),
                                may_be_fallible(code, &attributes, &places(*attribute)),
                            ));
                        }
                        Effect::Libc(function) if function.0 == "pthread_mutexattr_settype" => {
                            is_set |= !matches!(constant(1), Some(0 | 1 | 3));
                        }
                        Effect::Libc(function) if function.0 == "pthread_mutexattr_setrobust" => {
                            is_set |= constant(1) != Some(0);
                        }
                        // A ceiling below the caller's priority makes the lock fail (`PTHREAD_PRIO_PROTECT`).
                        Effect::Libc(function) if function.0 == "pthread_mutexattr_setprotocol" => {
                            is_set |= !matches!(constant(1), Some(0 | 1));
                        }
                        _ => {}
                    }
                }
            }
        }
        let fallible = made.into_iter().filter(|(_, own)| is_set || *own).map(|(object, _)| object);
        let fallible: Vec<Released> = fallible.collect();
        let kinded = Kinded::mutexes(code, accesses, &fallible);
        let overwritten = mutexes
            .into_iter()
            .filter(|((object, _), at)| kinded.may_be_given(*object, *at))
            .map(|(known, _)| known)
            .collect();
        Kinds { fallible, overwritten }
    }

    /// Whether a blocking lock of a mutex can return without it.
    pub fn may_fail(&self, code: &Code<'_>, places: &Released) -> bool {
        if self.fallible.iter().any(|object| code.may_be_same(object, places)) {
            return true;
        }
        let Released::These(list) = places else { return false };
        if list.iter().any(|(object, at)| self.overwritten.contains(&(*object, key(*at)))) {
            return true;
        }
        list.iter().any(|(object, at)| match code.kind(*object) {
            ObjectKind::Global(global) => starts_error_checking(code, global, *at),
            _ => false,
        })
    }
}

fn key(at: Offsets) -> Key {
    (at.anchor, at.stride, at.low, at.high)
}

/// Whether a lock taken by one who holds it is one more acquisition.
pub(super) fn is_one_more(family: LockFamily, held: LockMode, taken: LockMode) -> bool {
    match family {
        LockFamily::PthreadMutex | LockFamily::C11Mutex => true,
        LockFamily::PthreadRwlock | LockFamily::KernelRwlock | LockFamily::KernelRwSemaphore => {
            (held, taken) == (LockMode::Shared, LockMode::Shared)
        }
        LockFamily::PthreadSpin | LockFamily::KernelSpin | LockFamily::KernelMutex | LockFamily::Custom => {
            false
        }
    }
}

/// Whether an attribute may have a kind that makes locking fail without a call that sets it.
fn may_be_fallible(code: &Code<'_>, attributes: &Kinded<'_>, places: &Released) -> bool {
    match places {
        Released::Anything => true,
        Released::These(list) => list.iter().any(|(object, at)| {
            matches!(code.kind(*object), ObjectKind::Unknown | ObjectKind::Outside(_) | ObjectKind::Library)
                || attributes.may_have(*object, *at)
        }),
    }
}

/// Whether a static initialiser at one of these offsets has glibc's kind of an error-checking mutex.
fn starts_error_checking(code: &Code<'_>, global: GlobalId, at: Offsets) -> bool {
    let Some(init) = &code.program.globals[global].init else { return false };
    let field = match code.program.data_model {
        DataModel::Lp64 => 16,
        DataModel::Ilp32 => 12,
    };
    (0..init.data.len().saturating_sub(field)).any(|start| {
        let kind = [0, 1, 2, 3].map(|byte| init.data.get(start + field + byte).copied().unwrap_or(0));
        kind == ERROR_CHECKING.to_le_bytes() && at.may_overlap(1, Offsets::exact(start as i64), 1)
    })
}
