/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The calls that MLIR's lowering makes for one kernel, by hand. The library has no header: MLIR declares the functions in each
 * program that it compiles, and so does this one. A failure ends the process with code 1.
 *
 *     saxpy cts/kernels/bundles/saxpy.ccob
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *mgpuModuleLoad(void *code, size_t size);
void mgpuModuleUnload(void *module);
void *mgpuModuleGetFunction(void *module, const char *name);
void *mgpuStreamCreate(void);
void mgpuStreamSynchronize(void *stream);
void mgpuStreamDestroy(void *stream);
void *mgpuMemAlloc(uint64_t size, void *stream, uint8_t host_shared);
void mgpuMemFree(void *memory, void *stream);
void mgpuMemcpy(void *to, void *from, size_t size, void *stream);
void mgpuMemset32(void *memory, unsigned int value, size_t count, void *stream);
void mgpuLaunchKernel(void *function, intptr_t grid_x, intptr_t grid_y, intptr_t grid_z, intptr_t block_x, intptr_t block_y,
                      intptr_t block_z, int32_t shared_memory, void *stream, void **arguments, void **extra, size_t count);

#define COUNT 1000

int main(int argc, char **argv) {
    static char code[1 << 20];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: %s saxpy.ccob\n", argv[0]);
        return EXIT_FAILURE;
    }
    size_t size = fread(code, 1, sizeof code, file);
    fclose(file);

    float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
    }
    void *stream = mgpuStreamCreate();
    void *module = mgpuModuleLoad(code, size);
    void *function = mgpuModuleGetFunction(module, "saxpy");
    void *x_memory = mgpuMemAlloc(sizeof x, stream, 0);
    void *y_memory = mgpuMemAlloc(sizeof y, stream, 0);
    mgpuMemcpy(x_memory, x, sizeof x, stream);
    const unsigned int one = 0x3f800000; /* 1.0f */
    mgpuMemset32(y_memory, one, COUNT, stream);

    float factor = 2.0f;
    int32_t count = COUNT;
    void *arguments[] = {&factor, &x_memory, &y_memory, &count};
    mgpuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, arguments, NULL, 4);
    mgpuMemcpy(y, y_memory, sizeof y, stream);
    mgpuStreamSynchronize(stream);

    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        wrong += y[i] != 2.0f * (float)i + 1.0f;
    }
    printf("saxpy: %d of %d elements are wrong\n", wrong, COUNT);
    mgpuMemFree(x_memory, stream);
    mgpuMemFree(y_memory, stream);
    mgpuModuleUnload(module);
    mgpuStreamDestroy(stream);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
