/* Tells Raddle about synchronisation that it cannot see, in locks and queues of your own.
 *
 * What a thread did before RADDLE_RELEASE(p) happens before what another thread does after a later RADDLE_ACQUIRE(p). The address only
 * names the object. In programs that were not built by `raddle cc` both do nothing. */
#ifndef RADDLE_H
#define RADDLE_H

#ifdef __cplusplus
extern "C" {
#endif

extern void __raddle_release(void *object, unsigned site) __attribute__((weak));
extern void __raddle_acquire(void *object, unsigned site) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#define RADDLE_RELEASE(p) ((void)(__raddle_release ? (__raddle_release((void *)(p), 0), 0) : 0))
#define RADDLE_ACQUIRE(p) ((void)(__raddle_acquire ? (__raddle_acquire((void *)(p), 0), 0) : 0))

#endif
