//@ verdict: race
//@ deadlocks: none
// Forces between charged particles in a square, near ones one by one, far ones through the moments of boxes and of the whole. The boxes
// have locks; the moments of the root have none. The first worker sets the figures of the tree and then counts itself in, the others
// count themselves in and then read the figures: only the usual order of the counting lies between.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_WORKERS 16
#define GRID 16
#define BOXES (GRID * GRID)
#define MOMENTS 36

struct particle {
    double x, y, charge;
    double fx, fy;
};

struct box {
    pthread_mutex_t lock;
    int first, end;
    double charge, x, y;
    int visits;
};

static struct {
    struct {
        double sum;
        long order;
    } moment[MOMENTS];
} root;

enum {
    WIDTH, HEIGHT, DEPTH, SPACING, CUTOFF, SOFTENING, SCALE, CHARGE, MASS, ORIGIN_X, ORIGIN_Y, ANGLE, STEP, TOLERANCE,
    ORDER, WEIGHT, BALANCE, DENSITY, FIGURES
};

static struct {
    double value;
    const char *unit;
} figure[FIGURES];

static struct {
    pthread_mutex_t lock;
    int workers;
} tree = {PTHREAD_MUTEX_INITIALIZER, 0};

static struct particle *particles;
static struct box boxes[BOXES];
static int count, steps, workers;
static int ids[MAX_WORKERS];
static double sums[MAX_WORKERS];
static pthread_barrier_t barrier;

static void set_figures(void)
{
    figure[WIDTH].value = 64; // RACE#37: figure[0].value
    figure[HEIGHT].value = 64; // RACE#38: figure[1].value
    figure[DEPTH].value = 6; // RACE#39: figure[2].value
    figure[SPACING].value = 0.5; // RACE#40: figure[3].value
    figure[CUTOFF].value = 3; // RACE#41: figure[4].value
    figure[SOFTENING].value = 0.01; // RACE#42: figure[5].value
    figure[SCALE].value = 2; // RACE#43: figure[6].value
    figure[CHARGE].value = 1; // RACE#44: figure[7].value
    figure[MASS].value = 1; // RACE#45: figure[8].value
    figure[ORIGIN_X].value = 0.25; // RACE#46: figure[9].value
    figure[ORIGIN_Y].value = 0.75; // RACE#47: figure[10].value
    figure[ANGLE].value = 0.1; // RACE#48: figure[11].value
    figure[STEP].value = 0.001; // RACE#49: figure[12].value
    figure[TOLERANCE].value = 1e-06; // RACE#50: figure[13].value
    figure[ORDER].value = 18; // RACE#51: figure[14].value
    figure[WEIGHT].value = 0.5; // RACE#52: figure[15].value
    figure[BALANCE].value = 1.25; // RACE#53: figure[16].value
    figure[DENSITY].value = 0.125; // RACE#54: figure[17].value
}

static double read_figures(void)
{
    double sum = 0;
    sum += figure[WIDTH].value; // RACE#37: figure[0].value
    sum += figure[HEIGHT].value; // RACE#38: figure[1].value
    sum += figure[DEPTH].value; // RACE#39: figure[2].value
    sum += figure[SPACING].value; // RACE#40: figure[3].value
    sum += figure[CUTOFF].value; // RACE#41: figure[4].value
    sum += figure[SOFTENING].value; // RACE#42: figure[5].value
    sum += figure[SCALE].value; // RACE#43: figure[6].value
    sum += figure[CHARGE].value; // RACE#44: figure[7].value
    sum += figure[MASS].value; // RACE#45: figure[8].value
    sum += figure[ORIGIN_X].value; // RACE#46: figure[9].value
    sum += figure[ORIGIN_Y].value; // RACE#47: figure[10].value
    sum += figure[ANGLE].value; // RACE#48: figure[11].value
    sum += figure[STEP].value; // RACE#49: figure[12].value
    sum += figure[TOLERANCE].value; // RACE#50: figure[13].value
    sum += figure[ORDER].value; // RACE#51: figure[14].value
    sum += figure[WEIGHT].value; // RACE#52: figure[15].value
    sum += figure[BALANCE].value; // RACE#53: figure[16].value
    sum += figure[DENSITY].value; // RACE#54: figure[17].value
    return sum;
}

static void count_in(void)
{
    pthread_mutex_lock(&tree.lock);
    tree.workers++;
    pthread_mutex_unlock(&tree.lock);
}

/* Adds the charge of a box to the moments of the root. */
static void add_to_root(double q, double x)
{
    double power[MOMENTS];
    int k;
    power[0] = 1;
    for (k = 1; k < MOMENTS; k++)
        power[k] = power[k - 1] * x;
    root.moment[0].sum += q * power[0]; // RACE#1: root.moment[0].sum
    root.moment[1].sum += q * power[1]; // RACE#2: root.moment[1].sum
    root.moment[2].sum += q * power[2]; // RACE#3: root.moment[2].sum
    root.moment[3].sum += q * power[3]; // RACE#4: root.moment[3].sum
    root.moment[4].sum += q * power[4]; // RACE#5: root.moment[4].sum
    root.moment[5].sum += q * power[5]; // RACE#6: root.moment[5].sum
    root.moment[6].sum += q * power[6]; // RACE#7: root.moment[6].sum
    root.moment[7].sum += q * power[7]; // RACE#8: root.moment[7].sum
    root.moment[8].sum += q * power[8]; // RACE#9: root.moment[8].sum
    root.moment[9].sum += q * power[9]; // RACE#10: root.moment[9].sum
    root.moment[10].sum += q * power[10]; // RACE#11: root.moment[10].sum
    root.moment[11].sum += q * power[11]; // RACE#12: root.moment[11].sum
    root.moment[12].sum += q * power[12]; // RACE#13: root.moment[12].sum
    root.moment[13].sum += q * power[13]; // RACE#14: root.moment[13].sum
    root.moment[14].sum += q * power[14]; // RACE#15: root.moment[14].sum
    root.moment[15].sum += q * power[15]; // RACE#16: root.moment[15].sum
    root.moment[16].sum += q * power[16]; // RACE#17: root.moment[16].sum
    root.moment[17].sum += q * power[17]; // RACE#18: root.moment[17].sum
    root.moment[18].sum += q * power[18]; // RACE#19: root.moment[18].sum
    root.moment[19].sum += q * power[19]; // RACE#20: root.moment[19].sum
    root.moment[20].sum += q * power[20]; // RACE#21: root.moment[20].sum
    root.moment[21].sum += q * power[21]; // RACE#22: root.moment[21].sum
    root.moment[22].sum += q * power[22]; // RACE#23: root.moment[22].sum
    root.moment[23].sum += q * power[23]; // RACE#24: root.moment[23].sum
    root.moment[24].sum += q * power[24]; // RACE#25: root.moment[24].sum
    root.moment[25].sum += q * power[25]; // RACE#26: root.moment[25].sum
    root.moment[26].sum += q * power[26]; // RACE#27: root.moment[26].sum
    root.moment[27].sum += q * power[27]; // RACE#28: root.moment[27].sum
    root.moment[28].sum += q * power[28]; // RACE#29: root.moment[28].sum
    root.moment[29].sum += q * power[29]; // RACE#30: root.moment[29].sum
    root.moment[30].sum += q * power[30]; // RACE#31: root.moment[30].sum
    root.moment[31].sum += q * power[31]; // RACE#32: root.moment[31].sum
    root.moment[32].sum += q * power[32]; // RACE#33: root.moment[32].sum
    root.moment[33].sum += q * power[33]; // RACE#34: root.moment[33].sum
    root.moment[34].sum += q * power[34]; // RACE#35: root.moment[34].sum
    root.moment[35].sum += q * power[35]; // RACE#36: root.moment[35].sum
}

/* Adds what the particles of a box have to the box, and a share of it to the box on its right. */
static void upward(int b)
{
    struct box *box = &boxes[b], *right = &boxes[(b + 1) % BOXES];
    double charge = 0, x = 0, y = 0;
    int i;
    for (i = box->first; i < box->end; i++) {
        charge += particles[i].charge;
        x += particles[i].x;
        y += particles[i].y;
    }
    pthread_mutex_lock(&box->lock);
    box->charge += charge; // NORACE: charge
    box->x = x / (box->end - box->first);
    box->y = y / (box->end - box->first);
    box->visits++; // NORACE: visits
    pthread_mutex_unlock(&box->lock);
    pthread_mutex_lock(&right->lock);
    right->visits++; // NORACE: visits
    pthread_mutex_unlock(&right->lock);
    if (b % GRID == 0)
        add_to_root(charge, x / (box->end - box->first));
}

static void near_forces(struct particle *p, const struct box *box)
{
    int i;
    for (i = box->first; i < box->end; i++) {
        const struct particle *o = &particles[i];
        double dx = p->x - o->x, dy = p->y - o->y, square = dx * dx + dy * dy + 0.01;
        double part = p->charge * o->charge / (square * sqrt(square));
        p->fx += part * dx; // NORACE: fx
        p->fy += part * dy; // NORACE: fy
    }
}

static void far_force(struct particle *p, const struct box *box)
{
    double dx = p->x - box->x, dy = p->y - box->y, square = dx * dx + dy * dy + 0.01;
    double part = p->charge * box->charge / (square * sqrt(square));
    p->fx += part * dx; // NORACE: fx
    p->fy += part * dy; // NORACE: fy
}

static void downward(int b)
{
    int column = b % GRID, line = b / GRID, i, o;
    for (i = boxes[b].first; i < boxes[b].end; i++)
        for (o = 0; o < BOXES; o++) {
            int near = abs(o % GRID - column) <= 1 && abs(o / GRID - line) <= 1;
            if (near)
                near_forces(&particles[i], &boxes[o]);
            else if (o % 4 == b % 4)
                far_force(&particles[i], &boxes[o]);
        }
}

static void *worker(void *arg)
{
    int id = *(int *)arg, step, b;
    if (id == 0)
        set_figures();
    count_in();
    if (id != 0)
        sums[id] = read_figures();
    for (step = 0; step < steps; step++) {
        for (b = id; b < BOXES; b += workers)
            upward((b * GRID + b / GRID) % BOXES);
        pthread_barrier_wait(&barrier);
        for (b = id; b < BOXES; b += workers)
            downward(b);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MAX_WORKERS];
    unsigned state = 3;
    double sum = 0;
    int i, b, unset = 0;

    workers = argc > 1 ? atoi(argv[1]) : 4;
    count = argc > 2 ? atoi(argv[2]) : 1024;
    steps = argc > 3 ? atoi(argv[3]) : 2;
    if (workers < 2 || workers > MAX_WORKERS || count < BOXES)
        return 2;
    particles = calloc(count, sizeof *particles);
    for (b = 0; b < BOXES; b++) {
        pthread_mutex_init(&boxes[b].lock, NULL);
        boxes[b].first = (long)count * b / BOXES;
        boxes[b].end = (long)count * (b + 1) / BOXES;
        for (i = boxes[b].first; i < boxes[b].end; i++) {
            state = state * 1664525u + 1013904223u;
            particles[i].x = (b % GRID + (state >> 16) / 65536.0) / GRID;
            particles[i].y = (b / GRID + (state & 0xffff) / 65536.0) / GRID;
            particles[i].charge = state & 1 ? 1 : -1;
        }
    }
    pthread_barrier_init(&barrier, NULL, workers);
    for (i = 0; i < workers; i++) {
        ids[i] = i;
        pthread_create(&thread[i], NULL, worker, &ids[i]);
        if (i == 0)
            usleep(50000);
    }
    for (i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    for (i = 0; i < count; i++)
        sum += fabs(particles[i].fx) + fabs(particles[i].fy);
    for (i = 1; i < workers; i++)
        unset += sums[i] == 0;
    printf("sum of forces %.4f, total moment %s, %d workers, %d without figures\n", sum,
           isfinite(root.moment[0].sum) ? "finite" : "infinite", tree.workers, unset);
    free(particles);
    return !isfinite(sum);
}
