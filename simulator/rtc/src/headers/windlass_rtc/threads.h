// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a thread is, barriers, fences and clocks.
#pragma once

struct dim3 {
  uint32_t x, y, z;
  WINDLASS_RTC_ANY dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1) : x(x), y(y), z(z) {}
};

namespace windlass_rtc {
// A variable whose members are computed when they are read.
#define WINDLASS_RTC_PLACE(name, of_x, of_y, of_z)                                \
  struct name {                                                                   \
    __declspec(property(get = get_x)) uint32_t x;                                 \
    __declspec(property(get = get_y)) uint32_t y;                                 \
    __declspec(property(get = get_z)) uint32_t z;                                 \
    WINDLASS_RTC uint32_t get_x() const { return of_x; }                          \
    WINDLASS_RTC uint32_t get_y() const { return of_y; }                          \
    WINDLASS_RTC uint32_t get_z() const { return of_z; }                          \
    WINDLASS_RTC operator dim3() const { return dim3(get_x(), get_y(), get_z()); } \
  }
// Blocks are whole, as clang assumes of HIP's kernels.
WINDLASS_RTC uint32_t threads(int axis) {
  return axis == 0 ? __builtin_amdgcn_workgroup_size_x()
       : axis == 1 ? __builtin_amdgcn_workgroup_size_y() : __builtin_amdgcn_workgroup_size_z();
}
WINDLASS_RTC uint32_t blocks(int axis) {
#if WINDLASS_RTC_CODE_OBJECT >= 5
  // The first of the runtime's own arguments.
  return ((const __attribute__((address_space(4))) uint32_t *)__builtin_amdgcn_implicitarg_ptr())[axis];
#else
  uint32_t all = axis == 0 ? __builtin_amdgcn_grid_size_x()
               : axis == 1 ? __builtin_amdgcn_grid_size_y() : __builtin_amdgcn_grid_size_z();
  return all / threads(axis);
#endif
}
WINDLASS_RTC_PLACE(thread_place, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z());
WINDLASS_RTC_PLACE(block_place, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z());
WINDLASS_RTC_PLACE(block_size, threads(0), threads(1), threads(2));
WINDLASS_RTC_PLACE(grid_size, blocks(0), blocks(1), blocks(2));
}

extern const __attribute__((device, weak)) windlass_rtc::thread_place threadIdx;
extern const __attribute__((device, weak)) windlass_rtc::block_place blockIdx;
extern const __attribute__((device, weak)) windlass_rtc::block_size blockDim;
extern const __attribute__((device, weak)) windlass_rtc::grid_size gridDim;

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

// From gfx10 on waves have 32 lanes.
#if defined(__AMDGCN_WAVEFRONT_SIZE)
#define WINDLASS_RTC_LANES __AMDGCN_WAVEFRONT_SIZE
#elif defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
#define WINDLASS_RTC_LANES 32
#else
#define WINDLASS_RTC_LANES 64
#endif
static constexpr __attribute__((device)) int warpSize = WINDLASS_RTC_LANES;

WINDLASS_RTC void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
WINDLASS_RTC void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
WINDLASS_RTC void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
WINDLASS_RTC void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

WINDLASS_RTC int windlass_rtc_reduced(int value, int kind) {
  __shared__ static int reduced[3];
  bool first = threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
  __syncthreads();
  if (first) reduced[kind] = kind == 1;
  __syncthreads();
  if (kind == 0 && value) __hip_atomic_fetch_add(&reduced[0], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  if (kind == 1 && !value) reduced[1] = 0;
  if (kind == 2 && value) reduced[2] = 1;
  __syncthreads();
  return reduced[kind];
}
WINDLASS_RTC int __syncthreads_count(int value) { return windlass_rtc_reduced(value, 0); }
WINDLASS_RTC int __syncthreads_and(int value) { return windlass_rtc_reduced(value, 1); }
WINDLASS_RTC int __syncthreads_or(int value) { return windlass_rtc_reduced(value, 2); }

WINDLASS_RTC long long __clock64() { return (long long)__builtin_readcyclecounter(); }
WINDLASS_RTC long long __clock() { return __clock64(); }
WINDLASS_RTC long long clock64() { return __clock64(); }
WINDLASS_RTC long long clock() { return __clock64(); }
#if __has_builtin(__builtin_readsteadycounter)
WINDLASS_RTC long long wall_clock64() { return (long long)__builtin_readsteadycounter(); }
#else
WINDLASS_RTC long long wall_clock64() { return (long long)__builtin_amdgcn_s_memrealtime(); }
#endif
WINDLASS_RTC void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
WINDLASS_RTC void __trap() { __builtin_trap(); }
WINDLASS_RTC void abort() { __builtin_trap(); }
WINDLASS_RTC unsigned __smid() { return 0; }

WINDLASS_RTC void *__get_dynamicgroupbaseptr() {
  extern __shared__ char windlass_rtc_dynamic[];
  return windlass_rtc_dynamic;
}
