/* Order through io_uring, by system calls. One thread writes `data` and submits a request that does nothing; the other one takes its
   completion and reads `data`. `enter` waits in the kernel, `peek` looks at the ring only. `race` takes the completion of another ring. */
#include <errno.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
struct ring {
    int fd;
    unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
};
static int data, other;
static const char *way;
static struct ring first, second;
static void *map(int fd, size_t bytes, off_t what)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);
    if (at == MAP_FAILED) {
        perror("mmap");
        exit(9);
    }
    return at;
}
static void set_up(struct ring *ring)
{
    struct io_uring_params params;
    memset(&params, 0, sizeof params);
    ring->fd = (int)syscall(SYS_io_uring_setup, 4, &params);
    if (ring->fd < 0) {
        /* A kernel without it, or one that forbids it. */
        printf("skipped: io_uring_setup: %s\n", strerror(errno));
        exit(errno == ENOSYS || errno == EPERM ? 77 : 9);
    }
    char *sq = map(ring->fd, params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    char *cq = map(ring->fd, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    ring->sqes = map(ring->fd, params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    ring->sq_tail = (unsigned *)(sq + params.sq_off.tail);
    ring->sq_mask = (unsigned *)(sq + params.sq_off.ring_mask);
    ring->sq_array = (unsigned *)(sq + params.sq_off.array);
    ring->cq_head = (unsigned *)(cq + params.cq_off.head);
    ring->cq_tail = (unsigned *)(cq + params.cq_off.tail);
    ring->cq_mask = (unsigned *)(cq + params.cq_off.ring_mask);
    ring->cqes = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
}
static void submit(struct ring *ring)
{
    unsigned tail = *ring->sq_tail, index = tail & *ring->sq_mask;
    struct io_uring_sqe *request = &ring->sqes[index];
    memset(request, 0, sizeof *request);
    request->opcode = IORING_OP_NOP;
    request->user_data = 42;
    ring->sq_array[index] = index;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) != 1)
        exit(9);
}
static void complete(struct ring *ring)
{
    if (strcmp(way, "peek") != 0)
        syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    unsigned head = *ring->cq_head;
    while (__atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) == head)
        usleep(1000);
    if (ring->cqes[head & *ring->cq_mask].user_data != 42)
        exit(9);
    __atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
}
static void *writer(void *unused)
{
    data = 1;
    submit(&first);
    return unused;
}
static void *reader(void *unused)
{
    if (strcmp(way, "race") == 0) {
        usleep(300000);
        complete(&second);
    } else {
        complete(&first);
    }
    other = data;
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    way = argv[1];
    alarm(20);
    set_up(&first);
    set_up(&second);
    submit(&second);
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%s %d\n", way, other);
    return argc != 2;
}
