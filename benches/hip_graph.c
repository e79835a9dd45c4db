/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The host's cost of a chain of dispatches by HIP's graphs and by launches: CPU time of the calling thread, in microseconds, the minimum of
 * 40 runs (12 for 1000 dispatches). Figures: docs/performance.md.
 *
 *     gcc -O2 -o hip_graph benches/hip_graph.c -ldl
 *     windlass exec --hip amd=6.4 -- ./hip_graph cts/kernels/bundles/vector_add.gfx942.co
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    unsigned x, y, z;
} extent_t;

/* hipKernelNodeParams. */
typedef struct {
    extent_t block;
    void **extra;
    void *function;
    extent_t grid;
    void **parameters;
    unsigned local_memory;
} node_t;

static void *library;

static void *entry(const char *name) {
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "%s is missing\n", name);
        exit(2);
    }
    return function;
}

#define CHECK(call)                                   \
    do {                                              \
        const int status = (call);                    \
        if (status) {                                 \
            fprintf(stderr, "%s: %d\n", #call, status); \
            exit(1);                                  \
        }                                             \
    } while (0)

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void keep(double *best, double since) {
    const double taken = now() - since;
    if (taken < *best) *best = taken;
}

int main(int count, char **words) {
    if (count != 2) {
        fprintf(stderr, "usage: hip_graph vector_add.CODE_OBJECT\n");
        return 2;
    }
    library = dlopen("libamdhip64.so.6", RTLD_NOW);
    if (!library) library = dlopen("libamdhip64.so", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    int (*load)(void **, const char *) = entry("hipModuleLoad");
    int (*find)(void **, void *, const char *) = entry("hipModuleGetFunction");
    int (*allocate)(void **, size_t) = entry("hipMalloc");
    int (*make_stream)(void **, unsigned) = entry("hipStreamCreateWithFlags");
    int (*synchronize)(void *) = entry("hipStreamSynchronize");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        entry("hipModuleLaunchKernel");
    int (*make_graph)(void **, unsigned) = entry("hipGraphCreate");
    int (*add)(void **, void *, void *const *, size_t, const node_t *) = entry("hipGraphAddKernelNode");
    int (*instantiate)(void **, void *, void **, char *, size_t) = entry("hipGraphInstantiate");
    int (*launch_graph)(void *, void *) = entry("hipGraphLaunch");
    int (*set)(void *, void *, const node_t *) = entry("hipGraphExecKernelNodeSetParams");
    int (*drop_instance)(void *) = entry("hipGraphExecDestroy");
    int (*drop_graph)(void *) = entry("hipGraphDestroy");

    void *module, *function, *stream;
    struct {
        void *a, *b, *sum;
        int n;
    } arguments;
    CHECK(load(&module, words[1]));
    CHECK(find(&function, module, "vector_add"));
    CHECK(allocate(&arguments.a, 1024));
    CHECK(allocate(&arguments.b, 1024));
    CHECK(allocate(&arguments.sum, 1024));
    arguments.n = 0;
    CHECK(make_stream(&stream, 1));
    size_t size = 28;
    void *block[] = {(void *)1, &arguments, (void *)2, &size, (void *)3};
    void *parameters[] = {&arguments.a, &arguments.b, &arguments.sum, &arguments.n};
    const node_t node = {{64, 1, 1}, NULL, function, {1, 1, 1}, parameters, 0};

    puts("| dispatches | launches | a graph | parameters of all nodes set, and the graph | instantiation |");
    for (int length = 1; length <= 1000; length *= 10) {
        double launches = 1e18, graphs = 1e18, tables = 1e18, instantiation = 1e18;
        void *graph, *instance, **nodes = calloc((size_t)length, sizeof *nodes);
        CHECK(make_graph(&graph, 0));
        for (int i = 0; i < length; i++) CHECK(add(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i > 0, &node));
        double since = now();
        CHECK(instantiate(&instance, graph, NULL, NULL, 0));
        keep(&instantiation, since);
        for (int run = 0; run < (length < 1000 ? 40 : 12); run++) {
            since = now();
            for (int i = 0; i < length; i++) CHECK(launch(function, 1, 1, 1, 64, 1, 1, 0, stream, NULL, block));
            keep(&launches, since);
            CHECK(synchronize(stream));
            since = now();
            CHECK(launch_graph(instance, stream));
            keep(&graphs, since);
            CHECK(synchronize(stream));
            since = now();
            for (int i = 0; i < length; i++) CHECK(set(instance, nodes[i], &node));
            CHECK(launch_graph(instance, stream));
            keep(&tables, since);
            CHECK(synchronize(stream));
        }
        printf("| %d | %.1f | %.1f | %.1f | %.1f |\n", length, launches, graphs, tables, instantiation);
        CHECK(drop_instance(instance));
        CHECK(drop_graph(graph));
        free(nodes);
    }
    return 0;
}
