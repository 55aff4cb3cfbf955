// __VERIFIER_atomic: one global lock that nests; functions of that name run inside it.
#include <pthread.h>
void locks(const char *);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

void __VERIFIER_atomic_step(void)
{
    locks("atomic");
    x++;
}

static void ends_it(void)
{
    __VERIFIER_atomic_end();
}

int main(void)
{
    __VERIFIER_atomic_begin();
    locks("atomic");
    __VERIFIER_atomic_begin();
    locks("atomic*2");
    __VERIFIER_atomic_end();
    locks("atomic");
    pthread_mutex_lock(&m);
    locks("atomic m");
    pthread_mutex_unlock(&m);
    __VERIFIER_atomic_end();
    locks("");
    __VERIFIER_atomic_step();
    locks("");
    __VERIFIER_atomic_begin();
    __VERIFIER_atomic_step();
    locks("atomic");
    ends_it();
    locks("");
    return 0;
}
