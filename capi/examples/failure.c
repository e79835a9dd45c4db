/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How failure travels: a host call fails, dependent work does not run, and each waiter and a callback get the reason.
 *
 *     failure [URI]
 */
#include "common.h"

/* The message of a callback to the main thread. */
typedef struct heard_t {
    windlass_semaphore_t *done;
    windlass_code_t code;
} heard_t;

static windlass_error_t *refuse(void *user_data, windlass_host_call_t *call) {
    (void)call;
    return windlass_error_create(WINDLASS_CODE_PERMISSION_DENIED, (const char *)user_data);
}

static void hear(void *user_data, windlass_error_t *error) {
    heard_t *heard = (heard_t *)user_data;
    heard->code = windlass_error_code(error);
    check(windlass_semaphore_signal(heard->done, 1));
}

int main(int argc, char **argv) {
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    windlass_semaphore_t *timeline = NULL, *done = NULL;
    windlass_buffer_t *buffer = NULL;
    check(windlass_device_open(argc > 1 ? argv[1] : "hip-sim://gfx942", &device));
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_semaphore_create(0, &timeline));
    check(windlass_semaphore_create(0, &done));
    check(windlass_buffer_allocate(device, NULL, 4, &buffer));

    const windlass_point_t first = windlass_at(timeline, 1);
    const windlass_point_t second = windlass_at(timeline, 2);
    const windlass_point_t third = windlass_at(timeline, 3);
    const uint32_t seven = 7, nine = 9;
    check(windlass_queue_fill(queue, 0, NULL, 1, &first, windlass_whole(buffer), &seven, sizeof seven));

    /* The callback is asked for before anything went wrong, the fill of nines is submitted before it is known whether it may run. */
    heard_t heard = {done, WINDLASS_CODE_OK};
    char why[] = "not on a Sunday";
    check(windlass_semaphore_add_timepoint(timeline, 3, hear, &heard, NULL));
    check(windlass_queue_fill(queue, 1, &second, 1, &third, windlass_whole(buffer), &nine, sizeof nine));
    check(windlass_queue_host_call(queue, 1, &first, 1, &second, 0, refuse, why, NULL));

    windlass_error_t *error = windlass_semaphore_wait(timeline, 3, WINDLASS_TIMEOUT_INFINITE);
    require(windlass_error_code(error) == WINDLASS_CODE_PERMISSION_DENIED, "the wait has the host call's code");
    printf("the wait ended: %s\n", windlass_error_message(error));
    windlass_error_release(error);
    check(windlass_semaphore_wait(done, 1, WINDLASS_TIMEOUT_INFINITE));
    require(heard.code == WINDLASS_CODE_PERMISSION_DENIED, "and so has the callback");

    /* Values that were reached before the failure stay reached, and the fill of nines did not run. */
    uint32_t value = 0;
    check(windlass_semaphore_wait(timeline, 1, 0));
    check(windlass_queue_download_blocking(queue, 0, NULL, windlass_whole(buffer), &value, sizeof value,
                                           WINDLASS_TIMEOUT_INFINITE));
    require(value == seven, "the buffer has what the first fill wrote");
    printf("the failure reached everybody, and nothing that depended on it ran\n");

    windlass_buffer_release(buffer);
    windlass_semaphore_release(done);
    windlass_semaphore_release(timeline);
    windlass_queue_release(queue);
    windlass_device_release(device);
    return EXIT_SUCCESS;
}
