/* Two halves of an array are apart, or not quite. */
#include <pthread.h>
#include <stdio.h>
#define N 1000
static int numbers[N];
static int overlap;
struct part {
    int from, to;
};
static void *fill(void *arg)
{
    struct part *part = arg;
    for (int i = part->from; i < part->to; i++)
        numbers[i] = i;
    return NULL;
}
int main(int argc, char **argv)
{
    overlap = argc > 1;
    struct part low = {0, N / 2 + overlap}, high = {N / 2, N};
    pthread_t a, b;
    pthread_create(&a, NULL, fill, &low);
    pthread_create(&b, NULL, fill, &high);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += numbers[i];
    printf("%ld\n", sum);
    (void)argv;
    return 0;
}
