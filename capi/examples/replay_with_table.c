/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A command buffer, recorded once and replayed on other buffers by binding tables, in flight several times at once.
 *
 *     replay_with_table cts/kernels/bundles/saxpy.ccob [URI]
 */
#include "common.h"

#define COUNT 256
#define BATCHES 3

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s saxpy.ccob [URI]\n", argv[0]);
        return EXIT_FAILURE;
    }
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    check(windlass_device_open(argc > 2 ? argv[2] : "hip-sim://gfx942", &device));
    check(windlass_device_queue(device, 0, &queue));
    windlass_function_t *saxpy = load_function(device, argv[1], "saxpy");

    /* Slot 0 is x, slot 1 is y: y = 1, then y = 3 x + y. The fill and the dispatch need a barrier between them. */
    windlass_recorder_t *recorder = NULL;
    windlass_command_buffer_t *commands = NULL;
    const windlass_buffer_ref_t x = windlass_slot(0, 0, COUNT * sizeof(float));
    const windlass_buffer_ref_t y = windlass_slot(1, 0, COUNT * sizeof(float));
    const float one = 1.0f;
    const windlass_dispatch_config_t grid = windlass_dispatch_config_sized(1, 1, 1, COUNT, 1, 1);
    const windlass_argument_t arguments[] = {
        windlass_arg_f32(3.0f),
        windlass_arg_range(x),
        windlass_arg_range(y),
        windlass_arg_i32(COUNT),
    };
    check(windlass_recorder_create(device, 2, &recorder));
    check(windlass_recorder_fill(recorder, y, &one, sizeof one));
    check(windlass_recorder_barrier(recorder));
    check(windlass_recorder_dispatch(recorder, saxpy, &grid, 4, arguments));
    check(windlass_recorder_finish(recorder, &commands));
    windlass_recorder_release(recorder);

    /* Every batch has a timeline and buffers of its own, and nothing orders one batch behind another. */
    windlass_semaphore_t *timelines[BATCHES];
    windlass_buffer_t *results[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        float input[COUNT];
        for (int i = 0; i < COUNT; i++) {
            input[i] = (float)(batch * COUNT + i);
        }
        windlass_buffer_t *x_buffer = NULL;
        check(windlass_semaphore_create(0, &timelines[batch]));
        check(windlass_buffer_allocate(device, NULL, sizeof input, &x_buffer));
        check(windlass_buffer_allocate(device, NULL, sizeof input, &results[batch]));
        const windlass_point_t uploaded = windlass_at(timelines[batch], 1);
        const windlass_point_t computed = windlass_at(timelines[batch], 2);
        const windlass_buffer_ref_t table[] = {windlass_whole(x_buffer), windlass_whole(results[batch])};
        check(windlass_queue_update(queue, 0, NULL, 1, &uploaded, input, sizeof input, table[0]));
        check(windlass_queue_execute(queue, 1, &uploaded, 1, &computed, commands, 2, table));
        /* The submission keeps it. */
        windlass_buffer_release(x_buffer);
    }

    for (int batch = 0; batch < BATCHES; batch++) {
        float output[COUNT];
        const windlass_point_t computed = windlass_at(timelines[batch], 2);
        check(windlass_queue_download_blocking(queue, 1, &computed, windlass_whole(results[batch]), output,
                                               sizeof output, WINDLASS_TIMEOUT_INFINITE));
        for (int i = 0; i < COUNT; i++) {
            require(output[i] == 3.0f * (float)(batch * COUNT + i) + 1.0f, "y = 3 x + 1");
        }
        windlass_buffer_release(results[batch]);
        windlass_semaphore_release(timelines[batch]);
    }
    printf("3 x + 1 is right in all %d batches\n", BATCHES);

    windlass_command_buffer_release(commands);
    windlass_function_release(saxpy);
    windlass_queue_release(queue);
    windlass_device_release(device);
    return EXIT_SUCCESS;
}
