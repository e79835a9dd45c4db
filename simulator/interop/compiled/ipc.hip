// SPDX-License-Identifier: MIT OR Apache-2.0
// Two processes: one owns memory and two events, the other opens them, waits for the owner's kernel and runs one of its own.
#include "hip.h"

struct Handle {
  char bytes[64];
};
extern "C" {
int hipIpcGetMemHandle(Handle *, void *);
int hipIpcOpenMemHandle(void **, Handle, unsigned);
int hipIpcCloseMemHandle(void *);
int hipIpcGetEventHandle(Handle *, hipEvent_t);
int hipIpcOpenEventHandle(hipEvent_t *, Handle);
int hipEventCreateWithFlags(hipEvent_t *, unsigned);
int pipe(int *);
int fork();
int execv(const char *, char *const *);
int dup2(int, int);
int waitpid(int, int *, int);
long read(int, void *, size_t);
long write(int, const void *, size_t);
void _exit(int);
}

enum { interprocess = 2 | 4, lazy_peer_access = 1, HERE = 100, THERE = 101 };
constexpr int N = 1 << 16;

struct Shared {
  Handle memory, filled, doubled;
};

__global__ void fill(int *values, int n) {
  for (int i = block_x() * width_x() + thread_x(); i < n; i += grid_x()) values[i] = i;
}

__global__ void twice(int *values, int n) {
  for (int i = block_x() * width_x() + thread_x(); i < n; i += grid_x()) values[i] *= 2;
}

// Reads the handles, and says when its kernel is in a stream.
static int other_process() {
  Shared shared;
  EXPECT(read(HERE, &shared, sizeof shared) == sizeof shared);
  int *values;
  hipEvent_t filled, doubled;
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipIpcOpenMemHandle((void **)&values, shared.memory, lazy_peer_access));
  CHECK(hipIpcOpenEventHandle(&filled, shared.filled));
  CHECK(hipIpcOpenEventHandle(&doubled, shared.doubled));
  CHECK(hipStreamWaitEvent(stream, filled, 0));
  twice<<<64, 64, 0, stream>>>(values, N);
  CHECK(hipEventRecord(doubled, stream));
  EXPECT(write(THERE, "x", 1) == 1);
  CHECK(hipStreamSynchronize(stream));
  CHECK(hipIpcCloseMemHandle(values));
  CHECK(hipEventDestroy(filled));
  CHECK(hipEventDestroy(doubled));
  return 0;
}

int main(int count, char **words) {
  if (count > 1 && words[1][0] == 'o') return other_process();
  // A program of its own, because HIP does not work in a forked child.
  int to_other[2], from_other[2], status = -1;
  EXPECT(!pipe(to_other) && !pipe(from_other));
  int other = fork();
  if (other == 0) {
    dup2(to_other[0], HERE);
    dup2(from_other[1], THERE);
    char *const arguments[] = {words[0], (char *)"other", 0};
    execv("/proc/self/exe", arguments);
    _exit(1);
  }
  int *values, *result = (int *)malloc(N * sizeof(int));
  char said;
  Shared shared;
  hipEvent_t filled, doubled;
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipMalloc((void **)&values, N * sizeof(int)));
  CHECK(hipEventCreateWithFlags(&filled, interprocess));
  CHECK(hipEventCreateWithFlags(&doubled, interprocess));
  fill<<<64, 64, 0, stream>>>(values, N);
  CHECK(hipEventRecord(filled, stream));
  CHECK(hipIpcGetMemHandle(&shared.memory, values));
  CHECK(hipIpcGetEventHandle(&shared.filled, filled));
  CHECK(hipIpcGetEventHandle(&shared.doubled, doubled));
  EXPECT(write(to_other[1], &shared, sizeof shared) == sizeof shared);
  EXPECT(read(from_other[0], &said, 1) == 1);
  CHECK(hipStreamWaitEvent(stream, doubled, 0));
  twice<<<64, 64, 0, stream>>>(values, N);
  CHECK(hipMemcpyAsync(result, values, N * sizeof(int), hipMemcpyDeviceToHost, stream));
  CHECK(hipStreamSynchronize(stream));
  for (int i = 0; i < N; ++i) EXPECT(result[i] == 4 * i);
  EXPECT(waitpid(other, &status, 0) == other && status == 0);
  CHECK(hipEventDestroy(filled));
  CHECK(hipEventDestroy(doubled));
  CHECK(hipFree(values));
  printf("two processes share memory and events: %d values are right\n", N);
  return 0;
}
