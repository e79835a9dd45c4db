# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of VOP3P: packed operations, mixed precision and sums of products."""

from vector import Dealer

TWO16 = "v_pk_mul_lo_u16 v_pk_add_i16 v_pk_sub_i16 v_pk_lshlrev_b16 v_pk_lshrrev_b16 v_pk_ashrrev_i16 v_pk_max_i16 "
TWO16 += "v_pk_min_i16 v_pk_add_u16 v_pk_sub_u16 v_pk_max_u16 v_pk_min_u16 v_pk_add_f16 v_pk_mul_f16 v_pk_min_f16 v_pk_max_f16"
THREE16 = "v_pk_mad_i16 v_pk_mad_u16 v_pk_fma_f16"
DOT = "v_dot2_f32_f16 v_dot2_i32_i16 v_dot2_u32_u16 v_dot4_i32_i8 v_dot4_u32_u8 v_dot8_i32_i4 v_dot8_u32_u4"
MIX = "v_fma_mix_f32 v_fma_mixlo_f16 v_fma_mixhi_f16"


def bits(deal, count, name):
    return "[" + ",".join(str(deal.next(name, [1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0])) for _ in range(count)) + "]"


def candidates():
    """All lines."""
    deal = Dealer()
    out = []
    for names, count in ((TWO16, 2), (THREE16, 3), (DOT, 3), (MIX, 3)):
        for op in names.split():
            regs = ["v4", "v10", "v16"][:count]
            out += [f"{op} v40, {', '.join(regs)}", f"{op} v40, {', '.join(['s8'] + regs[1:])}", f"{op} v4, {', '.join(regs)}"]
            out += [f"{op} v40, {', '.join(regs)} clamp"]
            for constant in ("1.0", "-4", "17"):
                for at in range(count):
                    operands = [constant if index == at else reg for index, reg in enumerate(regs)]
                    out.append(f"{op} v40, {', '.join(operands)} op_sel_hi:{bits(deal, count, 'hi')}")
            for _ in range(4):
                sel, hi = bits(deal, count, "sel"), bits(deal, count, "hi")
                clamp = deal.next("clamp", ["", " clamp", ""])
                if op in MIX:
                    signs = [deal.next("sign", ["{}", "-{}", "|{}|", "-|{}|", "{}"]).format(reg) for reg in regs]
                    out.append(f"{op} v40, {', '.join(signs)} op_sel:{sel} op_sel_hi:{hi}{clamp}")
                    continue
                neg = ""
                if "f16" in op:
                    neg = f" neg_lo:{bits(deal, count, 'neg')} neg_hi:{bits(deal, count, 'neg')}"
                if "dot2" in op or op not in DOT:
                    out.append(f"{op} v40, {', '.join(regs)} op_sel:{sel} op_sel_hi:{hi}{neg}{clamp}")
    for op, count in (("v_pk_fma_f32", 3), ("v_pk_mul_f32", 2), ("v_pk_add_f32", 2), ("v_pk_mov_b32", 2)):
        regs = ["v[4:5]", "v[10:11]", "v[16:17]"][:count]
        out += [f"{op} v[40:41], {', '.join(regs)}", f"{op} v[40:41], {', '.join(['s[8:9]'] + regs[1:])}"]
        out += [f"{op} v[40:41], {', '.join(regs)} clamp", f"{op} v[4:5], {', '.join(regs)}"]
        for constant in ("1.0", "-4"):
            out.append(f"{op} v[40:41], {', '.join([constant] + regs[1:])} op_sel_hi:{bits(deal, count, 'hi')}")
        for _ in range(4):
            neg = "" if "mov" in op else f" neg_lo:{bits(deal, count, 'neg')} neg_hi:{bits(deal, count, 'neg')}"
            tail = f"op_sel:{bits(deal, count, 'sel')} op_sel_hi:{bits(deal, count, 'hi')}{neg}"
            out.append(f"{op} v[40:41], {', '.join(regs)} {tail}")
    return out
