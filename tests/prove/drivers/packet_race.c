//@ verdict: race
//@ threads: any
// Three spin locks protect the adapter's state, its requests and its packets; two accesses go without.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern unsigned char __VERIFIER_nondet_uchar(void);

enum { REQUESTS = 4, PACKET_BYTES = 4, OPEN_LIMIT = 16 };
enum { OK = 0, BUSY = -1, INVALID = -2, UNBOUND = -3, NO_MEMORY = -4, EMPTY = -5 };
enum { FILTER_NONE, FILTER_DIRECT, FILTER_BROADCAST, FILTER_ALL };

struct request {
    struct request *next;
    unsigned code;
    unsigned value;
};

struct packet {
    struct packet *next;
    unsigned length;
    unsigned char bytes[PACKET_BYTES];
};

struct adapter {
    pthread_spinlock_t state_lock;
    int bound; // under state_lock, but read_packet looks without
    unsigned opens;
    unsigned filter;

    pthread_spinlock_t request_lock;
    struct request requests[REQUESTS]; // one belongs to who took it from the free list
    struct request *free_requests;
    unsigned pending;

    pthread_spinlock_t packet_lock;
    struct packet *packets;
    unsigned long received;

    int last_error; // under no lock
};

static struct adapter adapter;

static int failed(int error)
{
    adapter.last_error = error; // RACE#1: adapter.last_error
    return error;
}

static struct request *take_request(void)
{
    pthread_spin_lock(&adapter.request_lock);
    struct request *request = adapter.free_requests; // NORACE: adapter.free_requests
    if (request) {
        adapter.free_requests = request->next; // NORACE: adapter.free_requests; NORACE: request->next
        adapter.pending++; // NORACE: adapter.pending
    }
    pthread_spin_unlock(&adapter.request_lock);
    return request;
}

static void give_request(struct request *request)
{
    pthread_spin_lock(&adapter.request_lock);
    request->next = adapter.free_requests; // NORACE: adapter.free_requests; NORACE: request->next
    adapter.free_requests = request; // NORACE: adapter.free_requests
    adapter.pending--; // NORACE: adapter.pending
    pthread_spin_unlock(&adapter.request_lock);
}

static int set_bound(int bound)
{
    int result = OK;
    pthread_spin_lock(&adapter.state_lock);
    if (!bound && adapter.opens > 0) // NORACE: adapter.opens
        result = BUSY;
    else
        adapter.bound = bound; // RACE#2: adapter.bound
    pthread_spin_unlock(&adapter.state_lock);
    return result;
}

static int open_adapter(void)
{
    int result = BUSY;
    pthread_spin_lock(&adapter.state_lock);
    if (!adapter.bound) // NORACE: adapter.bound
        result = UNBOUND;
    else if (adapter.opens < OPEN_LIMIT) { // NORACE: adapter.opens
        adapter.opens++; // NORACE: adapter.opens
        result = OK;
    }
    pthread_spin_unlock(&adapter.state_lock);
    return result == BUSY ? failed(BUSY) : result;
}

static int close_adapter(void)
{
    pthread_spin_lock(&adapter.state_lock);
    if (adapter.opens > 0 && --adapter.opens == 0) // NORACE: adapter.opens
        adapter.filter = FILTER_NONE; // NORACE: adapter.filter
    pthread_spin_unlock(&adapter.state_lock);
    return OK;
}

static int set_filter(void)
{
    unsigned wanted = __VERIFIER_nondet_uchar();
    if (wanted > FILTER_ALL)
        return failed(INVALID);
    struct request *request = take_request();
    if (!request)
        return BUSY;
    request->code = 1; // NORACE: request->code
    request->value = wanted; // NORACE: request->value
    pthread_spin_lock(&adapter.state_lock);
    if (request->code == 1) // NORACE: request->code
        adapter.filter = request->value; // NORACE: adapter.filter; NORACE: request->value
    pthread_spin_unlock(&adapter.state_lock);
    give_request(request);
    return OK;
}

static int query(void)
{
    struct request *request = take_request();
    if (!request)
        return BUSY;
    request->code = 2; // NORACE: request->code
    pthread_spin_lock(&adapter.state_lock);
    request->value = adapter.filter; // NORACE: adapter.filter; NORACE: request->value
    pthread_spin_unlock(&adapter.state_lock);
    int accepted = request->value != FILTER_NONE; // NORACE: request->value
    give_request(request);
    return accepted ? OK : EMPTY;
}

static int receive_packet(void)
{
    pthread_spin_lock(&adapter.state_lock);
    int wanted = adapter.bound && adapter.filter != FILTER_NONE; // NORACE: adapter.bound; NORACE: adapter.filter
    pthread_spin_unlock(&adapter.state_lock);
    if (!wanted)
        return OK;
    struct packet *packet = malloc(sizeof *packet);
    if (!packet)
        return NO_MEMORY;
    packet->length = PACKET_BYTES; // NORACE: packet->length
    for (unsigned i = 0; i < PACKET_BYTES; i++)
        packet->bytes[i] = __VERIFIER_nondet_uchar(); // NORACE: packet->bytes[i]
    pthread_spin_lock(&adapter.packet_lock);
    packet->next = adapter.packets; // NORACE: packet->next; NORACE: adapter.packets
    adapter.packets = packet; // NORACE: adapter.packets
    adapter.received++; // NORACE: adapter.received
    pthread_spin_unlock(&adapter.packet_lock);
    return OK;
}

static int read_packet(void)
{
    unsigned sum = 0;
    if (!adapter.bound) // RACE#2: adapter.bound
        return UNBOUND;
    pthread_spin_lock(&adapter.packet_lock);
    struct packet *packet = adapter.packets; // NORACE: adapter.packets
    if (packet)
        adapter.packets = packet->next; // NORACE: packet->next; NORACE: adapter.packets
    pthread_spin_unlock(&adapter.packet_lock);
    if (!packet)
        return EMPTY;
    for (unsigned i = 0; i < packet->length; i++) // NORACE: packet->length
        sum += packet->bytes[i]; // NORACE: packet->bytes[i]
    free(packet);
    return sum == 0 ? INVALID : OK;
}

static int dispatch(unsigned request)
{
    switch (request) {
    case 0:
        return set_bound(1);
    case 1:
        return set_bound(0);
    case 2:
        return open_adapter();
    case 3:
        return close_adapter();
    case 4:
        return set_filter();
    case 5:
        return query();
    case 6:
        return receive_packet();
    case 7:
        return read_packet();
    default:
        return failed(INVALID);
    }
}

static void *client(void *arg)
{
    for (;;)
        dispatch(__VERIFIER_nondet_uint());
    return arg;
}

int main(void)
{
    pthread_spin_init(&adapter.state_lock, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_init(&adapter.request_lock, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_init(&adapter.packet_lock, PTHREAD_PROCESS_PRIVATE);
    for (unsigned i = 0; i < REQUESTS; i++)
        give_request(&adapter.requests[i]);
    adapter.pending = 0; // NORACE: adapter.pending
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, client, NULL);
    }
}
