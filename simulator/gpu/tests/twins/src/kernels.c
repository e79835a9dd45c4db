// SPDX-License-Identifier: MIT OR Apache-2.0
// All kernels as one translation unit: a linker does not merge the metadata of several.
#include "integer.c"
#include "float.c"
#include "half.c"
#include "uniform.c"
#include "vectors.c"
#include "control.c"
#include "memory.c"
#include "groups.c"
