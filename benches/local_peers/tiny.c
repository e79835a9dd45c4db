/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernels of tiny.mlir for local://. */
#include "windlass_kernel.h"

typedef struct {
  const float *in;
  float *out;
} block;

WINDLASS_KERNEL(copies_four, block, 0, WINDLASS_BUFFER(block, in), WINDLASS_BUFFER(block, out)) {
  const block *given = (const block *)arguments;
  (void)workgroup;
  __builtin_memcpy(given->out, given->in, 16);
  return 0;
}

WINDLASS_KERNEL(doubles_one, block, 0, WINDLASS_BUFFER(block, in), WINDLASS_BUFFER(block, out)) {
  const block *given = (const block *)arguments;
  const uint32_t x = workgroup->workgroup_id[0];
  given->out[x] = given->in[x] + given->in[x];
  return 0;
}
