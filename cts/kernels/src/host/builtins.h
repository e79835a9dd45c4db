// SPDX-License-Identifier: MIT OR Apache-2.0
// clang's builtins for AMD GPUs and for HIP, implemented for a host. Part of device.h.
#pragma once

static inline u32 __builtin_amdgcn_workitem_id_x() { return item_x(); }
static inline u32 __builtin_amdgcn_workitem_id_y() { return item_y(); }
static inline u32 __builtin_amdgcn_workgroup_id_x() { return group_x(); }
// Between two barriers one work-item runs at a time.
static inline void __builtin_amdgcn_fence(u32, const char *) {}

// Declared only, so that a kernel that needs data of AMD's launches does not link.
extern "C" const void *__builtin_amdgcn_implicitarg_ptr();
extern "C" const void *__builtin_amdgcn_dispatch_ptr();
extern "C" const void *__builtin_amdgcn_kernarg_segment_ptr();

// Atomics. A host has one scope.
#define __hip_atomic_load(pointer, order, scope) __atomic_load_n(pointer, order)
#define __hip_atomic_store(pointer, value, order, scope) __atomic_store_n(pointer, value, order)
#define __hip_atomic_exchange(pointer, value, order, scope) __atomic_exchange_n(pointer, value, order)
#define __hip_atomic_compare_exchange_weak(pointer, seen, value, order, failed, scope) \
  __atomic_compare_exchange_n(pointer, seen, value, true, order, failed)
#define __hip_atomic_compare_exchange_strong(pointer, seen, value, order, failed, scope) \
  __atomic_compare_exchange_n(pointer, seen, value, false, order, failed)
#define __hip_atomic_fetch_add(pointer, value, order, scope) __atomic_fetch_add(pointer, value, order)
#define __hip_atomic_fetch_and(pointer, value, order, scope) __atomic_fetch_and(pointer, value, order)
#define __hip_atomic_fetch_or(pointer, value, order, scope) __atomic_fetch_or(pointer, value, order)
#define __hip_atomic_fetch_xor(pointer, value, order, scope) __atomic_fetch_xor(pointer, value, order)
#define __hip_atomic_fetch_min(pointer, value, order, scope) __atomic_fetch_min(pointer, value, order)
#define __hip_atomic_fetch_max(pointer, value, order, scope) __atomic_fetch_max(pointer, value, order)

static inline void __builtin_amdgcn_s_sleep(u32) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("yield");
#endif
}

static inline i32 __builtin_amdgcn_sdot4(u32 a, u32 b, i32 c, bool) {
  u32 sum = c;
  for (u32 shift = 0; shift < 32; shift += 8) sum += (i8)(a >> shift) * (i8)(b >> shift);
  return sum;
}

static inline f32 __builtin_amdgcn_rcpf(f32 x) { return 1 / x; }
static inline f32 __builtin_amdgcn_rsqf(f32 x) { return 1 / __builtin_sqrtf(x); }
static inline f32 __builtin_amdgcn_fractf(f32 x) { return x - __builtin_floorf(x); }
static inline f32 __builtin_amdgcn_ldexpf(f32 x, i32 e) { return __builtin_ldexpf(x, e); }
static inline f64 __builtin_amdgcn_ldexp(f64 x, i32 e) { return __builtin_ldexp(x, e); }
static inline i32 __builtin_amdgcn_frexp_expf(f32 x) { i32 e; return __builtin_frexpf(x, &e), e; }
static inline i32 __builtin_amdgcn_frexp_exp(f64 x) { i32 e; return __builtin_frexp(x, &e), e; }
static inline f32 __builtin_amdgcn_frexp_mantf(f32 x) { i32 e; return __builtin_frexpf(x, &e); }
static inline f64 __builtin_amdgcn_frexp_mant(f64 x) { i32 e; return __builtin_frexp(x, &e); }

// f16: fma through f64, where the product is exact and the sum fits. A host without f16 instructions would round to f32
// first, and so round twice.
typedef f16 windlass_f16x2 __attribute__((ext_vector_type(2)));
static inline f16 windlass_fma(f16 a, f16 b, f16 c) { return (f16)((f64)a * (f64)b + (f64)c); }
static inline windlass_f16x2 windlass_fma(windlass_f16x2 a, windlass_f16x2 b, windlass_f16x2 c) {
  return {windlass_fma(a[0], b[0], c[0]), windlass_fma(a[1], b[1], c[1])};
}
#define __builtin_elementwise_fma(a, b, c) windlass_fma(a, b, c)

#if defined(__x86_64__)
// The functions that the compiler calls for f16. No library that every process has exports them.
extern "C" {

__attribute__((visibility("hidden"))) f32 __extendhfsf2(f16 narrow) {
  u32 bits = __builtin_bit_cast(u16, narrow), sign = (bits & 0x8000) << 16, rest = bits & 0x7fff;
  // A denormal number is an exact multiple of 2^-24.
  if (rest < 0x400) return __builtin_bit_cast(f32, __builtin_bit_cast(u32, (f32)rest * 0x1p-24f) | sign);
  u32 exponent = rest < 0x7c00 ? 112 << 23 : 224 << 23;
  u32 quiet = rest > 0x7c00 ? 0x400000 : 0;
  return __builtin_bit_cast(f32, ((rest << 13) + exponent) | quiet | sign);
}

__attribute__((visibility("hidden"))) f16 __truncdfhf2(f64 wide) {
  u64 bits = __builtin_bit_cast(u64, wide), rest = bits & 0x7fffffffffffffff;
  u16 sign = bits >> 48 & 0x8000, made;
  i32 exponent = (i32)(rest >> 52) - 1023;
  if (rest > 0x7ff0000000000000) {
    made = 0x7e00 | (rest >> 42 & 0x1ff);
  } else if (exponent > 15) {
    made = 0x7c00;
  } else if (exponent < -25) {
    made = 0;
  } else {
    // To nearest even, in units of the last place. A carry correctly increments the exponent.
    u64 fraction = (rest & 0xfffffffffffff) | 0x10000000000000;
    u32 shift = exponent >= -14 ? 42 : 42 - 14 - exponent;
    u64 kept = fraction >> shift, lost = fraction & (((u64)1 << shift) - 1), half = (u64)1 << (shift - 1);
    kept += lost > half || (lost == half && (kept & 1));
    made = exponent >= -14 ? (u16)(kept + ((u64)(exponent + 14) << 10)) : (u16)kept;
  }
  return __builtin_bit_cast(f16, (u16)(made | sign));
}

__attribute__((visibility("hidden"))) f16 __truncsfhf2(f32 wide) { return __truncdfhf2(wide); }

}  // extern "C"
#endif
