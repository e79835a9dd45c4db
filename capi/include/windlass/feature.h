/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* windlass/feature.h: Features that a device may lack. windlass.h has the rules for all functions. Generated
 * by cbindgen. */
#ifndef WINDLASS_FEATURE_H
#define WINDLASS_FEATURE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

// An optional feature of a device: one of WINDLASS_FEATURE_*. Later versions may add features.
typedef uint32_t windlass_feature_t;

// A feature that a device declares to lack. Its use is UNIMPLEMENTED. The strings belong to the owner of the list.
typedef struct {
    // The missing feature.
    windlass_feature_t feature;
    // Zero.
    uint32_t reserved;
    // The reason in a few words.
    const char *reason;
} windlass_lack_t;

// A feature that this version of the interface has no number for.
#define WINDLASS_FEATURE_OTHER 0

// windlass_queue_alloca and windlass_queue_dealloca.
#define WINDLASS_FEATURE_ALLOCA 1

// Command buffers.
#define WINDLASS_FEATURE_COMMAND_BUFFERS 2

// Loading executables and dispatching their functions.
#define WINDLASS_FEATURE_DISPATCH 3

// Reading and writing files on a queue.
#define WINDLASS_FEATURE_FILES 4

// Host calls.
#define WINDLASS_FEATURE_HOST_CALLS 5

// Buffers of foreign host memory.
#define WINDLASS_FEATURE_IMPORT_HOST 6

// Buffers of foreign device memory.
#define WINDLASS_FEATURE_IMPORT_DEVICE 7

// Dispatches whose workgroup count is in a buffer.
#define WINDLASS_FEATURE_INDIRECT_DISPATCH 8

// Global variables of executables.
#define WINDLASS_FEATURE_GLOBALS 9

// Executables of several pieces of code that refer to each other.
#define WINDLASS_FEATURE_LINKING 10

// The symbols of executables.
#define WINDLASS_FEATURE_SYMBOLS 11

// windlass_function_occupancy and windlass_function_suggested_workgroup.
#define WINDLASS_FEATURE_OCCUPANCY 12

// Buffers that grow in place.
#define WINDLASS_FEATURE_VIRTUAL_MEMORY 13

// Order between queues and the streams and events of other libraries.
#define WINDLASS_FEATURE_EXTERNAL_TIMEPOINTS 14

// Channels between devices, and the collective operations on them.
#define WINDLASS_FEATURE_COLLECTIVES 15

// The name of a feature in reports, such as "import_host"; NULL for an unknown number. The string is valid forever.
const char *windlass_feature_name(windlass_feature_t feature);

#ifdef __cplusplus
}
#endif

#endif
