// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions of the lanes of a wave.
#pragma once

WINDLASS_RTC unsigned __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
#if !__has_builtin(__builtin_amdgcn_ballot_w64)
// The comparison "not equal" of older compilers.
WINDLASS_RTC uint64_t __ballot(int value) { return __builtin_amdgcn_uicmp(value, 0, 33); }
#elif WINDLASS_RTC_LANES == 32
WINDLASS_RTC uint64_t __ballot(int value) { return __builtin_amdgcn_ballot_w32(value != 0); }
#else
WINDLASS_RTC uint64_t __ballot(int value) { return __builtin_amdgcn_ballot_w64(value != 0); }
#endif
WINDLASS_RTC uint64_t __ballot64(int value) { return __ballot(value); }
WINDLASS_RTC uint64_t __activemask() { return __ballot(true); }
WINDLASS_RTC uint64_t __lanemask_lt() { return (1ull << __lane_id()) - 1; }
WINDLASS_RTC uint64_t __lanemask_gt() { return ~__lanemask_lt() ^ (1ull << __lane_id()); }
WINDLASS_RTC uint64_t __lanemask_eq() { return 1ull << __lane_id(); }
WINDLASS_RTC uint64_t __lanemask_le() { return __lanemask_lt() | __lanemask_eq(); }
WINDLASS_RTC uint64_t __lanemask_ge() { return ~__lanemask_lt(); }
WINDLASS_RTC int __any(int value) { return __ballot(value) != 0; }
WINDLASS_RTC int __all(int value) { return __ballot(!value) == 0; }
WINDLASS_RTC void __syncwarp(uint64_t = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// A value of another lane, word by word.
template <class T> WINDLASS_RTC T windlass_rtc_of_lane(T value, int lane) {
  if constexpr (sizeof(T) < 4) {
    unsigned word = 0;
    __builtin_memcpy(&word, &value, sizeof(T));
    word = __builtin_amdgcn_ds_bpermute(lane << 2, word);
    __builtin_memcpy(&value, &word, sizeof(T));
    return value;
  } else {
    static_assert(sizeof(T) % 4 == 0, "a shuffled value has whole words");
    struct words { unsigned of[sizeof(T) / 4]; } all;
    __builtin_memcpy(&all, &value, sizeof(T));
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 4; ++i) all.of[i] = __builtin_amdgcn_ds_bpermute(lane << 2, all.of[i]);
    __builtin_memcpy(&value, &all, sizeof(T));
    return value;
  }
}
template <class T> WINDLASS_RTC T __shfl(T value, int lane, int width = warpSize) {
  int own = __lane_id();
  return windlass_rtc_of_lane(value, (lane & (width - 1)) + (own & ~(width - 1)));
}
template <class T> WINDLASS_RTC T __shfl_up(T value, unsigned by, int width = warpSize) {
  int own = __lane_id(), from = own - (int)by;
  return windlass_rtc_of_lane(value, from < (own & ~(width - 1)) ? own : from);
}
template <class T> WINDLASS_RTC T __shfl_down(T value, unsigned by, int width = warpSize) {
  int own = __lane_id(), from = own + (int)by;
  return windlass_rtc_of_lane(value, (own & (width - 1)) + (int)by >= width ? own : from);
}
template <class T> WINDLASS_RTC T __shfl_xor(T value, int mask, int width = warpSize) {
  int own = __lane_id(), from = own ^ mask;
  return windlass_rtc_of_lane(value, from >= ((own + width) & ~(width - 1)) ? own : from);
}
template <class T> WINDLASS_RTC T __shfl_sync(uint64_t, T value, int lane, int width = warpSize) { return __shfl(value, lane, width); }
template <class T> WINDLASS_RTC T __shfl_up_sync(uint64_t, T value, unsigned by, int width = warpSize) { return __shfl_up(value, by, width); }
template <class T> WINDLASS_RTC T __shfl_down_sync(uint64_t, T value, unsigned by, int width = warpSize) { return __shfl_down(value, by, width); }
template <class T> WINDLASS_RTC T __shfl_xor_sync(uint64_t, T value, int mask, int width = warpSize) { return __shfl_xor(value, mask, width); }
WINDLASS_RTC uint64_t __ballot_sync(uint64_t mask, int value) { return __ballot(value) & mask; }
WINDLASS_RTC int __any_sync(uint64_t mask, int value) { return __ballot_sync(mask, value) != 0; }
WINDLASS_RTC int __all_sync(uint64_t mask, int value) { return __ballot_sync(mask, value) == (mask & __activemask()); }
template <class T> WINDLASS_RTC uint64_t __match_any(T value) {
  uint64_t result = 0;
  for (uint64_t left = __activemask(); left;) {
    int first = __builtin_ctzll(left);
    uint64_t same = __ballot(windlass_rtc_of_lane(value, first) == value) & left;
    if (same >> __lane_id() & 1) result = same;
    left &= ~same;
  }
  return result;
}
template <class T> WINDLASS_RTC uint64_t __match_any_sync(uint64_t mask, T value) { return __match_any(value) & mask; }
