// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels that use services of a runtime, as device libraries do: through the hidden arguments.
//
//   clang-19 -O2 -mcode-object-version=5 -nogpulib -fno-ident -x hip --offload-device-only --no-gpu-bundle-output \
//     --offload-arch=gfx942 -nogpuinc -fuse-cuid=none -cuid=windlass_services -I../../../cts/kernels/src \
//     -o services.gfx942.co services.hip
#include "device.h"

typedef const __attribute__((address_space(4))) u64 Hidden;

// The hidden arguments have a pointer at this byte. The kernel accesses the memory 24 bytes behind that address.
static DEVICE inline void use(u32 byte, u32 *out) {
  u64 service = ((Hidden *)__builtin_amdgcn_implicitarg_ptr())[byte / 8];
  *out = (u32) * (const volatile u64 *)(service + 24);
}

KERNEL void print_if(u32 *out, u32 condition) {
  *out = 1;
  if (condition) use(80, out);
}
KERNEL void allocate_if(u32 *out, u32 condition) {
  *out = 1;
  if (condition) use(96, out);
}
