/* What instrumented code would do, by hand: R and W check and make an access of four bytes; CALL names the site of the next call. */
#define _GNU_SOURCE
#include "../../include/raddle.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

struct raddle_frame;
struct raddle_frame *__raddle_enter(uint32_t);
void __raddle_exit(struct raddle_frame *), __raddle_call(uint32_t);
void __raddle_read1(const void *, uint32_t), __raddle_write1(void *, uint32_t);
void __raddle_read4(const void *, uint32_t), __raddle_write4(void *, uint32_t);
void *__raddle_atomic_enter(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
void __raddle_atomic_leave(void *, uint32_t);

#define R(x, site) (__raddle_read4(&(x), site), *(volatile int *)&(x))
#define W(x, value, site) (__raddle_write4(&(x), site), *(volatile int *)&(x) = (value))
#define CALL(site, call) (__raddle_call(site), call)
#define FUNCTION(site) __attribute__((cleanup(leave))) struct raddle_frame *frame = __raddle_enter(site)

static inline void leave(struct raddle_frame **frame)
{
    __raddle_exit(*frame);
}

/* Waits that Raddle does not see: for a schedule, not for an order. */
static inline void later(volatile int *flag)
{
    while (!*flag)
        sched_yield();
}
