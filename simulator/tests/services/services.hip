// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels that use services of a runtime, as device libraries do: through the hidden arguments. build.sh compiles them.
#include "device.h"

typedef const __attribute__((address_space(4))) u64 Hidden;

#ifdef FOURTH
#define HOSTCALL 3
#define GRID 6
#else
#define HOSTCALL 10
#define GRID 11
#endif

static DEVICE inline u64 hidden(u32 word) { return ((Hidden *)__builtin_amdgcn_implicitarg_ptr())[word]; }
static DEVICE inline u32 lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }

struct Packet {
  u64 next, lanes;
  u32 service, control;
};
struct Signal {
  u64 kind, value, mailbox;
  u32 event;
};
struct Calls {
  Packet *packets;
  u64 *payloads;
  Signal *doorbell;
  u64 free, ready, mask;
};

#define ATOMIC(name, ...) __scoped_atomic_##name(__VA_ARGS__, __ATOMIC_SEQ_CST, __MEMORY_SCOPE_SYSTEM)

static DEVICE inline void push(Calls *calls, u64 *stack, u64 entry) {
  u64 top = ATOMIC(load_n, stack);
  do ATOMIC(store_n, &calls->packets[entry & calls->mask].next, top);
  while (!__scoped_atomic_compare_exchange_n(stack, &top, entry, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST,
                                             __MEMORY_SCOPE_SYSTEM));
}

// Calls the host with eight words of each active lane, and returns the first word of the answer.
static DEVICE __attribute__((noinline)) u64 call(u32 service, const u64 *words) {
  Calls *calls = (Calls *)hidden(HOSTCALL);
  u32 lane = lane_id();
  bool first = lane == __builtin_amdgcn_readfirstlane(lane);
  u64 entry = 0;
  if (first) {
    entry = ATOMIC(load_n, &calls->free);
    u64 next;
    do next = ATOMIC(load_n, &calls->packets[entry & calls->mask].next);
    while (!__scoped_atomic_compare_exchange_n(&calls->free, &entry, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST,
                                               __MEMORY_SCOPE_SYSTEM));
  }
  entry = (u64)__builtin_amdgcn_readfirstlane((u32)(entry >> 32)) << 32 | __builtin_amdgcn_readfirstlane((u32)entry);
  Packet *packet = calls->packets + (entry & calls->mask);
  u64 *own = calls->payloads + (entry & calls->mask) * 512 + lane * 8;
  u64 lanes = __builtin_amdgcn_ballot_w64(true);
  if (first) {
    packet->service = service;
    packet->lanes = lanes;
    packet->control = 1;
  }
  for (u32 word = 0; word < 8; ++word) own[word] = words[word];
  if (first) {
    push(calls, &calls->ready, entry);
    Signal *signal = calls->doorbell;
    ATOMIC(fetch_add, &signal->value, 1);
    if (signal->mailbox) {
      ATOMIC(store_n, (u64 *)signal->mailbox, signal->event);
      __builtin_amdgcn_s_sendmsg(1, signal->event);
    }
  }
  for (;;) {
    u32 waits = first ? ATOMIC(load_n, &packet->control) & 1 : 1;
    if (!__builtin_amdgcn_readfirstlane(waits)) break;
    __builtin_amdgcn_s_sleep(1);
  }
  u64 answer = ATOMIC(load_n, own);
  if (first) push(calls, &calls->free, entry + calls->mask + 1);
  return answer;
}

// Seven words of a message; `ends` is 2 with the last ones.
static DEVICE inline u64 send(u64 message, u32 count, const u64 *values, u32 ends) {
  u64 words[8] = {message | count << 5 | ends};
  for (u32 word = 0; word < count; ++word) words[word + 1] = values[word];
  return call(2, words);
}

static DEVICE inline u64 text(u64 message, const char *string) {
  u32 length = 1;
  while (string[length - 1]) ++length;
  for (u32 at = 0; at < length; at += 56) {
    u64 values[7] = {};
    for (u32 byte = 0; byte < 56; ++byte)
      if (at + byte < length) values[byte / 8] |= (u64)(unsigned char)string[at + byte] << byte % 8 * 8;
    u32 words = (length - at + 7) / 8;
    message = send(message, words < 7 ? words : 7, values, 0);
  }
  return message;
}

static DEVICE inline u64 begin(u64 stream) { return send(1, 1, &stream, 0); }

KERNEL void print(u32 *out, u32 lanes) {
  u32 group = group_x(), lane = item_x();
  if (lane >= lanes) return;
  u64 message = text(begin(0), "block %d lane %d: %s %.2f, a format of more than fifty-six bytes\n");
  u64 values[2] = {group, lane};
  message = send(message, 2, values, 0);
  message = text(message, lane % 2 ? "odd" : "even");
  u64 half = __builtin_bit_cast(u64, lane / 2.0);
  out[group * lanes + lane] = send(message, 1, &half, 2);
}

#ifndef SMALL
// As a failing `assert`: a message on the standard error, then a trap.
KERNEL void fails_if(u32 *out, u32 which) {
  *out = 1;
  if (item_x() != which) return;
  u64 message = text(begin(1), "file.hip:%u: assertion `%s' failed\n"), line = 7;
  message = send(message, 1, &line, 0);
  text(message, "which");
  u64 nothing[8] = {message | 2};
  call(2, nothing);
  __builtin_trap();
}

// Each lane gets memory of the host, a multiple of `size`, and gives it back if `gives_back`.
KERNEL void allocate(u64 *out, u64 size, u32 gives_back) {
  u32 lane = item_x();
  u64 words[8] = {0, size * (lane + 1)};
  u64 *own = (u64 *)call(3, words);
  out[lane] = (u64)own;
  if (!own) return;
  own[0] = lane;
  own[size * (lane + 1) / 8 - 1] = ~lane;
  out[64 + lane] = own[0];
  words[0] = (u64)own;
  words[1] = 0;
  if (gives_back) call(3, words);
}

// Each lane frees an address.
KERNEL void frees(u64 address) {
  u64 words[8] = {address, 0};
  call(3, words);
}

// The object of a device library's heap: its first word counts, and its last one too.
KERNEL void heap(u64 *out) {
  u64 *object = (u64 *)hidden(12);
  out[0] = ATOMIC(fetch_add, object, 1);
  out[1] = ATOMIC(fetch_add, object + 16383, 1);
}

// The clocks before and after a wait for `ticks` of the wall clock.
KERNEL void clocks(u64 *out, u64 ticks) {
  u64 wall = __builtin_amdgcn_s_memrealtime(), core = __builtin_amdgcn_s_memtime(), now;
  do {
    __builtin_amdgcn_s_sleep(1);
    now = __builtin_amdgcn_s_memrealtime();
  } while (now - wall < ticks);
  out[0] = now - wall;
  out[1] = __builtin_amdgcn_s_memtime() - core;
}

// Each workgroup writes its number, waits for all, and adds up all numbers; `rounds` times. By counters in memory, whose
// upper half changes when the barrier opens, or by the instruction for it.
KERNEL void sums(u32 *numbers, u32 *out, u32 groups, u32 rounds, u32 instruction) {
  u32 group = group_x(), sum = 0;
  for (u32 round = 1; round <= rounds; ++round) {
    ATOMIC(store_n, numbers + group, group + round);
    for (u32 times = 0; times < 2; ++times) {
      if (times == 1) {
        sum = 0;
        for (u32 other = 0; other < groups; ++other) sum += ATOMIC(load_n, numbers + other);
      }
      if (instruction) {
        __builtin_amdgcn_ds_gws_barrier(groups - 1, 0);
      } else {
        u32 *state = (u32 *)(hidden(GRID) + 32), most = state[2];
        u32 before = ATOMIC(fetch_add, state, 1);
        if ((before & 0xffff) == most - 1)
          ATOMIC(fetch_add, state, 0x10000 - most);
        else
          while (((ATOMIC(load_n, state) ^ before) & 0xffff0000) == 0) __builtin_amdgcn_s_sleep(1);
      }
    }
  }
  out[group] = sum;
}

KERNEL void is_cooperative(u64 *out) {
  u64 state = hidden(GRID);
  out[0] = state != 0;
  out[1] = state ? *(u32 *)(state + 40) : 0;
}

__attribute__((managed)) int counter = 5;
__attribute__((managed)) long long table[3] = {1, 2, 3};

KERNEL void count(u32 *out) {
  __scoped_atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  *out = counter + (int)table[2];
}

// A grid on several devices, by the state that AMD's device library uses: each workgroup adds its number to the sum of its
// device, all devices wait for each other, and each adds up the sums of all.
KERNEL void parts(u32 *sums, u32 *out) {
  u64 state = hidden(GRID);
  u32 number = *(u32 *)(state + 8), count = *(u32 *)(state + 12), most = *(u32 *)(state + 40);
  ATOMIC(fetch_add, sums + number, group_x() + 1);
  u32 *own = (u32 *)(state + 32), *shared = *(u32 **)state;
  u32 before = ATOMIC(fetch_add, own, 1);
  if ((before & 0xffff) == most - 1) {
    u32 earlier = ATOMIC(fetch_add, shared, 1);
    if ((earlier & 0xff) == count - 1)
      ATOMIC(fetch_add, shared, 0x100 - count);
    else
      while (((ATOMIC(load_n, shared) ^ earlier) & ~0xff) == 0) __builtin_amdgcn_s_sleep(1);
    ATOMIC(fetch_add, own, 0x10000 - most);
  } else {
    while (((ATOMIC(load_n, own) ^ before) & 0xffff0000) == 0) __builtin_amdgcn_s_sleep(1);
  }
  u32 sum = 0;
  for (u32 device = 0; device < count; ++device) sum += ATOMIC(load_n, sums + device);
  out[number * 8] = sum;
  out[number * 8 + 1] = *(u32 *)(state + 16);
  out[number * 8 + 2] = *(u32 *)(state + 24);
}
#endif
