// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums numbers over two GPUs: once from two threads with a rank each, once from one thread by a group. The declarations are
// RCCL's and HIP's, whose headers need not be installed.
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    char internal[128];
} ncclUniqueId;
typedef struct ncclComm *ncclComm_t;
typedef struct ihipStream_t *hipStream_t;
enum { ncclInt32 = 2, ncclSum = 0, hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 };

int ncclGetUniqueId(ncclUniqueId *id);
int ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank);
int ncclCommDestroy(ncclComm_t comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, ncclComm_t comm, hipStream_t stream);
const char *ncclGetLastError(ncclComm_t comm);
int hipGetDeviceCount(int *count);
int hipSetDevice(int device);
int hipMalloc(void **pointer, size_t size);
int hipMemcpy(void *to, const void *from, size_t size, int kind);
int hipStreamCreate(hipStream_t *stream);
int hipStreamSynchronize(hipStream_t stream);

enum { RANKS = 2, COUNT = 1000 };

static void must(int status, const char *call) {
    if (status != 0) {
        fprintf(stderr, "%s: %d: %s\n", call, status, ncclGetLastError(NULL));
        exit(1);
    }
}
#define MUST(call) must(call, #call)

typedef struct {
    int rank;
    ncclUniqueId id;
    ncclComm_t comm;
    hipStream_t stream;
    int *memory;
} Rank;

static void prepare(Rank *own) {
    int numbers[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i] = i + 1000 * own->rank;
    MUST(hipSetDevice(own->rank));
    MUST(hipStreamCreate(&own->stream));
    MUST(hipMalloc((void **)&own->memory, sizeof numbers));
    MUST(hipMemcpy(own->memory, numbers, sizeof numbers, hipMemcpyHostToDevice));
}

static void check(Rank *own) {
    int numbers[COUNT];
    MUST(hipStreamSynchronize(own->stream));
    MUST(hipMemcpy(numbers, own->memory, sizeof numbers, hipMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++) {
        if (numbers[i] != 2 * i + 1000) {
            fprintf(stderr, "rank %d, place %d: %d\n", own->rank, i, numbers[i]);
            exit(1);
        }
    }
    MUST(ncclCommDestroy(own->comm));
}

static void *by_thread(void *argument) {
    Rank *own = argument;
    prepare(own);
    MUST(ncclCommInitRank(&own->comm, RANKS, own->id, own->rank));
    MUST(ncclAllReduce(own->memory, own->memory, COUNT, ncclInt32, ncclSum, own->comm, own->stream));
    check(own);
    return NULL;
}

int main(void) {
    Rank ranks[RANKS] = {{.rank = 0}, {.rank = 1}};
    ncclUniqueId id;
    pthread_t threads[RANKS];
    int devices = 0;

    MUST(hipGetDeviceCount(&devices));
    if (devices < RANKS) {
        fprintf(stderr, "this program needs %d GPUs, and the machine has %d\n", RANKS, devices);
        return 2;
    }
    MUST(ncclGetUniqueId(&id));
    for (int i = 0; i < RANKS; i++) {
        ranks[i].id = id;
        if (pthread_create(&threads[i], NULL, by_thread, &ranks[i]) != 0) return 1;
    }
    for (int i = 0; i < RANKS; i++) pthread_join(threads[i], NULL);

    MUST(ncclGetUniqueId(&id));
    for (int i = 0; i < RANKS; i++) prepare(&ranks[i]);
    MUST(ncclGroupStart());
    for (int i = 0; i < RANKS; i++) {
        MUST(hipSetDevice(i));
        MUST(ncclCommInitRank(&ranks[i].comm, RANKS, id, i));
    }
    MUST(ncclGroupEnd());
    MUST(ncclGroupStart());
    for (int i = 0; i < RANKS; i++) {
        Rank *own = &ranks[i];
        MUST(ncclAllReduce(own->memory, own->memory, COUNT, ncclInt32, ncclSum, own->comm, own->stream));
    }
    MUST(ncclGroupEnd());
    for (int i = 0; i < RANKS; i++) check(&ranks[i]);
    puts("the sums of 2 GPUs are right");
    return 0;
}
