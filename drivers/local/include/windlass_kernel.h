/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Kernels for local:// as an ELF shared object, from a compiler or from a C file that includes this header.
 *
 * A kernel is two exported symbols of the object:
 *
 *   NAME                   the function, a windlass_kernel_t: called once for each workgroup
 *   windlass_kernel_NAME   its description: a windlass_kernel_info_t, followed by its parameters
 *
 * The description has no pointers, so the driver can read it before it loads the object. It lists the parameters by their
 * offset in the argument block. The block is the one that a GPU kernel of the same parameters gets: a C struct of the
 * parameters in their order, each at its natural alignment, buffers as addresses of eight bytes. It begins at a multiple
 * of 16.
 *
 * Several threads call the function for the workgroups of one dispatch, at once and in any order. Between two of these
 * calls a thread may call other kernels. A workgroup sees the writes of another workgroup of its dispatch only through
 * atomics. It sees all writes of work that the queue orders before the dispatch. A kernel must return: it may not unwind,
 * exit its thread or jump out.
 *
 * Writable exported variables that describe no kernel are the executable's globals. Each loading has its own copies. The
 * object may use the C library, other libraries that it is linked with (-lm), and thread-local variables.
 *
 * If the process itself exports a function that the object exports too, such as a program's own malloc, the process's
 * function is used. An object with such a variable is refused. -Wl,-Bsymbolic binds the object to its own definitions.
 * Variables that C++ makes unique in the process, such as those of templates, are refused; -fno-gnu-unique makes them the
 * object's own. The object must need no executable stack and no relocation of code, as with -fPIC and current linkers.
 *
 *   typedef struct { const float *in; float *out; float factor; uint32_t n; } scale_block;
 *
 *   WINDLASS_KERNEL(scale, scale_block, 0,
 *                   WINDLASS_BUFFER(scale_block, in), WINDLASS_BUFFER(scale_block, out),
 *                   WINDLASS_VALUE(scale_block, factor), WINDLASS_VALUE(scale_block, n)) {
 *       const scale_block *block = arguments;
 *       WINDLASS_FOR_EACH_ITEM_X(workgroup, x)
 *           if (x < block->n) block->out[x] = block->in[x] * block->factor;
 *       return 0;
 *   }
 *
 *   cc -O2 -shared -fPIC -o scale.so scale.c
 */
#ifndef WINDLASS_KERNEL_H_
#define WINDLASS_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Records grow only at their end, and state their length. */
#define WINDLASS_KERNEL_ABI_VERSION 1u

/* One workgroup of a dispatch. The driver owns the record, which lives until the kernel returns. */
typedef struct windlass_workgroup_t {
  uint32_t record_size;          /* bytes of this record */
  uint32_t local_memory_size;    /* bytes at local_memory: the kernel's own, then those that the dispatch requests */
  uint32_t workgroup_id[3];      /* the position in the grid, in x, y, z */
  uint32_t workgroup_count[3];   /* workgroups of the grid, in x, y, z */
  uint32_t workgroup_size[3];    /* work-items of a workgroup, in x, y, z */
  uint32_t reserved;             /* 0 */
  void *local_memory;            /* this workgroup's own, uninitialized, at a multiple of 64; NULL for no bytes */
} windlass_workgroup_t;

/* The code of a kernel. It returns 0 when the workgroup is done. Any other number fails the dispatch with that status code,
 * numbered as in gRPC and IREE (1 to 16; other numbers are 2, UNKNOWN). */
typedef int32_t (*windlass_kernel_t)(const void *arguments, const windlass_workgroup_t *workgroup);

enum {
  WINDLASS_PARAMETER_VALUE = 0,   /* a number or a struct, by value */
  WINDLASS_PARAMETER_BUFFER = 1,  /* the address of a buffer, or null: 8 bytes */
};

/* One parameter, as it lies in the argument block. */
typedef struct windlass_parameter_t {
  uint32_t kind;    /* WINDLASS_PARAMETER_* */
  uint32_t offset;  /* bytes from the beginning of the block */
  uint32_t size;    /* bytes */
  uint32_t reserved;
  char name[48];    /* ended by a zero; empty for none */
} windlass_parameter_t;

/* The parameters and limits of a kernel. parameter_count parameters of parameter_size bytes each follow the record, without
 * overlap and by ascending offset. */
typedef struct windlass_kernel_info_t {
  uint32_t abi_version;            /* WINDLASS_KERNEL_ABI_VERSION */
  uint32_t info_size;              /* sizeof(windlass_kernel_info_t): where the parameters begin */
  uint32_t parameter_size;         /* sizeof(windlass_parameter_t) */
  uint32_t parameter_count;
  uint32_t argument_size;          /* bytes of the argument block, 1 MiB at most */
  uint32_t workgroup_size[3];      /* the only size that the kernel is made for; 0, 0, 0 for any */
  uint32_t max_workgroup_threads;  /* the most work-items of a workgroup; 0 for any number */
  uint32_t local_memory_size;      /* bytes that each workgroup needs, beside those that a dispatch requests */
  uint32_t reserved[2];            /* 0 */
} windlass_kernel_info_t;

#ifdef __cplusplus
}
typedef windlass_parameter_t windlass_parameter_list_t[];
#define WINDLASS_PARAMETER_LIST(...) windlass_parameter_list_t{__VA_ARGS__}
#define WINDLASS_KERNEL_EXTERN extern "C"
#else
#define WINDLASS_PARAMETER_LIST(...) (windlass_parameter_t[]){__VA_ARGS__}
#define WINDLASS_KERNEL_EXTERN extern
#endif

#if defined(__GNUC__)
#define WINDLASS_KERNEL_EXPORT __attribute__((visibility("default")))
#define WINDLASS_KERNEL_UNUSED __attribute__((unused))
#else
#define WINDLASS_KERNEL_EXPORT
#define WINDLASS_KERNEL_UNUSED
#endif

/* A parameter: the member NAME of the struct BLOCK. */
#define WINDLASS_BUFFER(BLOCK, NAME) \
  { WINDLASS_PARAMETER_BUFFER, (uint32_t)offsetof(BLOCK, NAME), (uint32_t)sizeof(((BLOCK *)0)->NAME), 0, #NAME }
#define WINDLASS_VALUE(BLOCK, NAME) \
  { WINDLASS_PARAMETER_VALUE, (uint32_t)offsetof(BLOCK, NAME), (uint32_t)sizeof(((BLOCK *)0)->NAME), 0, #NAME }

/* Describes and begins the kernel NAME with the argument block BLOCK, LOCAL_MEMORY bytes of local memory, and one
 * parameter or more. */
#define WINDLASS_KERNEL(NAME, BLOCK, LOCAL_MEMORY, ...)                                                                \
  WINDLASS_KERNEL_SIZED(NAME, BLOCK, LOCAL_MEMORY, 0, 0, 0, 0, __VA_ARGS__)

/* The same for workgroups of X by Y by Z work-items (0, 0, 0 for any) and of THREADS at most (0 for any number). */
#define WINDLASS_KERNEL_SIZED(NAME, BLOCK, LOCAL_MEMORY, X, Y, Z, THREADS, ...)                                        \
  enum {                                                                                                               \
    windlass_parameters_of_##NAME = sizeof(WINDLASS_PARAMETER_LIST(__VA_ARGS__)) / sizeof(windlass_parameter_t)        \
  };                                                                                                                   \
  struct windlass_kernel_info_of_##NAME {                                                                              \
    windlass_kernel_info_t info;                                                                                       \
    windlass_parameter_t parameters[windlass_parameters_of_##NAME];                                                    \
  };                                                                                                                   \
  WINDLASS_KERNEL_EXTERN WINDLASS_KERNEL_EXPORT const struct windlass_kernel_info_of_##NAME windlass_kernel_##NAME;    \
  const struct windlass_kernel_info_of_##NAME windlass_kernel_##NAME = {                                               \
      {WINDLASS_KERNEL_ABI_VERSION, sizeof(windlass_kernel_info_t), sizeof(windlass_parameter_t),                      \
       windlass_parameters_of_##NAME, sizeof(BLOCK), {X, Y, Z}, THREADS, LOCAL_MEMORY, {0, 0}},                        \
      {__VA_ARGS__}};                                                                                                  \
  WINDLASS_KERNEL_EXTERN WINDLASS_KERNEL_EXPORT int32_t NAME(const void *arguments,                                    \
                                                             const windlass_workgroup_t *workgroup);                   \
  int32_t NAME(const void *arguments WINDLASS_KERNEL_UNUSED,                                                           \
               const windlass_workgroup_t *workgroup WINDLASS_KERNEL_UNUSED)

/* The same for a kernel without parameters: its block is empty. */
#define WINDLASS_KERNEL_WITHOUT_PARAMETERS(NAME, LOCAL_MEMORY)                                                         \
  WINDLASS_KERNEL_EXTERN WINDLASS_KERNEL_EXPORT const windlass_kernel_info_t windlass_kernel_##NAME;                   \
  const windlass_kernel_info_t windlass_kernel_##NAME = {                                                              \
      WINDLASS_KERNEL_ABI_VERSION, sizeof(windlass_kernel_info_t), sizeof(windlass_parameter_t), 0, 0, {0, 0, 0}, 0,   \
      LOCAL_MEMORY, {0, 0}};                                                                                           \
  WINDLASS_KERNEL_EXTERN WINDLASS_KERNEL_EXPORT int32_t NAME(const void *arguments,                                    \
                                                             const windlass_workgroup_t *workgroup);                   \
  int32_t NAME(const void *arguments WINDLASS_KERNEL_UNUSED,                                                           \
               const windlass_workgroup_t *workgroup WINDLASS_KERNEL_UNUSED)

/* A loop over the work-items of a one-dimensional workgroup, by their position in the grid. */
#define WINDLASS_FOR_EACH_ITEM_X(WORKGROUP, INDEX)                                                                     \
  for (uint32_t INDEX = (WORKGROUP)->workgroup_id[0] * (WORKGROUP)->workgroup_size[0],                                 \
                windlass_end_ = INDEX + (WORKGROUP)->workgroup_size[0];                                                \
       INDEX < windlass_end_; ++INDEX)

#endif
