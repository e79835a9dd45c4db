/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Drivers and wrappers of the program: what the library refuses to register, and how an operation goes through them.
 *
 *     extend [URI]
 */
#include "refused.h"

/* A table with the required functions, in host memory. */

static windlass_error_t *open_device(void *user_data, windlass_uri_t *uri, windlass_answer_t *answer, void **device) {
    (void)user_data;
    const char *name = windlass_uri_parameter(uri, "name");
    HOLDS(windlass_uri_parameter(uri, "absent") == NULL && windlass_uri_parameter(uri, NULL) == NULL);
    windlass_device_info_t info = windlass_device_info_init();
    INVALID(windlass_answer_device(answer, &info)); /* no name */
    info.name = name ? name : "A device of the program";
    const windlass_lack_t lack = {4711, 0, "nobody knows it"};
    info.lack_count = 1;
    info.lacks = &lack;
    INVALID(windlass_answer_device(answer, &info));
    info.lack_count = 0;
    windlass_device_limits_t limits = windlass_device_limits_init();
    limits.allocation_alignment = 3;
    INVALID(windlass_answer_limits(answer, &limits));
    limits.allocation_alignment = 64;
    limits.queues = 65;
    REFUSED(OUT_OF_RANGE, windlass_answer_limits(answer, &limits));
    limits.queues = 2;
    check(windlass_answer_limits(answer, &limits));
    windlass_global_info_t global = windlass_global_info_init();
    global.name = "variable";
    REFUSED(FAILED_PRECONDITION, windlass_answer_global(answer, &global));
    *device = device;
    return windlass_answer_device(answer, &info);
}

static windlass_error_t *allocate(void *device, windlass_memory_type_t type, uint64_t size, uint64_t alignment,
                                  windlass_driver_memory_t *memory) {
    (void)device, (void)type;
    HOLDS(memory->memory == NULL && memory->device_address == 0);
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

static int closed_devices;

static void close_device(void *device) {
    (void)device;
    closed_devices++;
}

static int parameters_seen;

static windlass_error_t *load(void *device, const void *code, size_t size, windlass_answer_t *answer, void **executable) {
    (void)device, (void)code, (void)size;
    *executable = NULL;
    windlass_function_info_t info = windlass_function_info_init();
    info.name = "work";
    info.argument_size = 16;
    windlass_parameter_t parameters[2] = {windlass_parameter_init(), windlass_parameter_init()};
    parameters[0].kind = parameters[1].kind = WINDLASS_PARAMETER_BUFFER;
    parameters[0].size = parameters[1].size = 8;
    INVALID(windlass_answer_function(answer, &info, 2, NULL));
    INVALID(windlass_answer_function(answer, &info, 2, parameters)); /* both at 0 */
    parameters[1].offset = 12;
    INVALID(windlass_answer_function(answer, &info, 2, parameters)); /* beyond the block */
    parameters[1].offset = 8;
    parameters[1].size = 4;
    INVALID(windlass_answer_function(answer, &info, 2, parameters)); /* no address */
    parameters[1].kind = WINDLASS_PARAMETER_VALUE;
    check(windlass_answer_function(answer, &info, 2, parameters));
    INVALID(windlass_answer_function(answer, &info, 2, parameters)); /* twice */
    parameters_seen = 2;
    return NULL;
}

static void unload(void *device, void *executable) {
    (void)device, (void)executable;
}

/* The last operation of the driver, which the test completes. */
static windlass_operation_t *held;

static windlass_error_t *submit_held(void *device, windlass_operation_t *operation) {
    (void)device;
    windlass_operation_info_t info = windlass_operation_info_init();
    check(windlass_operation_info(operation, &info));
    HOLDS(info.wait_count == 0 && info.signal_count == 0);
    REFUSED(FAILED_PRECONDITION, windlass_operation_forward(operation));
    if (info.kind == WINDLASS_OPERATION_DISPATCH) {
        HOLDS(strcmp(info.function_name, "work") == 0 && info.byte_count == 16 && info.workgroup_count[0] == 3);
        uint64_t address = 0;
        memcpy(&address, info.bytes, sizeof address);
        HOLDS(info.buffer_count == 1 && address == info.buffers[0].device_address && info.buffers[0].memory != NULL);
        REFUSED(UNIMPLEMENTED, windlass_operation_transfer_on_host(operation));
        return windlass_error_create(WINDLASS_CODE_ABORTED, "this driver works on no day");
    }
    held = windlass_operation_retain(operation);
    return NULL;
}

static windlass_driver_t table(void) {
    windlass_driver_t driver = windlass_driver_init();
    driver.open = open_device;
    driver.close = close_device;
    driver.allocate = allocate;
    driver.free = free_memory;
    return driver;
}

static void mistakes_of_tables(void) {
    windlass_driver_t driver = windlass_driver_init();
    INVALID(windlass_driver_register(NULL, NULL));
    INVALID(windlass_driver_register(&driver, NULL));
    windlass_error_t *error = windlass_driver_register(&driver, NULL);
    HOLDS(strstr(windlass_error_message(error), "`open`") && strstr(windlass_error_message(error), "`allocate`") &&
          strstr(windlass_error_message(error), "`free`"));
    windlass_error_release(error);
    driver = table();
    INVALID(windlass_driver_register(&driver, NULL)); /* no scheme */
    const char *const wrong[] = {"", "a b", "a:", "\xff"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        driver.scheme = wrong[i];
        INVALID(windlass_driver_register(&driver, NULL));
    }
    driver.scheme = "hip";
    REFUSED(ALREADY_EXISTS, windlass_driver_register(&driver, NULL));
    driver.scheme = "mine";
    driver.load = load;
    error = windlass_driver_register(&driver, NULL);
    HOLDS(strstr(windlass_error_message(error), "`unload` (`load` needs it), `submit` (`load` needs it)"));
    windlass_error_release(error);
    driver.struct_size = 8;
    INVALID(windlass_driver_register(&driver, NULL));

    windlass_wrapper_t wrapper = windlass_wrapper_init();
    INVALID(windlass_wrapper_register("mine", NULL, &wrapper, NULL));
    INVALID(windlass_wrapper_register("mine", NULL, NULL, NULL));
    INVALID(windlass_wrapper_register(NULL, NULL, &wrapper, NULL));
}

static void a_driver_of_the_program(void) {
    windlass_driver_t driver = table();
    driver.scheme = "mine";
    driver.load = load;
    driver.unload = unload;
    driver.submit = submit_held;
    check(windlass_driver_register(&driver, NULL));
    REFUSED(ALREADY_EXISTS, windlass_driver_register(&driver, NULL));
    bool listed = false;
    for (size_t i = 0; windlass_driver_scheme(i); i++) listed = listed || strcmp(windlass_driver_scheme(i), "mine") == 0;
    HOLDS(listed);
    windlass_device_list_t *list = NULL;
    check(windlass_driver_devices("mine", &list));
    HOLDS(windlass_device_list_count(list) == 0);
    windlass_device_list_release(list);

    windlass_device_t *device = NULL;
    windlass_error_t *error = windlass_device_open("mine://?colour=red", &device);
    HOLDS(windlass_error_code(error) == WINDLASS_CODE_INVALID_ARGUMENT);
    HOLDS(strstr(windlass_error_message(error), "unknown key `colour`") && closed_devices == 1);
    windlass_error_release(error);
    const char *const keys[] = {"name"}, *const values[] = {"a&b=c?d%20"};
    check(windlass_device_open_with_parameters("mine://", 1, keys, values, &device));
    windlass_device_info_t info = windlass_device_info_init();
    check(windlass_device_info(device, &info));
    HOLDS(strcmp(info.name, "a&b=c?d%20") == 0);
    /* The library knows what a driver without functions lacks. */
    bool lacks_import = false, lacks_dispatch = false;
    for (size_t i = 0; i < info.lack_count; i++) {
        lacks_import = lacks_import || info.lacks[i].feature == WINDLASS_FEATURE_IMPORT_HOST;
        lacks_dispatch = lacks_dispatch || info.lacks[i].feature == WINDLASS_FEATURE_DISPATCH;
    }
    HOLDS(lacks_import && !lacks_dispatch);

    windlass_queue_t *queue = NULL;
    windlass_buffer_t *buffer = NULL;
    windlass_semaphore_t *timeline = NULL;
    check(windlass_device_queue(device, 1, &queue));
    check(windlass_buffer_allocate(device, NULL, 64, &buffer));
    check(windlass_semaphore_create(0, &timeline));
    const windlass_point_t first = windlass_at(timeline, 1), second = windlass_at(timeline, 2), third = windlass_at(timeline, 3);
    const char byte = 7;
    check(windlass_queue_fill(queue, 1, &first, 1, &second, windlass_whole(buffer), &byte, 1));
    HOLDS(held == NULL); /* its wait is not reached */
    check(windlass_semaphore_signal(timeline, 1));
    HOLDS(held != NULL);
    REFUSED(DEADLINE_EXCEEDED, windlass_device_drain(device, 0));
    REFUSED(DEADLINE_EXCEEDED, windlass_semaphore_wait(timeline, 2, 0));
    windlass_operation_info_t operation = windlass_operation_info_init();
    check(windlass_operation_info(held, &operation));
    HOLDS(operation.kind == WINDLASS_OPERATION_FILL && operation.byte_count == 1 && operation.queue_affinity == 2);
    HOLDS(operation.target.length == 64 && operation.target.memory != NULL && operation.target.host_pointer != NULL);
    windlass_buffer_t *target = NULL, *source = NULL;
    check(windlass_operation_target(held, &target));
    HOLDS(windlass_buffer_device_address(target) == operation.target.device_address);
    windlass_buffer_release(target);
    REFUSED(NOT_FOUND, windlass_operation_source(held, &source));
    REFUSED(OUT_OF_RANGE, windlass_operation_buffer(held, 0, &source));
    check(windlass_operation_transfer_on_host(held));
    HOLDS(((const char *)operation.target.host_pointer)[63] == 7);
    check(windlass_operation_complete(held, NULL));
    REFUSED(FAILED_PRECONDITION, windlass_operation_complete(held, NULL));
    REFUSED(FAILED_PRECONDITION, windlass_operation_info(held, &operation));
    windlass_operation_release(held);
    check(windlass_semaphore_wait(timeline, 2, 0));
    check(windlass_device_drain(device, 0));

    /* The error of `submit` fails the dispatch, and not the submission. */
    windlass_executable_t *executable = NULL;
    windlass_function_t *function = NULL;
    check(windlass_executable_load(device, "code", 4, &executable));
    HOLDS(parameters_seen == 2);
    check(windlass_executable_function(executable, "work", &function));
    const windlass_dispatch_config_t grid = windlass_dispatch_config_sized(3, 1, 1, 1, 1, 1);
    const windlass_argument_t arguments[] = {windlass_arg_buffer(buffer), windlass_arg_i32(4)};
    check(windlass_queue_dispatch(queue, 1, &second, 1, &third, function, &grid, 2, arguments));
    REFUSED(ABORTED, windlass_semaphore_wait(timeline, 3, WINDLASS_TIMEOUT_INFINITE));
    windlass_function_release(function);
    windlass_executable_release(executable);
    windlass_semaphore_release(timeline);
    windlass_buffer_release(buffer);
    windlass_queue_release(queue);
    windlass_device_release(device);
    HOLDS(closed_devices == 2);
}

/* A wrapper whose behaviour the test sets. */
typedef enum { FORWARD, REFUSE, KEEP, FORGET, FORWARD_TWICE, FORWARD_AND_REFUSE, COMPLETE } answer_t;

typedef struct wrapper_t {
    answer_t mode;
    windlass_operation_t *kept;
    size_t operations, commands;
    int closed;
} wrapper_t;

static windlass_error_t *count_command(void *user_data, const windlass_operation_info_t *command) {
    wrapper_t *wrapper = (wrapper_t *)user_data;
    wrapper->commands++;
    HOLDS(strncmp(command->name, "command_", 8) == 0);
    /* A barrier is behind all commands before it. */
    HOLDS(command->predecessor_count == (command->kind == WINDLASS_OPERATION_BARRIER ? 1u : 0u));
    if (command->kind == WINDLASS_OPERATION_BARRIER)
        return windlass_error_create(WINDLASS_CODE_CANCELLED, "enough");
    HOLDS(command->kind == WINDLASS_OPERATION_FILL && command->target.length == 16);
    return NULL;
}

static windlass_error_t *submit_wrapped(void *user_data, windlass_operation_t *operation) {
    wrapper_t *wrapper = (wrapper_t *)user_data;
    wrapper->operations++;
    windlass_operation_info_t info = windlass_operation_info_init();
    check(windlass_operation_info(operation, &info));
    if (info.kind == WINDLASS_OPERATION_EXECUTE) {
        HOLDS(info.command_count == 3 && info.buffer_count == 1);
        REFUSED(CANCELLED, windlass_operation_commands(operation, count_command, wrapper));
        INVALID(windlass_operation_commands(operation, NULL, NULL));
    }
    for (size_t i = 0; i < info.wait_count; i++) {
        windlass_semaphore_t *semaphore = NULL;
        uint64_t value = 0;
        check(windlass_operation_wait(operation, i, &semaphore, &value));
        HOLDS(windlass_semaphore_id(semaphore) == info.waits[i].semaphore && value == info.waits[i].value);
        windlass_semaphore_release(semaphore);
    }
    windlass_semaphore_t *none = NULL;
    REFUSED(OUT_OF_RANGE, windlass_operation_wait(operation, info.wait_count, &none, NULL));
    REFUSED(OUT_OF_RANGE, windlass_operation_signal(operation, info.signal_count, &none, NULL));
    windlass_error_t *failure = NULL, *error = NULL;
    switch (wrapper->mode) {
        case FORWARD: return windlass_operation_forward(operation);
        case REFUSE: return windlass_error_create(WINDLASS_CODE_PERMISSION_DENIED, "not today");
        case KEEP: wrapper->kept = windlass_operation_retain(operation); return NULL;
        case FORGET: return NULL;
        case FORWARD_TWICE:
            check(windlass_operation_forward(operation));
            REFUSED(FAILED_PRECONDITION, windlass_operation_forward(operation));
            REFUSED(FAILED_PRECONDITION, windlass_operation_complete(operation, NULL));
            return NULL;
        case FORWARD_AND_REFUSE:
            check(windlass_operation_forward(operation));
            return windlass_error_create(WINDLASS_CODE_PERMISSION_DENIED, "too late");
        case COMPLETE:
            failure = windlass_error_create(WINDLASS_CODE_DATA_LOSS, "an injected fault");
            error = windlass_operation_complete(operation, failure);
            windlass_error_release(failure);
            return error;
    }
    return NULL;
}

static void close_wrapper(void *user_data) {
    ((wrapper_t *)user_data)->closed++;
}

/* Work of one byte for a wrapper. A wait of 0 is none. */
typedef struct work_t {
    windlass_queue_t *queue;
    windlass_semaphore_t *timeline;
    windlass_buffer_t *buffer;
} work_t;

static windlass_error_t *fill(const work_t *work, uint64_t wait, uint64_t signal) {
    const windlass_point_t waits = windlass_at(work->timeline, wait), signals = windlass_at(work->timeline, signal);
    const char byte = 7;
    return windlass_queue_fill(work->queue, wait != 0, &waits, 1, &signals, windlass_whole(work->buffer), &byte, 1);
}

static void a_wrapper_of_the_program(const char *uri) {
    wrapper_t own = {FORWARD, NULL, 0, 0, 0};
    windlass_wrapper_t wrapper = windlass_wrapper_init();
    wrapper.submit = submit_wrapped;
    wrapper.close = close_wrapper;
    windlass_device_t *plain = NULL, *device = NULL;
    windlass_queue_t *queue = NULL;
    windlass_buffer_t *buffer = NULL;
    windlass_semaphore_t *timeline = NULL;
    check(windlass_device_open(uri, &plain));
    INVALID(windlass_device_wrap(NULL, &wrapper, &own, &device));
    INVALID(windlass_device_wrap(plain, NULL, &own, &device));
    INVALID(windlass_device_wrap(plain, &wrapper, &own, NULL));
    HOLDS(own.closed == 0);
    check(windlass_device_wrap(plain, &wrapper, &own, &device));
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_buffer_allocate(plain, NULL, 16, &buffer)); /* both devices share memory */
    check(windlass_semaphore_create(0, &timeline));
    HOLDS(windlass_semaphore_id(timeline) != 0 && windlass_semaphore_id(NULL) == 0);
    const char byte = 7;
    uint64_t value = 0, payload = 0;
    work_t work = {queue, timeline, buffer};
    check(fill(&work, 0, ++value));
    check(windlass_semaphore_wait(timeline, value, WINDLASS_TIMEOUT_INFINITE));

    own.mode = REFUSE; /* the program hears the error, and no signal follows */
    REFUSED(PERMISSION_DENIED, fill(&work, value, value + 1));
    check(windlass_semaphore_query(timeline, &payload));
    HOLDS(payload == value);

    own.mode = FORWARD_TWICE;
    check(fill(&work, value, value + 1));
    own.mode = FORWARD_AND_REFUSE; /* it was accepted, and goes on */
    check(fill(&work, value + 1, value + 2));
    check(windlass_semaphore_wait(timeline, value += 2, WINDLASS_TIMEOUT_INFINITE));

    own.mode = KEEP;
    check(fill(&work, value, value + 1));
    REFUSED(DEADLINE_EXCEEDED, windlass_semaphore_wait(timeline, value + 1, 0));
    check(windlass_operation_forward(own.kept));
    windlass_operation_release(own.kept);
    check(windlass_semaphore_wait(timeline, ++value, WINDLASS_TIMEOUT_INFINITE));

    /* A command buffer, whose commands a visitor sees with the bindings in the place of slots. */
    own.mode = FORWARD;
    windlass_recorder_t *recorder = NULL;
    windlass_command_buffer_t *commands = NULL;
    check(windlass_recorder_create(device, 1, &recorder));
    check(windlass_recorder_fill(recorder, windlass_slot(0, 0, 16), &byte, 1));
    check(windlass_recorder_barrier(recorder));
    check(windlass_recorder_fill(recorder, windlass_slot(0, 0, 16), &byte, 1));
    check(windlass_recorder_finish(recorder, &commands));
    windlass_recorder_release(recorder);
    const windlass_buffer_ref_t binding = windlass_whole(buffer);
    const windlass_point_t replayed = windlass_at(timeline, ++value);
    check(windlass_queue_execute(queue, 0, NULL, 1, &replayed, commands, 1, &binding));
    check(windlass_semaphore_wait(timeline, value, WINDLASS_TIMEOUT_INFINITE));
    HOLDS(own.commands == 2);
    windlass_command_buffer_release(commands);

    own.mode = COMPLETE;
    check(fill(&work, 0, value + 1));
    REFUSED(DATA_LOSS, windlass_semaphore_wait(timeline, value + 1, 0));
    windlass_semaphore_release(timeline);
    check(windlass_semaphore_create(0, &work.timeline));
    timeline = work.timeline;
    own.mode = FORGET;
    check(fill(&work, 0, 1));
    REFUSED(ABORTED, windlass_semaphore_wait(timeline, 1, 0));
    windlass_semaphore_release(timeline);

    /* A wrapper that goes leaves the wrapped device open. */
    windlass_device_t *second = NULL;
    windlass_queue_t *its = NULL;
    wrapper_t other = {FORWARD, NULL, 0, 0, 0};
    check(windlass_device_wrap(plain, &wrapper, &other, &second));
    check(windlass_device_queue(second, 0, &its));
    check(windlass_device_close(second));
    REFUSED(CANCELLED, windlass_queue_barrier(its, 0, NULL, 0, NULL));
    windlass_queue_release(its);
    windlass_device_release(second);
    HOLDS(other.closed == 1 && other.operations == 0);
    check(windlass_device_queue(plain, 0, &its));
    check(windlass_queue_barrier(its, 0, NULL, 0, NULL));
    windlass_queue_release(its);

    /* A refusal of the wrapped device behind an accepted submission fails the signals. */
    check(windlass_semaphore_create(0, &work.timeline));
    timeline = work.timeline;
    own.mode = KEEP;
    check(fill(&work, 0, 1));
    check(windlass_device_close(plain));
    REFUSED(CANCELLED, windlass_operation_forward(own.kept));
    windlass_operation_release(own.kept);
    REFUSED(CANCELLED, windlass_semaphore_wait(timeline, 1, 0));
    HOLDS(own.operations == 9);
    windlass_semaphore_release(timeline);
    windlass_buffer_release(buffer);
    windlass_queue_release(queue);
    HOLDS(own.closed == 0);
    windlass_device_release(device);
    HOLDS(own.closed == 1);
    windlass_device_release(plain);

    check(windlass_wrapper_register("around", NULL, &wrapper, &own));
    REFUSED(ALREADY_EXISTS, windlass_wrapper_register("around", NULL, &wrapper, &own));
    INVALID(windlass_device_open("around://", &device));
    INVALID(windlass_device_open("around://?key=1&over=null://", &device));
    REFUSED(NOT_FOUND, windlass_device_open("around://?over=nowhere://", &device));
    check(windlass_device_open("around://?over=null://", &device));
    windlass_device_info_t info = windlass_device_info_init();
    check(windlass_device_info(device, &info));
    HOLDS(strcmp(info.uri, "around://?over=null://") == 0);
    windlass_device_release(device);
}

static void uris_in_parts(void) {
    windlass_device_t *device = NULL;
    const char *keys[] = {"memory", "over"}, *values[] = {"1048576", "null://"};
    check(windlass_device_open_with_parameters("null://", 1, keys, values, &device));
    windlass_device_limits_t limits = windlass_device_limits_init();
    check(windlass_device_limits(device, &limits));
    HOLDS(limits.total_memory == 1048576);
    windlass_device_release(device);
    check(windlass_device_open_with_parameters("null://?memory=4096", 0, NULL, NULL, &device));
    windlass_device_release(device);
    INVALID(windlass_device_open_with_parameters("null://?memory=4096", 1, keys, values, &device));
    INVALID(windlass_device_open_with_parameters("null://", 2, keys, values, &device)); /* it knows no `over` */
    INVALID(windlass_device_open_with_parameters("null://", 1, NULL, values, &device));
    INVALID(windlass_device_open_with_parameters("null://", 1, keys, NULL, &device));
    keys[0] = "a=b";
    INVALID(windlass_device_open_with_parameters("null://", 1, keys, values, &device));
    values[0] = NULL;
    INVALID(windlass_device_open_with_parameters("null://", 1, keys, values, &device));
    INVALID(windlass_device_open_with_parameters(NULL, 0, NULL, NULL, &device));
    INVALID(windlass_device_open_with_parameters("null://", 0, NULL, NULL, NULL));
    HOLDS(windlass_uri_text(NULL) == NULL && windlass_uri_path(NULL) == NULL);
}

int main(int argc, char **argv) {
    mistakes_of_tables();
    a_driver_of_the_program();
    a_wrapper_of_the_program(argc > 1 ? argv[1] : "hip-sim://gfx942?memory=64M");
    uris_in_parts();
    printf("the program's drivers and wrappers work\n");
    return EXIT_SUCCESS;
}
