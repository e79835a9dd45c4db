# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of vector arithmetic: every mnemonic in every encoding, with modifiers dealt out in turn."""

# Destination and sources: width in registers, `f` if a sign modifier is allowed, `h` the same in half a register.
ONE = {
    "i1 i1": "v_mov_b32 v_not_b32 v_bfrev_b32 v_ffbh_u32 v_ffbl_b32 v_ffbh_i32 v_cvt_f32_i32 v_cvt_f32_u32 "
    "v_cvt_off_f32_i4 v_cvt_f32_ubyte0 v_cvt_f32_ubyte1 v_cvt_f32_ubyte2 v_cvt_f32_ubyte3 v_cvt_f16_u16 v_cvt_f16_i16 "
    "v_sat_pk_u8_i16 v_cvt_f32_fp8 v_cvt_f32_bf8",
    "i2 i1": "v_cvt_f64_i32 v_cvt_f64_u32 v_cvt_pk_f32_fp8 v_cvt_pk_f32_bf8",
    "i2 i2": "v_mov_b64",
    "i1 f1": "v_cvt_u32_f32 v_cvt_i32_f32 v_cvt_f16_f32 v_cvt_rpi_i32_f32 v_cvt_flr_i32_f32 v_fract_f32 v_trunc_f32 "
    "v_ceil_f32 v_rndne_f32 v_floor_f32 v_exp_f32 v_log_f32 v_rcp_f32 v_rcp_iflag_f32 v_rsq_f32 v_sqrt_f32 v_sin_f32 "
    "v_cos_f32 v_frexp_exp_i32_f32 v_frexp_mant_f32 v_exp_legacy_f32 v_log_legacy_f32",
    "i1 h1": "v_cvt_f32_f16 v_cvt_u16_f16 v_cvt_i16_f16 v_rcp_f16 v_sqrt_f16 v_rsq_f16 v_log_f16 v_exp_f16 "
    "v_frexp_mant_f16 v_frexp_exp_i16_f16 v_floor_f16 v_ceil_f16 v_trunc_f16 v_rndne_f16 v_fract_f16 v_sin_f16 "
    "v_cos_f16 v_cvt_norm_i16_f16 v_cvt_norm_u16_f16",
    "i2 f1": "v_cvt_f64_f32",
    "i1 f2": "v_cvt_i32_f64 v_cvt_u32_f64 v_cvt_f32_f64 v_frexp_exp_i32_f64",
    "i2 f2": "v_trunc_f64 v_ceil_f64 v_rndne_f64 v_floor_f64 v_rcp_f64 v_rsq_f64 v_sqrt_f64 v_frexp_mant_f64 "
    "v_fract_f64",
}
TWO = {
    "i1 f1 f1": "v_add_f32 v_sub_f32 v_subrev_f32 v_mul_f32 v_min_f32 v_max_f32 v_fmac_f32 v_mul_legacy_f32 "
    "v_cvt_pknorm_i16_f32 v_cvt_pknorm_u16_f32 v_cvt_pkrtz_f16_f32 v_cvt_pk_fp8_f32 v_cvt_pk_bf8_f32",
    "i1 h1 h1": "v_add_f16 v_sub_f16 v_subrev_f16 v_mul_f16 v_mac_f16 v_max_f16 v_min_f16 v_cvt_pknorm_i16_f16 "
    "v_cvt_pknorm_u16_f16 v_pack_b32_f16",
    "i2 f2 f2": "v_add_f64 v_mul_f64 v_min_f64 v_max_f64 v_fmac_f64",
    "i1 i1 i1": "v_mul_i32_i24 v_mul_hi_i32_i24 v_mul_u32_u24 v_mul_hi_u32_u24 v_min_i32 v_max_i32 v_min_u32 v_max_u32 "
    "v_lshrrev_b32 v_ashrrev_i32 v_lshlrev_b32 v_and_b32 v_or_b32 v_xor_b32 v_xnor_b32 v_add_u16 v_sub_u16 "
    "v_subrev_u16 v_mul_lo_u16 v_lshlrev_b16 v_lshrrev_b16 v_ashrrev_i16 v_max_u16 v_max_i16 v_min_u16 v_min_i16 "
    "v_add_u32 v_sub_u32 v_subrev_u32 v_mul_lo_u32 v_mul_hi_u32 v_mul_hi_i32 v_bcnt_u32_b32 v_mbcnt_lo_u32_b32 "
    "v_mbcnt_hi_u32_b32 v_bfm_b32 v_cvt_pk_u16_u32 v_cvt_pk_i16_i32 v_add_i32 v_sub_i32 v_add_i16 v_sub_i16 "
    "v_dot2c_f32_f16 v_dot2c_i32_i16 v_dot4c_i32_i8 v_dot8c_i32_i4 v_pk_fmac_f16",
    "i1 f1 i1": "v_ldexp_f32 v_cvt_sr_fp8_f32 v_cvt_sr_bf8_f32 v_cvt_pkaccum_u8_f32",
    "i1 h1 i1": "v_ldexp_f16",
    "i2 f2 i1": "v_ldexp_f64 v_trig_preop_f64",
    "i2 i1 i2": "v_lshlrev_b64 v_lshrrev_b64 v_ashrrev_i64",
}
THREE = {
    "i1 i1 i1 i1": "v_mad_i32_i24 v_mad_u32_u24 v_bfe_u32 v_bfe_i32 v_bfi_b32 v_lerp_u8 v_alignbit_b32 v_alignbyte_b32 "
    "v_min3_i32 v_min3_u32 v_max3_i32 v_max3_u32 v_med3_i32 v_med3_u32 v_sad_u8 v_sad_hi_u8 v_sad_u16 v_sad_u32 "
    "v_msad_u8 v_mad_legacy_u16 v_mad_legacy_i16 v_perm_b32 v_mad_u32_u16 v_mad_i32_i16 v_xad_u32 v_min3_i16 "
    "v_min3_u16 v_max3_i16 v_max3_u16 v_med3_i16 v_med3_u16 v_lshl_add_u32 v_add_lshl_u32 v_add3_u32 v_lshl_or_b32 "
    "v_and_or_b32 v_or3_b32 v_mad_u16 v_mad_i16",
    "i1 f1 f1 f1": "v_fma_f32 v_min3_f32 v_max3_f32 v_med3_f32 v_div_fixup_f32 v_cubeid_f32 v_cubesc_f32 v_cubetc_f32 "
    "v_cubema_f32 v_div_fmas_f32",
    "i1 f1 i1 i1": "v_cvt_pk_u8_f32",
    "i1 h1 h1 h1": "v_mad_legacy_f16 v_fma_legacy_f16 v_div_fixup_legacy_f16 v_min3_f16 v_max3_f16 v_med3_f16 v_mad_f16 "
    "v_fma_f16 v_div_fixup_f16",
    "i2 f2 f2 f2": "v_fma_f64 v_div_fixup_f64 v_div_fmas_f64",
    "i2 i2 i1 i2": "v_lshl_add_u64 v_qsad_pk_u16_u8 v_mqsad_pk_u16_u8",
    "i4 i2 i1 i4": "v_mqsad_u32_u8",
}
COMPARES = [
    f"v_cmp{x}_{test}_{ty}"
    for x in ("", "x")
    for tests, types in (
        ("f lt eq le gt lg ge o u nge nlg ngt nle neq nlt tru", "f16 f32 f64"),
        ("f lt eq le gt ne ge t", "i16 u16 i32 u32 i64 u64"),
    )
    for test in tests.split()
    for ty in types.split()
] + [f"v_cmp{x}_class_{ty}" for x in ("", "x") for ty in ("f16", "f32", "f64")]

DPP = [
    "quad_perm:[3,0,2,1] row_mask:0xf bank_mask:0xf",
    "row_shl:3 row_mask:0xf bank_mask:0xf",
    "row_shr:1 row_mask:0xb bank_mask:0xf bound_ctrl:0",
    "row_ror:5 row_mask:0xf bank_mask:0xd",
    "wave_shl:1 row_mask:0xf bank_mask:0xf",
    "wave_rol:1 row_mask:0xf bank_mask:0xf",
    "wave_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
    "wave_ror:1 row_mask:0x7 bank_mask:0xf",
    "row_mirror row_mask:0xf bank_mask:0xf",
    "row_half_mirror row_mask:0xf bank_mask:0xe",
    "row_bcast:15 row_mask:0xa bank_mask:0xf",
    "row_bcast:31 row_mask:0xc bank_mask:0xf",
    "row_newbcast:7 row_mask:0xf bank_mask:0xf",
]
SATURATING = "add sub subrev mad sad msad qsad mqsad dot2c dot4c dot8c min med3".split()
SELECT = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"]
UNUSED = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"]
INTEGER_CONSTANTS = ["5", "-7", "63", "0x12345678", "0"]
FLOAT_CONSTANTS = ["1.0", "-2.0", "0.5", "0.15915494309189532", "4.0", "-3", "0x40490fdb"]


def vgpr(first, width):
    return f"v{first}" if width == 1 else f"v[{first}:{first + width - 1}]"


def sgpr(first, width):
    return f"s{first}" if width == 1 else f"s[{first}:{first + width - 1}]"


class Dealer:
    """Deals the members of lists out in turn, so that every one is used somewhere."""

    def __init__(self):
        self.turns = {}

    def next(self, name, choices):
        turn = self.turns.get(name, 0)
        self.turns[name] = turn + 1
        return choices[turn % len(choices)]


def signed(kind, text, how):
    if kind == "i":
        return text
    return {"": text, "-": f"-{text}", "||": f"|{text}|", "-||": f"-|{text}|"}[how]


def lines(name, signature, deal, compare=False):
    """Candidate lines of one mnemonic."""
    dst, *src = [(part[0], int(part[1])) for part in signature.split()]
    half = name.endswith(("16", "_b16")) or "f16" in name
    d = "vcc" if compare else vgpr(40, dst[1])
    d64 = "s[20:21]" if compare else d
    regs = [vgpr(4 + 6 * at, width) for at, (_, width) in enumerate(src)]
    out = []

    def add(suffix, *operands, tail=""):
        out.append(f"{name}{suffix} {', '.join(operands)} {tail}".strip())

    # The 32-bit form: registers, then a scalar or a constant first.
    add("_e32", d, *regs)
    constants = FLOAT_CONSTANTS if src[0][0] in "fh" else INTEGER_CONSTANTS
    scalar = deal.next("scalar", [sgpr(8, src[0][1]), deal.next("constant", constants)])
    add("_e32", d, scalar, *regs[1:])
    # The 64-bit form.
    for suffix in ("_e64", ""):
        add(suffix, d64, *regs)
        at = deal.next("place", range(len(src)))
        other = deal.next("other", [sgpr(8, src[at][1]), "1.0" if src[at][0] in "fh" else "33", "-1"])
        add(suffix, d64, *[other if index == at else reg for index, reg in enumerate(regs)])
        if any(kind in "fh" for kind, _ in src):
            for _ in range(2):
                operands = [
                    signed(kind, reg, deal.next("sign", ["-", "||", "", "-||", "-"]))
                    for (kind, _), reg in zip(src, regs)
                ]
                tail = deal.next("tail", ["", "clamp", "mul:2", "div:2", "mul:4 clamp"])
                tail = "" if "clamp" in tail and name.startswith(("v_cvt_pk", "v_pack", "v_cvt_sr")) else tail
                add(suffix, d64, *operands, tail="" if compare else tail)
        if not compare:
            if src[0][0] in "fh" and "cvt_pk" not in name and "pack" not in name or name.split("_")[1] in SATURATING or "mul_i32" in name or "mul_u32" in name:
                add(suffix, d64, *regs, tail="clamp")
            add(suffix, d64, *regs, tail="mul:4")
            if half or "pk" in name or "sr" in name:
                for _ in range(2):
                    bits = [deal.next("op_sel", [1, 0, 0, 1, 1, 0, 1]) for _ in range(len(src) + 1)]
                    add(suffix, d64, *regs, tail=f"op_sel:[{','.join(map(str, bits))}]")
    # Lanes exchanged.
    for _ in range(2):
        operands = [
            signed(kind, reg, deal.next("sign", ["-", "||", "", "-||", "", ""])) for (kind, _), reg in zip(src, regs)
        ]
        add("_dpp", d, *operands, tail=deal.next("dpp", DPP))
    add("_dpp", d, *regs, tail="row_newbcast:9 row_mask:0xf bank_mask:0xf")
    # Parts of registers.
    for round in range(2):
        names = []
        tail = []
        if not compare:
            tail = [f"dst_sel:{deal.next('dst_sel', SELECT)}", f"dst_unused:{deal.next('unused', UNUSED)}"]
        for at, ((kind, _), reg) in enumerate(zip(src, regs)):
            tail.append(f"src{at}_sel:{deal.next('src_sel', SELECT)}")
            sign = deal.next("sdwa", ["", "-", "||", "sext"])
            if kind == "i":
                names.append(f"sext({reg})" if sign == "sext" else reg)
            else:
                names.append(signed(kind, reg, "" if sign == "sext" else sign))
        if len(names) == 2 and round == 1:
            names[1] = "s9"
        extra = [] if compare else deal.next("sdwa_out", [["clamp"], [], ["mul:2"], []])
        if src[0][0] == "i" and name.split("_")[1] not in ("add", "sub", "subrev"):
            extra = []
        for more in ([], extra):
            add("_sdwa", "s[24:25]" if compare and round else d, *names, tail=" ".join(more + tail))
    return out


def candidates():
    """All lines."""
    deal = Dealer()
    out = []
    for table in (ONE, TWO, THREE):
        for signature, names in table.items():
            for name in names.split():
                out += lines(name, signature, deal)
    for name in COMPARES:
        ty = name.rsplit("_", 1)[1]
        width = "2" if ty.endswith("64") else "1"
        kind = {"f": "f", "i": "i", "u": "i"}[ty[0]]
        kind = "h" if ty == "f16" else kind
        second = "i1" if "class" in name else kind + width
        out += lines(name, f"i1 {kind}{width} {second}", deal, compare=True)
    out += special()
    return out


def special():
    """Carries, masks, literals in the middle, lanes by number, and other special forms."""
    out = []
    for name in ("add", "sub", "subrev"):
        op = f"v_{name}_co_u32"
        out += [f"{op}_e32 v40, vcc, v4, v10", f"{op}_e32 v40, vcc, s8, v10", f"{op}_e64 v40, s[20:21], v4, v10"]
        out += [f"{op}_e64 v40, s[20:21], v4, v10 clamp", f"{op}_e64 v40, vcc, s8, v10"]
        out += [f"{op}_dpp v40, vcc, v4, v10 row_shr:1 row_mask:0xf bank_mask:0xf"]
        out += [f"{op}_sdwa v40, vcc, v4, v10 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_2"]
    for name in ("addc", "subb", "subbrev"):
        op = f"v_{name}_co_u32"
        out += [f"{op}_e32 v40, vcc, v4, v10, vcc", f"{op}_e64 v40, s[20:21], v4, v10, s[22:23]"]
        out += [f"{op}_e64 v40, s[20:21], v4, v10, s[22:23] clamp", f"{op}_e64 v40, vcc, s8, v10, vcc"]
        out += [f"{op}_dpp v40, vcc, v4, v10, vcc row_ror:3 row_mask:0xf bank_mask:0xf"]
        out += [f"{op}_sdwa v40, vcc, v4, v10, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD"]
    for name in ("u64_u32", "i64_i32"):
        out += [f"v_mad_{name} v[40:41], s[20:21], v4, v10, v[16:17]", f"v_mad_{name} v[40:41], vcc, v4, s8, -1"]
        out += [f"v_mad_{name} v[40:41], vcc, v4, v10, v[16:17] clamp"]
    for ty, regs in (("f32", ("v40", "v4", "v10", "v16")), ("f64", ("v[40:41]", "v[4:5]", "v[10:11]", "v[16:17]"))):
        d, a, b, c = regs
        for first in (b, c):
            out += [f"v_div_scale_{ty} {d}, vcc, {first}, {b}, {c}", f"v_div_scale_{ty} {d}, s[20:21], {first}, {b}, {c}"]
        out += [f"v_div_scale_{ty} {d}, vcc, {b}, {b}, 1.0", f"v_div_scale_{ty} {d}, vcc, 1.0, {b}, 1.0"]
    out += ["v_cndmask_b32_e32 v40, v4, v10, vcc", "v_cndmask_b32_e32 v40, s8, v10, vcc"]
    out += ["v_cndmask_b32_e64 v40, v4, v10, s[22:23]", "v_cndmask_b32_e64 v40, -v4, |v10|, s[22:23]"]
    out += ["v_cndmask_b32_e64 v40, 0, 1, vcc", "v_cndmask_b32_e64 v40, 1.0, -v10, s[22:23]"]
    out += ["v_cndmask_b32_dpp v40, v4, v10, vcc row_mirror row_mask:0xf bank_mask:0xf"]
    out += [
        "v_cndmask_b32_sdwa v40, v4, v10, vcc dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0",
        "v_cndmask_b32_sdwa v40, v4, v10, vcc dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD",
    ]
    for ty, literal in (("f32", "0x40490fdb"), ("f16", "0x4248")):
        kind = "fma" if ty == "f32" else "mad"
        out += [f"v_{kind}mk_{ty} v40, v4, {literal}, v10", f"v_{kind}mk_{ty} v40, s8, {literal}, v10"]
        out += [f"v_{kind}ak_{ty} v40, v4, v10, {literal}", f"v_{kind}ak_{ty} v40, -1.0, v10, {literal}"]
    out += ["v_readfirstlane_b32 s20, v4", "v_readlane_b32 s20, v4, s8", "v_readlane_b32 s20, v4, 63"]
    out += ["v_readlane_b32 vcc_lo, v4, m0", "v_readlane_b32 s20, v4, 0"]
    out += ["v_writelane_b32 v40, s8, s9", "v_writelane_b32 v40, -5, 17", "v_writelane_b32 v40, s8, m0"]
    out += ["v_swap_b32 v40, v4", "v_swap_b32 v4, v4", "v_nop", "v_clrexcp"]
    out += ["v_accvgpr_read_b32 v40, a5", "v_accvgpr_write_b32 a40, v4", "v_accvgpr_write_b32 a40, 1.0"]
    out += ["v_accvgpr_write_b32 a40, s8", "v_accvgpr_mov_b32 a40, a5"]
    # A destination that is a source as well.
    out += ["v_add_f32_e32 v4, v4, v4", "v_mul_f64 v[4:5], v[4:5], v[4:5]", "v_lshlrev_b64 v[4:5], v4, v[4:5]"]
    out += ["v_mad_u64_u32 v[4:5], vcc, v4, v5, v[4:5]", "v_add_u32_dpp v4, v4, v4 row_shr:1 row_mask:0xf bank_mask:0xf"]
    return out
