// SPDX-License-Identifier: MIT OR Apache-2.0
// In the place of glibc's header of this name: types with 64 bits are those of types.h.
#pragma once

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
