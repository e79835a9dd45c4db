/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A kernel of Windlass between two pieces of work of another library, which has a stream of HIP and memory of its own.
 * Nothing waits in between.
 *
 *     external_stream order.ccob libamdhip64.so [URI]
 *
 * The other library is played by this program. It calls HIP by itself, as PyTorch would.
 */
#include <dlfcn.h>

#include "common.h"

#define COUNT 4096
#define ROUNDS 4

/* The part of HIP that the other library uses. Each function returns 0 for success. */
static struct {
    int (*malloc)(void **, size_t);
    int (*free)(void *);
    int (*stream_create)(void **, unsigned);
    int (*stream_destroy)(void *);
    int (*stream_synchronize)(void *);
    int (*memset_words)(void *, int, size_t, void *);
    int (*copy)(void *, const void *, size_t, int);
    int (*module_load)(void **, const void *);
    int (*module_function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
} hip;

#define HIP(call) require((call) == 0, #call)

static void find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    require(found != NULL, name);
    memcpy(function, &found, sizeof found);
}

static void load_hip(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    require(library != NULL, path);
    find(library, "hipMalloc", &hip.malloc);
    find(library, "hipFree", &hip.free);
    find(library, "hipStreamCreateWithFlags", &hip.stream_create);
    find(library, "hipStreamDestroy", &hip.stream_destroy);
    find(library, "hipStreamSynchronize", &hip.stream_synchronize);
    find(library, "hipMemsetD32Async", &hip.memset_words);
    find(library, "hipMemcpy", &hip.copy);
    find(library, "hipModuleLoadData", &hip.module_load);
    find(library, "hipModuleGetFunction", &hip.module_function);
    find(library, "hipModuleLaunchKernel", &hip.launch);
}

/* A tensor, whose memory goes with its last owner. Windlass lets go on a thread of its own. */
typedef struct {
    void *pointer;
    windlass_semaphore_t *freed;
} tensor_t;

static void let_go(void *user_data) {
    tensor_t *tensor = (tensor_t *)user_data;
    HIP(hip.free(tensor->pointer));
    check(windlass_semaphore_signal(tensor->freed, 1));
}

int main(int argc, char **argv) {
    const uint64_t minute = UINT64_C(60000000000);
    if (argc < 3) {
        fprintf(stderr, "usage: %s order.ccob libamdhip64.so [URI]\n", argv[0]);
        return EXIT_FAILURE;
    }
    load_hip(argv[2]);
    windlass_device_t *device = NULL;
    windlass_queue_t *queue = NULL;
    check(windlass_device_open(argc > 3 ? argv[3] : "hip://", &device));
    check(windlass_device_queue_of(device, 0, &queue));
    /* multiply_add(values, n, factor, addend): the wrong order changes every number. */
    windlass_function_t *multiply_add = load_function(device, argv[1], "multiply_add");

    /* The other library's stream, kernel and tensor. */
    void *stream = NULL, *module = NULL, *theirs = NULL;
    tensor_t tensor = {NULL, NULL};
    HIP(hip.stream_create(&stream, 1));
    size_t size = 0;
    unsigned char *code = (unsigned char *)read_file(argv[1], &size);
    HIP(hip.module_load(&module, code));
    HIP(hip.module_function(&theirs, module, "multiply_add"));
    HIP(hip.malloc(&tensor.pointer, COUNT * sizeof(uint32_t)));
    HIP(hip.memset_words(tensor.pointer, 1, COUNT, stream));

    windlass_buffer_t *values = NULL;
    windlass_semaphore_t *timeline = NULL;
    check(windlass_semaphore_create(0, &timeline));
    check(windlass_semaphore_create(0, &tensor.freed));
    check(windlass_buffer_import_device_address(device, NULL, (uint64_t)(uintptr_t)tensor.pointer,
                                                COUNT * sizeof(uint32_t), &tensor, let_go, &values));
    const windlass_external_timepoint_t now = {WINDLASS_EXTERNAL_TIMEPOINT_STREAM, 0, (uint64_t)(uintptr_t)stream};
    const windlass_dispatch_config_t grid = windlass_dispatch_config_sized(COUNT / 256, 1, 1, 256, 1, 1);
    const windlass_argument_t arguments[] = {
        windlass_arg_buffer(values),
        windlass_arg_i32(COUNT),
        windlass_arg_i32(5),
        windlass_arg_i32(7),
    };
    uint32_t expected = 1;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const windlass_point_t begin = windlass_at(timeline, 2 * round + 1);
        const windlass_point_t end = windlass_at(timeline, 2 * round + 2);
        int32_t count = COUNT;
        uint32_t factor = 3;
        void *parameters[] = {&tensor.pointer, &count, &factor, &round};
        HIP(hip.launch(theirs, COUNT / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
        check(windlass_queue_import_timepoint(queue, 0, NULL, 1, &begin, now));
        check(windlass_queue_dispatch(queue, 1, &begin, 1, &end, multiply_add, &grid, 4, arguments));
        check(windlass_queue_export_timepoint(queue, 1, &end, now.handle, 0));
        expected = (expected * 3 + round) * 5 + 7;
    }

    /* The stream is behind the last kernel of Windlass. */
    uint32_t *numbers = (uint32_t *)malloc(COUNT * sizeof(uint32_t));
    require(numbers != NULL, "memory");
    HIP(hip.stream_synchronize(stream));
    HIP(hip.copy(numbers, tensor.pointer, COUNT * sizeof(uint32_t), 2));
    for (int i = 0; i < COUNT; i++) {
        require(numbers[i] == expected, "each kernel ran in its turn");
    }
    /* The tensor goes when Windlass has seen the end of the last work that uses it: in a call that submits, polls, waits or
     * drains. */
    windlass_buffer_release(values);
    check(windlass_device_drain(device, minute));
    check(windlass_semaphore_wait(tensor.freed, 1, minute));
    printf("%d kernels of two libraries ran in turn\n", 2 * ROUNDS);

    /* A handle of nothing is an error of the call. */
    const windlass_external_timepoint_t wrong = {3, 0, now.handle};
    const windlass_point_t never = windlass_at(timeline, 100);
    windlass_error_t *error = windlass_queue_import_timepoint(queue, 0, NULL, 1, &never, wrong);
    require(windlass_error_code(error) == WINDLASS_CODE_INVALID_ARGUMENT, "a wrong kind is refused");
    windlass_error_release(error);
    error = windlass_queue_export_timepoint(queue, 1, &never, now.handle, 0);
    require(windlass_error_code(error) == WINDLASS_CODE_FAILED_PRECONDITION, "nothing signals the point");
    windlass_error_release(error);

    HIP(hip.stream_destroy(stream));
    free(numbers);
    free(code);
    windlass_semaphore_release(tensor.freed);
    windlass_semaphore_release(timeline);
    windlass_function_release(multiply_add);
    windlass_queue_release(queue);
    windlass_device_release(device);
    return EXIT_SUCCESS;
}
