// SPDX-License-Identifier: MIT OR Apache-2.0
// Elementary functions in double precision, for machines without AMD's device libraries. Errors are a few units in the last
// place; functions of floats round these.
#pragma once
#pragma float_control(precise, on, push)
#pragma clang fp contract(off)

namespace windlass_rtc {
#define WINDLASS_RTC_BODY static inline __attribute__((device))

constexpr __attribute__((device)) double LN2_HIGH = 0x1.62e42fefa39efp-1, LN2_LOW = 0x1.abc9e3b39803fp-56;
constexpr __attribute__((device)) double PI = 0x1.921fb54442d18p+1, HALF_PI = 0x1.921fb54442d18p+0, HALF_PI_LOW = 0x1.1a62633145c07p-54;

// A number as a fraction from 1/2 on, and its exponent. C's function of that name would call itself with older compilers.
WINDLASS_RTC_BODY double split(double x, int *exponent) {
  *exponent = __builtin_amdgcn_frexp_exp(x);
  return __builtin_amdgcn_frexp_mant(x);
}

// A number as the sum of two, the second far smaller.
struct pair {
  double high, low;
};
WINDLASS_RTC_BODY pair sum(double a, double b) {
  double s = a + b, of_b = s - a;
  return {s, (a - (s - of_b)) + (b - of_b)};
}
WINDLASS_RTC_BODY pair product(double a, double b) {
  double p = a * b;
  return {p, __builtin_fma(a, b, -p)};
}

// The polynomial with the coefficients 1/k!, from `first` on, in every `step`th k, with alternating signs if asked.
template <int first, int step, bool alternating, int terms> WINDLASS_RTC_BODY double factorials(double x) {
  double result = 0;
  double coefficient[terms];
  double factorial = 1;
  int k = 1;
#pragma unroll
  for (int i = 0; i < terms; ++i) {
    for (; k <= first + i * step; ++k) factorial *= k;
    coefficient[i] = (alternating && i % 2 ? -1 : 1) / factorial;
  }
#pragma unroll
  for (int i = terms - 1; i >= 0; --i) result = __builtin_fma(result, x, coefficient[i]);
  return result;
}
// The polynomial with the coefficients 1/(2k+1), from `first` on.
template <int first, int terms, bool alternating> WINDLASS_RTC_BODY double odds(double x) {
  double result = 0;
#pragma unroll
  for (int i = terms - 1; i >= 0; --i) {
    result = __builtin_fma(result, x, (alternating && (first + i) % 2 ? -1.0 : 1.0) / (2 * (first + i) + 1));
  }
  return result;
}

// e to the power of a pair.
WINDLASS_RTC_BODY double exp(double x, double low = 0) {
  if (x > 710) return __builtin_inf();
  if (x < -746) return 0;
  double k = __builtin_rint(x * 0x1.71547652b82fep+0);
  double r = __builtin_fma(-k, LN2_HIGH, x);
  r = __builtin_fma(-k, LN2_LOW, r) + low;
  double tail = r * r * factorials<2, 1, false, 13>(r);
  return __builtin_amdgcn_ldexp(1 + (r + tail), (int)k);
}
WINDLASS_RTC_BODY double expm1(double x) {
  if (__builtin_fabs(x) < 0.35) return x + x * x * factorials<2, 1, false, 14>(x);
  return exp(x) - 1;
}
WINDLASS_RTC_BODY double exp2(double x) {
  if (x > 1025) return __builtin_inf();
  if (x < -1080) return 0;
  double k = __builtin_rint(x);
  return __builtin_amdgcn_ldexp(exp((x - k) * LN2_HIGH, (x - k) * LN2_LOW), (int)k);
}
WINDLASS_RTC_BODY double exp10(double x) {
  pair p = product(x, 0x1.26bb1bbb55516p+1);
  return exp(p.high, p.low + x * -0x1.f48ad494ea3e9p-53);
}

// The logarithm of a positive finite number as a pair.
WINDLASS_RTC_BODY pair log_pair(double x) {
  int e;
  double m = split(x, &e);
  if (m < 0x1.6a09e667f3bcdp-1) m *= 2, e -= 1;
  double above = m - 1;
  pair below = sum(m, 1);
  double f = above / below.high;
  // What the quotient lacks.
  double lack = (__builtin_fma(-f, below.high, above) - f * below.low) / below.high;
  double s = f * f;
  double tail = 2 * f * s * odds<1, 12, false>(s) + 2 * lack;
  pair of_m = sum(2 * f, tail);
  pair of_e = product(e, LN2_HIGH);
  pair result = sum(of_e.high, of_m.high);
  return sum(result.high, result.low + (of_m.low + (of_e.low + e * LN2_LOW)));
}
// What a logarithm is of numbers that have none of their own; NaN for the others, which is none.
WINDLASS_RTC_BODY bool log_special(double x, double *result) {
  if (x > 0 && x < __builtin_inf()) return false;
  *result = x == 0 ? -__builtin_inf() : x > 0 ? x : __builtin_nan("");
  return true;
}
WINDLASS_RTC_BODY double log(double x) {
  double special;
  if (log_special(x, &special)) return special;
  return log_pair(x).high;
}
WINDLASS_RTC_BODY double log_by(double x, double high, double low) {
  double special;
  if (log_special(x, &special)) return special;
  pair l = log_pair(x), p = product(l.high, high);
  return p.high + (p.low + (l.high * low + l.low * high));
}
WINDLASS_RTC_BODY double log2(double x) { return log_by(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56); }
WINDLASS_RTC_BODY double log10(double x) { return log_by(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57); }
WINDLASS_RTC_BODY double log1p(double x) {
  double u = 1 + x;
  if (u == 1 || x == __builtin_inf()) return x;
  return u > 0 ? log(u) + (x - (u - 1)) / u : log(u);
}

WINDLASS_RTC_BODY double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  double magnitude = __builtin_fabs(x);
  bool whole = __builtin_trunc(y) == y;
  bool odd = whole && __builtin_fabs(y) < 0x1p53 && ((long long)y & 1);
  bool negative = __builtin_signbit(x) && odd;
  double result;
  if (__builtin_isinf(y)) {
    result = magnitude == 1 ? 1 : (magnitude > 1) == (y > 0) ? __builtin_inf() : 0;
  } else if (magnitude == 0 || __builtin_isinf(magnitude)) {
    result = (magnitude == 0) == (y < 0) ? __builtin_inf() : 0;
  } else if (x < 0 && !whole) {
    result = __builtin_nan("");
  } else {
    pair l = log_pair(magnitude), p = product(y, l.high);
    result = __builtin_isinf(p.high) ? exp(p.high) : exp(p.high, p.low + y * l.low);
  }
  return negative ? -result : result;
}

// The bits of 2/pi.
constexpr __attribute__((device)) unsigned long long TWO_OVER_PI[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
WINDLASS_RTC_BODY unsigned long long bits_of_two_over_pi(int from) {
  if (from < 0) return from > -64 ? TWO_OVER_PI[0] >> -from : 0;
  int word = from / 64, by = from % 64;
  unsigned long long high = TWO_OVER_PI[word], low = TWO_OVER_PI[word + 1];
  return by ? (high << by) | (low >> (64 - by)) : high;
}
// The remainder by pi/2 as a pair, and which quarter the number is in.
WINDLASS_RTC_BODY pair quarter(double x, int *number) {
  if (__builtin_fabs(x) < 0x1p30) {
    double n = __builtin_rint(x * 0x1.45f306dc9c883p-1);
    *number = (int)(long long)n;
    double first = __builtin_fma(-n, HALF_PI, x);
    pair second = product(n, HALF_PI_LOW);
    pair difference = sum(first, -second.high);
    return sum(difference.high, difference.low - second.low - n * -0x1.f1976b7ed8fbcp-110);
  }
  // x = mantissa * 2^exponent. Bits of mantissa * 2/pi above the quarters' two are whole turns.
  int e;
  long long mantissa = (long long)__builtin_amdgcn_ldexp(split(__builtin_fabs(x), &e), 53);
  int from = e - 53 - 2;
  unsigned long long factor[3] = {bits_of_two_over_pi(from), bits_of_two_over_pi(from + 64), bits_of_two_over_pi(from + 128)};
  unsigned __int128 low = (unsigned __int128)factor[2] * (unsigned long long)mantissa;
  unsigned __int128 middle = (unsigned __int128)factor[1] * (unsigned long long)mantissa + (unsigned long long)(low >> 64);
  unsigned long long high = factor[0] * (unsigned long long)mantissa + (unsigned long long)(middle >> 64);
  int n = (int)(high >> 62);
  __int128 fraction = (__int128)(((unsigned __int128)high << 66) | ((unsigned __int128)(unsigned long long)middle << 2) |
                                 ((unsigned long long)low >> 62));
  // The nearest quarter: a fraction above one half counts down.
  if (fraction < 0) n += 1;
  double upper = (double)(long long)(fraction >> 64) * 0x1p-64;
  double lower = (double)(unsigned long long)fraction * 0x1p-128;
  pair turns = sum(upper, lower), r = product(turns.high, HALF_PI);
  r = sum(r.high, r.low + (turns.low * HALF_PI + turns.high * HALF_PI_LOW));
  *number = __builtin_signbit(x) ? -n : n;
  return __builtin_signbit(x) ? pair{-r.high, -r.low} : r;
}
WINDLASS_RTC_BODY double sin_of(pair r) {
  double s = r.high * r.high;
  double tail = r.high * s * -factorials<3, 2, true, 9>(s);
  return r.high + (tail + r.low * (1 - s / 2));
}
WINDLASS_RTC_BODY double cos_of(pair r) {
  double s = r.high * r.high;
  double half = s / 2, one = 1 - half;
  return one + ((1 - one - half) + (s * s * factorials<4, 2, true, 8>(s) - r.high * r.low));
}
WINDLASS_RTC_BODY double sine(pair r, int n) {
  double result = n & 1 ? cos_of(r) : sin_of(r);
  return n & 2 ? -result : result;
}
WINDLASS_RTC_BODY bool has_no_angle(double x) { return !(__builtin_fabs(x) < __builtin_inf()); }
WINDLASS_RTC_BODY double sin(double x) {
  if (has_no_angle(x)) return __builtin_nan("");
  if (x == 0) return x;
  int n;
  pair r = quarter(x, &n);
  return sine(r, n);
}
WINDLASS_RTC_BODY double cos(double x) {
  if (has_no_angle(x)) return __builtin_nan("");
  int n;
  pair r = quarter(x, &n);
  return sine(r, n + 1);
}
WINDLASS_RTC_BODY double tan(double x) {
  if (has_no_angle(x)) return __builtin_nan("");
  if (x == 0) return x;
  int n;
  pair r = quarter(x, &n);
  double s = sin_of(r), c = cos_of(r);
  return n & 1 ? -c / s : s / c;
}
WINDLASS_RTC_BODY pair half_turns(double x, int *n) {
  double k = __builtin_rint(2 * x);
  *n = (int)(long long)(k - 4 * __builtin_floor(k / 4));
  double rest = x - k / 2;
  pair p = product(rest, PI);
  return {p.high, p.low + rest * (2 * HALF_PI_LOW)};
}
WINDLASS_RTC_BODY double sinpi(double x) {
  if (has_no_angle(x)) return __builtin_nan("");
  if (__builtin_trunc(x) == x) return __builtin_copysign(0.0, x);
  int n;
  pair r = half_turns(x, &n);
  return sine(r, n);
}
WINDLASS_RTC_BODY double cospi(double x) {
  if (has_no_angle(x)) return __builtin_nan("");
  // Such numbers are even.
  if (__builtin_fabs(x) >= 0x1p53) return 1;
  int n;
  pair r = half_turns(x, &n);
  return sine(r, n + 1);
}

// The arc tangent of a/b of positive numbers.
WINDLASS_RTC_BODY double atan_of(double a, double b) {
  bool steep = a > b;
  double t = steep ? b / a : a / b;
  bool large = t > 0.41421356237309503;
  if (large) t = steep ? (b - a) / (a + b) : (a - b) / (a + b);
  double s = t * t;
  double result = t + t * s * odds<1, 21, true>(s);
  if (large) result = HALF_PI / 2 + (result + HALF_PI_LOW / 2);
  return steep ? HALF_PI - (result - HALF_PI_LOW) : result;
}
WINDLASS_RTC_BODY double atan2(double y, double x) {
  if (x != x || y != y) return x + y;
  double a = __builtin_fabs(y), b = __builtin_fabs(x), result;
  if (__builtin_isinf(a) && __builtin_isinf(b)) result = HALF_PI / 2;
  else if (a == 0) result = 0;
  else if (b == 0 || __builtin_isinf(a)) result = HALF_PI;
  else if (__builtin_isinf(b)) result = 0;
  else result = atan_of(a, b);
  if (__builtin_signbit(x)) result = PI - (result - 2 * HALF_PI_LOW);
  return __builtin_copysign(result, y);
}
WINDLASS_RTC_BODY double atan(double x) { return atan2(x, 1); }
WINDLASS_RTC_BODY double asin(double x) { return x == 0 ? x : atan2(x, __builtin_sqrt((1 - x) * (1 + x))); }
WINDLASS_RTC_BODY double acos(double x) { return atan2(__builtin_sqrt((1 - x) * (1 + x)), x); }

WINDLASS_RTC_BODY double sinh(double x) {
  double a = __builtin_fabs(x), result;
  if (a < 22) {
    double e = expm1(a);
    result = (e + e / (e + 1)) / 2;
  } else {
    double half = exp(a / 2);
    result = half / 2 * half;
  }
  return __builtin_copysign(result, x);
}
WINDLASS_RTC_BODY double cosh(double x) {
  double half = exp(__builtin_fabs(x) / 2), e = half * half;
  return __builtin_fabs(x) < 22 ? (e + 1 / e) / 2 : half / 2 * half;
}
WINDLASS_RTC_BODY double tanh(double x) {
  double a = __builtin_fabs(x);
  double e = a < 22 ? expm1(2 * a) : 0;
  return a < 22 ? __builtin_copysign(e / (e + 2), x) : x != x ? x : __builtin_copysign(1.0, x);
}
WINDLASS_RTC_BODY double asinh(double x) {
  double a = __builtin_fabs(x);
  double result = a > 1e150 ? log(a) + LN2_HIGH : log1p(a + a * a / (1 + __builtin_sqrt(a * a + 1)));
  return x == 0 ? x : __builtin_copysign(result, x);
}
WINDLASS_RTC_BODY double acosh(double x) {
  if (x < 1) return __builtin_nan("");
  double t = x - 1;
  return x > 1e150 ? log(x) + LN2_HIGH : log1p(t + __builtin_sqrt(2 * t + t * t));
}
WINDLASS_RTC_BODY double atanh(double x) {
  double a = __builtin_fabs(x);
  return x == 0 ? x : __builtin_copysign(log1p(2 * a / (1 - a)) / 2, x);
}

WINDLASS_RTC_BODY double cbrt(double x) {
  double a = __builtin_fabs(x);
  if (a == 0 || !(a < __builtin_inf())) return x;
  double t = exp(log(a) / 3);
  t = t - (t - a / t / t) / 3;
  return __builtin_copysign(t, x);
}
WINDLASS_RTC_BODY double hypot(double x, double y) {
  if (__builtin_isinf(x) || __builtin_isinf(y)) return __builtin_inf();
  int e;
  split(__builtin_fmax(__builtin_fabs(x), __builtin_fabs(y)), &e);
  x = __builtin_amdgcn_ldexp(x, -e), y = __builtin_amdgcn_ldexp(y, -e);
  return __builtin_amdgcn_ldexp(__builtin_sqrt(__builtin_fma(x, x, y * y)), e);
}

// The remainder of magnitudes, and the last three bits of the quotient.
WINDLASS_RTC_BODY double remainder_of(double a, double b, int *quotient) {
  int n = 0, of_a, of_b;
  double rest = split(a, &of_a), by = split(b, &of_b);
  if (of_a < of_b) {
    *quotient = 0;
    return a;
  }
  for (int i = of_a - of_b; i >= 0; --i) {
    n <<= 1;
    if (rest >= by) rest -= by, n |= 1;
    if (i > 0) rest *= 2;
  }
  *quotient = n;
  return __builtin_amdgcn_ldexp(rest, of_b);
}
WINDLASS_RTC_BODY bool remainder_special(double x, double y, double *result) {
  if (x != x || y != y || y == 0 || __builtin_isinf(x)) {
    *result = __builtin_nan("");
    return true;
  }
  *result = x;
  return __builtin_isinf(y) || x == 0;
}
WINDLASS_RTC_BODY double fmod(double x, double y) {
  double result;
  int n;
  if (remainder_special(x, y, &result)) return result;
  return __builtin_copysign(remainder_of(__builtin_fabs(x), __builtin_fabs(y), &n), x);
}
WINDLASS_RTC_BODY double remquo(double x, double y, int *quotient) {
  double result;
  *quotient = 0;
  if (remainder_special(x, y, &result)) return result;
  int n;
  double b = __builtin_fabs(y), r = remainder_of(__builtin_fabs(x), b, &n);
  double above = b - r;
  if (r > above || (r == above && (n & 1))) r = -above, n += 1;
  *quotient = (__builtin_signbit(x) != __builtin_signbit(y) ? -1 : 1) * (n & 0x7f);
  return __builtin_signbit(x) ? -r : r;
}
WINDLASS_RTC_BODY double remainder(double x, double y) {
  int n;
  return remquo(x, y, &n);
}

// e to the power of minus the square.
WINDLASS_RTC_BODY double bell(double x) {
  pair square = product(x, x);
  return exp(-square.high, -square.low);
}
WINDLASS_RTC_BODY double erf_small(double x) {
  double s = 2 * x * x, term = x, result = x;
  for (int k = 3; k < 60; k += 2) term *= s / k, result += term;
  return 0x1.20dd750429b6dp+0 * bell(x) * result;
}
// e to the power of the square, times erfc, of numbers from 1 on.
WINDLASS_RTC_BODY double erfcx_large(double x) {
  double fraction = 0;
  for (int k = (int)(200 / (x * x)) + 8; k > 0; --k) fraction = k / 2.0 / (x + fraction);
  return 0x1.20dd750429b6dp-1 / (x + fraction);
}
WINDLASS_RTC_BODY double erfc(double x) {
  if (x != x) return x;
  if (x > 28) return 0;
  if (x < -6) return 2;
  if (__builtin_fabs(x) < 1) return 1 - erf_small(x);
  double result = bell(x) * erfcx_large(__builtin_fabs(x));
  return x < 0 ? 2 - result : result;
}
WINDLASS_RTC_BODY double erf(double x) {
  if (x != x || x == 0) return x;
  if (__builtin_fabs(x) < 1) return erf_small(x);
  return x < 0 ? erfc(-x) - 1 : 1 - erfc(x);
}
WINDLASS_RTC_BODY double erfcx(double x) {
  if (x >= 1) return x < 1e9 ? erfcx_large(x) : 0x1.20dd750429b6dp-1 / x;
  return erfc(x) / bell(x);
}
// The number of which erfc is y, by Newton's method.
WINDLASS_RTC_BODY double erfcinv(double y) {
  if (!(y > 0 && y < 2)) return y == 0 ? __builtin_inf() : y == 2 ? -__builtin_inf() : __builtin_nan("");
  double small = y < 1 ? y : 2 - y;
  double l = -log(small * (2 - small)), a = 0.147, b = 2 / (PI * a) - l / 2;
  double x = __builtin_sqrt(__builtin_sqrt(b * b + l / a) - b);
  if (small < 0x1p-960) {
    // Slopes and values have too few bits there, and logarithms have all.
    for (int i = 0; i < 4; ++i) x += (log(erfcx_large(x)) - x * x - log(small)) * erfcx_large(x) * 0x1.c5bf891b4ef6bp-1;
    return y < 1 ? x : -x;
  }
  for (int i = 0; i < 4; ++i) {
    double slope = -0x1.20dd750429b6dp+0 * bell(x);
    if (slope != 0) x -= (erfc(x) - small) / slope;
  }
  return y < 1 ? x : -x;
}
WINDLASS_RTC_BODY double erfinv(double y) {
  double a = __builtin_fabs(y);
  if (a > 0.5) return __builtin_copysign(erfcinv(1 - a), y);
  double x = a * 0x1.c5bf891b4ef6bp-1;
  for (int i = 0; i < 4; ++i) x -= (erf_small(x) - a) / (0x1.20dd750429b6dp+0 * bell(x));
  return y == 0 ? y : __builtin_copysign(x, y);
}
WINDLASS_RTC_BODY double ncdf(double x) {
  pair t = product(x, -0x1.6a09e667f3bcdp-1);
  double low = t.low + x * 0x1.bdd3413b26456p-55, slope = 0x1.20dd750429b6dp+0 * bell(t.high);
  return __builtin_fabs(x) < 50 ? (erfc(t.high) - slope * low) / 2 : erfc(t.high) / 2;
}
WINDLASS_RTC_BODY double ncdfinv(double x) { return erfcinv(2 * x) * -0x1.6a09e667f3bcdp+0; }

// Stirling's series.
WINDLASS_RTC_BODY double stirling(double x) {
  double s = 1 / (x * x);
  double t = 0x1.5555555555555p-4 + s * (-0x1.6c16c16c16c17p-9 + s * (0x1.a01a01a01a01ap-11 + s * (-0x1.3813813813814p-11 +
             s * (0x1.b951e2b18ff23p-11 + s * (-0x1.f6ab0d9993c7dp-10 + s * 0x1.a41a41a41a41ap-8)))));
  return t / x;
}
WINDLASS_RTC_BODY double tgamma(double x) {
  if (x == 0) return 1 / x;
  if (x != x || x == -__builtin_inf() || (x < 0 && __builtin_trunc(x) == x)) return __builtin_nan("");
  if (x > 172) return __builtin_inf();
  if (x < 0) return x < -184 ? 0 : PI / (sinpi(x) * tgamma(1 - x));
  double divisor = 1;
  for (; x < 16; x += 1) divisor *= x;
  double half = pow(x, x / 2 - 0.25);
  pair e = sum(-x, stirling(x));
  return half * exp(e.high, e.low) * half * 0x1.40d931ff62706p+1 / divisor;
}
WINDLASS_RTC_BODY double lgamma(double x) {
  if (x != x) return x;
  if (__builtin_isinf(x) || (x <= 0 && __builtin_trunc(x) == x)) return __builtin_inf();
  if (__builtin_fabs(x) < 0x1p-60) return -log(__builtin_fabs(x));
  if (x < 0) return log(PI / __builtin_fabs(sinpi(x))) - lgamma(1 - x);
  if (x < 2.5 && x > 0.5) return log(tgamma(x));
  double divisor = 1;
  for (; x < 16; x += 1) divisor *= x;
  return (x - 0.5) * log(x) - x + 0x1.d67f1c864beb5p-1 + stirling(x) - log(divisor);
}
// Bessel's modified functions of the first kind.
WINDLASS_RTC_BODY double bessel_i(double x, int order) {
  double half = x / 2, s = half * half, term = order ? half : 1, result = term;
  for (int k = 1; k < 500 && __builtin_fabs(term) > 1e-17 * __builtin_fabs(result); ++k) {
    term *= s / (k * (double)(k + order)), result += term;
  }
  return result;
}
WINDLASS_RTC_BODY double i0(double x) { return bessel_i(x, 0); }
WINDLASS_RTC_BODY double i1(double x) { return bessel_i(x, 1); }
WINDLASS_RTC_BODY double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
WINDLASS_RTC_BODY double rcbrt(double x) { return 1 / cbrt(x); }
WINDLASS_RTC_BODY double rhypot(double x, double y) { return 1 / hypot(x, y); }
#undef WINDLASS_RTC_BODY
}
#pragma float_control(pop)
