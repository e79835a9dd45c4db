# SPDX-License-Identifier: MIT OR Apache-2.0
"""GFX11.5: the formats of GFX11. The tables have what GFX11 lacks."""

from gfx11 import *  # noqa: F403
from gfx11 import FORMATS as GFX11, SGPR, choose

NAME = "gfx115"
BASE = "gfx11"
PROCESSOR = "gfx1150"
# `s_fmaak_f32` and `s_fmamk_f32` have a literal.
WITH_LITERAL = [choose(SGPR, "dst", "s0", "s1", more=[0x12345678])]
FORMATS = [(name, codes, words, tries + WITH_LITERAL if name == "SOP2" else tries) for name, codes, words, tries in GFX11]
