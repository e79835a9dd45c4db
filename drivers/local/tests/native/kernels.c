/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernels of tests/native.rs. build.sh makes kernels.x86_64.so and kernels.aarch64.so of it. */
#include "windlass_kernel.h"

WINDLASS_KERNEL_EXPORT uint32_t counter = 7;
WINDLASS_KERNEL_EXPORT const uint32_t primes[4] = {2, 3, 5, 7};

/* out[x] = in[x] * factor below n. */
typedef struct { const float *in; float *out; float factor; uint32_t n; } scale_block;

WINDLASS_KERNEL(scale, scale_block, 0,
                WINDLASS_BUFFER(scale_block, in), WINDLASS_BUFFER(scale_block, out),
                WINDLASS_VALUE(scale_block, factor), WINDLASS_VALUE(scale_block, n)) {
  const scale_block *block = arguments;
  WINDLASS_FOR_EACH_ITEM_X(workgroup, x)
    if (x < block->n) block->out[x] = block->in[x] * block->factor;
  return 0;
}

/* Each workgroup writes what its record says: 12 words. */
typedef struct { uint32_t *out; } places_block;

WINDLASS_KERNEL(places, places_block, 0, WINDLASS_BUFFER(places_block, out)) {
  const places_block *block = arguments;
  const uint32_t *id = workgroup->workgroup_id, *count = workgroup->workgroup_count;
  uint32_t *out = block->out + 12 * (id[0] + count[0] * (id[1] + (uint64_t)count[1] * id[2]));
  for (int i = 0; i < 3; ++i) {
    out[i] = id[i];
    out[3 + i] = count[i];
    out[6 + i] = workgroup->workgroup_size[i];
  }
  out[9] = workgroup->record_size;
  out[10] = workgroup->reserved;
  out[11] = (uint32_t)((uintptr_t)arguments % 16);
  return 0;
}

/* A struct by value: out[0] = a + b.x * b.y. */
typedef struct { int8_t x; int64_t y; } pair;
typedef struct { int8_t a; pair b; int64_t *out; } by_value_block;

WINDLASS_KERNEL(by_value, by_value_block, 0, WINDLASS_VALUE(by_value_block, a), WINDLASS_VALUE(by_value_block, b),
                WINDLASS_BUFFER(by_value_block, out)) {
  (void)workgroup;
  const by_value_block *block = arguments;
  block->out[0] = block->a + block->b.x * block->b.y;
  return 0;
}

/* Fills all of its local memory, then writes for its workgroup: bytes there, the address by 64, the sum of the bytes. */
typedef struct { uint32_t *out; } scratch_block;

WINDLASS_KERNEL(scratch, scratch_block, 100, WINDLASS_BUFFER(scratch_block, out)) {
  const scratch_block *block = arguments;
  uint8_t *bytes = workgroup->local_memory;
  uint32_t sum = 0, id = workgroup->workgroup_id[0];
  for (uint32_t i = 0; i < workgroup->local_memory_size; ++i) ((volatile uint8_t *)bytes)[i] = (uint8_t)(id + i);
  for (uint32_t i = 0; i < workgroup->local_memory_size; ++i) sum += ((volatile uint8_t *)bytes)[i];
  block->out[3 * id] = workgroup->local_memory_size;
  block->out[3 * id + 1] = (uint32_t)((uintptr_t)bytes % 64);
  block->out[3 * id + 2] = sum;
  return 0;
}

/* Writes 1 where there is no local memory and none is pointed to, else 0. */
WINDLASS_KERNEL(without_scratch, scratch_block, 0, WINDLASS_BUFFER(scratch_block, out)) {
  const scratch_block *block = arguments;
  block->out[0] = workgroup->local_memory == NULL && workgroup->local_memory_size == 0;
  return 0;
}

/* Fails with the status where the workgroup is the given one. */
typedef struct { int32_t status; uint32_t at; } fail_block;

WINDLASS_KERNEL(fail, fail_block, 0, WINDLASS_VALUE(fail_block, status), WINDLASS_VALUE(fail_block, at)) {
  const fail_block *block = arguments;
  return workgroup->workgroup_id[0] == block->at ? block->status : 0;
}

/* out[0] = counter before it goes up by the third prime. */
typedef struct { uint32_t *out; } count_block;

WINDLASS_KERNEL(count, count_block, 0, WINDLASS_BUFFER(count_block, out)) {
  (void)workgroup;
  const count_block *block = arguments;
  block->out[0] = counter;
  counter += primes[2];
  return 0;
}

/* For workgroups of 4 by 2 work-items alone. */
WINDLASS_KERNEL_SIZED(fixed, count_block, 0, 4, 2, 1, 8, WINDLASS_BUFFER(count_block, out)) {
  (void)workgroup;
  const count_block *block = arguments;
  block->out[0] = 1;
  return 0;
}

/* No kernel. */
WINDLASS_KERNEL_EXPORT uint32_t helper(uint32_t x) { return x + 1; }

/* Notes where the destructor is to write that the object was unloaded. */
static volatile uint32_t *watched;

WINDLASS_KERNEL(watch, count_block, 0, WINDLASS_BUFFER(count_block, out)) {
  (void)workgroup;
  watched = ((const count_block *)arguments)->out;
  return 0;
}

__attribute__((destructor)) static void tell(void) {
  if (watched) *watched = 0xdead;
}
