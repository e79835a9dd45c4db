// SPDX-License-Identifier: MIT OR Apache-2.0
// One source, two machines: the definitions with which kernels compile for gfx942 and for the host.
#pragma once

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long i64;
typedef unsigned long u64;
typedef unsigned __int128 u128;
typedef _Float16 f16;
typedef float f32;
typedef double f64;

#define NOINLINE static __attribute__((noinline))
#define VECTOR(type, count) type __attribute__((ext_vector_type(count)))

// Every launch has this shape: a full wave and a partial one in each workgroup.
#define BLOCK 80
#define GROUPS 2
#define ITEMS (BLOCK * GROUPS)
// Words of input, the same for all kernels, and those that each work-item calls its own.
#define INPUT_WORDS 2048
#define OWN_WORDS 12

// Passed to every kernel by value.
struct Params {
  u32 n;
  i16 small;
  u8 bytes[6];
  f32 scale;
  f64 wide;
  u64 seed;
};

#ifdef __AMDGCN__

#define GLOBAL __attribute__((address_space(1)))
#define LOCAL static __attribute__((address_space(3), loader_uninitialized))
#define TO_LOCAL __attribute__((address_space(3)))

static inline u32 local_id(void) { return __builtin_amdgcn_workitem_id_x(); }
static inline u32 group_id(void) { return __builtin_amdgcn_workgroup_id_x(); }
static inline void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// A kernel that writes WORDS words for each work-item.
#define TWIN(name, words) \
  enum { name##_words = words }; \
  __attribute__((amdgpu_kernel, visibility("protected"))) void name( \
      GLOBAL const u32 *in, GLOBAL u32 *out, struct Params params)

#else

#define GLOBAL
#define LOCAL static
#define TO_LOCAL

u32 local_id(void);
u32 group_id(void);
void barrier(void);
typedef void Kernel(const u32 *, u32 *, struct Params);
void enlist(const char *name, u32 words, Kernel *kernel);

#define TWIN(name, words) \
  enum { name##_words = words }; \
  static Kernel name; \
  __attribute__((constructor)) static void enlist_##name(void) { enlist(#name, words, name); } \
  static void name(const u32 *in, u32 *out, struct Params params)

#endif

static inline u32 item(void) { return group_id() * BLOCK + local_id(); }

// The work-item's k-th word of input.
#define IN(k) in[(item() * OWN_WORDS + (k)) % INPUT_WORDS]
// The k-th word of the work-item's result.
#define OUT(name, k) out[item() * name##_words + (k)]

static inline u64 pair(u32 low, u32 high) { return (u64)high << 32 | low; }

// Floats whose bits are input: all kinds of values, NaN and infinities among them.
static inline f32 any_f32(u32 bits) { return __builtin_bit_cast(f32, bits); }
static inline f64 any_f64(u32 low, u32 high) { return __builtin_bit_cast(f64, pair(low, high)); }
static inline f16 any_f16(u32 bits) { return __builtin_bit_cast(f16, (u16)bits); }

// Floats of everyday size.
static inline f32 mild_f32(u32 bits) { return (f32)(i32)bits * 0x1p-20f; }
static inline f64 mild_f64(u32 low, u32 high) { return (f64)(i64)pair(low, high) * 0x1p-44; }
static inline f16 mild_f16(u32 bits) { return (f16)(i16)bits * (f16)0x1p-9f; }

// Bits of a result. The bits of a NaN differ between machines, so they are made equal.
static inline u32 bits_f32(f32 x) { return x != x ? 0x7fc00000 : __builtin_bit_cast(u32, x); }
static inline u64 bits_f64(f64 x) { return x != x ? 0x7ff8000000000000 : __builtin_bit_cast(u64, x); }
static inline u32 bits_f16(f16 x) { return x != x ? 0x7e00 : __builtin_bit_cast(u16, x); }

#define PUT64(name, k, value) \
  do { \
    u64 put64 = (value); \
    OUT(name, k) = (u32)put64; \
    OUT(name, (k) + 1) = (u32)(put64 >> 32); \
  } while (0)
