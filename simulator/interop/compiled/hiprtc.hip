// SPDX-License-Identifier: MIT OR Apache-2.0
// hipRTC, and services of the host for its kernels: `printf`, `malloc`, `free`, managed variables.
#include "hip.h"

typedef struct ihiprtcProgram *hiprtcProgram;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
extern "C" {
int hiprtcCreateProgram(hiprtcProgram *, const char *, const char *, int, const char **, const char **);
int hiprtcCompileProgram(hiprtcProgram, int, const char **);
int hiprtcGetProgramLog(hiprtcProgram, char *);
int hiprtcGetCodeSize(hiprtcProgram, size_t *);
int hiprtcGetCode(hiprtcProgram, char *);
int hiprtcDestroyProgram(hiprtcProgram *);
int hipModuleLoadData(hipModule_t *, const void *);
int hipModuleUnload(hipModule_t);
int hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);
int hipModuleGetGlobal(void **, size_t *, hipModule_t, const char *);
int hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t,
                          void **, void **);
}

constexpr int N = 256;
constexpr char SOURCE[] = R"(
__attribute__((managed)) int counter = 5;

extern "C" __global__ void sums(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) printf("block %d of %d, %s %g\n", (int)blockIdx.x, n / (int)blockDim.x, "text", 1.5);
  int *own = (int *)malloc(64 * sizeof(int));
  for (int k = 0; k < 64; ++k) own[k] = i + k;
  int sum = 0;
  for (int k = 0; k < 64; ++k) sum += own[k];
  free(own);
  out[i] = sum;
  atomicAdd(&counter, 1);
}
)";

#ifndef GPU
#define GPU "gfx942"
#endif

int main() {
  hiprtcProgram program;
  hipModule_t module;
  hipFunction_t sums;
  size_t size;
  const char *options[] = {"--offload-arch=" GPU, "-O3"};
  CHECK(hiprtcCreateProgram(&program, SOURCE, "sums.hip", 0, nullptr, nullptr));
  CHECK(hiprtcCompileProgram(program, 2, options));
  CHECK(hiprtcGetCodeSize(program, &size));
  char *code = (char *)malloc(size);
  CHECK(hiprtcGetCode(program, code));
  CHECK(hiprtcDestroyProgram(&program));
  CHECK(hipModuleLoadData(&module, code));
  CHECK(hipModuleGetFunction(&sums, module, "sums"));

  int *memory, result[N], n = N, count;
  void *counter, *arguments[] = {&memory, &n};
  CHECK(hipMalloc((void **)&memory, sizeof result));
  CHECK(hipModuleLaunchKernel(sums, N / 64, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr));
  CHECK(hipMemcpy(result, memory, sizeof result, hipMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i) EXPECT(result[i] == 64 * i + 64 * 63 / 2);
  CHECK(hipModuleGetGlobal(&counter, &size, module, "counter"));
  EXPECT(size == sizeof count);
  CHECK(hipMemcpy(&count, counter, sizeof count, hipMemcpyDeviceToHost));
  EXPECT(count == 5 + N);

  CHECK(hipFree(memory));
  CHECK(hipModuleUnload(module));
  free(code);
  printf("right\n");
  return 0;
}
