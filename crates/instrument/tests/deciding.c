#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <math.h>
void sync_point(void);
void use(int);
int x, y, z, table[10], other[10], count;
int *pointer, *second;
double weight, sum;
struct pair { int a, b; } one, two;
_Atomic int atom;
extern int done;
static int twice(int value) { return value * 2; }

void copied(void) {
    y = x; // READS: x=passes
}
void computed(void) {
    y = x * 3 + 1; // READS: x=passes
    sync_point();
    y = -x ^ (z << 2); // READS: x=passes z=passes
    sync_point();
    sum = weight * weight - fabs(weight); // READS: weight=passes
    sync_point();
    y = (unsigned)x / 7; // READS: x=passes
}
void computed_by_a_function(void) {
    sum = sqrt(weight) / 2; // READS: weight=decides
}
void compared(void) {
    y = x > 3; // READS: x=passes
}
void through_a_function(void) {
    y = twice(x); // READS: x=passes
}
void branched(void) {
    if (x) // READS: x=decides
        y = 1;
}
void branched_later(int n) {
    int local = x; // READS: x=decides
    y = 2;
    if (local + n)
        y = 3;
}
int switched(void) {
    switch (x) { // READS: x=decides
    case 1: return 10;
    case 2: return 30;
    case 3: return 20;
    }
    return 0;
}
void looped(void) {
    while (!done) // READS: done=decides
        sync_point();
}
void divided(void) {
    y = 7 / x; // READS: x=decides
}
void indexed(void) {
    table[x] = 1; // READS: x=decides
    sync_point();
    y = table[x]; // READS: x=decides table[x]=passes
}
void pointed(void) {
    *pointer = 1; // READS: pointer=decides
    sync_point();
    y = *pointer; // READS: pointer=decides *pointer=passes
}
void handed_on(void) {
    second = pointer; // READS: pointer=passes
    sync_point();
    second = pointer + 1; // READS: pointer=passes
}
void passed(void) {
    use(x); // READS: x=decides
}
int returned(void) {
    return x; // READS: x=decides
}
void unused(void) {
    (void)*(volatile int *)&x; // READS: x=passes
}
void merged(int c) {
    int local;
    if (c)
        local = x; // READS: x=passes
    else
        local = z; // READS: z=passes
    y = local;
}
void kept_in_memory_of_its_own(int n) {
    int local[10];
    for (int i = 0; i < 10; i++)
        local[i] = x; // READS: x=decides
    if (local[n])
        y = 1;
}
void incremented(void) {
    count++; // READS: count=passes =count=passes
}
void incremented_and_looked_at(void) {
    if (count++ == 3) // READS: count=decides =count=decides
        y = 1;
}
void stands_for_another(void) {
    y = x; // READS: x=decides
    if (x) // READS: x=decides
        z = 1;
}
void maybe_another_segment(void) {
    y = x; // READS: x=decides
    sync_point();
    if (x) // READS: x=decides
        z = 1;
}
void on_one_way_only(int c) {
    if (c)
        y = x; // READS: x=decides
    else
        sync_point();
    if (x) // READS: x=decides
        z = 1;
}
void on_no_way(int c) {
    if (c) {
        y = x; // READS: x=decides
        sync_point();
    }
    if (x) // READS: x=decides
        z = 1;
}
void walked(void) {
    for (int i = 0; i < 10; i++)
        other[i] = table[i]; // READS: table[i]=passes
}
void summed(void) {
    int all = 0;
    for (int i = 0; i < 10; i++)
        all += table[i]; // READS: table[i]=passes
    y = all;
}
void searched(void) {
    int i = 0;
    while (table[i] < 5) // READS: table[i]=decides
        i++;
    y = i;
}
void copied_struct(void) {
    one = two; // READS: two=passes
}
void copied_bytes(size_t n) {
    memcpy(other, table, n); // READS: table=passes
}
void atomically(void) {
    y = atomic_load(&atom); // READS: atom=passes
    atomic_fetch_add(&atom, 1); // READS: atom=passes
    atomic_fetch_add(&atom, x); // READS: atom=passes x=passes
    atomic_store(&atom, z); // READS: z=passes
}
void atomically_looked_at(void) {
    if (atomic_load(&atom)) // READS: atom=decides
        y = 1;
    if (atomic_fetch_add(&atom, 1) == 3) // READS: atom=decides
        y = 2;
}
int exchanged(int expected) {
    atomic_compare_exchange_strong(&atom, &expected, 5); // READS: atom=decides
    return 0;
}
int main(void) { return 0; }
