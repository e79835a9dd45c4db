// SPDX-License-Identifier: MIT OR Apache-2.0
// Services of the runtime through AMD's device library: `printf`, `malloc`, `free`, a barrier of the whole grid. With the
// word `assert` a kernel fails an assertion at the end.
#include "hip.h"

extern "C" {
int strcmp(const char *, const char *);
int hipLaunchCooperativeKernel(const void *, dim3, dim3, void **, unsigned, hipStream_t);
__device__ void *__ockl_dm_alloc(size_t);
__device__ void __ockl_dm_dealloc(void *);
__device__ void __ockl_grid_sync();
__device__ int __ockl_grid_is_valid();
__device__ unsigned long __ockl_fprintf_stderr_begin();
__device__ unsigned long __ockl_fprintf_append_string_n(unsigned long, const char *, unsigned long, unsigned);
__device__ int printf(const char *, ...);
}

// The library asks for these; the names are AMD's.
#ifdef __AMDGCN__
#define ASKED(type, name, value)                                                                                 \
  extern __device__ __attribute__((visibility("hidden"), address_space(4))) const type name;                       \
  __device__ __attribute__((used, visibility("hidden"), address_space(4))) const type name = value;
extern "C" {
ASKED(int, __oclc_ISA_version, 9402)
ASKED(bool, __oclc_wavefrontsize64, true)
ASKED(int, __oclc_wavefrontsize_log2, 6)
ASKED(int, __oclc_ABI_version, ABI)
}
#endif

constexpr int N = 256;

__global__ void hello(int *out) {
  int i = block_x() * width_x() + thread_x();
  if (thread_x() == 0) out[block_x()] = printf("Hello from block %u: %s, %5.2f, %c\n", block_x(), "text", 0.5 * i, 'x');
}

__global__ void lists(int *out) {
  int i = block_x() * width_x() + thread_x();
  int *own = (int *)__ockl_dm_alloc(64 * sizeof(int)), *large = (int *)__ockl_dm_alloc(5000);
  if (!own || !large) return;
  for (int k = 0; k < 64; ++k) own[k] = i + k;
  large[1249] = 1;
  int sum = 0;
  for (int k = 0; k < 64; ++k) sum += own[k];
  out[i] = sum + large[1249];
  __ockl_dm_dealloc(own);
  __ockl_dm_dealloc(large);
}

__global__ void together(int *values, int *out) {
  int group = block_x(), sum = 0;
  values[group] = group + __ockl_grid_is_valid();
  __ockl_grid_sync();
  for (unsigned other = 0; other < grid_x() / width_x(); ++other) sum += values[other];
  out[group] = sum;
}

__global__ void fails(int n) {
  if (thread_x() != 0 || n == 0) return;
  unsigned long message = __ockl_fprintf_stderr_begin();
  __ockl_fprintf_append_string_n(message, "hello.hip: device assertion `n == 0' failed\n", 45, 1);
  __builtin_trap();
}

int main(int count, char **words) {
  int *memory, *values, result[N];
  CHECK(hipMalloc((void **)&memory, sizeof result));
  CHECK(hipMalloc((void **)&values, sizeof result));
  printf("before\n");
  hello<<<2, 64>>>(memory);
  CHECK(hipDeviceSynchronize());
  printf("after\n");
  CHECK(hipMemcpy(result, memory, 2 * sizeof(int), hipMemcpyDeviceToHost));
  EXPECT(result[0] == 35 && result[1] == 35);

  lists<<<N / 64, 64>>>(memory);
  CHECK(hipMemcpy(result, memory, sizeof result, hipMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i) EXPECT(result[i] == 64 * i + 64 * 63 / 2 + 1);

  void *arguments[] = {&values, &memory};
  CHECK(hipLaunchCooperativeKernel((const void *)together, dim3(100), dim3(64), arguments, 0, 0));
  CHECK(hipMemcpy(result, memory, sizeof result, hipMemcpyDeviceToHost));
  for (int i = 0; i < 100; ++i) EXPECT(result[i] == 100 + 100 * 99 / 2);

  CHECK(hipFree(memory));
  CHECK(hipFree(values));
  if (count > 1 && strcmp(words[1], "assert") == 0) {
    fails<<<1, 64>>>(1);
    EXPECT(hipDeviceSynchronize() == 719);
  }
  printf("right\n");
  return 0;
}
