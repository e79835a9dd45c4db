/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Calls every function of the header with bad arguments, each call in a process of its own. The calls are in the file that
 * tests/sweep.rs generates from the header.
 *
 *     sweep vector_add.ccob [FUNCTION]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../examples/common.h"

/* The arguments of a call. */
enum {
    ZEROS,      /* zero in each place */
    LIVE,       /* handles, structs that state their size, zeros as numbers */
    GREATEST,   /* the same with the greatest numbers */
    NOWHERE,    /* handles, NULL as every other pointer, the greatest numbers */
    CROOKED,    /* pointers that are not aligned */
    TOGETHER,   /* as in LIVE, by two threads at once while a third one releases all handles */
    STALE,      /* STALE + i: argument i is a released handle, the others as in LIVE */
    MISTAKEN = STALE + 16, /* MISTAKEN + i: argument i is a handle of another kind, the others as in LIVE */
    ROWS = MISTAKEN + 16,
};

static int row;
static const char *bundle;

/* Memory for out parameters, strings, lists and structs. */
static _Thread_local union {
    size_t struct_size;
    char bytes[8192];
    max_align_t aligned;
} places[16];

static void *place(int argument, size_t struct_size) {
    if (row == ZEROS || row == NOWHERE) return NULL;
    places[argument].struct_size = struct_size;
    return places[argument].bytes + (row == CROOKED ? 1 : 0);
}

static uint64_t number(void) {
    return row == GREATEST || row == NOWHERE ? UINT64_MAX : 0;
}

static void heard(void *user_data, uint64_t payload, windlass_error_t *error) {
    (void)user_data, (void)payload, (void)error;
}

static void reached(void *user_data, windlass_error_t *error) {
    (void)user_data, (void)error;
}

static windlass_error_t *keep(void *wrapper, windlass_operation_t *operation) {
    *(windlass_operation_t **)wrapper = windlass_operation_retain(operation);
    return NULL;
}

/* Handles that a driver has for one call. */
static windlass_uri_t *late_uri;
static windlass_answer_t *late_answer;

static windlass_error_t *decline(void *user_data, windlass_uri_t *uri, windlass_answer_t *answer, void **device) {
    (void)user_data, (void)device;
    late_uri = uri;
    late_answer = answer;
    return windlass_error_create(WINDLASS_CODE_UNAVAILABLE, "never open");
}

static windlass_error_t *refuse(void *device, windlass_memory_type_t type, uint64_t size, uint64_t alignment,
                                windlass_driver_memory_t *memory) {
    (void)device, (void)type, (void)size, (void)alignment, (void)memory;
    return windlass_error_create(WINDLASS_CODE_RESOURCE_EXHAUSTED, "nothing is left");
}

static void take_back(void *device, void *memory) {
    (void)device, (void)memory;
}

static windlass_error_t *take_completion(void *user_data, windlass_host_call_t *call) {
    check(windlass_host_call_defer(call, (windlass_completion_t **)user_data));
    return NULL;
}

static struct {
    windlass_device_t *device;
    windlass_queue_t *queue;
    windlass_buffer_t *buffer;
    windlass_buffer_view_t *buffer_view;
    windlass_semaphore_t *semaphore;
    windlass_error_t *error;
    windlass_device_list_t *device_list;
    windlass_executable_t *executable;
    windlass_function_t *function;
    windlass_symbol_list_t *symbol_list;
    windlass_fence_t *fence;
    windlass_file_t *file;
    windlass_pool_t *pool;
    windlass_growable_t *growable;
    windlass_topology_t *topology;
    windlass_recorder_t *recorder;
    windlass_command_buffer_t *command_buffer;
    windlass_observation_t *observation;
    windlass_timepoint_t *timepoint;
    windlass_export_t *export;
    windlass_completion_t *completion;
    windlass_host_call_t *host_call;
    windlass_operation_t *operation;
    windlass_uri_t *uri;
    windlass_answer_t *answer;
    windlass_code_file_t *code_file;
    windlass_code_image_t *code_image;
    windlass_code_selection_t *code_selection;
} live;

/* A child of a process that has opened a device cannot use the library, so each child makes its own objects. */
static void make_handles(void) {
    check(windlass_device_open("local://?threads=0", &live.device));
    check(windlass_device_queue(live.device, 0, &live.queue));
    windlass_buffer_params_t host = windlass_buffer_params_host();
    check(windlass_buffer_allocate(live.device, &host, 64, &live.buffer));
    const uint64_t dimensions[] = {4, 4};
    check(windlass_buffer_view_create(live.buffer, 2, dimensions, WINDLASS_ELEMENT_TYPE_FLOAT_32, &live.buffer_view));
    check(windlass_semaphore_create(0, &live.semaphore));
    live.error = windlass_error_create(WINDLASS_CODE_ABORTED, "an error");
    check(windlass_driver_devices("null", &live.device_list));
    size_t size = 0;
    void *code = read_file(bundle, &size);
    check(windlass_executable_load(live.device, code, size, &live.executable));
    check(windlass_executable_function(live.executable, "vector_add", &live.function));
    check(windlass_executable_symbols(live.executable, 0, &live.symbol_list));
    check(windlass_code_file_parse(code, size, NULL, &live.code_file));
    check(windlass_code_file_extract(live.code_file, 0, 0, &live.code_image));
    check(windlass_code_file_select(live.code_file, 0, "gfx942", NULL, &live.code_selection));
    free(code);
    check(windlass_fence_create(&live.fence));
    check(windlass_file_open(bundle, WINDLASS_FILE_READ, &live.file));
    windlass_pool_params_t params = windlass_pool_params_tlsf(1 << 20);
    check(windlass_pool_create(live.device, &params, &live.pool));
    check(windlass_growable_reserve(live.device, NULL, 1 << 20, &live.growable));
    check(windlass_topology_create(1, (windlass_device_t *const[]){live.device}, &live.topology));
    check(windlass_recorder_create(live.device, 0, &live.recorder));
    check(windlass_recorder_finish(live.recorder, &live.command_buffer));
    windlass_recorder_release(live.recorder);
    check(windlass_recorder_create(live.device, 1, &live.recorder));
    check(windlass_semaphore_observe(live.semaphore, heard, NULL, NULL, &live.observation));
    check(windlass_semaphore_add_timepoint(live.semaphore, 9, reached, NULL, &live.timepoint));
    check(windlass_buffer_export_device_address(live.buffer, &live.export));
    const windlass_point_t second = windlass_at(live.semaphore, 2);
    check(windlass_queue_host_call(live.queue, 0, NULL, 1, &second, 0, take_completion, &live.completion, NULL));
    check(windlass_device_drain(live.device, WINDLASS_TIMEOUT_INFINITE));
    /* An operation that a wrapper has kept. */
    windlass_wrapper_t wrapper = windlass_wrapper_init();
    wrapper.submit = keep;
    windlass_device_t *wrapped = NULL;
    windlass_queue_t *queue = NULL;
    check(windlass_device_wrap(live.device, &wrapper, &live.operation, &wrapped));
    check(windlass_device_queue(wrapped, 0, &queue));
    const char byte = 1;
    check(windlass_queue_fill(queue, 0, NULL, 1, &second, windlass_whole(live.buffer), &byte, 1));
    windlass_queue_release(queue);
    windlass_device_release(wrapped);
    /* Handles of a driver's calls, which have ended. */
    windlass_driver_t driver = windlass_driver_init();
    driver.scheme = "never";
    driver.open = decline;
    driver.allocate = refuse;
    driver.free = take_back;
    check(windlass_driver_register(&driver, NULL));
    windlass_device_t *none = NULL;
    windlass_error_release(windlass_device_open("never://", &none));
    live.uri = late_uri;
    live.answer = late_answer;
}

static void release_all(void) {
    windlass_code_selection_release(live.code_selection);
    windlass_code_image_release(live.code_image);
    windlass_code_file_release(live.code_file);
    windlass_operation_release(live.operation);
    windlass_completion_release(live.completion);
    windlass_export_release(live.export);
    windlass_timepoint_release(live.timepoint);
    windlass_observation_release(live.observation);
    windlass_command_buffer_release(live.command_buffer);
    windlass_recorder_release(live.recorder);
    windlass_topology_release(live.topology);
    windlass_growable_release(live.growable);
    windlass_pool_release(live.pool);
    windlass_file_release(live.file);
    windlass_fence_release(live.fence);
    windlass_symbol_list_release(live.symbol_list);
    windlass_function_release(live.function);
    windlass_executable_release(live.executable);
    windlass_device_list_release(live.device_list);
    windlass_error_release(live.error);
    windlass_semaphore_release(live.semaphore);
    windlass_buffer_view_release(live.buffer_view);
    windlass_buffer_release(live.buffer);
    windlass_queue_release(live.queue);
    windlass_device_release(live.device);
}

static void *of_another_kind(const char *name) {
    return strcmp(name, "buffer") == 0 ? (void *)live.semaphore : (void *)live.buffer;
}

/* The handle of an argument. A stale one was released as often as it was retained. */
#define HANDLE(name, argument)                                                                   \
    (row == ZEROS                    ? NULL                                                      \
     : row == STALE + (argument)     ? (windlass_##name##_release(live.name), (void *)live.name) \
     : row == MISTAKEN + (argument)  ? of_another_kind(#name)                                    \
                                     : (void *)live.name)
/* Handles that the library alone releases. */
#define LENT(name, argument) ((void)(argument), row == ZEROS ? NULL : live.name)

static void failed(const char *function, const char *what, const char *message) {
    fprintf(stderr, "%s, row %d: %s: %s\n", function, row, what, message ? message : "");
    _exit(1);
}

/* Bad arguments are refused by an error with a code and a message; none of them is a defect of the library. */
static void judge(const char *function, windlass_error_t *error, int must_fail) {
    const windlass_code_t code = windlass_error_code(error);
    const char *message = windlass_error_message(error);
    if (must_fail && !error) failed(function, "it succeeded", NULL);
    if (error && (message == NULL || message[0] == '\0')) failed(function, "no message", NULL);
    if (code == WINDLASS_CODE_INTERNAL) failed(function, "a defect", message);
    if (windlass_code_name(code) == NULL) failed(function, "an unknown code", NULL);
    if (row >= STALE && code != WINDLASS_CODE_INVALID_ARGUMENT) failed(function, "a stale or mistaken handle was not refused", message);
    windlass_error_release(error);
}

static void readable(const char *function, const char *text) {
    if (row == TOGETHER) return; /* the text goes with its handle */
    if (text && strlen(text) > 100000) failed(function, "a text without an end", NULL);
}

typedef struct {
    const char *name;
    void (*call)(void);
    /* Bit i: argument i is a handle. */
    unsigned handles;
} entry_t;

#include "sweep_calls.h"

static pthread_barrier_t start;

static void *call_together(void *user_data) {
    pthread_barrier_wait(&start);
    ((const entry_t *)user_data)->call();
    return NULL;
}

static void call(const entry_t *entry) {
    if (row != TOGETHER) {
        entry->call();
        return;
    }
    pthread_t threads[2];
    pthread_barrier_init(&start, NULL, 3);
    for (int i = 0; i < 2; i++)
        require(pthread_create(&threads[i], NULL, call_together, (void *)(uintptr_t)entry) == 0, "the system starts threads");
    pthread_barrier_wait(&start);
    release_all();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    require(argc > 1, "the path of vector_add.ccob");
    bundle = argv[1];
    int calls = 0, failures = 0;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (argc > 2 && strcmp(argv[2], entries[i].name) != 0) continue;
        for (row = ZEROS; row < ROWS; row++) {
            if (row >= STALE && !(entries[i].handles >> ((row - STALE) % 16) & 1)) continue;
            calls++;
            const pid_t child = fork();
            if (child == 0) {
                alarm(60);
                if (row != ZEROS) make_handles();
                call(&entries[i]);
                _exit(0);
            }
            int status = 0;
            require(child > 0 && waitpid(child, &status, 0) == child, "the system makes a process");
            if (status != 0) {
                failures++;
                fprintf(stderr, "%s, row %d: status %#x%s\n", entries[i].name, row, status,
                        WIFSIGNALED(status) ? ", a signal" : "");
            }
        }
    }
    require(failures == 0, "no call fails");
    printf("%d calls of %d functions were survived\n", calls, (int)(sizeof entries / sizeof entries[0]));
    return EXIT_SUCCESS;
}
