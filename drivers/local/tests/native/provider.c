/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Definitions that user.c needs, without a kernel. */
#include "windlass_kernel.h"

WINDLASS_KERNEL_EXPORT uint32_t bias = 5;

WINDLASS_KERNEL_EXPORT uint32_t threefold(uint32_t x) { return 3 * x; }
