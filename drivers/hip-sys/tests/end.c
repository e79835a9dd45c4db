/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A HIP that ends as AMD's: it registers what it destroys when a function is first used, and dies of a call that comes
 * later or has not returned by then. The other functions are made by the test.
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

int called(const char *name) {
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
