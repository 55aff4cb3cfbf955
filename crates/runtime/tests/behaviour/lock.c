/* races: 11-12
 * prints: 2 */
#include "hooks.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int guarded, exposed;
static void *run(void *p)
{
    FUNCTION(1);
    CALL(2, pthread_mutex_lock(&m));
    W(guarded, R(guarded, 3) + 1, 4);
    CALL(5, pthread_mutex_unlock(&m));
    W(exposed, 1, p ? 11 : 12);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, &m);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%d\n", R(guarded, 6));
}
