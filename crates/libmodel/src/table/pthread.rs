//! POSIX threads: threads, mutexes, read-write locks, spin locks, conditions, barriers, once, keys, cancellation.

use super::Row;
use super::row::{
    A0, A1, A2, A3, UNTIL_A1, UNTIL_A2, UNTIL_A3, alias_assuming, answers, assuming, destroy, init,
    libc_assuming, lock, row, thread, unlock, unsupported,
};
use crate::{
    CancelSetting, CondOp, Effect, How, LockFamily, Mode, OnceStyle, Returns, SyncKind, ThreadOp, TlsOp,
};

use Mode::{Exclusive, Shared};
use Returns::Errno;

/// Whether the system lets the program change a setting is input.
const INPUT: &[&str] = &["A-INPUT"];
const MUTEX: LockFamily = LockFamily::PthreadMutex;
const RWLOCK: LockFamily = LockFamily::PthreadRwlock;
const SPIN: LockFamily = LockFamily::PthreadSpin;

pub(super) static ROWS: &[Row] = &[
    // Threads.
    assuming(
        "pthread_create",
        Effect::Thread(ThreadOp::Create { id: A0, attribute: Some(A1), function: A2, argument: A3 }, Errno),
        &["A-THREAD"],
    ),
    thread("pthread_join", ThreadOp::Join { thread: A0, result: Some(A1), how: How::Block }, Errno),
    thread("pthread_tryjoin_np", ThreadOp::Join { thread: A0, result: Some(A1), how: How::Try }, Errno),
    thread("pthread_timedjoin_np", ThreadOp::Join { thread: A0, result: Some(A1), how: UNTIL_A2 }, Errno),
    thread("pthread_clockjoin_np", ThreadOp::Join { thread: A0, result: Some(A1), how: UNTIL_A3 }, Errno),
    thread("pthread_detach", ThreadOp::Detach { thread: A0 }, Errno),
    thread("pthread_exit", ThreadOp::Exit { result: Some(A0) }, Returns::Nothing),
    thread("pthread_self", ThreadOp::SelfId, Returns::Nothing),
    thread("pthread_equal", ThreadOp::Equal { a: A0, b: A1 }, Returns::Nothing),
    thread("pthread_yield", ThreadOp::Yield, Errno),
    thread("pthread_yield_np", ThreadOp::Yield, Errno),
    // Cancellation.
    thread("pthread_cancel", ThreadOp::Cancel { thread: A0 }, Errno),
    thread("pthread_testcancel", ThreadOp::TestCancel, Returns::Nothing),
    thread(
        "pthread_setcancelstate",
        ThreadOp::SetCancel { setting: CancelSetting::State, value: A0, old: A1 },
        Errno,
    ),
    thread(
        "pthread_setcanceltype",
        ThreadOp::SetCancel { setting: CancelSetting::Type, value: A0, old: A1 },
        Errno,
    ),
    thread("__pthread_register_cancel", ThreadOp::CleanupRegister, Returns::Nothing),
    thread("__pthread_unregister_cancel", ThreadOp::CleanupUnregister, Returns::Nothing),
    unsupported("__pthread_unwind_next", "a cleanup handler of a cancelled thread"),
    unsupported("_pthread_cleanup_push", "cleanup handlers of glibc's old interface"),
    unsupported("_pthread_cleanup_pop", "cleanup handlers of glibc's old interface"),
    // Mutexes.
    init("pthread_mutex_init", SyncKind::Mutex, Some(A1), Errno),
    destroy("pthread_mutex_destroy", SyncKind::Mutex, Errno),
    lock("pthread_mutex_lock", MUTEX, Exclusive, How::Block, Errno),
    lock("pthread_mutex_trylock", MUTEX, Exclusive, How::Try, Errno),
    lock("pthread_mutex_timedlock", MUTEX, Exclusive, UNTIL_A1, Errno),
    lock("pthread_mutex_clocklock", MUTEX, Exclusive, UNTIL_A2, Errno),
    lock("__pthread_mutex_lock", MUTEX, Exclusive, How::Block, Errno),
    lock("__pthread_mutex_trylock", MUTEX, Exclusive, How::Try, Errno),
    unlock("pthread_mutex_unlock", MUTEX, Some(Exclusive), Errno),
    unlock("__pthread_mutex_unlock", MUTEX, Some(Exclusive), Errno),
    row("pthread_mutex_consistent", Effect::MutexConsistent { mutex: A0 }),
    row("pthread_mutex_consistent_np", Effect::MutexConsistent { mutex: A0 }),
    unsupported("pthread_mutex_getprioceiling", "priority ceilings"),
    unsupported("pthread_mutex_setprioceiling", "priority ceilings"),
    // Read-write locks.
    init("pthread_rwlock_init", SyncKind::Rwlock, Some(A1), Errno),
    destroy("pthread_rwlock_destroy", SyncKind::Rwlock, Errno),
    lock("pthread_rwlock_rdlock", RWLOCK, Shared, How::Block, Errno),
    lock("pthread_rwlock_tryrdlock", RWLOCK, Shared, How::Try, Errno),
    lock("pthread_rwlock_timedrdlock", RWLOCK, Shared, UNTIL_A1, Errno),
    lock("pthread_rwlock_clockrdlock", RWLOCK, Shared, UNTIL_A2, Errno),
    lock("pthread_rwlock_wrlock", RWLOCK, Exclusive, How::Block, Errno),
    lock("pthread_rwlock_trywrlock", RWLOCK, Exclusive, How::Try, Errno),
    lock("pthread_rwlock_timedwrlock", RWLOCK, Exclusive, UNTIL_A1, Errno),
    lock("pthread_rwlock_clockwrlock", RWLOCK, Exclusive, UNTIL_A2, Errno),
    unlock("pthread_rwlock_unlock", RWLOCK, None, Errno),
    // Spin locks.
    init("pthread_spin_init", SyncKind::Spin, None, Errno),
    destroy("pthread_spin_destroy", SyncKind::Spin, Errno),
    lock("pthread_spin_lock", SPIN, Exclusive, How::Block, Errno),
    lock("pthread_spin_trylock", SPIN, Exclusive, How::Try, Errno),
    unlock("pthread_spin_unlock", SPIN, Some(Exclusive), Errno),
    // Condition variables.
    init("pthread_cond_init", SyncKind::Cond, None, Errno),
    destroy("pthread_cond_destroy", SyncKind::Cond, Errno),
    row("pthread_cond_wait", Effect::Cond(CondOp::Wait { cond: A0, mutex: A1, how: How::Block }, Errno)),
    row("pthread_cond_timedwait", Effect::Cond(CondOp::Wait { cond: A0, mutex: A1, how: UNTIL_A2 }, Errno)),
    row("pthread_cond_clockwait", Effect::Cond(CondOp::Wait { cond: A0, mutex: A1, how: UNTIL_A3 }, Errno)),
    row("pthread_cond_signal", Effect::Cond(CondOp::Signal { cond: A0 }, Errno)),
    row("pthread_cond_broadcast", Effect::Cond(CondOp::Broadcast { cond: A0 }, Errno)),
    // Barriers.
    init("pthread_barrier_init", SyncKind::Barrier, Some(A2), Errno),
    destroy("pthread_barrier_destroy", SyncKind::Barrier, Errno),
    row("pthread_barrier_wait", Effect::BarrierWait { barrier: A0 }),
    // Once and keys.
    row("pthread_once", Effect::Once { once: A0, function: A1, style: OnceStyle::Pthread }),
    assuming(
        "pthread_key_create",
        Effect::Tls(TlsOp::KeyCreate { key: A0, destructor: A1 }, Errno),
        &["A-THREAD"],
    ),
    row("pthread_key_delete", Effect::Tls(TlsOp::KeyDelete { key: A0 }, Errno)),
    row("pthread_getspecific", Effect::Tls(TlsOp::Get { key: A0 }, Returns::Nothing)),
    row("pthread_setspecific", Effect::Tls(TlsOp::Set { key: A0, value: A1 }, Errno)),
    // Settings without an effect on order or memory of the program.
    answers("pthread_setconcurrency", INPUT),
    answers("pthread_getconcurrency", INPUT),
    libc_assuming("pthread_setname_np", INPUT),
    libc_assuming("pthread_setschedparam", INPUT),
    answers("pthread_setschedprio", INPUT),
    libc_assuming("pthread_setaffinity_np", INPUT),
    answers("pthread_atfork", INPUT),
    alias_assuming("pthread_sigmask", "sigprocmask", &["A-SIGNAL"]),
    unsupported("pthread_kill", "signals between threads"),
    unsupported("pthread_sigqueue", "signals between threads"),
];
