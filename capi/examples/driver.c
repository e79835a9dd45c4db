/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The least driver: a device of host memory behind the scheme mem://. The library does its transfers, semaphores, pools,
 * files, host calls and command buffers, and declares that it runs no kernels. capi/tests/plugin/driver.c goes on from here.
 */
#include "common.h"

enum { ALIGNMENT = 256 };

static windlass_error_t *mem_open(void *user_data, windlass_uri_t *uri, windlass_answer_t *answer, void **device) {
    (void)user_data;
    if (windlass_uri_path(uri)[0] != '\0')
        return windlass_error_create(WINDLASS_CODE_NOT_FOUND, "there is one such device, and it has no name");
    windlass_device_info_t info = windlass_device_info_init();
    info.name = "Memory of the host";
    info.simulated = true;
    windlass_device_limits_t limits = windlass_device_limits_init();
    limits.queues = 2;
    limits.allocation_alignment = ALIGNMENT;
    windlass_error_t *error = windlass_answer_device(answer, &info);
    if (!error) error = windlass_answer_limits(answer, &limits);
    *device = NULL; /* this driver needs no object of its own */
    return error;
}

static windlass_error_t *mem_allocate(void *device, windlass_memory_type_t type, uint64_t size, uint64_t alignment,
                                      windlass_driver_memory_t *memory) {
    (void)device, (void)type;
    /* aligned_alloc is younger than C99. */
    char *bytes = size < SIZE_MAX - alignment ? (char *)malloc((size_t)(size + alignment)) : NULL;
    if (!bytes) return windlass_error_create(WINDLASS_CODE_RESOURCE_EXHAUSTED, "the host has no memory left");
    const uint64_t lost = alignment - (uint64_t)(uintptr_t)bytes % alignment;
    memory->memory = bytes;
    memory->host_pointer = bytes + lost;
    memory->device_address = (uint64_t)(uintptr_t)memory->host_pointer;
    return NULL;
}

static void mem_free(void *device, void *memory) {
    (void)device;
    free(memory);
}

int main(void) {
    windlass_driver_t driver = windlass_driver_init();
    driver.scheme = "mem";
    driver.description = "memory of the host";
    driver.open = mem_open;
    driver.allocate = mem_allocate;
    driver.free = mem_free;
    check(windlass_driver_register(&driver, NULL));

    /* From here on this is a program for any device. */
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    windlass_buffer_t *first = NULL, *second = NULL;
    windlass_semaphore_t *timeline = NULL;
    check(windlass_device_open("mem://", &device));
    check(windlass_device_queue(device, 0, &queue));
    check(windlass_buffer_allocate(device, NULL, 4096, &first));
    check(windlass_buffer_allocate(device, NULL, 4096, &second));
    check(windlass_semaphore_create(0, &timeline));

    const windlass_point_t filled = windlass_at(timeline, 1), copied = windlass_at(timeline, 2);
    const uint32_t pattern = 42;
    uint32_t numbers[1024];
    check(windlass_queue_copy(queue, 1, &filled, 1, &copied, windlass_whole(first), windlass_whole(second)));
    check(windlass_queue_fill(queue, 0, NULL, 1, &filled, windlass_whole(first), &pattern, sizeof pattern));
    check(windlass_queue_download_blocking(queue, 1, &copied, windlass_whole(second), numbers, sizeof numbers,
                                           WINDLASS_TIMEOUT_INFINITE));
    require(numbers[0] == 42 && numbers[1023] == 42, "the copy came behind the fill");
    printf("a driver in C filled and copied 4096 bytes\n");

    windlass_semaphore_release(timeline);
    windlass_buffer_release(first);
    windlass_buffer_release(second);
    windlass_queue_release(queue);
    windlass_device_release(device);
    return EXIT_SUCCESS;
}
