# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of scalar arithmetic."""

W32 = "s_add_u32 s_sub_u32 s_add_i32 s_sub_i32 s_addc_u32 s_subb_u32 s_min_i32 s_min_u32 s_max_i32 s_max_u32 "
W32 += "s_cselect_b32 s_and_b32 s_or_b32 s_xor_b32 s_andn2_b32 s_orn2_b32 s_nand_b32 s_nor_b32 s_xnor_b32 s_lshl_b32 "
W32 += "s_lshr_b32 s_ashr_i32 s_bfm_b32 s_mul_i32 s_bfe_u32 s_bfe_i32 s_absdiff_i32 s_mul_hi_u32 s_mul_hi_i32 "
W32 += "s_lshl1_add_u32 s_lshl2_add_u32 s_lshl3_add_u32 s_lshl4_add_u32 s_pack_ll_b32_b16 s_pack_lh_b32_b16 "
W32 += "s_pack_hh_b32_b16"
W64 = "s_cselect_b64 s_and_b64 s_or_b64 s_xor_b64 s_andn2_b64 s_orn2_b64 s_nand_b64 s_nor_b64 s_xnor_b64"
SHIFT64 = "s_lshl_b64 s_lshr_b64 s_ashr_i64 s_bfe_u64 s_bfe_i64"
ONE32 = "s_mov_b32 s_cmov_b32 s_not_b32 s_wqm_b32 s_brev_b32 s_bcnt0_i32_b32 s_bcnt1_i32_b32 s_ff0_i32_b32 s_ff1_i32_b32 "
ONE32 += "s_flbit_i32_b32 s_flbit_i32 s_sext_i32_i8 s_sext_i32_i16 s_bitset0_b32 s_bitset1_b32 s_quadmask_b32 s_abs_i32"
ONE64 = "s_mov_b64 s_cmov_b64 s_not_b64 s_wqm_b64 s_brev_b64 s_quadmask_b64"
NARROWING = "s_bcnt0_i32_b64 s_bcnt1_i32_b64 s_ff0_i32_b64 s_ff1_i32_b64 s_flbit_i32_b64 s_flbit_i32_i64"
SAVEEXEC = " ".join(
    f"s_{what}_saveexec_b64" for what in "and or xor andn2 orn2 nand nor xnor andn1 orn1".split()
) + " s_andn1_wrexec_b64 s_andn2_wrexec_b64"
COMPARE32 = " ".join(f"s_cmp_{test}_{ty}" for test in "eq lg gt ge lt le".split() for ty in ("i32", "u32"))
COMPARE32 += " s_bitcmp0_b32 s_bitcmp1_b32"
COMPAREK = " ".join(f"s_cmpk_{test}_{ty}" for test in "eq lg gt ge lt le".split() for ty in ("i32", "u32"))


def candidates():
    """All lines."""
    out = []
    for op in W32.split():
        out += [f"{op} s20, s8, s9", f"{op} s20, s8, 33", f"{op} s20, -7, s9", f"{op} s8, s8, s8", f"{op} s20, 0x12345678, s9"]
        out += [f"{op} vcc_lo, s8, vcc_hi", f"{op} s20, s8, 0x80000000", f"{op} exec_hi, s8, s9", f"{op} s20, src_scc, s9"]
    for op in W64.split():
        out += [f"{op} s[20:21], s[8:9], s[10:11]", f"{op} s[20:21], s[8:9], -1", f"{op} vcc, exec, vcc", f"{op} exec, s[8:9], exec"]
        out += [f"{op} s[20:21], 1.0, s[10:11]", f"{op} s[8:9], s[8:9], s[8:9]"]
    for op in SHIFT64.split():
        out += [f"{op} s[20:21], s[8:9], s10", f"{op} s[20:21], s[8:9], 37", f"{op} s[20:21], -2, s10", f"{op} vcc, exec, s10"]
        out += [f"{op} s[20:21], s[8:9], 0x100010", f"{op} s[20:21], s[8:9], 0x400000"]
    out += ["s_bfm_b64 s[20:21], s8, s9", "s_bfm_b64 s[20:21], 40, 20", "s_bfm_b64 vcc, s8, 3"]
    for op in ONE32.split():
        out += [f"{op} s20, s8", f"{op} s20, -5", f"{op} s20, 0x8000ff7f", f"{op} vcc_hi, s8", f"{op} s8, s8", f"{op} s20, 0", f"{op} s20, -1"]
    for op in ONE64.split():
        out += [f"{op} s[20:21], s[8:9]", f"{op} s[20:21], -5", f"{op} vcc, exec", f"{op} exec, s[8:9]", f"{op} s[20:21], 0"]
    for op in NARROWING.split():
        out += [f"{op} s20, s[8:9]", f"{op} s20, exec", f"{op} s20, vcc", f"{op} s20, -1", f"{op} s20, 0"]
    out += ["s_bitset0_b64 s[20:21], s8", "s_bitset1_b64 s[20:21], s8", "s_bitset1_b64 s[20:21], 63"]
    out += ["s_bitreplicate_b64_b32 s[20:21], s8", "s_bitreplicate_b64_b32 vcc, s8"]
    for op in SAVEEXEC.split():
        out += [f"{op} s[20:21], s[8:9]", f"{op} s[8:9], s[8:9]", f"{op} vcc, vcc", f"{op} s[20:21], -1", f"{op} s[20:21], exec"]
    for op in COMPARE32.split():
        out += [f"{op} s8, s9", f"{op} s8, 20", f"{op} -3, s9", f"{op} s8, s8", f"{op} s8, 0x7fffffff", f"{op} vcc_lo, exec_lo"]
    for op in "s_cmp_eq_u64 s_cmp_lg_u64".split():
        out += [f"{op} s[8:9], s[10:11]", f"{op} s[8:9], 0", f"{op} exec, vcc", f"{op} s[8:9], s[8:9]"]
    for op in "s_bitcmp0_b64 s_bitcmp1_b64".split():
        out += [f"{op} s[8:9], s10", f"{op} s[8:9], 40", f"{op} exec, s10"]
    for op in COMPAREK.split():
        constants = (0, 20, 0x7FFF, 0xFFFF if op.endswith("u32") else -1, 0x8000 if op.endswith("u32") else -0x8000)
        out += [f"{op} s8, {constant}" for constant in constants]
    for op in "s_movk_i32 s_cmovk_i32 s_addk_i32 s_mulk_i32".split():
        out += [f"{op} s8, {constant}" for constant in (0, 1, 0x7FFF, -1, -0x8000)]
    out += ["s_movrels_b32 s20, s8", "s_movrels_b64 s[20:21], s[8:9]", "s_movreld_b32 s20, s8", "s_movreld_b64 s[20:21], s[8:9]"]
    out += ["s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 5", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 11"]
    out += ["s_setreg_b32 hwreg(HW_REG_MODE, 0, 10), s8", "s_setreg_b32 hwreg(HW_REG_MODE, 2, 2), s8"]
    out += ["s_getreg_b32 s20, hwreg(HW_REG_MODE)", "s_getreg_b32 s20, hwreg(HW_REG_MODE, 4, 4)"]
    out += ["s_getreg_b32 s20, hwreg(HW_REG_STATUS, 0, 1)", "s_set_gpr_idx_off", "s_set_gpr_idx_mode gpr_idx(SRC0,DST)"]
    out += ["s_set_gpr_idx_on s8, gpr_idx(SRC0,SRC1)", "s_set_gpr_idx_on s8, gpr_idx(DST)", "s_set_gpr_idx_idx s8"]
    for op in "s_nop 3|s_waitcnt vmcnt(0)|s_setprio 2|s_icache_inv|s_incperflevel 1|s_decperflevel 1|s_wakeup|s_dcache_inv|s_dcache_wb|s_ttracedata|s_sethalt 0|s_trap 3|s_sendmsg sendmsg(MSG_INTERRUPT)|buffer_inv sc1|buffer_wbl2 sc1|buffer_wbinvl1|buffer_wbinvl1_vol|s_dcache_inv_vol|s_dcache_wb_vol".split("|"):
        out.append(op)
    return out
