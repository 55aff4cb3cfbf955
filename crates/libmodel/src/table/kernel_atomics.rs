//! Linux `atomic_t`, `atomic_long_t` and `atomic64_t`, and barriers between processors.
//!
//! Orders as in the kernel's `Documentation/atomic_t.txt`: operations that return a value are fully ordered unless their name says
//! otherwise, those that return nothing are relaxed. Conditional ones that do not store are relaxed then; they are taken as fully
//! ordered here only when they do store.

use super::Row;
use super::row::{A0, A1, A2, row, void};
use crate::{Arg, AtomicCall, Effect, KernelAtomic, KernelOrder, KernelResult, KernelWidth};

use KernelOrder::{Acquire, Relaxed, Release, SeqCst};
use KernelResult::{New, NewIsNegative, NewIsZero, Nothing, Old};
use KernelWidth::{Int, Long, Quad};

const fn kernel(
    name: &'static str,
    op: KernelAtomic,
    target: Arg,
    width: KernelWidth,
    order: KernelOrder,
) -> Row {
    row(name, Effect::Atomic(AtomicCall::Kernel { op, target, width, order }))
}

const fn load(name: &'static str, width: KernelWidth, order: KernelOrder) -> Row {
    kernel(name, KernelAtomic::Read, A0, width, order)
}

const fn store(name: &'static str, width: KernelWidth, order: KernelOrder) -> Row {
    kernel(name, KernelAtomic::Set { value: A1 }, A0, width, order)
}

/// `op(amount, target)`.
const fn add(
    name: &'static str,
    factor: i8,
    result: KernelResult,
    width: KernelWidth,
    order: KernelOrder,
) -> Row {
    kernel(name, KernelAtomic::Add { value: Some(A0), factor, result }, A1, width, order)
}

/// `op(target)`, by one.
const fn step(
    name: &'static str,
    factor: i8,
    result: KernelResult,
    width: KernelWidth,
    order: KernelOrder,
) -> Row {
    kernel(name, KernelAtomic::Add { value: None, factor, result }, A0, width, order)
}

const fn exchange(name: &'static str, width: KernelWidth, order: KernelOrder) -> Row {
    kernel(name, KernelAtomic::Exchange { value: A1 }, A0, width, order)
}

const fn compare_exchange(name: &'static str, width: KernelWidth, order: KernelOrder) -> Row {
    kernel(name, KernelAtomic::CompareExchange { expected: A1, new: A2 }, A0, width, order)
}

const fn unless(name: &'static str, value: Option<Arg>, unless: Option<Arg>, width: KernelWidth) -> Row {
    kernel(name, KernelAtomic::AddUnless { value, unless }, A0, width, SeqCst)
}

const fn fence(name: &'static str) -> Row {
    row(name, Effect::Atomic(AtomicCall::Fence { order: None }))
}

pub(super) static ROWS: &[Row] = &[
    load("atomic_read", Int, Relaxed),
    load("atomic_read_acquire", Int, Acquire),
    store("atomic_set", Int, Relaxed),
    store("atomic_set_release", Int, Release),
    add("atomic_add", 1, Nothing, Int, Relaxed),
    add("atomic_add_return", 1, New, Int, SeqCst),
    add("atomic_fetch_add", 1, Old, Int, SeqCst),
    add("atomic_add_return_relaxed", 1, New, Int, Relaxed),
    add("atomic_fetch_add_relaxed", 1, Old, Int, Relaxed),
    add("atomic_add_return_acquire", 1, New, Int, Acquire),
    add("atomic_fetch_add_acquire", 1, Old, Int, Acquire),
    add("atomic_add_return_release", 1, New, Int, Release),
    add("atomic_fetch_add_release", 1, Old, Int, Release),
    add("atomic_sub", -1, Nothing, Int, Relaxed),
    add("atomic_sub_return", -1, New, Int, SeqCst),
    add("atomic_fetch_sub", -1, Old, Int, SeqCst),
    add("atomic_sub_return_relaxed", -1, New, Int, Relaxed),
    add("atomic_fetch_sub_relaxed", -1, Old, Int, Relaxed),
    add("atomic_sub_return_acquire", -1, New, Int, Acquire),
    add("atomic_fetch_sub_acquire", -1, Old, Int, Acquire),
    add("atomic_sub_return_release", -1, New, Int, Release),
    add("atomic_fetch_sub_release", -1, Old, Int, Release),
    step("atomic_inc", 1, Nothing, Int, Relaxed),
    step("atomic_inc_return", 1, New, Int, SeqCst),
    step("atomic_fetch_inc", 1, Old, Int, SeqCst),
    step("atomic_inc_and_test", 1, NewIsZero, Int, SeqCst),
    step("atomic_dec", -1, Nothing, Int, Relaxed),
    step("atomic_dec_return", -1, New, Int, SeqCst),
    step("atomic_fetch_dec", -1, Old, Int, SeqCst),
    step("atomic_dec_and_test", -1, NewIsZero, Int, SeqCst),
    add("atomic_sub_and_test", -1, NewIsZero, Int, SeqCst),
    add("atomic_add_negative", 1, NewIsNegative, Int, SeqCst),
    exchange("atomic_xchg", Int, SeqCst),
    compare_exchange("atomic_cmpxchg", Int, SeqCst),
    exchange("atomic_xchg_relaxed", Int, Relaxed),
    compare_exchange("atomic_cmpxchg_relaxed", Int, Relaxed),
    exchange("atomic_xchg_acquire", Int, Acquire),
    compare_exchange("atomic_cmpxchg_acquire", Int, Acquire),
    exchange("atomic_xchg_release", Int, Release),
    compare_exchange("atomic_cmpxchg_release", Int, Release),
    unless("atomic_add_unless", Some(A1), Some(A2), Int),
    unless("atomic_inc_not_zero", None, None, Int),
    load("atomic_long_read", Long, Relaxed),
    load("atomic_long_read_acquire", Long, Acquire),
    store("atomic_long_set", Long, Relaxed),
    store("atomic_long_set_release", Long, Release),
    add("atomic_long_add", 1, Nothing, Long, Relaxed),
    add("atomic_long_add_return", 1, New, Long, SeqCst),
    add("atomic_long_fetch_add", 1, Old, Long, SeqCst),
    add("atomic_long_add_return_relaxed", 1, New, Long, Relaxed),
    add("atomic_long_fetch_add_relaxed", 1, Old, Long, Relaxed),
    add("atomic_long_add_return_acquire", 1, New, Long, Acquire),
    add("atomic_long_fetch_add_acquire", 1, Old, Long, Acquire),
    add("atomic_long_add_return_release", 1, New, Long, Release),
    add("atomic_long_fetch_add_release", 1, Old, Long, Release),
    add("atomic_long_sub", -1, Nothing, Long, Relaxed),
    add("atomic_long_sub_return", -1, New, Long, SeqCst),
    add("atomic_long_fetch_sub", -1, Old, Long, SeqCst),
    add("atomic_long_sub_return_relaxed", -1, New, Long, Relaxed),
    add("atomic_long_fetch_sub_relaxed", -1, Old, Long, Relaxed),
    add("atomic_long_sub_return_acquire", -1, New, Long, Acquire),
    add("atomic_long_fetch_sub_acquire", -1, Old, Long, Acquire),
    add("atomic_long_sub_return_release", -1, New, Long, Release),
    add("atomic_long_fetch_sub_release", -1, Old, Long, Release),
    step("atomic_long_inc", 1, Nothing, Long, Relaxed),
    step("atomic_long_inc_return", 1, New, Long, SeqCst),
    step("atomic_long_fetch_inc", 1, Old, Long, SeqCst),
    step("atomic_long_inc_and_test", 1, NewIsZero, Long, SeqCst),
    step("atomic_long_dec", -1, Nothing, Long, Relaxed),
    step("atomic_long_dec_return", -1, New, Long, SeqCst),
    step("atomic_long_fetch_dec", -1, Old, Long, SeqCst),
    step("atomic_long_dec_and_test", -1, NewIsZero, Long, SeqCst),
    add("atomic_long_sub_and_test", -1, NewIsZero, Long, SeqCst),
    add("atomic_long_add_negative", 1, NewIsNegative, Long, SeqCst),
    exchange("atomic_long_xchg", Long, SeqCst),
    compare_exchange("atomic_long_cmpxchg", Long, SeqCst),
    exchange("atomic_long_xchg_relaxed", Long, Relaxed),
    compare_exchange("atomic_long_cmpxchg_relaxed", Long, Relaxed),
    exchange("atomic_long_xchg_acquire", Long, Acquire),
    compare_exchange("atomic_long_cmpxchg_acquire", Long, Acquire),
    exchange("atomic_long_xchg_release", Long, Release),
    compare_exchange("atomic_long_cmpxchg_release", Long, Release),
    unless("atomic_long_add_unless", Some(A1), Some(A2), Long),
    unless("atomic_long_inc_not_zero", None, None, Long),
    load("atomic64_read", Quad, Relaxed),
    load("atomic64_read_acquire", Quad, Acquire),
    store("atomic64_set", Quad, Relaxed),
    store("atomic64_set_release", Quad, Release),
    add("atomic64_add", 1, Nothing, Quad, Relaxed),
    add("atomic64_add_return", 1, New, Quad, SeqCst),
    add("atomic64_fetch_add", 1, Old, Quad, SeqCst),
    add("atomic64_add_return_relaxed", 1, New, Quad, Relaxed),
    add("atomic64_fetch_add_relaxed", 1, Old, Quad, Relaxed),
    add("atomic64_add_return_acquire", 1, New, Quad, Acquire),
    add("atomic64_fetch_add_acquire", 1, Old, Quad, Acquire),
    add("atomic64_add_return_release", 1, New, Quad, Release),
    add("atomic64_fetch_add_release", 1, Old, Quad, Release),
    add("atomic64_sub", -1, Nothing, Quad, Relaxed),
    add("atomic64_sub_return", -1, New, Quad, SeqCst),
    add("atomic64_fetch_sub", -1, Old, Quad, SeqCst),
    add("atomic64_sub_return_relaxed", -1, New, Quad, Relaxed),
    add("atomic64_fetch_sub_relaxed", -1, Old, Quad, Relaxed),
    add("atomic64_sub_return_acquire", -1, New, Quad, Acquire),
    add("atomic64_fetch_sub_acquire", -1, Old, Quad, Acquire),
    add("atomic64_sub_return_release", -1, New, Quad, Release),
    add("atomic64_fetch_sub_release", -1, Old, Quad, Release),
    step("atomic64_inc", 1, Nothing, Quad, Relaxed),
    step("atomic64_inc_return", 1, New, Quad, SeqCst),
    step("atomic64_fetch_inc", 1, Old, Quad, SeqCst),
    step("atomic64_inc_and_test", 1, NewIsZero, Quad, SeqCst),
    step("atomic64_dec", -1, Nothing, Quad, Relaxed),
    step("atomic64_dec_return", -1, New, Quad, SeqCst),
    step("atomic64_fetch_dec", -1, Old, Quad, SeqCst),
    step("atomic64_dec_and_test", -1, NewIsZero, Quad, SeqCst),
    add("atomic64_sub_and_test", -1, NewIsZero, Quad, SeqCst),
    add("atomic64_add_negative", 1, NewIsNegative, Quad, SeqCst),
    exchange("atomic64_xchg", Quad, SeqCst),
    compare_exchange("atomic64_cmpxchg", Quad, SeqCst),
    exchange("atomic64_xchg_relaxed", Quad, Relaxed),
    compare_exchange("atomic64_cmpxchg_relaxed", Quad, Relaxed),
    exchange("atomic64_xchg_acquire", Quad, Acquire),
    compare_exchange("atomic64_cmpxchg_acquire", Quad, Acquire),
    exchange("atomic64_xchg_release", Quad, Release),
    compare_exchange("atomic64_cmpxchg_release", Quad, Release),
    unless("atomic64_add_unless", Some(A1), Some(A2), Quad),
    unless("atomic64_inc_not_zero", None, None, Quad),
    fence("smp_mb"),
    fence("mb"),
    fence("__smp_mb"),
    void("barrier"),
];
