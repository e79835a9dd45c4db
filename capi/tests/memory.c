/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Pools, imports, exports, parameters, heaps, files and buffer views: each function is used, its numbers are checked, and its misuse is
 * refused.
 *
 *     memory URI SCRATCH_FILE
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "refused.h"

static const uint64_t FOREVER = WINDLASS_TIMEOUT_INFINITE;

/* Something whose release is counted. The semaphore has the count. */
typedef struct loan_t {
    windlass_semaphore_t *released;
    uint64_t count;
} loan_t;

static void give_back(void *user_data) {
    loan_t *loan = (loan_t *)user_data;
    check(windlass_semaphore_signal(loan->released, ++loan->count));
}

static uint64_t count_of(const loan_t *loan) {
    uint64_t value = 0;
    check(windlass_semaphore_query(loan->released, &value));
    return value;
}

/* Waits for a release, and gives another one time to follow. */
static void wait_for_one(const loan_t *loan) {
    check(windlass_semaphore_wait(loan->released, 1, FOREVER));
    windlass_semaphore_t *never = NULL;
    check(windlass_semaphore_create(0, &never));
    REFUSED(DEADLINE_EXCEEDED, windlass_semaphore_wait(never, 1, 20000000));
    windlass_semaphore_release(never);
    HOLDS(count_of(loan) == 1);
}

/* Fails unless all bytes of a buffer have a value. */
static void expect(windlass_queue_t *queue, windlass_buffer_t *buffer, const windlass_point_t *after, unsigned char value) {
    const size_t size = (size_t)windlass_buffer_size(buffer);
    unsigned char *bytes = (unsigned char *)malloc(size);
    check(windlass_queue_download_blocking(queue, after ? 1 : 0, after, windlass_whole(buffer), bytes, size, FOREVER));
    for (size_t i = 0; i < size; i++) HOLDS(bytes[i] == value);
    free(bytes);
}

static windlass_pool_statistics_t statistics_of(windlass_pool_t *pool) {
    windlass_pool_statistics_t statistics = windlass_pool_statistics_init();
    check(windlass_pool_statistics(pool, &statistics));
    return statistics;
}

static void pools(windlass_device_t *device, windlass_queue_t *queue) {
    windlass_pool_t *pool = NULL;
    windlass_semaphore_t *time = NULL;
    windlass_buffer_t *one = NULL, *two = NULL, *none = NULL;
    check(windlass_semaphore_create(0, &time));
    const windlass_point_t point[] = {windlass_at(time, 1), windlass_at(time, 2), windlass_at(time, 3), windlass_at(time, 4)};

    windlass_pool_params_t params = windlass_pool_params_tlsf(1 << 20);
    params.name = "scratch";
    params.budget = 4 << 20;
    check(windlass_pool_create(device, &params, &pool));
    HOLDS(statistics_of(pool).bytes_reserved == 0 && statistics_of(pool).budget == 4 << 20);
    check(windlass_queue_alloca_from(queue, 0, NULL, 1, &point[0], pool, NULL, 1000, &one));
    check(windlass_queue_alloca_from(queue, 1, &point[0], 1, &point[1], pool, NULL, 2000, &two));
    const unsigned char seven = 7, nine = 9;
    check(windlass_queue_fill(queue, 1, &point[1], 1, &point[2], windlass_whole(one), &seven, 1));
    check(windlass_queue_fill(queue, 1, &point[2], 1, &point[3], windlass_whole(two), &nine, 1));
    expect(queue, one, &point[3], 7);
    expect(queue, two, &point[3], 9);
    windlass_pool_statistics_t statistics = statistics_of(pool);
    HOLDS(statistics.buffers == 2 && statistics.bytes_used == 3000 && statistics.bytes_peak == 3000);
    HOLDS(statistics.slabs == 1 && statistics.bytes_reserved == 1 << 20 && statistics.bytes_held >= 3000);
    HOLDS(statistics.acquired_fresh == 1 && statistics.acquired + statistics.acquired_with_wait == 1);
    windlass_statistics_t whole = windlass_statistics_init();
    check(windlass_device_statistics(device, &whole));
    HOLDS(whole.pools == 1);
    REFUSED(RESOURCE_EXHAUSTED, windlass_queue_alloca_from(queue, 0, NULL, 0, NULL, pool, NULL, 8 << 20, &none));
    HOLDS(none == NULL && statistics_of(pool).over_budget == 1);
    check(windlass_queue_dealloca(queue, 1, &point[3], 0, NULL, one));
    check(windlass_queue_dealloca(queue, 1, &point[3], 0, NULL, two));
    windlass_buffer_release(one);
    windlass_buffer_release(two);
    check(windlass_device_drain(device, FOREVER));
    statistics = statistics_of(pool);
    HOLDS(statistics.buffers == 0 && statistics.released == 2 && statistics.slabs == 1);
    HOLDS(statistics.bytes_idle == 1 << 20);
    check(windlass_pool_trim(pool));
    HOLDS(statistics_of(pool).slabs == 0 && statistics_of(pool).slabs_given_back == 1);
    windlass_pool_release(pool);

    params = windlass_pool_params_fixed_block(256, 2);
    params.budget = 0;
    check(windlass_pool_create(device, &params, &pool));
    HOLDS(statistics_of(pool).budget == WINDLASS_UNLIMITED);
    check(windlass_queue_alloca_from(queue, 0, NULL, 0, NULL, pool, NULL, 256, &one));
    check(windlass_queue_alloca_from(queue, 0, NULL, 0, NULL, pool, NULL, 1, &two));
    REFUSED(RESOURCE_EXHAUSTED, windlass_queue_alloca_from(queue, 0, NULL, 0, NULL, pool, NULL, 1, &none));
    HOLDS(statistics_of(pool).exhausted == 1);
    windlass_buffer_release(one);
    windlass_buffer_release(two);
    windlass_pool_release(pool);

    /* Without parameters a buffer has those of the pool, here memory that the host maps. It keeps the pool's memory. */
    const windlass_buffer_params_t host = windlass_buffer_params_host();
    params = windlass_pool_params_passthrough();
    params.memory = &host;
    params.retained = 0;
    check(windlass_pool_create(device, &params, &pool));
    HOLDS(windlass_pool_retain(pool) == pool);
    windlass_pool_release(pool);
    const windlass_point_t fifth = windlass_at(time, 5);
    check(windlass_queue_alloca_from(queue, 0, NULL, 1, &fifth, pool, NULL, 4, &one));
    windlass_pool_release(pool);
    check(windlass_semaphore_wait(time, 5, FOREVER));
    uint32_t number = 0;
    check(windlass_buffer_write(one, 0, "\x01\x02\x03\x04", 4));
    check(windlass_buffer_read(one, 0, &number, 4));
    HOLDS(memcmp(&number, "\x01\x02\x03\x04", 4) == 0);
    windlass_buffer_release(one);
    windlass_semaphore_release(time);

    /* Misuse. */
    params = windlass_pool_params_tlsf(0);
    INVALID(windlass_pool_create(device, &params, &pool));
    HOLDS(pool == NULL);
    params = windlass_pool_params_fixed_block(UINT64_MAX, UINT32_MAX);
    INVALID(windlass_pool_create(device, &params, &pool));
    params = windlass_pool_params_tlsf(1 << 20);
    params.kind = 99;
    INVALID(windlass_pool_create(device, &params, &pool));
    params = windlass_pool_params_tlsf(1 << 20);
    params.flags = 0x80;
    INVALID(windlass_pool_create(device, &params, &pool));
    params = windlass_pool_params_tlsf(1 << 20);
    params.reserved = 1;
    INVALID(windlass_pool_create(device, &params, &pool));
    params = windlass_pool_params_tlsf(1 << 20);
    params.name = "\xff";
    INVALID(windlass_pool_create(device, &params, &pool));
    windlass_buffer_params_t wrong = windlass_buffer_params_host();
    wrong.struct_size = 1;
    params = windlass_pool_params_tlsf(1 << 20);
    params.memory = &wrong;
    INVALID(windlass_pool_create(device, &params, &pool));
    params = windlass_pool_params_tlsf(1 << 20);
    params.struct_size = sizeof params - 8;
    INVALID(windlass_pool_create(device, &params, &pool));
    params.struct_size = sizeof params;
    INVALID(windlass_pool_create(NULL, &params, &pool));
    INVALID(windlass_pool_create(device, NULL, &pool));
    INVALID(windlass_pool_create(device, &params, NULL));
    check(windlass_pool_create(device, &params, &pool));
    statistics.struct_size = 3;
    INVALID(windlass_pool_statistics(pool, &statistics));
    INVALID(windlass_pool_statistics(pool, NULL));
    INVALID(windlass_queue_alloca_from(NULL, 0, NULL, 0, NULL, pool, NULL, 16, &one));
    INVALID(windlass_queue_alloca_from(queue, 0, NULL, 0, NULL, NULL, NULL, 16, &one));
    INVALID(windlass_queue_alloca_from(queue, 1, NULL, 0, NULL, pool, NULL, 16, &one));
    INVALID(windlass_queue_alloca_from(queue, 0, NULL, 0, NULL, pool, &host, 16, &one));
    INVALID(windlass_queue_alloca_from(queue, 0, NULL, 0, NULL, pool, NULL, 16, NULL));
    windlass_pool_release(pool);
    windlass_pool_release(pool);
    windlass_pool_release(NULL);
    statistics = windlass_pool_statistics_init();
    INVALID(windlass_pool_statistics(pool, &statistics));
    INVALID(windlass_pool_trim(pool));
    INVALID(windlass_queue_alloca_from(queue, 0, NULL, 0, NULL, pool, NULL, 16, &one));
    HOLDS(windlass_pool_retain(pool) == NULL && windlass_pool_retain(NULL) == NULL);
}

static void imports(windlass_device_t *device, windlass_queue_t *queue) {
    enum { SIZE = 4096 };
    loan_t loan = {NULL, 0};
    windlass_semaphore_t *time = NULL;
    windlass_buffer_t *buffer = NULL;
    unsigned char *bytes = (unsigned char *)calloc(SIZE, 1);
    const unsigned char five = 5, six = 6;
    void *pointer = NULL;
    check(windlass_semaphore_create(0, &time));
    check(windlass_semaphore_create(0, &loan.released));

    /* The work of a queue is in the program's own memory, which comes back once the work has ended. */
    const windlass_point_t first = windlass_at(time, 1), gate = windlass_at(time, 2), last = windlass_at(time, 3);
    check(windlass_buffer_import_host(device, NULL, bytes, SIZE, &loan, give_back, &buffer));
    check(windlass_buffer_host_pointer(buffer, &pointer));
    HOLDS(pointer == bytes && windlass_buffer_size(buffer) == SIZE);
    check(windlass_queue_fill(queue, 0, NULL, 1, &first, windlass_range(buffer, 0, SIZE / 2), &five, 1));
    check(windlass_semaphore_wait(time, 1, FOREVER));
    HOLDS(bytes[0] == 5 && bytes[SIZE / 2 - 1] == 5 && bytes[SIZE / 2] == 0);
    check(windlass_queue_fill(queue, 1, &gate, 1, &last, windlass_whole(buffer), &six, 1));
    windlass_buffer_release(buffer);
    HOLDS(count_of(&loan) == 0);
    check(windlass_semaphore_signal(time, 2));
    check(windlass_semaphore_wait(time, 3, FOREVER));
    check(windlass_device_drain(device, FOREVER));
    wait_for_one(&loan);
    HOLDS(bytes[0] == 6 && bytes[SIZE - 1] == 6);

    /* Without a function to call. */
    check(windlass_buffer_import_host(device, NULL, bytes, SIZE, NULL, NULL, &buffer));
    windlass_buffer_release(buffer);
    check(windlass_device_drain(device, FOREVER));

    /* A refusal gives back at once, whatever was wrong. */
    const windlass_buffer_params_t near = windlass_buffer_params_device();
    windlass_buffer_params_t odd = windlass_buffer_params_host();
    odd.min_alignment = 3;
    INVALID(windlass_buffer_import_host(device, NULL, NULL, SIZE, &loan, give_back, &buffer));
    HOLDS(buffer == NULL && loan.count == 2);
    INVALID(windlass_buffer_import_host(device, NULL, bytes, 0, &loan, give_back, &buffer));
    INVALID(windlass_buffer_import_host(device, &near, bytes, SIZE, &loan, give_back, &buffer));
    INVALID(windlass_buffer_import_host(device, &odd, bytes, SIZE, &loan, give_back, &buffer));
    INVALID(windlass_buffer_import_host(NULL, NULL, bytes, SIZE, &loan, give_back, &buffer));
    INVALID(windlass_buffer_import_host(device, NULL, bytes, SIZE, &loan, give_back, NULL));
    REFUSED(OUT_OF_RANGE, windlass_buffer_import_host(device, NULL, bytes, UINT64_MAX, &loan, give_back, &buffer));
    HOLDS(loan.count == 8);
    const windlass_buffer_params_t host = windlass_buffer_params_host();
    INVALID(windlass_buffer_import_device_address(device, NULL, 0, SIZE, &loan, give_back, &buffer));
    INVALID(windlass_buffer_import_device_address(device, &host, 4096, SIZE, &loan, give_back, &buffer));
    INVALID(windlass_buffer_import_device_address(NULL, NULL, 4096, SIZE, &loan, give_back, &buffer));
    INVALID(windlass_buffer_import_device_address(device, NULL, 4096, SIZE, &loan, give_back, NULL));
    HOLDS(loan.count == 12 && count_of(&loan) == 12);
    windlass_semaphore_release(loan.released);
    windlass_semaphore_release(time);
    free(bytes);
}

/* An export that an import of the same memory keeps. */
typedef struct lender_t {
    windlass_export_t *memory;
    loan_t loan;
} lender_t;

static void give_export_back(void *user_data) {
    lender_t *lender = (lender_t *)user_data;
    windlass_export_release(lender->memory);
    give_back(&lender->loan);
}

static void exports(windlass_device_t *device, windlass_queue_t *queue) {
    windlass_buffer_t *buffer = NULL, *imported = NULL, *empty = NULL;
    windlass_export_t *exported = NULL;
    windlass_semaphore_t *time = NULL;
    check(windlass_semaphore_create(0, &time));
    const windlass_point_t first = windlass_at(time, 1);

    /* The host's pointer outlives the buffer's handle. */
    const windlass_buffer_params_t host = windlass_buffer_params_host();
    windlass_statistics_t statistics = windlass_statistics_init();
    check(windlass_buffer_allocate(device, &host, 64, &buffer));
    check(windlass_buffer_export_host_pointer(buffer, &exported));
    check(windlass_buffer_write(buffer, 0, "kept", 4));
    windlass_buffer_release(buffer);
    HOLDS(windlass_export_size(exported) == 64 && memcmp(windlass_export_host_pointer(exported), "kept", 4) == 0);
    HOLDS(windlass_export_address(exported) == (uint64_t)(uintptr_t)windlass_export_host_pointer(exported));
    check(windlass_device_statistics(device, &statistics));
    HOLDS(statistics.host_bytes_used == 64);
    HOLDS(windlass_export_retain(exported) == exported);
    windlass_export_release(exported);
    HOLDS(windlass_export_size(exported) == 64);
    windlass_export_release(exported);
    check(windlass_device_statistics(device, &statistics));
    HOLDS(statistics.host_bytes_used == 0);
    HOLDS(windlass_export_size(exported) == 0 && windlass_export_host_pointer(exported) == NULL);
    HOLDS(windlass_export_address(exported) == 0 && windlass_export_retain(exported) == NULL);
    windlass_export_release(exported);

    /* A device address is imported again, and its bytes are the first buffer's. */
    lender_t lender = {NULL, {NULL, 0}};
    const unsigned char three = 3;
    check(windlass_semaphore_create(0, &lender.loan.released));
    check(windlass_buffer_allocate(device, NULL, 256, &buffer));
    check(windlass_buffer_export_device_address(buffer, &lender.memory));
    const uint64_t address = windlass_export_address(lender.memory);
    HOLDS(address == windlass_buffer_device_address(buffer) && windlass_export_host_pointer(lender.memory) == NULL);
    check(windlass_buffer_import_device_address(device, NULL, address, 256, &lender, give_export_back, &imported));
    check(windlass_queue_fill(queue, 0, NULL, 1, &first, windlass_whole(imported), &three, 1));
    expect(queue, buffer, &first, 3);
    windlass_buffer_release(imported);
    check(windlass_device_drain(device, FOREVER));
    wait_for_one(&lender.loan);
    HOLDS(windlass_export_size(lender.memory) == 0);

    INVALID(windlass_buffer_export_device_address(NULL, &exported));
    INVALID(windlass_buffer_export_host_pointer(NULL, &exported));
    INVALID(windlass_buffer_export_device_address(buffer, NULL));
    REFUSED(FAILED_PRECONDITION, windlass_buffer_export_host_pointer(buffer, &exported));
    check(windlass_buffer_subspan(buffer, 8, 0, &empty));
    INVALID(windlass_buffer_export_device_address(empty, &exported));
    HOLDS(exported == NULL && windlass_export_size(NULL) == 0);
    windlass_buffer_release(empty);
    windlass_buffer_release(buffer);
    windlass_semaphore_release(lender.loan.released);
    windlass_semaphore_release(time);
}

static void parameters(windlass_device_t *device) {
    windlass_buffer_params_t given = windlass_buffer_params_host(), found = windlass_buffer_params_init();
    windlass_buffer_t *buffer = NULL, *part = NULL;
    given.min_alignment = 512;
    check(windlass_buffer_allocate(device, &given, 64, &buffer));
    check(windlass_buffer_subspan(buffer, 24, 8, &part));
    check(windlass_buffer_params(part, &found));
    HOLDS(memcmp(&given, &found, sizeof given) == 0);
    HOLDS(windlass_buffer_offset(part) == 24 && windlass_buffer_offset(buffer) == 0 && windlass_buffer_offset(NULL) == 0);
    windlass_buffer_release(part);
    windlass_buffer_release(buffer);
    given.queue_affinity = 1;
    check(windlass_buffer_allocate(device, &given, 64, &buffer));
    check(windlass_buffer_params(buffer, &found));
    HOLDS(found.queue_affinity == 1);
    INVALID(windlass_buffer_params(buffer, NULL));
    found.struct_size = 12;
    INVALID(windlass_buffer_params(buffer, &found));
    windlass_buffer_release(buffer);
    INVALID(windlass_buffer_params(buffer, &given));
    INVALID(windlass_buffer_params(NULL, &given));
}

static void heaps(windlass_device_t *device) {
    const size_t count = windlass_device_heap_count(device);
    HOLDS(count >= 1 && windlass_device_heap_count(NULL) == 0);
    windlass_heap_t heap = windlass_heap_init();
    uint32_t types = 0;
    for (size_t i = 0; i < count; i++) {
        check(windlass_device_heap(device, i, &heap));
        HOLDS(heap.max_size > 0 && heap.min_alignment > 0);
        HOLDS((heap.usage & WINDLASS_BUFFER_USAGE_DEFAULT) == WINDLASS_BUFFER_USAGE_DEFAULT);
        types |= heap.memory_type;
    }
    HOLDS((types & WINDLASS_MEMORY_TYPE_DEVICE_VISIBLE) != 0);
    REFUSED(OUT_OF_RANGE, windlass_device_heap(device, count, &heap));
    INVALID(windlass_device_heap(NULL, 0, &heap));
    INVALID(windlass_device_heap(device, 0, NULL));
    heap.struct_size = 8;
    INVALID(windlass_device_heap(device, 0, &heap));

    windlass_compatibility_t uses = 0;
    const windlass_compatibility_t most = WINDLASS_COMPATIBILITY_ALLOCATABLE | WINDLASS_COMPATIBILITY_EXPORTABLE |
                                          WINDLASS_COMPATIBILITY_QUEUE_TRANSFER | WINDLASS_COMPATIBILITY_QUEUE_DISPATCH;
    windlass_buffer_params_t params = windlass_buffer_params_host();
    check(windlass_device_compatibility(device, &params, 4096, &uses));
    HOLDS((uses & most) == most && (uses & WINDLASS_COMPATIBILITY_IMPORTABLE) != 0);
    check(windlass_device_compatibility(device, NULL, 4096, &uses));
    HOLDS((uses & most) == most);
    params.usage = WINDLASS_BUFFER_USAGE_TRANSFER;
    check(windlass_device_compatibility(device, &params, 4096, &uses));
    HOLDS((uses & WINDLASS_COMPATIBILITY_QUEUE_DISPATCH) == 0);
    params.usage |= 1u << 30;
    check(windlass_device_compatibility(device, &params, 4096, &uses));
    HOLDS(uses == 0);
    INVALID(windlass_device_compatibility(NULL, NULL, 1, &uses));
    INVALID(windlass_device_compatibility(device, NULL, 1, NULL));
    params.struct_size = 1;
    INVALID(windlass_device_compatibility(device, &params, 1, &uses));
}

/* A storage of the program: sixteen bytes, whose functions count their calls. */
typedef struct storage_t {
    unsigned char bytes[16];
    loan_t loan;
    int broken;
} storage_t;

static windlass_error_t *read_storage(void *user_data, uint64_t offset, void *target, size_t size) {
    storage_t *storage = (storage_t *)user_data;
    if (storage->broken) return windlass_error_create(WINDLASS_CODE_NOT_FOUND, "the tape is lost");
    if (offset + size > 16) return windlass_error_create(WINDLASS_CODE_OUT_OF_RANGE, "the tape has 16 bytes");
    memcpy(target, storage->bytes + offset, size);
    return NULL;
}

static windlass_error_t *write_storage(void *user_data, uint64_t offset, const void *source, size_t size) {
    storage_t *storage = (storage_t *)user_data;
    memcpy(storage->bytes + offset, source, size);
    return NULL;
}

static void destroy_storage(void *user_data) { give_back(&((storage_t *)user_data)->loan); }

static void files(windlass_device_t *device, windlass_queue_t *queue, const char *path) {
    enum { SIZE = 100000 };
    windlass_file_t *file = NULL;
    windlass_buffer_t *source = NULL, *target = NULL;
    windlass_semaphore_t *time = NULL;
    unsigned char *bytes = (unsigned char *)malloc(SIZE), *back = (unsigned char *)malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (unsigned char)(i * 7 + i / 256);
    check(windlass_semaphore_create(0, &time));
    const windlass_point_t point[] = {windlass_at(time, 1), windlass_at(time, 2), windlass_at(time, 3), windlass_at(time, 4)};
    check(windlass_buffer_allocate(device, NULL, SIZE, &source));
    check(windlass_buffer_allocate(device, NULL, SIZE, &target));

    /* A path: written at an offset, read back by the program and by the queue. */
    remove(path);
    REFUSED(NOT_FOUND, windlass_file_open(path, WINDLASS_FILE_READ, &file));
    check(windlass_file_open(path, WINDLASS_FILE_READ | WINDLASS_FILE_WRITE | WINDLASS_FILE_CREATE, &file));
    check(windlass_queue_update(queue, 0, NULL, 1, &point[0], bytes, SIZE, windlass_whole(source)));
    check(windlass_queue_write(queue, 1, &point[0], 1, &point[1], windlass_whole(source), file, 10));
    check(windlass_queue_read(queue, 1, &point[1], 1, &point[2], file, 10, windlass_whole(target)));
    HOLDS(windlass_file_retain(file) == file);
    windlass_file_release(file);
    windlass_file_release(file);
    check(windlass_queue_download_blocking(queue, 1, &point[2], windlass_whole(target), back, SIZE, FOREVER));
    HOLDS(memcmp(bytes, back, SIZE) == 0);
    size_t size = 0;
    unsigned char *stored = (unsigned char *)read_file(path, &size);
    HOLDS(size == SIZE + 10 && stored[9] == 0 && memcmp(stored + 10, bytes, SIZE) == 0);
    free(stored);

    /* A descriptor is duplicated, so the program may close its own. */
    FILE *own = fopen(path, "rb");
    HOLDS(own != NULL);
    check(windlass_file_from_descriptor(fileno(own), &file));
    fclose(own);
    check(windlass_queue_read(queue, 0, NULL, 1, &point[3], file, 11, windlass_range(target, 0, SIZE - 1)));
    check(windlass_queue_download_blocking(queue, 1, &point[3], windlass_range(target, 0, SIZE - 1), back, SIZE - 1, FOREVER));
    HOLDS(memcmp(bytes + 1, back, SIZE - 1) == 0);

    /* Failures come as signals: a file that ends before, and one that may not be written. */
    windlass_semaphore_t *failed = NULL;
    check(windlass_semaphore_create(0, &failed));
    windlass_point_t end = windlass_at(failed, 1);
    check(windlass_queue_read(queue, 0, NULL, 1, &end, file, 11, windlass_whole(target)));
    REFUSED(OUT_OF_RANGE, windlass_semaphore_wait(failed, 1, FOREVER));
    windlass_semaphore_release(failed);
    check(windlass_semaphore_create(0, &failed));
    end = windlass_at(failed, 1);
    check(windlass_queue_write(queue, 0, NULL, 1, &end, windlass_whole(source), file, 0));
    REFUSED(PERMISSION_DENIED, windlass_semaphore_wait(failed, 1, FOREVER));
    windlass_semaphore_release(failed);
    windlass_file_release(file);
    check(windlass_file_open(path, WINDLASS_FILE_WRITE | WINDLASS_FILE_TRUNCATE, &file));
    windlass_file_release(file);
    free(read_file(path, &size));
    HOLDS(size == 0);

    /* Functions of the program. */
    storage_t storage;
    memset(&storage, 0, sizeof storage);
    check(windlass_semaphore_create(0, &storage.loan.released));
    check(windlass_file_from_functions(read_storage, write_storage, &storage, destroy_storage, &file));
    const windlass_point_t fifth = windlass_at(time, 5), sixth = windlass_at(time, 6);
    check(windlass_queue_write(queue, 0, NULL, 1, &fifth, windlass_range(source, 100, 8), file, 4));
    check(windlass_queue_read(queue, 1, &fifth, 1, &sixth, file, 4, windlass_range(target, 0, 8)));
    check(windlass_queue_download_blocking(queue, 1, &sixth, windlass_range(target, 0, 8), back, 8, FOREVER));
    HOLDS(memcmp(storage.bytes + 4, bytes + 100, 8) == 0 && memcmp(back, bytes + 100, 8) == 0 && storage.bytes[3] == 0);
    storage.broken = 1;
    check(windlass_semaphore_create(0, &failed));
    end = windlass_at(failed, 1);
    check(windlass_queue_read(queue, 0, NULL, 1, &end, file, 0, windlass_range(target, 0, 8)));
    REFUSED(NOT_FOUND, windlass_semaphore_wait(failed, 1, FOREVER));
    windlass_semaphore_release(failed);
    HOLDS(count_of(&storage.loan) == 0);
    windlass_file_release(file);
    check(windlass_device_drain(device, FOREVER));
    wait_for_one(&storage.loan);

    /* Misuse. */
    INVALID(windlass_file_from_functions(NULL, NULL, &storage, destroy_storage, &file));
    INVALID(windlass_file_from_functions(read_storage, NULL, &storage, destroy_storage, NULL));
    HOLDS(storage.loan.count == 3 && file == NULL);
    INVALID(windlass_file_open(NULL, WINDLASS_FILE_READ, &file));
    INVALID(windlass_file_open(path, WINDLASS_FILE_READ, NULL));
    INVALID(windlass_file_open(path, 0, &file));
    INVALID(windlass_file_open(path, 0x100, &file));
    INVALID(windlass_file_open(path, WINDLASS_FILE_READ | WINDLASS_FILE_CREATE, &file));
    INVALID(windlass_file_from_descriptor(-1, &file));
    INVALID(windlass_file_from_descriptor(1000000, &file));
    INVALID(windlass_file_from_descriptor(0, NULL));
    check(windlass_file_open(path, WINDLASS_FILE_READ, &file));
    INVALID(windlass_queue_read(NULL, 0, NULL, 0, NULL, file, 0, windlass_whole(target)));
    INVALID(windlass_queue_read(queue, 0, NULL, 0, NULL, NULL, 0, windlass_whole(target)));
    INVALID(windlass_queue_read(queue, 0, NULL, 0, NULL, file, 0, windlass_whole(NULL)));
    INVALID(windlass_queue_read(queue, 0, NULL, 0, NULL, file, 0, windlass_slot(0, 0, 4)));
    INVALID(windlass_queue_write(NULL, 0, NULL, 0, NULL, windlass_whole(source), file, 0));
    INVALID(windlass_queue_write(queue, 0, NULL, 0, NULL, windlass_whole(NULL), file, 0));
    INVALID(windlass_queue_write(queue, 0, NULL, 0, NULL, windlass_whole(source), NULL, 0));
    REFUSED(OUT_OF_RANGE, windlass_queue_write(queue, 0, NULL, 0, NULL, windlass_range(source, 0, SIZE + 1), file, 0));
    windlass_file_release(file);
    windlass_file_release(file);
    INVALID(windlass_queue_read(queue, 0, NULL, 0, NULL, file, 0, windlass_whole(target)));
    INVALID(windlass_queue_write(queue, 0, NULL, 0, NULL, windlass_whole(source), file, 0));
    HOLDS(windlass_file_retain(file) == NULL);

    windlass_semaphore_release(storage.loan.released);
    windlass_buffer_release(source);
    windlass_buffer_release(target);
    windlass_semaphore_release(time);
    free(bytes);
    free(back);
    remove(path);
}

static void views(windlass_device_t *device) {
    const windlass_element_type_t f32 = WINDLASS_ELEMENT_TYPE_FLOAT_32;
    HOLDS(f32 == 553648160 && windlass_element_type_size(f32) == 4 && strcmp(windlass_element_type_name(f32), "f32") == 0);
    HOLDS(windlass_element_type_size(WINDLASS_ELEMENT_TYPE_BFLOAT_16) == 2);
    HOLDS(windlass_element_type_size(1) == 0 && windlass_element_type_name(1) == NULL);
    windlass_element_type_t parsed = 0;
    check(windlass_element_type_parse("u16", &parsed));
    HOLDS(parsed == WINDLASS_ELEMENT_TYPE_UINT_16);
    INVALID(windlass_element_type_parse("f31", &parsed));
    INVALID(windlass_element_type_parse(NULL, &parsed));
    INVALID(windlass_element_type_parse("f32", NULL));

    const uint64_t shape[] = {2, 3, 4}, huge[] = {UINT64_MAX, 2}, none[] = {UINT64_MAX, 0};
    uint64_t length = 0, dimension = 0;
    check(windlass_shape_byte_length(3, shape, f32, &length));
    HOLDS(length == 96);
    check(windlass_shape_byte_length(0, NULL, f32, &length));
    HOLDS(length == 4);
    check(windlass_shape_byte_length(2, none, f32, &length));
    HOLDS(length == 0);
    REFUSED(OUT_OF_RANGE, windlass_shape_byte_length(2, huge, f32, &length));
    INVALID(windlass_shape_byte_length(2, shape, 5, &length));
    INVALID(windlass_shape_byte_length(2, NULL, f32, &length));
    INVALID(windlass_shape_byte_length(SIZE_MAX, shape, f32, &length));
    INVALID(windlass_shape_byte_length(2, shape, f32, NULL));

    windlass_buffer_t *buffer = NULL, *again = NULL;
    windlass_buffer_view_t *view = NULL;
    check(windlass_buffer_allocate(device, NULL, 96, &buffer));
    INVALID(windlass_buffer_view_create(buffer, 2, shape, f32, &view));
    INVALID(windlass_buffer_view_create(buffer, 3, shape, WINDLASS_ELEMENT_TYPE_FLOAT_64, &view));
    INVALID(windlass_buffer_view_create(NULL, 3, shape, f32, &view));
    INVALID(windlass_buffer_view_create(buffer, 3, NULL, f32, &view));
    INVALID(windlass_buffer_view_create(buffer, 3, shape, 5, &view));
    INVALID(windlass_buffer_view_create(buffer, 3, shape, f32, NULL));
    REFUSED(OUT_OF_RANGE, windlass_buffer_view_create(buffer, 2, huge, f32, &view));
    HOLDS(view == NULL);
    check(windlass_buffer_view_create(buffer, 3, shape, f32, &view));
    const uint64_t address = windlass_buffer_device_address(buffer);
    windlass_buffer_release(buffer);
    HOLDS(windlass_buffer_view_rank(view) == 3 && windlass_buffer_view_element_type(view) == f32);
    for (size_t i = 0; i < 3; i++) {
        check(windlass_buffer_view_dimension(view, i, &dimension));
        HOLDS(dimension == shape[i]);
    }
    REFUSED(OUT_OF_RANGE, windlass_buffer_view_dimension(view, 3, &dimension));
    INVALID(windlass_buffer_view_dimension(view, 0, NULL));
    INVALID(windlass_buffer_view_dimension(NULL, 0, &dimension));
    check(windlass_buffer_view_buffer(view, &again));
    HOLDS(windlass_buffer_device_address(again) == address && windlass_buffer_size(again) == 96);
    windlass_buffer_release(again);
    INVALID(windlass_buffer_view_buffer(view, NULL));
    HOLDS(windlass_buffer_view_retain(view) == view);
    windlass_buffer_view_release(view);
    windlass_buffer_view_release(view);
    windlass_buffer_view_release(view);
    INVALID(windlass_buffer_view_buffer(view, &again));
    HOLDS(windlass_buffer_view_rank(view) == 0 && windlass_buffer_view_element_type(view) == 0);
    HOLDS(windlass_buffer_view_retain(view) == NULL);
}

int main(int argc, char **argv) {
    require(argc > 2, "a URI and the path of a file that may be written");
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    check(windlass_device_open(argv[1], &device));
    check(windlass_device_queue(device, 0, &queue));
    pools(device, queue);
    imports(device, queue);
    exports(device, queue);
    parameters(device);
    heaps(device);
    files(device, queue, argv[2]);
    views(device);
    check(windlass_device_drain(device, FOREVER));
    windlass_queue_release(queue);
    windlass_device_release(device);
    printf("the memory is right\n");
    return EXIT_SUCCESS;
}
