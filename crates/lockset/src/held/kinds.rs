//! Which mutexes may be error-checking, robust or with a priority ceiling: locking them can fail without the program's fault.
//!
//! *May*. A kind comes from an attribute, from a static initialiser, or from a plain write ([`super::overwritten`]). Without a reachable call
//! that sets such a kind no attribute has it, unless it comes from outside or something was written to it as plain memory.

use super::Locks;
use super::overwritten::Overwritten;
use raddle_facts::{ObjectKind, Offsets, Released};
use raddle_ir::{DataModel, FunctionId, GlobalId, Program};
use raddle_libmodel::{Arg, Effect, LockFamily, Mode, SyncKind};

#[derive(Default)]
pub(super) struct Kinds {
    /// Mutexes initialised with an attribute that may make locking fail.
    fallible: Vec<Released>,
    overwritten: Overwritten,
}

const ERROR_CHECKING: i32 = 2;

impl Kinds {
    pub fn new(locks: &Locks<'_>) -> Kinds {
        let mut inits: Vec<(Released, Released)> = Vec::new();
        let mut sets_kind = false;
        for (caller, calls) in locks.calls.from.iter() {
            for call in calls {
                let (_, args) = call.parts(locks.program, caller);
                let constant =
                    |arg: usize| args.get(arg).and_then(|arg| locks.term(caller, arg.value).as_constant());
                for effect in &call.effects {
                    match effect {
                        Effect::SyncInit {
                            kind: SyncKind::Mutex,
                            object,
                            attribute: Some(attribute),
                            ..
                        } if constant(usize::from(attribute.0)) != Some(0) => inits.push((
                            locks.argument_places(caller, args, *object),
                            locks.argument_places(caller, args, *attribute),
                        )),
                        Effect::Libc(function) if function.0 == "pthread_mutexattr_settype" => {
                            sets_kind |= !matches!(constant(1), Some(0 | 1 | 3));
                        }
                        Effect::Libc(function) if function.0 == "pthread_mutexattr_setrobust" => {
                            sets_kind |= constant(1) != Some(0);
                        }
                        // A ceiling below the caller's priority makes the lock fail (`PTHREAD_PRIO_PROTECT`).
                        Effect::Libc(function) if function.0 == "pthread_mutexattr_setprotocol" => {
                            sets_kind |= !matches!(constant(1), Some(0 | 1));
                        }
                        _ => {}
                    }
                }
            }
        }
        let overwritten = Overwritten::of(locks, inits.iter().map(|(_, attribute)| attribute));
        let written = |attribute: &Released| match attribute {
            Released::Anything => true,
            Released::These(list) => list.iter().any(|place| overwritten.may_make_fallible(locks, *place)),
        };
        let fallible = inits
            .into_iter()
            .filter(|(_, attribute)| sets_kind || locks.is_foreign(attribute) || written(attribute))
            .map(|(object, _)| object)
            .collect();
        Kinds { fallible, overwritten }
    }

    /// Whether a blocking lock can return without the lock.
    pub fn may_fail(&self, locks: &Locks<'_>, family: LockFamily, places: &Released) -> bool {
        family == LockFamily::PthreadMutex
            && (self.fallible.iter().any(|object| locks.overlap(object, places))
                || locks.may_be_error_checking(places)
                || self.is_overwritten(locks, places))
    }

    fn is_overwritten(&self, locks: &Locks<'_>, places: &Released) -> bool {
        match places {
            Released::Anything => false,
            Released::These(list) => {
                list.iter().any(|place| self.overwritten.may_be_fallible(locks, *place, &self.fallible))
            }
        }
    }
}

/// Whether a lock taken by one who holds it in this mode is one more acquisition.
pub(super) fn counts(family: LockFamily, held: Mode, taken: Mode) -> bool {
    match family {
        LockFamily::PthreadMutex | LockFamily::C11Mutex => true,
        LockFamily::PthreadRwlock | LockFamily::KernelRwlock | LockFamily::KernelRwSemaphore => {
            (held, taken) == (Mode::Shared, Mode::Shared)
        }
        LockFamily::PthreadSpin | LockFamily::KernelSpin | LockFamily::KernelMutex | LockFamily::Custom => {
            false
        }
    }
}

impl Locks<'_> {
    pub(super) fn argument_places(
        &self,
        function: FunctionId,
        args: &[raddle_ir::CallArg],
        arg: Arg,
    ) -> Released {
        match args.get(usize::from(arg.0)) {
            Some(arg) => self.places_of(function, arg.value),
            None => Released::Anything,
        }
    }

    fn is_foreign(&self, places: &Released) -> bool {
        match places {
            Released::Anything => true,
            Released::These(list) => list.iter().any(|(object, _)| {
                matches!(
                    self.points_to.objects[*object].kind,
                    ObjectKind::Unknown | ObjectKind::Outside(_) | ObjectKind::Library
                )
            }),
        }
    }

    fn may_be_error_checking(&self, places: &Released) -> bool {
        let Released::These(list) = places else { return false };
        list.iter().any(|(object, at)| match self.points_to.objects[*object].kind {
            ObjectKind::Global(global) => starts_error_checking(self.program, global, *at),
            _ => false,
        })
    }
}

/// Whether a static initialiser at one of these offsets has glibc's kind of an error-checking mutex.
fn starts_error_checking(program: &Program, global: GlobalId, at: Offsets) -> bool {
    let Some(init) = &program.globals[global].init else { return false };
    let field = match program.data_model {
        DataModel::Lp64 => 16,
        DataModel::Ilp32 => 12,
    };
    // Bytes beyond the data are zero.
    let byte = |at: usize| init.data.get(at).copied().unwrap_or(0);
    let is = |offset: usize| {
        let kind = [0, 1, 2, 3].map(|i| byte(offset.saturating_add(field + i)));
        kind == ERROR_CHECKING.to_le_bytes()
    };
    if at.is_exact() {
        return usize::try_from(at.anchor).is_ok_and(is);
    }
    (0..init.data.len())
        .step_by(4)
        .any(|offset| at.may_overlap(1, Offsets::exact(offset as i64), 1) && is(offset))
}
