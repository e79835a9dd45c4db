// SPDX-License-Identifier: MIT OR Apache-2.0
// Features of the language beyond plain kernels: templates, structs by value, shared memory of both kinds, variables of the
// device, constants, atomics, calls through pointers, recursion, lanes that talk to each other, three dimensions.
#include "hip.h"

constexpr int N = 1 << 12;

struct Affine {
  double scale;
  float bias[3];
  short step;
};

__device__ int counter;
__device__ float table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
__constant__ int weights[4];

template <class T, int STEP> __global__ void scaled(T *out, const T *in, Affine by) {
  int i = block_x() * width_x() + thread_x();
  out[i] = T(in[i] * T(by.scale) + T(by.bias[i % 3]) + T(STEP * by.step));
}

__global__ void reversed(int *values) {
  extern __shared__ int tile[];
  int i = thread_x(), n = width_x();
  tile[i] = values[block_x() * n + i];
  barrier();
  values[block_x() * n + i] = tile[n - 1 - i];
}

__global__ __launch_bounds__(256) void total(const float *values, double *sum) {
  __shared__ double part[256];
  int lane = thread_x();
  double mine = 0;
  for (unsigned i = block_x() * 256 + lane; i < N; i += grid_x()) mine += values[i];
  part[lane] = mine;
  for (int width = 128; width; width /= 2) {
    barrier();
    if (lane < width) part[lane] += part[lane + width];
  }
  if (lane == 0) atomic_add(sum, part[0]);
}

__device__ __attribute__((noinline)) int add(int a, int b) { return a + b; }
__device__ __attribute__((noinline)) int multiply(int a, int b) { return a * b; }
__device__ __attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void called(int *out) {
  int i = thread_x();
  int (*operation)(int, int) = i % 2 ? add : multiply;
  int result = operation(i, weights[i % 4]) + fibonacci(i % 10) + int(table[i % 8]);
  switch (i % 7) {
  case 0: result += 3; break;
  case 1: result *= 5; break;
  case 2: result -= 70; break;
  case 3: result ^= 0x55; break;
  case 5: result = -result; break;
  default: result <<= 1;
  }
  out[i] = result;
  atomic_add(&counter, 1);
}

__global__ void places(unsigned *out) {
  unsigned inside = thread_x() + 4 * (thread_y() + 3 * thread_z());
  unsigned block = block_x() + 2 * block_y();
  out[24 * block + inside] = thread_x() | thread_y() << 8 | thread_z() << 16 | block << 24;
}

__global__ void neighbours(int *values) {
  int lane = thread_x();
  int other = __builtin_amdgcn_ds_bpermute(4 * ((lane + 1) % __builtin_amdgcn_wavefrontsize()), values[lane]);
#if __AMDGCN_WAVEFRONT_SIZE == 32
  unsigned long odd = __builtin_amdgcn_ballot_w32(values[lane] & 1);
#else
  unsigned long odd = __builtin_amdgcn_ballot_w64(values[lane] & 1);
#endif
  values[lane] = other + __builtin_popcountl(odd) + __builtin_amdgcn_readfirstlane(values[lane]);
}

int fibonacci_here(int n) { return n < 2 ? n : fibonacci_here(n - 1) + fibonacci_here(n - 2); }

template <class T> int check_scaled() {
  T *in, *out, host[N];
  for (int i = 0; i < N; ++i) host[i] = T(i % 100);
  CHECK(hipMalloc((void **)&in, sizeof host));
  CHECK(hipMalloc((void **)&out, sizeof host));
  CHECK(hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice));
  Affine by = {2, {1, 2, 3}, 5};
  scaled<T, 7><<<N / 64, 64>>>(out, in, by);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i) EXPECT(host[i] == T(T(i % 100) * 2 + T(by.bias[i % 3]) + 35));
  CHECK(hipFree(in));
  CHECK(hipFree(out));
  return 0;
}

int main() {
  EXPECT(!check_scaled<float>() && !check_scaled<double>() && !check_scaled<int>() && !check_scaled<long>());
  EXPECT(!check_scaled<_Float16>() && !check_scaled<unsigned char>());

  int ints[N], *memory;
  CHECK(hipMalloc((void **)&memory, sizeof ints));
  for (int i = 0; i < N; ++i) ints[i] = i;
  CHECK(hipMemcpy(memory, ints, sizeof ints, hipMemcpyHostToDevice));
  reversed<<<N / 128, 128, 128 * sizeof(int)>>>(memory);
  CHECK(hipMemcpy(ints, memory, sizeof ints, hipMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i) EXPECT(ints[i] == i / 128 * 128 + 127 - i % 128);

  float *values;
  double *sum;
  CHECK(hipMallocManaged((void **)&values, N * sizeof(float)));
  CHECK(hipMallocManaged((void **)&sum, sizeof(double)));
  for (int i = 0; i < N; ++i) values[i] = i * 0.5f;
  *sum = 0;
  total<<<5, 256>>>(values, sum);
  CHECK(hipDeviceSynchronize());
  EXPECT(*sum == 0.5 * (N - 1) * N / 2);

  int factors[4] = {3, -1, 10, 7}, count = 100;
  CHECK(hipMemcpyToSymbol(&weights, factors, sizeof factors));
  CHECK(hipMemcpyToSymbol(&counter, &count, sizeof count));
  called<<<1, 200>>>(memory);
  CHECK(hipMemcpy(ints, memory, 200 * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(hipMemcpyFromSymbol(&count, &counter, sizeof count));
  EXPECT(count == 300);
  for (int i = 0; i < 200; ++i) {
    int result = (i % 2 ? i + factors[i % 4] : i * factors[i % 4]) + fibonacci_here(i % 10) + (1 << i % 8);
    int expected[] = {result + 3, result * 5, result - 70, result ^ 0x55, result * 2, -result, result * 2};
    EXPECT(ints[i] == expected[i % 7]);
  }

  CHECK(hipMemset(memory, 0xff, sizeof ints));
  places<<<dim3(2, 3), dim3(4, 3, 2)>>>((unsigned *)memory);
  CHECK(hipMemcpy(ints, memory, 144 * sizeof(int), hipMemcpyDeviceToHost));
  for (int i = 0; i < 144; ++i) EXPECT(ints[i] == (i % 4 | i / 4 % 3 << 8 | i / 12 % 2 << 16 | i / 24 << 24));

  int lanes;
  CHECK(hipDeviceGetAttribute(&lanes, hipDeviceAttributeWarpSize, 0));
  for (int i = 0; i < lanes; ++i) ints[i] = i * i;
  CHECK(hipMemcpy(memory, ints, lanes * sizeof(int), hipMemcpyHostToDevice));
  neighbours<<<1, lanes>>>(memory);
  CHECK(hipMemcpy(ints, memory, lanes * sizeof(int), hipMemcpyDeviceToHost));
  for (int i = 0; i < lanes; ++i) EXPECT(ints[i] == (i + 1) % lanes * ((i + 1) % lanes) + lanes / 2);

  CHECK(hipFree(memory));
  CHECK(hipFree(values));
  CHECK(hipFree(sum));
  printf("right\n");
  return 0;
}
