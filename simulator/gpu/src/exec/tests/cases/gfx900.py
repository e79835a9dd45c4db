# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of instructions that gfx900 has and later parts lack, or do otherwise: mixed precision with the product
rounded on its own, and loads that keep the other half of a register."""

import buffer
import memory
import packed

GPU = "gfx900"


def candidates():
    """All lines."""
    mixed = [line.replace("v_fma_mix", "v_mad_mix") for line in packed.candidates() if line.startswith("v_fma_mix")]
    halves = [line for line in memory.candidates() + buffer.candidates() if "_d16" in line and "load" in line or "ds_read" in line]
    return mixed + [line.replace(" sc0", " glc").replace(" nt", " slc").replace(" sc1", "") for line in halves]
