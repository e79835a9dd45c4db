#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes gfx950.txt: what differs from gfx942.txt, and instructions of gfx950; and mnemonics.gfx950.txt, what its assembler
accepts beside the mnemonics of gfx942, with a plus, and what it lacks, with a minus.

A line is the words of one instruction in hexadecimal, a tab and the text, or `-` where the part has no such instruction. LLVM 19
does not know this part. Needs llvm-mc-22, llvm-objdump-22 and the library that they are linked with; LLVM_MC, LLVM_OBJDUMP and
LLVM_LIBRARY select others.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("LLVM_MC", "llvm-mc-22")
os.environ.setdefault("LLVM_LIBRARY", "/usr/lib/x86_64-linux-gnu/libLLVM.so.22.1")
FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER / "../../src/exec/tests/cases"))

import assembler  # noqa: E402
import mnemonics  # noqa: E402

OBJDUMP = os.environ.get("LLVM_OBJDUMP", "llvm-objdump-22")
GPU = "gfx950"
PLACE = 32
REGISTERS = {"fp6": 6, "bf6": 6, "f32": 32, "f16": 16, "bf16": 16}


def texts(rows, gpu=GPU):
    """LLVM's text of each instruction, or `-`. Each is at a multiple of 32 bytes, so that an invalid one does not affect the next."""
    nop = ["0xbf800000"] * (PLACE // 4)
    lines = [".long " + ",".join(["0x" + word for word in row.split()] + nop[len(row.split()) :]) for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        made = f"{folder}/rows.o"
        command = [os.environ["LLVM_MC"], "-triple=amdgcn-amd-amdhsa", f"-mcpu={gpu}", "-filetype=obj", "-o", made]
        subprocess.run(command, input="\n".join([".text", *lines, ""]), text=True, check=True)
        shown = subprocess.run([OBJDUMP, "-d", "--no-print-imm-hex", made], capture_output=True, text=True, check=True).stdout
    found = ["-"] * len(rows)
    for text, address in re.findall(r"^\t(.*?)\s*// ([0-9A-F]+): ", shown, re.M):
        index, rest = divmod(int(address, 16), PLACE)
        if rest == 0 and not text.startswith(".long") and "/*" not in text:
            found[index] = text
    return found


def registers(first, count, file="v"):
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def forms(line, tails):
    return [f"{line}{' ' if tail else ''}{tail}" for tail in tails]


def halves(count):
    """Selections of halves."""
    return [""] + [f"op_sel:[{','.join(str(mask >> at & 1) for at in range(count))}]" for mask in range(1, 1 << count)]


def scaled(name):
    """Conversions with a scale."""
    parts = name.removeprefix("v_cvt_scalef32_").split("_")
    to, of = parts[-2:]
    stochastic, many = "sr" in parts, "pk32" in parts or "2xpk16" in parts
    if many:
        sources = [16, 16, 1] if "2xpk16" in parts else [REGISTERS[of], 1, 1] if stochastic else [REGISTERS[of], 1]
        dst = registers(40, REGISTERS[to])
        places = [registers(80 + 40 * at, size) for at, size in enumerate(sources)]
        return [f"{name} {dst}, {', '.join(places)}"] + [
            f"{name} {dst}, {', '.join(places[:-1])}, {scale}" for scale in ("s5", "2.0", "-4", "vcc_lo")
        ]
    dst = registers(40, 2 if to == "f32" and "pk" in parts else 1)
    count = 2 + (of == "f32" and "pk" in parts and to != "f32" and not stochastic) + stochastic
    first = registers(4, 2 if stochastic and "pk" in parts and of == "f32" else 1)
    sources = [first, "v10", "v16"][:count]
    out = []
    for width in (3, 4):
        out += forms(f"{name} {dst}, {', '.join(sources)}", halves(width))
    for at in range(count):
        for form in ("-{}", "|{}|", "-|{}|"):
            signed = [form.format(source) if index == at else source for index, source in enumerate(sources)]
            out.append(f"{name} {dst}, {', '.join(signed)}")
    for at in range(count):
        for other in ("s9", "1.0", "-3", "exec_hi"):
            out.append(f"{name} {dst}, {', '.join(other if index == at else source for index, source in enumerate(sources))}")
    return out


def products():
    out = []
    tails = ["", "cbsz:1 abid:1", "cbsz:3 abid:9", "blgp:5"]
    for side, results in ((16, 4), (32, 16)):
        for inner, types in ((512 // side, ("f16", "bf16")), (1024 // side, ("i8",))):
            for ty in types:
                name = f"v_mfma_{'i32' if ty == 'i8' else 'f32'}_{side}x{side}x{inner}_{ty}"
                c, d = registers(8, results), registers(80, results)
                out += forms(f"{name} {d}, v[2:5], v[40:43], {c}", tails)
                out += [f"{name} {registers(16, results, 'a')}, a[2:5], v[40:43], {registers(64, results, 'a')}"]
                out += [f"{name} {d}, v[2:5], a[40:43], 1.0", f"{name} {d}, v[2:5], a[40:43], 0"]
        for inner, types in ((1024 // side, ("f16", "bf16")), (2048 // side, ("i8",))):
            for ty in types:
                out += sparse(f"v_smfmac_{'i32' if ty == 'i8' else 'f32'}_{side}x{side}x{inner}_{ty}", results)
        for a in ("fp8", "bf8"):
            for b in ("fp8", "bf8"):
                out += sparse(f"v_smfmac_f32_{side}x{side}x{2048 // side}_{a}_{b}", results)
        out += formats(f"f32_{side}x{side}x{2048 // side}_f8f6f4", results)
    return out


def sparse(name, results):
    line = f"{name} {registers(80, results)}, v[2:5], v[40:47], v9"
    out = forms(line, ["", "abid:1", "cbsz:1", "cbsz:1 abid:3"])
    return out + [f"{name} {registers(16, results, 'a')}, a[2:5], v[40:47], v9", f"{name} {registers(16, results)}, v[2:5], a[40:47], v9"]


def formats(name, results):
    """Products of eight, six or four bits, with and without scales."""
    sizes = [8, 8, 6, 6, 4]
    out = []
    for at, a in enumerate(sizes):
        for to, b in enumerate(sizes):
            tail = "".join(f" {key}:{value}" for key, value in (("cbsz", at), ("blgp", to)) if value)
            for sums in (registers(16, results), "1.0", "0"):
                factors = f"{registers(80, results)}, {registers(40, a)}, {registers(50, b)}, {sums}"
                out.append(f"v_mfma_{name} {factors}{tail}")
                for low in ("0,0", "1,0", "0,1", "1,1"):
                    out.append(f"v_mfma_scale_{name} {factors}, v3, v5 op_sel:[{low},0] op_sel_hi:[{low[::-1]},0]{tail}")
            factors = f"{registers(80, results, 'a')}, {registers(40, a, 'a')}, {registers(50, b)}, {registers(16, results, 'a')}"
            out += [f"v_mfma_{name} {factors}{tail}", f"v_mfma_scale_{name} {factors}, v3, v255{tail}"]
    return out


def candidates():
    """Lines of instructions that gfx942 lacks."""
    own = {row[1:] for row in (FOLDER / "mnemonics.gfx950.txt").read_text().splitlines() if row.startswith("+")}
    out = []
    for name in sorted(own):
        if name.startswith("v_cvt_scalef32_"):
            out += scaled(name)
    for table in (1, 2, 4, 8, 10, 11, 16, 32, 64, 128, 202, 255):
        out += [f"v_bitop3_b32 v40, v4, v10, v16 bitop3:{table}", f"v_bitop3_b16 v40, v4, v10, v16 bitop3:{table}"]
    out += ["v_bitop3_b32 v40, v4, v10, v16", "v_bitop3_b32 v40, s8, 1.0, v16 bitop3:0xca", "v_bitop3_b32 v40, v4, -3, s9 bitop3:0x96"]
    out += forms("v_bitop3_b16 v40, v4, v10, v16 bitop3:0xca", halves(4)) + ["v_bitop3_b16 v40, v4, 1.0, s16 bitop3:0xca"]
    for name in ("v_ashr_pk_i8_i32", "v_ashr_pk_u8_i32"):
        out += forms(f"{name} v40, v4, v10, v16", halves(4)) + [f"{name} v40, s4, v10, 7", f"{name} v40, v4, 0, s7"]
    outputs = ["", "clamp", "mul:2", "mul:4", "div:2", "clamp mul:4"]
    for name in ("v_cvt_pk_f16_f32", "v_cvt_pk_bf16_f32"):
        for operands in ("v4, v10", "-v4, v10", "v4, -|v10|", "s8, v10", "v4, 1.0", "|v4|, -3"):
            out += forms(f"{name} v40, {operands}", outputs)
    for name in ("v_cvt_sr_f16_f32", "v_cvt_sr_bf16_f32"):
        for operands in ("v4, v10", "-v4, v10", "-|v4|, v10", "s8, v10", "1.0, v10", "v4, s8", "v4, 7"):
            out += forms(f"{name} v40, {operands}", halves(3) + halves(4))
    for name in ("v_minimum3_f32", "v_maximum3_f32"):
        for operands in ("v4, v10, v16", "-v4, v10, |v16|", "v4, -|v10|, 1.0", "s8, v10, -3"):
            out += forms(f"{name} v40, {operands}", outputs)
    for name in ("v_pk_minimum3_f16", "v_pk_maximum3_f16"):
        out += [f"{name} v40, {operands}" for operands in ("v4, v10, v16", "s8, v10, v16", "v4, 1.0, v16", "v4, v10, -3")]
        out += forms(f"{name} v40, v4, v10, v16", halves(3) + ["clamp", "op_sel_hi:[0,1,0]", "neg_lo:[1,0,1]", "neg_hi:[0,1,0] clamp"])
    name = "v_dot2_f32_bf16"
    out += [f"{name} v40, {operands}" for operands in ("v4, v10, v16", "s8, v10, v16", "v4, 1.0, v16", "v4, v10, -3", "v4, v10, 0.5")]
    out += forms(f"{name} v40, v4, v10, v16", halves(3) + ["clamp", "neg_lo:[1,0,1]", "neg_hi:[0,1,0] clamp"])
    name = "v_dot2c_f32_bf16"
    out += [f"{name} v40, {a}, v10" for a in ("v4", "s8", "1.0", "-3", "0x1234", "0x12345678", "src_lds_direct")]
    out += forms(f"{name}_e64 v40, -v4, |v10|", outputs) + [f"{name}_e64 v40, v4, s8", f"{name}_e64 v40, v4, 1.0"]
    out += [f"{name}_dpp v40, v4, v10 {control} row_mask:0x7 bank_mask:0xf" for control in ("row_shl:1", "row_newbcast:3", "quad_perm:[0,1,1,2] bound_ctrl:0")]
    for name, more in (("v_prng_b32", []), ("v_cvt_f32_bf16", forms("v_cvt_f32_bf16_e64 v40, -|v4|", outputs))):
        out += [f"{name} v40, {a}" for a in ("v4", "s8", "m0", "1.0", "-3", "0x1234")] + more
        out += [f"{name}_e64 v40, {a}" for a in ("v4", "s8", "exec_lo", "-3")]
        out += [f"{name}_dpp v40, v4 {control} row_mask:0x7 bank_mask:0xf" for control in ("row_shl:1", "row_newbcast:3", "row_mirror bound_ctrl:0")]
        for selection in ("WORD_0", "WORD_1", "BYTE_2", "DWORD"):
            for kept in ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"):
                out.append(f"{name}_sdwa v40, v4 dst_sel:{selection} dst_unused:{kept} src0_sel:{selection}")
    out += ["v_cvt_f32_bf16_dpp v40, -|v4| row_shr:1 row_mask:0xf bank_mask:0xf", "v_cvt_f32_bf16_sdwa v40, -v4 src0_sel:WORD_1"]
    for name in ("v_permlane16_swap_b32", "v_permlane32_swap_b32"):
        out += forms(f"{name} v40, v4", ["", "fi:1", "bound_ctrl:1", "bound_ctrl:1 fi:1"]) + [f"{name}_e64 v40, v255"]
    for operands in ("v1, v2", "s4, v2", "v1, s4", "64, 1.0", "vcc_lo, vcc_lo", "m0, m0"):
        out += forms(f"v_mfma_ld_scale_b32 {operands}", ["", "op_sel:[1,0]", "op_sel:[0,1] op_sel_hi:[1,0]", "op_sel_hi:[0,0]"])
    for name, count in (("b64_tr_b4", 2), ("b96_tr_b6", 3), ("b64_tr_b8", 2), ("b64_tr_b16", 2)):
        out += [f"ds_read_{name} {registers(40, count)}, v4", f"ds_read_{name} {registers(40, count, 'a')}, v255 offset:65535"]
    for name in ("global_load_lds_dwordx3", "global_load_lds_dwordx4"):
        out += [f"{name} v[4:5], off", f"{name} v4, s[8:9] offset:-16 sc0 nt sc1", f"{name} v[4:5], off offset:4095 nt"]
    for name, count in (("buffer_load_dwordx3", 3), ("buffer_load_dwordx4", 4)):
        for address in ("off, s[8:11], s3", "v4, s[8:11], 0 offen", "v4, s[8:11], m0 idxen", "v[4:5], s[8:11], s3 idxen offen offset:16"):
            out += [f"{name} {address} lds", f"{name} {address} sc0 nt sc1 lds", f"{name} {registers(40, count)}, {address} nt"]
    name = "buffer_atomic_pk_add_bf16"
    out += [f"{name} v40, off, s[8:11], s3", f"{name} v40, v4, s[8:11], 0 offen offset:16 sc0", f"{name} a40, v4, s[8:11], 7 idxen nt sc1"]
    return out + products()


def taken(names, gpu):
    """The mnemonics that the assembler accepts."""
    found = [name for name, error in zip(names, mnemonics.errors(names, gpu)) if error in (None, "too few operands for instruction")]
    return {mnemonics.SUFFIX.sub("", name) for name in found if not mnemonics.OLDER.match(name)}


def main():
    own = taken(mnemonics.candidates(), GPU)
    rows = (FOLDER / "mnemonics.txt").read_text().splitlines()
    before = {row.split("\t")[-1] for row in rows if not row.startswith("#")}
    own -= {row.split("\t")[0] for row in rows if "\t" in row}
    lines = ["# What LLVM 22 does not assemble for gfx950 of gfx942's mnemonics, and what else it does, written by gfx950.py."]
    lines += [f"-{name}" for name in sorted(before - own)] + [f"+{name}" for name in sorted(own - before)]
    (FOLDER / "mnemonics.gfx950.txt").write_text("\n".join(lines) + "\n")
    known = [line.split("\t")[0] for line in (FOLDER / "gfx942.txt").read_text().splitlines() if not line.startswith("#")]
    # LLVM 22 spells some words otherwise than LLVM 19, on every part.
    differing = [(words, now) for words, before, now in zip(known, texts(known, "gfx942"), texts(known)) if now != before]
    made = [words for words, _ in assembler.assemble(candidates(), GPU)]
    # It assembles a few lines that it does not disassemble.
    rows = [row for row in dict.fromkeys(zip(made, texts(made))) if row[1] != "-"] + differing
    lines = ["# Words of gfx950 instructions and LLVM 22's text, written by gfx950.py: its own, and those of gfx942.txt that differ."]
    (FOLDER / "gfx950.txt").write_text("\n".join(lines + [f"{words}\t{text}" for words, text in rows]) + "\n")


if __name__ == "__main__":
    main()
