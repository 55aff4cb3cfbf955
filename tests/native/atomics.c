#include <stdatomic.h>
#include <stdio.h>

static atomic_int n;
static _Atomic unsigned char small = 250;
static _Atomic long long wide;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static int plain = 5;
static _Atomic(int *) where;

int main(void)
{
    atomic_store(&n, 5);
    printf("%d ", atomic_fetch_add(&n, 3));
    printf("%d ", atomic_fetch_sub(&n, 1));
    printf("%d ", atomic_fetch_or(&n, 8));
    printf("%d ", atomic_fetch_and(&n, 13));
    printf("%d ", atomic_fetch_xor(&n, 255));
    printf("%d\n", atomic_exchange(&n, 77));
    int expected = 76;
    printf("%d ", atomic_compare_exchange_strong(&n, &expected, 1));
    printf("%d ", expected);
    printf("%d %d\n", atomic_compare_exchange_strong(&n, &expected, 1), n);
    small += 10;
    printf("%d\n", small);
    wide = 1ll << 40;
    wide *= 3;
    wide++;
    printf("%lld\n", wide);
    printf("%d ", atomic_flag_test_and_set(&flag));
    printf("%d ", atomic_flag_test_and_set(&flag));
    atomic_flag_clear(&flag);
    printf("%d\n", atomic_flag_test_and_set(&flag));
    printf("%d ", __sync_fetch_and_add(&plain, 2));
    printf("%d ", __sync_bool_compare_and_swap(&plain, 7, 9));
    printf("%d ", __sync_val_compare_and_swap(&plain, 8, 1));
    printf("%d ", __atomic_add_fetch(&plain, 1, __ATOMIC_RELAXED));
    printf("%d\n", __atomic_nand_fetch(&plain, 6, __ATOMIC_SEQ_CST));
    where = &plain;
    *where = 3;
    printf("%d\n", plain);
    atomic_thread_fence(memory_order_seq_cst);
    _Alignas(8) struct { int a, b; } pair = {1, 2}, out;
    __atomic_load(&pair, &out, __ATOMIC_SEQ_CST);
    printf("%d %d\n", out.a, out.b);
    return 0;
}
