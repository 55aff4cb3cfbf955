// C11 atomics and the builtins behind them, with their orders.
_Atomic int flag;
_Atomic(int *) head;
_Atomic double real;
int plain;
long counter;
volatile int port;

void orders(int v)
{
    flag = v; // IS: store SeqCst flag
    v = flag; // IS: load SeqCst flag
    flag++; // IS: rmw Add SeqCst flag
    flag |= 4; // IS: rmw Or SeqCst flag
    __c11_atomic_store(&flag, 1, __ATOMIC_RELEASE); // IS: store Release flag
    v = __c11_atomic_load(&flag, __ATOMIC_ACQUIRE); // IS: load Acquire flag
    v = __c11_atomic_load(&flag, __ATOMIC_RELAXED); // IS: load Relaxed flag
    v = __c11_atomic_load(&flag, __ATOMIC_CONSUME); // IS: load Acquire flag
    __c11_atomic_fetch_sub(&flag, 1, __ATOMIC_ACQ_REL); // IS: rmw Sub AcqRel flag
    __c11_atomic_exchange(&flag, 2, __ATOMIC_ACQUIRE); // IS: rmw Xchg Acquire flag
    v += __c11_atomic_load(&head, __ATOMIC_SEQ_CST) == &plain; // IS: load SeqCst head
    port = v; // IS: volatile store port
    v = port; // IS: volatile load port
}

int builtins(int *expected)
{
    __sync_fetch_and_add(&plain, 1); // IS: rmw Add SeqCst plain
    __sync_lock_release(&plain); // IS: store Release plain
    __sync_lock_test_and_set(&plain, 1); // IS: rmw Xchg SeqCst plain
    __sync_bool_compare_and_swap(&plain, 0, 1); // IS: cmpxchg SeqCst SeqCst plain
    __atomic_fetch_nand(&plain, 3, __ATOMIC_RELAXED); // IS: rmw Nand Relaxed plain
    __sync_synchronize(); // IS: fence SeqCst
    __atomic_thread_fence(__ATOMIC_ACQUIRE); // IS: fence Acquire
    __atomic_signal_fence(__ATOMIC_SEQ_CST); // IS: signal fence
    return __atomic_test_and_set(&plain, __ATOMIC_ACQUIRE); // IS: rmw Xchg Acquire plain
}
