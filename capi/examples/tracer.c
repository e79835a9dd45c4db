/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A tracer: it wraps a device, writes a line for each operation that a program submits, and passes the operation on.
 *
 *     tracer cts/kernels/bundles/saxpy.ccob [URI]
 */
#include <inttypes.h>

#include "common.h"

/* The wrapper's own object. A tracer with state that several threads change would lock it. */
typedef struct tracer_t {
    FILE *out;
} tracer_t;

static void write_points(FILE *out, const char *word, size_t count, const windlass_operation_point_t *points) {
    for (size_t i = 0; i < count; i++) fprintf(out, " %s %016" PRIx64 ":%" PRIu64, word, points[i].semaphore, points[i].value);
}

static void write_range(FILE *out, const char *word, const windlass_operation_range_t *range) {
    if (range->length > 0) fprintf(out, " %s %#" PRIx64 "+%" PRIu64, word, range->device_address, range->length);
}

static windlass_error_t *submit(void *wrapper, windlass_operation_t *operation) {
    FILE *out = ((tracer_t *)wrapper)->out;
    windlass_operation_info_t info = windlass_operation_info_init();
    windlass_error_t *error = windlass_operation_info(operation, &info);
    if (error) return error;
    fprintf(out, "%s", info.name);
    if (info.kind == WINDLASS_OPERATION_DISPATCH)
        fprintf(out, " %s, %u x %u work-items, %zu bytes of arguments", info.function_name, info.workgroup_count[0],
                info.workgroup_size[0], info.byte_count);
    write_range(out, "from", &info.source);
    write_range(out, "to", &info.target);
    write_points(out, "after", info.wait_count, info.waits);
    write_points(out, "signals", info.signal_count, info.signals);
    fprintf(out, "\n");
    /* From here on the operation is the device's, and `info` leads nowhere. */
    return windlass_operation_forward(operation);
}

int main(int argc, char **argv) {
    require(argc > 1, "the path of saxpy.ccob");
    windlass_device_t *plain = NULL, *device = NULL;
    windlass_queue_t *queue = NULL;
    windlass_buffer_t *x = NULL, *y = NULL;
    windlass_semaphore_t *timeline = NULL;
    tracer_t tracer = {stdout};
    windlass_wrapper_t wrapper = windlass_wrapper_init();
    wrapper.submit = submit;
    check(windlass_device_open(argc > 2 ? argv[2] : "hip-sim://gfx942", &plain));
    check(windlass_device_wrap(plain, &wrapper, &tracer, &device));

    windlass_function_t *saxpy = load_function(device, argv[1], "saxpy");
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_buffer_allocate(device, NULL, 4000, &x));
    check(windlass_buffer_allocate(device, NULL, 4000, &y));
    check(windlass_semaphore_create(0, &timeline));
    const windlass_point_t filled[] = {windlass_at(timeline, 1), windlass_at(timeline, 2)}, done = windlass_at(timeline, 3);
    const float one = 1.0f, two = 2.0f;
    float numbers[1000];
    check(windlass_queue_fill(queue, 0, NULL, 1, &filled[0], windlass_whole(x), &one, sizeof one));
    check(windlass_queue_fill(queue, 1, &filled[0], 1, &filled[1], windlass_whole(y), &two, sizeof two));
    const windlass_dispatch_config_t grid = windlass_dispatch_config_sized(4, 1, 1, 256, 1, 1);
    const windlass_argument_t arguments[] = {windlass_arg_f32(3.0f), windlass_arg_buffer(x), windlass_arg_buffer(y),
                                             windlass_arg_i32(1000)};
    check(windlass_queue_dispatch(queue, 1, &filled[1], 1, &done, saxpy, &grid, 4, arguments));
    check(windlass_queue_download_blocking(queue, 1, &done, windlass_whole(y), numbers, sizeof numbers,
                                           WINDLASS_TIMEOUT_INFINITE));
    require(numbers[0] == 5.0f && numbers[999] == 5.0f, "3 * 1 + 2 is 5");

    windlass_semaphore_release(timeline);
    windlass_buffer_release(x);
    windlass_buffer_release(y);
    windlass_function_release(saxpy);
    windlass_queue_release(queue);
    windlass_device_release(device);
    windlass_device_release(plain);
    return EXIT_SUCCESS;
}
