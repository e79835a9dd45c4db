/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Children that are forked while another thread is inside the library: their calls return, and say what is wrong.
   argv[1] is the device. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "windlass.h"

static atomic_bool over;

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "not so: %s\n", what);
    _exit(1);
}

static bool refused(windlass_error_t *error) {
    const bool is_refused = error != NULL && windlass_error_code(error) == WINDLASS_CODE_FAILED_PRECONDITION;
    windlass_error_release(error);
    return is_refused;
}

/* Takes and gives back the library's locks of handles and drivers. */
static void *be_inside(void *unused) {
    (void)unused;
    while (!atomic_load(&over)) {
        windlass_semaphore_t *semaphore = NULL;
        windlass_error_release(windlass_semaphore_create(0, &semaphore));
        windlass_semaphore_release(semaphore);
        require(windlass_driver_scheme(0) != NULL, "the library has a driver");
    }
    return NULL;
}

static void in_child(const char *uri, windlass_device_t *parents) {
    alarm(20);
    windlass_semaphore_t *semaphore = NULL;
    windlass_error_release(windlass_semaphore_create(0, &semaphore));
    windlass_semaphore_release(semaphore);
    windlass_device_t *device = NULL;
    require(refused(windlass_device_open(uri, &device)), "a child cannot open a device");
    windlass_device_release(parents);
    _exit(0);
}

int main(int argc, char **argv) {
    require(argc == 2, "one argument, the device");
    windlass_device_t *device = NULL;
    require(windlass_device_open(argv[1], &device) == NULL, "the device opens");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) require(pthread_create(&threads[i], NULL, be_inside, NULL) == 0, "a thread starts");
    for (int i = 0; i < 200; i++) {
        const pid_t child = fork();
        if (child == 0) in_child(argv[1], device);
        int status = 0;
        require(child > 0 && waitpid(child, &status, 0) == child, "the system makes a process");
        require(status == 0, "each call of the child returns, as it should");
    }
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    windlass_device_release(device);
    puts("200 children returned");
    return EXIT_SUCCESS;
}
