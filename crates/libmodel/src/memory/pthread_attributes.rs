//! Attribute objects of POSIX threads, with glibc's layout.

use super::build::{A0, A1, A2, Entries, WORD, by_model, bytes, each, nothing};
use super::effects::THREAD_ATTRIBUTES;
use super::{Access, Extent, MemoryEffect};
use crate::ATTR_FLAGS_OFFSET;

/// Where the stack size is; the offset of LP64 is behind that of ILP32, so both are in these bytes.
const STACK_SIZE_FROM: u32 = 20;

pub(super) fn entries() -> Entries {
    let flags = ATTR_FLAGS_OFFSET as u32;
    let stack_size = by_model(20, 4);
    let flag = |effect: MemoryEffect, access| effect.touches(A0.into(), access, flags, bytes(4));
    let size = |effect: MemoryEffect, access| effect.touches(A0.into(), access, STACK_SIZE_FROM, stack_size);
    let set = nothing().changes(A0, bytes(4));
    let get = nothing().reads(A0, bytes(4)).writes(A1, bytes(4));
    let thread = || nothing().changes(A0, THREAD_ATTRIBUTES);
    let mut all = vec![
        ("pthread_attr_init", nothing().writes(A0, by_model(56, 36))),
        ("pthread_attr_setdetachstate", flag(flag(nothing(), Access::Read), Access::Write)),
        ("pthread_attr_getdetachstate", flag(nothing(), Access::Read).writes(A1, bytes(4))),
        ("pthread_attr_setstacksize", size(nothing(), Access::Write)),
        ("pthread_attr_getstacksize", size(nothing(), Access::Read).writes(A1, WORD).copies(A0, A1)),
        ("pthread_mutexattr_init", nothing().writes(A0, bytes(4))),
        ("pthread_mutexattr_settype", set.clone()),
        ("pthread_mutexattr_gettype", get.clone()),
        ("pthread_mutexattr_setrobust", set),
        ("pthread_mutexattr_getrobust", get.clone()),
        ("pthread_condattr_init", nothing().writes(A0, bytes(4))),
        ("pthread_rwlockattr_init", nothing().writes(A0, bytes(8))),
        ("pthread_rwlockattr_setkind_np", nothing().writes(A0, bytes(4))),
        // Four bytes of a wider object are a pointer on ILP32.
        ("pthread_rwlockattr_getkind_np", get.copies(A0, A1)),
        ("pthread_attr_destroy", nothing().writes(A0, THREAD_ATTRIBUTES)),
        ("pthread_attr_setschedparam", thread().reads(A1, bytes(4))),
        ("pthread_attr_setaffinity_np", thread().reads(A2, Extent::Arg(A1))),
    ];
    all.extend(each(
        &[
            "pthread_attr_setguardsize",
            "pthread_attr_setscope",
            "pthread_attr_setschedpolicy",
            "pthread_attr_setinheritsched",
        ],
        &thread(),
    ));
    all.extend(each(
        &["pthread_attr_setstack", "pthread_attr_setstackaddr"],
        &thread().gap("a stack in memory of the program"),
    ));
    all.extend(each(
        &["pthread_mutexattr_destroy", "pthread_condattr_destroy", "pthread_barrierattr_destroy"],
        &nothing().writes(A0, bytes(4)),
    ));
    all.push(("pthread_rwlockattr_destroy", nothing().writes(A0, bytes(8))));
    all.extend(each(
        &[
            "pthread_mutexattr_setpshared",
            "pthread_mutexattr_setprotocol",
            "pthread_mutexattr_setprioceiling",
            "pthread_condattr_setpshared",
            "pthread_condattr_setclock",
            "pthread_barrierattr_setpshared",
        ],
        &nothing().changes(A0, bytes(4)),
    ));
    all.push(("pthread_rwlockattr_setpshared", nothing().changes(A0, bytes(8))));
    all
}
