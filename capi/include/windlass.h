/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * windlass.h: devices, queues, timeline semaphores, command buffers, memory and executables, over HIP or a
 * simulated AMD GPU. C99 and C++11 or newer. Made by cbindgen; docs/c.md has examples.
 *
 * What holds for every function, unless its own comment says otherwise:
 *
 * Errors. A function that can fail returns windlass_error_t *: NULL is success, anything else belongs to the
 * caller, who reads its code and message and releases it. After a failure an out parameter for a handle is NULL;
 * any other is untouched. NULL for an object, a number out of range, a size that cannot be, text that is not UTF-8
 * are INVALID_ARGUMENT or OUT_OF_RANGE. A defect of the library is INTERNAL; it never aborts the program.
 *
 * Ownership. Objects are counted: windlass_X_retain adds a reference, windlass_X_release gives one back, NULL is
 * right for both. What a function gives by an out parameter belongs to the caller. What a function takes it borrows
 * until it returns; what submitted work uses, the work keeps. A handle that is used after its last release is found
 * out and refused with INVALID_ARGUMENT until its place is given to a later object; do not count on it.
 *
 * Threads. Any function may be called from any thread at any time, with the same objects too. Nothing blocks except
 * what has a timeout. Callbacks run on threads of the library, may block, and may call any function.
 *
 * Strings are UTF-8 and end with a NUL. Lists are a count and a pointer, NULL is right for an empty list. Timeouts are
 * in nanoseconds from now, 0 looks once, WINDLASS_TIMEOUT_INFINITE waits as long as it takes.
 *
 * Structs with a struct_size may get more fields. Make them with the functions at the end of this file, which set it,
 * and zero the rest.
 */


#ifndef WINDLASS_H
#define WINDLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Put before functions whose result must be looked at. */
#if !defined(WINDLASS_MUST_USE)
#if defined(__GNUC__) || defined(__clang__)
#define WINDLASS_MUST_USE __attribute__((warn_unused_result))
#else
#define WINDLASS_MUST_USE
#endif
#endif


// The version of this interface, the major number in the upper 16 bits. A program and a library fit when the major numbers are
// equal and the library's minor number is not smaller: windlass_abi_fits tells.
#define WINDLASS_ABI_VERSION 1

// A range of a buffer.
#define WINDLASS_REF_BUFFER 1

// A range of what the binding table holds in a slot.
#define WINDLASS_REF_SLOT 2

// The length that means everything from the offset on.
#define WINDLASS_WHOLE_BUFFER UINT64_MAX

// The greatest payload. Larger values are refused with OUT_OF_RANGE.
#define WINDLASS_SEMAPHORE_MAX_VALUE 9223372036854775807

// The timeout of a wait that takes as long as it takes. All timeouts are in nanoseconds from now; 0 looks once.
#define WINDLASS_TIMEOUT_INFINITE UINT64_MAX

// The arguments are one block that the caller packed: the first argument is bytes, exactly as many as the function's
// argument_size, in its layout; those after it are the buffers whose addresses stand in the block, which the submission
// keeps alive.
#define WINDLASS_DISPATCH_RAW_ARGUMENTS (1 << 0)

// The address of a range; of a slot only in command buffers.
#define WINDLASS_ARGUMENT_RANGE 1

// Bytes elsewhere.
#define WINDLASS_ARGUMENT_BYTES 2

// A number in the argument itself.
#define WINDLASS_ARGUMENT_VALUE 3

// A null address.
#define WINDLASS_ARGUMENT_NULL 4

// The signals are reached when the call begins instead of when it returns.
#define WINDLASS_HOST_CALL_NON_BLOCKING (1 << 0)

// Whoever waits may spin: the call is short.
#define WINDLASS_HOST_CALL_WAIT_ACTIVE (1 << 1)

// The call needs no memory of the device to be visible to it.
#define WINDLASS_HOST_CALL_RELAXED (1 << 2)

// Memory of a device: a whole allocation or a part of it. The allocation lives until the last handle that shares it is
// released and the last submission that uses it has ended.
typedef struct windlass_buffer_t windlass_buffer_t;

// A finished recording, immutable. May be in flight any number of times at once, on any queues of its device.
typedef struct windlass_command_buffer_t windlass_command_buffer_t;

// The signal list of a host call that completes later. Releasing it before windlass_completion_complete fails the list with
// ABORTED.
typedef struct windlass_completion_t windlass_completion_t;

// The devices that a driver found.
typedef struct windlass_device_list_t windlass_device_list_t;

// An opened device. When the last reference to it and to its queues is released, what was not issued fails with
// CANCELLED; what was issued goes on and still reaches its signals. Nothing waits for it.
typedef struct windlass_device_t windlass_device_t;

// Why a call failed: a code, and a message that says what was tried and what to do.
typedef struct windlass_error_t windlass_error_t;

// Loaded device code. Lives until the last reference to it and to its functions is released and the last submission
// that uses it has ended.
typedef struct windlass_executable_t windlass_executable_t;

// A function of an executable, which it keeps loaded.
typedef struct windlass_function_t windlass_function_t;

// A host call while it runs. Belongs to the library and ends with the call.
typedef struct windlass_host_call_t windlass_host_call_t;

// A queue of a device, or a set of queues of which the device picks one. Every operation takes a wait list and a signal
// list and returns without waiting for other work. It starts when every wait is reached; when it has completed, every signal
// is. Nothing else orders it: two operations without an edge between them may run in any order or at once.
//
// An error that an operation returns means that nothing was accepted, and the signal list is untouched. What goes wrong later
// fails the signal list. What an operation uses, it keeps alive: the handles may be released right after.
typedef struct windlass_queue_t windlass_queue_t;

// Records a command buffer. Every call validates at once; a call that fails records nothing. Commands may run in any order or
// at once unless a barrier stands between them. Threads that share a recorder take turns.
typedef struct windlass_recorder_t windlass_recorder_t;

// A timeline semaphore: a payload of 64 bits that only grows, and the one way in which work is ordered. It belongs to no
// device. Waiting for a value that nobody has promised yet is legal.
typedef struct windlass_semaphore_t windlass_semaphore_t;

// A callback that waits for a semaphore.
typedef struct windlass_timepoint_t windlass_timepoint_t;

// The kind of a failure: one of WINDLASS_CODE_*, with the numeric values of gRPC and IREE. More may come.
typedef uint32_t windlass_code_t;

// What a device is. Its strings belong to the device, or to the list that the device stands in.
typedef struct {
    // sizeof this struct, set by the caller: windlass_device_info_init does.
    size_t struct_size;
    // The URI that opens this very device.
    const char *uri;
    // The name its maker gives it.
    const char *name;
    // The target that code must be built for, with the state of its features: "gfx942:sramecc+:xnack-".
    const char *architecture;
    // A lasting identity ("GPU-..."), or NULL.
    const char *uuid;
    // The library behind it and its version, or NULL.
    const char *library;
    // True for anything that is not the hardware it looks like. Whoever prints a device prints this.
    bool simulated;
} windlass_device_info_t;

// What a device can take. Zero means that the device sets no limit.
typedef struct {
    // sizeof this struct, set by the caller: windlass_device_limits_init does.
    size_t struct_size;
    // Queues, numbered from 0. At least 1, at most 64.
    uint32_t queues;
    // Work-items of a workgroup in x, y, z.
    uint32_t max_workgroup_size[3];
    // Work-items of a workgroup in all.
    uint32_t max_workgroup_threads;
    // Workgroups of a dispatch in x, y, z.
    uint32_t max_workgroup_count[3];
    // Local memory (LDS) of a workgroup in bytes, static and dynamic together.
    uint32_t max_local_memory;
    // Work-items of a wave.
    uint32_t wave_size;
    // Device memory in bytes.
    uint64_t total_memory;
    // The alignment of allocations in bytes.
    uint64_t allocation_alignment;
    // GPUs or other processors that the device is made of, each with its own memory and an equal share of the queues, in order.
    uint32_t physical_devices;
    // Zero.
    uint32_t reserved;
} windlass_device_limits_t;

// What a device's memory is used for, in bytes. What the host can map is host memory.
typedef struct {
    // sizeof this struct, set by the caller: windlass_statistics_init does.
    size_t struct_size;
    // Device memory in use by buffers, as they asked for it.
    uint64_t device_bytes_used;
    // Device memory taken from the system, in use or kept for reuse.
    uint64_t device_bytes_reserved;
    // The most that device_bytes_used ever was.
    uint64_t device_bytes_peak;
    // Device memory that buffers ever got.
    uint64_t device_bytes_allocated;
    // Device memory that buffers gave back.
    uint64_t device_bytes_freed;
    // Host memory in use by buffers, as they asked for it.
    uint64_t host_bytes_used;
    // Host memory taken from the system, in use or kept for reuse.
    uint64_t host_bytes_reserved;
    // The most that host_bytes_used ever was.
    uint64_t host_bytes_peak;
    // Host memory that buffers ever got.
    uint64_t host_bytes_allocated;
    // Host memory that buffers gave back.
    uint64_t host_bytes_freed;
    // The number of allocations that are in use.
    uint64_t allocations;
    // The number of pools that have a handle or a buffer left.
    uint64_t pools;
} windlass_statistics_t;

// What a function takes and needs. Its strings belong to the function's handle.
typedef struct {
    // sizeof this struct, set by the caller: windlass_function_info_init does.
    size_t struct_size;
    // The name to look it up by.
    const char *name;
    // Name and parameters in one line: "saxpy(alpha: 4 bytes, x: buffer, y: buffer, n: 4 bytes)".
    const char *signature;
    // Explicit parameters. What the runtime fills in is not among them.
    uint32_t parameter_count;
    // Bytes of the block that holds the explicit arguments.
    uint32_t argument_size;
    // The workgroup size that the code was built for; zeros where it fixes none.
    uint32_t workgroup_size[3];
    // The most work-items of a workgroup; 0 where only the device's limit counts.
    uint32_t max_workgroup_threads;
    // Bytes of local memory (LDS) that every workgroup gets.
    uint32_t static_local_memory;
} windlass_function_info_t;

// What a parameter takes: one of WINDLASS_PARAMETER_*. More may come.
typedef uint32_t windlass_parameter_kind_t;

// An explicit parameter of a function. The name belongs to the function's handle.
typedef struct {
    // sizeof this struct, set by the caller: windlass_parameter_init does.
    size_t struct_size;
    // Its name in the source; NULL where the compiler did not keep it.
    const char *name;
    // What it takes.
    windlass_parameter_kind_t kind;
    // Where it lies in the argument block, in bytes.
    uint32_t offset;
    // Bytes.
    uint32_t size;
} windlass_parameter_t;

// Where memory lives and who sees it: a set of WINDLASS_MEMORY_TYPE_*, with IREE's numeric values.
typedef uint32_t windlass_memory_type_t;

// What a buffer may be used for: a set of WINDLASS_BUFFER_USAGE_*, with IREE's numeric values.
typedef uint32_t windlass_buffer_usage_t;

// How to allocate a buffer. windlass_buffer_params_device and windlass_buffer_params_host make the usual ones.
typedef struct {
    // sizeof this struct.
    size_t struct_size;
    // Where it lives.
    windlass_memory_type_t memory_type;
    // What it may be used for.
    windlass_buffer_usage_t usage;
    // The least alignment of its address in bytes, a power of two; 0 for the device's own.
    uint64_t min_alignment;
    // The queues that use it most, bit n for queue n: where a device has several GPUs, the memory is near the first of these.
    // 0 for any.
    uint64_t queue_affinity;
} windlass_buffer_params_t;

// A value of a semaphore: what wait lists and signal lists are made of. It borrows the semaphore for the call that it is
// passed to.
typedef struct {
    // The timeline.
    windlass_semaphore_t *semaphore;
    // The value to wait for or to signal.
    uint64_t value;
} windlass_point_t;

// Called when a semaphore reached a value, with NULL, or with the error why it never will: the semaphore's failure, or
// CANCELLED. The error belongs to the library and lasts as long as the call; retain it to keep it. Runs on a thread of
// Windlass, which it may block. A C++ exception must not leave it.
typedef void (*windlass_timepoint_callback_t)(void *user_data, windlass_error_t *error);

// What an operation works on: a range of a buffer, or a range of whatever the binding table of a command buffer holds in
// a slot. windlass_range, windlass_whole and windlass_slot make one. It borrows the buffer for the call it is passed to.
typedef struct {
    // One of WINDLASS_REF_*.
    uint32_t kind;
    // The slot's number; 0 for a buffer.
    uint32_t slot;
    // The buffer; NULL for a slot.
    windlass_buffer_t *buffer;
    // Where the range begins, in bytes.
    uint64_t offset;
    // Bytes. WINDLASS_WHOLE_BUFFER for what a buffer has behind the offset; a slot needs a number.
    uint64_t length;
} windlass_buffer_ref_t;

// How to launch a function. windlass_dispatch_config makes one.
typedef struct {
    // sizeof this struct.
    size_t struct_size;
    // Workgroups in x, y, z.
    uint32_t workgroup_count[3];
    // Work-items of a workgroup in x, y, z; zeros where the code fixes it.
    uint32_t workgroup_size[3];
    // Bytes of local memory (LDS) beyond what the function declares.
    uint32_t dynamic_local_memory;
    // A set of WINDLASS_DISPATCH_*.
    uint32_t flags;
} windlass_dispatch_config_t;

// One argument: there is one for each explicit parameter of the function, in the function's order. windlass_arg_buffer,
// windlass_arg_i32 and their like make one. What it points to is read before the call returns.
typedef struct {
    // One of WINDLASS_ARGUMENT_*.
    uint32_t kind;
    // Bytes of `value`: 1, 2, 4 or 8.
    uint32_t value_size;
    // The range of a buffer or of a slot.
    windlass_buffer_ref_t range;
    // Bytes of exactly the parameter's size: numbers and structs by value, in the kernel's layout.
    const void *bytes;
    // How many bytes.
    size_t size;
    // A number, in the first bytes.
    uint8_t value[8];
} windlass_argument_t;

// Called once the waits of its submission are reached, on a thread of Windlass, which it may block. NULL reaches the signals;
// an error fails them. The error passes to the library: return windlass_error_create(...), or retain one that belongs to
// somebody else. A C++ exception must not leave it.
typedef windlass_error_t *(*windlass_host_call_callback_t)(void *user_data, windlass_host_call_t *call);

// Called once when the library needs user data no more; may be NULL. On any thread. It must not block.
typedef void (*windlass_destroy_t)(void *user_data);

// No failure: the code of a NULL error.
#define WINDLASS_CODE_OK 0

// The work was given up before it was issued, usually because its device was closed.
#define WINDLASS_CODE_CANCELLED 1

// A failure that fits no other code.
#define WINDLASS_CODE_UNKNOWN 2

// The caller passed something that can never be right.
#define WINDLASS_CODE_INVALID_ARGUMENT 3

// The time of a wait was up. The thing waited for may still happen.
#define WINDLASS_CODE_DEADLINE_EXCEEDED 4

// A named thing (function, device, file) does not exist.
#define WINDLASS_CODE_NOT_FOUND 5

// A thing that must be new exists.
#define WINDLASS_CODE_ALREADY_EXISTS 6

// The system denies access, for example to /dev/kfd.
#define WINDLASS_CODE_PERMISSION_DENIED 7

// Memory or another bounded resource ran out.
#define WINDLASS_CODE_RESOURCE_EXHAUSTED 8

// The call is right but not in this state of the object.
#define WINDLASS_CODE_FAILED_PRECONDITION 9

// Work failed while it ran, or something that it depends on did.
#define WINDLASS_CODE_ABORTED 10

// An offset, a length or a count lies outside what the object has.
#define WINDLASS_CODE_OUT_OF_RANGE 11

// The driver does not offer this.
#define WINDLASS_CODE_UNIMPLEMENTED 12

// An invariant of Windlass or of the vendor's library broke.
#define WINDLASS_CODE_INTERNAL 13

// The device or the library is not there now.
#define WINDLASS_CODE_UNAVAILABLE 14

// The device was lost, or data cannot be recovered.
#define WINDLASS_CODE_DATA_LOSS 15

// Credentials are missing.
#define WINDLASS_CODE_UNAUTHENTICATED 16

// A device address of eight bytes: a buffer, a slot or null.
#define WINDLASS_PARAMETER_BUFFER 1

// Bytes of exactly the parameter's size.
#define WINDLASS_PARAMETER_VALUE 2

// The host can map it.
#define WINDLASS_MEMORY_TYPE_HOST_VISIBLE (1 << 1)

// Host and device see each other's writes without flushes.
#define WINDLASS_MEMORY_TYPE_HOST_COHERENT (1 << 2)

// Host reads are cached.
#define WINDLASS_MEMORY_TYPE_HOST_CACHED (1 << 3)

// It lives near the host, which can map it.
#define WINDLASS_MEMORY_TYPE_HOST_LOCAL ((1 << 6) | (1 << 1))

// Device queues can use it.
#define WINDLASS_MEMORY_TYPE_DEVICE_VISIBLE (1 << 4)

// It lives near the device, whose queues can use it.
#define WINDLASS_MEMORY_TYPE_DEVICE_LOCAL ((1 << 5) | (1 << 4))

// Source of copies.
#define WINDLASS_BUFFER_USAGE_TRANSFER_SOURCE (1 << 0)

// Target of copies, fills and updates.
#define WINDLASS_BUFFER_USAGE_TRANSFER_TARGET (1 << 1)

// Both.
#define WINDLASS_BUFFER_USAGE_TRANSFER ((1 << 0) | (1 << 1))

// Parameters of indirect dispatches.
#define WINDLASS_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS (1 << 8)

// Argument of dispatches that read it.
#define WINDLASS_BUFFER_USAGE_DISPATCH_STORAGE_READ (1 << 10)

// Argument of dispatches that write it.
#define WINDLASS_BUFFER_USAGE_DISPATCH_STORAGE_WRITE (1 << 11)

// Argument of dispatches.
#define WINDLASS_BUFFER_USAGE_DISPATCH_STORAGE ((1 << 10) | (1 << 11))

// The host may map it.
#define WINDLASS_BUFFER_USAGE_MAPPING (1 << 24)

// Transfers and dispatches.
#define WINDLASS_BUFFER_USAGE_DEFAULT ((((1 << 0) | (1 << 1)) | (1 << 10)) | (1 << 11))

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The library's WINDLASS_ABI_VERSION.
uint32_t windlass_abi_version(void);

// The version of Windlass, such as "0.1.0". Valid for ever.
const char *windlass_version(void);

// Makes an error, for a callback to return and for windlass_semaphore_fail_with. A code that does not exist becomes
// UNKNOWN. The message may be NULL; it is copied. A message that is not UTF-8 makes an INVALID_ARGUMENT error that
// says so. The caller owns the error.
WINDLASS_MUST_USE
windlass_error_t *windlass_error_create(windlass_code_t code,
                                        const char *message);

// The kind of the failure; WINDLASS_CODE_OK for NULL, INVALID_ARGUMENT for an error that was released.
windlass_code_t windlass_error_code(windlass_error_t *error);

// The code's name, the message and what was being done, in one line: "NOT_FOUND: no function `add`; the executable has
// `sum` (while ...)". "OK" for NULL. Valid until the error's last reference is released.
const char *windlass_error_message(windlass_error_t *error);

// Adds a reference and gives the error back. NULL for NULL.
windlass_error_t *windlass_error_retain(windlass_error_t *error);

// Gives a reference back. The error and its message end with the last one. NULL is right.
void windlass_error_release(windlass_error_t *error);

// A code's name, such as "INVALID_ARGUMENT"; "OK" for 0, NULL for a number that is no code. Valid for ever.
const char *windlass_code_name(windlass_code_t code);

// The drivers of this library by scheme, numbered from 0: "hip", "hip-sim", ... NULL past the last. Valid for ever.
const char *windlass_driver_scheme(size_t index);

// Lists the devices of a driver, of which there may be none. A driver that cannot look, because a library or an access
// right is missing, is an error that says which. The caller owns the list.
WINDLASS_MUST_USE
windlass_error_t *windlass_driver_devices(const char *scheme,
                                          windlass_device_list_t **list);

// The number of devices in a list; 0 for NULL.
size_t windlass_device_list_count(windlass_device_list_t *list);

// What a device of the list is. OUT_OF_RANGE where the list is shorter. The strings are valid until the list's last
// reference is released.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_list_info(windlass_device_list_t *list,
                                            size_t index,
                                            windlass_device_info_t *info);

// Adds a reference and gives the list back. NULL for NULL.
windlass_device_list_t *windlass_device_list_retain(windlass_device_list_t *list);

// Gives a reference back. NULL is right.
void windlass_device_list_release(windlass_device_list_t *list);

// Opens the device that a URI names: "hip://", "hip://1", "hip-sim://gfx942", ... NOT_FOUND or UNAVAILABLE say what was
// looked for and where. The caller owns the device.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_open(const char *uri,
                                       windlass_device_t **device);

// Opens the device that the environment variable WINDLASS_DEVICE names, else the first real GPU. Nothing simulated is
// chosen unasked: where there is no GPU, UNAVAILABLE says why and what to set. The caller owns the device.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_open_default(windlass_device_t **device);

// Adds a reference and gives the device back. NULL for NULL.
windlass_device_t *windlass_device_retain(windlass_device_t *device);

// Gives a reference back. NULL is right. Never waits.
void windlass_device_release(windlass_device_t *device);

// What the device is. The strings are valid until the device's last reference is released.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_info(windlass_device_t *device,
                                       windlass_device_info_t *info);

// What the device can take.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_limits(windlass_device_t *device,
                                         windlass_device_limits_t *limits);

// What the device's memory is used for.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_statistics(windlass_device_t *device,
                                             windlass_statistics_t *statistics);

// Retires what has finished. Never blocks. Waiting and submitting do this too.
WINDLASS_MUST_USE windlass_error_t *windlass_device_poll(windlass_device_t *device);

// Blocks until everything issued so far has retired, or DEADLINE_EXCEEDED. Operations whose waits are not reached are
// not issued, and not waited for.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_drain(windlass_device_t *device,
                                        uint64_t timeout_ns);

// Closes the device for all handles: what was not issued fails with CANCELLED, new work is refused. Does not wait.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_close(windlass_device_t *device);

// Gives memory that nobody uses back to the system.
WINDLASS_MUST_USE windlass_error_t *windlass_device_trim(windlass_device_t *device);

// Loads device code: a code object, or a bundle of them, compressed or not. The best entry for the device is chosen; where
// none fits, NOT_FOUND says for each entry why. The code is copied; the caller owns the executable.
//
// Besides the program's own pointers this is the one unsafe act of the C interface: device code can write wherever the
// device can reach, and no check can stop it. The caller vouches for every dispatch of the code that the program can
// make: whatever buffers, values and raw argument blocks it is given, it stays within live buffers of this device and
// within the usage they were allocated for.
WINDLASS_MUST_USE
windlass_error_t *windlass_executable_load(windlass_device_t *device,
                                           const void *code,
                                           size_t size,
                                           windlass_executable_t **executable);

// Loads `count` pieces of device code as one executable: what one piece leaves undefined, a function or a variable, another
// may define. Piece i has `sizes[i]` bytes at `codes[i]` and is what `windlass_executable_load` takes. A symbol that no
// piece defines is NOT_FOUND and is named. FAILED_PRECONDITION where pieces need each other in a circle, and where nobody
// tells the device address of a symbol. The code is copied; the caller owns the executable, and vouches for all pieces as
// `windlass_executable_load` says.
WINDLASS_MUST_USE
windlass_error_t *windlass_executable_load_linked(windlass_device_t *device,
                                                  size_t count,
                                                  const void *const *codes,
                                                  const size_t *sizes,
                                                  windlass_executable_t **executable);

// Adds a reference and gives the executable back. NULL for NULL.
windlass_executable_t *windlass_executable_retain(windlass_executable_t *executable);

// Gives a reference back. NULL is right.
void windlass_executable_release(windlass_executable_t *executable);

// A function by name; NOT_FOUND names those that exist. The caller owns the handle.
WINDLASS_MUST_USE
windlass_error_t *windlass_executable_function(windlass_executable_t *executable,
                                               const char *name,
                                               windlass_function_t **function);

// The number of functions that can be dispatched; 0 for NULL.
size_t windlass_executable_function_count(windlass_executable_t *executable);

// A function by number, from 0. OUT_OF_RANGE where there are fewer. The caller owns the handle.
WINDLASS_MUST_USE
windlass_error_t *windlass_executable_function_at(windlass_executable_t *executable,
                                                  size_t index,
                                                  windlass_function_t **function);

// The memory of a global variable, as a buffer, which keeps the executable loaded. NOT_FOUND names the variables that exist.
// `affinity` is 0, or on a device of several GPUs, each of which has a copy of its own, the queues of one. The caller owns the
// buffer.
WINDLASS_MUST_USE
windlass_error_t *windlass_executable_global(windlass_executable_t *executable,
                                             const char *name,
                                             uint64_t affinity,
                                             windlass_buffer_t **buffer);

// Adds a reference and gives the function back. NULL for NULL.
windlass_function_t *windlass_function_retain(windlass_function_t *function);

// Gives a reference back. NULL is right.
void windlass_function_release(windlass_function_t *function);

// What the function takes and needs. The strings are valid until the function's last reference is released.
WINDLASS_MUST_USE
windlass_error_t *windlass_function_info(windlass_function_t *function,
                                         windlass_function_info_t *info);

// A parameter by number, from 0. OUT_OF_RANGE where the function has fewer. The name is valid until the function's last
// reference is released.
WINDLASS_MUST_USE
windlass_error_t *windlass_function_parameter(windlass_function_t *function,
                                              uint32_t index,
                                              windlass_parameter_t *parameter);

// Allocates memory that is usable at once. Its contents are undefined. NULL parameters mean those of
// windlass_buffer_params_device. RESOURCE_EXHAUSTED where memory ran out. windlass_queue_alloca is cheaper for memory
// that lives for a few operations. The caller owns the buffer.
WINDLASS_MUST_USE
windlass_error_t *windlass_buffer_allocate(windlass_device_t *device,
                                           const windlass_buffer_params_t *params,
                                           uint64_t size,
                                           windlass_buffer_t **buffer);

// A part of a buffer as a buffer of its own, which shares the allocation. OUT_OF_RANGE where it does not fit. The caller
// owns the handle.
WINDLASS_MUST_USE
windlass_error_t *windlass_buffer_subspan(windlass_buffer_t *buffer,
                                          uint64_t offset,
                                          uint64_t length,
                                          windlass_buffer_t **part);

// Adds a reference and gives the buffer back. NULL for NULL.
windlass_buffer_t *windlass_buffer_retain(windlass_buffer_t *buffer);

// Gives a reference back. NULL is right. Work that uses the buffer goes on.
void windlass_buffer_release(windlass_buffer_t *buffer);

// Bytes in the buffer; 0 for NULL.
uint64_t windlass_buffer_size(windlass_buffer_t *buffer);

// The address that device code sees; 0 for NULL. It is not the host's to follow.
uint64_t windlass_buffer_device_address(windlass_buffer_t *buffer);

// Copies bytes of a mappable buffer to the host, at once: what a queue does to them meanwhile is ordered by semaphores
// alone. FAILED_PRECONDITION where the buffer was not allocated for mapping, UNAVAILABLE where the device's memory cannot be
// mapped (windlass_queue_download can), OUT_OF_RANGE where the buffer is shorter.
WINDLASS_MUST_USE
windlass_error_t *windlass_buffer_read(windlass_buffer_t *buffer,
                                       uint64_t offset,
                                       void *target,
                                       size_t size);

// Copies bytes of the host into a mappable buffer, at once. Fails like windlass_buffer_read.
WINDLASS_MUST_USE
windlass_error_t *windlass_buffer_write(windlass_buffer_t *buffer,
                                        uint64_t offset,
                                        const void *source,
                                        size_t size);

// The host's pointer to a mappable buffer, valid while the buffer's handle is. The device may write the bytes at any time
// that semaphores do not exclude. Fails like windlass_buffer_read.
WINDLASS_MUST_USE
windlass_error_t *windlass_buffer_host_pointer(windlass_buffer_t *buffer,
                                               void **pointer);

// Makes a timeline that starts at a value, cut to WINDLASS_SEMAPHORE_MAX_VALUE. The caller owns it.
WINDLASS_MUST_USE
windlass_error_t *windlass_semaphore_create(uint64_t initial,
                                            windlass_semaphore_t **semaphore);

// Adds a reference and gives the semaphore back. NULL for NULL.
windlass_semaphore_t *windlass_semaphore_retain(windlass_semaphore_t *semaphore);

// Gives a reference back. NULL is right. What was submitted with the semaphore keeps it.
void windlass_semaphore_release(windlass_semaphore_t *semaphore);

// The payload as it is now; the failure of a semaphore that failed. Never blocks.
WINDLASS_MUST_USE
windlass_error_t *windlass_semaphore_query(windlass_semaphore_t *semaphore,
                                           uint64_t *value);

// Raises the payload from the host and wakes whoever waited for it. At or below the payload, and on a failed semaphore, it
// does nothing.
WINDLASS_MUST_USE
windlass_error_t *windlass_semaphore_signal(windlass_semaphore_t *semaphore,
                                            uint64_t value);

// Fails the semaphore: sticky, and the first failure wins. Whoever waits for a value that was not reached gets the failure
// at once, work that depends on it does not run. A code that does not exist becomes UNKNOWN; the message may be NULL. What is
// returned says whether this call went well, not the failure.
WINDLASS_MUST_USE
windlass_error_t *windlass_semaphore_fail(windlass_semaphore_t *semaphore,
                                          windlass_code_t code,
                                          const char *message);

// Fails the semaphore with an error that came from elsewhere, which the caller keeps. See windlass_semaphore_fail.
WINDLASS_MUST_USE
windlass_error_t *windlass_semaphore_fail_with(windlass_semaphore_t *semaphore,
                                               windlass_error_t *error);

// Blocks until the payload reaches a value. The semaphore's failure where it fails first, DEADLINE_EXCEEDED where the time is
// up first. Spins briefly, then sleeps.
WINDLASS_MUST_USE
windlass_error_t *windlass_semaphore_wait(windlass_semaphore_t *semaphore,
                                          uint64_t value,
                                          uint64_t timeout_ns);

// Blocks until every point is reached. Fails at once with the failure of any; DEADLINE_EXCEEDED where the time is up first. An
// empty list is reached.
WINDLASS_MUST_USE
windlass_error_t *windlass_wait_all(size_t count,
                                    const windlass_point_t *points,
                                    uint64_t timeout_ns);

// Blocks until one point is reached, and says which. A failure ends the wait unless another point is reached. An empty list
// is INVALID_ARGUMENT.
WINDLASS_MUST_USE
windlass_error_t *windlass_wait_any(size_t count,
                                    const windlass_point_t *points,
                                    uint64_t timeout_ns,
                                    size_t *index);

// Calls a function once the payload reaches a value or the semaphore fails: exactly once, on a thread of Windlass, perhaps
// before this returns; not at all where this returns an error. `timepoint` may be NULL for a callback that nobody will cancel; else the caller
// owns the handle, whose release cancels nothing. A value that is neither reached nor failed keeps the semaphore and the user
// data for ever: cancel it.
WINDLASS_MUST_USE
windlass_error_t *windlass_semaphore_add_timepoint(windlass_semaphore_t *semaphore,
                                                   uint64_t value,
                                                   windlass_timepoint_callback_t callback,
                                                   void *user_data,
                                                   windlass_timepoint_t **timepoint);

// Ends the wait of a time point: the callback is called with CANCELLED unless it was or is being called already.
WINDLASS_MUST_USE
windlass_error_t *windlass_timepoint_cancel(windlass_timepoint_t *timepoint);

// Adds a reference and gives the time point back. NULL for NULL.
windlass_timepoint_t *windlass_timepoint_retain(windlass_timepoint_t *timepoint);

// Gives a reference back. NULL is right. Cancels nothing.
void windlass_timepoint_release(windlass_timepoint_t *timepoint);

// A queue by number. OUT_OF_RANGE where the device has fewer. The caller owns the handle, which keeps the device open.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_queue(windlass_device_t *device,
                                        uint32_t index,
                                        windlass_queue_t **queue);

// A queue that stands for a set, bit n for queue n: the device picks one for each operation. Bits of queues that it does
// not have are ignored, 0 means any; OUT_OF_RANGE where none is left. The caller owns the handle.
WINDLASS_MUST_USE
windlass_error_t *windlass_device_queue_of(windlass_device_t *device,
                                           uint64_t affinity,
                                           windlass_queue_t **queue);

// Adds a reference and gives the queue back. NULL for NULL.
windlass_queue_t *windlass_queue_retain(windlass_queue_t *queue);

// Gives a reference back. NULL is right. Never waits.
void windlass_queue_release(windlass_queue_t *queue);

// A pure edge from waits to signals.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_barrier(windlass_queue_t *queue,
                                         size_t wait_count,
                                         const windlass_point_t *waits,
                                         size_t signal_count,
                                         const windlass_point_t *signals);

// Allocates memory in the order of the queue. The handle and its address are there at once and may be recorded and submitted;
// the contents are the buffer's own, and undefined, once the signals are reached. NULL parameters mean those of
// windlass_buffer_params_device. The caller owns the handle.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_alloca(windlass_queue_t *queue,
                                        size_t wait_count,
                                        const windlass_point_t *waits,
                                        size_t signal_count,
                                        const windlass_point_t *signals,
                                        const windlass_buffer_params_t *params,
                                        uint64_t size,
                                        windlass_buffer_t **buffer);

// Gives the memory of a whole allocation back in the order of the queue, whatever handles remain; their references are
// released as usual. Work behind the signals may reuse the memory; using the buffer behind them is a mistake.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_dealloca(windlass_queue_t *queue,
                                          size_t wait_count,
                                          const windlass_point_t *waits,
                                          size_t signal_count,
                                          const windlass_point_t *signals,
                                          windlass_buffer_t *buffer);

// Repeats a pattern of 1, 2 or 4 bytes over `target`, whose address and length must be multiples of the pattern's size.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_fill(windlass_queue_t *queue,
                                      size_t wait_count,
                                      const windlass_point_t *waits,
                                      size_t signal_count,
                                      const windlass_point_t *signals,
                                      windlass_buffer_ref_t target,
                                      const void *pattern,
                                      size_t pattern_size);

// Writes `size` bytes of the host over `target`, which has as many. The bytes are captured before this returns.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_update(windlass_queue_t *queue,
                                        size_t wait_count,
                                        const windlass_point_t *waits,
                                        size_t signal_count,
                                        const windlass_point_t *signals,
                                        const void *source,
                                        size_t size,
                                        windlass_buffer_ref_t target);

// Copies `source` over `target` of the same length; they must not overlap.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_copy(windlass_queue_t *queue,
                                      size_t wait_count,
                                      const windlass_point_t *waits,
                                      size_t signal_count,
                                      const windlass_point_t *signals,
                                      windlass_buffer_ref_t source,
                                      windlass_buffer_ref_t target);

// Launches one function, with one argument for each of its parameters. A grid without workgroups is a barrier.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_dispatch(windlass_queue_t *queue,
                                          size_t wait_count,
                                          const windlass_point_t *waits,
                                          size_t signal_count,
                                          const windlass_point_t *signals,
                                          windlass_function_t *function,
                                          const windlass_dispatch_config_t *config,
                                          size_t argument_count,
                                          const windlass_argument_t *arguments);

// Runs a command buffer, with a binding for each of its slots. Bindings are ranges of buffers. The same command buffer may
// be in flight any number of times, on any queues of its device.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_execute(windlass_queue_t *queue,
                                         size_t wait_count,
                                         const windlass_point_t *waits,
                                         size_t signal_count,
                                         const windlass_point_t *signals,
                                         windlass_command_buffer_t *command_buffer,
                                         size_t binding_count,
                                         const windlass_buffer_ref_t *bindings);

// Copies `source` to the host's memory at `target`, which has `size` bytes, as many as the source. The bytes are there when the
// signals are reached. Until they are reached or failed, the memory belongs to the library. windlass_queue_update is the other way.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_download(windlass_queue_t *queue,
                                          size_t wait_count,
                                          const windlass_point_t *waits,
                                          size_t signal_count,
                                          const windlass_point_t *signals,
                                          windlass_buffer_ref_t source,
                                          void *target,
                                          size_t size);

// Writes `size` bytes of the host over `target`, once the waits are reached, and blocks until they are there.
// DEADLINE_EXCEEDED where the time is up first: the bytes were captured, and may still be written.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_upload_blocking(windlass_queue_t *queue,
                                                 size_t wait_count,
                                                 const windlass_point_t *waits,
                                                 const void *source,
                                                 size_t size,
                                                 windlass_buffer_ref_t target,
                                                 uint64_t timeout_ns);

// Copies `source` to the host's memory at `target`, which has `size` bytes, as many as the source, once the waits are reached,
// and blocks until the bytes are there. Where it fails, DEADLINE_EXCEEDED included, the memory is as it was and stays so.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_download_blocking(windlass_queue_t *queue,
                                                   size_t wait_count,
                                                   const windlass_point_t *waits,
                                                   windlass_buffer_ref_t source,
                                                   void *target,
                                                   size_t size,
                                                   uint64_t timeout_ns);

// Calls a function of the host once the waits are reached. Independent work of the queue goes on meanwhile. `flags` is a
// set of WINDLASS_HOST_CALL_*. `destroy`, which may be NULL, is called with the user data exactly once, whatever happens:
// after the call, when a wait failed and there will be none, and also where this returns an error.
WINDLASS_MUST_USE
windlass_error_t *windlass_queue_host_call(windlass_queue_t *queue,
                                           size_t wait_count,
                                           const windlass_point_t *waits,
                                           size_t signal_count,
                                           const windlass_point_t *signals,
                                           uint64_t flags,
                                           windlass_host_call_callback_t callback,
                                           void *user_data,
                                           windlass_destroy_t destroy);

// Takes over the signal list of a running host call: returning does not reach it any more, windlass_completion_complete does.
// FAILED_PRECONDITION a second time, and for a non-blocking call. The caller owns the completion.
WINDLASS_MUST_USE
windlass_error_t *windlass_host_call_defer(windlass_host_call_t *call,
                                           windlass_completion_t **completion);

// Reaches the signal list, or fails it with an error, which the caller keeps. FAILED_PRECONDITION a second time. The handle is
// still to be released.
WINDLASS_MUST_USE
windlass_error_t *windlass_completion_complete(windlass_completion_t *completion,
                                               windlass_error_t *error);

// Adds a reference and gives the completion back. NULL for NULL.
windlass_completion_t *windlass_completion_retain(windlass_completion_t *completion);

// Gives a reference back. NULL is right. The last one fails a signal list that was not completed with ABORTED.
void windlass_completion_release(windlass_completion_t *completion);

// Starts a command buffer whose binding table has this many slots. The caller owns the recorder.
WINDLASS_MUST_USE
windlass_error_t *windlass_recorder_create(windlass_device_t *device,
                                           uint32_t slot_count,
                                           windlass_recorder_t **recorder);

// Adds a reference and gives the recorder back. NULL for NULL.
windlass_recorder_t *windlass_recorder_retain(windlass_recorder_t *recorder);

// Gives a reference back. NULL is right. The last one gives a recording up that was not finished.
void windlass_recorder_release(windlass_recorder_t *recorder);

// Everything recorded before completes before anything recorded after starts.
WINDLASS_MUST_USE windlass_error_t *windlass_recorder_barrier(windlass_recorder_t *recorder);

// Repeats a pattern of 1, 2 or 4 bytes over `target`, whose address and length must be multiples of the pattern's size.
WINDLASS_MUST_USE
windlass_error_t *windlass_recorder_fill(windlass_recorder_t *recorder,
                                         windlass_buffer_ref_t target,
                                         const void *pattern,
                                         size_t pattern_size);

// Writes `size` bytes of the host, which are captured now, over `target`, which has as many.
WINDLASS_MUST_USE
windlass_error_t *windlass_recorder_update(windlass_recorder_t *recorder,
                                           const void *source,
                                           size_t size,
                                           windlass_buffer_ref_t target);

// Copies `source` over `target` of the same length; they must not overlap.
WINDLASS_MUST_USE
windlass_error_t *windlass_recorder_copy(windlass_recorder_t *recorder,
                                         windlass_buffer_ref_t source,
                                         windlass_buffer_ref_t target);

// Launches `function` with one argument for each of its parameters. A grid without workgroups does nothing.
WINDLASS_MUST_USE
windlass_error_t *windlass_recorder_dispatch(windlass_recorder_t *recorder,
                                             windlass_function_t *function,
                                             const windlass_dispatch_config_t *config,
                                             size_t argument_count,
                                             const windlass_argument_t *arguments);

// Opens a named group, for tools. Groups nest.
WINDLASS_MUST_USE
windlass_error_t *windlass_recorder_begin_debug_group(windlass_recorder_t *recorder,
                                                      const char *label);

// Closes the innermost group. FAILED_PRECONDITION where none is open.
WINDLASS_MUST_USE windlass_error_t *windlass_recorder_end_debug_group(windlass_recorder_t *recorder);

// Ends the recording, successful or not; the recorder is still to be released. FAILED_PRECONDITION where it was finished before or a
// debug group is open. The caller owns the command buffer.
WINDLASS_MUST_USE
windlass_error_t *windlass_recorder_finish(windlass_recorder_t *recorder,
                                           windlass_command_buffer_t **command_buffer);

// Adds a reference and gives the command buffer back. NULL for NULL.
windlass_command_buffer_t *windlass_command_buffer_retain(windlass_command_buffer_t *command_buffer);

// Gives a reference back. NULL is right. Submissions of it go on.
void windlass_command_buffer_release(windlass_command_buffer_t *command_buffer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WINDLASS_H */

#ifndef WINDLASS_INLINE_H
#define WINDLASS_INLINE_H

/*
 * What follows is compiled into the program, so that sizes are those of the header that the program was built with.
 */

#ifdef __cplusplus
extern "C" {
#endif

#define WINDLASS_INIT_(type, name)   \
    static inline type name(void) {  \
        type value;                  \
        memset(&value, 0, sizeof value); \
        value.struct_size = sizeof value; \
        return value;                \
    }

/* Empty structs for the functions that fill them. */
WINDLASS_INIT_(windlass_device_info_t, windlass_device_info_init)
WINDLASS_INIT_(windlass_device_limits_t, windlass_device_limits_init)
WINDLASS_INIT_(windlass_statistics_t, windlass_statistics_init)
WINDLASS_INIT_(windlass_function_info_t, windlass_function_info_init)
WINDLASS_INIT_(windlass_parameter_t, windlass_parameter_init)

/* Everything zero: set what is needed. */
WINDLASS_INIT_(windlass_buffer_params_t, windlass_buffer_params_init)
WINDLASS_INIT_(windlass_dispatch_config_t, windlass_dispatch_config_init)

#undef WINDLASS_INIT_

/* Whether the loaded library can serve a program that was built with this header. */
static inline bool windlass_abi_fits(void) {
    const uint32_t library = windlass_abi_version();
    const uint32_t header = WINDLASS_ABI_VERSION;
    return library >> 16 == header >> 16 && (library & 0xFFFFu) >= (header & 0xFFFFu);
}

/* Device memory for transfers and dispatches. */
static inline windlass_buffer_params_t windlass_buffer_params_device(void) {
    windlass_buffer_params_t params = windlass_buffer_params_init();
    params.memory_type = WINDLASS_MEMORY_TYPE_DEVICE_LOCAL;
    params.usage = WINDLASS_BUFFER_USAGE_DEFAULT;
    return params;
}

/* Host memory that the device can use and the host can map. */
static inline windlass_buffer_params_t windlass_buffer_params_host(void) {
    windlass_buffer_params_t params = windlass_buffer_params_init();
    params.memory_type = WINDLASS_MEMORY_TYPE_HOST_LOCAL | WINDLASS_MEMORY_TYPE_HOST_COHERENT |
                         WINDLASS_MEMORY_TYPE_DEVICE_VISIBLE;
    params.usage = WINDLASS_BUFFER_USAGE_DEFAULT | WINDLASS_BUFFER_USAGE_MAPPING;
    return params;
}

/* This many workgroups, of the size that the code fixes. */
static inline windlass_dispatch_config_t windlass_dispatch_config(uint32_t x, uint32_t y, uint32_t z) {
    windlass_dispatch_config_t config = windlass_dispatch_config_init();
    config.workgroup_count[0] = x;
    config.workgroup_count[1] = y;
    config.workgroup_count[2] = z;
    return config;
}

/* This many workgroups of so many work-items. */
static inline windlass_dispatch_config_t windlass_dispatch_config_sized(
    uint32_t x, uint32_t y, uint32_t z, uint32_t size_x, uint32_t size_y, uint32_t size_z) {
    windlass_dispatch_config_t config = windlass_dispatch_config(x, y, z);
    config.workgroup_size[0] = size_x;
    config.workgroup_size[1] = size_y;
    config.workgroup_size[2] = size_z;
    return config;
}

/* A value of a semaphore, for wait and signal lists. */
static inline windlass_point_t windlass_at(windlass_semaphore_t *semaphore, uint64_t value) {
    windlass_point_t point;
    point.semaphore = semaphore;
    point.value = value;
    return point;
}

/* A range of a buffer. */
static inline windlass_buffer_ref_t windlass_range(windlass_buffer_t *buffer, uint64_t offset, uint64_t length) {
    windlass_buffer_ref_t range;
    memset(&range, 0, sizeof range);
    range.kind = WINDLASS_REF_BUFFER;
    range.buffer = buffer;
    range.offset = offset;
    range.length = length;
    return range;
}

/* The whole of a buffer. */
static inline windlass_buffer_ref_t windlass_whole(windlass_buffer_t *buffer) {
    return windlass_range(buffer, 0, WINDLASS_WHOLE_BUFFER);
}

/* A range of what the binding table of a command buffer holds in a slot. */
static inline windlass_buffer_ref_t windlass_slot(uint32_t slot, uint64_t offset, uint64_t length) {
    windlass_buffer_ref_t range;
    memset(&range, 0, sizeof range);
    range.kind = WINDLASS_REF_SLOT;
    range.slot = slot;
    range.offset = offset;
    range.length = length;
    return range;
}

/* The address of a range of a buffer or of a slot, as an argument. */
static inline windlass_argument_t windlass_arg_range(windlass_buffer_ref_t range) {
    windlass_argument_t argument;
    memset(&argument, 0, sizeof argument);
    argument.kind = WINDLASS_ARGUMENT_RANGE;
    argument.range = range;
    return argument;
}

/* The address of a buffer, as an argument. */
static inline windlass_argument_t windlass_arg_buffer(windlass_buffer_t *buffer) {
    return windlass_arg_range(windlass_whole(buffer));
}

/* A null address, as an argument. */
static inline windlass_argument_t windlass_arg_null(void) {
    windlass_argument_t argument;
    memset(&argument, 0, sizeof argument);
    argument.kind = WINDLASS_ARGUMENT_NULL;
    return argument;
}

/* Bytes of exactly the parameter's size, as an argument: structs by value. Read before the dispatch returns. */
static inline windlass_argument_t windlass_arg_bytes(const void *bytes, size_t size) {
    windlass_argument_t argument;
    memset(&argument, 0, sizeof argument);
    argument.kind = WINDLASS_ARGUMENT_BYTES;
    argument.bytes = bytes;
    argument.size = size;
    return argument;
}

#define WINDLASS_ARG_(type, name)                     \
    static inline windlass_argument_t name(type value) { \
        windlass_argument_t argument;                 \
        memset(&argument, 0, sizeof argument);        \
        argument.kind = WINDLASS_ARGUMENT_VALUE;      \
        argument.value_size = (uint32_t)sizeof value; \
        memcpy(argument.value, &value, sizeof value); \
        return argument;                              \
    }

/* Numbers as arguments. */
WINDLASS_ARG_(uint8_t, windlass_arg_u8)
WINDLASS_ARG_(int8_t, windlass_arg_i8)
WINDLASS_ARG_(uint16_t, windlass_arg_u16)
WINDLASS_ARG_(int16_t, windlass_arg_i16)
WINDLASS_ARG_(uint32_t, windlass_arg_u32)
WINDLASS_ARG_(int32_t, windlass_arg_i32)
WINDLASS_ARG_(uint64_t, windlass_arg_u64)
WINDLASS_ARG_(int64_t, windlass_arg_i64)
WINDLASS_ARG_(float, windlass_arg_f32)
WINDLASS_ARG_(double, windlass_arg_f64)

#undef WINDLASS_ARG_

#ifdef __cplusplus
}
#endif

#endif /* WINDLASS_INLINE_H */
