// SPDX-License-Identifier: MIT OR Apache-2.0
// The device side of HIP that these kernels need, for a plain clang: no ROCm headers, no device libraries.
#pragma once

#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))
#define NOINLINE __attribute__((noinline))
// At most N work-items per workgroup.
#define MAX_BLOCK(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

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

// Work-item position within its workgroup.
static DEVICE inline u32 item_x() { return __builtin_amdgcn_workitem_id_x(); }
static DEVICE inline u32 item_y() { return __builtin_amdgcn_workitem_id_y(); }
static DEVICE inline u32 item_z() { return __builtin_amdgcn_workitem_id_z(); }
// Workgroup position within the grid.
static DEVICE inline u32 group_x() { return __builtin_amdgcn_workgroup_id_x(); }
static DEVICE inline u32 group_y() { return __builtin_amdgcn_workgroup_id_y(); }
static DEVICE inline u32 group_z() { return __builtin_amdgcn_workgroup_id_z(); }
// Workgroup size, read from the hidden arguments.
static DEVICE inline u32 block_x() { return __builtin_amdgcn_workgroup_size_x(); }
static DEVICE inline u32 block_y() { return __builtin_amdgcn_workgroup_size_y(); }
static DEVICE inline u32 block_z() { return __builtin_amdgcn_workgroup_size_z(); }

// Number of workgroups: hidden_block_count_{x,y,z}, the first three words of the hidden arguments.
static DEVICE inline u32 hidden_word(u32 index) {
  return ((const __attribute__((address_space(4))) u32 *)__builtin_amdgcn_implicitarg_ptr())[index];
}
static DEVICE inline u32 grid_x() { return hidden_word(0); }
static DEVICE inline u32 grid_y() { return hidden_word(1); }
static DEVICE inline u32 grid_z() { return hidden_word(2); }

static DEVICE inline u32 global_x() { return group_x() * block_x() + item_x(); }

// All work-items of the workgroup arrive, and see each other's LDS and global writes.
static DEVICE inline void block_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
