// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementary functions as math.h needs them, `windlass_rtc_NAME(double)` and `(float)`: of AMD's device libraries, or of this
// header.
#pragma once

// Those of one number, of two, and of one with a result behind a pointer.
#define WINDLASS_RTC_FUNCTIONS(one, two)                                                                                    \
  one(acos) one(acosh) one(asin) one(asinh) one(atan) one(atanh) one(cbrt) one(cos) one(cosh) one(cospi) one(erf) one(erfc)  \
  one(erfcinv) one(erfcx) one(erfinv) one(exp) one(exp10) one(exp2) one(expm1) one(i0) one(i1) one(lgamma) one(log)          \
  one(log10) one(log1p) one(log2) one(ncdf) one(ncdfinv) one(rcbrt) one(rsqrt) one(sin) one(sinh) one(sinpi) one(tan)        \
  one(tanh) one(tgamma) two(atan2) two(fmod) two(hypot) two(pow) two(remainder) two(rhypot)

#ifdef WINDLASS_RTC_WITHOUT_LIBRARIES
#include "ocml_own.h"
#define WINDLASS_RTC_ONE(name)                                                            \
  WINDLASS_RTC double windlass_rtc_##name(double x) { return windlass_rtc::name(x); }     \
  WINDLASS_RTC float windlass_rtc_##name(float x) { return (float)windlass_rtc::name(x); }
#define WINDLASS_RTC_TWO(name)                                                                                      \
  WINDLASS_RTC double windlass_rtc_##name(double x, double y) { return windlass_rtc::name(x, y); }                  \
  WINDLASS_RTC float windlass_rtc_##name(float x, float y) { return (float)windlass_rtc::name((double)x, (double)y); }
WINDLASS_RTC double windlass_rtc_remquo(double x, double y, int *n) { return windlass_rtc::remquo(x, y, n); }
WINDLASS_RTC float windlass_rtc_remquo(float x, float y, int *n) { return (float)windlass_rtc::remquo(x, y, n); }
#else
#define WINDLASS_RTC_ONE(name)                                                        \
  extern "C" __attribute__((device, const)) double __ocml_##name##_f64(double);       \
  extern "C" __attribute__((device, const)) float __ocml_##name##_f32(float);         \
  WINDLASS_RTC double windlass_rtc_##name(double x) { return __ocml_##name##_f64(x); } \
  WINDLASS_RTC float windlass_rtc_##name(float x) { return __ocml_##name##_f32(x); }
#define WINDLASS_RTC_TWO(name)                                                                       \
  extern "C" __attribute__((device, const)) double __ocml_##name##_f64(double, double);              \
  extern "C" __attribute__((device, const)) float __ocml_##name##_f32(float, float);                 \
  WINDLASS_RTC double windlass_rtc_##name(double x, double y) { return __ocml_##name##_f64(x, y); }   \
  WINDLASS_RTC float windlass_rtc_##name(float x, float y) { return __ocml_##name##_f32(x, y); }
extern "C" __attribute__((device)) double __ocml_remquo_f64(double, double, __attribute__((address_space(5))) int *);
extern "C" __attribute__((device)) float __ocml_remquo_f32(float, float, __attribute__((address_space(5))) int *);
WINDLASS_RTC double windlass_rtc_remquo(double x, double y, int *n) {
  int own;
  double result = __ocml_remquo_f64(x, y, (__attribute__((address_space(5))) int *)&own);
  *n = own;
  return result;
}
WINDLASS_RTC float windlass_rtc_remquo(float x, float y, int *n) {
  int own;
  float result = __ocml_remquo_f32(x, y, (__attribute__((address_space(5))) int *)&own);
  *n = own;
  return result;
}
#endif
WINDLASS_RTC_FUNCTIONS(WINDLASS_RTC_ONE, WINDLASS_RTC_TWO)
#undef WINDLASS_RTC_ONE
#undef WINDLASS_RTC_TWO
