#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes control.txt: small programs that report the path of control, by llvm-mc and llvm-objcopy of LLVM 19.

A row is the program's mnemonic, its words and its source.
"""

import os
import pathlib
import subprocess

MC = [os.environ.get("LLVM_MC", "llvm-mc-19"), "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-filetype=obj"]
COPY = [os.environ.get("LLVM_OBJCOPY", "llvm-objcopy-19"), "-O", "binary", "-j", ".text", "-", "-"]
# The instructions that compute the condition of a branch from s[4:5].
CONDITIONS = {
    "s_cbranch_scc0": "s_cmp_lg_u64 s[4:5], 0",
    "s_cbranch_scc1": "s_cmp_lg_u64 s[4:5], 0",
    "s_cbranch_vccz": "s_mov_b64 vcc, s[4:5]",
    "s_cbranch_vccnz": "s_mov_b64 vcc, s[4:5]",
    "s_cbranch_execz": "s_mov_b64 exec, s[4:5]",
    "s_cbranch_execnz": "s_mov_b64 exec, s[4:5]",
    "s_cbranch_cdbgsys": "s_nop 0",
    "s_cbranch_cdbguser": "s_nop 0",
    "s_cbranch_cdbgsys_or_user": "s_nop 0",
    "s_cbranch_cdbgsys_and_user": "s_nop 0",
}
PROGRAMS = [
    (name, f"{condition}; s_movk_i32 s20, 1; {name} away; s_movk_i32 s20, 2; away: s_endpgm")
    for name, condition in CONDITIONS.items()
] + [
    # Back until s20 has reached s4, then over an instruction.
    (
        "s_branch",
        "s_movk_i32 s20, 0; again: s_add_u32 s20, s20, 3; s_cmp_lt_u32 s20, s4; s_cbranch_scc0 out; s_branch again; "
        "out: s_branch end; s_movk_i32 s20, 77; end: s_endpgm",
    ),
    ("s_getpc_b64", "s_nop 0; s_getpc_b64 s[20:21]; s_endpgm"),
    (
        "s_setpc_b64",
        "s_getpc_b64 s[6:7]; s_add_u32 s6, s6, s4; s_addc_u32 s7, s7, 0; s_setpc_b64 s[6:7]; "
        "s_movk_i32 s20, 1; s_endpgm; s_movk_i32 s20, 2; s_endpgm",
    ),
    (
        "s_swappc_b64",
        "s_getpc_b64 s[6:7]; s_add_u32 s6, s6, s4; s_addc_u32 s7, s7, 0; s_swappc_b64 s[30:31], s[6:7]; "
        "s_add_u32 s20, s20, 5; s_endpgm; s_movk_i32 s20, 40; s_setpc_b64 s[30:31]; s_movk_i32 s20, 50; s_setpc_b64 s[30:31]",
    ),
    (
        "s_call_b64",
        "s_call_b64 s[30:31], function; s_add_u32 s20, s20, 5; s_endpgm; function: s_movk_i32 s20, 40; s_setpc_b64 s[30:31]",
    ),
    ("s_endpgm", "s_movk_i32 s20, 1; s_endpgm; s_movk_i32 s20, 2; s_endpgm"),
    ("s_endpgm_saved", "s_movk_i32 s20, 1; s_endpgm_saved; s_movk_i32 s20, 2; s_endpgm"),
    ("s_barrier", "s_movk_i32 s20, 1; s_barrier; s_movk_i32 s20, 2; s_endpgm"),
    ("s_sleep", "s_movk_i32 s20, 1; s_sleep 3; s_movk_i32 s20, 2; s_endpgm"),
    ("s_memtime", "s_memtime s[20:21]; s_waitcnt lgkmcnt(0); s_memtime s[22:23]; s_endpgm"),
    ("s_memrealtime", "s_memrealtime s[20:21]; s_waitcnt lgkmcnt(0); s_memrealtime s[22:23]; s_endpgm"),
    ("s_trap", "s_movk_i32 s20, 1; s_trap 3; s_movk_i32 s20, 2; s_trap 2"),
]


def words(source):
    text = "".join(part.replace(": ", ":\n").strip() + "\n" for part in source.split(";"))
    made = subprocess.run(MC, input=text.encode(), capture_output=True, check=True).stdout
    code = subprocess.run(COPY, input=made, capture_output=True, check=True).stdout
    return " ".join(code[at : at + 4][::-1].hex() for at in range(0, len(code), 4))


lines = ["# Programs and what each is about, written by control.py."]
lines += [f"{name}\t{words(source)}\t{source}" for name, source in PROGRAMS]
pathlib.Path(__file__).with_name("control.txt").write_text("\n".join(lines) + "\n")
