#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct node { int value; struct node *left, *right; };

static struct node *insert(struct node *n, int v)
{
    if (!n) {
        n = calloc(1, sizeof *n);
        n->value = v;
    } else if (v < n->value)
        n->left = insert(n->left, v);
    else
        n->right = insert(n->right, v);
    return n;
}

static int walk(const struct node *n) { return n ? walk(n->left) * 3 + n->value + walk(n->right) : 0; }

static void swap(void **a, void **b) { void *t = *a; *a = *b; *b = t; }

static int matrix[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
static int *row = matrix[1] + 2;
static char *words[] = {"zero", "one", "two"};
static int *end = &matrix[2][3];

static int rows(int (*m)[4], int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += m[i][i] * (int)(sizeof m[i] / sizeof m[i][0]);
    return s;
}

int main(void)
{
    struct node *root = NULL;
    int values[] = {5, 2, 8, 1, 9, 3};
    for (int *p = values; p != values + 6; ++p)
        root = insert(root, *p);
    printf("%d\n", walk(root));
    printf("%d %d %d\n", *row, row[-1], (int)(end - row));
    printf("%d\n", rows(matrix, 3));
    void *a = words[1], *b = words[2];
    swap(&a, &b);
    printf("%s %s\n", (char *)a, (char *)b);
    uintptr_t bits = (uintptr_t)&matrix[0][1];
    int *back = (int *)(bits + sizeof(int));
    printf("%d %d\n", *back, (int)(((uintptr_t)&matrix[1][0] - bits) / sizeof(int)));
    int *tagged = (int *)((uintptr_t)&values[3] | 1);
    printf("%d %d\n", (int)((uintptr_t)tagged & 1), *(int *)((uintptr_t)tagged & ~(uintptr_t)1));
    unsigned char bytes[8];
    unsigned int word = 0xdeadbeef;
    memcpy(bytes, &word, sizeof word);
    printf("%02x %02x %02x %02x\n", bytes[0], bytes[1], bytes[2], bytes[3]);
    memset(bytes, 0x5a, sizeof bytes);
    memcpy(&word, bytes + 1, sizeof word);
    printf("%x\n", word);
    int **pp = malloc(3 * sizeof *pp);
    for (int i = 0; i < 3; i++)
        pp[i] = &values[i * 2];
    int **qq = malloc(3 * sizeof *qq);
    memcpy(qq, pp, 3 * sizeof *pp);
    printf("%d %d %d\n", *qq[0], *qq[1], *qq[2]);
    printf("%d %d\n", &values[1] < &values[2], pp[0] == qq[0]);
    int (*grid)[2] = (int (*)[2])values;
    printf("%d\n", grid[2][1]);
    printf("%d\n", (int)strlen(words[0]) + *words[2]);
    return 0;
}
