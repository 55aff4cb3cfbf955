/* races: 7-8
 * prints: 3 6 1 */
#include "hooks.h"
static mtx_t m;
static cnd_t c;
static once_flag once = ONCE_FLAG_INIT;
static int x, ready, made, exposed;
static void make(void)
{
    W(made, R(made, 1) + 1, 2);
}
static int run(void *p)
{
    if (p != &c)
        W(exposed, 1, p ? 7 : 8);
    call_once(&once, make);
    R(made, 3);
    mtx_lock(&m);
    while (!R(ready, 4))
        cnd_wait(&c, &m);
    W(x, R(x, 5) + 2, 6);
    mtx_unlock(&m);
    return 3;
}
int main(void)
{
    thrd_t t[3];
    int result = 0;
    mtx_init(&m, mtx_plain);
    cnd_init(&c);
    for (long i = 0; i < 3; i++)
        thrd_create(&t[i], run, i == 0 ? 0 : i == 1 ? (void *)&m : &c);
    mtx_lock(&m);
    W(ready, 1, 9);
    cnd_broadcast(&c);
    mtx_unlock(&m);
    thrd_join(t[0], &result);
    thrd_detach(t[1]);
    thrd_join(t[2], 0);
    while (1) {
        mtx_lock(&m);
        int all = R(x, 10) == 6;
        mtx_unlock(&m);
        if (all)
            break;
    }
    printf("%d %d %d\n", result, x, made);
}
