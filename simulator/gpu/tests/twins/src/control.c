// SPDX-License-Identifier: MIT OR Apache-2.0
// Control flow that differs from lane to lane: loops, breaks, switches, calls, recursion, function pointers.
#include "twin.h"

TWIN(collatz, 1) {
  u32 n = IN(0) % 100000 + 1, steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    steps++;
  }
  OUT(collatz, 0) = steps;
}

TWIN(breaks_and_continues, 2) {
  u32 sum = 0, count = 0;
  for (u32 k = 0; k < 64; k++) {
    u32 x = IN(k % OWN_WORDS) >> (k & 15);
    if ((x & 7) == 3) continue;
    if ((x & 63) == 9) break;
    for (u32 j = 0;; j++) {
      if (j > (x & 15)) break;
      sum = sum * 31 + j;
      if ((sum & 255) == 77) goto out;
    }
    count++;
  }
out:
  OUT(breaks_and_continues, 0) = sum;
  OUT(breaks_and_continues, 1) = count;
}

TWIN(early_returns, 1) {
  u32 x = IN(0);
  if (x & 1) return;
  OUT(early_returns, 0) = 1;
  if (x & 2) return;
  OUT(early_returns, 0) = x ^ IN(1);
  if (x % 3 == 0) return;
  OUT(early_returns, 0) = ~x;
}

TWIN(switch_table, 1) {
  u32 x = IN(0), y = IN(1), r;
  switch (IN(2) % 12) {
  case 0: r = x + y; break;
  case 1: r = x - y; break;
  case 2: r = x ^ y; break;
  case 3: r = x * 3; // falls through
  case 4: r = y * 5 + x; break;
  case 5: r = x | y; break;
  case 6: r = __builtin_popcount(x); break;
  case 7: r = x >> (y & 31); break;
  case 8: r = x / (y | 1); break;
  case 9: r = (u32)-(i32)x; break;
  case 10: r = x & ~y; break;
  default: r = 0xdead;
  }
  OUT(switch_table, 0) = r;
}

TWIN(sparse_switch, 1) {
  u32 r = 0;
  for (u32 k = 0; k < 10; k++) {
    switch (IN(k) % 97) {
    case 1: case 5: case 17: r += 3; break;
    case 20 ... 40: r ^= IN(k); break;
    case 77: r = 0; break;
    case 90: r *= 7; break;
    default: r = r << 1 | r >> 31;
    }
  }
  OUT(sparse_switch, 0) = r;
}

// A stack machine: a loop around a switch, with memory of its own.
TWIN(interpreter, 2) {
  u32 stack[8] = {1, 2, 3, 4, 5, 6, 7, 8}, top = 7, pc = 0, ran = 0;
  while (pc < 40 && ran < 200) {
    u32 op = IN(pc % OWN_WORDS) >> (pc / OWN_WORDS * 8) & 7;
    ran++;
    pc++;
    switch (op) {
    case 0: top = (top + 1) & 7; stack[top] = pc; break;
    case 1: stack[top] += stack[(top - 1) & 7]; break;
    case 2: stack[top] *= 3; break;
    case 3: top = (top - 1) & 7; break;
    case 4: if (stack[top] & 1) pc += 2; break;
    case 5: stack[(top + 3) & 7] ^= stack[top]; break;
    case 6: if (stack[top] > 1000 && pc > 3) { stack[top] >>= 5; pc -= 3; } break;
    default: stack[top] = ~stack[top];
    }
  }
  u32 r = 0;
  for (u32 k = 0; k < 8; k++) r = r * 33 + stack[k];
  OUT(interpreter, 0) = r;
  OUT(interpreter, 1) = ran;
}

NOINLINE u32 mix(u32 a, u32 b) { return (a ^ b) * 0x85ebca6b; }
NOINLINE u32 twice(u32 a) { return mix(a, mix(a, 3)) + mix(a >> 3, a); }

TWIN(plain_calls, 1) {
  u32 r = IN(0);
  for (u32 k = 0; k < 4; k++) r = k & 1 ? twice(r) : mix(r, IN(k));
  if (IN(5) & 1) r = twice(r + 1);
  OUT(plain_calls, 0) = r;
}

NOINLINE u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

TWIN(recursion, 1) { OUT(recursion, 0) = fibonacci(IN(0) % 10); }

NOINLINE u32 is_odd(u32 n, u32 seen);
NOINLINE u32 is_even(u32 n, u32 seen) { return n == 0 ? seen * 2 : is_odd(n - 1, seen ^ n) + (seen & 1); }
NOINLINE u32 is_odd(u32 n, u32 seen) { return n == 0 ? seen * 2 + 1 : is_even(n - 1, seen + n) ^ (seen & 2); }

TWIN(mutual_recursion, 1) { OUT(mutual_recursion, 0) = is_even(IN(0) % 25, IN(1) & 0xffff); }

NOINLINE void sort(u32 *values, i32 low, i32 high) {
  if (low >= high) return;
  u32 pivot = values[(low + high) / 2];
  i32 i = low, j = high;
  while (i <= j) {
    while (values[i] < pivot) i++;
    while (values[j] > pivot) j--;
    if (i <= j) {
      u32 held = values[i];
      values[i++] = values[j];
      values[j--] = held;
    }
  }
  sort(values, low, j);
  sort(values, i, high);
}

TWIN(recursive_sort, 4) {
  u32 values[OWN_WORDS];
  for (u32 k = 0; k < OWN_WORDS; k++) values[k] = IN(k);
  sort(values, 0, OWN_WORDS - 1);
  for (u32 k = 0; k < 4; k++) OUT(recursive_sort, k) = values[k * 3] ^ values[k * 3 + 1] * 3 ^ values[k * 3 + 2] * 7;
}

typedef u32 Binary(u32, u32);
NOINLINE u32 plus(u32 a, u32 b) { return a + b; }
NOINLINE u32 minus(u32 a, u32 b) { return a - b; }
NOINLINE u32 times(u32 a, u32 b) { return a * b + 1; }
NOINLINE u32 over(u32 a, u32 b) { return a / (b | 1); }
static Binary *const table[] = {plus, minus, times, over};

TWIN(function_pointers, 2) {
  u32 r = IN(0);
  for (u32 k = 1; k < 5; k++) r = table[IN(k) & 3](r, IN(k));
  OUT(function_pointers, 0) = r;
  Binary *chosen = params.small < 0 ? minus : plus;
  OUT(function_pointers, 1) = chosen(r, IN(6));
}

NOINLINE u32 apply(Binary *f, u32 depth, u32 a, u32 b) {
  return depth == 0 ? a : apply(depth & 1 ? f : plus, depth - 1, f(a, b), b ^ depth);
}

TWIN(functions_as_arguments, 1) {
  OUT(functions_as_arguments, 0) = apply(table[IN(0) & 3], IN(1) % 6, IN(2), IN(3));
}
