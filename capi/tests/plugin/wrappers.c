/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Wrappers in C. c-trace:// counts operations and prints them; c-late:// forwards each from a thread of its own, in any
 * order; the saboteurs c-idle:// and c-lost:// break a contract, which the suite must notice.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 16 };
static atomic_uint_fast64_t traced[KINDS];

uint64_t plugin_traced(windlass_operation_kind_t kind) {
    return kind < KINDS ? atomic_load(&traced[kind]) : 0;
}

static void print_range(FILE *out, const char *name, const windlass_operation_range_t *range) {
    if (range->length > 0) fprintf(out, " %s 0x%" PRIx64 "+%" PRIu64, name, range->device_address, range->length);
}

static windlass_error_t *print_command(void *user_data, const windlass_operation_info_t *command) {
    FILE *out = (FILE *)user_data;
    fprintf(out, "\n    %s", command->name);
    if (command->function_name) fprintf(out, " %s", command->function_name);
    print_range(out, "target", &command->target);
    return NULL;
}

/* Writes one line for an operation, to a string that is then thrown away or printed. */
static windlass_error_t *trace(void *wrapper, windlass_operation_t *operation) {
    const bool quiet = wrapper == NULL;
    windlass_operation_info_t info = windlass_operation_info_init();
    windlass_error_t *error = windlass_operation_info(operation, &info);
    if (error) return error;
    if (info.kind < KINDS) atomic_fetch_add(&traced[info.kind], 1);

    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        fprintf(out, "%s on %#" PRIx64, info.name, info.queue_affinity);
        for (size_t i = 0; i < info.wait_count; i++)
            fprintf(out, " after %#" PRIx64 ":%" PRIu64, info.waits[i].semaphore, info.waits[i].value);
        for (size_t i = 0; i < info.signal_count; i++)
            fprintf(out, " signals %#" PRIx64 ":%" PRIu64, info.signals[i].semaphore, info.signals[i].value);
        if (info.function_name)
            fprintf(out, " %s [%u %u %u] x [%u %u %u] %zu bytes of arguments", info.function_name,
                    info.workgroup_count[0], info.workgroup_count[1], info.workgroup_count[2], info.workgroup_size[0],
                    info.workgroup_size[1], info.workgroup_size[2], info.byte_count);
        print_range(out, "source", &info.source);
        print_range(out, "target", &info.target);
        error = windlass_operation_commands(operation, print_command, out);
        fclose(out);
        if (!quiet) puts(text);
        free(text);
    }
    windlass_error_t *forwarded = windlass_operation_forward(operation);
    windlass_error_release(error);
    return forwarded;
}

static windlass_error_t *open_trace(void *user_data, windlass_uri_t *uri, void **wrapper) {
    const char *quiet = windlass_uri_parameter(uri, "quiet");
    *wrapper = quiet ? NULL : user_data;
    return NULL;
}

static void *forward(void *user_data) {
    windlass_operation_t *operation = (windlass_operation_t *)user_data;
    /* A refusal fails the operation, so nobody else needs to hear of it. */
    windlass_error_release(windlass_operation_forward(operation));
    windlass_operation_release(operation);
    return NULL;
}

static windlass_error_t *submit_late(void *wrapper, windlass_operation_t *operation) {
    (void)wrapper;
    pthread_t thread;
    if (pthread_create(&thread, NULL, forward, windlass_operation_retain(operation)) != 0) {
        windlass_operation_release(operation);
        return windlass_operation_forward(operation);
    }
    pthread_detach(thread);
    return NULL;
}

static bool is_transfer(windlass_operation_t *operation) {
    windlass_operation_info_t info = windlass_operation_info_init();
    windlass_error_t *error = windlass_operation_info(operation, &info);
    windlass_error_release(error);
    return !error && (info.kind == WINDLASS_OPERATION_FILL || info.kind == WINDLASS_OPERATION_COPY);
}

/* Ends transfers without doing them. */
static windlass_error_t *submit_idle(void *wrapper, windlass_operation_t *operation) {
    (void)wrapper;
    return is_transfer(operation) ? windlass_operation_complete(operation, NULL) : windlass_operation_forward(operation);
}

/* Forgets transfers. */
static windlass_error_t *submit_lost(void *wrapper, windlass_operation_t *operation) {
    (void)wrapper;
    return is_transfer(operation) ? NULL : windlass_operation_forward(operation);
}

windlass_error_t *register_wrappers(void) {
    windlass_wrapper_t wrapper = windlass_wrapper_init();
    wrapper.submit = trace;
    wrapper.open = open_trace;
    static int anything;
    windlass_error_t *error = windlass_wrapper_register("c-trace", "prints the work of another device", &wrapper, &anything);
    wrapper.open = NULL;
    wrapper.submit = submit_late;
    if (!error) error = windlass_wrapper_register("c-late", NULL, &wrapper, NULL);
    wrapper.submit = submit_idle;
    if (!error) error = windlass_wrapper_register("c-idle", NULL, &wrapper, NULL);
    wrapper.submit = submit_lost;
    if (!error) error = windlass_wrapper_register("c-lost", NULL, &wrapper, NULL);
    return error;
}
