// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels of which one work-item does what it must not, with line numbers: every kind of error that a simulator reports.
// flags: -gline-tables-only -fdebug-compilation-dir=.
// targets: gfx942
#include "device.h"

static DEVICE inline void put(u32 *words, i64 index, u32 value) { words[index] = value; }

// kernel: stray_store
// args: words *u32 inout, item u32, index i64
// block: x, any
// grid: x = any
// does: work-item `item` writes 7 to words[index]
// for: a store out of bounds, after a free, through null or through a host pointer; the line is in an inlined function
KERNEL void stray_store(u32 *words, u32 item, i64 index) {
  if (global_x() == item) put(words, index, 7);
}

// kernel: stray_load
// args: words *u32 inout, item u32, index i64
// block: x, any
// grid: x = any
// does: work-item `item` copies words[index] to words[0]
// for: a load out of bounds, after a free, or of what nobody wrote
KERNEL void stray_load(u32 *words, u32 item, i64 index) {
  // Volatile, or it would be a scalar load.
  if (global_x() == item) words[0] = *(const volatile u32 *)&words[index];
}

// kernel: stray_atomic
// args: bytes *u8 inout, item u32, offset i64
// block: x, any
// grid: x = any
// does: work-item `item` adds 1 to the word at byte `offset`, atomically
// for: an atomic out of bounds or misaligned
KERNEL void stray_atomic(u8 *bytes, u32 item, i64 offset) {
  if (global_x() == item)
    __hip_atomic_fetch_add((u32 *)(bytes + offset), 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// kernel: stray_scalar_load
// args: words *u32 in, index i64, out *u32[1] out
// block: x, any
// grid: x = any
// does: out[0] = words[index], by an instruction for the whole wave
// for: a scalar load out of bounds
KERNEL void stray_scalar_load(const u32 *words, i64 index, u32 *out) { out[0] = words[index]; }

static DEVICE NOINLINE u32 victim(u32 x) { return x * 3 + 1; }
static DEVICE const u32 constants[4] = {2, 3, 5, 7};

// The compiler must not know what the pointer leads to.
static DEVICE u32 *hidden(const volatile void *pointer) {
  u64 address = (u64)pointer;
  __asm__ volatile("" : "+v"(address));
  return (u32 *)address;
}

// kernel: write_code
// args: out *u32[1] out, item u32
// block: x, any
// grid: x = any
// does: work-item `item` overwrites an instruction
// for: a write to code
KERNEL void write_code(u32 *out, u32 item) {
  if (global_x() != item) return;
  *hidden((const void *)&victim) = 0;
  out[0] = victim(out[0]);
}

// kernel: write_constant
// args: out *u32[1] out, item u32
// block: x, any
// grid: x = any
// does: work-item `item` overwrites a constant
// for: a write to read-only data
KERNEL void write_constant(u32 *out, u32 item) {
  if (global_x() != item) return;
  hidden(constants)[2] = 6;
  out[0] = *(const volatile u32 *)&constants[item & 3];
}

static SHARED u32 tile[64];

// kernel: stray_lds_store
// args: out *u32[1] out, item u32, index u32
// block: x, any
// grid: x = any
// does: work-item `item` writes to word `index` of 64 words of LDS
// for: LDS overrun by a store
KERNEL void stray_lds_store(u32 *out, u32 item, u32 index) {
  if (global_x() != item) return;
  tile[index] = 7;
  out[0] = tile[0];
}

// kernel: stray_lds_load
// args: out *u32[1] out, item u32, index u32
// block: x, any
// grid: x = any
// does: work-item `item` reads word `index` of 64 words of LDS
// for: LDS overrun by a load
KERNEL void stray_lds_load(u32 *out, u32 item, u32 index) {
  if (global_x() != item) return;
  tile[item % 64] = 1;
  out[0] = tile[index];
}

// kernel: stray_lds_atomic
// args: out *u32[1] out, item u32, offset u32
// block: x, any
// grid: x = any
// does: work-item `item` adds 1 to the word at byte `offset` of 256 bytes of LDS, atomically
// for: LDS overrun by an atomic, or a misaligned one
KERNEL void stray_lds_atomic(u32 *out, u32 item, u32 offset) {
  if (global_x() != item) return;
  u32 *word = (u32 *)((u8 *)tile + offset);
  out[0] = __hip_atomic_fetch_add(word, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

// kernel: stray_scratch_store
// args: out *u32[1] out, item u32, index u32
// block: x, any
// grid: x = any
// does: work-item `item` writes word `index` of a private array of 100 words
// for: an overrun of private memory by a store
KERNEL void stray_scratch_store(u32 *out, u32 item, u32 index) {
  volatile u32 own[100];
  own[item % 100] = 1;
  if (global_x() == item) own[index] = 7;
  out[0] = own[item % 100];
}

// kernel: stray_scratch_load
// args: out *u32[1] out, item u32, index u32
// block: x, any
// grid: x = any
// does: work-item `item` reads word `index` of a private array of 100 words
// for: an overrun of private memory by a load
KERNEL void stray_scratch_load(u32 *out, u32 item, u32 index) {
  volatile u32 own[100];
  own[item % 100] = 1;
  if (global_x() == item) out[0] = own[index];
}

static DEVICE NOINLINE u32 descend(u32 depth) {
  volatile u32 own[32];
  own[depth % 32] = depth;
  return depth == 0 ? 0 : descend(depth - 1) + own[depth % 32];
}

// kernel: deep_recursion
// args: out *u32[1] out, item u32, depth u32
// block: x, any
// grid: x = any
// does: work-item `item` calls itself `depth` times
// for: a stack that grows out of private memory
KERNEL void deep_recursion(u32 *out, u32 item, u32 depth) {
  if (global_x() == item) out[0] = descend(depth);
}

typedef void Function();

// kernel: stray_call
// args: out *u32[1] out, item u32, address u64
// block: x, any
// grid: x = any
// does: work-item `item` calls what is at an address
// for: a jump to what is no code
KERNEL void stray_call(u32 *out, u32 item, u64 address) {
  if (global_x() == item) ((Function *)address)();
  out[0] = 1;
}
