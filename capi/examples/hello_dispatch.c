/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One kernel, from a compressed bundle to checked numbers, blocking at the end.
 *
 *     hello_dispatch cts/kernels/bundles/saxpy.ccob [URI]
 */
#include "common.h"

#define COUNT 1000

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s saxpy.ccob [URI]\n", argv[0]);
        return EXIT_FAILURE;
    }
    require(windlass_abi_fits(), "the library fits the header");
    windlass_device_t *device = NULL;
    check(windlass_device_open(argc > 2 ? argv[2] : "hip-sim://gfx942", &device));
    windlass_device_info_t info = windlass_device_info_init();
    check(windlass_device_info(device, &info));
    printf("%s %s%s\n", info.name, info.architecture, info.simulated ? " (simulated)" : "");

    /* saxpy stays within the buffers that it is given: loading code is a promise. */
    windlass_function_t *saxpy = load_function(device, argv[1], "saxpy");
    windlass_function_info_t function = windlass_function_info_init();
    check(windlass_function_info(saxpy, &function));
    printf("%s\n", function.signature);

    float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
    }
    windlass_queue_t *queue = NULL;
    windlass_buffer_t *x_buffer = NULL, *y_buffer = NULL;
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_buffer_allocate(device, NULL, sizeof x, &x_buffer));
    check(windlass_buffer_allocate(device, NULL, sizeof y, &y_buffer));

    /* One timeline orders everything: each step waits for the value that the one before signals. */
    windlass_semaphore_t *timeline = NULL;
    check(windlass_semaphore_create(0, &timeline));
    const windlass_point_t first = windlass_at(timeline, 1);
    const windlass_point_t second = windlass_at(timeline, 2);
    const windlass_point_t third = windlass_at(timeline, 3);
    const float one = 1.0f;
    check(windlass_queue_update(queue, 0, NULL, 1, &first, x, sizeof x, windlass_whole(x_buffer)));
    check(windlass_queue_fill(queue, 1, &first, 1, &second, windlass_whole(y_buffer), &one, sizeof one));

    const windlass_dispatch_config_t grid = windlass_dispatch_config_sized(4, 1, 1, 256, 1, 1);
    const windlass_argument_t arguments[] = {
        windlass_arg_f32(2.0f),
        windlass_arg_buffer(x_buffer),
        windlass_arg_buffer(y_buffer),
        windlass_arg_i32(COUNT),
    };
    check(windlass_queue_dispatch(queue, 1, &second, 1, &third, saxpy, &grid, 4, arguments));
    const uint64_t minute = UINT64_C(60000000000);
    check(windlass_queue_download_blocking(queue, 1, &third, windlass_whole(y_buffer), y, sizeof y, minute));

    for (int i = 0; i < COUNT; i++) {
        require(y[i] == 2.0f * x[i] + 1.0f, "y = 2 x + 1");
    }
    printf("2 x + 1 is right for all %d elements\n", COUNT);

    windlass_semaphore_release(timeline);
    windlass_buffer_release(y_buffer);
    windlass_buffer_release(x_buffer);
    windlass_queue_release(queue);
    windlass_function_release(saxpy);
    windlass_device_release(device);
    return EXIT_SUCCESS;
}
