// SPDX-License-Identifier: MIT OR Apache-2.0
// An HSA program without HIP: it lists agents and pools, loads a code object from a file, and adds two vectors by a packet.
// It declares HSA's functions itself, so that it compiles without ROCr's headers.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint64_t handle; } handle_t;
typedef struct {
    uint32_t type, features;
    void *base_address;
    handle_t doorbell;
    uint32_t size, reserved;
    uint64_t id;
} queue_t;
typedef struct {
    uint16_t header, setup, workgroup[3], reserved0;
    uint32_t grid[3], private_size, group_size;
    uint64_t kernel;
    void *arguments;
    uint64_t reserved2;
    handle_t completion;
} packet_t;

uint32_t hsa_init(void);
uint32_t hsa_shut_down(void);
uint32_t hsa_status_string(uint32_t status, const char **text);
uint32_t hsa_iterate_agents(uint32_t (*callback)(handle_t agent, void *data), void *data);
uint32_t hsa_agent_get_info(handle_t agent, uint32_t attribute, void *value);
uint32_t hsa_amd_agent_iterate_memory_pools(handle_t agent, uint32_t (*callback)(handle_t pool, void *data), void *data);
uint32_t hsa_amd_memory_pool_get_info(handle_t pool, uint32_t attribute, void *value);
uint32_t hsa_amd_memory_pool_allocate(handle_t pool, size_t size, uint32_t flags, void **pointer);
uint32_t hsa_amd_memory_pool_free(void *pointer);
uint32_t hsa_queue_create(handle_t agent, uint32_t size, uint32_t type, void *callback, void *data, uint32_t private_size,
                          uint32_t group_size, queue_t **queue);
uint32_t hsa_queue_destroy(queue_t *queue);
uint64_t hsa_queue_add_write_index_screlease(const queue_t *queue, uint64_t value);
uint32_t hsa_signal_create(int64_t value, uint32_t count, const handle_t *consumers, handle_t *signal);
uint32_t hsa_signal_destroy(handle_t signal);
void hsa_signal_store_screlease(handle_t signal, int64_t value);
int64_t hsa_signal_wait_scacquire(handle_t signal, uint32_t condition, int64_t value, uint64_t timeout, uint32_t state);
uint32_t hsa_code_object_reader_create_from_file(int file, handle_t *reader);
uint32_t hsa_executable_create_alt(uint32_t profile, uint32_t rounding, const char *options, handle_t *executable);
uint32_t hsa_executable_load_agent_code_object(handle_t executable, handle_t agent, handle_t reader, const char *options,
                                               handle_t *loaded);
uint32_t hsa_executable_freeze(handle_t executable, const char *options);
uint32_t hsa_executable_get_symbol_by_name(handle_t executable, const char *name, const handle_t *agent, handle_t *symbol);
uint32_t hsa_executable_symbol_get_info(handle_t symbol, uint32_t attribute, void *value);
uint32_t hsa_executable_destroy(handle_t executable);

static void check(uint32_t status, const char *what) {
    const char *text = "an unknown status";
    if (status == 0) return;
    hsa_status_string(status, &text);
    fprintf(stderr, "%s: %s\n", what, text);
    exit(1);
}
#define CHECK(call) check(call, #call)

static uint32_t keep_gpu(handle_t agent, void *data) {
    uint32_t type;
    CHECK(hsa_agent_get_info(agent, 17, &type));
    if (type != 1) return 0;
    *(handle_t *)data = agent;
    return 1; // HSA_STATUS_INFO_BREAK
}

static uint32_t keep_cpu(handle_t agent, void *data) {
    *(handle_t *)data = agent;
    return 1;
}

static uint32_t keep_kernarg(handle_t pool, void *data) {
    uint32_t flags;
    CHECK(hsa_amd_memory_pool_get_info(pool, 1, &flags));
    if (!(flags & 1)) return 0;
    *(handle_t *)data = pool;
    return 1;
}

// As AMD's HIP does, which frees its memory when the process ends.
static void at_the_end(void) {
    handle_t none = {0};
    hsa_signal_destroy(none);
}

int main(int count, char **words) {
    atexit(at_the_end);
    enum { N = 1000, WORKGROUP = 256 };
    handle_t gpu = {0}, cpu = {0}, pool = {0}, reader, executable, symbol, done;
    char name[64];
    queue_t *queue;
    float *a, *b, *sum;
    struct {
        float *a, *b, *sum;
        int32_t n, padding;
        uint32_t workgroups[3];
        uint16_t workgroup[3], remainder[3];
        char rest[232];
    } *arguments;
    uint64_t kernel;

    if (count != 2) return 2;
    CHECK(hsa_init());
    if (hsa_iterate_agents(keep_gpu, &gpu) != 1 || hsa_iterate_agents(keep_cpu, &cpu) != 1) return 3;
    CHECK(hsa_agent_get_info(gpu, 0, name));
    if (hsa_amd_agent_iterate_memory_pools(cpu, keep_kernarg, &pool) != 1) return 4;
    CHECK(hsa_amd_memory_pool_allocate(pool, N * sizeof *a, 0, (void **)&a));
    CHECK(hsa_amd_memory_pool_allocate(pool, N * sizeof *b, 0, (void **)&b));
    CHECK(hsa_amd_memory_pool_allocate(pool, N * sizeof *sum, 0, (void **)&sum));
    CHECK(hsa_amd_memory_pool_allocate(pool, sizeof *arguments, 0, (void **)&arguments));

    CHECK(hsa_code_object_reader_create_from_file(open(words[1], O_RDONLY), &reader));
    CHECK(hsa_executable_create_alt(1, 0, NULL, &executable));
    CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    CHECK(hsa_executable_freeze(executable, NULL));
    CHECK(hsa_executable_get_symbol_by_name(executable, "vector_add.kd", &gpu, &symbol));
    CHECK(hsa_executable_symbol_get_info(symbol, 22, &kernel));

    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 0.5f;
    }
    memset(arguments, 0, sizeof *arguments);
    arguments->a = a;
    arguments->b = b;
    arguments->sum = sum;
    arguments->n = N;
    arguments->workgroups[0] = N / WORKGROUP;
    arguments->workgroups[1] = arguments->workgroups[2] = 1;
    arguments->workgroup[0] = WORKGROUP;
    arguments->workgroup[1] = arguments->workgroup[2] = 1;
    arguments->remainder[0] = N % WORKGROUP;

    CHECK(hsa_signal_create(1, 0, NULL, &done));
    CHECK(hsa_queue_create(gpu, 64, 1, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    packet_t *packet = (packet_t *)queue->base_address + index % queue->size;
    memset(&packet->setup, 0, sizeof *packet - sizeof packet->header);
    packet->setup = 1;
    packet->workgroup[0] = WORKGROUP;
    packet->workgroup[1] = packet->workgroup[2] = 1;
    packet->grid[0] = N;
    packet->grid[1] = packet->grid[2] = 1;
    packet->kernel = kernel;
    packet->arguments = arguments;
    packet->completion = done;
    // A dispatch with fences at system scope; the header hands it to the packet processor.
    __atomic_store_n(&packet->header, (uint16_t)(2 | 2 << 9 | 2 << 11), __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell, (int64_t)index);
    while (hsa_signal_wait_scacquire(done, 2, 1, UINT64_MAX, 0) != 0) {
    }

    int right = 0;
    for (int i = 0; i < N; i++) right += sum[i] == (float)i + 0.5f;
    printf("%s: %d sums are right\n", name, right);
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_signal_destroy(done));
    CHECK(hsa_executable_destroy(executable));
    CHECK(hsa_amd_memory_pool_free(a));
    CHECK(hsa_shut_down());
    return right == N ? 0 : 1;
}
