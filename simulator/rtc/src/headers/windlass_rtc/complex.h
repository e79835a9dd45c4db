// SPDX-License-Identifier: MIT OR Apache-2.0
// HIP's complex numbers, which are vectors of two.
#pragma once

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;
#define WINDLASS_RTC_COMPLEX(suffix, C, T, root)                                                                            \
  WINDLASS_RTC_ANY T hipCreal##suffix(C a) { return a.x; }                                                                  \
  WINDLASS_RTC_ANY T hipCimag##suffix(C a) { return a.y; }                                                                  \
  WINDLASS_RTC_ANY C hipConj##suffix(C a) { return C(a.x, -a.y); }                                                          \
  WINDLASS_RTC_ANY C hipCadd##suffix(C a, C b) { return C(a.x + b.x, a.y + b.y); }                                          \
  WINDLASS_RTC_ANY C hipCsub##suffix(C a, C b) { return C(a.x - b.x, a.y - b.y); }                                          \
  WINDLASS_RTC_ANY C hipCmul##suffix(C a, C b) { return C(a.x * b.x - a.y * b.y, a.y * b.x + a.x * b.y); }                  \
  WINDLASS_RTC_ANY C hipCdiv##suffix(C a, C b) {                                                                            \
    T s = b.x * b.x + b.y * b.y;                                                                                            \
    return C((a.x * b.x + a.y * b.y) / s, (a.y * b.x - a.x * b.y) / s);                                                     \
  }                                                                                                                         \
  WINDLASS_RTC_ANY T hipCsqabs##suffix(C a) { return a.x * a.x + a.y * a.y; }                                               \
  WINDLASS_RTC T hipCabs##suffix(C a) { return root(a.x * a.x + a.y * a.y); }                                               \
  WINDLASS_RTC_ANY C hipCfma##suffix(C a, C b, C c) { return hipCadd##suffix(hipCmul##suffix(a, b), c); }
WINDLASS_RTC_COMPLEX(f, hipFloatComplex, float, __builtin_sqrtf)
WINDLASS_RTC_COMPLEX(, hipDoubleComplex, double, __builtin_sqrt)
WINDLASS_RTC_ANY hipFloatComplex make_hipFloatComplex(float a, float b) { return hipFloatComplex(a, b); }
WINDLASS_RTC_ANY hipDoubleComplex make_hipDoubleComplex(double a, double b) { return hipDoubleComplex(a, b); }
WINDLASS_RTC_ANY hipComplex make_hipComplex(float a, float b) { return hipComplex(a, b); }
WINDLASS_RTC_ANY hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex a) { return hipFloatComplex((float)a.x, (float)a.y); }
WINDLASS_RTC_ANY hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex a) { return hipDoubleComplex(a.x, a.y); }
