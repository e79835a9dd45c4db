// SPDX-License-Identifier: MIT OR Apache-2.0
// The declarations of HIP that the programs beside this file need, so that clang alone compiles them.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

typedef unsigned long size_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
enum { hipDeviceAttributeWarpSize = 87 };
enum { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2, hipMemcpyDeviceToDevice = 3 };

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

extern "C" {
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t);
int __hipPushCallConfiguration(dim3, dim3, size_t = 0, hipStream_t = 0);
int __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, hipStream_t *);
int hipMalloc(void **, size_t);
int hipMallocManaged(void **, size_t, unsigned = 1);
int hipHostMalloc(void **, size_t, unsigned = 0);
int hipHostFree(void *);
int hipFree(void *);
int hipMemcpy(void *, const void *, size_t, int);
int hipMemcpyAsync(void *, const void *, size_t, int, hipStream_t);
int hipMemset(void *, int, size_t);
int hipMemcpyToSymbol(const void *, const void *, size_t, size_t = 0, int = hipMemcpyHostToDevice);
int hipMemcpyFromSymbol(void *, const void *, size_t, size_t = 0, int = hipMemcpyDeviceToHost);
int hipDeviceGetAttribute(int *, int, int);
int hipDeviceSynchronize();
int hipGetLastError();
int hipStreamCreate(hipStream_t *);
int hipStreamSynchronize(hipStream_t);
int hipStreamDestroy(hipStream_t);
int hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned);
int hipEventCreate(hipEvent_t *);
int hipEventRecord(hipEvent_t, hipStream_t);
int hipEventElapsedTime(float *, hipEvent_t, hipEvent_t);
int hipEventSynchronize(hipEvent_t);
int hipEventDestroy(hipEvent_t);
const char *hipGetErrorName(int);
int printf(const char *, ...);
void *malloc(size_t);
void free(void *);
}

static __device__ unsigned thread_x() { return __builtin_amdgcn_workitem_id_x(); }
static __device__ unsigned thread_y() { return __builtin_amdgcn_workitem_id_y(); }
static __device__ unsigned thread_z() { return __builtin_amdgcn_workitem_id_z(); }
static __device__ unsigned block_x() { return __builtin_amdgcn_workgroup_id_x(); }
static __device__ unsigned block_y() { return __builtin_amdgcn_workgroup_id_y(); }
static __device__ unsigned width_x() { return __builtin_amdgcn_workgroup_size_x(); }
static __device__ unsigned grid_x() { return __builtin_amdgcn_grid_size_x(); }
static __device__ void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
template <class T> static __device__ T atomic_add(T *at, T value) {
  return __scoped_atomic_fetch_add(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

#define CHECK(call)                                                                \
  do {                                                                             \
    if (int error = (call)) {                                                      \
      printf("line %d: %s: %s\n", __LINE__, #call, hipGetErrorName(error));        \
      return 1;                                                                    \
    }                                                                              \
  } while (0)
#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      printf("line %d: not so: %s\n", __LINE__, #condition);                       \
      return 1;                                                                    \
    }                                                                              \
  } while (0)
