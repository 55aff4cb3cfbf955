// recvmsg writes to the buffers of the vector that the header points to.
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>

static char buffer[8];

static void *worker(void *arg)
{
    struct iovec vector = {buffer, sizeof buffer};
    struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1};
    recvmsg(3, &header, 0);
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, worker, NULL);
    buffer[0] = 1;
    pthread_join(a, NULL);
    return 0;
}
