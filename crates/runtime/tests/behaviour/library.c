/* Library functions read and write the program's memory. races: 2-12 3-13 4-14 5-15
 * prints: name 3 name end */
#include "hooks.h"
int __raddle_w_printf(const char *, ...), __raddle_w_sscanf(const char *, const char *, ...);
void *__raddle_w_memcpy(void *, const void *, size_t);
size_t __raddle_w_strlen(const char *);
static char name[16] = "name", copy[16], text[16] = "3", bytes[16];
static int number;
static volatile int done;
static void *run(void *p)
{
    FUNCTION(10);
    CALL(12, __raddle_w_printf("%s\n", name));
    CALL(13, __raddle_w_sscanf(text, "%d", &number));
    CALL(14, __raddle_w_memcpy(copy, name, 5));
    CALL(15, __raddle_w_strlen(bytes));
    printf("%d\n%s\n", number, copy);
    done = 1;
    return p;
}
int main(void)
{
    FUNCTION(1);
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    later(&done);
    __raddle_write1(name + 4, 2);
    __raddle_read4(&number, 3);
    __raddle_read1(copy + 1, 4);
    __raddle_write1(bytes, 5);
    /* Behind the end of the string nothing was read. */
    __raddle_write1(bytes + 1, 6);
    __raddle_write1(name + 8, 7);
    pthread_join(t, 0);
    puts("end");
}
