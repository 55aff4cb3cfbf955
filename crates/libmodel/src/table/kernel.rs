//! Linux-kernel locks, threads, memory and printing, by the names that drivers use and by those that the kernel's macros expand to
//! (`spin_lock_irqsave` becomes `_raw_spin_lock_irqsave`).
//!
//! Interruptible and killable forms always get the lock (A-SIGNAL). Interrupts and preemption are not modelled: switching them off
//! is [`Effect::Nothing`], as is `rcu_read_lock`, which orders nothing. Waiting for a grace period, wait queues, timers and work
//! queues do order threads and are unsupported.

use super::Row;
use super::row::{
    A0, A1, alias, alias_assuming, answers, assuming, destroy, init, libc, libc_assuming, lock, row, thread,
    unlock, unsupported, void,
};
use crate::{Effect, How, LockFamily, Mode, Returns, SemOp, SleepUnit, SyncKind, ThreadOp};

use LockFamily::{KernelMutex, KernelRwSemaphore, KernelRwlock, KernelSpin};
use Mode::{Exclusive, Shared};

const fn spin(name: &'static str) -> Row {
    lock(name, KernelSpin, Exclusive, How::Block, Returns::Flags)
}

const fn spin_try(name: &'static str) -> Row {
    lock(name, KernelSpin, Exclusive, How::Try, Returns::OneOnSuccess)
}

const fn spin_release(name: &'static str) -> Row {
    unlock(name, KernelSpin, Some(Exclusive), Returns::Nothing)
}

const fn read(name: &'static str) -> Row {
    lock(name, KernelRwlock, Shared, How::Block, Returns::Flags)
}

const fn read_try(name: &'static str) -> Row {
    lock(name, KernelRwlock, Shared, How::Try, Returns::OneOnSuccess)
}

const fn read_release(name: &'static str) -> Row {
    unlock(name, KernelRwlock, Some(Shared), Returns::Nothing)
}

const fn write(name: &'static str) -> Row {
    lock(name, KernelRwlock, Exclusive, How::Block, Returns::Flags)
}

const fn write_try(name: &'static str) -> Row {
    lock(name, KernelRwlock, Exclusive, How::Try, Returns::OneOnSuccess)
}

const fn write_release(name: &'static str) -> Row {
    unlock(name, KernelRwlock, Some(Exclusive), Returns::Nothing)
}

const fn mutex(name: &'static str) -> Row {
    lock(name, KernelMutex, Exclusive, How::Block, Returns::Errno)
}

/// Interruptible and killable forms.
const fn uninterrupted(name: &'static str, family: LockFamily, mode: Mode) -> Row {
    assuming(
        name,
        Effect::Lock { family, lock: A0, mode, how: How::Block, returns: Returns::Errno },
        &["A-SIGNAL"],
    )
}

const fn rwsem(name: &'static str, mode: Mode) -> Row {
    lock(name, KernelRwSemaphore, mode, How::Block, Returns::Errno)
}

const fn down(name: &'static str, how: How, returns: Returns) -> Row {
    row(name, Effect::Sem(SemOp::Wait { sem: A0, how }, returns))
}

const fn kernel_init(name: &'static str) -> Row {
    init(name, SyncKind::KernelLock, None, Returns::Nothing)
}

const fn sleep(name: &'static str, unit: SleepUnit) -> Row {
    assuming(name, Effect::Thread(ThreadOp::Sleep { amount: A0, unit }, Returns::Errno), &["A-TIME"])
}

const WAITING: &str = "kernel wait queues";
const RCU: &str = "RCU grace periods";
const DEFERRED: &str = "kernel code that runs later (work queues, timers, tasklets, interrupts)";
const KTHREAD: &str = "kernel threads that are created stopped or told to stop";
const SEQLOCK: &str = "sequence locks";

pub(super) static ROWS: &[Row] = &[
    // Spin locks.
    spin("spin_lock"),
    spin("spin_lock_bh"),
    spin("spin_lock_irq"),
    spin("spin_lock_irqsave"),
    spin("spin_lock_nested"),
    spin("spin_lock_irqsave_nested"),
    spin_try("spin_trylock"),
    spin_try("spin_trylock_bh"),
    spin_try("spin_trylock_irq"),
    spin_try("spin_trylock_irqsave"),
    spin_release("spin_unlock"),
    spin_release("spin_unlock_bh"),
    spin_release("spin_unlock_irq"),
    spin_release("spin_unlock_irqrestore"),
    spin("raw_spin_lock"),
    spin("raw_spin_lock_bh"),
    spin("raw_spin_lock_irq"),
    spin("raw_spin_lock_irqsave"),
    spin("raw_spin_lock_nested"),
    spin("raw_spin_lock_irqsave_nested"),
    spin_try("raw_spin_trylock"),
    spin_try("raw_spin_trylock_bh"),
    spin_try("raw_spin_trylock_irq"),
    spin_try("raw_spin_trylock_irqsave"),
    spin_release("raw_spin_unlock"),
    spin_release("raw_spin_unlock_bh"),
    spin_release("raw_spin_unlock_irq"),
    spin_release("raw_spin_unlock_irqrestore"),
    spin("_raw_spin_lock"),
    spin("_raw_spin_lock_bh"),
    spin("_raw_spin_lock_irq"),
    spin("_raw_spin_lock_irqsave"),
    spin("_raw_spin_lock_nested"),
    spin("_raw_spin_lock_irqsave_nested"),
    spin_try("_raw_spin_trylock"),
    spin_try("_raw_spin_trylock_bh"),
    spin_try("_raw_spin_trylock_irq"),
    spin_try("_raw_spin_trylock_irqsave"),
    spin_release("_raw_spin_unlock"),
    spin_release("_raw_spin_unlock_bh"),
    spin_release("_raw_spin_unlock_irq"),
    spin_release("_raw_spin_unlock_irqrestore"),
    spin("__raw_spin_lock"),
    spin("__raw_spin_lock_bh"),
    spin("__raw_spin_lock_irq"),
    spin("__raw_spin_lock_irqsave"),
    spin("__raw_spin_lock_nested"),
    spin("__raw_spin_lock_irqsave_nested"),
    spin_try("__raw_spin_trylock"),
    spin_try("__raw_spin_trylock_bh"),
    spin_try("__raw_spin_trylock_irq"),
    spin_try("__raw_spin_trylock_irqsave"),
    spin_release("__raw_spin_unlock"),
    spin_release("__raw_spin_unlock_bh"),
    spin_release("__raw_spin_unlock_irq"),
    spin_release("__raw_spin_unlock_irqrestore"),
    spin("_spin_lock"),
    spin("_spin_lock_bh"),
    spin("_spin_lock_irq"),
    spin("_spin_lock_irqsave"),
    spin("_spin_lock_nested"),
    spin("_spin_lock_irqsave_nested"),
    spin_try("_spin_trylock"),
    spin_try("_spin_trylock_bh"),
    spin_try("_spin_trylock_irq"),
    spin_try("_spin_trylock_irqsave"),
    spin_release("_spin_unlock"),
    spin_release("_spin_unlock_bh"),
    spin_release("_spin_unlock_irq"),
    spin_release("_spin_unlock_irqrestore"),
    spin("__spin_lock"),
    spin("__spin_lock_bh"),
    spin("__spin_lock_irq"),
    spin("__spin_lock_irqsave"),
    spin("__spin_lock_nested"),
    spin("__spin_lock_irqsave_nested"),
    spin_try("__spin_trylock"),
    spin_try("__spin_trylock_bh"),
    spin_try("__spin_trylock_irq"),
    spin_try("__spin_trylock_irqsave"),
    spin_release("__spin_unlock"),
    spin_release("__spin_unlock_bh"),
    spin_release("__spin_unlock_irq"),
    spin_release("__spin_unlock_irqrestore"),
    spin("do_raw_spin_lock"),
    spin("do_raw_spin_lock_flags"),
    spin("arch_spin_lock"),
    spin("arch_spin_lock_flags"),
    spin("_raw_spin_lock_nest_lock"),
    spin("spin_lock_nest_lock"),
    spin("spin_lock_bh_nested"),
    spin_try("do_raw_spin_trylock"),
    spin_try("arch_spin_trylock"),
    spin_release("do_raw_spin_unlock"),
    spin_release("arch_spin_unlock"),
    kernel_init("spin_lock_init"),
    kernel_init("raw_spin_lock_init"),
    kernel_init("__spin_lock_init"),
    kernel_init("__raw_spin_lock_init"),
    unsupported("spin_is_locked", "asking whether a lock is held"),
    unsupported("spin_unlock_wait", "waiting for a lock without taking it"),
    // Read-write locks.
    read("read_lock"),
    read("read_lock_bh"),
    read("read_lock_irq"),
    read("read_lock_irqsave"),
    read_try("read_trylock"),
    read_release("read_unlock"),
    read_release("read_unlock_bh"),
    read_release("read_unlock_irq"),
    read_release("read_unlock_irqrestore"),
    write("write_lock"),
    write("write_lock_bh"),
    write("write_lock_irq"),
    write("write_lock_irqsave"),
    write_try("write_trylock"),
    write_release("write_unlock"),
    write_release("write_unlock_bh"),
    write_release("write_unlock_irq"),
    write_release("write_unlock_irqrestore"),
    read("_raw_read_lock"),
    read("_raw_read_lock_bh"),
    read("_raw_read_lock_irq"),
    read("_raw_read_lock_irqsave"),
    read_try("_raw_read_trylock"),
    read_release("_raw_read_unlock"),
    read_release("_raw_read_unlock_bh"),
    read_release("_raw_read_unlock_irq"),
    read_release("_raw_read_unlock_irqrestore"),
    write("_raw_write_lock"),
    write("_raw_write_lock_bh"),
    write("_raw_write_lock_irq"),
    write("_raw_write_lock_irqsave"),
    write_try("_raw_write_trylock"),
    write_release("_raw_write_unlock"),
    write_release("_raw_write_unlock_bh"),
    write_release("_raw_write_unlock_irq"),
    write_release("_raw_write_unlock_irqrestore"),
    read("__raw_read_lock"),
    read("__raw_read_lock_bh"),
    read("__raw_read_lock_irq"),
    read("__raw_read_lock_irqsave"),
    read_try("__raw_read_trylock"),
    read_release("__raw_read_unlock"),
    read_release("__raw_read_unlock_bh"),
    read_release("__raw_read_unlock_irq"),
    read_release("__raw_read_unlock_irqrestore"),
    write("__raw_write_lock"),
    write("__raw_write_lock_bh"),
    write("__raw_write_lock_irq"),
    write("__raw_write_lock_irqsave"),
    write_try("__raw_write_trylock"),
    write_release("__raw_write_unlock"),
    write_release("__raw_write_unlock_bh"),
    write_release("__raw_write_unlock_irq"),
    write_release("__raw_write_unlock_irqrestore"),
    read("_read_lock"),
    read("_read_lock_bh"),
    read("_read_lock_irq"),
    read("_read_lock_irqsave"),
    read_try("_read_trylock"),
    read_release("_read_unlock"),
    read_release("_read_unlock_bh"),
    read_release("_read_unlock_irq"),
    read_release("_read_unlock_irqrestore"),
    write("_write_lock"),
    write("_write_lock_bh"),
    write("_write_lock_irq"),
    write("_write_lock_irqsave"),
    write_try("_write_trylock"),
    write_release("_write_unlock"),
    write_release("_write_unlock_bh"),
    write_release("_write_unlock_irq"),
    write_release("_write_unlock_irqrestore"),
    read("do_raw_read_lock"),
    read("arch_read_lock"),
    read_try("do_raw_read_trylock"),
    read_release("do_raw_read_unlock"),
    read_release("arch_read_unlock"),
    write("do_raw_write_lock"),
    write("arch_write_lock"),
    write_try("do_raw_write_trylock"),
    write_release("do_raw_write_unlock"),
    write_release("arch_write_unlock"),
    kernel_init("rwlock_init"),
    kernel_init("__rwlock_init"),
    // Mutexes.
    mutex("mutex_lock"),
    mutex("mutex_lock_nested"),
    mutex("mutex_lock_io"),
    mutex("mutex_lock_io_nested"),
    mutex("_mutex_lock_nest_lock"),
    mutex("__mutex_lock"),
    mutex("rt_mutex_lock"),
    mutex("rt_mutex_lock_nested"),
    uninterrupted("mutex_lock_interruptible", KernelMutex, Exclusive),
    uninterrupted("mutex_lock_interruptible_nested", KernelMutex, Exclusive),
    uninterrupted("mutex_lock_killable", KernelMutex, Exclusive),
    uninterrupted("mutex_lock_killable_nested", KernelMutex, Exclusive),
    uninterrupted("__mutex_lock_interruptible", KernelMutex, Exclusive),
    uninterrupted("__mutex_lock_killable", KernelMutex, Exclusive),
    uninterrupted("rt_mutex_lock_interruptible", KernelMutex, Exclusive),
    lock("mutex_trylock", KernelMutex, Exclusive, How::Try, Returns::OneOnSuccess),
    lock("rt_mutex_trylock", KernelMutex, Exclusive, How::Try, Returns::OneOnSuccess),
    unlock("mutex_unlock", KernelMutex, Some(Exclusive), Returns::Nothing),
    unlock("__mutex_unlock", KernelMutex, Some(Exclusive), Returns::Nothing),
    unlock("rt_mutex_unlock", KernelMutex, Some(Exclusive), Returns::Nothing),
    kernel_init("mutex_init"),
    kernel_init("__mutex_init"),
    kernel_init("__rt_mutex_init"),
    destroy("mutex_destroy", SyncKind::KernelLock, Returns::Nothing),
    unsupported("mutex_is_locked", "asking whether a lock is held"),
    unsupported("atomic_dec_and_mutex_lock", "a lock taken only when a count reaches zero"),
    unsupported("atomic_dec_and_lock", "a lock taken only when a count reaches zero"),
    unsupported("_atomic_dec_and_lock", "a lock taken only when a count reaches zero"),
    // Counting semaphores and completions.
    init("sema_init", SyncKind::KernelSemaphore, Some(A1), Returns::Nothing),
    down("down", How::Block, Returns::Nothing),
    assuming(
        "down_interruptible",
        Effect::Sem(SemOp::Wait { sem: A0, how: How::Block }, Returns::Errno),
        &["A-SIGNAL"],
    ),
    assuming(
        "down_killable",
        Effect::Sem(SemOp::Wait { sem: A0, how: How::Block }, Returns::Errno),
        &["A-SIGNAL"],
    ),
    down("down_trylock", How::Try, Returns::ZeroOnSuccess),
    down("down_timeout", How::Timed { deadline: None }, Returns::ZeroOnSuccess),
    row("up", Effect::Sem(SemOp::Post { sem: A0 }, Returns::Nothing)),
    init("init_completion", SyncKind::KernelSemaphore, None, Returns::Nothing),
    down("wait_for_completion", How::Block, Returns::Nothing),
    assuming(
        "wait_for_completion_interruptible",
        Effect::Sem(SemOp::Wait { sem: A0, how: How::Block }, Returns::Errno),
        &["A-SIGNAL"],
    ),
    down("wait_for_completion_timeout", How::Timed { deadline: None }, Returns::OneOnSuccess),
    down("try_wait_for_completion", How::Try, Returns::OneOnSuccess),
    row("complete", Effect::Sem(SemOp::Post { sem: A0 }, Returns::Nothing)),
    unsupported("complete_all", "a completion that stays open"),
    // Read-write semaphores.
    rwsem("down_read", Shared),
    rwsem("down_read_nested", Shared),
    rwsem("down_write", Exclusive),
    rwsem("down_write_nested", Exclusive),
    rwsem("_down_write_nest_lock", Exclusive),
    uninterrupted("down_read_interruptible", KernelRwSemaphore, Shared),
    uninterrupted("down_read_killable", KernelRwSemaphore, Shared),
    uninterrupted("down_write_killable", KernelRwSemaphore, Exclusive),
    lock("down_read_trylock", KernelRwSemaphore, Shared, How::Try, Returns::OneOnSuccess),
    lock("down_write_trylock", KernelRwSemaphore, Exclusive, How::Try, Returns::OneOnSuccess),
    unlock("up_read", KernelRwSemaphore, Some(Shared), Returns::Nothing),
    unlock("up_write", KernelRwSemaphore, Some(Exclusive), Returns::Nothing),
    kernel_init("init_rwsem"),
    kernel_init("__init_rwsem"),
    unsupported("downgrade_write", "a lock that changes from writing to reading"),
    // Orders nothing.
    void("rcu_read_lock"),
    void("rcu_read_unlock"),
    void("__rcu_read_lock"),
    void("__rcu_read_unlock"),
    void("rcu_read_lock_bh"),
    void("rcu_read_unlock_bh"),
    void("rcu_read_lock_sched"),
    void("rcu_read_unlock_sched"),
    answers("srcu_read_lock", &["A-INPUT"]),
    void("srcu_read_unlock"),
    void("local_irq_disable"),
    void("local_irq_enable"),
    void("local_irq_save"),
    void("local_irq_restore"),
    void("local_bh_disable"),
    void("local_bh_enable"),
    void("preempt_disable"),
    void("preempt_enable"),
    void("might_sleep"),
    void("__might_sleep"),
    void("lockdep_init_map"),
    void("lock_acquire"),
    void("lock_release"),
    void("lockdep_assert_held"),
    void("trace_hardirqs_on"),
    void("trace_hardirqs_off"),
    // Orders threads in ways that are not modelled.
    unsupported("synchronize_rcu", RCU),
    unsupported("synchronize_sched", RCU),
    unsupported("synchronize_srcu", RCU),
    unsupported("call_rcu", RCU),
    unsupported("rcu_barrier", RCU),
    unsupported("kfree_rcu", RCU),
    unsupported("kvfree_call_rcu", RCU),
    unsupported("wake_up_process", WAITING),
    unsupported("__wake_up", WAITING),
    unsupported("wake_up", WAITING),
    unsupported("wake_up_all", WAITING),
    unsupported("wake_up_interruptible", WAITING),
    unsupported("prepare_to_wait", WAITING),
    unsupported("prepare_to_wait_event", WAITING),
    unsupported("finish_wait", WAITING),
    unsupported("add_wait_queue", WAITING),
    unsupported("remove_wait_queue", WAITING),
    unsupported("schedule_timeout", WAITING),
    unsupported("schedule_timeout_interruptible", WAITING),
    unsupported("schedule_timeout_uninterruptible", WAITING),
    unsupported("queue_work_on", DEFERRED),
    unsupported("queue_work", DEFERRED),
    unsupported("schedule_work", DEFERRED),
    unsupported("schedule_delayed_work", DEFERRED),
    unsupported("queue_delayed_work_on", DEFERRED),
    unsupported("flush_work", DEFERRED),
    unsupported("flush_workqueue", DEFERRED),
    unsupported("cancel_work_sync", DEFERRED),
    unsupported("cancel_delayed_work_sync", DEFERRED),
    unsupported("add_timer", DEFERRED),
    unsupported("mod_timer", DEFERRED),
    unsupported("del_timer_sync", DEFERRED),
    unsupported("tasklet_schedule", DEFERRED),
    unsupported("__tasklet_schedule", DEFERRED),
    unsupported("request_irq", DEFERRED),
    unsupported("request_threaded_irq", DEFERRED),
    unsupported("free_irq", DEFERRED),
    unsupported("kthread_create", KTHREAD),
    unsupported("kthread_create_on_node", KTHREAD),
    unsupported("kthread_stop", KTHREAD),
    unsupported("kthread_should_stop", KTHREAD),
    unsupported("write_seqlock", SEQLOCK),
    unsupported("write_sequnlock", SEQLOCK),
    unsupported("read_seqbegin", SEQLOCK),
    unsupported("read_seqretry", SEQLOCK),
    unsupported("write_seqcount_begin", SEQLOCK),
    unsupported("write_seqcount_end", SEQLOCK),
    // Threads and time.
    assuming(
        "kthread_run",
        Effect::Thread(ThreadOp::CreateReturning { function: A0, argument: A1 }, Returns::Nothing),
        &["A-THREAD"],
    ),
    thread("schedule", ThreadOp::Yield, Returns::Errno),
    thread("cond_resched", ThreadOp::Yield, Returns::Errno),
    thread("_cond_resched", ThreadOp::Yield, Returns::Errno),
    thread("cpu_relax", ThreadOp::Yield, Returns::Errno),
    thread("yield", ThreadOp::Yield, Returns::Errno),
    sleep("msleep", SleepUnit::Milliseconds),
    sleep("msleep_interruptible", SleepUnit::Milliseconds),
    sleep("mdelay", SleepUnit::Milliseconds),
    sleep("ssleep", SleepUnit::Seconds),
    sleep("udelay", SleepUnit::Microseconds),
    sleep("__udelay", SleepUnit::Microseconds),
    sleep("usleep_range", SleepUnit::Microseconds),
    sleep("ndelay", SleepUnit::Nanoseconds),
    // Memory and printing.
    alias_assuming("kmalloc", "malloc", &["A-MALLOC"]),
    alias_assuming("__kmalloc", "malloc", &["A-MALLOC"]),
    alias_assuming("kvmalloc", "malloc", &["A-MALLOC"]),
    alias_assuming("vmalloc", "malloc", &["A-MALLOC"]),
    alias_assuming("kcalloc", "calloc", &["A-MALLOC"]),
    alias_assuming("kvcalloc", "calloc", &["A-MALLOC"]),
    alias_assuming("krealloc", "realloc", &["A-MALLOC"]),
    alias_assuming("kstrdup", "strdup", &["A-MALLOC"]),
    alias_assuming("kstrndup", "strndup", &["A-MALLOC"]),
    alias_assuming("vzalloc", "kzalloc", &["A-MALLOC"]),
    alias_assuming("kvzalloc", "kzalloc", &["A-MALLOC"]),
    libc_assuming("kzalloc", &["A-MALLOC"]),
    libc_assuming("kmalloc_array", &["A-MALLOC"]),
    alias("kfree", "free"),
    alias("kvfree", "free"),
    alias("vfree", "free"),
    alias("kfree_sensitive", "free"),
    libc("printk"),
    alias("_printk", "printk"),
];
