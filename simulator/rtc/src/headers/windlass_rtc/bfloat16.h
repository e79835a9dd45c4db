// SPDX-License-Identifier: MIT OR Apache-2.0
// bfloat16: `hip_bfloat16` and `__hip_bfloat16`, which compute in single precision.
#pragma once

namespace windlass_rtc {
struct brain {
  unsigned short data;
  brain() = default;
  WINDLASS_RTC_ANY brain(float x) : data(rounded(x)) {}
  WINDLASS_RTC_ANY operator float() const { return __builtin_bit_cast(float, (unsigned)data << 16); }
  WINDLASS_RTC_ANY static unsigned short rounded(float x) {
    unsigned bits = __builtin_bit_cast(unsigned, x);
    if (x != x) return (unsigned short)((bits >> 16) | 0x40);
    return (unsigned short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
};
}
#define WINDLASS_RTC_BRAIN(name)                                                             \
  struct name : windlass_rtc::brain {                                                        \
    name() = default;                                                                        \
    WINDLASS_RTC_ANY name(float x) : windlass_rtc::brain(x) {}                               \
    WINDLASS_RTC_ANY name(double x) : windlass_rtc::brain((float)x) {}                       \
    WINDLASS_RTC_ANY name(int x) : windlass_rtc::brain((float)x) {}                          \
    WINDLASS_RTC_ANY name(unsigned x) : windlass_rtc::brain((float)x) {}                     \
    WINDLASS_RTC_ANY name(long x) : windlass_rtc::brain((float)x) {}                         \
    WINDLASS_RTC_ANY name(unsigned long x) : windlass_rtc::brain((float)x) {}                \
  };                                                                                         \
  WINDLASS_RTC_BRAIN_OPERATOR(name, +)                                                       \
  WINDLASS_RTC_BRAIN_OPERATOR(name, -)                                                       \
  WINDLASS_RTC_BRAIN_OPERATOR(name, *)                                                       \
  WINDLASS_RTC_BRAIN_OPERATOR(name, /)                                                       \
  WINDLASS_RTC_ANY name operator-(name a) { return name(-(float)a); }
#define WINDLASS_RTC_BRAIN_OPERATOR(name, op)                                                \
  WINDLASS_RTC_ANY name operator op(name a, name b) { return name((float)a op (float)b); }   \
  WINDLASS_RTC_ANY name &operator op##=(name &a, name b) { return a = a op b; }
WINDLASS_RTC_BRAIN(hip_bfloat16)
WINDLASS_RTC_BRAIN(__hip_bfloat16)
struct __attribute__((aligned(4))) __hip_bfloat162 {
  __hip_bfloat16 x, y;
};
WINDLASS_RTC_ANY __hip_bfloat16 __float2bfloat16(float a) { return __hip_bfloat16(a); }
WINDLASS_RTC_ANY __hip_bfloat16 __double2bfloat16(double a) { return __hip_bfloat16(a); }
WINDLASS_RTC_ANY float __bfloat162float(__hip_bfloat16 a) { return (float)a; }
