// A lock of the program's own that gives up by an exception or by longjmp: what the thread does next counts again.
#include <csetjmp>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>

struct door {
    int closed;
    int entered;
};
static door doors[3];
static int thrown, jumped, guarded;
static int turn;
static jmp_buf back;

static void wait_for(int value)
{
    while (__atomic_load_n(&turn, __ATOMIC_RELAXED) != value)
        sched_yield();
}

static void __attribute__((noinline)) refuse(door *d)
{
    if (d == &doors[1])
        throw std::runtime_error("closed");
    longjmp(back, 1);
}

extern "C" void door_enter(door *d)
{
    d->entered++;
    if (d != &doors[0])
        refuse(d);
    while (__atomic_exchange_n(&d->closed, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

extern "C" void door_leave(door *d)
{
    __atomic_store_n(&d->closed, 0, __ATOMIC_RELEASE);
}

static void __attribute__((noinline)) deep(int n, int *cell)
{
    if (n)
        deep(n - 1, cell);
    else
        *cell = 1;
}

static void *worker(void *)
{
    try {
        door_enter(&doors[1]);
    } catch (const std::runtime_error &) {
        deep(9, &thrown);
    }
    if (setjmp(back) == 0)
        door_enter(&doors[2]);
    else
        deep(9, &jumped);
    door_enter(&doors[0]);
    guarded++;
    door_leave(&doors[0]);
    __atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
    return nullptr;
}

int main()
{
    pthread_t t;
    pthread_create(&t, nullptr, worker, nullptr);
    wait_for(1);
    thrown = 2;
    jumped = 2;
    door_enter(&doors[0]);
    guarded++;
    door_leave(&doors[0]);
    pthread_join(t, nullptr);
}
