// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs every kernel on the host: work-items are fibers that take turns at barriers. Writes what they read and what they
// wrote: `host DIRECTORY` makes DIRECTORY/inputs.bin, DIRECTORY/expected.bin and DIRECTORY/kernels.txt.
#include "twin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define MOST 256
#define STACK (256 << 10)

static struct {
  const char *name;
  u32 words;
  Kernel *kernel;
} kernels[MOST];
static u32 count;

void enlist(const char *name, u32 words, Kernel *kernel) {
  if (count == MOST) abort();
  kernels[count].name = name;
  kernels[count].words = words;
  kernels[count++].kernel = kernel;
}

static u32 input[INPUT_WORDS];
// The words of one work-item, and some more for kernels that share words.
static u32 output[ITEMS * 64];
static struct Params params;

static ucontext_t turns, fibers[BLOCK];
static char stacks[BLOCK][STACK];
static int ended[BLOCK];
static u32 running, group, current;

u32 local_id(void) { return running; }
u32 group_id(void) { return group; }
void barrier(void) { swapcontext(&fibers[running], &turns); }

static void fiber(void) {
  kernels[current].kernel(input, output, params);
  ended[running] = 1;
  for (;;) swapcontext(&fibers[running], &turns);
}

static void run_group(void) {
  for (running = 0; running < BLOCK; running++) {
    ended[running] = 0;
    getcontext(&fibers[running]);
    fibers[running].uc_stack.ss_sp = stacks[running];
    fibers[running].uc_stack.ss_size = STACK;
    makecontext(&fibers[running], fiber, 0);
  }
  for (int open = 1; open;) {
    open = 0;
    for (running = 0; running < BLOCK; running++) {
      if (!ended[running]) swapcontext(&turns, &fibers[running]);
      open |= !ended[running];
    }
  }
}

// Edges of every width, between words that look random.
static void fill(void) {
  static const u32 edges[] = {
      0,          1,          2,          0x7f,       0x80,       0xff,       0x100,      0x7fff,
      0x8000,     0xffff,     0x10000,    0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x7f800000,
      0xff800000, 0x7fc00000, 0x7f800001, 0x00800000, 0x007fffff, 0x80000001, 0x3f800000, 0xbf800000,
      0x7f7fffff, 0x33800000, 0x4b800000, 0x3c003c00, 0x7c00fc00, 0x03ff0400, 0x7bff7e00, 0x40490fdb,
  };
  u64 state = 0x9e3779b97f4a7c15;
  for (u32 i = 0; i < INPUT_WORDS; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    u32 word = (u32)(state >> 16), kind = (u32)(state >> 56) % 8;
    input[i] = kind == 0 ? edges[word % (sizeof edges / sizeof *edges)] : kind == 1 ? word >> word % 32 : word;
  }
}

// Debian 12's libm has none. Exact: a square root of 24 bits has enough of them to be rounded again.
f16 sqrtf16(f16 x) { return (f16)__builtin_sqrtf((f32)x); }

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static FILE *create(const char *directory, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "wb");
  if (!file) {
    perror(path);
    exit(1);
  }
  return file;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: host DIRECTORY\n"), 2;
  fill();
  // With the gaps between its members zero, as the engine's argument block has them.
  memset(&params, 0, sizeof params);
  params.n = ITEMS;
  params.small = -12345;
  memcpy(params.bytes, "\x01\x80\xff\x7f\x2a\x00", 6);
  params.scale = 1.25f;
  params.wide = -0x1.23456789abcdep-3;
  params.seed = 0x0123456789abcdef;
  qsort(kernels, count, sizeof *kernels, by_name);
  FILE *inputs = create(argv[1], "inputs.bin");
  fwrite(&params, sizeof params, 1, inputs);
  fwrite(input, sizeof input, 1, inputs);
  fclose(inputs);
  FILE *expected = create(argv[1], "expected.bin"), *list = create(argv[1], "kernels.txt");
  for (current = 0; current < count; current++) {
    u32 words = kernels[current].words * ITEMS;
    if (words > sizeof output / 4) abort();
    memset(output, 0, sizeof output);
    for (group = 0; group < GROUPS; group++) run_group();
    fwrite(output, 4, words, expected);
    fprintf(list, "%s %u\n", kernels[current].name, kernels[current].words);
  }
  return fclose(expected) | fclose(list);
}
