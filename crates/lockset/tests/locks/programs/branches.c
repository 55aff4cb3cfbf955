// Some paths lock and some do not; the same condition decides later.
#include <pthread.h>
#include <stdlib.h>
void locks(const char *);
void dead(void);
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void one_side(int c)
{
    if (c)
        pthread_mutex_lock(&a);
    locks("");
    if (c) {
        locks("a");
        pthread_mutex_unlock(&a);
        locks("");
    } else {
        locks("");
    }
    locks("");
}

static void other_side(int c)
{
    pthread_mutex_lock(&a);
    if (c)
        pthread_mutex_unlock(&a);
    locks("");
    if (!c) {
        locks("a");
        pthread_mutex_unlock(&a);
    }
    locks("");
}

static void both_sides(int c)
{
    if (c)
        pthread_mutex_lock(&a);
    else {
        pthread_mutex_lock(&b);
        pthread_mutex_lock(&a);
    }
    locks("a");
    if (c != 0)
        locks("a");
    else {
        locks("a b{a}");
        pthread_mutex_unlock(&b);
    }
    pthread_mutex_unlock(&a);
}

static void other_condition(int c, int d)
{
    if (c)
        pthread_mutex_lock(&a);
    if (d)
        locks("");
    if (c && d)
        locks("a");
    if (c || d)
        locks("");
    if (c)
        pthread_mutex_unlock(&a);
}

static void flag(int c)
{
    int got = 0;
    if (c > 5) {
        pthread_mutex_lock(&a);
        got = 1;
    }
    locks("");
    if (got) {
        locks("a");
        pthread_mutex_unlock(&a);
    }
}

static void changed(int c)
{
    for (int i = 0; i < 3; i++) {
        int flag = rand();
        if (flag)
            pthread_mutex_lock(&a);
        if (flag) {
            locks("a");
            pthread_mutex_unlock(&a);
        }
        locks("");
    }
    int late = c;
    do {
        if (late)
            locks("");
        if (rand())
            pthread_mutex_lock(&b);
        late = rand();
    } while (late);
    pthread_mutex_unlock(&b);
}

static void chosen(int c)
{
    switch (c) {
    case 0:
        pthread_mutex_lock(&a);
        break;
    case 3:
        locks("");
        break;
    default:
        break;
    }
    locks("");
    if (c == 0)
        locks("a");
    if (c == 3)
        locks("");
    if (c == 0)
        pthread_mutex_unlock(&a);
}

static void ends(int c)
{
    if (c == 1)
        exit(1);
    if (c == 2)
        abort();
    if (c == 3) {
        pthread_exit(NULL);
        dead();
    }
    pthread_mutex_lock(&a);
    if (c == 4) {
        pthread_mutex_unlock(&a);
        exit(2);
    }
    locks("a");
    pthread_mutex_unlock(&a);
}

static void loop(int n)
{
    pthread_mutex_lock(&a);
    while (n--) {
        locks("a");
        pthread_mutex_unlock(&a);
        locks("");
        pthread_mutex_lock(&a);
    }
    locks("a");
    pthread_mutex_unlock(&a);
    for (int i = 0; i < n; i++) {
        locks("");
        pthread_mutex_lock(&b);
        if (i == 7)
            break;
        locks("b");
        pthread_mutex_unlock(&b);
    }
    locks("");
}

static void history_on_all_paths(int c)
{
    pthread_mutex_lock(&a);
    if (c) {
        pthread_mutex_lock(&b);
        pthread_mutex_unlock(&b);
        locks("a{b}");
    }
    locks("a");
    pthread_mutex_unlock(&a);
}

int main(int argc, char **argv)
{
    (void)argv;
    one_side(argc);
    other_side(argc);
    both_sides(argc);
    other_condition(argc, argc * 3 + rand());
    flag(argc);
    changed(argc);
    chosen(argc);
    ends(argc);
    loop(argc);
    history_on_all_paths(argc);
    return 0;
}
