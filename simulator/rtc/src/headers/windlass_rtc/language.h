// SPDX-License-Identifier: MIT OR Apache-2.0
// HIP's words of the language.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline __attribute__((always_inline))
#if !__has_feature(cuda_noinline_keyword)
#define __noinline__ __attribute__((noinline))
#endif
#define __hip_img_chk__

#define WINDLASS_RTC_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define WINDLASS_RTC_BOUNDS_2(threads, waves) \
  __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define WINDLASS_RTC_BOUNDS(_1, _2, name, ...) name
#define __launch_bounds__(...) WINDLASS_RTC_BOUNDS(__VA_ARGS__, WINDLASS_RTC_BOUNDS_2, WINDLASS_RTC_BOUNDS_1, )(__VA_ARGS__)

// Functions of this header: those of C++, and those of C, which a host's header may declare too.
#define WINDLASS_RTC __attribute__((device)) inline __attribute__((always_inline))
#define WINDLASS_RTC_C extern "C" WINDLASS_RTC
#define WINDLASS_RTC_ANY __attribute__((host, device)) inline constexpr __attribute__((always_inline))

#define HIP_DYNAMIC_SHARED(type, variable) extern __shared__ type variable[];
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(variable) variable
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

// These headers of HIP are in this one.
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_HIP_VECTOR_TYPES_H
#define HIP_INCLUDE_HIP_HIP_FP16_H
#define HIP_INCLUDE_HIP_HIP_COMPLEX_H
#define _HIP_BFLOAT16_H_
