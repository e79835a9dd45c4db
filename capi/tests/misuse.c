/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A mistake of a C program is an error, never undefined behaviour: NULL, handles that were released, sizes and counts that cannot
 * be, structs of another version, numbers that are no enum's.
 *
 *     misuse vector_add.ccob [URI]
 */
#include "../examples/common.h"

/* Fails unless a call was refused with a code, and with a message. */
static void refused(windlass_error_t *error, windlass_code_t code, int line) {
    if (windlass_error_code(error) != code) {
        fprintf(stderr, "line %d: %s where %s was expected\n", line, windlass_error_message(error),
                windlass_code_name(code));
        exit(EXIT_FAILURE);
    }
    require(windlass_error_message(error)[0] != '\0', "an error says something");
    windlass_error_release(error);
}

#define REFUSED(code, call) refused((call), WINDLASS_CODE_##code, __LINE__)
#define INVALID(call) REFUSED(INVALID_ARGUMENT, call)

static void null_handles(void) {
    windlass_device_t *device = (windlass_device_t *)&device;
    windlass_queue_t *queue = (windlass_queue_t *)&queue;
    windlass_buffer_t *buffer = NULL;
    windlass_function_t *function = NULL;
    windlass_executable_t *executable = NULL;
    windlass_recorder_t *recorder = NULL;
    windlass_command_buffer_t *commands = NULL;
    windlass_timepoint_t *timepoint = NULL;
    windlass_device_list_t *list = NULL;
    windlass_device_info_t info = windlass_device_info_init();
    windlass_device_limits_t limits = windlass_device_limits_init();
    windlass_statistics_t statistics = windlass_statistics_init();
    windlass_function_info_t function_info = windlass_function_info_init();
    windlass_parameter_t parameter = windlass_parameter_init();
    windlass_dispatch_config_t config = windlass_dispatch_config_sized(1, 1, 1, 1, 1, 1);
    windlass_buffer_ref_t range = windlass_whole(NULL);
    windlass_completion_t *completion = NULL;
    uint64_t value = 0;
    size_t index = 0;
    void *pointer = NULL;
    char byte = 0;

    INVALID(windlass_device_open(NULL, &device));
    require(device == NULL, "a handle is NULL after a failure");
    INVALID(windlass_device_open("hip-sim://gfx942", NULL));
    INVALID(windlass_device_open_default(NULL));
    INVALID(windlass_driver_devices(NULL, &list));
    INVALID(windlass_driver_devices("hip-sim", NULL));
    INVALID(windlass_device_list_info(NULL, 0, &info));
    INVALID(windlass_device_info(NULL, &info));
    INVALID(windlass_device_limits(NULL, &limits));
    INVALID(windlass_device_statistics(NULL, &statistics));
    INVALID(windlass_device_queue(NULL, 0, &queue));
    require(queue == NULL, "a handle is NULL after a failure");
    INVALID(windlass_device_queue_of(NULL, 1, &queue));
    INVALID(windlass_device_poll(NULL));
    INVALID(windlass_device_drain(NULL, 0));
    INVALID(windlass_device_close(NULL));
    INVALID(windlass_device_trim(NULL));
    INVALID(windlass_executable_load(NULL, &byte, 1, &executable));
    INVALID(windlass_executable_function(NULL, "f", &function));
    INVALID(windlass_executable_function_at(NULL, 0, &function));
    INVALID(windlass_executable_global(NULL, "g", 0, &buffer));
    INVALID(windlass_function_info(NULL, &function_info));
    INVALID(windlass_function_parameter(NULL, 0, &parameter));
    INVALID(windlass_buffer_allocate(NULL, NULL, 16, &buffer));
    INVALID(windlass_buffer_subspan(NULL, 0, 0, &buffer));
    INVALID(windlass_buffer_read(NULL, 0, &byte, 1));
    INVALID(windlass_buffer_write(NULL, 0, &byte, 1));
    INVALID(windlass_buffer_host_pointer(NULL, &pointer));
    INVALID(windlass_semaphore_create(0, NULL));
    INVALID(windlass_semaphore_query(NULL, &value));
    INVALID(windlass_semaphore_signal(NULL, 1));
    INVALID(windlass_semaphore_fail(NULL, WINDLASS_CODE_ABORTED, "no"));
    INVALID(windlass_semaphore_fail_with(NULL, NULL));
    INVALID(windlass_semaphore_wait(NULL, 1, 0));
    INVALID(windlass_wait_any(0, NULL, 0, &index));
    INVALID(windlass_semaphore_add_timepoint(NULL, 1, NULL, NULL, &timepoint));
    INVALID(windlass_timepoint_cancel(NULL));
    INVALID(windlass_queue_barrier(NULL, 0, NULL, 0, NULL));
    INVALID(windlass_queue_alloca(NULL, 0, NULL, 0, NULL, NULL, 16, &buffer));
    INVALID(windlass_queue_dealloca(NULL, 0, NULL, 0, NULL, NULL));
    INVALID(windlass_queue_fill(NULL, 0, NULL, 0, NULL, range, &byte, 1));
    INVALID(windlass_queue_update(NULL, 0, NULL, 0, NULL, &byte, 1, range));
    INVALID(windlass_queue_copy(NULL, 0, NULL, 0, NULL, range, range));
    INVALID(windlass_queue_dispatch(NULL, 0, NULL, 0, NULL, NULL, &config, 0, NULL));
    INVALID(windlass_queue_execute(NULL, 0, NULL, 0, NULL, NULL, 0, NULL));
    INVALID(windlass_queue_download(NULL, 0, NULL, 0, NULL, range, &byte, 1));
    INVALID(windlass_queue_upload_blocking(NULL, 0, NULL, &byte, 1, range, 0));
    INVALID(windlass_queue_download_blocking(NULL, 0, NULL, range, &byte, 1, 0));
    INVALID(windlass_queue_host_call(NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL));
    INVALID(windlass_host_call_defer(NULL, &completion));
    INVALID(windlass_completion_complete(NULL, NULL));
    INVALID(windlass_recorder_create(NULL, 0, &recorder));
    INVALID(windlass_recorder_barrier(NULL));
    INVALID(windlass_recorder_fill(NULL, windlass_slot(0, 0, 4), &byte, 1));
    INVALID(windlass_recorder_update(NULL, &byte, 1, windlass_slot(0, 0, 1)));
    INVALID(windlass_recorder_copy(NULL, windlass_slot(0, 0, 1), windlass_slot(0, 0, 1)));
    INVALID(windlass_recorder_dispatch(NULL, NULL, &config, 0, NULL));
    INVALID(windlass_recorder_begin_debug_group(NULL, "group"));
    INVALID(windlass_recorder_end_debug_group(NULL));
    INVALID(windlass_recorder_finish(NULL, &commands));

    /* Functions that report no failure take NULL. */
    require(windlass_buffer_size(NULL) == 0 && windlass_buffer_device_address(NULL) == 0, "NULL has no bytes");
    require(windlass_executable_function_count(NULL) == 0 && windlass_device_list_count(NULL) == 0, "nothing in NULL");
    require(windlass_buffer_retain(NULL) == NULL && windlass_error_retain(NULL) == NULL, "NULL for NULL");
    require(windlass_error_code(NULL) == WINDLASS_CODE_OK, "NULL is success");
    windlass_device_release(NULL);
    windlass_queue_release(NULL);
    windlass_buffer_release(NULL);
    windlass_semaphore_release(NULL);
    windlass_timepoint_release(NULL);
    windlass_executable_release(NULL);
    windlass_function_release(NULL);
    windlass_recorder_release(NULL);
    windlass_command_buffer_release(NULL);
    windlass_completion_release(NULL);
    windlass_device_list_release(NULL);
    windlass_error_release(NULL);
}

static void released_handles(windlass_device_t *device, windlass_queue_t *queue) {
    windlass_semaphore_t *semaphore = NULL;
    check(windlass_semaphore_create(5, &semaphore));
    require(windlass_semaphore_retain(semaphore) == semaphore, "retain gives the handle back");
    windlass_semaphore_release(semaphore);
    uint64_t value = 0;
    check(windlass_semaphore_query(semaphore, &value));
    require(value == 5, "one reference is left");
    windlass_semaphore_release(semaphore);
    windlass_semaphore_release(semaphore);
    INVALID(windlass_semaphore_query(semaphore, &value));
    require(windlass_semaphore_retain(semaphore) == NULL, "what was released cannot be retained");
    const windlass_point_t stale = windlass_at(semaphore, 1);
    INVALID(windlass_wait_all(1, &stale, 0));
    INVALID(windlass_queue_barrier(queue, 1, &stale, 0, NULL));
    INVALID(windlass_queue_barrier(queue, 0, NULL, 1, &stale));

    windlass_buffer_t *buffer = NULL;
    check(windlass_buffer_allocate(device, NULL, 16, &buffer));
    windlass_buffer_release(buffer);
    windlass_buffer_release(buffer);
    const char byte = 1;
    INVALID(windlass_queue_fill(queue, 0, NULL, 0, NULL, windlass_whole(buffer), &byte, 1));
    require(windlass_buffer_size(buffer) == 0, "nothing is left of it");

    windlass_error_t *error = windlass_error_create(WINDLASS_CODE_ABORTED, "no more");
    windlass_error_release(error);
    windlass_error_release(error);
    require(windlass_error_code(error) == WINDLASS_CODE_INVALID_ARGUMENT, "a released error is no success");
    require(windlass_error_message(error) != NULL, "and has a text");
}

static void sizes_and_versions(windlass_device_t *device, windlass_queue_t *queue) {
    /* A struct smaller than the first version's cannot be; a newer header's may be larger, if it asks for nothing new. */
    struct {
        windlass_dispatch_config_t known;
        uint64_t newer;
    } config = {windlass_dispatch_config_sized(1, 1, 1, 1, 1, 1), 0};
    config.known.struct_size = 0;
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, NULL, &config.known, 0, NULL));
    config.known.struct_size = sizeof config.known - 1;
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, NULL, &config.known, 0, NULL));
    config.known.struct_size = SIZE_MAX;
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, NULL, &config.known, 0, NULL));
    config.known.struct_size = sizeof config;
    config.newer = 1;
    REFUSED(UNIMPLEMENTED, windlass_queue_dispatch(queue, 0, NULL, 0, NULL, NULL, &config.known, 0, NULL));

    struct {
        windlass_device_limits_t known;
        uint64_t newer;
    } limits = {windlass_device_limits_init(), 77};
    limits.known.struct_size = sizeof limits;
    check(windlass_device_limits(device, &limits.known));
    require(limits.known.queues >= 1 && limits.known.wave_size == 64, "limits are filled");
    require(limits.newer == 0 && limits.known.struct_size == sizeof limits, "what the library does not know is zero");
    limits.known.struct_size = 3;
    INVALID(windlass_device_limits(device, &limits.known));
    INVALID(windlass_device_limits(device, NULL));

    windlass_buffer_t *buffer = NULL, *part = NULL;
    windlass_buffer_params_t params = windlass_buffer_params_device();
    params.min_alignment = 3;
    INVALID(windlass_buffer_allocate(device, &params, 16, &buffer));
    params = windlass_buffer_params_device();
    params.memory_type = 0xffffffff;
    INVALID(windlass_buffer_allocate(device, &params, 16, &buffer));
    params = windlass_buffer_params_device();
    params.usage |= 1u << 30;
    INVALID(windlass_buffer_allocate(device, &params, 16, &buffer));
    REFUSED(RESOURCE_EXHAUSTED, windlass_buffer_allocate(device, NULL, UINT64_MAX, &buffer));
    check(windlass_buffer_allocate(device, NULL, 16, &buffer));
    REFUSED(OUT_OF_RANGE, windlass_buffer_subspan(buffer, 9, 8, &part));
    REFUSED(OUT_OF_RANGE, windlass_buffer_subspan(buffer, UINT64_MAX, 8, &part));

    char bytes[64] = {0};
    uint32_t word = 7;
    const windlass_buffer_ref_t whole = windlass_whole(buffer);
    windlass_buffer_ref_t odd = whole;
    odd.kind = 99;
    windlass_buffer_ref_t nothing;
    memset(&nothing, 0, sizeof nothing);
    REFUSED(OUT_OF_RANGE, windlass_queue_fill(queue, 0, NULL, 0, NULL, windlass_range(buffer, 16, 4), &word, 4));
    REFUSED(OUT_OF_RANGE, windlass_queue_fill(queue, 0, NULL, 0, NULL, windlass_range(buffer, 17, WINDLASS_WHOLE_BUFFER), &word, 4));
    INVALID(windlass_queue_fill(queue, 0, NULL, 0, NULL, windlass_range(buffer, 2, 4), &word, 4));
    INVALID(windlass_queue_fill(queue, 0, NULL, 0, NULL, whole, &word, 3));
    INVALID(windlass_queue_fill(queue, 0, NULL, 0, NULL, whole, NULL, 4));
    INVALID(windlass_queue_fill(queue, 0, NULL, 0, NULL, odd, &word, 4));
    INVALID(windlass_queue_fill(queue, 0, NULL, 0, NULL, nothing, &word, 4));
    INVALID(windlass_queue_fill(queue, 0, NULL, 0, NULL, windlass_slot(0, 0, 4), &word, 4));
    INVALID(windlass_queue_update(queue, 0, NULL, 0, NULL, bytes, 15, whole));
    INVALID(windlass_queue_update(queue, 0, NULL, 0, NULL, NULL, 16, whole));
    INVALID(windlass_queue_update(queue, 0, NULL, 0, NULL, bytes, SIZE_MAX, whole));
    INVALID(windlass_queue_copy(queue, 0, NULL, 0, NULL, windlass_range(buffer, 0, 8), windlass_range(buffer, 4, 8)));
    INVALID(windlass_queue_download(queue, 0, NULL, 0, NULL, whole, bytes, sizeof bytes));
    INVALID(windlass_queue_download(queue, 0, NULL, 0, NULL, whole, NULL, 16));
    INVALID(windlass_queue_download_blocking(queue, 0, NULL, whole, bytes, 15, 0));
    INVALID(windlass_queue_barrier(queue, 1, NULL, 0, NULL));
    INVALID(windlass_queue_barrier(queue, SIZE_MAX, (const windlass_point_t *)bytes, 0, NULL));
    INVALID(windlass_wait_all(1, (const windlass_point_t *)(const void *)(bytes + 1), 0));
    REFUSED(FAILED_PRECONDITION, windlass_buffer_read(buffer, 0, bytes, 16));
    windlass_queue_t *none = NULL;
    REFUSED(OUT_OF_RANGE, windlass_device_queue(device, 64, &none));

    windlass_recorder_t *recorder = NULL;
    windlass_command_buffer_t *commands = NULL;
    check(windlass_recorder_create(device, 1, &recorder));
    REFUSED(OUT_OF_RANGE, windlass_recorder_fill(recorder, windlass_slot(1, 0, 4), &word, 4));
    INVALID(windlass_recorder_fill(recorder, windlass_slot(0, 0, WINDLASS_WHOLE_BUFFER), &word, 4));
    REFUSED(FAILED_PRECONDITION, windlass_recorder_end_debug_group(recorder));
    check(windlass_recorder_finish(recorder, &commands));
    REFUSED(FAILED_PRECONDITION, windlass_recorder_barrier(recorder));
    windlass_command_buffer_release(commands);
    REFUSED(FAILED_PRECONDITION, windlass_recorder_finish(recorder, &commands));
    require(commands == NULL, "a handle is NULL after a failure");
    windlass_recorder_release(recorder);
    windlass_buffer_release(buffer);
}

static void wrong_arguments(windlass_device_t *device, windlass_queue_t *queue, const char *path) {
    windlass_executable_t *executable = NULL;
    windlass_function_t *function = NULL;
    size_t size = 0;
    void *code = read_file(path, &size);
    INVALID(windlass_executable_load(device, NULL, size, &executable));
    windlass_error_t *error = windlass_executable_load(device, "this is no code", 15, &executable);
    require(error != NULL && executable == NULL, "text is no code");
    windlass_error_release(error);
    const void *pieces[] = {code, NULL};
    size_t sizes[] = {size, size};
    INVALID(windlass_executable_load_linked(NULL, 1, pieces, sizes, &executable));
    INVALID(windlass_executable_load_linked(device, 2, NULL, sizes, &executable));
    INVALID(windlass_executable_load_linked(device, 2, pieces, NULL, &executable));
    INVALID(windlass_executable_load_linked(device, 2, pieces, sizes, &executable));
    INVALID(windlass_executable_load_linked(device, 0, pieces, sizes, &executable));
    pieces[1] = code;
    sizes[1] = 100;
    INVALID(windlass_executable_load_linked(device, 2, pieces, sizes, &executable));
    sizes[1] = size;
    check(windlass_executable_load_linked(device, 2, pieces, sizes, &executable));
    check(windlass_executable_function(executable, "vector_add", &function));
    windlass_function_release(function);
    windlass_executable_release(executable);
    check(windlass_executable_load(device, code, size, &executable));
    free(code);
    REFUSED(NOT_FOUND, windlass_executable_function(executable, "subtract", &function));
    INVALID(windlass_executable_function(executable, "\xff\xfe", &function));
    REFUSED(OUT_OF_RANGE, windlass_executable_function_at(executable, 1000, &function));
    check(windlass_executable_function(executable, "vector_add", &function));

    windlass_function_info_t info = windlass_function_info_init();
    windlass_parameter_t parameter = windlass_parameter_init();
    check(windlass_function_info(function, &info));
    require(info.parameter_count == 4 && strcmp(info.name, "vector_add") == 0, "the function is reflected");
    check(windlass_function_parameter(function, 2, &parameter));
    require(parameter.kind == WINDLASS_PARAMETER_BUFFER && parameter.offset == 16 && parameter.size == 8, "a buffer");
    check(windlass_function_parameter(function, 3, &parameter));
    require(parameter.kind == WINDLASS_PARAMETER_VALUE && parameter.offset == 24 && parameter.size == 4, "a value");
    REFUSED(OUT_OF_RANGE, windlass_function_parameter(function, 4, &parameter));

    windlass_buffer_t *buffer = NULL;
    check(windlass_buffer_allocate(device, NULL, 16, &buffer));
    windlass_dispatch_config_t config = windlass_dispatch_config_sized(1, 1, 1, 4, 1, 1);
    windlass_argument_t good[4] = {windlass_arg_buffer(buffer), windlass_arg_buffer(buffer),
                                   windlass_arg_range(windlass_range(buffer, 0, 16)), windlass_arg_i32(4)};
    windlass_argument_t bad[4];
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, function, NULL, 4, good));
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, function, &config, 3, good));
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, function, &config, 4, NULL));
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, NULL, &config, 4, good));
    config.flags = 0x80000000u;
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, function, &config, 4, good));
    config.flags = 0;
    const windlass_argument_t wrong[] = {windlass_arg_i64(4),        windlass_arg_buffer(buffer),
                                         windlass_arg_null(),        windlass_arg_bytes(NULL, 4),
                                         windlass_arg_bytes("", 1),  windlass_arg_range(windlass_slot(0, 0, 4)),
                                         windlass_arg_buffer(NULL)};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        memcpy(bad, good, sizeof good);
        bad[3] = wrong[i];
        INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, function, &config, 4, bad));
    }
    memcpy(bad, good, sizeof good);
    bad[3].value_size = 9;
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, function, &config, 4, bad));
    bad[3].kind = 0;
    INVALID(windlass_queue_dispatch(queue, 0, NULL, 0, NULL, function, &config, 4, bad));

    windlass_buffer_release(buffer);
    windlass_function_release(function);
    windlass_executable_release(executable);
}

/* Counts how often it is called. */
static void count(void *user_data, windlass_error_t *error) {
    require(windlass_error_code(error) == WINDLASS_CODE_INVALID_ARGUMENT, "user data hears of the refusal");
    ++*(int *)user_data;
}

static void signal_code(void *user_data, windlass_error_t *error) {
    check(windlass_semaphore_signal((windlass_semaphore_t *)user_data, 1 + windlass_error_code(error)));
}

typedef struct deferred_t {
    windlass_semaphore_t *ready;
    windlass_completion_t *completion;
} deferred_t;

static windlass_error_t *defer(void *user_data, windlass_host_call_t *call) {
    deferred_t *deferred = (deferred_t *)user_data;
    windlass_completion_t *second = NULL;
    check(windlass_host_call_defer(call, &deferred->completion));
    REFUSED(FAILED_PRECONDITION, windlass_host_call_defer(call, &second));
    check(windlass_semaphore_signal(deferred->ready, 1));
    return NULL;
}

static void callbacks(windlass_queue_t *queue) {
    windlass_semaphore_t *semaphore = NULL, *heard = NULL;
    windlass_timepoint_t *timepoint = NULL;
    check(windlass_semaphore_create(0, &semaphore));
    check(windlass_semaphore_create(0, &heard));
    INVALID(windlass_semaphore_add_timepoint(semaphore, 1, NULL, NULL, NULL));

    /* Cancelled, and once only. */
    check(windlass_semaphore_add_timepoint(semaphore, 1, signal_code, heard, &timepoint));
    check(windlass_timepoint_cancel(timepoint));
    check(windlass_timepoint_cancel(timepoint));
    check(windlass_semaphore_wait(heard, 1 + WINDLASS_CODE_CANCELLED, WINDLASS_TIMEOUT_INFINITE));
    windlass_timepoint_release(timepoint);
    windlass_semaphore_release(heard);

    /* Reached before it was asked for. */
    check(windlass_semaphore_create(0, &heard));
    check(windlass_semaphore_signal(semaphore, 1));
    check(windlass_semaphore_add_timepoint(semaphore, 1, signal_code, heard, NULL));
    check(windlass_semaphore_wait(heard, 1, WINDLASS_TIMEOUT_INFINITE));

    /* User data ends with a call that is refused, and with one that a failed wait forbids. */
    int destroyed = 0;
    INVALID(windlass_queue_host_call(queue, 0, NULL, 0, NULL, 0, NULL, &destroyed, count));
    INVALID(windlass_queue_host_call(queue, 0, NULL, 0, NULL, 0x100, defer, &destroyed, count));
    require(destroyed == 2, "user data ends with a refusal");

    /* A deferred call is complete when its completion is. */
    deferred_t deferred = {heard, NULL};
    const windlass_point_t second = windlass_at(semaphore, 2);
    windlass_semaphore_release(heard);
    check(windlass_semaphore_create(0, &heard));
    deferred.ready = heard;
    check(windlass_queue_host_call(queue, 0, NULL, 1, &second, 0, defer, &deferred, NULL));
    check(windlass_semaphore_wait(heard, 1, WINDLASS_TIMEOUT_INFINITE));
    REFUSED(DEADLINE_EXCEEDED, windlass_semaphore_wait(semaphore, 2, 0));
    check(windlass_completion_complete(deferred.completion, NULL));
    check(windlass_semaphore_wait(semaphore, 2, 0));
    REFUSED(FAILED_PRECONDITION, windlass_completion_complete(deferred.completion, NULL));
    windlass_completion_release(deferred.completion);

    /* A completion that is released without being completed fails the list. */
    const windlass_point_t third = windlass_at(semaphore, 3);
    windlass_semaphore_release(heard);
    check(windlass_semaphore_create(0, &heard));
    deferred.ready = heard;
    check(windlass_queue_host_call(queue, 0, NULL, 1, &third, 0, defer, &deferred, NULL));
    check(windlass_semaphore_wait(heard, 1, WINDLASS_TIMEOUT_INFINITE));
    windlass_completion_release(deferred.completion);
    REFUSED(ABORTED, windlass_semaphore_wait(semaphore, 3, WINDLASS_TIMEOUT_INFINITE));
    uint64_t value = 0;
    REFUSED(ABORTED, windlass_semaphore_query(semaphore, &value));
    check(windlass_semaphore_signal(semaphore, 4));
    REFUSED(ABORTED, windlass_semaphore_wait(semaphore, 4, WINDLASS_TIMEOUT_INFINITE));
    windlass_semaphore_release(semaphore);
    windlass_semaphore_release(heard);
}

static void waits(void) {
    windlass_semaphore_t *one = NULL, *two = NULL;
    check(windlass_semaphore_create(1, &one));
    check(windlass_semaphore_create(1, &two));
    const windlass_point_t points[] = {windlass_at(one, 2), windlass_at(two, 1)};
    size_t index = 9;
    check(windlass_wait_any(2, points, 0, &index));
    require(index == 1, "the second point is reached");
    REFUSED(DEADLINE_EXCEEDED, windlass_wait_all(2, points, 1000));
    REFUSED(OUT_OF_RANGE, windlass_semaphore_signal(one, UINT64_MAX));
    check(windlass_semaphore_signal(one, WINDLASS_SEMAPHORE_MAX_VALUE));
    check(windlass_wait_all(2, points, 0));
    check(windlass_semaphore_fail(two, 4242, NULL));
    REFUSED(UNKNOWN, windlass_semaphore_wait(two, 2, WINDLASS_TIMEOUT_INFINITE));
    windlass_semaphore_release(one);
    windlass_semaphore_release(two);
}

int main(int argc, char **argv) {
    require(argc > 1, "the path of vector_add.ccob");
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    null_handles();
    REFUSED(NOT_FOUND, windlass_device_open("nowhere://", &device));
    check(windlass_device_open(argc > 2 ? argv[2] : "hip-sim://gfx942", &device));
    check(windlass_device_queue(device, 0, &queue));
    released_handles(device, queue);
    sizes_and_versions(device, queue);
    wrong_arguments(device, queue, argv[1]);
    callbacks(queue);
    waits();
    check(windlass_device_drain(device, WINDLASS_TIMEOUT_INFINITE));
    windlass_queue_release(queue);
    windlass_device_release(device);
    printf("every misuse was refused\n");
    return EXIT_SUCCESS;
}
