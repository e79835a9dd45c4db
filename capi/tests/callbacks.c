/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Handles that threads use while others release them, and callbacks that call back: they wait, release the last
 * handles of their own objects, close their device, and set off long chains of each other.
 *
 *     callbacks URI vector_add.ccob [LENGTH]        length of the chains
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 600
#endif
#include <pthread.h>
#include <stdatomic.h>

#include "refused.h"

static const char *uri;
static uint64_t length = 20000;

/* Releases an error. Fails unless it is NULL or says that the object is gone. */
static void may_be_gone(windlass_error_t *error, int line) {
    const windlass_code_t code = windlass_error_code(error);
    if (code != WINDLASS_CODE_OK && code != WINDLASS_CODE_INVALID_ARGUMENT && code != WINDLASS_CODE_FAILED_PRECONDITION &&
        code != WINDLASS_CODE_CANCELLED && code != WINDLASS_CODE_DEADLINE_EXCEEDED) {
        fprintf(stderr, "line %d: %s\n", line, windlass_error_message(error));
        exit(EXIT_FAILURE);
    }
    windlass_error_release(error);
}

#define MAY_BE_GONE(call) may_be_gone((call), __LINE__)

static windlass_semaphore_t *new_semaphore(void) {
    windlass_semaphore_t *semaphore = NULL;
    check(windlass_semaphore_create(0, &semaphore));
    return semaphore;
}

static void await(windlass_semaphore_t *semaphore, uint64_t value) {
    check(windlass_semaphore_wait(semaphore, value, WINDLASS_TIMEOUT_INFINITE));
}

/* The objects of a round, which some threads use and others release. */
typedef struct objects_t {
    windlass_device_t *device;
    windlass_queue_t *queue;
    windlass_buffer_t *buffer;
    windlass_semaphore_t *semaphore, *ended, *cancelled;
    windlass_timepoint_t *timepoint;
    windlass_observation_t *observation;
    windlass_fence_t *fence;
    windlass_recorder_t *recorder;
    windlass_executable_t *executable;
    windlass_error_t *error;
    windlass_completion_t *completion;
    atomic_int completed, heard;
    pthread_barrier_t start;
} objects_t;

static void never(void *user_data, windlass_error_t *error) {
    HOLDS(windlass_error_code(error) == WINDLASS_CODE_CANCELLED);
    check(windlass_semaphore_signal(((objects_t *)user_data)->cancelled, 1));
}

static void hear(void *user_data, uint64_t payload, windlass_error_t *error) {
    (void)payload, (void)error;
    atomic_fetch_add(&((objects_t *)user_data)->heard, 1);
}

static void end(void *user_data) {
    check(windlass_semaphore_signal(((objects_t *)user_data)->ended, 1));
}

static windlass_error_t *defer(void *user_data, windlass_host_call_t *call) {
    objects_t *objects = (objects_t *)user_data;
    check(windlass_host_call_defer(call, &objects->completion));
    check(windlass_semaphore_signal(objects->semaphore, 1));
    return NULL;
}

static void *use(void *user_data) {
    objects_t *it = (objects_t *)user_data;
    const windlass_point_t reached = windlass_at(it->semaphore, 1), later = windlass_at(it->semaphore, 2);
    const char byte = 7;
    windlass_buffer_t *part = NULL;
    windlass_queue_t *queue = NULL;
    windlass_command_buffer_t *commands = NULL;
    windlass_function_t *function = NULL;
    windlass_device_info_t info = windlass_device_info_init();
    windlass_buffer_params_t params = windlass_buffer_params_init();
    uint64_t value = 0;
    bool passed = false;
    pthread_barrier_wait(&it->start);
    for (int i = 0; i < 4; i++) {
        MAY_BE_GONE(windlass_queue_fill(it->queue, 1, &reached, 0, NULL, windlass_whole(it->buffer), &byte, 1));
        MAY_BE_GONE(windlass_queue_barrier(it->queue, 0, NULL, 1, &later));
        MAY_BE_GONE(windlass_buffer_subspan(it->buffer, 0, 4, &part));
        windlass_buffer_release(part);
        MAY_BE_GONE(windlass_buffer_params(it->buffer, &params));
        MAY_BE_GONE(windlass_semaphore_query(it->semaphore, &value));
        MAY_BE_GONE(windlass_semaphore_wait(it->semaphore, 2, 0));
        MAY_BE_GONE(windlass_timepoint_cancel(it->timepoint));
        MAY_BE_GONE(windlass_fence_query(it->fence, &passed));
        MAY_BE_GONE(windlass_fence_insert(it->fence, 1, &later));
        MAY_BE_GONE(windlass_recorder_fill(it->recorder, windlass_slot(0, 0, 16), &byte, 1));
        MAY_BE_GONE(windlass_device_info(it->device, &info));
        MAY_BE_GONE(windlass_device_queue(it->device, 0, &queue));
        windlass_queue_release(queue);
        MAY_BE_GONE(windlass_device_poll(it->device));
        MAY_BE_GONE(windlass_executable_function(it->executable, "vector_add", &function));
        windlass_function_release(function);
        const bool is_first = windlass_error_code(it->error) == WINDLASS_CODE_ABORTED;
        HOLDS(is_first || windlass_error_code(it->error) == WINDLASS_CODE_INVALID_ARGUMENT);
        HOLDS(windlass_error_message(it->error) != NULL);
    }
    windlass_error_t *second = windlass_completion_complete(it->completion, NULL);
    if (!second) atomic_fetch_add(&it->completed, 1);
    MAY_BE_GONE(second);
    MAY_BE_GONE(windlass_recorder_finish(it->recorder, &commands));
    windlass_command_buffer_release(commands);
    return NULL;
}

/* Releases each object once more than it may. */
static void *release_all(void *user_data) {
    objects_t *it = (objects_t *)user_data;
    pthread_barrier_wait(&it->start);
    windlass_observation_release(it->observation);
    windlass_timepoint_release(it->timepoint);
    windlass_fence_release(it->fence);
    windlass_recorder_release(it->recorder);
    windlass_buffer_release(it->buffer);
    windlass_executable_release(it->executable);
    windlass_error_release(it->error);
    windlass_semaphore_release(it->semaphore);
    windlass_queue_release(it->queue);
    windlass_device_release(it->device);
    return NULL;
}

static void handles_of_other_threads(const char *path) {
    size_t size = 0;
    void *code = read_file(path, &size);
    for (int round = 0; round < 6; round++) {
        objects_t *it = (objects_t *)calloc(1, sizeof *it);
        HOLDS(it);
        check(windlass_device_open(uri, &it->device));
        check(windlass_device_queue(it->device, 0, &it->queue));
        check(windlass_buffer_allocate(it->device, NULL, 16, &it->buffer));
        it->semaphore = new_semaphore();
        it->ended = new_semaphore();
        it->cancelled = new_semaphore();
        check(windlass_semaphore_add_timepoint(it->semaphore, 9, never, it, &it->timepoint));
        check(windlass_semaphore_observe(it->semaphore, hear, it, end, &it->observation));
        check(windlass_fence_create(&it->fence));
        check(windlass_recorder_create(it->device, 1, &it->recorder));
        check(windlass_executable_load(it->device, code, size, &it->executable));
        it->error = windlass_error_create(WINDLASS_CODE_ABORTED, "an error");
        windlass_timepoint_t *timepoint = windlass_timepoint_retain(windlass_timepoint_retain(it->timepoint));
        windlass_semaphore_t *settled = new_semaphore();
        const windlass_point_t done = windlass_at(settled, 1);
        check(windlass_queue_host_call(it->queue, 0, NULL, 1, &done, 0, defer, it, NULL));
        await(it->semaphore, 1);
        pthread_t threads[4];
        pthread_barrier_init(&it->start, NULL, 4);
        for (int i = 0; i < 4; i++)
            HOLDS(pthread_create(&threads[i], NULL, i == 1 || i == 3 ? release_all : use, it) == 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&it->start);
        HOLDS(it->completed == 1);
        windlass_completion_release(it->completion);
        uint64_t value = 0;
        const windlass_code_t code_of_end = windlass_error_code(windlass_semaphore_query(settled, &value));
        HOLDS(code_of_end == WINDLASS_CODE_OK && value == 1);
        windlass_semaphore_release(settled);
        INVALID(windlass_semaphore_query(it->semaphore, &value));
        INVALID(windlass_device_poll(it->device));
        INVALID(windlass_queue_barrier(it->queue, 0, NULL, 0, NULL));
        /* A call of the observer may have outlasted its last handle. */
        await(it->ended, 1);
        check(windlass_timepoint_cancel(timepoint));
        windlass_timepoint_release(timepoint);
        await(it->cancelled, 1);
        windlass_semaphore_release(it->ended);
        windlass_semaphore_release(it->cancelled);
        free(it);
    }
    free(code);
}

/* A device whose own callbacks use it. */
typedef struct own_t {
    windlass_device_t *device;
    windlass_queue_t *queue;
    windlass_buffer_t *buffer;
    windlass_semaphore_t *gate, *done;
    windlass_observation_t *observation;
    atomic_int calls;
} own_t;

static own_t open_own(void) {
    own_t own;
    memset(&own, 0, sizeof own);
    check(windlass_device_open(uri, &own.device));
    check(windlass_device_queue(own.device, 0, &own.queue));
    check(windlass_buffer_allocate(own.device, NULL, 64, &own.buffer));
    own.gate = new_semaphore();
    own.done = new_semaphore();
    return own;
}

static void release_device(own_t *own) {
    windlass_buffer_release(own->buffer);
    windlass_queue_release(own->queue);
    windlass_device_release(own->device);
}

static void release_own(own_t *own) {
    release_device(own);
    windlass_semaphore_release(own->gate);
    windlass_semaphore_release(own->done);
}

static windlass_error_t *wait_for_gate(void *user_data, windlass_host_call_t *call) {
    (void)call;
    return windlass_semaphore_wait(((own_t *)user_data)->gate, 1, WINDLASS_TIMEOUT_INFINITE);
}

static windlass_error_t *open_gate(void *user_data, windlass_host_call_t *call) {
    (void)call;
    return windlass_semaphore_signal(((own_t *)user_data)->gate, 1);
}

/* More calls than the machine has processors wait for one that is submitted after them. */
static void calls_that_wait(void) {
    own_t own = open_own();
    windlass_point_t done[40];
    for (size_t i = 0; i < 40; i++) {
        done[i] = windlass_at(new_semaphore(), 1);
        check(windlass_queue_host_call(own.queue, 0, NULL, 1, &done[i], 0, i < 39 ? wait_for_gate : open_gate, &own, NULL));
    }
    check(windlass_wait_all(40, done, WINDLASS_TIMEOUT_INFINITE));
    for (size_t i = 0; i < 40; i++) windlass_semaphore_release(done[i].semaphore);
    release_own(&own);
}

static windlass_error_t *use_own_device(void *user_data, windlass_host_call_t *call) {
    (void)call;
    own_t *own = (own_t *)user_data;
    check(windlass_device_drain(own->device, WINDLASS_TIMEOUT_INFINITE));
    const windlass_point_t filled = windlass_at(own->gate, 1);
    const char byte = 7;
    check(windlass_queue_fill(own->queue, 0, NULL, 1, &filled, windlass_whole(own->buffer), &byte, 1));
    await(own->gate, 1);
    check(windlass_device_trim(own->device));
    return NULL;
}

static windlass_error_t *close_own_device(void *user_data, windlass_host_call_t *call) {
    (void)call;
    own_t *own = (own_t *)user_data;
    check(windlass_device_close(own->device));
    REFUSED(CANCELLED, windlass_queue_barrier(own->queue, 0, NULL, 0, NULL));
    return NULL;
}

static windlass_error_t *release_own_device(void *user_data, windlass_host_call_t *call) {
    (void)call;
    release_device((own_t *)user_data);
    return NULL;
}

static void release_in_timepoint(void *user_data, windlass_error_t *error) {
    check(error);
    own_t *own = (own_t *)user_data;
    release_device(own);
    check(windlass_semaphore_signal(own->done, 1));
}

static void calls_that_end_their_device(void) {
    const windlass_host_call_callback_t callbacks[] = {use_own_device, close_own_device, release_own_device};
    for (size_t i = 0; i < 3; i++) {
        own_t own = open_own();
        const windlass_point_t done = windlass_at(own.done, 1);
        check(windlass_queue_host_call(own.queue, 0, NULL, 1, &done, 0, callbacks[i], &own, NULL));
        await(own.done, 1);
        if (i < 2) release_device(&own);
        windlass_semaphore_release(own.gate);
        windlass_semaphore_release(own.done);
    }
    own_t own = open_own();
    check(windlass_semaphore_add_timepoint(own.gate, 1, release_in_timepoint, &own, NULL));
    check(windlass_semaphore_signal(own.gate, 1));
    await(own.done, 1);
    windlass_semaphore_release(own.gate);
    windlass_semaphore_release(own.done);
}

/* Everything is released while work waits, which then runs. */
static void release_before_work_runs(void) {
    own_t own = open_own();
    const windlass_point_t gate = windlass_at(own.gate, 1), filled = windlass_at(own.done, 1), done = windlass_at(own.done, 2);
    const char byte = 7;
    windlass_semaphore_retain(own.done);
    windlass_semaphore_retain(own.gate);
    check(windlass_queue_fill(own.queue, 1, &gate, 1, &filled, windlass_whole(own.buffer), &byte, 1));
    check(windlass_queue_host_call(own.queue, 1, &filled, 1, &done, 0, open_gate, &own, NULL));
    release_own(&own);
    check(windlass_semaphore_signal(own.gate, 1));
    /* The last handle of a device closes it, or its work goes on. */
    windlass_error_t *end = windlass_semaphore_wait(own.done, 2, WINDLASS_TIMEOUT_INFINITE);
    MAY_BE_GONE(end);
    windlass_semaphore_release(own.gate);
    windlass_semaphore_release(own.done);
}

/* An observer that ends itself, signals its semaphore, and releases that. */
static void observe_oneself(void *user_data, uint64_t payload, windlass_error_t *error) {
    (void)error;
    own_t *own = (own_t *)user_data;
    own->calls++;
    if (payload == 1) check(windlass_semaphore_signal(own->gate, 2));
    if (payload == 2) {
        windlass_observation_release(own->observation);
        check(windlass_semaphore_signal(own->gate, 3));
        windlass_semaphore_release(own->gate);
    }
}

/* Each observer signals the next semaphore. */
static void pass_on(void *user_data, uint64_t payload, windlass_error_t *error) {
    check(error);
    check(windlass_semaphore_signal((windlass_semaphore_t *)user_data, payload));
}

/* Observers nest on one stack, so chains of them are shorter. */
enum { OBSERVERS = 300 };

static void observers(void) {
    own_t own;
    memset(&own, 0, sizeof own);
    own.gate = new_semaphore();
    check(windlass_semaphore_observe(own.gate, observe_oneself, &own, NULL, &own.observation));
    check(windlass_semaphore_signal(own.gate, 1));
    HOLDS(own.calls == 2);
    uint64_t value = 0;
    INVALID(windlass_semaphore_query(own.gate, &value));

    windlass_semaphore_t **chain = (windlass_semaphore_t **)calloc(OBSERVERS, sizeof *chain);
    windlass_observation_t **heard = (windlass_observation_t **)calloc(OBSERVERS, sizeof *heard);
    HOLDS(chain && heard);
    for (int i = OBSERVERS - 1; i >= 0; i--) {
        chain[i] = new_semaphore();
        if (i < OBSERVERS - 1) check(windlass_semaphore_observe(chain[i], pass_on, chain[i + 1], NULL, &heard[i]));
    }
    check(windlass_semaphore_signal(chain[0], 5));
    await(chain[OBSERVERS - 1], 5);
    for (int i = 0; i < OBSERVERS; i++) {
        windlass_observation_release(heard[i]);
        windlass_semaphore_release(chain[i]);
    }
    free(heard);
    free(chain);
}

/* A driver that completes each operation at once, so that a signal lets a long chain of them run. */
static windlass_error_t *open_device(void *user_data, windlass_uri_t *of, windlass_answer_t *answer, void **device) {
    (void)user_data, (void)of, (void)device;
    windlass_device_info_t info = windlass_device_info_init();
    info.name = "a device that completes at once";
    return windlass_answer_device(answer, &info);
}

static windlass_error_t *allocate(void *device, windlass_memory_type_t type, uint64_t size, uint64_t alignment,
                                  windlass_driver_memory_t *memory) {
    (void)device, (void)type;
    char *bytes = size < SIZE_MAX - alignment ? (char *)malloc((size_t)(size + alignment)) : NULL;
    if (!bytes) return windlass_error_create(WINDLASS_CODE_RESOURCE_EXHAUSTED, "no memory");
    memory->memory = bytes;
    memory->host_pointer = bytes + (alignment - (uint64_t)(uintptr_t)bytes % alignment);
    memory->device_address = (uint64_t)(uintptr_t)memory->host_pointer;
    return NULL;
}

static void free_memory(void *device, void *memory) {
    (void)device;
    free(memory);
}

static windlass_error_t *complete(void *device, windlass_operation_t *operation) {
    (void)device;
    return windlass_operation_complete(operation, NULL);
}

static windlass_error_t *visit_and_end(void *user_data, const windlass_operation_info_t *command) {
    (void)command;
    windlass_operation_t *operation = (windlass_operation_t *)user_data;
    MAY_BE_GONE(windlass_operation_complete(operation, NULL));
    return NULL;
}

static windlass_error_t *end_while_visited(void *device, windlass_operation_t *operation) {
    (void)device;
    return windlass_operation_commands(operation, visit_and_end, operation);
}

static void chains_of_work(const char *of) {
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    windlass_buffer_t *buffer = NULL;
    windlass_recorder_t *recorder = NULL;
    windlass_command_buffer_t *commands = NULL;
    windlass_semaphore_t *timeline = new_semaphore();
    const char byte = 7;
    check(windlass_device_open(of, &device));
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_buffer_allocate(device, NULL, 64, &buffer));
    check(windlass_recorder_create(device, 0, &recorder));
    for (uint64_t i = 0; i < length; i++) check(windlass_recorder_fill(recorder, windlass_range(buffer, 0, 4), &byte, 1));
    check(windlass_recorder_finish(recorder, &commands));
    for (uint64_t i = 1; i < length; i++) {
        const windlass_point_t before = windlass_at(timeline, i), after = windlass_at(timeline, i + 1);
        if (i % 2 == 0) check(windlass_queue_barrier(queue, 1, &before, 1, &after));
        else check(windlass_queue_fill(queue, 1, &before, 1, &after, windlass_range(buffer, 0, 4), &byte, 1));
    }
    check(windlass_semaphore_signal(timeline, 1));
    await(timeline, length);
    const windlass_point_t executed = windlass_at(timeline, length + 1);
    check(windlass_queue_execute(queue, 0, NULL, 1, &executed, commands, 0, NULL));
    await(timeline, length + 1);
    windlass_command_buffer_release(commands);
    windlass_recorder_release(recorder);
    windlass_semaphore_release(timeline);
    windlass_buffer_release(buffer);
    windlass_queue_release(queue);
    windlass_device_release(device);
}

/* A wrapper that submits and releases from inside its `submit`. */
typedef struct nested_t {
    windlass_device_t *device;
    windlass_queue_t *queue;
    int depth;
} nested_t;

static windlass_error_t *submit_nested(void *user_data, windlass_operation_t *operation) {
    nested_t *nested = (nested_t *)user_data;
    if (nested->depth++ < 50) check(windlass_queue_barrier(nested->queue, 0, NULL, 0, NULL));
    if (nested->depth == 51) {
        /* The last handles, in a call of the device. */
        nested->depth++;
        windlass_queue_release(nested->queue);
        windlass_device_release(nested->device);
    }
    return windlass_operation_forward(operation);
}

static void wrapper_that_calls_back(void) {
    windlass_device_t *plain = NULL;
    windlass_wrapper_t table = windlass_wrapper_init();
    nested_t nested = {NULL, NULL, 0};
    table.submit = submit_nested;
    check(windlass_device_open(uri, &plain));
    check(windlass_device_wrap(plain, &table, &nested, &nested.device));
    windlass_device_release(plain);
    check(windlass_device_queue(nested.device, 0, &nested.queue));
    check(windlass_queue_barrier(nested.queue, 0, NULL, 0, NULL));
    HOLDS(nested.depth == 52);
}

/* A sink that flushes, ends and closes. */
static void sink(void *user_data, const windlass_profile_record_t *record) {
    (void)record;
    own_t *own = (own_t *)user_data;
    if (own->calls++ > 0) return;
    REFUSED(FAILED_PRECONDITION, windlass_device_profiling_flush(own->device));
    REFUSED(FAILED_PRECONDITION, windlass_device_profiling_end(own->device));
    check(windlass_device_close(own->device));
}

static void sink_that_calls_back(void) {
    own_t own = open_own();
    check(windlass_device_profiling_begin(own.device, NULL, sink, &own, NULL));
    const windlass_point_t done = windlass_at(own.done, 1);
    check(windlass_queue_barrier(own.queue, 0, NULL, 1, &done));
    await(own.done, 1);
    check(windlass_device_profiling_end(own.device));
    HOLDS(own.calls >= 1);
    release_own(&own);
}

int main(int argc, char **argv) {
    require(argc > 2, "a URI and the path of vector_add.ccob");
    uri = argv[1];
    if (argc > 3) length = (uint64_t)atoi(argv[3]);
    windlass_driver_t driver = windlass_driver_init();
    driver.scheme = "at-once";
    driver.open = open_device;
    driver.allocate = allocate;
    driver.free = free_memory;
    driver.submit = complete;
    check(windlass_driver_register(&driver, NULL));
    driver.scheme = "while-visited";
    driver.execute = end_while_visited;
    check(windlass_driver_register(&driver, NULL));
    handles_of_other_threads(argv[2]);
    calls_that_wait();
    calls_that_end_their_device();
    release_before_work_runs();
    observers();
    chains_of_work(uri);
    chains_of_work("at-once://");
    chains_of_work("while-visited://");
    wrapper_that_calls_back();
    sink_that_calls_back();
    printf("the callbacks were called and the handles refused\n");
    return EXIT_SUCCESS;
}
