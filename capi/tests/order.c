/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Order in C: observers, fences, wait policies, events and indirect dispatches, over a device.
 *
 *     order vector_add.ccob [URI]
 */
#include "../examples/common.h"

#define SIZE 4096
#define COUNT (SIZE / 4)

static void refused(windlass_error_t *error, windlass_code_t code, int line) {
    if (windlass_error_code(error) != code) {
        fprintf(stderr, "line %d: %s where %s was expected\n", line, windlass_error_message(error),
                windlass_code_name(code));
        exit(EXIT_FAILURE);
    }
    windlass_error_release(error);
}

#define REFUSED(code, call) refused((call), WINDLASS_CODE_##code, __LINE__)

/* An observer's memory. Each call raises `relay`, so that the program can wait for it. */
typedef struct {
    uint64_t payloads[16];
    size_t calls;
    windlass_code_t failure;
    int destroyed;
    windlass_semaphore_t *relay;
} ear_t;

#define HEARD_FAILURE 100
#define DESTROYED 101

static void hear(void *user_data, uint64_t payload, windlass_error_t *error) {
    ear_t *ear = (ear_t *)user_data;
    if (error) {
        ear->failure = windlass_error_code(error);
        check(windlass_semaphore_signal(ear->relay, HEARD_FAILURE));
        return;
    }
    require(ear->calls < 16, "an observer hears no more than there is");
    ear->payloads[ear->calls++] = payload;
    check(windlass_semaphore_signal(ear->relay, payload));
}

static void destroyed(void *user_data) {
    ear_t *ear = (ear_t *)user_data;
    ear->destroyed += 1;
    if (ear->relay) {
        check(windlass_semaphore_signal(ear->relay, DESTROYED));
    }
}

static void observers(windlass_queue_t *queue, windlass_buffer_t *buffer) {
    windlass_semaphore_t *semaphore = NULL, *relay = NULL;
    windlass_observation_t *observation = NULL, *second = (windlass_observation_t *)&observation;
    ear_t ear = {{0}, 0, 0, 0, NULL}, refusing = {{0}, 0, 0, 0, NULL};
    const uint8_t byte = 1;

    check(windlass_semaphore_create(0, &semaphore));
    check(windlass_semaphore_create(0, &relay));
    ear.relay = relay;
    check(windlass_semaphore_observe(semaphore, hear, &ear, destroyed, &observation));
    check(windlass_semaphore_signal(semaphore, 2));
    require(ear.calls == 1 && ear.payloads[0] == 2, "a host signal is heard before it returns");

    /* Nobody polls the device: the wait is for a semaphore of the host. */
    const windlass_point_t third = windlass_at(semaphore, 3);
    check(windlass_queue_fill(queue, 0, NULL, 1, &third, windlass_whole(buffer), &byte, 1));
    check(windlass_semaphore_wait(relay, 3, UINT64_C(20000000000)));
    require(ear.calls == 2 && ear.payloads[1] == 3, "a queue's signal is heard");

    check(windlass_semaphore_fail(semaphore, WINDLASS_CODE_DATA_LOSS, "on purpose"));
    /* The thread that told of the queue's signal may be the one that tells of the failure. */
    check(windlass_semaphore_wait(relay, HEARD_FAILURE, UINT64_C(20000000000)));
    require(ear.failure == WINDLASS_CODE_DATA_LOSS && ear.calls == 2, "a failure is heard");
    windlass_observation_release(observation);
    check(windlass_semaphore_wait(relay, DESTROYED, UINT64_C(20000000000)));
    require(ear.destroyed == 1, "the user data is released once, with the failure or the observation");

    REFUSED(INVALID_ARGUMENT, windlass_semaphore_observe(NULL, hear, &refusing, destroyed, &second));
    require(second == NULL && refusing.destroyed == 1, "a refusal releases the user data, and gives no handle");
    REFUSED(INVALID_ARGUMENT, windlass_semaphore_observe(relay, NULL, &refusing, destroyed, &second));
    REFUSED(INVALID_ARGUMENT, windlass_semaphore_observe(relay, hear, &refusing, destroyed, NULL));
    require(refusing.destroyed == 3 && refusing.calls == 0, "each refusal releases the user data");
    windlass_semaphore_release(semaphore);
    windlass_semaphore_release(relay);
}

static void fences(void) {
    windlass_semaphore_t *a = NULL, *b = NULL;
    windlass_fence_t *fence = NULL, *joined = NULL;
    windlass_point_t points[4];
    size_t count = 0;
    bool passed = false;

    check(windlass_semaphore_create(0, &a));
    check(windlass_semaphore_create(0, &b));
    check(windlass_fence_create(&fence));
    check(windlass_fence_query(fence, &passed));
    require(passed, "an empty fence is passed");
    const windlass_point_t given[] = {windlass_at(a, 2), windlass_at(b, 1), windlass_at(a, 5), windlass_at(a, 3)};
    check(windlass_fence_insert(fence, 4, given));
    check(windlass_fence_points(fence, 0, NULL, &count));
    require(count == 2, "a fence holds each semaphore once");
    check(windlass_fence_points(fence, 4, points, &count));
    require(points[0].value == 5 && points[1].value == 1, "a fence holds the greatest values");

    /* The fence keeps the semaphores. */
    windlass_semaphore_release(b);
    check(windlass_semaphore_signal(points[1].semaphore, 1));
    check(windlass_fence_query(fence, &passed));
    require(!passed, "one point is not reached");
    REFUSED(DEADLINE_EXCEEDED, windlass_fence_wait(fence, 1000));
    check(windlass_fence_create(&joined));
    check(windlass_fence_insert(joined, count, points));
    check(windlass_fence_signal(joined));
    check(windlass_fence_wait(fence, 0));

    check(windlass_semaphore_create(0, &b));
    const windlass_point_t later = windlass_at(b, 9);
    check(windlass_fence_insert(joined, 1, &later));
    windlass_error_t *error = windlass_error_create(WINDLASS_CODE_ABORTED, "on purpose");
    check(windlass_fence_fail(joined, error));
    windlass_error_release(error);
    REFUSED(ABORTED, windlass_fence_wait(joined, WINDLASS_TIMEOUT_INFINITE));
    REFUSED(ABORTED, windlass_fence_query(joined, &passed));

    const windlass_point_t wrong[] = {windlass_at(a, 1), windlass_at(NULL, 1)};
    REFUSED(INVALID_ARGUMENT, windlass_fence_insert(fence, 2, wrong));
    REFUSED(INVALID_ARGUMENT, windlass_fence_insert(fence, 2, NULL));
    REFUSED(INVALID_ARGUMENT, windlass_fence_points(fence, 4, NULL, &count));
    REFUSED(INVALID_ARGUMENT, windlass_fence_points(fence, 0, NULL, NULL));
    REFUSED(INVALID_ARGUMENT, windlass_fence_create(NULL));
    REFUSED(INVALID_ARGUMENT, windlass_fence_query(NULL, &passed));
    REFUSED(INVALID_ARGUMENT, windlass_fence_signal(NULL));
    REFUSED(INVALID_ARGUMENT, windlass_fence_fail(fence, NULL));
    windlass_fence_release(joined);
    windlass_fence_release(fence);
    REFUSED(INVALID_ARGUMENT, windlass_fence_wait(fence, 0));
    windlass_semaphore_release(a);
    windlass_semaphore_release(b);
}

static void policies(void) {
    windlass_semaphore_t *semaphore = NULL;
    size_t index = 7;
    check(windlass_semaphore_create(1, &semaphore));
    const windlass_point_t points[] = {windlass_at(semaphore, 9), windlass_at(semaphore, 1)};
    for (windlass_wait_policy_t policy = 0; policy < 3; ++policy) {
        check(windlass_semaphore_wait_with(semaphore, 1, 0, policy));
        REFUSED(DEADLINE_EXCEEDED, windlass_semaphore_wait_with(semaphore, 2, 1000, policy));
        check(windlass_wait_all_with(1, points + 1, 0, policy));
        check(windlass_wait_any_with(2, points, 0, policy, &index));
        require(index == 1, "the index of the reached point");
    }
    REFUSED(INVALID_ARGUMENT, windlass_semaphore_wait_with(semaphore, 2, 0, 3));
    REFUSED(INVALID_ARGUMENT, windlass_wait_all_with(1, points + 1, 0, 99));
    REFUSED(INVALID_ARGUMENT, windlass_wait_any_with(1, points + 1, 0, 3, &index));
    windlass_semaphore_release(semaphore);
}

/* One word of a buffer is filled, then copied behind an event. */
static void events(windlass_device_t *device, windlass_queue_t *queue, windlass_buffer_t *buffer) {
    windlass_recorder_t *recorder = NULL, *other = NULL;
    windlass_command_buffer_t *commands = NULL;
    windlass_semaphore_t *done = NULL;
    windlass_event_t event = {0, 0}, foreign = {0, 0};
    const uint32_t word = 77;
    uint32_t words[2] = {0, 0};

    check(windlass_semaphore_create(0, &done));
    check(windlass_recorder_create(device, 0, &recorder));
    check(windlass_recorder_create(device, 0, &other));
    const uint8_t orange[4] = {255, 128, 0, 255};
    check(windlass_recorder_begin_debug_group_at(recorder, "group", orange, "model.mlir", 42));
    check(windlass_recorder_begin_debug_group_at(recorder, "plain", NULL, NULL, 0));
    REFUSED(INVALID_ARGUMENT, windlass_recorder_begin_debug_group_at(recorder, NULL, NULL, NULL, 0));
    check(windlass_recorder_end_debug_group(recorder));
    check(windlass_recorder_end_debug_group(recorder));
    check(windlass_recorder_create_event(recorder, &event));
    check(windlass_recorder_create_event(other, &foreign));
    REFUSED(FAILED_PRECONDITION, windlass_recorder_wait_events(recorder, 1, &event));
    check(windlass_recorder_fill(recorder, windlass_range(buffer, 0, 4), &word, 4));
    check(windlass_recorder_signal_event(recorder, event));
    REFUSED(FAILED_PRECONDITION, windlass_recorder_signal_event(recorder, event));
    REFUSED(INVALID_ARGUMENT, windlass_recorder_signal_event(recorder, foreign));
    REFUSED(INVALID_ARGUMENT, windlass_recorder_reset_event(other, event));
    check(windlass_recorder_wait_events(recorder, 1, &event));
    check(windlass_recorder_wait_events(recorder, 0, NULL));
    check(windlass_recorder_copy(recorder, windlass_range(buffer, 0, 4), windlass_range(buffer, 4, 4)));
    check(windlass_recorder_reset_event(recorder, event));
    REFUSED(INVALID_ARGUMENT, windlass_recorder_wait_events(recorder, 1, NULL));
    REFUSED(INVALID_ARGUMENT, windlass_recorder_create_event(recorder, NULL));
    check(windlass_recorder_finish(recorder, &commands));
    REFUSED(FAILED_PRECONDITION, windlass_recorder_create_event(recorder, &event));

    const windlass_point_t first = windlass_at(done, 1);
    check(windlass_queue_execute(queue, 0, NULL, 1, &first, commands, 0, NULL));
    check(windlass_queue_download_blocking(queue, 1, &first, windlass_range(buffer, 0, 8), words, 8,
                                           WINDLASS_TIMEOUT_INFINITE));
    require(words[0] == 77 && words[1] == 77, "the copy is behind the fill");
    windlass_command_buffer_release(commands);
    windlass_recorder_release(recorder);
    windlass_recorder_release(other);
    windlass_semaphore_release(done);
}

/* vector_add over as many workgroups as a buffer says: by the queue, and by a command buffer that writes the count. */
static void indirect(windlass_device_t *device, windlass_queue_t *queue, const char *path) {
    size_t size = 0;
    void *code = read_file(path, &size);
    windlass_executable_t *executable = NULL;
    windlass_function_t *add = NULL;
    windlass_buffer_t *in = NULL, *out = NULL, *count = NULL;
    windlass_recorder_t *recorder = NULL;
    windlass_command_buffer_t *commands = NULL;
    windlass_semaphore_t *done = NULL;
    windlass_buffer_params_t params = windlass_buffer_params_device();
    const float one = 1.0f, zero = 0.0f;
    const uint32_t groups[3] = {2, 1, 1};
    float sums[COUNT];

    check(windlass_executable_load(device, code, size, &executable));
    check(windlass_executable_function(executable, "vector_add", &add));
    check(windlass_semaphore_create(0, &done));
    check(windlass_buffer_allocate(device, NULL, SIZE, &in));
    check(windlass_buffer_allocate(device, NULL, SIZE, &out));
    params.usage |= WINDLASS_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS;
    check(windlass_buffer_allocate(device, &params, 64, &count));
    const windlass_argument_t arguments[] = {windlass_arg_buffer(in), windlass_arg_buffer(in), windlass_arg_buffer(out),
                                             windlass_arg_i32(COUNT)};
    windlass_indirect_dispatch_config_t config = windlass_indirect_dispatch_config(windlass_range(count, 16, 12));
    config.workgroup_size[0] = 256;
    config.workgroup_size[1] = config.workgroup_size[2] = 1;

    const windlass_point_t steps[] = {windlass_at(done, 1), windlass_at(done, 2), windlass_at(done, 3),
                                      windlass_at(done, 4), windlass_at(done, 5), windlass_at(done, 6)};
    check(windlass_queue_fill(queue, 0, NULL, 1, steps, windlass_whole(in), &one, 4));
    check(windlass_queue_fill(queue, 1, steps, 1, steps + 1, windlass_whole(out), &zero, 4));
    check(windlass_queue_update(queue, 1, steps + 1, 1, steps + 2, groups, 12, windlass_range(count, 16, 12)));
    check(windlass_queue_dispatch_indirect(queue, 1, steps + 2, 1, steps + 3, add, &config, 4, arguments));
    check(windlass_queue_download_blocking(queue, 1, steps + 3, windlass_whole(out), sums, SIZE,
                                           WINDLASS_TIMEOUT_INFINITE));
    for (size_t i = 0; i < COUNT; ++i) {
        require(sums[i] == (i < 512 ? 2.0f : 0.0f), "two workgroups ran");
    }

    /* The count comes from a slot, and a command before the dispatch writes it. */
    const uint32_t more[3] = {3, 1, 1};
    check(windlass_recorder_create(device, 1, &recorder));
    check(windlass_recorder_update(recorder, more, 12, windlass_slot(0, 16, 12)));
    check(windlass_recorder_barrier(recorder));
    config.workgroup_count = windlass_slot(0, 16, 12);
    check(windlass_recorder_dispatch_indirect(recorder, add, &config, 4, arguments));
    config.flags = 1u << 9;
    REFUSED(INVALID_ARGUMENT, windlass_recorder_dispatch_indirect(recorder, add, &config, 4, arguments));
    config.flags = 0;
    check(windlass_recorder_finish(recorder, &commands));
    const windlass_buffer_ref_t binding = windlass_whole(count);
    check(windlass_queue_execute(queue, 1, steps + 3, 1, steps + 4, commands, 1, &binding));
    check(windlass_queue_download_blocking(queue, 1, steps + 4, windlass_whole(out), sums, SIZE,
                                           WINDLASS_TIMEOUT_INFINITE));
    for (size_t i = 0; i < COUNT; ++i) {
        require(sums[i] == (i < 768 ? 2.0f : 0.0f), "three workgroups ran");
    }

    REFUSED(INVALID_ARGUMENT,
            windlass_queue_dispatch_indirect(queue, 0, NULL, 0, NULL, add, &config, 4, arguments));
    config.workgroup_count = windlass_range(count, 56, 8);
    REFUSED(OUT_OF_RANGE, windlass_queue_dispatch_indirect(queue, 0, NULL, 0, NULL, add, &config, 4, arguments));
    config.workgroup_count = windlass_whole(in);
    REFUSED(INVALID_ARGUMENT, windlass_queue_dispatch_indirect(queue, 0, NULL, 0, NULL, add, &config, 4, arguments));
    config.workgroup_count = windlass_whole(count);
    config.struct_size = 0;
    REFUSED(INVALID_ARGUMENT, windlass_queue_dispatch_indirect(queue, 0, NULL, 0, NULL, add, &config, 4, arguments));
    REFUSED(INVALID_ARGUMENT, windlass_queue_dispatch_indirect(queue, 0, NULL, 0, NULL, add, NULL, 4, arguments));

    windlass_command_buffer_release(commands);
    windlass_recorder_release(recorder);
    windlass_function_release(add);
    windlass_executable_release(executable);
    windlass_buffer_release(in);
    windlass_buffer_release(out);
    windlass_buffer_release(count);
    windlass_semaphore_release(done);
    free(code);
}

/* How a host call went. */
typedef struct {
    int calls;
    int ends;
    windlass_code_t code;
    windlass_semaphore_t *over;
} fate_t;

static windlass_error_t *work(void *user_data, windlass_host_call_t *call) {
    (void)call;
    ((fate_t *)user_data)->calls += 1;
    return NULL;
}

static void end(void *user_data, windlass_error_t *error) {
    fate_t *fate = (fate_t *)user_data;
    fate->ends += 1;
    fate->code = windlass_error_code(error);
    check(windlass_semaphore_signal(fate->over, 1));
}

static fate_t unmet(void) {
    fate_t fresh = {0, 0, 99, NULL};
    check(windlass_semaphore_create(0, &fresh.over));
    return fresh;
}

static void met(fate_t *fate, int calls, windlass_code_t code, const char *what) {
    check(windlass_semaphore_wait(fate->over, 1, UINT64_C(20000000000)));
    require(fate->calls == calls && fate->ends == 1 && fate->code == code, what);
    windlass_semaphore_release(fate->over);
}

static void host_calls(windlass_queue_t *queue) {
    windlass_semaphore_t *gate = NULL;
    fate_t called = unmet(), failed = unmet(), wrong = unmet();
    check(windlass_semaphore_create(0, &gate));
    const windlass_point_t first = windlass_at(gate, 1), second = windlass_at(gate, 2);
    check(windlass_queue_host_call(queue, 1, &first, 0, NULL, 0, work, &called, end));
    check(windlass_queue_host_call(queue, 1, &second, 0, NULL, 0, work, &failed, end));
    require(called.ends == 0 && failed.ends == 0, "a host call keeps its user data");
    check(windlass_semaphore_signal(gate, 1));
    met(&called, 1, WINDLASS_CODE_OK, "user data ends after the call");
    check(windlass_semaphore_fail(gate, WINDLASS_CODE_DATA_LOSS, "on purpose"));
    met(&failed, 0, WINDLASS_CODE_DATA_LOSS, "user data ends with the failure of a wait");
    REFUSED(INVALID_ARGUMENT, windlass_queue_host_call(queue, 0, NULL, 0, NULL, 0x100, work, &wrong, end));
    met(&wrong, 0, WINDLASS_CODE_INVALID_ARGUMENT, "user data ends with the refusal");
    windlass_semaphore_release(gate);
}

/* A device that is closed makes no call that waits. */
static void closed(const char *uri) {
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    windlass_semaphore_t *gate = NULL;
    fate_t cancelled = unmet();
    check(windlass_device_open(uri, &device));
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_semaphore_create(0, &gate));
    const windlass_point_t first = windlass_at(gate, 1);
    check(windlass_queue_host_call(queue, 1, &first, 0, NULL, 0, work, &cancelled, end));
    check(windlass_device_close(device));
    met(&cancelled, 0, WINDLASS_CODE_CANCELLED, "user data ends with the device");
    windlass_queue_release(queue);
    windlass_device_release(device);
    windlass_semaphore_release(gate);
}

int main(int argc, char **argv) {
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL, *set = NULL;
    windlass_buffer_t *buffer = NULL;
    require(argc >= 2, "usage: order vector_add.ccob [URI]");
    check(windlass_device_open(argc > 2 ? argv[2] : "hip-sim://gfx942", &device));
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_device_queue_of(device, 1, &set));
    require(windlass_queue_affinity(queue) == 1 && windlass_queue_affinity(set) == 1, "a queue tells its set");
    require(windlass_queue_affinity(NULL) == 0, "no queue, no set");
    check(windlass_buffer_allocate(device, NULL, SIZE, &buffer));
    observers(queue, buffer);
    fences();
    policies();
    events(device, queue, buffer);
    indirect(device, queue, argv[1]);
    host_calls(queue);
    windlass_buffer_release(buffer);
    windlass_queue_release(set);
    windlass_queue_release(queue);
    windlass_device_release(device);
    closed(argc > 2 ? argv[2] : "hip-sim://gfx942");
    printf("order holds\n");
    return EXIT_SUCCESS;
}
