//@ args: first second
//@ stdin: 12 apples and pears
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

int main(int argc, char **argv)
{
    printf("%d %s %s\n", argc, argv[1], argv[2]);
    char buffer[64] = "hello";
    strcat(buffer, ", ");
    strncat(buffer, "world and more", 5);
    printf("%s %d %d\n", buffer, (int)strlen(buffer), (int)sizeof buffer);
    printf("%d %d %d\n", strcmp("abc", "abd") < 0, strncmp("abcx", "abcy", 3), memcmp("a", "b", 1) < 0);
    printf("%s %s %s\n", strchr(buffer, 'w'), strrchr(buffer, 'o'), strstr(buffer, "lo"));
    char *copy = strdup(buffer), *save;
    for (char *word = strtok_r(copy, " ,", &save); word; word = strtok_r(NULL, " ,", &save))
        printf("<%s>", word);
    printf("\n");
    free(copy);
    memmove(buffer + 2, buffer, 6);
    printf("%s\n", buffer);
    int numbers[] = {5, 3, 9, -1, 7};
    qsort(numbers, 5, sizeof *numbers, by_value);
    for (int i = 0; i < 5; i++)
        printf("%d ", numbers[i]);
    int key = 7, *hit = bsearch(&key, numbers, 5, sizeof *numbers, by_value);
    printf("at %d\n", (int)(hit - numbers));
    char *names[] = {"pear", "apple", "fig"};
    qsort(names, 3, sizeof *names, by_name);
    printf("%s %s %s\n", names[0], names[1], names[2]);
    printf("%d %ld %lu %g\n", atoi(" -42x"), strtol("0x1F", NULL, 0), strtoul("777", NULL, 8), strtod("2.5e3z", NULL));
    char text[32];
    int n;
    if (scanf("%d %31s", &n, text) == 2)
        printf("%d %s\n", n, text);
    char line[40];
    if (fgets(line, sizeof line, stdin))
        printf("[%s]", line);
    printf("%d\n", getchar());
    int a, b;
    char c;
    printf("%d ", sscanf("10-20:z", "%d-%d:%c", &a, &b, &c));
    printf("%d %d %c\n", a, b, c);
    for (const char *p = "Mixed 7 Case!"; *p; p++)
        putchar(isalpha((unsigned char)*p) ? toupper((unsigned char)*p) : isdigit((unsigned char)*p) ? '#' : *p);
    puts("");
    printf("%5d|%-5d|%05d|%+d|%x|%X|%#x|%o|%c|%%|%s|%.3s|%10s|%-10s|%*d\n", 42, 42, 42, 42, 255, 255, 255, 8, 'c', "str",
           "truncate", "right", "left", 6, 7);
    printf("%hhd %hd %ld %lld %zu %u\n", (char)300, (short)70000, -5L, -6LL, sizeof(int), -1u);
    char *grown = malloc(4);
    strcpy(grown, "abc");
    grown = realloc(grown, 100);
    strcat(grown, "defghij");
    puts(grown);
    free(grown);
    int *zeros = calloc(4, sizeof *zeros);
    printf("%d\n", zeros[3]);
    free(zeros);
    exit(17);
}
