#include <pthread.h>
#include <stdlib.h>
struct node {
    int key, count;
};
static struct node *make(int key)
{
    struct node *node = malloc(sizeof *node);
    node->key = key;
    node->count = 0;
    return node;
}
static void *bump(void *arg)
{
    struct node *node = arg;
    node->count++;
    return NULL;
}
int main(void)
{
    pthread_t a, b;
    struct node *node = make(3);
    pthread_create(&a, NULL, bump, node);
    pthread_create(&b, NULL, bump, node);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(node);
    return 0;
}
