// SPDX-License-Identifier: MIT OR Apache-2.0
// HIP's vectors: members by their letters, arithmetic by components.
#pragma once

namespace windlass_rtc {
template <class T, int n> struct vector;
template <class T> struct vector<T, 1> {
  T x;
  static constexpr int size = 1;
};
template <class T> struct __attribute__((aligned(2 * sizeof(T)))) vector<T, 2> {
  T x, y;
  static constexpr int size = 2;
};
template <class T> struct vector<T, 3> {
  T x, y, z;
  static constexpr int size = 3;
};
template <class T> struct __attribute__((aligned(4 * sizeof(T)))) vector<T, 4> {
  T x, y, z, w;
  static constexpr int size = 4;
};
}

// A type of its own for each name, so that overloads and mangled names are as with HIP. Its aggregate is what programs initialise.
template <class T, unsigned n> struct HIP_vector_type;
template <class T> struct HIP_vector_type<T, 1> : windlass_rtc::vector<T, 1> {
  HIP_vector_type() = default;
  WINDLASS_RTC_ANY explicit HIP_vector_type(T x) : windlass_rtc::vector<T, 1>{x} {}
};
template <class T> struct HIP_vector_type<T, 2> : windlass_rtc::vector<T, 2> {
  HIP_vector_type() = default;
  WINDLASS_RTC_ANY HIP_vector_type(T x, T y) : windlass_rtc::vector<T, 2>{x, y} {}
  WINDLASS_RTC_ANY explicit HIP_vector_type(T x) : windlass_rtc::vector<T, 2>{x, x} {}
};
template <class T> struct HIP_vector_type<T, 3> : windlass_rtc::vector<T, 3> {
  HIP_vector_type() = default;
  WINDLASS_RTC_ANY HIP_vector_type(T x, T y, T z) : windlass_rtc::vector<T, 3>{x, y, z} {}
  WINDLASS_RTC_ANY explicit HIP_vector_type(T x) : windlass_rtc::vector<T, 3>{x, x, x} {}
};
template <class T> struct HIP_vector_type<T, 4> : windlass_rtc::vector<T, 4> {
  HIP_vector_type() = default;
  WINDLASS_RTC_ANY HIP_vector_type(T x, T y, T z, T w) : windlass_rtc::vector<T, 4>{x, y, z, w} {}
  WINDLASS_RTC_ANY explicit HIP_vector_type(T x) : windlass_rtc::vector<T, 4>{x, x, x, x} {}
};

#define WINDLASS_RTC_ASSIGN(op)                                                                                   \
  template <class T, unsigned n>                                                                                  \
  WINDLASS_RTC_ANY HIP_vector_type<T, n> &operator op(HIP_vector_type<T, n> &a, const HIP_vector_type<T, n> &b) { \
    a.x op b.x;                                                                                                   \
    if constexpr (n > 1) a.y op b.y;                                                                              \
    if constexpr (n > 2) a.z op b.z;                                                                              \
    if constexpr (n > 3) a.w op b.w;                                                                              \
    return a;                                                                                                     \
  }                                                                                                               \
  template <class T, unsigned n, class U, class = typename __hip_internal::enable_if<__is_arithmetic(U)>::type>   \
  WINDLASS_RTC_ANY HIP_vector_type<T, n> &operator op(HIP_vector_type<T, n> &a, U b) {                            \
    return a op HIP_vector_type<T, n>(T(b));                                                                      \
  }
#define WINDLASS_RTC_OPERATOR(op, assign)                                                                              \
  WINDLASS_RTC_ASSIGN(assign)                                                                                          \
  template <class T, unsigned n>                                                                                       \
  WINDLASS_RTC_ANY HIP_vector_type<T, n> operator op(HIP_vector_type<T, n> a, const HIP_vector_type<T, n> &b) {        \
    return a assign b;                                                                                                 \
  }                                                                                                                    \
  template <class T, unsigned n, class U, class = typename __hip_internal::enable_if<__is_arithmetic(U)>::type>        \
  WINDLASS_RTC_ANY HIP_vector_type<T, n> operator op(HIP_vector_type<T, n> a, U b) {                                   \
    return a assign HIP_vector_type<T, n>(T(b));                                                                       \
  }                                                                                                                    \
  template <class T, unsigned n, class U, class = typename __hip_internal::enable_if<__is_arithmetic(U)>::type>        \
  WINDLASS_RTC_ANY HIP_vector_type<T, n> operator op(U a, const HIP_vector_type<T, n> &b) {                            \
    HIP_vector_type<T, n> c(T(a));                                                                                     \
    return c assign b;                                                                                                 \
  }
WINDLASS_RTC_OPERATOR(+, +=)
WINDLASS_RTC_OPERATOR(-, -=)
WINDLASS_RTC_OPERATOR(*, *=)
WINDLASS_RTC_OPERATOR(/, /=)
WINDLASS_RTC_OPERATOR(%, %=)
WINDLASS_RTC_OPERATOR(&, &=)
WINDLASS_RTC_OPERATOR(|, |=)
WINDLASS_RTC_OPERATOR(^, ^=)
WINDLASS_RTC_OPERATOR(<<, <<=)
WINDLASS_RTC_OPERATOR(>>, >>=)
#define WINDLASS_RTC_STEP(op, assign)                                                            \
  template <class T, unsigned n>                                                                 \
  WINDLASS_RTC_ANY HIP_vector_type<T, n> &operator op(HIP_vector_type<T, n> &a) {                \
    return a assign HIP_vector_type<T, n>(T(1));                                                 \
  }                                                                                              \
  template <class T, unsigned n>                                                                 \
  WINDLASS_RTC_ANY HIP_vector_type<T, n> operator op(HIP_vector_type<T, n> &a, int) {            \
    HIP_vector_type<T, n> before = a;                                                            \
    op a;                                                                                        \
    return before;                                                                               \
  }
WINDLASS_RTC_STEP(++, +=)
WINDLASS_RTC_STEP(--, -=)
template <class T, unsigned n> WINDLASS_RTC_ANY HIP_vector_type<T, n> operator-(const HIP_vector_type<T, n> &a) {
  return HIP_vector_type<T, n>(T(0)) - a;
}
template <class T, unsigned n> WINDLASS_RTC_ANY HIP_vector_type<T, n> operator~(const HIP_vector_type<T, n> &a) {
  return a ^ HIP_vector_type<T, n>(T(~T(0)));
}
template <class T, unsigned n>
WINDLASS_RTC_ANY bool operator==(const HIP_vector_type<T, n> &a, const HIP_vector_type<T, n> &b) {
  bool same = a.x == b.x;
  if constexpr (n > 1) same = same && a.y == b.y;
  if constexpr (n > 2) same = same && a.z == b.z;
  if constexpr (n > 3) same = same && a.w == b.w;
  return same;
}
template <class T, unsigned n>
WINDLASS_RTC_ANY bool operator!=(const HIP_vector_type<T, n> &a, const HIP_vector_type<T, n> &b) { return !(a == b); }

#define WINDLASS_RTC_VECTOR(name, T)                                                          \
  typedef HIP_vector_type<T, 1> name##1;                                                      \
  typedef HIP_vector_type<T, 2> name##2;                                                      \
  typedef HIP_vector_type<T, 3> name##3;                                                      \
  typedef HIP_vector_type<T, 4> name##4;                                                      \
  WINDLASS_RTC_ANY name##1 make_##name##1(T x) { return name##1(x); }                         \
  WINDLASS_RTC_ANY name##2 make_##name##2(T x, T y) { return name##2(x, y); }                 \
  WINDLASS_RTC_ANY name##3 make_##name##3(T x, T y, T z) { return name##3(x, y, z); }         \
  WINDLASS_RTC_ANY name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }
WINDLASS_RTC_VECTOR(char, signed char)
WINDLASS_RTC_VECTOR(uchar, unsigned char)
WINDLASS_RTC_VECTOR(short, short)
WINDLASS_RTC_VECTOR(ushort, unsigned short)
WINDLASS_RTC_VECTOR(int, int)
WINDLASS_RTC_VECTOR(uint, unsigned int)
WINDLASS_RTC_VECTOR(long, long)
WINDLASS_RTC_VECTOR(ulong, unsigned long)
WINDLASS_RTC_VECTOR(longlong, long long)
WINDLASS_RTC_VECTOR(ulonglong, unsigned long long)
WINDLASS_RTC_VECTOR(float, float)
WINDLASS_RTC_VECTOR(double, double)
