/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* windlass/global.h: Global variables of executables. windlass.h has the rules for all functions. Generated
 * by cbindgen. */
#ifndef WINDLASS_GLOBAL_H
#define WINDLASS_GLOBAL_H

#include "base.h"
#include "error.h"
#include "executable.h"
#include "buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

// A global variable of an executable. The name belongs to the executable's handle.
typedef struct {
    // sizeof this struct, set by the caller: windlass_global_info_init does so.
    size_t struct_size;
    // The name for lookups.
    const char *name;
    // The size in bytes, as the code says.
    uint64_t size;
} windlass_global_info_t;

// The number of global variables that can be looked up; 0 for NULL.
size_t windlass_executable_global_count(windlass_executable_t *executable);

// A global variable by number, from 0. OUT_OF_RANGE if there are fewer. The name is valid until the executable's last
// reference is released.
WINDLASS_MUST_USE
windlass_error_t *windlass_executable_global_info(windlass_executable_t *executable,
                                                  size_t index,
                                                  windlass_global_info_t *info);

// The memory of a global variable, as a buffer that keeps the executable loaded. NOT_FOUND lists the existing
// variables. Each GPU of a device has a copy of its own: `affinity` is 0, or on a device of several GPUs the queues
// of one. The caller owns the buffer.
WINDLASS_MUST_USE
windlass_error_t *windlass_executable_global(windlass_executable_t *executable,
                                             const char *name,
                                             uint64_t affinity,
                                             windlass_buffer_t **buffer);

// All zeros except the size.
WINDLASS_INIT_(windlass_global_info_t, windlass_global_info_init)

#ifdef __cplusplus
}
#endif

#endif
