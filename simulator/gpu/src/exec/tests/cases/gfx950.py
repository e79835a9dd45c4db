# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of instructions that gfx950 has and gfx942 lacks, or does otherwise. LLVM 19 does not know this part."""

import matrix
import vector

GPU = "gfx950"
MC = "llvm-mc-22"

REGISTERS = {"fp6": 6, "bf6": 6, "f32": 32, "f16": 16, "bf16": 16}
NARROW = ("fp8", "bf8", "fp4")
# To a narrow format of two elements, from one, and of 32.
PAIRS = [f"pk_{to}_{of}" for to in NARROW for of in ("f32", "f16", "bf16")]
WIDENED = [f"pk_{to}_{of}" for to in ("f32", "f16", "bf16") for of in NARROW]
WIDENED += [f"{to}_{of}" for to in ("f32", "f16") for of in ("fp8", "bf8")]
MANY = [f"2xpk16_{to}_f32" for to in ("fp6", "bf6")]
MANY += [f"pk32_{to}_{of}" for to in ("fp6", "bf6") for of in ("f16", "bf16")]
MANY += [f"pk32_{to}_{of}" for to in ("f32", "f16", "bf16") for of in ("fp6", "bf6")]


def halves(count, used):
    """Selections of halves; only some of them are `used`."""
    masks = [mask for mask in range(1, 1 << count) if mask & ~used == 0]
    return [""] + [" op_sel:[" + ",".join(str(mask >> at & 1) for at in range(count)) + "]" for mask in masks]


def conversions():
    regs, out = matrix.regs, []
    for name in PAIRS:
        op = f"v_cvt_scalef32_{name}"
        of = name.rsplit("_", 1)[1]
        sources = "v4, v10" if of == "f32" else "v4"
        count = 4 if of == "f32" or "fp4" in name else 3
        used = 0b1100 if "fp4" in name else 1 << count - 1
        out += [f"{op} v40, {sources}, v16{tail}" for tail in halves(count, used)]
        out += [f"{op} v40, {sources}, {scale}" for scale in ("s8", "2.0", "v4")]
        if of == "f32":
            out += [f"{op} v40, {a}, v16" for a in ("-v4, |v10|", "-|v4|, s8", "1.0, v10")]
    for name in WIDENED:
        op = f"v_cvt_scalef32_{name}"
        dst = "v[40:41]" if "pk_f32" in name else "v40"
        used = 0b001 if "8" in name.rsplit("_", 1)[1] and "pk" in name else 0b011
        used |= 0b100 if name.startswith("f16_") else 0
        out += [f"{op} {dst}, v4, v16{tail}" for tail in halves(3, used)]
        out += [f"{op} {dst}, v4, {scale}" for scale in ("s8", "0.5", "v4")] + [f"{op} {dst}, s9, v16"]
    for name in MANY:
        op = f"v_cvt_scalef32_{name}"
        to, of = name.split("_")[1:]
        sources = "v[0:15], v[16:31]" if "2xpk16" in name else regs(2, REGISTERS[of])
        for scale in ("v39", "s8", "1.0"):
            out.append(f"{op} {regs(40 if REGISTERS[to] < 24 else 32, REGISTERS[to])}, {sources}, {scale if scale != 'v39' or REGISTERS[to] < 24 else 'v20'}")
    return out


def vectors():
    out = []
    for table in (0, 1, 2, 4, 8, 16, 32, 64, 128, 202, 150, 255, 105):
        out += [f"v_bitop3_b32 v40, v4, v10, v16 bitop3:{table}", f"v_bitop3_b16 v40, v4, v10, v16 bitop3:{table}"]
    out += ["v_bitop3_b32 v40, s8, 1.0, v16 bitop3:0xca", "v_bitop3_b32 v4, v4, -3, s9 bitop3:0x96"]
    out += [f"v_bitop3_b16 v40, v4, v10, v16 bitop3:0xca{tail}" for tail in halves(4, 15)]
    for name in ("v_ashr_pk_i8_i32", "v_ashr_pk_u8_i32"):
        out += [f"{name} v40, {a}{tail}" for a in ("v4, v10, v16", "s4, v10, 7", "v4, v10, 24") for tail in halves(4, 8)]
    for name in ("v_cvt_pk_f16_f32", "v_cvt_pk_bf16_f32"):
        out += [f"{name} v40, {a}" for a in ("v4, v10", "-v4, v10", "v4, -|v10|", "s8, v10", "v4, 1.0", "|v4|, -3")]
    for name in ("v_minimum3_f32", "v_maximum3_f32"):
        for a in ("v4, v10, v16", "-v4, v10, |v16|", "v4, -|v10|, 1.0", "s8, v10, -3"):
            out += [f"{name} v40, {a}{tail}" for tail in ("", " clamp", " mul:2", " div:2")]
    for name in ("v_pk_minimum3_f16", "v_pk_maximum3_f16"):
        out += [f"{name} v40, {a}" for a in ("v4, v10, v16", "s8, v10, v16", "v4, 1.0, v16", "v4, v10, v16 clamp")]
        out += [f"{name} v40, v4, v10, v16{tail}" for tail in halves(3, 7)]
        out += [f"{name} v40, v4, v10, v16 op_sel_hi:[0,1,0] neg_lo:[1,0,1] neg_hi:[0,1,0]"]
    out += [f"v_dot2_f32_bf16 v40, {a}" for a in ("v4, v10, v16", "s8, v10, v16", "v4, v10, 1.0", "v4, v10, v4 clamp")]
    out += ["v_dot2_f32_bf16 v40, v4, v10, v16 neg_lo:[1,0,1]", "v_dot2_f32_bf16 v40, v4, v10, v16 neg_hi:[0,1,0] clamp"]
    out += ["v_dot2c_f32_bf16 v40, v4, v10", "v_dot2c_f32_bf16 v40, s8, v10", "v_dot2c_f32_bf16_e64 v40, v4, v10 clamp"]
    out += ["v_dot2c_f32_bf16_dpp v40, v4, v10 row_shl:1 row_mask:0x7 bank_mask:0xf"]
    for name in ("v_prng_b32", "v_cvt_f32_bf16"):
        out += [f"{name} v40, {a}" for a in ("v4", "s8")] + [f"{name}_e64 v40, s8"]
        out += [f"{name}_dpp v40, v4 {control} row_mask:0x7 bank_mask:0xf" for control in ("row_shl:1", "row_newbcast:3", "row_mirror bound_ctrl:0")]
        for selection in ("WORD_0", "WORD_1", "DWORD"):
            out.append(f"{name}_sdwa v40, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:{selection}")
    out += ["v_cvt_f32_bf16_e64 v40, -|v4|", "v_cvt_f32_bf16_e64 v40, -v4 clamp", "v_cvt_f32_bf16 v40, 1.0"]
    for name in ("v_permlane16_swap_b32", "v_permlane32_swap_b32"):
        out += [f"{name} v40, v4{tail}" for tail in ("", " fi:1", " bound_ctrl:1", " bound_ctrl:1 fi:1")]
    for name in ("v_cvt_f32_fp8", "v_cvt_f32_bf8"):
        out += [f"{name} v40, v4", f"{name} v40, s8"]
        out += [f"{name}_sdwa v40, v4 src0_sel:BYTE_{at}" for at in range(4)]
    for name in ("v_cvt_pk_f32_fp8", "v_cvt_pk_f32_bf8"):
        out += [f"{name} v[40:41], v4"] + [f"{name}_sdwa v[40:41], v4 src0_sel:WORD_{at}" for at in range(2)]
    for name in ("v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32"):
        out += [f"{name} v40, {a}{tail}" for a in ("v4, v10", "-v4, |v10|") for tail in halves(3, 4)]
    for name in ("v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32"):
        out += [f"{name} v40, {a}{tail}" for a in ("v4, v10", "-v4, v10") for tail in halves(4, 12)]
    return out


def products():
    regs, out = matrix.regs, []
    for side, results in ((16, 4), (32, 16)):
        a, b, c, d = regs(2, 4), regs(40, 4), regs(8, results), regs(80, results)
        deep = [f"f32_{side}x{side}x{512 // side}_f16", f"f32_{side}x{side}x{512 // side}_bf16", f"i32_{side}x{side}x{1024 // side}_i8"]
        short = [f"f32_{side}x{side}x{512 // side}_{x}_{y}" for x in ("fp8", "bf8") for y in ("fp8", "bf8")]
        for name in deep + short:
            op = f"v_mfma_{name}"
            if name in short:
                a, b = regs(2, 2), regs(40, 2)
            out += [f"{op} {d}, {a}, {b}, {c}", f"{op} {c}, {a}, {b}, {c}", f"{op} {d}, {a}, {b}, 0", f"{op} {d}, {a}, {b}, {c} blgp:3"]
            out += [f"{op} {regs(16, results, 'a')}, {a.replace('v', 'a')}, {b}, {regs(64, results, 'a')}"]
        sparse = [(f"f32_{side}x{side}x{1024 // side}_{ty}", 4) for ty in ("f16", "bf16")] + [(f"i32_{side}x{side}x{2048 // side}_i8", 4)]
        sparse += [(f"f32_{side}x{side}x{inner // side}_{x}_{y}", size) for inner, size in ((1024, 2), (2048, 4)) for x in ("fp8", "bf8") for y in ("fp8", "bf8")]
        for name, size in sparse:
            for tail in ("", " abid:1", " cbsz:1 abid:1"):
                out.append(f"v_smfmac_{name} {d}, {regs(2, size)}, {regs(40, 2 * size)}, v8{tail}")
        sizes = [8, 8, 6, 6, 4]
        name = f"f32_{side}x{side}x{2048 // side}_f8f6f4"
        for x, of_a in enumerate(sizes):
            for y, of_b in enumerate(sizes):
                tail = "".join(f" {key}:{value}" for key, value in (("cbsz", x), ("blgp", y)) if value)
                for sums in (regs(16, results), "1.0"):
                    factors = f"{d}, {regs(40, of_a)}, {regs(50, of_b)}, {sums}"
                    low = f"{x % 2},{y % 2}"
                    out.append(f"v_mfma_{name} {factors}{tail}")
                    out.append(f"v_mfma_scale_{name} {factors}, v3, v5 op_sel:[{low},0] op_sel_hi:[{y // 2 % 2},{x // 2 % 2},0]{tail}")
    return out


def memory():
    out = []
    for name in ("ds_read_b64_tr_b8", "ds_read_b64_tr_b16"):
        out += [f"{name} v[40:41], v4", f"{name} v[40:41], v4 offset:48"]
    for name in ("global_load_lds_dwordx3", "global_load_lds_dwordx4"):
        out += [f"{name} v[4:5], off", f"{name} v4, s[8:9] offset:16 sc0", f"{name} v[4:5], off offset:64 nt"]
    return out


def buffers():
    out = []
    for name, count in (("buffer_load_dwordx3", 3), ("buffer_load_dwordx4", 4)):
        for address in ("v4, s[8:11], 0 offen", "v4, s[8:11], s20 offen offset:16"):
            out += [f"{name} {address} lds", f"{name} {matrix.regs(40, count)}, {address}"]
    name = "buffer_atomic_pk_add_bf16"
    return out + [f"{name} v10, v4, s[8:11], 0 offen", f"{name} v10, v4, s[8:11], s20 offen offset:16 sc0"]


def candidates():
    """All lines."""
    return conversions() + vectors() + products() + memory() + buffers()
