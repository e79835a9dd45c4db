// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of glibc's header of this name: types with 64 bits are those of types.h.
#pragma once

typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
