// SPDX-License-Identifier: MIT OR Apache-2.0
// Streams, events and errors, as a host program uses them between its launches.
#include "hip.h"

constexpr int N = 1 << 14, STREAMS = 4;

__global__ void add(int *values, int by) {
  int i = block_x() * width_x() + thread_x();
  values[i] += by;
}

__global__ void spin_then_add(int *values, int by, int turns) {
  int i = block_x() * width_x() + thread_x();
  for (int turn = 0; turn < turns; ++turn) __builtin_amdgcn_s_sleep(1);
  values[i] = values[i] * 2 + by;
}

__global__ void too_wide(int *values) { values[thread_x()] = 1; }

__global__ void stray(int *values) { values[(1l << 40) + thread_x()] = 1; }

int main(int argc, char **words) {
  int *host, *device[STREAMS];
  hipStream_t streams[STREAMS];
  hipEvent_t events[STREAMS], start, stop;
  CHECK(hipHostMalloc((void **)&host, STREAMS * N * sizeof(int)));
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));
  CHECK(hipEventRecord(start, 0));
  for (int s = 0; s < STREAMS; ++s) {
    CHECK(hipStreamCreate(&streams[s]));
    CHECK(hipEventCreate(&events[s]));
    CHECK(hipMalloc((void **)&device[s], N * sizeof(int)));
    for (int i = 0; i < N; ++i) host[s * N + i] = i + s;
    CHECK(hipMemcpyAsync(device[s], host + s * N, N * sizeof(int), hipMemcpyHostToDevice, streams[s]));
    add<<<N / 256, 256, 0, streams[s]>>>(device[s], 10);
    CHECK(hipEventRecord(events[s], streams[s]));
  }
  // Each stream continues with the results of the previous one.
  for (int s = 1; s < STREAMS; ++s) {
    CHECK(hipStreamWaitEvent(streams[s], events[s - 1], 0));
    CHECK(hipMemcpyAsync(device[s], device[s - 1], N * sizeof(int), hipMemcpyDeviceToDevice, streams[s]));
    spin_then_add<<<N / 64, 64, 0, streams[s]>>>(device[s], s, 3);
    CHECK(hipEventRecord(events[s], streams[s]));
  }
  // The null stream comes after all of them.
  CHECK(hipMemcpy(host, device[STREAMS - 1], N * sizeof(int), hipMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i) {
    int expected = i + 10;
    for (int s = 1; s < STREAMS; ++s) expected = expected * 2 + s;
    EXPECT(host[i] == expected);
  }
  float milliseconds = -1;
  CHECK(hipEventRecord(stop, 0));
  CHECK(hipEventSynchronize(stop));
  CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 0);

  // A launch that is refused, and a device that still works.
  too_wide<<<1, 2048>>>(device[0]);
  EXPECT(hipGetLastError() != 0 && hipGetLastError() == 0);
  add<<<1, 64>>>(device[0], 1);
  CHECK(hipDeviceSynchronize());

  for (int s = 0; s < STREAMS; ++s) {
    CHECK(hipStreamSynchronize(streams[s]));
    CHECK(hipStreamDestroy(streams[s]));
    CHECK(hipEventDestroy(events[s]));
  }
  const char how = argc > 1 ? words[1][0] : 0;
  if (how == 'u') {
    printf("right, unharmed\n");
    return 0;
  }
  // A stray store is reported once, and the device still works; with `faults=sticky` every later call fails, as on
  // hardware. AMD's HIP ends the process: the word `unharmed` leaves the store out.
  stray<<<1, 64>>>(device[0]);
  EXPECT(hipDeviceSynchronize() == 700);
  const bool sticky = how == 's';
  EXPECT((hipMemset(device[0], 0, 4) == 700) == sticky);
  add<<<1, 64>>>(device[0], 1);
  EXPECT((hipDeviceSynchronize() == 700) == sticky);
  printf("right\n");
  return 0;
}
