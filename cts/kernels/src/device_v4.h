// SPDX-License-Identifier: MIT OR Apache-2.0
// Extends device.h for code object version 4, whose hidden arguments lack the number of workgroups: the dispatch packet has
// it. build.sh includes this file before each HIP source that it compiles to that version.
#pragma once

#define CODE_OBJECT_V4

// The functions of device.h read hidden arguments that only version 5 has.
#define grid_x grid_x_of_version_5
#define grid_y grid_y_of_version_5
#define grid_z grid_z_of_version_5
#include "device.h"
#undef grid_x
#undef grid_y
#undef grid_z

// The packet counts work-items: 16 bits for each extent of a workgroup, 32 for each of the grid.
static DEVICE inline u32 packet_grid(u32 d) {
  const auto *packet = (const __attribute__((address_space(4))) u8 *)__builtin_amdgcn_dispatch_ptr();
  u32 block = *(const __attribute__((address_space(4))) u16 *)(packet + 4 + 2 * d);
  u32 items = *(const __attribute__((address_space(4))) u32 *)(packet + 12 + 4 * d);
  return items / block + (items % block != 0);
}
static DEVICE inline u32 grid_x() { return packet_grid(0); }
static DEVICE inline u32 grid_y() { return packet_grid(1); }
static DEVICE inline u32 grid_z() { return packet_grid(2); }
