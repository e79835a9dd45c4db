// SPDX-License-Identifier: MIT OR Apache-2.0
// Cooperative groups: blocks, tiles of a wave, the lanes that are active, the grid of a cooperative launch.
#pragma once

#ifdef WINDLASS_RTC_WITHOUT_LIBRARIES
namespace windlass_rtc {
// What the runtime gives a cooperative launch. Two words of it are for the barrier.
struct grid_state {
  word others[4];
  unsigned arrived, passed, blocks;
};
WINDLASS_RTC grid_state *state_of_grid() {
  return *(grid_state **)((char *)__builtin_amdgcn_implicitarg_ptr() + (WINDLASS_RTC_CODE_OBJECT >= 5 ? 88 : 48));
}
WINDLASS_RTC bool grid_is_valid() { return state_of_grid() != nullptr; }
WINDLASS_RTC void sync_grid() {
  grid_state *grid = state_of_grid();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
#if defined(__GFX9__) || defined(__GFX10__)
    // Before HIP 6 there is no state on these: the barrier is an instruction.
    if ((word)grid == 1) {
      unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
      __builtin_amdgcn_ds_gws_barrier(__builtin_amdgcn_readfirstlane(others), 0);
    } else
#endif
    {
      unsigned passed = __hip_atomic_load(&grid->passed, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
      if (__hip_atomic_fetch_add(&grid->arrived, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT) + 1 == grid->blocks) {
        __hip_atomic_store(&grid->arrived, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __hip_atomic_fetch_add(&grid->passed, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
      } else {
        while (__hip_atomic_load(&grid->passed, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == passed) __builtin_amdgcn_s_sleep(1);
      }
    }
  }
  __syncthreads();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
}
#else
extern "C" __attribute__((device)) int __ockl_grid_is_valid(void);
extern "C" __attribute__((device)) void __ockl_grid_sync(void);
namespace windlass_rtc {
WINDLASS_RTC bool grid_is_valid() { return __ockl_grid_is_valid(); }
WINDLASS_RTC void sync_grid() { __ockl_grid_sync(); }
}
#endif

namespace cooperative_groups {
WINDLASS_RTC unsigned windlass_rtc_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
WINDLASS_RTC unsigned windlass_rtc_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// Every group is one of these too, for functions that take any.
class thread_group {
 protected:
  enum kind { BLOCK, LANES, GRID };
  kind of;
  uint32_t count, own;
  WINDLASS_RTC thread_group(kind of, uint32_t count, uint32_t own) : of(of), count(count), own(own) {}

 public:
  WINDLASS_RTC uint32_t size() const { return count; }
  WINDLASS_RTC uint32_t num_threads() const { return count; }
  WINDLASS_RTC uint32_t thread_rank() const { return own; }
  WINDLASS_RTC bool is_valid() const { return of != GRID || windlass_rtc::grid_is_valid(); }
  WINDLASS_RTC void sync() const {
    if (of == BLOCK) __syncthreads();
    else if (of == LANES) __syncwarp();
    else windlass_rtc::sync_grid();
  }
};

class thread_block : public thread_group {
 public:
  WINDLASS_RTC thread_block() : thread_group(BLOCK, windlass_rtc_threads(), windlass_rtc_thread()) {}
  WINDLASS_RTC static void sync() { __syncthreads(); }
  WINDLASS_RTC static dim3 group_index() { return blockIdx; }
  WINDLASS_RTC static dim3 thread_index() { return threadIdx; }
  WINDLASS_RTC static dim3 group_dim() { return blockDim; }
};
WINDLASS_RTC thread_block this_thread_block() { return thread_block(); }

class grid_group : public thread_group {
  WINDLASS_RTC static unsigned block() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
  WINDLASS_RTC static unsigned blocks() { return gridDim.x * gridDim.y * gridDim.z; }

 public:
  WINDLASS_RTC grid_group()
      : thread_group(GRID, blocks() * windlass_rtc_threads(), block() * windlass_rtc_threads() + windlass_rtc_thread()) {}
  WINDLASS_RTC static void sync() { windlass_rtc::sync_grid(); }
  WINDLASS_RTC static bool is_valid() { return windlass_rtc::grid_is_valid(); }
  WINDLASS_RTC static dim3 group_dim() { return gridDim; }
  WINDLASS_RTC static unsigned num_blocks() { return blocks(); }
  WINDLASS_RTC static unsigned block_rank() { return block(); }
};
WINDLASS_RTC grid_group this_grid() { return grid_group(); }

// Neighbouring lanes, a power of two of them.
template <unsigned n, class Parent = void> class thread_block_tile : public thread_group {
  static_assert(n > 0 && (n & (n - 1)) == 0 && n <= WINDLASS_RTC_LANES, "a tile has a power of two of lanes");
  // Of the lanes of a wave, those of this tile.
  WINDLASS_RTC static uint64_t own_lanes() {
    return (n == 64 ? ~0ull : (1ull << (n & 63)) - 1) << (__lane_id() & ~(n - 1));
  }

 public:
  WINDLASS_RTC thread_block_tile() : thread_group(LANES, n, windlass_rtc_thread() % n) {}
  WINDLASS_RTC static constexpr uint32_t size() { return n; }
  WINDLASS_RTC static constexpr uint32_t num_threads() { return n; }
  WINDLASS_RTC static uint32_t meta_group_rank() { return windlass_rtc_thread() / n; }
  WINDLASS_RTC static uint32_t meta_group_size() { return (windlass_rtc_threads() + n - 1) / n; }
  WINDLASS_RTC static void sync() { __syncwarp(); }
  template <class T> WINDLASS_RTC static T shfl(T value, int lane) { return __shfl(value, lane, n); }
  template <class T> WINDLASS_RTC static T shfl_up(T value, unsigned by) { return __shfl_up(value, by, n); }
  template <class T> WINDLASS_RTC static T shfl_down(T value, unsigned by) { return __shfl_down(value, by, n); }
  template <class T> WINDLASS_RTC static T shfl_xor(T value, unsigned mask) { return __shfl_xor(value, (int)mask, n); }
  WINDLASS_RTC static uint64_t ballot(int value) {
    return (__ballot(value) & own_lanes()) >> (__lane_id() & ~(n - 1));
  }
  WINDLASS_RTC static int any(int value) { return (__ballot(value) & own_lanes()) != 0; }
  WINDLASS_RTC static int all(int value) { return (__ballot(!value) & own_lanes()) == 0; }
  template <class T> WINDLASS_RTC static uint64_t match_any(T value) {
    return (__match_any(value) & own_lanes()) >> (__lane_id() & ~(n - 1));
  }
};
template <unsigned n, class Parent> WINDLASS_RTC thread_block_tile<n, Parent> tiled_partition(const Parent &) {
  return thread_block_tile<n, Parent>();
}

// The same with a number that is known when the kernel runs.
class windlass_rtc_tile : public thread_group {
 public:
  WINDLASS_RTC windlass_rtc_tile(unsigned n) : thread_group(LANES, n, windlass_rtc_thread() % n) {}
};
WINDLASS_RTC thread_group tiled_partition(const thread_group &, unsigned n) { return windlass_rtc_tile(n); }

// The lanes of a wave that are active where the group is made.
class coalesced_group : public thread_group {
  uint64_t lanes;
  WINDLASS_RTC int lane_of(unsigned rank) const {
    uint64_t left = lanes;
    for (; rank > 0 && left; --rank) left &= left - 1;
    return left ? __builtin_ctzll(left) : (int)__lane_id();
  }

 public:
  WINDLASS_RTC coalesced_group(uint64_t lanes)
      : thread_group(LANES, __popcll(lanes), __popcll(lanes & __lanemask_lt())), lanes(lanes) {}
  // Those whose ranks lie in the same `n` as the own rank.
  WINDLASS_RTC coalesced_group tile(unsigned n) const {
    uint64_t own_lanes = 0, left = lanes;
    for (unsigned rank = 0; left; left &= left - 1, ++rank) {
      if (rank / n == own / n) own_lanes |= left & -left;
    }
    return coalesced_group(own_lanes);
  }
  WINDLASS_RTC static void sync() { __syncwarp(); }
  template <class T> WINDLASS_RTC T shfl(T value, int rank) const { return windlass_rtc_of_lane(value, lane_of(rank % count)); }
  template <class T> WINDLASS_RTC T shfl_down(T value, unsigned by) const {
    return windlass_rtc_of_lane(value, lane_of(own + by < count ? own + by : own));
  }
  template <class T> WINDLASS_RTC T shfl_up(T value, unsigned by) const {
    return windlass_rtc_of_lane(value, lane_of(own >= by ? own - by : own));
  }
  WINDLASS_RTC int any(int value) const { return (__ballot(value) & lanes) != 0; }
  WINDLASS_RTC int all(int value) const { return (__ballot(!value) & lanes) == 0; }
  WINDLASS_RTC uint64_t ballot(int value) const {
    uint64_t bits = __ballot(value) & lanes, result = 0;
    unsigned rank = 0;
    for (uint64_t left = lanes; left; left &= left - 1, ++rank) result |= (bits >> __builtin_ctzll(left) & 1) << rank;
    return result;
  }
};
WINDLASS_RTC coalesced_group tiled_partition(const coalesced_group &parent, unsigned n) { return parent.tile(n); }
WINDLASS_RTC coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <class Group> WINDLASS_RTC void sync(const Group &group) { group.sync(); }
template <class Group> WINDLASS_RTC uint32_t thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> WINDLASS_RTC uint32_t group_size(const Group &group) { return group.size(); }
template <class Group> WINDLASS_RTC bool is_valid(const Group &group) { return group.is_valid(); }
}
