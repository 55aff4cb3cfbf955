/* The whole process ends in another thread than the main one. */
#include "race.h"
static void *leave(void *arg)
{
    race();
    exit(6);
    return arg;
}
int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, leave, NULL);
    pthread_join(a, NULL);
    return 0;
}
