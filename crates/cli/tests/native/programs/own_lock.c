// A lock made of plain variables and a compiler builtin that nobody models. Only raddle.toml tells that it is one.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

struct gate {
    volatile int turn;
    volatile int entered;
};

static int swap_in(volatile int *place)
{
    int old = 1;
    __asm__ volatile("xchg %0, %1" : "+r"(old), "+m"(*place) : : "memory");
    return old;
}

int gate_try(struct gate *gate)
{
    if (swap_in(&gate->turn))
        return 0;
    gate->entered++;
    return 1;
}

void gate_enter(struct gate *gate)
{
    while (!gate_try(gate))
        sched_yield();
}

void gate_leave(int colour, struct gate *gate)
{
    (void)colour;
    gate->entered--;
    __asm__ volatile("" : : : "memory");
    gate->turn = 0;
}

static struct gate gate;
static void (*const enter)(struct gate *) = gate_enter;
static int total, unguarded;

static void *worker(void *arg)
{
    for (int i = 0; i < 200; i++) {
        if (i % 2)
            enter(&gate);
        else
            while (!gate_try(&gate))
                sched_yield();
        total += 5;
        gate_leave(0, &gate);
    }
    if (arg)
        unguarded++;
    return arg;
}

int main(int argc, char **argv)
{
    (void)argv;
    pthread_t a, b;
    void *arg = argc > 1 ? &gate : 0;
    pthread_create(&a, NULL, worker, arg);
    pthread_create(&b, NULL, worker, arg);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("total %d\n", total);
    return 0;
}
