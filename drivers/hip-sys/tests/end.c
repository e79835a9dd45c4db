/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A HIP that ends as AMD's: it registers what it destroys when a function is first used, by the process and by each
 * thread, and dies of a call that comes later or has not returned by then. The other functions are made by the test.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int over, inside;

static void end(void) {
    over = 1;
    if (inside) {
        fprintf(stderr, "the end of the library came with a call inside\n");
        abort();
    }
}

/* The library's objects of a thread are destroyed when the thread ends, before those that existed at its first call. */
static __thread int thread_is_known, thread_is_over;
extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle;

static void end_of_thread(void *unused) { thread_is_over = 1; }

int called(const char *name) {
    if (thread_is_over) {
        fprintf(stderr, "%s was called on a thread whose objects are destroyed\n", name);
        abort();
    }
    if (!thread_is_known) {
        thread_is_known = 1;
        __cxa_thread_atexit_impl(end_of_thread, NULL, &__dso_handle);
    }
    if (over) {
        fprintf(stderr, "%s was called after the end of the library\n", name);
        abort();
    }
    return 0;
}

int hipRuntimeGetVersion(int *version) {
    *version = 60100002;
    return called("hipRuntimeGetVersion");
}

/* Registers the end. */
int hipDeviceSynchronize(void) {
    static atomic_int first;
    if (!atomic_exchange(&first, 1)) atexit(end);
    return called("hipDeviceSynchronize");
}

/* What events point to here. */
struct gate {
    atomic_int reached, open;
};

int hipEventSynchronize(struct gate *gate) {
    called("hipEventSynchronize");
    inside++;
    gate->reached = 1;
    while (!gate->open) sched_yield();
    inside--;
    return 0;
}

/* Never returns, and nobody minds. */
int hipStreamSynchronize(struct gate *gate) {
    gate->reached = 1;
    for (;;) sched_yield();
}
