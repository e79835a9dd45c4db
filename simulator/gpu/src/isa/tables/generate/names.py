# SPDX-License-Identifier: MIT OR Apache-2.0
"""What probing cannot tell: the instruction behind a newer mnemonic, and the element types of new instructions."""

import re

# Mnemonics since GFX10 and GFX11 of instructions that GFX9 has by another name.
OLDER = {
    "s_ctz_i32_b32": "s_ff1_i32_b32",
    "s_ctz_i32_b64": "s_ff1_i32_b64",
    "s_clz_i32_u32": "s_flbit_i32_b32",
    "s_clz_i32_u64": "s_flbit_i32_b64",
    "s_cls_i32": "s_flbit_i32",
    "s_cls_i32_i64": "s_flbit_i32_i64",
    "s_and_not1_b32": "s_andn2_b32",
    "s_and_not1_b64": "s_andn2_b64",
    "s_or_not1_b32": "s_orn2_b32",
    "s_or_not1_b64": "s_orn2_b64",
    "s_and_not0_saveexec_b64": "s_andn1_saveexec_b64",
    "s_and_not1_saveexec_b64": "s_andn2_saveexec_b64",
    "s_or_not0_saveexec_b64": "s_orn1_saveexec_b64",
    "s_or_not1_saveexec_b64": "s_orn2_saveexec_b64",
    "s_and_not0_wrexec_b64": "s_andn1_wrexec_b64",
    "s_and_not1_wrexec_b64": "s_andn2_wrexec_b64",
    "v_add_nc_u32": "v_add_u32",
    "v_sub_nc_u32": "v_sub_u32",
    "v_subrev_nc_u32": "v_subrev_u32",
    "v_add_nc_i32": "v_add_i32",
    "v_sub_nc_i32": "v_sub_i32",
    "v_add_nc_u16": "v_add_u16",
    "v_sub_nc_u16": "v_sub_u16",
    "v_add_nc_i16": "v_add_i16",
    "v_sub_nc_i16": "v_sub_i16",
    "v_add_co_ci_u32": "v_addc_co_u32",
    "v_sub_co_ci_u32": "v_subb_co_u32",
    "v_subrev_co_ci_u32": "v_subbrev_co_u32",
    "v_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32",
    "v_cvt_pk_norm_i16_f32": "v_cvt_pknorm_i16_f32",
    "v_cvt_pk_norm_u16_f32": "v_cvt_pknorm_u16_f32",
    "v_cvt_pk_norm_i16_f16": "v_cvt_pknorm_i16_f16",
    "v_cvt_pk_norm_u16_f16": "v_cvt_pknorm_u16_f16",
    "v_cvt_nearest_i32_f32": "v_cvt_rpi_i32_f32",
    "v_cvt_floor_i32_f32": "v_cvt_flr_i32_f32",
    "v_mul_dx9_zero_f32": "v_mul_legacy_f32",
    "v_clz_i32_u32": "v_ffbh_u32",
    "v_ctz_i32_b32": "v_ffbl_b32",
    "v_cls_i32": "v_ffbh_i32",
    "v_dot2acc_f32_f16": "v_dot2c_f32_f16",
    # Mnemonics since GFX12.
    "s_add_co_u32": "s_add_u32",
    "s_sub_co_u32": "s_sub_u32",
    "s_add_co_i32": "s_add_i32",
    "s_sub_co_i32": "s_sub_i32",
    "s_add_co_ci_u32": "s_addc_u32",
    "s_sub_co_ci_u32": "s_subb_u32",
    "s_addk_co_i32": "s_addk_i32",
    "s_wait_alu": "s_waitcnt_depctr",
    "v_mad_co_u64_u32": "v_mad_u64_u32",
    "v_mad_co_i64_i32": "v_mad_i64_i32",
    # Mnemonics of GFX10 of instructions that are named as in GFX11.
    "s_inst_prefetch": "s_set_inst_prefetch_distance",
    "v_fma_legacy_f32": "v_fma_dx9_zero_f32",
    "v_fmac_legacy_f32": "v_fmac_dx9_zero_f32",
    "global_load_dword_addtid": "global_load_addtid_b32",
    "global_store_dword_addtid": "global_store_addtid_b32",
} | {f"v_cmp{x}_t_f{size}": f"v_cmp{x}_tru_f{size}" for x in ("", "x") for size in (16, 32, 64)}
DATA = {"u8": "ubyte", "i8": "sbyte", "u16": "ushort", "i16": "sshort", "b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4", "b256": "dwordx8", "b512": "dwordx16"}
STORED = DATA | {"b8": "byte", "b16": "short"}
HALVES = {"u8": "ubyte", "i8": "sbyte", "b8": "byte", "b16": "short"}
SIGNS = {"i": "s", "u": "u"}


def atomic(name):
    """`min_i32` as `smin`, `add_u64` as `add_x2`; None if the name stays."""
    action, _, kind = name.rpartition("_")
    if not re.fullmatch(r"[iubf]\d+", kind):
        return None
    if action in ("min", "max") and kind[0] in SIGNS:
        action = SIGNS[kind[0]] + action
    elif kind.startswith("f"):
        return None
    return action + ("_x2" if kind.endswith("64") else "")


def vector_memory(space, name):
    """The older name of a FLAT, GLOBAL, SCRATCH, MUBUF or MTBUF instruction behind its address space."""
    action, _, rest = name.partition("_")
    if action == "atomic":
        if rest in ("csub_u32", "cond_sub_u32", "ordered_add_b64"):
            return None
        older = "csub_u32" if rest == "sub_clamp_u32" else atomic(rest)
        return older and f"{space}_atomic_{older}"
    if match := re.fullmatch(r"d16_(hi_)?format_(\w+)", rest):
        return f"{space}_{action}_format_d16_{match[1] or ''}{match[2]}"
    if match := re.fullmatch(r"d16_(hi_)?(u8|i8|b8|b16)", rest):
        return f"{space}_{action}_{HALVES[match[2]]}_d16{'_hi' if match[1] else ''}"
    kinds = STORED if action == "store" else DATA
    return f"{space}_{action}_{kinds[rest]}" if rest in kinds else None


def lds(name):
    """The older name of a DS instruction."""
    name = re.sub(r"^ds_(load|store|storexchg)_2addr_stride64_", r"ds_\1_2st64_", name)
    name = re.sub(r"^ds_(load|store|storexchg)_2addr_", r"ds_\1_2_", name)
    for newer, older in (("load", "read"), ("storexchg", "wrxchg"), ("store", "write")):
        name = re.sub(rf"^ds_{newer}_(2(?:st64)?)_", rf"ds_{older}\1_", name)
        name = re.sub(rf"^ds_{newer}_", f"ds_{older}_", name)
    return name


def older(mnemonic):
    """The name of GFX9 for a mnemonic, which may be the same."""
    space, _, rest = mnemonic.partition("_")
    if mnemonic in OLDER:
        return OLDER[mnemonic]
    if match := re.fullmatch(r"(\w+_atomic)_f(cmpswap|min|max)", mnemonic):
        return f"{match[1]}_{match[2]}_f32"
    if match := re.fullmatch(r"(\w+_atomic)_f(min|max)_x2", mnemonic):
        return f"{match[1]}_{match[2]}_f64"
    if mnemonic.endswith("_atomic_csub"):
        return f"{mnemonic}_u32"
    if match := re.fullmatch(r"s_(and|or)n([12])_(save|wr)exec_b32", mnemonic):
        return f"s_{match[1]}_not{int(match[2]) - 1}_{match[3]}exec_b32"
    if space in ("flat", "global", "scratch", "buffer", "tbuffer"):
        return vector_memory(space, rest) or mnemonic
    if space == "ds":
        return lds(mnemonic)
    if match := re.fullmatch(r"s_(buffer_)?load_(b\d+)", mnemonic):
        return f"s_{match[1] or ''}load_{DATA[match[2]]}"
    return mnemonic


def result(mnemonic, dwords):
    """The type of the result of a new vector instruction, by the first type in its name."""
    if mnemonic.startswith("v_pk_") or "_pk_" in mnemonic:
        return "PK16" if dwords == 1 else "F32"
    kind = re.search(r"_(bf16|f16|f32|f64|[iub]\d+)", mnemonic)
    kind = kind[1] if kind else "b32"
    if dwords == 2 and kind.endswith("64"):
        return "F64" if kind[0] == "f" else "B64"
    return {"bf16": "I16", "f16": "F16", "f32": "F32"}.get(kind, "I16" if kind.endswith("16") else "B32")


def scalar_float(mnemonic):
    """Destination, sources and further flags of a scalar instruction with floats, or None."""
    kind = lambda name: name.upper() if name[0] == "f" else "B32"
    if mnemonic == "s_cvt_hi_f32_f16":
        # The half is in the high bits.
        return "F32", ["B32"], set()
    if mnemonic == "s_cvt_pk_rtz_f16_f32":
        return "B32", ["F32", "F32"], set()
    if match := re.fullmatch(r"s_cvt_([fiu]\d+)_([fiu]\d+)", mnemonic):
        return kind(match[1]), [kind(match[2])], set()
    if match := re.fullmatch(r"s_(\w+)_(f16|f32)", mnemonic):
        stem, float_ = match[1], kind(match[2])
        if stem.startswith("cmp_"):
            return "N", [float_, float_], set()
        if stem in ("fmaak", "fmamk"):
            return float_, [float_] * 3, {"MADAK" if stem == "fmaak" else "MADMK"}
        return float_, [float_] * (1 if stem in ("ceil", "floor", "trunc", "rndne") else 2), set()
    return None


# Destination, sources and further flags where probing and GFX9 do not tell.
HALVES8, FLOATS8, INTEGERS8 = "F16.x(8)", "F32.x(8)", "B32.x(8)"
TYPES = {
    "v_illegal": ("N", [], set()),
    "v_fmamk_f16": ("F16", ["F16", "F16", "F16"], set()),
    "v_fmaak_f16": ("F16", ["F16", "F16", "F16"], set()),
    "v_fmamk_f32": ("F32", ["F32", "F32", "F32"], set()),
    "v_fmaak_f32": ("F32", ["F32", "F32", "F32"], set()),
    "v_madmk_f32": ("F32", ["F32", "F32", "F32"], set()),
    "v_madak_f32": ("F32", ["F32", "F32", "F32"], set()),
    "v_cndmask_b16": ("I16", ["I16", "I16", "MASK"], {"SIGNED"}),
    "v_mov_b16": ("I16", ["I16"], {"HALVES"}),
    "v_pk_fmac_f16": ("PKF16", ["PKF16", "PKF16"], set()),
    "v_dot2c_f32_f16": ("F32", ["PKF16", "PKF16"], set()),
    "v_dot2_f16_f16": ("F16", ["PKF16", "PKF16", "F16"], set()),
    "v_dot2_bf16_bf16": ("BF16", ["PKBF16", "PKBF16", "BF16"], set()),
    "v_dot2_f32_bf16": ("F32", ["PKBF16", "PKBF16", "F32"], set()),
    "v_dot4_i32_iu8": ("B32", ["B32", "B32", "B32"], set()),
    "v_dot8_i32_iu4": ("B32", ["B32", "B32", "B32"], set()),
    "v_wmma_f32_16x16x16_f16": (FLOATS8, [HALVES8, HALVES8, FLOATS8], {"WMMA"}),
    "v_wmma_f32_16x16x16_bf16": (FLOATS8, [HALVES8, HALVES8, FLOATS8], {"WMMA"}),
    "v_wmma_f16_16x16x16_f16": ("PKF16.x(8)", [HALVES8, HALVES8, "PKF16.x(8)"], {"WMMA", "OP_SEL"}),
    "v_wmma_bf16_16x16x16_bf16": ("PKBF16.x(8)", [HALVES8, HALVES8, "PKBF16.x(8)"], {"WMMA", "OP_SEL"}),
    "v_wmma_i32_16x16x16_iu8": (INTEGERS8, ["B32.x(4)", "B32.x(4)", INTEGERS8], {"WMMA"}),
    "v_wmma_i32_16x16x16_iu4": (INTEGERS8, ["B64", "B64", INTEGERS8], {"WMMA"}),
    "v_cvt_f32_fp8_ocp": ("F32", ["B32"], {"BYTES"}),
    "v_cvt_f32_bf8_ocp": ("F32", ["B32"], {"BYTES"}),
    "v_cvt_pk_fp8_f32_ocp": ("B32", ["F32", "F32"], {"OP_SEL"}),
    "v_cvt_pk_bf8_f32_ocp": ("B32", ["F32", "F32"], {"OP_SEL"}),
    "v_cvt_sr_fp8_f32_ocp": ("B32", ["F32", "B32"], {"BYTES"}),
    "v_cvt_sr_bf8_f32_ocp": ("B32", ["F32", "B32"], {"BYTES"}),
    "v_pk_min_num_f16": ("PKF16", ["PKF16", "PKF16"], set()),
    "v_pk_max_num_f16": ("PKF16", ["PKF16", "PKF16"], set()),
    "v_pk_minimum_f16": ("PKF16", ["PKF16", "PKF16"], set()),
    "v_pk_maximum_f16": ("PKF16", ["PKF16", "PKF16"], set()),
}
# Matrices of which one lane has an element: sum, factors.
ONCE = {
    "v_wmma_f32_16x16x16_f16_once": (FLOATS8, "F16.x(4)", "F16.x(4)"),
    "v_wmma_f32_16x16x16_bf16_once": (FLOATS8, "F16.x(4)", "F16.x(4)"),
    "v_wmma_f16_16x16x16_f16_once": ("PKF16.x(4)", "F16.x(4)", "F16.x(4)"),
    "v_wmma_bf16_16x16x16_bf16_once": ("PKBF16.x(4)", "F16.x(4)", "F16.x(4)"),
    "v_wmma_i32_16x16x16_iu8_once": (INTEGERS8, "B64", "B64"),
    "v_wmma_i32_16x16x16_iu4_once": (INTEGERS8, "B32", "B32"),
    "v_wmma_i32_16x16x32_iu4": (INTEGERS8, "B64", "B64"),
} | {f"v_wmma_f32_16x16x16_{a}_{b}": (FLOATS8, "B64", "B64") for a in ("fp8", "bf8") for b in ("fp8", "bf8")}
TYPES |= {name: (sum_, [a, b, sum_], {"WMMA", "SPREAD"}) for name, (sum_, a, b) in ONCE.items()}
SPARSE = {
    "v_swmmac_f32_16x16x32_f16": (FLOATS8, "F16.x(4)", HALVES8),
    "v_swmmac_f32_16x16x32_bf16": (FLOATS8, "F16.x(4)", HALVES8),
    "v_swmmac_f16_16x16x32_f16": ("PKF16.x(4)", "F16.x(4)", HALVES8),
    "v_swmmac_bf16_16x16x32_bf16": ("PKBF16.x(4)", "F16.x(4)", HALVES8),
    "v_swmmac_i32_16x16x32_iu8": (INTEGERS8, "B64", "B32.x(4)"),
    "v_swmmac_i32_16x16x32_iu4": (INTEGERS8, "B32", "B64"),
    "v_swmmac_i32_16x16x64_iu4": (INTEGERS8, "B64", "B32.x(4)"),
} | {f"v_swmmac_f32_16x16x32_{a}_{b}": (FLOATS8, "B64", "B32.x(4)") for a in ("fp8", "bf8") for b in ("fp8", "bf8")}
TYPES |= {name: (sum_, [a, b, "B32"], {"SPARSE", "SPREAD"}) for name, (sum_, a, b) in SPARSE.items()}
# A register of A has eight elements, whose indices have 16 bits.
for name in ("v_swmmac_i32_16x16x32_iu4", "v_swmmac_i32_16x16x64_iu4"):
    TYPES[name][2].add("LONG_INDEX")
