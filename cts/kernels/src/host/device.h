// SPDX-License-Identifier: MIT OR Apache-2.0
// The counterpart of device.h for a CPU: a workgroup is a function call, by the ABI of windlass_kernel.h. host.py writes a
// file that includes this header and the unchanged kernel source, and describes the source's kernels.
//
// Work-items run one after another. If the source has a barrier or a trap (WINDLASS_FIBERS), each work-item has its own
// stack, and a barrier switches to the next work-item.
#pragma once
#include "windlass_kernel.h"

#define KERNEL static
#define DEVICE
// A thread runs one workgroup at a time.
#define SHARED __thread
#define CONSTANT
#define NOINLINE __attribute__((noinline))
#define MAX_BLOCK(n)
// A host has one kind of memory, so OpenCL's qualifiers are empty.
#define address_space(n)
#define amdgpu_kernel

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long i64;
typedef unsigned long u64;
typedef unsigned __int128 u128;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
typedef u32 uint;

namespace host {

// The position of the running work-item.
struct Place {
  const windlass_workgroup_t *group;
  u32 item[3];
};
static __thread Place here;

// A parameter in the argument block. It converts to the kernel's type.
struct Argument {
  const u8 *at;
  template <typename T> operator T() const {
    T value;
    __builtin_memcpy(&value, at, sizeof value);
    return value;
  }
};

// A parameter that is an offset in the dispatch's local memory, after the bytes that the kernel declares.
struct LocalArgument {
  const u8 *at;
  u32 declared;
  template <typename T> operator T *() const {
    return (T *)((u8 *)here.group->local_memory + declared + (u32)Argument{at});
  }
};

// The description of a kernel with N parameters.
template <u32 N> struct Description {
  windlass_kernel_info_t info;
  windlass_parameter_t parameters[N];
};
template <> struct Description<0> {
  windlass_kernel_info_t info;
};

static inline void enter(u32 x, u32 y, u32 z) { here.item[0] = x, here.item[1] = y, here.item[2] = z; }

}  // namespace host

#define WINDLASS_EXPORT extern "C" __attribute__((visibility("default")))

static inline u32 item_x() { return host::here.item[0]; }
static inline u32 item_y() { return host::here.item[1]; }
static inline u32 item_z() { return host::here.item[2]; }
static inline u32 group_x() { return host::here.group->workgroup_id[0]; }
static inline u32 group_y() { return host::here.group->workgroup_id[1]; }
static inline u32 group_z() { return host::here.group->workgroup_id[2]; }
static inline u32 block_x() { return host::here.group->workgroup_size[0]; }
static inline u32 block_y() { return host::here.group->workgroup_size[1]; }
static inline u32 block_z() { return host::here.group->workgroup_size[2]; }
static inline u32 grid_x() { return host::here.group->workgroup_count[0]; }
static inline u32 grid_y() { return host::here.group->workgroup_count[1]; }
static inline u32 grid_z() { return host::here.group->workgroup_count[2]; }
static inline u32 global_x() { return group_x() * block_x() + item_x(); }

#ifdef WINDLASS_FIBERS
#include "fibers.h"
#else
namespace host {
template <typename Body> static inline i32 run(const windlass_workgroup_t *group, Body body) {
  here.group = group;
  for (u32 z = 0; z < group->workgroup_size[2]; z++)
    for (u32 y = 0; y < group->workgroup_size[1]; y++)
      for (u32 x = 0; x < group->workgroup_size[0]; x++) enter(x, y, z), body();
  return 0;
}
}  // namespace host
#endif

#include "builtins.h"
