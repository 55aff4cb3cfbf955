//@ verdict: safe
//@ deadlocks: none
// Molecules of three atoms that act on each other, each pair once per step. The workers add up the forces for themselves and then into the
// molecules, under a lock for each; barriers separate the phases, and a lock guards the sums.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORKERS 16
#define ATOMS 3

struct vector {
    double x, y, z;
};

struct molecule {
    pthread_mutex_t lock;
    struct vector at[ATOMS], speed, force;
};

static struct molecule *molecules;
static int count, steps, workers;
static double side;
static int ids[MAX_WORKERS];
static pthread_barrier_t barrier;
static pthread_mutex_t sums = PTHREAD_MUTEX_INITIALIZER;
static double potential, kinetic;

/* The force of each atom of `b` on each of `a`, and the sum of the potentials. */
static double interact(const struct molecule *a, const struct molecule *b, struct vector *force)
{
    static const double charge[ATOMS] = {-0.8, 0.4, 0.4};
    double energy = 0;
    int i, j;
    for (i = 0; i < ATOMS; i++)
        for (j = 0; j < ATOMS; j++) {
            double dx = a->at[i].x - b->at[j].x, dy = a->at[i].y - b->at[j].y, dz = a->at[i].z - b->at[j].z; // NORACE: at
            double square = dx * dx + dy * dy + dz * dz + 0.05, part = charge[i] * charge[j] / sqrt(square);
            energy += part;
            force->x += part / square * dx;
            force->y += part / square * dy;
            force->z += part / square * dz;
        }
    return energy;
}

static void forces(int id, struct vector *own)
{
    int i, j;
    double energy = 0;
    memset(own, 0, sizeof *own * count);
    for (i = id; i < count; i += workers)
        for (j = i + 1; j < count; j++) {
            struct vector f = {0, 0, 0};
            energy += interact(&molecules[i], &molecules[j], &f);
            own[i].x += f.x;
            own[i].y += f.y;
            own[i].z += f.z;
            own[j].x -= f.x;
            own[j].y -= f.y;
            own[j].z -= f.z;
        }
    for (i = 0; i < count; i++) {
        struct molecule *m = &molecules[(i + id * count / workers) % count];
        const struct vector *f = &own[(i + id * count / workers) % count];
        pthread_mutex_lock(&m->lock);
        m->force.x += f->x; // NORACE: force
        m->force.y += f->y; // NORACE: force
        m->force.z += f->z; // NORACE: force
        pthread_mutex_unlock(&m->lock);
    }
    pthread_mutex_lock(&sums);
    potential += energy; // NORACE: potential
    pthread_mutex_unlock(&sums);
}

static void move(int id)
{
    const double dt = 0.001;
    double energy = 0;
    int i, k;
    for (i = id; i < count; i += workers) {
        struct molecule *m = &molecules[i];
        m->speed.x += dt * m->force.x; // NORACE: force
        m->speed.y += dt * m->force.y; // NORACE: force
        m->speed.z += dt * m->force.z; // NORACE: force
        for (k = 0; k < ATOMS; k++) {
            m->at[k].x += dt * m->speed.x; // NORACE: at
            m->at[k].y += dt * m->speed.y; // NORACE: at
            m->at[k].z += dt * m->speed.z; // NORACE: at
        }
        energy += m->speed.x * m->speed.x + m->speed.y * m->speed.y + m->speed.z * m->speed.z;
        memset(&m->force, 0, sizeof m->force);
    }
    pthread_mutex_lock(&sums);
    kinetic += energy; // NORACE: kinetic
    pthread_mutex_unlock(&sums);
}

static void *worker(void *arg)
{
    int id = *(int *)arg, step;
    struct vector *own = malloc(sizeof *own * count);
    for (step = 0; step < steps; step++) {
        forces(id, own);
        pthread_barrier_wait(&barrier);
        move(id);
        pthread_barrier_wait(&barrier);
    }
    free(own);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MAX_WORKERS];
    int i, k;

    workers = argc > 1 ? atoi(argv[1]) : 4;
    count = argc > 2 ? atoi(argv[2]) : 343;
    steps = argc > 3 ? atoi(argv[3]) : 8;
    if (workers < 1 || workers > MAX_WORKERS || count < 2)
        return 2;
    molecules = calloc(count, sizeof *molecules);
    for (side = 1; side * side * side < count; side++)
        ;
    for (i = 0; i < count; i++) {
        int s = (int)side;
        pthread_mutex_init(&molecules[i].lock, NULL);
        for (k = 0; k < ATOMS; k++) {
            molecules[i].at[k].x = i % s + 0.1 * k;
            molecules[i].at[k].y = i / s % s - 0.1 * k;
            molecules[i].at[k].z = i / s / s + 0.05 * k;
        }
    }
    pthread_barrier_init(&barrier, NULL, workers);
    for (i = 0; i < workers; i++) {
        ids[i] = i;
        pthread_create(&thread[i], NULL, worker, &ids[i]);
    }
    for (i = 0; i < workers; i++)
        pthread_join(thread[i], NULL);
    printf("potential %.4f, kinetic %.6f\n", potential, kinetic);
    free(molecules);
    return !isfinite(potential) || !isfinite(kinetic);
}
