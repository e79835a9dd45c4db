// SPDX-License-Identifier: MIT OR Apache-2.0
// Services of the host for kernels: printing and memory. Without AMD's device libraries, the functions that clang calls for
// them are here, and speak as those do: a wave writes a packet of the buffer that the runtime gave it, and waits for the answer.
#pragma once

extern "C" __attribute__((device)) int printf(const char *format, ...);

#ifdef WINDLASS_RTC_WITHOUT_LIBRARIES
namespace windlass_rtc {
typedef unsigned long long word;
struct header {
  word next, lanes;
  unsigned service, control;
};
struct buffer {
  header *headers;
  word (*payloads)[64][8];
  word doorbell, free, ready, mask;
};
WINDLASS_RTC bool swap(word *at, word *expected, word desired) {
  return __hip_atomic_compare_exchange_strong(at, expected, desired, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}
// Takes the top of the free packets' stack.
WINDLASS_RTC word pop(buffer *b) {
  word top = __hip_atomic_load(&b->free, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
  for (;;) {
    if (top == 0) {
      __builtin_amdgcn_s_sleep(1);
      top = __hip_atomic_load(&b->free, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
      continue;
    }
    word next = __hip_atomic_load(&b->headers[top & b->mask].next, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    if (swap(&b->free, &top, next)) return top;
  }
}
WINDLASS_RTC void push(word *stack, buffer *b, word packet) {
  word top = __hip_atomic_load(stack, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  do {
    __hip_atomic_store(&b->headers[packet & b->mask].next, top, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  } while (!swap(stack, &top, packet));
}
// Raises the signal of the doorbell, and interrupts the host.
WINDLASS_RTC void ring(word doorbell) {
  __hip_atomic_fetch_add((word *)(doorbell + 8), 1ull, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  word mailbox = *(word *)(doorbell + 16);
  if (mailbox == 0) return;
  unsigned event = *(unsigned *)(doorbell + 24);
  __hip_atomic_store((word *)mailbox, (word)event, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  __builtin_amdgcn_s_sendmsg(1, __builtin_amdgcn_readfirstlane(event) & 0xff);
}
// One call of the host by the lanes that are here.
static __attribute__((device, noinline)) word call(unsigned service, word a, word b = 0, word c = 0, word d = 0, word e = 0, word f = 0, word g = 0, word h = 0) {
  buffer *of = *(buffer **)((char *)__builtin_amdgcn_implicitarg_ptr() + (WINDLASS_RTC_CODE_OBJECT >= 5 ? 80 : 24));
  unsigned lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  word active = __builtin_amdgcn_read_exec();
  bool leads = lane == (unsigned)__builtin_ctzll(active);
  word packet = leads ? pop(of) : 0;
  packet = ((word)(unsigned)__builtin_amdgcn_readfirstlane((int)(packet >> 32)) << 32) |
           (unsigned)__builtin_amdgcn_readfirstlane((int)packet);
  header *own = &of->headers[packet & of->mask];
  word *payload = of->payloads[packet & of->mask][lane];
  payload[0] = a, payload[1] = b, payload[2] = c, payload[3] = d;
  payload[4] = e, payload[5] = f, payload[6] = g, payload[7] = h;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
  if (leads) {
    own->lanes = active;
    own->service = service;
    __hip_atomic_store(&own->control, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    push(&of->ready, of, packet);
    ring(of->doorbell);
  }
  while (__hip_atomic_load(&own->control, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) & 1) __builtin_amdgcn_s_sleep(1);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
  word answer = *(volatile word *)payload;
  // The packet's number gets another tag, so that who read it before does not take it for the same.
  if (leads) push(&of->free, of, packet + of->mask + 1);
  return answer;
}
enum { PRINT = 2, MEMORY = 3, BEGIN = 1, END = 2, LENGTH = 5 };
}

// The names that clang calls for printf, with AMD's meaning.
extern "C" __attribute__((device, weak)) windlass_rtc::word __ockl_printf_begin(windlass_rtc::word) {
  return windlass_rtc::call(windlass_rtc::PRINT, windlass_rtc::BEGIN | 1 << windlass_rtc::LENGTH, 0);
}
extern "C" __attribute__((device, weak)) windlass_rtc::word __ockl_printf_append_args(
    windlass_rtc::word message, unsigned count, windlass_rtc::word a, windlass_rtc::word b, windlass_rtc::word c,
    windlass_rtc::word d, windlass_rtc::word e, windlass_rtc::word f, windlass_rtc::word g, unsigned last) {
  message = (message & ~255ull) | (last ? windlass_rtc::END : 0) | count << windlass_rtc::LENGTH;
  return windlass_rtc::call(windlass_rtc::PRINT, message, a, b, c, d, e, f, g);
}
extern "C" __attribute__((device, weak)) windlass_rtc::word __ockl_printf_append_string_n(
    windlass_rtc::word message, const char *text, windlass_rtc::word size, unsigned last) {
  windlass_rtc::word none = 0;
  if (text == nullptr) return __ockl_printf_append_args(message, 1, none, 0, 0, 0, 0, 0, 0, last);
  do {
    windlass_rtc::word words[7] = {0, 0, 0, 0, 0, 0, 0};
    unsigned count = 0;
    for (; count < 7 && size > 0; ++count) {
      for (int i = 0; i < 8 && size > 0; ++i, --size) words[count] |= (windlass_rtc::word)(unsigned char)*text++ << (8 * i);
    }
    message = __ockl_printf_append_args(message, count, words[0], words[1], words[2], words[3], words[4], words[5], words[6],
                                        last && size == 0);
  } while (size > 0);
  return message;
}
extern "C" __attribute__((device, weak)) windlass_rtc::word __ockl_dm_alloc(windlass_rtc::word size) {
  return windlass_rtc::call(windlass_rtc::MEMORY, 0, size);
}
extern "C" __attribute__((device, weak)) void __ockl_dm_dealloc(windlass_rtc::word address) {
  if (address) windlass_rtc::call(windlass_rtc::MEMORY, address);
}
#else
extern "C" __attribute__((device)) unsigned long __ockl_dm_alloc(unsigned long);
extern "C" __attribute__((device)) void __ockl_dm_dealloc(unsigned long);
#endif
WINDLASS_RTC_C void *malloc(size_t size) { return (void *)__ockl_dm_alloc(size); }
WINDLASS_RTC_C void free(void *memory) { __ockl_dm_dealloc((unsigned long)memory); }

// Sources that bring their own ask for this name.
#define __CLANG_CUDA_WRAPPERS_NEW
#ifndef WINDLASS_RTC_WITHOUT_NEW
WINDLASS_RTC void *operator new(size_t size) { return malloc(size ? size : 1); }
WINDLASS_RTC void *operator new[](size_t size) { return ::operator new(size); }
WINDLASS_RTC void operator delete(void *memory) noexcept { free(memory); }
WINDLASS_RTC void operator delete[](void *memory) noexcept { free(memory); }
WINDLASS_RTC void operator delete(void *memory, size_t) noexcept { free(memory); }
WINDLASS_RTC void operator delete[](void *memory, size_t) noexcept { free(memory); }
#endif
// Templates give way to a source's own functions.
template <typename = void> WINDLASS_RTC void *operator new(size_t, void *place) noexcept { return place; }
template <typename = void> WINDLASS_RTC void *operator new[](size_t, void *place) noexcept { return place; }
template <typename = void> WINDLASS_RTC void operator delete(void *, void *) noexcept {}
template <typename = void> WINDLASS_RTC void operator delete[](void *, void *) noexcept {}

static __attribute__((device, noinline)) void windlass_rtc_assert(const char *text, const char *file, unsigned line, const char *function) {
  printf("%s:%u: %s: Device-side assertion `%s' failed.\n", file, line, function, text);
  __builtin_trap();
}
#ifndef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : windlass_rtc_assert(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif
#endif
