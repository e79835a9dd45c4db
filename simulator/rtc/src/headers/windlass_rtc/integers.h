// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions of bits and integers.
#pragma once

WINDLASS_RTC unsigned __popc(unsigned a) { return __builtin_popcount(a); }
WINDLASS_RTC unsigned __popcll(unsigned long long a) { return __builtin_popcountll(a); }
WINDLASS_RTC int __clz(int a) { return a ? __builtin_clz(a) : 32; }
WINDLASS_RTC int __clzll(long long a) { return a ? __builtin_clzll(a) : 64; }
WINDLASS_RTC unsigned __ffs(int a) { return __builtin_ffs(a); }
WINDLASS_RTC unsigned __ffs(unsigned a) { return __builtin_ffs(a); }
WINDLASS_RTC unsigned __ffsll(long long a) { return __builtin_ffsll(a); }
WINDLASS_RTC unsigned __ffsll(unsigned long long a) { return __builtin_ffsll(a); }
WINDLASS_RTC unsigned __brev(unsigned a) { return __builtin_bitreverse32(a); }
WINDLASS_RTC unsigned long long __brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
WINDLASS_RTC int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
WINDLASS_RTC unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
WINDLASS_RTC int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
WINDLASS_RTC unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
WINDLASS_RTC long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
WINDLASS_RTC unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
WINDLASS_RTC int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
WINDLASS_RTC int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
WINDLASS_RTC unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
WINDLASS_RTC unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
WINDLASS_RTC unsigned __sad(int a, int b, unsigned c) { return (a > b ? (unsigned)a - b : (unsigned)b - a) + c; }
WINDLASS_RTC unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
WINDLASS_RTC unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) { return (unsigned)(((((unsigned long long)high << 32) | low) << (by & 31)) >> 32); }
WINDLASS_RTC unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) { return (unsigned)((((unsigned long long)high << 32) | low) >> (by & 31)); }
WINDLASS_RTC unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) { return by >= 32 ? low : __funnelshift_l(low, high, by); }
WINDLASS_RTC unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) { return by >= 32 ? high : __funnelshift_r(low, high, by); }
WINDLASS_RTC unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned long long both = ((unsigned long long)b << 32) | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned from = selector >> (4 * i);
    unsigned byte = (unsigned)(both >> (8 * (from & 7))) & 0xff;
    result |= byte << (8 * i);
  }
  return result;
}
#define WINDLASS_RTC_BIT_FIELDS(T, bits)                                                    \
  WINDLASS_RTC T __bitextract_u##bits(T a, unsigned from, unsigned count) {                 \
    from &= bits - 1, count &= bits - 1;                                                    \
    return (a >> from) & (((T)1 << count) - 1);                                             \
  }                                                                                         \
  WINDLASS_RTC T __bitinsert_u##bits(T a, T b, unsigned from, unsigned count) {             \
    T mask = ((T)1 << (count & (bits - 1))) - 1;                                            \
    from &= bits - 1;                                                                       \
    return (a & ~(mask << from)) | ((b & mask) << from);                                    \
  }
WINDLASS_RTC_BIT_FIELDS(uint32_t, 32)
WINDLASS_RTC_BIT_FIELDS(uint64_t, 64)

// The place of the bit that is `nth` of the set bits from `base` on: upwards, or downwards if it is negative. -1 if there is none.
WINDLASS_RTC int windlass_rtc_nth_bit(uint64_t bits, int base, int nth) {
  int step = nth < 0 ? -1 : 1, left = nth < 0 ? -nth : nth;
  if (nth == 0) return bits >> base & 1 ? base : -1;
  for (int at = base; at >= 0 && at < 64; at += step) {
    if ((bits >> at & 1) && --left == 0) return at;
  }
  return -1;
}
WINDLASS_RTC int __fns64(uint64_t bits, unsigned base, int nth) { return windlass_rtc_nth_bit(bits, base & 63, nth); }
WINDLASS_RTC int __fns32(uint64_t bits, unsigned base, int nth) { return windlass_rtc_nth_bit(bits & 0xffffffff, base & 31, nth); }

template <class To, class From> WINDLASS_RTC To windlass_rtc_bits(From from) { return __builtin_bit_cast(To, from); }
WINDLASS_RTC int __float_as_int(float a) { return windlass_rtc_bits<int>(a); }
WINDLASS_RTC unsigned __float_as_uint(float a) { return windlass_rtc_bits<unsigned>(a); }
WINDLASS_RTC float __int_as_float(int a) { return windlass_rtc_bits<float>(a); }
WINDLASS_RTC float __uint_as_float(unsigned a) { return windlass_rtc_bits<float>(a); }
WINDLASS_RTC long long __double_as_longlong(double a) { return windlass_rtc_bits<long long>(a); }
WINDLASS_RTC double __longlong_as_double(long long a) { return windlass_rtc_bits<double>(a); }
WINDLASS_RTC int __double2hiint(double a) { return (int)(windlass_rtc_bits<long long>(a) >> 32); }
WINDLASS_RTC int __double2loint(double a) { return (int)windlass_rtc_bits<long long>(a); }
WINDLASS_RTC double __hiloint2double(int high, int low) {
  return windlass_rtc_bits<double>(((unsigned long long)(unsigned)high << 32) | (unsigned)low);
}

#define WINDLASS_RTC_ORDER(T)                                         \
  WINDLASS_RTC_ANY T min(T a, T b) { return b < a ? b : a; }          \
  WINDLASS_RTC_ANY T max(T a, T b) { return a < b ? b : a; }
WINDLASS_RTC_ORDER(int)
WINDLASS_RTC_ORDER(unsigned)
WINDLASS_RTC_ORDER(long)
WINDLASS_RTC_ORDER(unsigned long)
WINDLASS_RTC_ORDER(long long)
WINDLASS_RTC_ORDER(unsigned long long)
#define WINDLASS_RTC_ORDER_2(A, B, T)                                                   \
  WINDLASS_RTC_ANY T min(A a, B b) { return min((T)a, (T)b); }                          \
  WINDLASS_RTC_ANY T max(A a, B b) { return max((T)a, (T)b); }                          \
  WINDLASS_RTC_ANY T min(B a, A b) { return min((T)a, (T)b); }                          \
  WINDLASS_RTC_ANY T max(B a, A b) { return max((T)a, (T)b); }
WINDLASS_RTC_ORDER_2(unsigned, int, unsigned)
WINDLASS_RTC_ORDER_2(unsigned long, long, unsigned long)
WINDLASS_RTC_ORDER_2(unsigned long long, long long, unsigned long long)
WINDLASS_RTC int abs(int a) { return a < 0 ? -a : a; }
WINDLASS_RTC long abs(long a) { return a < 0 ? -a : a; }
WINDLASS_RTC long long abs(long long a) { return a < 0 ? -a : a; }
WINDLASS_RTC long labs(long a) { return a < 0 ? -a : a; }
WINDLASS_RTC long long llabs(long long a) { return a < 0 ? -a : a; }

WINDLASS_RTC_C void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }
WINDLASS_RTC_C void *memmove(void *to, const void *from, size_t size) { return __builtin_memmove(to, from, size); }
WINDLASS_RTC_C void *memset(void *to, int value, size_t size) { return __builtin_memset(to, value, size); }
template <class T> WINDLASS_RTC T __ldg(const T *from) { return *from; }
