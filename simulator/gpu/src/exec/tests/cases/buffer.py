# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of buffer instructions: every format, and every way to address a record and its bytes."""

DATA = "INVALID 8 16 8_8 32 16_16 10_11_11 11_11_10 10_10_10_2 2_10_10_10 8_8_8_8 32_32 16_16_16_16 32_32_32 32_32_32_32"
NUMBER = "UNORM SNORM USCALED SSCALED UINT SINT RESERVED_6 FLOAT"
PLACES = [
    "off, s[8:11], 0",
    "v4, s[8:11], 0 idxen",
    "v4, s[8:11], s20 idxen offset:4",
    "v[4:5], s[8:11], 0 idxen offen",
    "v[4:5], s[8:11], s20 idxen offen offset:16",
    "v4, s[8:11], 0 offen",
    "v4, s[8:11], s20 offen offset:12",
    "off, s[8:11], s20 offset:8",
]


def vgpr(first, width):
    return f"v{first}" if width == 1 else f"v[{first}:{first + width - 1}]"


class Places:
    """Deals out the ways to address in turn."""

    def __init__(self):
        self.turn = 0

    def next(self, form=""):
        place = PLACES[self.turn % len(PLACES)].split(" ")
        self.turn += 1
        # The format follows the scalar offset.
        return " ".join(place[:3] + ([form] if form else []) + place[3:])


def formats(places):
    out = []
    for data in DATA.split():
        for number in NUMBER.split():
            form = f"format:[BUF_DATA_FORMAT_{data},BUF_NUM_FORMAT_{number}]"
            for letters in ("x", "xy", "xyz", "xyzw"):
                for what, width in ((f"format_{letters}", len(letters)), (f"format_d16_{letters}", (len(letters) + 1) // 2)):
                    # All letters of few formats, the whole element of all.
                    if letters != "xyzw" and (number not in ("FLOAT", "SINT") or data not in ("32", "16_16", "8_8_8_8", "32_32_32_32")):
                        continue
                    out.append(f"tbuffer_load_{what} {vgpr(40, width)}, {places.next(form)}")
                    out.append(f"tbuffer_store_{what} {vgpr(10, width)}, {places.next(form)}")
    for _ in range(8):
        for letters in ("x", "xy", "xyz", "xyzw"):
            for what, width in ((f"format_{letters}", len(letters)), (f"format_d16_{letters}", (len(letters) + 1) // 2)):
                out.append(f"buffer_load_{what} {vgpr(40, width)}, {places.next()}")
                out.append(f"buffer_store_{what} {vgpr(10, width)}, {places.next()}")
        out.append(f"buffer_load_format_d16_hi_x v40, {places.next()}")
        out.append(f"buffer_store_format_d16_hi_x v10, {places.next()}")
        out.append(f"buffer_load_format_x {places.next()} lds")
    return out


def parts(places):
    out = []
    sizes = [("dword", 1), ("dwordx2", 2), ("dwordx3", 3), ("dwordx4", 4)]
    for _ in range(4):
        for name, width in [(part, 1) for part in "ubyte sbyte ushort sshort ubyte_d16_hi short_d16".split()] + sizes:
            out.append(f"buffer_load_{name} {vgpr(40, width)}, {places.next()}")
        for name, width in [(part, 1) for part in "byte byte_d16_hi short short_d16_hi".split()] + sizes:
            out.append(f"buffer_store_{name} {vgpr(10, width)}, {places.next()}")
        for name in "ubyte sbyte ushort sshort dword".split():
            out.append(f"buffer_load_{name} {places.next()} lds")
        for name, width in (("add", 1), ("cmpswap", 2), ("smax_x2", 2), ("pk_add_f16", 1), ("add_f64", 2)):
            out.append(f"buffer_atomic_{name} {vgpr(10, width)}, {places.next()} sc0")
    return out


def candidates():
    """All lines."""
    places = Places()
    return formats(places) + parts(places)
