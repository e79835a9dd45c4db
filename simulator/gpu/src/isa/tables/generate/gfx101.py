# SPDX-License-Identifier: MIT OR Apache-2.0
"""GFX10.1: the formats of GFX10. The tables have what GFX10.3 lacks."""

from gfx10 import *  # noqa: F403

NAME = "gfx101"
BASE = "gfx10"
PROCESSOR = "gfx1010"
