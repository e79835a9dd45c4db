// SPDX-License-Identifier: MIT OR Apache-2.0
// Work-items with their own stacks, for kernels with barriers and traps. Part of device.h.
#pragma once

extern "C" {
void *malloc(size_t size);
void free(void *pointer);
// Switches stacks: stores the end of the current stack at `from`, and continues at the end of another one.
__attribute__((visibility("hidden"))) void windlass_switch(void **from, void *to);
}

// The callee-saved registers are pushed onto the old stack.
#if defined(__x86_64__)
__asm__(R"(
  .text
  .hidden windlass_switch
  .globl windlass_switch
  .type windlass_switch, @function
windlass_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .size windlass_switch, . - windlass_switch
)");
#elif defined(__aarch64__)
__asm__(R"(
  .text
  .hidden windlass_switch
  .globl windlass_switch
  .type windlass_switch, @function
windlass_switch:
  stp x29, x30, [sp, #-160]!
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  ret
  .size windlass_switch, . - windlass_switch
)");
#else
#error "fibers.h: no switch of stacks for this machine; write one like those above"
#endif

namespace host {

enum : u32 { STACK_BYTES = 16384 };
enum : i32 { RESOURCE_EXHAUSTED = 8, ABORTED = 10 };

// The workgroup that this thread runs.
struct Fibers {
  void *caller;   // the end of the stack of run()
  void *current;  // the end of the stack of a work-item
  bool ended;     // the work-item will not run again
  i32 status;
  void (*body)(void *);
  void *context;
};
static __thread Fibers fibers;

// The first function on a new stack.
static void begin() {
  fibers.body(fibers.context);
  fibers.ended = true;
  windlass_switch(&fibers.current, fibers.caller);
  __builtin_unreachable();
}

// Prepares an empty stack for windlass_switch, which then continues at begin().
static inline void *fresh(u8 *stack) {
  u64 *top = (u64 *)(stack + STACK_BYTES);
#if defined(__x86_64__)
  // Six registers and the return address. begin() has no caller.
  top[-1] = 0;
  top[-2] = (u64)&begin;
  return top - 8;
#else
  top[-20] = 0;
  top[-19] = (u64)&begin;
  return top - 20;
#endif
}

// Runs a work-item up to its next barrier, or to its end.
static inline void go_on(void *stack, u32 item) {
  const u32 *size = here.group->workgroup_size;
  enter(item % size[0], item / size[0] % size[1], item / size[0] / size[1]);
  fibers.ended = false;
  windlass_switch(&fibers.caller, stack);
}

[[noreturn]] static inline void trap() {
  fibers.status = ABORTED;
  windlass_switch(&fibers.current, fibers.caller);
  __builtin_unreachable();
}

// A work-item at a barrier.
struct Waiting {
  void *stack;
  u32 item;
};

template <typename Body> static inline i32 run(const windlass_workgroup_t *group, Body body) {
  const u32 *size = group->workgroup_size;
  u32 count = size[0] * size[1] * size[2], waiting = 0;
  // A Waiting has 16 bytes, so the stacks are aligned. Stacks that no barrier needs are never touched.
  Waiting *at_barrier = (Waiting *)malloc((size_t)count * (sizeof(Waiting) + STACK_BYTES));
  if (at_barrier == nullptr) return RESOURCE_EXHAUSTED;
  u8 *stacks = (u8 *)(at_barrier + count);
  here.group = group;
  fibers.status = 0;
  fibers.context = &body;
  fibers.body = [](void *context) { (*(Body *)context)(); };
  for (u32 item = 0; item < count && fibers.status == 0; item++) {
    go_on(fresh(stacks + (size_t)waiting * STACK_BYTES), item);
    if (!fibers.ended) at_barrier[waiting++] = {fibers.current, item};
  }
  while (waiting > 0 && fibers.status == 0) {
    u32 still = 0;
    for (u32 i = 0; i < waiting && fibers.status == 0; i++) {
      go_on(at_barrier[i].stack, at_barrier[i].item);
      if (!fibers.ended) at_barrier[still++] = {fibers.current, at_barrier[i].item};
    }
    waiting = still;
  }
  free(at_barrier);
  return fibers.status;
}

}  // namespace host

static inline void block_barrier() { windlass_switch(&host::fibers.current, host::fibers.caller); }
static inline void __builtin_amdgcn_s_barrier() { block_barrier(); }
#define __builtin_trap() host::trap()
