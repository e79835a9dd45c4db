// SPDX-License-Identifier: MIT OR Apache-2.0
// C's functions of floats and doubles, C++'s overloads, and HIP's own.
#pragma once

// `name` of doubles with C's name, `namef` of floats, the overload of floats, and that of integers, which are doubles then.
#define WINDLASS_RTC_INTEGRAL(T) class = typename __hip_internal::enable_if<__is_integral(T)>::type
#define WINDLASS_RTC_OF_1(name, of_double, of_float)                                            \
  WINDLASS_RTC_C double name(double x) { return of_double(x); }                                 \
  WINDLASS_RTC_C float name##f(float x) { return of_float(x); }                                 \
  WINDLASS_RTC float name(float x) { return of_float(x); }                                      \
  template <class T, WINDLASS_RTC_INTEGRAL(T)> WINDLASS_RTC double name(T x) { return of_double((double)x); }
#define WINDLASS_RTC_OF_2(name, of_double, of_float)                                            \
  WINDLASS_RTC_C double name(double x, double y) { return of_double(x, y); }                    \
  WINDLASS_RTC_C float name##f(float x, float y) { return of_float(x, y); }                     \
  WINDLASS_RTC float name(float x, float y) { return of_float(x, y); }                          \
  template <class T, class U, class = typename __hip_internal::enable_if<                       \
      __is_arithmetic(T) && __is_arithmetic(U) && !__is_same(T, U)>::type>                      \
  WINDLASS_RTC double name(T x, U y) { return of_double((double)x, (double)y); }

#define WINDLASS_RTC_ONE(name) WINDLASS_RTC_OF_1(name, windlass_rtc_##name, windlass_rtc_##name)
#define WINDLASS_RTC_TWO(name) WINDLASS_RTC_OF_2(name, windlass_rtc_##name, windlass_rtc_##name)
WINDLASS_RTC_ONE(acos) WINDLASS_RTC_ONE(acosh) WINDLASS_RTC_ONE(asin) WINDLASS_RTC_ONE(asinh) WINDLASS_RTC_ONE(atan)
WINDLASS_RTC_ONE(atanh) WINDLASS_RTC_ONE(cbrt) WINDLASS_RTC_ONE(cos) WINDLASS_RTC_ONE(cosh) WINDLASS_RTC_ONE(cospi)
WINDLASS_RTC_ONE(erf) WINDLASS_RTC_ONE(erfc) WINDLASS_RTC_ONE(erfcinv) WINDLASS_RTC_ONE(erfcx) WINDLASS_RTC_ONE(erfinv)
WINDLASS_RTC_ONE(exp) WINDLASS_RTC_ONE(exp10) WINDLASS_RTC_ONE(exp2) WINDLASS_RTC_ONE(expm1) WINDLASS_RTC_ONE(lgamma)
WINDLASS_RTC_ONE(log) WINDLASS_RTC_ONE(log10) WINDLASS_RTC_ONE(log1p) WINDLASS_RTC_ONE(log2) WINDLASS_RTC_ONE(rcbrt)
WINDLASS_RTC_ONE(rsqrt) WINDLASS_RTC_ONE(sin) WINDLASS_RTC_ONE(sinh) WINDLASS_RTC_ONE(sinpi) WINDLASS_RTC_ONE(tan)
WINDLASS_RTC_ONE(tanh) WINDLASS_RTC_ONE(tgamma)
WINDLASS_RTC_OF_1(cyl_bessel_i0, windlass_rtc_i0, windlass_rtc_i0)
WINDLASS_RTC_OF_1(cyl_bessel_i1, windlass_rtc_i1, windlass_rtc_i1)
WINDLASS_RTC_OF_1(normcdf, windlass_rtc_ncdf, windlass_rtc_ncdf)
WINDLASS_RTC_OF_1(normcdfinv, windlass_rtc_ncdfinv, windlass_rtc_ncdfinv)
WINDLASS_RTC_TWO(atan2) WINDLASS_RTC_TWO(fmod) WINDLASS_RTC_TWO(hypot) WINDLASS_RTC_TWO(pow) WINDLASS_RTC_TWO(remainder)
WINDLASS_RTC_TWO(rhypot)

#define WINDLASS_RTC_BUILTIN_1(name) WINDLASS_RTC_OF_1(name, __builtin_##name, __builtin_##name##f)
#define WINDLASS_RTC_BUILTIN_2(name) WINDLASS_RTC_OF_2(name, __builtin_##name, __builtin_##name##f)
WINDLASS_RTC_BUILTIN_1(ceil) WINDLASS_RTC_BUILTIN_1(fabs) WINDLASS_RTC_BUILTIN_1(floor) WINDLASS_RTC_BUILTIN_1(nearbyint)
WINDLASS_RTC_BUILTIN_1(rint) WINDLASS_RTC_BUILTIN_1(round) WINDLASS_RTC_BUILTIN_1(sqrt) WINDLASS_RTC_BUILTIN_1(trunc)
WINDLASS_RTC_BUILTIN_2(copysign) WINDLASS_RTC_BUILTIN_2(fmax) WINDLASS_RTC_BUILTIN_2(fmin)
template <class T> WINDLASS_RTC T windlass_rtc_fdim(T x, T y) { return x > y ? x - y : x != x ? x : y != y ? y : T(0); }
WINDLASS_RTC_OF_2(fdim, windlass_rtc_fdim, windlass_rtc_fdim)

WINDLASS_RTC float abs(float x) { return __builtin_fabsf(x); }
WINDLASS_RTC double abs(double x) { return __builtin_fabs(x); }
WINDLASS_RTC float min(float x, float y) { return __builtin_fminf(x, y); }
WINDLASS_RTC double min(double x, double y) { return __builtin_fmin(x, y); }
WINDLASS_RTC float max(float x, float y) { return __builtin_fmaxf(x, y); }
WINDLASS_RTC double max(double x, double y) { return __builtin_fmax(x, y); }
WINDLASS_RTC double min(float x, double y) { return __builtin_fmin(x, y); }
WINDLASS_RTC double min(double x, float y) { return __builtin_fmin(x, y); }
WINDLASS_RTC double max(float x, double y) { return __builtin_fmax(x, y); }
WINDLASS_RTC double max(double x, float y) { return __builtin_fmax(x, y); }

WINDLASS_RTC_C double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
WINDLASS_RTC_C float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WINDLASS_RTC float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WINDLASS_RTC_C double remquo(double x, double y, int *n) { return windlass_rtc_remquo(x, y, n); }
WINDLASS_RTC_C float remquof(float x, float y, int *n) { return windlass_rtc_remquo(x, y, n); }
WINDLASS_RTC_C double ldexp(double x, int n) { return __builtin_amdgcn_ldexp(x, n); }
WINDLASS_RTC_C float ldexpf(float x, int n) { return __builtin_amdgcn_ldexpf(x, n); }
WINDLASS_RTC float ldexp(float x, int n) { return __builtin_amdgcn_ldexpf(x, n); }
WINDLASS_RTC_C double scalbn(double x, int n) { return __builtin_amdgcn_ldexp(x, n); }
WINDLASS_RTC_C float scalbnf(float x, int n) { return __builtin_amdgcn_ldexpf(x, n); }
WINDLASS_RTC float scalbn(float x, int n) { return __builtin_amdgcn_ldexpf(x, n); }
WINDLASS_RTC int windlass_rtc_clamped(long n) { return n > 100000 ? 100000 : n < -100000 ? -100000 : (int)n; }
WINDLASS_RTC_C double scalbln(double x, long n) { return __builtin_amdgcn_ldexp(x, windlass_rtc_clamped(n)); }
WINDLASS_RTC_C float scalblnf(float x, long n) { return __builtin_amdgcn_ldexpf(x, windlass_rtc_clamped(n)); }
WINDLASS_RTC_C double frexp(double x, int *n) { return (*n = __builtin_amdgcn_frexp_exp(x), __builtin_amdgcn_frexp_mant(x)); }
WINDLASS_RTC_C float frexpf(float x, int *n) { return (*n = __builtin_amdgcn_frexp_expf(x), __builtin_amdgcn_frexp_mantf(x)); }
WINDLASS_RTC float frexp(float x, int *n) { return (*n = __builtin_amdgcn_frexp_expf(x), __builtin_amdgcn_frexp_mantf(x)); }
WINDLASS_RTC_C double modf(double x, double *whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(__builtin_isinf(x) ? 0 : x - *whole, x);
}
WINDLASS_RTC_C float modff(float x, float *whole) {
  *whole = __builtin_truncf(x);
  return __builtin_copysignf(__builtin_isinf(x) ? 0 : x - *whole, x);
}
WINDLASS_RTC float modf(float x, float *whole) { return modff(x, whole); }
WINDLASS_RTC_C int ilogb(double x) {
  if (x == 0) return -__INT_MAX__ - 1;
  return x != x || __builtin_isinf(x) ? __INT_MAX__ : __builtin_amdgcn_frexp_exp(x) - 1;
}
WINDLASS_RTC_C int ilogbf(float x) { return ilogb(x); }
WINDLASS_RTC_C double logb(double x) {
  return x == 0 ? -__builtin_inf() : x != x || __builtin_isinf(x) ? x * x : (double)ilogb(x);
}
WINDLASS_RTC_C float logbf(float x) { return (float)logb(x); }
WINDLASS_RTC_C double nextafter(double x, double y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return __builtin_copysign(__builtin_bit_cast(double, 1ll), y);
  return __builtin_bit_cast(double, __builtin_bit_cast(long long, x) + ((x < y) == (x > 0) ? 1 : -1));
}
WINDLASS_RTC_C float nextafterf(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return __builtin_copysignf(__builtin_bit_cast(float, 1), y);
  return __builtin_bit_cast(float, __builtin_bit_cast(int, x) + ((x < y) == (x > 0) ? 1 : -1));
}
WINDLASS_RTC float nextafter(float x, float y) { return nextafterf(x, y); }

#define WINDLASS_RTC_ROUNDED(name, T, by)                           \
  WINDLASS_RTC_C T name(double x) { return (T)__builtin_##by(x); }  \
  WINDLASS_RTC_C T name##f(float x) { return (T)__builtin_##by##f(x); }
WINDLASS_RTC_ROUNDED(lrint, long, rint)
WINDLASS_RTC_ROUNDED(llrint, long long, rint)
WINDLASS_RTC_ROUNDED(lround, long, round)
WINDLASS_RTC_ROUNDED(llround, long long, round)

#define WINDLASS_RTC_SINCOS(name, T, sin, cos)                      \
  WINDLASS_RTC void name(T x, T *s, T *c) { *s = sin(x), *c = cos(x); }
WINDLASS_RTC_SINCOS(sincos, double, windlass_rtc_sin, windlass_rtc_cos)
WINDLASS_RTC_SINCOS(sincos, float, windlass_rtc_sin, windlass_rtc_cos)
WINDLASS_RTC_SINCOS(sincosf, float, windlass_rtc_sin, windlass_rtc_cos)
WINDLASS_RTC_SINCOS(sincospi, double, windlass_rtc_sinpi, windlass_rtc_cospi)
WINDLASS_RTC_SINCOS(sincospi, float, windlass_rtc_sinpi, windlass_rtc_cospi)
WINDLASS_RTC_SINCOS(sincospif, float, windlass_rtc_sinpi, windlass_rtc_cospi)
WINDLASS_RTC_SINCOS(__sincosf, float, windlass_rtc_sin, windlass_rtc_cos)

WINDLASS_RTC double pow(double x, int y) { return windlass_rtc_pow(x, (double)y); }
WINDLASS_RTC float pow(float x, int y) { return windlass_rtc_pow(x, (float)y); }
WINDLASS_RTC double powi(double x, int y) { return windlass_rtc_pow(x, (double)y); }
WINDLASS_RTC float powif(float x, int y) { return windlass_rtc_pow(x, (float)y); }
WINDLASS_RTC double norm3d(double x, double y, double z) { return windlass_rtc_hypot(windlass_rtc_hypot(x, y), z); }
WINDLASS_RTC float norm3df(float x, float y, float z) { return (float)__builtin_sqrt((double)x * x + (double)y * y + (double)z * z); }
WINDLASS_RTC double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
WINDLASS_RTC float rnorm3df(float x, float y, float z) { return 1 / norm3df(x, y, z); }
WINDLASS_RTC double norm4d(double x, double y, double z, double w) { return windlass_rtc_hypot(norm3d(x, y, z), w); }
WINDLASS_RTC float norm4df(float x, float y, float z, float w) {
  return (float)__builtin_sqrt((double)x * x + (double)y * y + (double)z * z + (double)w * w);
}

#define WINDLASS_RTC_CLASS(name, T)                                               \
  WINDLASS_RTC bool name(T x) { return __builtin_##name(x); }
WINDLASS_RTC_CLASS(isnan, float) WINDLASS_RTC_CLASS(isnan, double)
WINDLASS_RTC_CLASS(isinf, float) WINDLASS_RTC_CLASS(isinf, double)
WINDLASS_RTC_CLASS(isfinite, float) WINDLASS_RTC_CLASS(isfinite, double)
WINDLASS_RTC_CLASS(isnormal, float) WINDLASS_RTC_CLASS(isnormal, double)
WINDLASS_RTC_CLASS(signbit, float) WINDLASS_RTC_CLASS(signbit, double)
#define WINDLASS_RTC_CLASS_OF_INTEGER(name, value) \
  template <class T, WINDLASS_RTC_INTEGRAL(T)> WINDLASS_RTC bool name(T x) { return value; }
WINDLASS_RTC_CLASS_OF_INTEGER(isnan, false)
WINDLASS_RTC_CLASS_OF_INTEGER(isinf, false)
WINDLASS_RTC_CLASS_OF_INTEGER(isfinite, true)
WINDLASS_RTC_CLASS_OF_INTEGER(signbit, x < 0)
WINDLASS_RTC_C double nan(const char *) { return __builtin_nan(""); }
WINDLASS_RTC_C float nanf(const char *) { return __builtin_nanf(""); }

// The fast functions of a GPU. Older compilers have no builtins for two of them, and make the same instructions.
#if __has_builtin(__builtin_amdgcn_exp2f)
#define WINDLASS_RTC_EXP2 __builtin_amdgcn_exp2f
#define WINDLASS_RTC_LOG2 __builtin_amdgcn_logf
#else
#define WINDLASS_RTC_EXP2 __builtin_exp2f
#define WINDLASS_RTC_LOG2 __builtin_log2f
#endif
WINDLASS_RTC float __sinf(float x) { return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x * 0x1.45f306p-3f)); }
WINDLASS_RTC float __cosf(float x) { return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x * 0x1.45f306p-3f)); }
WINDLASS_RTC float __tanf(float x) { return __sinf(x) / __cosf(x); }
WINDLASS_RTC float __exp2f(float x) { return WINDLASS_RTC_EXP2(x); }
WINDLASS_RTC float __expf(float x) { return WINDLASS_RTC_EXP2(x * 0x1.715476p+0f); }
WINDLASS_RTC float __exp10f(float x) { return WINDLASS_RTC_EXP2(x * 0x1.a934f0p+1f); }
WINDLASS_RTC float __log2f(float x) { return WINDLASS_RTC_LOG2(x); }
WINDLASS_RTC float __logf(float x) { return WINDLASS_RTC_LOG2(x) * 0x1.62e43p-1f; }
WINDLASS_RTC float __log10f(float x) { return WINDLASS_RTC_LOG2(x) * 0x1.344136p-2f; }
WINDLASS_RTC float __powf(float x, float y) { return powf(x, y); }
WINDLASS_RTC float __fdividef(float x, float y) { return x / y; }
WINDLASS_RTC float fdividef(float x, float y) { return x / y; }
WINDLASS_RTC float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }
WINDLASS_RTC float __saturatef(float x) { return x < 0 || x != x ? 0 : x > 1 ? 1 : x; }
WINDLASS_RTC float __frcp_rn(float x) { return 1 / x; }
WINDLASS_RTC float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
WINDLASS_RTC float __fadd_rn(float x, float y) { return x + y; }
WINDLASS_RTC float __fsub_rn(float x, float y) { return x - y; }
WINDLASS_RTC float __fmul_rn(float x, float y) { return x * y; }
WINDLASS_RTC float __fdiv_rn(float x, float y) { return x / y; }
WINDLASS_RTC float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WINDLASS_RTC double __dadd_rn(double x, double y) { return x + y; }
WINDLASS_RTC double __dsub_rn(double x, double y) { return x - y; }
WINDLASS_RTC double __dmul_rn(double x, double y) { return x * y; }
WINDLASS_RTC double __ddiv_rn(double x, double y) { return x / y; }
WINDLASS_RTC double __drcp_rn(double x) { return 1 / x; }
WINDLASS_RTC double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
WINDLASS_RTC double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

// Conversions by their rounding.
#define WINDLASS_RTC_CONVERSIONS(from, T, f)                                                                                \
  WINDLASS_RTC int __##from##2int_rn(T x) { return (int)__builtin_rint##f(x); }                                             \
  WINDLASS_RTC int __##from##2int_rz(T x) { return (int)x; }                                                                \
  WINDLASS_RTC int __##from##2int_ru(T x) { return (int)__builtin_ceil##f(x); }                                             \
  WINDLASS_RTC int __##from##2int_rd(T x) { return (int)__builtin_floor##f(x); }                                            \
  WINDLASS_RTC unsigned __##from##2uint_rn(T x) { return (unsigned)__builtin_rint##f(x); }                                  \
  WINDLASS_RTC unsigned __##from##2uint_rz(T x) { return (unsigned)x; }                                                     \
  WINDLASS_RTC unsigned __##from##2uint_ru(T x) { return (unsigned)__builtin_ceil##f(x); }                                  \
  WINDLASS_RTC unsigned __##from##2uint_rd(T x) { return (unsigned)__builtin_floor##f(x); }                                 \
  WINDLASS_RTC long long __##from##2ll_rn(T x) { return (long long)__builtin_rint##f(x); }                                  \
  WINDLASS_RTC long long __##from##2ll_rz(T x) { return (long long)x; }                                                     \
  WINDLASS_RTC unsigned long long __##from##2ull_rn(T x) { return (unsigned long long)__builtin_rint##f(x); }               \
  WINDLASS_RTC unsigned long long __##from##2ull_rz(T x) { return (unsigned long long)x; }
WINDLASS_RTC_CONVERSIONS(float, float, f)
WINDLASS_RTC_CONVERSIONS(double, double, )
// Lengths of vectors with any number of components.
WINDLASS_RTC double windlass_rtc_square_of_length(int count, const float *a) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += (double)a[i] * a[i];
  return sum;
}
WINDLASS_RTC float normf(int count, const float *a) { return (float)__builtin_sqrt(windlass_rtc_square_of_length(count, a)); }
WINDLASS_RTC float rnormf(int count, const float *a) { return (float)(1 / __builtin_sqrt(windlass_rtc_square_of_length(count, a))); }
WINDLASS_RTC double norm(int count, const double *a) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum = hypot(sum, a[i]);
  return sum;
}
WINDLASS_RTC double rnorm(int count, const double *a) { return 1 / norm(count, a); }
WINDLASS_RTC float __double2float_rn(double x) { return (float)x; }
WINDLASS_RTC float __int2float_rn(int x) { return (float)x; }
WINDLASS_RTC float __uint2float_rn(unsigned x) { return (float)x; }
WINDLASS_RTC float __ll2float_rn(long long x) { return (float)x; }
WINDLASS_RTC float __ull2float_rn(unsigned long long x) { return (float)x; }
WINDLASS_RTC double __int2double_rn(int x) { return (double)x; }
WINDLASS_RTC double __uint2double_rn(unsigned x) { return (double)x; }
WINDLASS_RTC double __ll2double_rn(long long x) { return (double)x; }
WINDLASS_RTC double __ull2double_rn(unsigned long long x) { return (double)x; }
