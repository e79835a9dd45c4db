/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Kernels for local:// in a language that can make an ELF shared object: what a compiler emits, or a C file includes.
 *
 * A kernel is two exported symbols of the object:
 *
 *   NAME                   the function, a windlass_kernel_t: called once for each workgroup
 *   windlass_kernel_NAME   what it takes and needs: a windlass_kernel_info_t with its parameters behind it
 *
 * The description is bytes without pointers, so that it can be read before the object is loaded, and names parameters as
 * they lie in the argument block. The block is what a GPU kernel of the same parameters would be given: a C struct of
 * them in their order, each at its natural alignment, buffers as addresses of eight bytes. It begins at a multiple of 16.
 *
 * The functions of one dispatch are called on several threads at once, in any order, and a thread may call others in
 * between. Whatever a workgroup does before another of the same dispatch runs is not visible to that one but by atomics;
 * what ran before in the order of the queue is. A kernel must return: it may not unwind, exit its thread or jump out.
 *
 * Exported variables that can be written and describe no kernel are the executable's globals: each loading has its own.
 * The object may use the C library, what else it is linked with (-lm), and thread-local variables. Where the process itself
 * exports a function that the object exports too, as a program may its own malloc, the process's comes first, and an object
 * with such a variable is refused; -Wl,-Bsymbolic keeps the object to its own. Variables that C++ makes one for the whole
 * process, as those of templates, are refused: -fno-gnu-unique makes them the object's. Its stacks must not be executable,
 * nor its code relocated: what -fPIC and today's linkers give.
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

/* The version of everything here. Records grow at their end only, and say how long they are. */
#define WINDLASS_KERNEL_ABI_VERSION 1u

/* One workgroup of a dispatch. It is the driver's, and lives until the kernel returns. */
typedef struct windlass_workgroup_t {
  uint32_t record_size;          /* bytes of this record */
  uint32_t local_memory_size;    /* bytes at local_memory: what the kernel declares, then what the dispatch asks for */
  uint32_t workgroup_id[3];      /* the place in the grid, in x, y, z */
  uint32_t workgroup_count[3];   /* workgroups of the grid, in x, y, z */
  uint32_t workgroup_size[3];    /* work-items of a workgroup, in x, y, z */
  uint32_t reserved;             /* 0 */
  void *local_memory;            /* of this workgroup alone, at a multiple of 64, holding anything; NULL for no bytes */
} windlass_workgroup_t;

/* The code of a kernel. 0 when the workgroup is done; anything else fails the dispatch with that status code, numbered as
 * gRPC and IREE number them (1 to 16; other numbers are 2, UNKNOWN). */
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

/* What a kernel takes and needs. Behind it lie parameter_count parameters of parameter_size bytes each, without overlap
 * and by ascending offset. */
typedef struct windlass_kernel_info_t {
  uint32_t abi_version;            /* WINDLASS_KERNEL_ABI_VERSION */
  uint32_t info_size;              /* sizeof(windlass_kernel_info_t): where the parameters begin */
  uint32_t parameter_size;         /* sizeof(windlass_parameter_t) */
  uint32_t parameter_count;
  uint32_t argument_size;          /* bytes of the argument block, 1 MiB at most */
  uint32_t workgroup_size[3];      /* the only size that the kernel is made for; 0, 0, 0 for any */
  uint32_t max_workgroup_threads;  /* the most work-items of a workgroup; 0 for any number */
  uint32_t local_memory_size;      /* bytes that each workgroup needs, beyond what a dispatch asks for */
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

/* A parameter that is the member NAME of the struct BLOCK. */
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

/* The same for a kernel that takes nothing: its block is empty. */
#define WINDLASS_KERNEL_WITHOUT_PARAMETERS(NAME, LOCAL_MEMORY)                                                         \
  WINDLASS_KERNEL_EXTERN WINDLASS_KERNEL_EXPORT const windlass_kernel_info_t windlass_kernel_##NAME;                   \
  const windlass_kernel_info_t windlass_kernel_##NAME = {                                                              \
      WINDLASS_KERNEL_ABI_VERSION, sizeof(windlass_kernel_info_t), sizeof(windlass_parameter_t), 0, 0, {0, 0, 0}, 0,   \
      LOCAL_MEMORY, {0, 0}};                                                                                           \
  WINDLASS_KERNEL_EXTERN WINDLASS_KERNEL_EXPORT int32_t NAME(const void *arguments,                                    \
                                                             const windlass_workgroup_t *workgroup);                   \
  int32_t NAME(const void *arguments WINDLASS_KERNEL_UNUSED,                                                           \
               const windlass_workgroup_t *workgroup WINDLASS_KERNEL_UNUSED)

/* A loop over the work-items of a workgroup in a line, by their place in the grid. */
#define WINDLASS_FOR_EACH_ITEM_X(WORKGROUP, INDEX)                                                                     \
  for (uint32_t INDEX = (WORKGROUP)->workgroup_id[0] * (WORKGROUP)->workgroup_size[0],                                 \
                windlass_end_ = INDEX + (WORKGROUP)->workgroup_size[0];                                                \
       INDEX < windlass_end_; ++INDEX)

#endif
