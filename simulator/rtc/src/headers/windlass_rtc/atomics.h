// SPDX-License-Identifier: MIT OR Apache-2.0
// Atomic functions: for a device, `..._block` for a block, `..._system` for all.
#pragma once

#define WINDLASS_RTC_ATOMIC(suffix, scope)                                                                              \
  template <class T> WINDLASS_RTC T windlass_rtc_cas##suffix(T *at, T expected, T desired) {                            \
    __hip_atomic_compare_exchange_strong(at, &expected, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);            \
    return expected;                                                                                                    \
  }                                                                                                                     \
  template <class T> WINDLASS_RTC T windlass_rtc_add##suffix(T *at, T by) {                                             \
    return __hip_atomic_fetch_add(at, by, __ATOMIC_RELAXED, scope);                                                     \
  }                                                                                                                     \
  template <class T> WINDLASS_RTC T windlass_rtc_min##suffix(T *at, T by) {                                             \
    return __hip_atomic_fetch_min(at, by, __ATOMIC_RELAXED, scope);                                                     \
  }                                                                                                                     \
  template <class T> WINDLASS_RTC T windlass_rtc_max##suffix(T *at, T by) {                                             \
    return __hip_atomic_fetch_max(at, by, __ATOMIC_RELAXED, scope);                                                     \
  }                                                                                                                     \
  template <class T> WINDLASS_RTC T windlass_rtc_exchange##suffix(T *at, T by) {                                        \
    return __hip_atomic_exchange(at, by, __ATOMIC_RELAXED, scope);                                                      \
  }                                                                                                                     \
  WINDLASS_RTC_ATOMIC_OF(suffix, scope, int)                                                                            \
  WINDLASS_RTC_ATOMIC_OF(suffix, scope, unsigned)                                                                       \
  WINDLASS_RTC_ATOMIC_OF(suffix, scope, unsigned long)                                                                  \
  WINDLASS_RTC_ATOMIC_OF(suffix, scope, unsigned long long)                                                             \
  WINDLASS_RTC_ATOMIC_ORDER(suffix, long long)                                                                          \
  WINDLASS_RTC_ATOMIC_OF_FLOAT(suffix, float)                                                                           \
  WINDLASS_RTC_ATOMIC_OF_FLOAT(suffix, double)                                                                          \
  WINDLASS_RTC unsigned short atomicCAS##suffix(unsigned short *at, unsigned short expected, unsigned short desired) {  \
    return windlass_rtc_cas##suffix(at, expected, desired);                                                             \
  }                                                                                                                     \
  WINDLASS_RTC unsigned atomicInc##suffix(unsigned *at, unsigned last) {                                                \
    unsigned old = __hip_atomic_load(at, __ATOMIC_RELAXED, scope), seen;                                                \
    do {                                                                                                                \
      seen = old;                                                                                                       \
      old = windlass_rtc_cas##suffix(at, seen, seen >= last ? 0u : seen + 1);                                           \
    } while (old != seen);                                                                                              \
    return old;                                                                                                         \
  }                                                                                                                     \
  WINDLASS_RTC unsigned atomicDec##suffix(unsigned *at, unsigned last) {                                                \
    unsigned old = __hip_atomic_load(at, __ATOMIC_RELAXED, scope), seen;                                                \
    do {                                                                                                                \
      seen = old;                                                                                                       \
      old = windlass_rtc_cas##suffix(at, seen, seen == 0 || seen > last ? last : seen - 1);                             \
    } while (old != seen);                                                                                              \
    return old;                                                                                                         \
  }
#define WINDLASS_RTC_ATOMIC_OF(suffix, scope, T)                                                                        \
  WINDLASS_RTC T atomicAdd##suffix(T *at, T by) { return windlass_rtc_add##suffix(at, by); }                            \
  WINDLASS_RTC T atomicSub##suffix(T *at, T by) { return windlass_rtc_add##suffix(at, (T)(0 - by)); }                   \
  WINDLASS_RTC T atomicExch##suffix(T *at, T by) { return windlass_rtc_exchange##suffix(at, by); }                      \
  WINDLASS_RTC T atomicCAS##suffix(T *at, T expected, T desired) { return windlass_rtc_cas##suffix(at, expected, desired); } \
  WINDLASS_RTC_ATOMIC_ORDER(suffix, T)                                                                                  \
  WINDLASS_RTC T atomicAnd##suffix(T *at, T by) { return __hip_atomic_fetch_and(at, by, __ATOMIC_RELAXED, scope); }     \
  WINDLASS_RTC T atomicOr##suffix(T *at, T by) { return __hip_atomic_fetch_or(at, by, __ATOMIC_RELAXED, scope); }       \
  WINDLASS_RTC T atomicXor##suffix(T *at, T by) { return __hip_atomic_fetch_xor(at, by, __ATOMIC_RELAXED, scope); }
#define WINDLASS_RTC_ATOMIC_OF_FLOAT(suffix, T)                                                                         \
  WINDLASS_RTC T atomicAdd##suffix(T *at, T by) { return windlass_rtc_add##suffix(at, by); }                            \
  WINDLASS_RTC T atomicSub##suffix(T *at, T by) { return windlass_rtc_add##suffix(at, -by); }                           \
  WINDLASS_RTC T atomicExch##suffix(T *at, T by) { return windlass_rtc_exchange##suffix(at, by); }                      \
  WINDLASS_RTC T atomicCAS##suffix(T *at, T expected, T desired) { return windlass_rtc_cas##suffix(at, expected, desired); } \
  WINDLASS_RTC_ATOMIC_ORDER(suffix, T)
// HIP leaves the other functions of `long long` to programs, which define them.
#define WINDLASS_RTC_ATOMIC_ORDER(suffix, T)                                                                            \
  WINDLASS_RTC T atomicMin##suffix(T *at, T by) { return windlass_rtc_min##suffix(at, by); }                            \
  WINDLASS_RTC T atomicMax##suffix(T *at, T by) { return windlass_rtc_max##suffix(at, by); }
WINDLASS_RTC_ATOMIC(, __HIP_MEMORY_SCOPE_AGENT)
WINDLASS_RTC_ATOMIC(_block, __HIP_MEMORY_SCOPE_WORKGROUP)
WINDLASS_RTC_ATOMIC(_system, __HIP_MEMORY_SCOPE_SYSTEM)
#define WINDLASS_RTC_UNSAFE(T)                                                                                                 \
  WINDLASS_RTC T unsafeAtomicAdd(T *at, T by) { return atomicAdd(at, by); }                                                    \
  WINDLASS_RTC T safeAtomicAdd(T *at, T by) { return atomicAdd(at, by); }                                                      \
  WINDLASS_RTC T unsafeAtomicMin(T *at, T by) { return atomicMin(at, by); }                                                    \
  WINDLASS_RTC T unsafeAtomicMax(T *at, T by) { return atomicMax(at, by); }
WINDLASS_RTC_UNSAFE(float)
WINDLASS_RTC_UNSAFE(double)
WINDLASS_RTC void atomicAddNoRet(float *at, float by) { atomicAdd(at, by); }
