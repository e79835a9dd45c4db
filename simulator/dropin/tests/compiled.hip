// SPDX-License-Identifier: MIT OR Apache-2.0
// A HIP program as users write them, with the few declarations that it needs in place of ROCm's headers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __managed__ __attribute__((managed))

typedef unsigned long size_t;
typedef struct ihipStream_t *hipStream_t;
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
extern "C" {
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t);
int __hipPushCallConfiguration(dim3, dim3, size_t = 0, hipStream_t = 0);
int __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, hipStream_t *);
int hipMalloc(void **, size_t);
int hipFree(void *);
int hipMemcpy(void *, const void *, size_t, int);
int hipMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int hipDeviceSynchronize();
int hipGetLastError();
int hipFuncGetAttributes(void *, const void *);
int printf(const char *, ...);
}

#define CHECK(call)                                              \
  if (int error = (call)) {                                      \
    printf("%s: error %d in line %d\n", #call, error, __LINE__); \
    return 1;                                                    \
  }

__device__ float bias[4];

__managed__ int counted = 40;

__global__ void count_on(int more) { counted += more; }

__global__ void scale(float *values, float factor, int count) {
  int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < count) values[i] = values[i] * factor + bias[i % 4];
}

__global__ void write_one(int *values, long index) { values[index] = 1; }

int main(int count, char **) {
  float values[100], biases[4] = {1, 2, 3, 4};
  for (int i = 0; i < 100; ++i) values[i] = i;
  void *memory;
  CHECK(hipMalloc(&memory, sizeof values));
  CHECK(hipMemcpy(memory, values, sizeof values, 1));
  CHECK(hipMemcpyToSymbol(&bias, biases, sizeof biases, 0, 1));
  scale<<<2, 64>>>((float *)memory, 2.0f, 100);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(values, memory, sizeof values, 2));
  for (int i = 0; i < 100; ++i) {
    if (values[i] != 2.0f * i + (i % 4 + 1)) {
      printf("values[%d] is %f\n", i, values[i]);
      return 1;
    }
  }
  CHECK(hipFree(memory));
  count_on<<<1, 1>>>(2);
  CHECK(hipDeviceSynchronize());
  if (counted != 42) {
    printf("counted is %d\n", counted);
    return 1;
  }
  printf("right\n");
  if (count == 1) return 0;
  // With an argument: a store through an invalid pointer.
  CHECK(hipMalloc(&memory, 64));
  write_one<<<1, 1>>>((int *)memory, 1000);
  printf("device: %d\n", hipDeviceSynchronize());
  return 0;
}
