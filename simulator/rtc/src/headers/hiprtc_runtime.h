// SPDX-License-Identifier: MIT OR Apache-2.0
// What hipRTC's sources see without an #include. Its parts are in the order in which they need each other.
#pragma once
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include "windlass_rtc/language.h"
#include "windlass_rtc/types.h"
#include "windlass_rtc/threads.h"
#include "windlass_rtc/vectors.h"
#include "windlass_rtc/integers.h"
#include "windlass_rtc/host_calls.h"
#include "windlass_rtc/ocml.h"
#include "windlass_rtc/math.h"
#include "windlass_rtc/half.h"
#include "windlass_rtc/bfloat16.h"
#include "windlass_rtc/lanes.h"
#include "windlass_rtc/atomics.h"
#include "windlass_rtc/complex.h"
#include "windlass_rtc/cooperative_groups.h"
#pragma clang diagnostic pop
