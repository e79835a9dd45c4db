/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Profiles in C: records for a callback, a trace in a file, and refusals.
 *
 *     profiling TRACE [URI]
 */
#include "../examples/common.h"

#define SIZE 4096

static void refused(windlass_error_t *error, windlass_code_t code, int line) {
    if (windlass_error_code(error) != code) {
        fprintf(stderr, "line %d: %s where %s was expected\n", line, windlass_error_message(error),
                windlass_code_name(code));
        exit(EXIT_FAILURE);
    }
    windlass_error_release(error);
}

#define REFUSED(code, call) refused((call), WINDLASS_CODE_##code, __LINE__)

/* The memory of the callback. */
typedef struct {
    windlass_device_t *device;
    uint64_t semaphore;
    int fills, updates, failed, in_flight, executes, commands, groups, calls, allocations, times, others;
    int destroyed;
} notes_t;

static void note_operation(notes_t *notes, const windlass_profile_record_t *record) {
    require(record->submission > 0 && record->submitted > 0, "an operation was submitted");
    require(record->retired == 0 || record->submitted <= record->retired, "an operation retires after that");
    notes->in_flight += record->retired == 0;
    if (record->device_begun) {
        require(record->device_begun <= record->device_ended, "work begins before it ends");
        notes->times += 1;
    }
    if (record->error) {
        require(windlass_error_code(record->error) == WINDLASS_CODE_DATA_LOSS, "the error is the call's");
        notes->failed += 1;
    }
    if (strcmp(record->name, "queue_fill") == 0) {
        require(record->bytes == SIZE && record->function == NULL, "a fill has its bytes");
        require(record->wait_count == 0 && record->signal_count == 1, "a fill has its points");
        require(record->signals[0].semaphore == notes->semaphore && record->signals[0].value == 1, "by their ids");
        notes->fills += 1;
    } else if (strcmp(record->name, "queue_update") == 0) {
        require(record->wait_count == 1 && record->waits[0].semaphore == notes->semaphore, "an update waits");
        notes->updates += 1;
    } else if (strcmp(record->name, "queue_execute") == 0) {
        require(record->command_count >= 3, "a command buffer has its commands");
        notes->executes += 1;
    }
}

static void note(void *user_data, const windlass_profile_record_t *record) {
    notes_t *notes = (notes_t *)user_data;
    require(record->struct_size >= sizeof *record && record->lost == 0, "a record is whole");
    switch (record->kind) {
    case WINDLASS_PROFILE_OPERATION:
        note_operation(notes, record);
        break;
    case WINDLASS_PROFILE_COMMAND:
        notes->commands += 1;
        if (strcmp(record->name, "group") == 0) {
            require(strcmp(record->function, "layer") == 0 && record->group == WINDLASS_PROFILE_NONE, "a group");
            notes->groups += 1;
        } else {
            require(record->group != WINDLASS_PROFILE_NONE, "a command names its group");
        }
        break;
    case WINDLASS_PROFILE_HOST_CALL:
        require(record->thread > 0 && record->issued <= record->retired, "a call has a thread and a time");
        notes->calls += 1;
        break;
    case WINDLASS_PROFILE_MEMORY:
        notes->allocations += strcmp(record->name, "allocate") == 0;
        break;
    default:
        notes->others += 1;
    }
    REFUSED(FAILED_PRECONDITION, windlass_device_profiling_flush(notes->device));
}

static void destroyed(void *user_data) {
    ((notes_t *)user_data)->destroyed += 1;
}

static windlass_error_t *fail(void *user_data, windlass_host_call_t *call) {
    (void)user_data, (void)call;
    return windlass_error_create(WINDLASS_CODE_DATA_LOSS, "on purpose");
}

static void work(windlass_device_t *device, windlass_semaphore_t *step, windlass_semaphore_t *gate) {
    windlass_queue_t *queue = NULL;
    windlass_buffer_t *buffer = NULL;
    windlass_recorder_t *recorder = NULL;
    windlass_command_buffer_t *commands = NULL;
    windlass_semaphore_t *bad = NULL;
    static const uint8_t bytes[SIZE] = {0};
    const uint8_t byte = 1;
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_buffer_allocate(device, NULL, SIZE, &buffer));
    check(windlass_semaphore_create(0, &bad));
    const windlass_point_t one = {step, 1}, two = {step, 2}, three = {step, 3}, failed = {bad, 1}, open = {gate, 1};
    check(windlass_queue_fill(queue, 0, NULL, 1, &one, windlass_range(buffer, 0, SIZE), &byte, 1));
    check(windlass_queue_update(queue, 1, &one, 1, &two, bytes, SIZE, windlass_range(buffer, 0, SIZE)));
    check(windlass_recorder_create(device, 0, &recorder));
    check(windlass_recorder_begin_debug_group(recorder, "layer"));
    check(windlass_recorder_fill(recorder, windlass_range(buffer, 0, SIZE), &byte, 1));
    check(windlass_recorder_end_debug_group(recorder));
    check(windlass_recorder_finish(recorder, &commands));
    check(windlass_queue_execute(queue, 1, &two, 1, &three, commands, 0, NULL));
    check(windlass_queue_host_call(queue, 1, &three, 1, &failed, 0, fail, NULL, NULL));
    check(windlass_semaphore_wait(step, 3, WINDLASS_TIMEOUT_INFINITE));
    REFUSED(DATA_LOSS, windlass_semaphore_wait(bad, 1, WINDLASS_TIMEOUT_INFINITE));
    if (gate) {
        check(windlass_queue_barrier(queue, 1, &open, 0, NULL));
    }
    windlass_semaphore_release(bad);
    windlass_command_buffer_release(commands);
    windlass_recorder_release(recorder);
    windlass_buffer_release(buffer);
    windlass_queue_release(queue);
}

/* Records as messages, for programs that cannot be called: the copies outlast the calls and the device. */
static void by_messages(void) {
    windlass_device_t *device = NULL;
    windlass_semaphore_t *step = NULL;
    windlass_inbox_t *inbox = NULL;
    windlass_ticket_t *ticket = NULL;
    windlass_message_t message = windlass_message_init();
    int fills = 0, failures = 0;
    check(windlass_device_open("local://", &device));
    check(windlass_semaphore_create(0, &step));
    check(windlass_inbox_create(-1, &inbox));
    check(windlass_inbox_ticket(inbox, 3, &ticket));
    check(windlass_device_profiling_begin(device, NULL, windlass_ticket_profile, ticket, windlass_ticket_destroy));
    work(device, step, NULL);
    check(windlass_device_drain(device, WINDLASS_TIMEOUT_INFINITE));
    check(windlass_device_profiling_end(device));
    windlass_device_release(device);
    while (windlass_inbox_take(inbox, &message) && message.kind == WINDLASS_MESSAGE_PROFILE) {
        const windlass_profile_record_t *record = windlass_kept_record_get(message.record);
        require(message.number == 3 && message.error == NULL && record->struct_size == sizeof *record, "a record comes");
        if (strcmp(record->name, "queue_fill") == 0) {
            require(record->signal_count == 1 && record->signals[0].semaphore == windlass_semaphore_id(step), "with its signal");
            fills += record->signals[0].value == 1;
        }
        failures += record->error && strstr(windlass_error_message(record->error), "on purpose") != NULL;
        require(windlass_kept_record_retain(message.record) == message.record, "a copy is counted");
        windlass_kept_record_release(message.record);
        windlass_kept_record_release(message.record);
    }
    require(message.kind == WINDLASS_MESSAGE_DESTROY && message.record == NULL, "the end comes last");
    require(fills == 1 && failures >= 1, "the records are those of the work");
    require(windlass_kept_record_get(NULL) == NULL && windlass_kept_record_retain(NULL) == NULL, "NULL is no record");
    windlass_inbox_release(inbox);
    windlass_semaphore_release(step);
}

int main(int argc, char **argv) {
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    windlass_semaphore_t *step = NULL, *gate = NULL, *again = NULL;
    notes_t notes;
    windlass_profile_options_t options = windlass_profile_options_init();
    memset(&notes, 0, sizeof notes);
    require(argc >= 2, "usage: profiling TRACE [URI]");
    check(windlass_device_open(argc > 2 ? argv[2] : "hip-sim://gfx942", &device));
    check(windlass_semaphore_create(0, &step));
    check(windlass_semaphore_create(0, &gate));
    check(windlass_semaphore_create(0, &again));
    check(windlass_device_queue(device, 0, &queue));
    require(windlass_semaphore_id(NULL) == 0, "NULL has no id");
    require(windlass_semaphore_id(step) == windlass_semaphore_id(step), "an id stays");
    require(windlass_semaphore_id(step) != windlass_semaphore_id(gate), "and is of one semaphore");
    notes.device = device;
    notes.semaphore = windlass_semaphore_id(step);

    REFUSED(FAILED_PRECONDITION, windlass_device_profiling_flush(device));
    REFUSED(FAILED_PRECONDITION, windlass_device_profiling_end(device));
    REFUSED(INVALID_ARGUMENT, windlass_device_profiling_begin(device, NULL, NULL, &notes, destroyed));
    REFUSED(INVALID_ARGUMENT, windlass_device_profiling_begin(NULL, NULL, note, &notes, destroyed));
    options.reserved[1] = 1;
    REFUSED(INVALID_ARGUMENT, windlass_device_profiling_begin(device, &options, note, &notes, destroyed));
    REFUSED(NOT_FOUND, windlass_device_profiling_begin_trace(device, NULL, "/no/such/folder/trace.json"));
    REFUSED(INVALID_ARGUMENT, windlass_device_profiling_begin_trace(device, NULL, NULL));
    require(notes.destroyed == 3, "the data of refused profiles is released");

    options = windlass_profile_options_init();
    options.with_commands = true;
    check(windlass_device_profiling_begin(device, &options, note, &notes, destroyed));
    REFUSED(FAILED_PRECONDITION, windlass_device_profiling_begin(device, NULL, note, &notes, destroyed));
    work(device, step, gate);
    check(windlass_device_profiling_flush(device));
    require(notes.fills == 1 && notes.updates == 1 && notes.executes == 1, "each operation has a record");
    require(notes.commands == 2 && notes.groups == 1, "each command and group has a record");
    require(notes.calls == 1, "a call has a record");
    require(notes.failed == 1, "its failure is told");
    require(notes.allocations > 0 && notes.times >= 2, "memory is recorded, and times of the device");
    require(notes.in_flight == 0 && notes.others == 0, "nothing else is");
    check(windlass_device_profiling_end(device));
    require(notes.in_flight == 1, "work in flight is told");
    require(notes.destroyed == 5, "the data is released with the profile");
    check(windlass_semaphore_signal(gate, 1));

    check(windlass_device_profiling_begin_trace(device, NULL, argv[1]));
    work(device, again, NULL);
    check(windlass_device_profiling_end(device));
    size_t size = 0;
    char *trace = (char *)read_file(argv[1], &size);
    require(size > 0 && trace[0] == '{' && trace[size - 2] == '}', "the trace is complete");
    free(trace);

    /* A disk that is full. */
    check(windlass_device_profiling_begin_trace(device, NULL, "/dev/full"));
    check(windlass_queue_barrier(queue, 0, NULL, 0, NULL));
    REFUSED(RESOURCE_EXHAUSTED, windlass_device_profiling_end(device));
    REFUSED(FAILED_PRECONDITION, windlass_device_profiling_end(device));

    windlass_queue_release(queue);
    windlass_semaphore_release(again);
    windlass_semaphore_release(gate);
    windlass_semaphore_release(step);
    windlass_device_release(device);
    by_messages();
    printf("the profiles are right\n");
    return EXIT_SUCCESS;
}
