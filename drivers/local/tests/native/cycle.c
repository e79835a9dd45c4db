/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Definitions that user.c needs, which need user.c in turn, and a kernel with the same name as that of user.c. */
#include "windlass_kernel.h"

extern uint32_t seed;

WINDLASS_KERNEL_EXPORT uint32_t bias = 1;

WINDLASS_KERNEL_EXPORT uint32_t threefold(uint32_t x) { return 3 * x + seed; }

typedef struct { uint32_t *out; } apply_block;

/* out[0] = 1. */
WINDLASS_KERNEL(apply, apply_block, 0, WINDLASS_BUFFER(apply_block, out)) {
  (void)workgroup;
  ((const apply_block *)arguments)->out[0] = 1;
  return 0;
}
