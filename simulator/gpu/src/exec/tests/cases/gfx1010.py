# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of instructions that gfx1010 has and gfx1030 lacks: unfused products and sums, and scalar memory that is written."""

import buffer
import memory
import vector

GPU = "gfx1010"


def candidates():
    """All lines."""
    deal = vector.Dealer()
    out = vector.lines("v_mac_f32", "i1 f1 f1", deal) + vector.lines("v_mac_legacy_f32", "i1 f1 f1", deal)
    for name in ("v_mad_f32", "v_mad_legacy_f32"):
        out += vector.lines(name, "i1 f1 f1 f1", deal)
    out += ["v_madmk_f32 v40, v4, 0x40490fdb, v10", "v_madmk_f32 v40, 2.0, 0x1, v10"]
    out += ["v_madak_f32 v40, v4, v10, 0x40490fdb", "v_madak_f32 v40, -1.0, v10, 0x40490fdb"]
    out += vector.lines("v_mul_lo_i32", "i1 i1 i1", deal)
    starts = ("s_store_", "s_buffer_store_", "s_atomic_", "s_buffer_atomic_", "s_dcache_discard")
    return out + [line for line in memory.candidates() + buffer.candidates() if line.startswith(starts)]
