//! C11 `threads.h`.

use super::Row;
use super::row::{A0, A1, A2, UNTIL_A1, UNTIL_A2, assuming, destroy, init, lock, row, thread, unlock};
use crate::{
    CondOp, Effect, How, LockFamily, Mode, OnceStyle, Returns, SleepUnit, SyncKind, ThreadOp, TlsOp,
};

use Mode::Exclusive;
use Returns::Thrd;

const MUTEX: LockFamily = LockFamily::C11Mutex;

pub(super) static ROWS: &[Row] = &[
    assuming(
        "thrd_create",
        Effect::Thread(ThreadOp::Create { id: A0, attribute: None, function: A1, argument: A2 }, Thrd),
        &["A-THREAD"],
    ),
    thread("thrd_join", ThreadOp::Join { thread: A0, result: Some(A1), how: How::Block }, Thrd),
    thread("thrd_detach", ThreadOp::Detach { thread: A0 }, Thrd),
    thread("thrd_exit", ThreadOp::Exit { result: Some(A0) }, Returns::Nothing),
    thread("thrd_current", ThreadOp::SelfId, Returns::Nothing),
    thread("thrd_equal", ThreadOp::Equal { a: A0, b: A1 }, Returns::Nothing),
    thread("thrd_yield", ThreadOp::Yield, Returns::Nothing),
    assuming(
        "thrd_sleep",
        Effect::Thread(ThreadOp::Sleep { amount: A0, unit: SleepUnit::Timespec { remainder: A1 } }, Thrd),
        &["A-TIME"],
    ),
    init("mtx_init", SyncKind::C11Mutex, Some(A1), Thrd),
    destroy("mtx_destroy", SyncKind::C11Mutex, Returns::Nothing),
    lock("mtx_lock", MUTEX, Exclusive, How::Block, Thrd),
    lock("mtx_trylock", MUTEX, Exclusive, How::Try, Thrd),
    lock("mtx_timedlock", MUTEX, Exclusive, UNTIL_A1, Thrd),
    unlock("mtx_unlock", MUTEX, Some(Exclusive), Thrd),
    init("cnd_init", SyncKind::C11Cond, None, Thrd),
    destroy("cnd_destroy", SyncKind::C11Cond, Returns::Nothing),
    row("cnd_wait", Effect::Cond(CondOp::Wait { cond: A0, mutex: A1, how: How::Block }, Thrd)),
    row("cnd_timedwait", Effect::Cond(CondOp::Wait { cond: A0, mutex: A1, how: UNTIL_A2 }, Thrd)),
    row("cnd_signal", Effect::Cond(CondOp::Signal { cond: A0 }, Thrd)),
    row("cnd_broadcast", Effect::Cond(CondOp::Broadcast { cond: A0 }, Thrd)),
    row("call_once", Effect::Once { once: A0, function: A1, style: OnceStyle::C11 }),
    assuming("tss_create", Effect::Tls(TlsOp::KeyCreate { key: A0, destructor: A1 }, Thrd), &["A-THREAD"]),
    row("tss_delete", Effect::Tls(TlsOp::KeyDelete { key: A0 }, Returns::Nothing)),
    row("tss_get", Effect::Tls(TlsOp::Get { key: A0 }, Returns::Nothing)),
    row("tss_set", Effect::Tls(TlsOp::Set { key: A0, value: A1 }, Thrd)),
];
