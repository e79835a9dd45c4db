/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A kernel that uses definitions of provider.c or cycle.c. */
#include "windlass_kernel.h"

extern uint32_t bias;
uint32_t threefold(uint32_t x);

WINDLASS_KERNEL_EXPORT uint32_t seed = 100;

typedef struct { uint32_t *out; uint32_t x; } apply_block;

/* out[0] = threefold(x) + bias. */
WINDLASS_KERNEL(apply, apply_block, 0, WINDLASS_BUFFER(apply_block, out), WINDLASS_VALUE(apply_block, x)) {
  (void)workgroup;
  const apply_block *block = arguments;
  block->out[0] = threefold(block->x) + bias;
  return 0;
}
