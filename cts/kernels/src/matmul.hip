// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

enum { TILE = 16 };

// kernel: matmul
// args: a *f32 in, b *f32 in, c *f32 out, m i32, n i32, k i32
// block: 16 x 16
// grid: x = ceil(n / 16), y = ceil(m / 16)
// does: c[m,n] = a[m,k] * b[k,n], row major, no size need divide by 16; each element sums k in ascending order by fma
// for: static LDS, barriers in a loop, two-dimensional blocks and grids
KERNEL MAX_BLOCK(256) void matmul(const f32 *a, const f32 *b, f32 *c, i32 m, i32 n, i32 k) {
  SHARED static f32 a_tile[TILE][TILE + 1];
  SHARED static f32 b_tile[TILE][TILE + 1];
  i32 x = item_x(), y = item_y();
  i32 row = group_y() * TILE + y, column = group_x() * TILE + x;
  f32 sum = 0;
  for (i32 start = 0; start < k; start += TILE) {
    a_tile[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0;
    b_tile[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0;
    block_barrier();
    for (i32 j = 0; j < TILE; j++) sum = __builtin_fmaf(a_tile[y][j], b_tile[j][x], sum);
    block_barrier();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
