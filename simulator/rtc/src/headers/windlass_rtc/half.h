// SPDX-License-Identifier: MIT OR Apache-2.0
// Half precision: `__half`, `__half2`, and HIP's functions of them.
#pragma once

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };
struct __half {
  union {
    _Float16 data;
    unsigned short __x;
  };
  __half() = default;
  WINDLASS_RTC_ANY __half(_Float16 x) : data(x) {}
  WINDLASS_RTC_ANY __half(float x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(double x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(int x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(unsigned x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(short x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(unsigned short x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(long x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(unsigned long x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(long long x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(unsigned long long x) : data((_Float16)x) {}
  WINDLASS_RTC_ANY __half(const __half_raw &x) : __x(x.x) {}
  WINDLASS_RTC_ANY operator float() const { return (float)data; }
  WINDLASS_RTC_ANY operator _Float16() const { return data; }
  WINDLASS_RTC_ANY explicit operator bool() const { return data != 0; }
  WINDLASS_RTC_ANY operator __half_raw() const { return __half_raw{__builtin_bit_cast(unsigned short, data)}; }
};
typedef __half half;
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  WINDLASS_RTC_ANY __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;

#define WINDLASS_RTC_HALF_OPERATOR(op)                                                                              \
  WINDLASS_RTC_ANY __half operator op(__half a, __half b) { return __half((_Float16)(a.data op b.data)); }          \
  WINDLASS_RTC_ANY __half &operator op##=(__half &a, __half b) { return a = a op b; }                               \
  WINDLASS_RTC_ANY __half2 operator op(__half2 a, __half2 b) { return __half2(a.x op b.x, a.y op b.y); }            \
  WINDLASS_RTC_ANY __half2 &operator op##=(__half2 &a, __half2 b) { return a = a op b; }
WINDLASS_RTC_HALF_OPERATOR(+)
WINDLASS_RTC_HALF_OPERATOR(-)
WINDLASS_RTC_HALF_OPERATOR(*)
WINDLASS_RTC_HALF_OPERATOR(/)
WINDLASS_RTC_ANY __half operator-(__half a) { return __half((_Float16)-a.data); }
WINDLASS_RTC_ANY __half operator+(__half a) { return a; }
WINDLASS_RTC_ANY __half &operator++(__half &a) { return a += __half(1); }
WINDLASS_RTC_ANY __half &operator--(__half &a) { return a -= __half(1); }
WINDLASS_RTC_ANY __half2 operator-(__half2 a) { return __half2(-a.x, -a.y); }
#define WINDLASS_RTC_HALF_ORDER(op, name)                                                              \
  WINDLASS_RTC_ANY bool operator op(__half a, __half b) { return a.data op b.data; }                   \
  WINDLASS_RTC bool __h##name(__half a, __half b) { return a.data op b.data; }                         \
  WINDLASS_RTC bool __h##name##u(__half a, __half b) { return a.data op b.data || a.data != a.data || b.data != b.data; } \
  WINDLASS_RTC bool __hb##name##2(__half2 a, __half2 b) { return a.x.data op b.x.data && a.y.data op b.y.data; } \
  WINDLASS_RTC __half2 __h##name##2(__half2 a, __half2 b) { return __half2(__half(int(a.x.data op b.x.data)), __half(int(a.y.data op b.y.data))); }
WINDLASS_RTC_HALF_ORDER(==, eq)
WINDLASS_RTC_HALF_ORDER(!=, ne)
WINDLASS_RTC_HALF_ORDER(<, lt)
WINDLASS_RTC_HALF_ORDER(<=, le)
WINDLASS_RTC_HALF_ORDER(>, gt)
WINDLASS_RTC_HALF_ORDER(>=, ge)

WINDLASS_RTC __half __hadd(__half a, __half b) { return a + b; }
WINDLASS_RTC __half __hsub(__half a, __half b) { return a - b; }
WINDLASS_RTC __half __hmul(__half a, __half b) { return a * b; }
WINDLASS_RTC __half __hdiv(__half a, __half b) { return a / b; }
WINDLASS_RTC __half windlass_rtc_saturated(__half a) {
  return __half(a.data > (_Float16)0 ? a.data > (_Float16)1 ? (_Float16)1 : a.data : (_Float16)0);
}
WINDLASS_RTC __half __hadd_sat(__half a, __half b) { return windlass_rtc_saturated(a + b); }
WINDLASS_RTC __half __hsub_sat(__half a, __half b) { return windlass_rtc_saturated(a - b); }
WINDLASS_RTC __half __hmul_sat(__half a, __half b) { return windlass_rtc_saturated(a * b); }
WINDLASS_RTC __half __hneg(__half a) { return -a; }
WINDLASS_RTC __half __habs(__half a) { return __half(__builtin_fabsf16(a.data)); }
WINDLASS_RTC __half __hfma(__half a, __half b, __half c) { return __half(__builtin_fmaf16(a.data, b.data, c.data)); }
WINDLASS_RTC __half __hmax(__half a, __half b) { return __half(__builtin_fmaxf16(a.data, b.data)); }
WINDLASS_RTC __half __hmin(__half a, __half b) { return __half(__builtin_fminf16(a.data, b.data)); }
WINDLASS_RTC bool __hisnan(__half a) { return a.data != a.data; }
WINDLASS_RTC int __hisinf(__half a) { return __builtin_isinf((float)a.data); }
WINDLASS_RTC __half2 __hadd2(__half2 a, __half2 b) { return a + b; }
WINDLASS_RTC __half2 __hsub2(__half2 a, __half2 b) { return a - b; }
WINDLASS_RTC __half2 __hmul2(__half2 a, __half2 b) { return a * b; }
WINDLASS_RTC __half2 __h2div(__half2 a, __half2 b) { return a / b; }
WINDLASS_RTC __half2 __hneg2(__half2 a) { return -a; }
WINDLASS_RTC __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
WINDLASS_RTC __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }

#define WINDLASS_RTC_HALF_MATH(name, by)                                                 \
  WINDLASS_RTC __half h##name(__half a) { return __half(by((float)a.data)); }            \
  WINDLASS_RTC __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
WINDLASS_RTC_HALF_MATH(sqrt, __builtin_sqrtf)
WINDLASS_RTC_HALF_MATH(rsqrt, windlass_rtc_rsqrt)
WINDLASS_RTC_HALF_MATH(rcp, 1.0f /)
WINDLASS_RTC_HALF_MATH(exp, windlass_rtc_exp)
WINDLASS_RTC_HALF_MATH(exp2, windlass_rtc_exp2)
WINDLASS_RTC_HALF_MATH(exp10, windlass_rtc_exp10)
WINDLASS_RTC_HALF_MATH(log, windlass_rtc_log)
WINDLASS_RTC_HALF_MATH(log2, windlass_rtc_log2)
WINDLASS_RTC_HALF_MATH(log10, windlass_rtc_log10)
WINDLASS_RTC_HALF_MATH(sin, windlass_rtc_sin)
WINDLASS_RTC_HALF_MATH(cos, windlass_rtc_cos)
WINDLASS_RTC_HALF_MATH(ceil, __builtin_ceilf)
WINDLASS_RTC_HALF_MATH(floor, __builtin_floorf)
WINDLASS_RTC_HALF_MATH(rint, __builtin_rintf)
WINDLASS_RTC_HALF_MATH(trunc, __builtin_truncf)

WINDLASS_RTC_ANY __half __float2half(float a) { return __half(a); }
WINDLASS_RTC_ANY __half __float2half_rn(float a) { return __half(a); }
WINDLASS_RTC_ANY __half __double2half(double a) { return __half(a); }
WINDLASS_RTC_ANY float __half2float(__half a) { return (float)a.data; }
WINDLASS_RTC_ANY __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
WINDLASS_RTC_ANY __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
WINDLASS_RTC_ANY __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
WINDLASS_RTC_ANY __half2 __half2half2(__half a) { return __half2(a, a); }
WINDLASS_RTC_ANY __half2 make_half2(__half a, __half b) { return __half2(a, b); }
WINDLASS_RTC_ANY __half __low2half(__half2 a) { return a.x; }
WINDLASS_RTC_ANY __half __high2half(__half2 a) { return a.y; }
WINDLASS_RTC_ANY float __low2float(__half2 a) { return (float)a.x.data; }
WINDLASS_RTC_ANY float __high2float(__half2 a) { return (float)a.y.data; }
WINDLASS_RTC float2 __half22float2(__half2 a) { return float2((float)a.x.data, (float)a.y.data); }
WINDLASS_RTC __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
#define WINDLASS_RTC_FROM_HALF(name, T)                                                   \
  WINDLASS_RTC T __half2##name##_rn(__half a) { return (T)__builtin_rintf(a); }          \
  WINDLASS_RTC T __half2##name##_rz(__half a) { return (T)(float)a.data; }               \
  WINDLASS_RTC T __half2##name##_ru(__half a) { return (T)__builtin_ceilf(a); }          \
  WINDLASS_RTC T __half2##name##_rd(__half a) { return (T)__builtin_floorf(a); }
WINDLASS_RTC_FROM_HALF(int, int)
WINDLASS_RTC_FROM_HALF(uint, unsigned)
WINDLASS_RTC_FROM_HALF(short, short)
WINDLASS_RTC_FROM_HALF(ushort, unsigned short)
WINDLASS_RTC_FROM_HALF(ll, long long)
WINDLASS_RTC_FROM_HALF(ull, unsigned long long)
// The neighbour of the nearest half, where the nearest one lies on the wrong side: further from zero by `step`, or nearer.
WINDLASS_RTC __half windlass_rtc_beside(__half a, int step) {
  unsigned short bits = __builtin_bit_cast(unsigned short, a.data);
  if ((bits & 0x7fff) == 0) return __half(__builtin_bit_cast(_Float16, (unsigned short)(step > 0 ? 1 : 0x8001)));
  return __half(__builtin_bit_cast(_Float16, (unsigned short)(bits + (bits & 0x8000 ? -step : step))));
}
WINDLASS_RTC __half __float2half_ru(float a) { return (float)(_Float16)a < a ? windlass_rtc_beside(__half(a), 1) : __half(a); }
WINDLASS_RTC __half __float2half_rd(float a) { return (float)(_Float16)a > a ? windlass_rtc_beside(__half(a), -1) : __half(a); }
WINDLASS_RTC __half __float2half_rz(float a) { return a < 0 ? __float2half_ru(a) : __float2half_rd(a); }
WINDLASS_RTC __half __int2half_rn(int a) { return __half(a); }
WINDLASS_RTC __half __uint2half_rn(unsigned a) { return __half(a); }
WINDLASS_RTC __half __short_as_half(short a) { return __builtin_bit_cast(_Float16, a); }
WINDLASS_RTC __half __ushort_as_half(unsigned short a) { return __builtin_bit_cast(_Float16, a); }
WINDLASS_RTC short __half_as_short(__half a) { return __builtin_bit_cast(short, a.data); }
WINDLASS_RTC unsigned short __half_as_ushort(__half a) { return __builtin_bit_cast(unsigned short, a.data); }
WINDLASS_RTC bool isnan(__half a) { return a.data != a.data; }
WINDLASS_RTC bool isinf(__half a) { return __builtin_isinf((float)a.data); }
WINDLASS_RTC bool isfinite(__half a) { return __builtin_isfinite((float)a.data); }
