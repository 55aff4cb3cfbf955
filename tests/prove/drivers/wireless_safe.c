//@ verdict: safe
//@ threads: any
// The command lock protects registers and records, the queue lock the frames, and the power state says who may tune.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern unsigned char __VERIFIER_nondet_uchar(void);

enum { RECORDS = 4, WORDS = 3, FRAME_BYTES = 4, QUEUE_LIMIT = 8 };
enum { OK = 0, BUSY = -1, INVALID = -2, OFFLINE = -3, NO_MEMORY = -4, EMPTY = -5 };
enum power { POWER_OFF, POWER_STARTING, POWER_ON, POWER_TUNING, POWER_STOPPING };
enum command { COMMAND_NONE, COMMAND_READ, COMMAND_WRITE, COMMAND_TRANSMIT };

struct spin {
    atomic_int word;
};

struct record {
    unsigned short words[WORDS];
    unsigned length;
};

struct frame {
    struct frame *next;
    unsigned length;
    unsigned char bytes[FRAME_BYTES];
};

struct card {
    struct spin command_lock;
    enum command command; // the registers, the records and the count of commands: under command_lock
    unsigned parameter;
    unsigned response;
    struct record records[RECORDS];
    unsigned long commands;

    struct spin queue_lock;
    struct frame *first; // the queue and its counts: under queue_lock
    unsigned queued;
    unsigned dropped;

    atomic_int power;
    unsigned channel; // the settings: for who moved power to STARTING, TUNING or STOPPING
    unsigned rate;
};

static struct card card;

static void spin_lock(struct spin *lock)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong(&lock->word, &expected, 1)) {
        while (atomic_load(&lock->word) != 0)
            ;
        expected = 0;
    }
}

static int spin_trylock(struct spin *lock)
{
    int expected = 0;
    return atomic_compare_exchange_strong(&lock->word, &expected, 1);
}

static void spin_unlock(struct spin *lock)
{
    atomic_store(&lock->word, 0);
}

static int move_power(enum power from, enum power to)
{
    int expected = (int)from;
    return atomic_compare_exchange_strong(&card.power, &expected, (int)to);
}

// The caller holds the command lock.
static unsigned issue(enum command command, unsigned parameter)
{
    card.command = command; // NORACE: card.command
    card.parameter = parameter; // NORACE: card.parameter
    card.commands++; // NORACE: card.commands
    card.response = parameter ^ (unsigned)command; // NORACE: card.response
    card.command = COMMAND_NONE; // NORACE: card.command
    return card.response; // NORACE: card.response
}

static int start_card(void)
{
    if (!move_power(POWER_OFF, POWER_STARTING))
        return BUSY;
    card.channel = 1; // NORACE: card.channel
    card.rate = __VERIFIER_nondet_ushort(); // NORACE: card.rate
    atomic_store(&card.power, POWER_ON);
    return OK;
}

static int stop_card(void)
{
    if (!move_power(POWER_ON, POWER_STOPPING))
        return OFFLINE;
    card.channel = 0; // NORACE: card.channel
    card.rate = 0; // NORACE: card.rate
    atomic_store(&card.power, POWER_OFF);
    return OK;
}

static int tune_card(void)
{
    unsigned wanted = __VERIFIER_nondet_uchar();
    if (wanted == 0)
        return INVALID;
    if (!move_power(POWER_ON, POWER_TUNING))
        return OFFLINE;
    if (card.channel != wanted) { // NORACE: card.channel
        card.channel = wanted; // NORACE: card.channel
        card.rate /= 2; // NORACE: card.rate
    }
    atomic_store(&card.power, POWER_ON);
    return OK;
}

static int read_record(void)
{
    unsigned index = __VERIFIER_nondet_ushort();
    struct record copy;
    if (index >= RECORDS)
        return INVALID;
    spin_lock(&card.command_lock);
    if (issue(COMMAND_READ, index) == 0) {
        spin_unlock(&card.command_lock);
        return BUSY;
    }
    copy = card.records[index]; // NORACE: card.records[index]
    spin_unlock(&card.command_lock);
    return copy.length > WORDS ? INVALID : OK;
}

static int write_record(void)
{
    unsigned index = __VERIFIER_nondet_ushort();
    if (index >= RECORDS)
        return INVALID;
    if (!spin_trylock(&card.command_lock))
        return BUSY;
    issue(COMMAND_WRITE, index);
    struct record *record = &card.records[index];
    for (unsigned i = 0; i < WORDS; i++)
        record->words[i] = __VERIFIER_nondet_ushort(); // NORACE: record->words[i]
    record->length = WORDS; // NORACE: record->length
    spin_unlock(&card.command_lock);
    return OK;
}

static int queue_frame(void)
{
    int result = OK;
    struct frame *frame = malloc(sizeof *frame);
    if (!frame)
        return NO_MEMORY;
    frame->length = FRAME_BYTES; // NORACE: frame->length
    for (unsigned i = 0; i < FRAME_BYTES; i++)
        frame->bytes[i] = __VERIFIER_nondet_uchar(); // NORACE: frame->bytes[i]
    spin_lock(&card.queue_lock);
    if (card.queued < QUEUE_LIMIT) { // NORACE: card.queued
        frame->next = card.first; // NORACE: frame->next; NORACE: card.first
        card.first = frame; // NORACE: card.first
        card.queued++; // NORACE: card.queued
        frame = NULL;
    } else {
        card.dropped++; // NORACE: card.dropped
        result = BUSY;
    }
    spin_unlock(&card.queue_lock);
    free(frame);
    return result;
}

static int transmit_frame(void)
{
    unsigned sum = 0;
    spin_lock(&card.queue_lock);
    struct frame *frame = card.first; // NORACE: card.first
    if (frame) {
        card.first = frame->next; // NORACE: card.first; NORACE: frame->next
        card.queued--; // NORACE: card.queued
    }
    spin_unlock(&card.queue_lock);
    if (!frame)
        return EMPTY;
    for (unsigned i = 0; i < frame->length; i++) // NORACE: frame->length
        sum += frame->bytes[i]; // NORACE: frame->bytes[i]
    free(frame);
    spin_lock(&card.command_lock);
    issue(COMMAND_TRANSMIT, sum);
    spin_unlock(&card.command_lock);
    return OK;
}

static int report(void)
{
    spin_lock(&card.command_lock);
    unsigned long total = card.commands; // NORACE: card.commands
    spin_lock(&card.queue_lock);
    total += card.queued + card.dropped; // NORACE: card.queued; NORACE: card.dropped
    spin_unlock(&card.queue_lock);
    spin_unlock(&card.command_lock);
    return total == 0 ? EMPTY : OK;
}

static int dispatch(unsigned request)
{
    switch (request) {
    case 0:
        return start_card();
    case 1:
        return stop_card();
    case 2:
        return tune_card();
    case 3:
        return read_record();
    case 4:
        return write_record();
    case 5:
        return queue_frame();
    case 6:
        return transmit_frame();
    case 7:
        return report();
    default:
        return INVALID;
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
    for (unsigned i = 0; i < RECORDS; i++)
        card.records[i].length = 0; // NORACE: card.records[i].length
    atomic_init(&card.power, POWER_OFF);
    for (;;) {
        pthread_t t;
        pthread_create(&t, NULL, client, NULL);
    }
}
