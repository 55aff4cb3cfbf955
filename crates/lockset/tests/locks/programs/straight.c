// Locks in a row, nested, overlapping; histories as in the paper.
#include <pthread.h>
void locks(const char *);
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lk1 = PTHREAD_MUTEX_INITIALIZER, lk2 = PTHREAD_MUTEX_INITIALIZER;

static void figure2a(void)
{
    locks("");
    pthread_mutex_lock(&lk1);
    locks("lk1");
    pthread_mutex_lock(&lk2);
    locks("lk1{lk2} lk2");
    pthread_mutex_unlock(&lk2);
    locks("lk1{lk2}");
    pthread_mutex_unlock(&lk1);
    locks("");
}

static void figure2b(void)
{
    pthread_mutex_lock(&lk2);
    locks("lk2");
    pthread_mutex_lock(&lk1);
    pthread_mutex_unlock(&lk1);
    locks("lk2{lk1}");
    pthread_mutex_unlock(&lk2);
    pthread_mutex_lock(&lk2);
    locks("lk2");
    pthread_mutex_unlock(&lk2);
}

static void overlapping(void)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&a);
    locks("b");
    pthread_mutex_lock(&a);
    locks("a b{a}");
    pthread_mutex_unlock(&b);
    locks("a");
    pthread_mutex_unlock(&b);
    locks("a");
    pthread_mutex_unlock(&a);
    locks("");
}

int main(void)
{
    figure2a();
    figure2b();
    overlapping();
    return 0;
}
