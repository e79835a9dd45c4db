# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of memory instructions: every width and address space."""

RMW_LDS = "add_u32 sub_u32 rsub_u32 inc_u32 dec_u32 min_i32 max_i32 min_u32 max_u32 and_b32 or_b32 xor_b32 add_f32 "
RMW_LDS += "min_f32 max_f32 pk_add_f16 pk_add_bf16 "
RMW_LDS += "add_u64 sub_u64 rsub_u64 inc_u64 dec_u64 min_i64 max_i64 min_u64 max_u64 and_b64 or_b64 xor_b64 add_f64 "
RMW_LDS += "min_f64 max_f64"
RMW = "swap add sub smin umin smax umax and or xor inc dec"
RMW_FLOAT = "add_f32 pk_add_f16 pk_add_bf16 add_f64 min_f64 max_f64"
PARTS = "ubyte sbyte ushort sshort ubyte_d16 ubyte_d16_hi sbyte_d16 sbyte_d16_hi short_d16 short_d16_hi"
STORES = "byte byte_d16_hi short short_d16_hi"


def vgpr(first, width):
    return f"v{first}" if width == 1 else f"v[{first}:{first + width - 1}]"


def sgpr(first, width):
    return f"s{first}" if width == 1 else f"s[{first}:{first + width - 1}]"


def lds():
    out = []
    for offset in ("", " offset:24", " offset:4080"):
        for ty in "u8 i8 u16 i16 b32 u8_d16 u8_d16_hi i8_d16 i8_d16_hi u16_d16 u16_d16_hi".split():
            out.append(f"ds_read_{ty} v40, v4{offset}")
        for ty, width in (("b64", 2), ("b96", 3), ("b128", 4)):
            out += [f"ds_read_{ty} {vgpr(40, width)}, v4{offset}", f"ds_write_{ty} v4, {vgpr(10, width)}{offset}"]
        for ty in "b8 b16 b32 b8_d16_hi b16_d16_hi".split():
            out.append(f"ds_write_{ty} v4, v10{offset}")
    out += ["ds_read_b32 v4, v4", "ds_read_b128 v[4:7], v4", "ds_read_b64 v[4:5], v4"]
    for far in ("", "st64"):
        for width in (1, 2):
            ty = f"b{32 * width}"
            for offsets in ("offset1:1", "offset0:3 offset1:2", "offset0:7"):
                out.append(f"ds_read2{far}_{ty} {vgpr(40, 2 * width)}, v4 {offsets}")
                out.append(f"ds_write2{far}_{ty} v4, {vgpr(10, width)}, {vgpr(16, width)} {offsets}")
                out.append(f"ds_wrxchg2{far}_rtn_{ty} {vgpr(40, 2 * width)}, v4, {vgpr(10, width)}, {vgpr(16, width)} {offsets}")
    for what in RMW_LDS.split():
        width = 2 if what.endswith("64") else 1
        name, ty = what.rsplit("_", 1)
        for offset in ("", " offset:64"):
            out.append(f"ds_{name}_{ty} v4, {vgpr(10, width)}{offset}")
            out.append(f"ds_{name}_rtn_{ty} {vgpr(40, width)}, v4, {vgpr(10, width)}{offset}")
    for ty in ("b32", "b64"):
        width = 2 if ty == "b64" else 1
        out.append(f"ds_wrxchg_rtn_{ty} {vgpr(40, width)}, v4, {vgpr(10, width)}")
        for name in ("cmpst", "mskor"):
            out.append(f"ds_{name}_{ty} v4, {vgpr(10, width)}, {vgpr(16, width)}")
            out.append(f"ds_{name}_rtn_{ty} {vgpr(40, width)}, v4, {vgpr(10, width)}, {vgpr(16, width)}")
    out += ["ds_cmpst_f32 v4, v10, v16", "ds_cmpst_rtn_f64 v[40:41], v4, v[10:11], v[16:17]"]
    out += ["ds_cmpst_rtn_f32 v40, v4, v10, v16", "ds_cmpst_f64 v4, v[10:11], v[16:17]"]
    out += ["ds_wrap_rtn_b32 v40, v4, v10, v16", "ds_nop", "ds_append v40 offset:64", "ds_consume v40 offset:64"]
    out += ["ds_permute_b32 v40, v4, v10", "ds_permute_b32 v40, v4, v10 offset:12", "ds_bpermute_b32 v40, v4, v10"]
    out += ["ds_bpermute_b32 v40, v4, v10 offset:20", "ds_read_addtid_b32 v40 offset:32", "ds_write_addtid_b32 v10 offset:32"]
    for pattern in (0x041F, 0x005C, 0x0C1F, 0x801B, 0x80E4, 0x7C1F, 0x03E0, 0xC020, 0xC440):
        out.append(f"ds_swizzle_b32 v40, v4 offset:{pattern}")
    return out


def flat():
    out = []
    loads = [(part, 1) for part in PARTS.split()] + [("dword", 1), ("dwordx2", 2), ("dwordx3", 3), ("dwordx4", 4)]
    stores = [(part, 1) for part in STORES.split()] + [("dword", 1), ("dwordx2", 2), ("dwordx3", 3), ("dwordx4", 4)]
    for name, width in loads:
        out += [f"global_load_{name} {vgpr(40, width)}, v[4:5], off", f"global_load_{name} {vgpr(40, width)}, v4, s[8:9] offset:16"]
        out += [f"global_load_{name} {vgpr(40, width)}, v[4:5], off offset:-32", f"flat_load_{name} {vgpr(40, width)}, v[4:5]"]
        out += [f"flat_load_{name} {vgpr(40, width)}, v[4:5] offset:24", f"scratch_load_{name} {vgpr(40, width)}, v4, off"]
        out += [f"scratch_load_{name} {vgpr(40, width)}, off, s8 offset:16", f"scratch_load_{name} {vgpr(40, width)}, v4, s8"]
        out += [f"scratch_load_{name} {vgpr(40, width)}, off, off offset:32"]
        for address in ("v4, s[8:11], 0 offen", "v4, s[8:11], s20 offen offset:16", "off, s[8:11], 0 offset:48", "off, s[8:11], s20"):
            out.append(f"buffer_load_{name} {vgpr(40, width)}, {address}")
    for name, width in stores:
        data = vgpr(10, width)
        out += [f"global_store_{name} v[4:5], {data}, off", f"global_store_{name} v4, {data}, s[8:9] offset:16"]
        out += [f"flat_store_{name} v[4:5], {data}", f"flat_store_{name} v[4:5], {data} offset:24"]
        out += [f"scratch_store_{name} v4, {data}, off", f"scratch_store_{name} off, {data}, s8 offset:16"]
        for address in ("v4, s[8:11], 0 offen", "v4, s[8:11], s20 offen offset:16", "off, s[8:11], 0 offset:48"):
            out.append(f"buffer_store_{name} {data}, {address}")
    atomics = [(op + x2, 2 if x2 else 1) for op in RMW.split() for x2 in ("", "_x2")]
    atomics += [(op, 2 if op.endswith("f64") else 1) for op in RMW_FLOAT.split()]
    atomics += [("cmpswap", 1), ("cmpswap_x2", 2)]
    for name, width in atomics:
        data = vgpr(10, 2 * width if "cmpswap" in name else width)
        for space, address in (("global", "off"), ("flat", "")):
            tail = f", {address}" if address else ""
            out.append(f"{space}_atomic_{name} v[4:5], {data}{tail}")
            out.append(f"{space}_atomic_{name} {vgpr(40, width)}, v[4:5], {data}{tail} sc0")
        out.append(f"global_atomic_{name} {vgpr(40, width)}, v4, {data}, s[8:9] offset:16 sc0")
        out.append(f"buffer_atomic_{name} {data}, v4, s[8:11], 0 offen")
        out.append(f"buffer_atomic_{name} {data}, v4, s[8:11], 0 offen offset:16 sc0")
    return out


def scalar():
    out = []
    for suffix, width in (("", 1), ("x2", 2), ("x4", 4), ("x8", 8), ("x16", 16)):
        dst = sgpr(32, width)
        out += [f"s_load_dword{suffix} {dst}, s[8:9], 0x0", f"s_load_dword{suffix} {dst}, s[8:9], 0x40"]
        out += [f"s_load_dword{suffix} {dst}, s[8:9], s20", f"s_load_dword{suffix} {dst}, s[8:9], s20 offset:0x20"]
        out += [f"s_buffer_load_dword{suffix} {dst}, s[8:11], 0x40", f"s_buffer_load_dword{suffix} {dst}, s[8:11], s20"]
        out += [f"s_load_dword{suffix} {dst}, s[8:9], -0x10"]
        if width <= 4:
            out += [f"s_store_dword{suffix} {dst}, s[8:9], 0x40", f"s_store_dword{suffix} {dst}, s[8:9], s20"]
    return out


def scalar_atomics():
    out = []
    for suffix, width in (("", 1), ("x2", 2), ("x4", 4)):
        data = sgpr(32, width)
        out += [f"s_buffer_store_dword{suffix} {data}, s[8:11], 0x40", f"s_buffer_store_dword{suffix} {data}, s[8:11], s20"]
        # Past the end of the buffer, in part or in whole.
        out += [f"s_buffer_store_dword{suffix} {data}, s[8:11], 0x{at:x}" for at in (5996, 6008, 9000)]
    for name in RMW.split() + ["cmpswap"]:
        for x2 in ("", "_x2"):
            data = sgpr(32, (2 if x2 else 1) * (2 if name == "cmpswap" else 1))
            for tail in ("", " glc"):
                out += [f"s_atomic_{name}{x2} {data}, s[8:9], 0x40{tail}", f"s_atomic_{name}{x2} {data}, s[8:9], s20{tail}"]
                out += [f"s_buffer_atomic_{name}{x2} {data}, s[8:11], 0x{at:x}{tail}" for at in (0x40, 9000)]
    out += ["s_atc_probe 7, s[8:9], s20", "s_atc_probe_buffer 1, s[8:11], 0x40", "s_dcache_discard s[8:9], 0x40", "s_dcache_discard_x2 s[8:9], s20"]
    return out


def to_lds():
    out = []
    for name in "ubyte sbyte ushort sshort dword".split():
        out += [f"global_load_lds_{name} v[4:5], off", f"global_load_lds_{name} v4, s[8:9] offset:16"]
        out += [f"scratch_load_lds_{name} v4, off", f"scratch_load_lds_{name} off, s8 offset:16"]
    return out


def candidates():
    """All lines."""
    return lds() + flat() + scalar() + scalar_atomics() + to_lds()
