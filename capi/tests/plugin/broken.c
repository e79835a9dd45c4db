/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Drivers in C with one mistake each, which the library or the suite must notice. */
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

static windlass_driver_t whole;

/* An address that is no multiple of the alignment. */
static windlass_error_t *allocate_crooked(void *device, windlass_memory_type_t type, uint64_t size, uint64_t alignment,
                                          windlass_driver_memory_t *memory) {
    windlass_error_t *error = whole.allocate(device, type, size, alignment, memory);
    memory->device_address += 8;
    return error;
}

/* Memory that the host cannot reach, also where the program asks for it. */
static windlass_error_t *allocate_hidden(void *device, windlass_memory_type_t type, uint64_t size, uint64_t alignment,
                                         windlass_driver_memory_t *memory) {
    windlass_error_t *error = whole.allocate(device, type, size, alignment, memory);
    memory->host_pointer = NULL;
    return error;
}

/* Opens a device and does not describe it. */
static windlass_error_t *open_silently(void *user_data, windlass_uri_t *uri, windlass_answer_t *answer, void **device) {
    (void)user_data, (void)uri, (void)answer;
    *device = NULL;
    return NULL;
}

static void close_nothing(void *device) {
    (void)device;
}

/* Ends every operation at once, and does only dispatches. */
static windlass_error_t *submit_idly(void *device, windlass_operation_t *operation) {
    windlass_operation_info_t info = windlass_operation_info_init();
    windlass_error_t *error = windlass_operation_info(operation, &info);
    if (error) return error;
    if (info.kind == WINDLASS_OPERATION_DISPATCH) return whole.submit(device, operation);
    return windlass_operation_complete(operation, NULL);
}

/* Neither ends nor keeps the operation. */
static windlass_error_t *submit_nothing(void *device, windlass_operation_t *operation) {
    (void)device, (void)operation;
    return NULL;
}

/* Ends the operation twice, and then returns an error. */
static windlass_error_t *submit_twice(void *device, windlass_operation_t *operation) {
    (void)device;
    host_run(windlass_operation_retain(operation));
    return windlass_operation_complete(operation, NULL);
}

/* Ends command buffers without running a command. */
static windlass_error_t *execute_nothing(void *device, windlass_operation_t *operation) {
    (void)device;
    return windlass_operation_complete(operation, NULL);
}

static windlass_error_t *enroll(const char *scheme, windlass_driver_t driver) {
    driver.scheme = scheme;
    return windlass_driver_register(&driver, NULL);
}

windlass_error_t *register_broken(void) {
    whole = host_driver("c-broken");
    windlass_driver_t driver = whole;
    driver.allocate = allocate_crooked;
    windlass_error_t *error = enroll("c-crooked", driver);
    driver = whole;
    driver.allocate = allocate_hidden;
    if (!error) error = enroll("c-hidden", driver);
    driver = whole;
    driver.open = open_silently;
    driver.close = close_nothing;
    if (!error) error = enroll("c-silent", driver);
    driver = whole;
    driver.execute = execute_nothing;
    if (!error) error = enroll("c-shallow", driver);
    driver.execute = NULL;
    driver.submit = submit_idly;
    if (!error) error = enroll("c-idler", driver);
    driver.submit = submit_nothing;
    if (!error) error = enroll("c-forgetful", driver);
    driver.submit = submit_twice;
    if (!error) error = enroll("c-twice", driver);
    return error;
}
