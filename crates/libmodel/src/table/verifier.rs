//! Functions of verification benchmarks: `__VERIFIER_*`, `reach_error`, and how `assert` ends.

use super::Row;
use super::row::{A0, row};
use crate::{Effect, Handlers, ProcessOp, VerifierOp};

const fn verifier(name: &'static str, op: VerifierOp) -> Row {
    row(name, Effect::Verifier(op))
}

const fn signed(name: &'static str, bits: u8) -> Row {
    verifier(name, VerifierOp::Nondet { bits, signed: true, boolean: false })
}

const fn unsigned(name: &'static str, bits: u8) -> Row {
    verifier(name, VerifierOp::Nondet { bits, signed: false, boolean: false })
}

const fn boolean(name: &'static str) -> Row {
    verifier(name, VerifierOp::Nondet { bits: 8, signed: false, boolean: true })
}

const fn float(name: &'static str, bits: u8) -> Row {
    verifier(name, VerifierOp::NondetFloat { bits })
}

const fn pointer(name: &'static str) -> Row {
    verifier(name, VerifierOp::NondetPointer)
}

pub(super) static ROWS: &[Row] = &[
    verifier("__VERIFIER_assert", VerifierOp::Assert { condition: A0 }),
    verifier("__VERIFIER_assume", VerifierOp::Assume { condition: A0 }),
    verifier("assume_abort_if_not", VerifierOp::Assume { condition: A0 }),
    verifier("__VERIFIER_error", VerifierOp::Error),
    verifier("reach_error", VerifierOp::Error),
    verifier("__VERIFIER_atomic_begin", VerifierOp::AtomicBegin),
    verifier("__VERIFIER_atomic_end", VerifierOp::AtomicEnd),
    boolean("__VERIFIER_nondet_bool"),
    boolean("__VERIFIER_nondet__Bool"),
    signed("__VERIFIER_nondet_char", 8),
    unsigned("__VERIFIER_nondet_uchar", 8),
    unsigned("__VERIFIER_nondet_unsigned_char", 8),
    unsigned("__VERIFIER_nondet_u8", 8),
    signed("__VERIFIER_nondet_s8", 8),
    signed("__VERIFIER_nondet_short", 16),
    unsigned("__VERIFIER_nondet_ushort", 16),
    unsigned("__VERIFIER_nondet_unsigned_short", 16),
    unsigned("__VERIFIER_nondet_u16", 16),
    signed("__VERIFIER_nondet_s16", 16),
    signed("__VERIFIER_nondet_int", 32),
    unsigned("__VERIFIER_nondet_uint", 32),
    unsigned("__VERIFIER_nondet_unsigned", 32),
    unsigned("__VERIFIER_nondet_unsigned_int", 32),
    unsigned("__VERIFIER_nondet_u32", 32),
    signed("__VERIFIER_nondet_s32", 32),
    signed("__VERIFIER_nondet_long", 64),
    unsigned("__VERIFIER_nondet_ulong", 64),
    unsigned("__VERIFIER_nondet_unsigned_long", 64),
    signed("__VERIFIER_nondet_longlong", 64),
    signed("__VERIFIER_nondet_long_long", 64),
    unsigned("__VERIFIER_nondet_ulonglong", 64),
    unsigned("__VERIFIER_nondet_unsigned_long_long", 64),
    unsigned("__VERIFIER_nondet_u64", 64),
    signed("__VERIFIER_nondet_s64", 64),
    signed("__VERIFIER_nondet_int128", 128),
    unsigned("__VERIFIER_nondet_uint128", 128),
    unsigned("__VERIFIER_nondet_size_t", 64),
    signed("__VERIFIER_nondet_ssize_t", 64),
    signed("__VERIFIER_nondet_loff_t", 64),
    signed("__VERIFIER_nondet_off_t", 64),
    unsigned("__VERIFIER_nondet_sector_t", 64),
    unsigned("__VERIFIER_nondet_pthread_t", 64),
    float("__VERIFIER_nondet_float", 32),
    float("__VERIFIER_nondet_double", 64),
    pointer("__VERIFIER_nondet_pointer"),
    pointer("__VERIFIER_nondet_pchar"),
    pointer("__VERIFIER_nondet_charp"),
    pointer("__VERIFIER_nondet_const_char_pointer"),
    process("__assert_fail", ProcessOp::AssertFail { text: A0 }),
    process("__assert_perror_fail", ProcessOp::AssertFail { text: super::row::A1 }),
    process("__assert", ProcessOp::AssertFail { text: A0 }),
    process("__assert_rtn", ProcessOp::AssertFail { text: super::row::A3 }),
    process("abort", ProcessOp::Abort),
    process("exit", ProcessOp::Exit { code: A0, handlers: Handlers::Run }),
    process("_exit", ProcessOp::Exit { code: A0, handlers: Handlers::Skip }),
    process("_Exit", ProcessOp::Exit { code: A0, handlers: Handlers::Skip }),
    process("quick_exit", ProcessOp::Exit { code: A0, handlers: Handlers::Skip }),
];

const fn process(name: &'static str, op: ProcessOp) -> Row {
    row(name, Effect::Process(op))
}
