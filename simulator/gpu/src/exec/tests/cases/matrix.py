# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of matrix instructions: every shape and type, on both register files, with broadcasts."""


def regs(first, count, file="v"):
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def exchanged(line, blocks):
    """A product with the lanes of B exchanged, and with a block of A for several of B."""
    out = [f"{line} blgp:{blgp}" for blgp in (1, 3, 6)]
    return out + [f"{line} cbsz:{cbsz} abid:{abid}" for cbsz, abid in ((1, 1), (2, 3), (4, 9)) if 1 << cbsz <= blocks]


# Name, registers of A and of B, and of the result.
SHAPES = [
    ("f32_16x16x4_f32", 1, 4), ("f32_32x32x2_f32", 1, 16), ("f32_32x32x1_2b_f32", 1, 32), ("f32_16x16x1_4b_f32", 1, 16),
    ("f32_4x4x1_16b_f32", 1, 4), ("f32_16x16x8_xf32", 2, 4), ("f32_32x32x4_xf32", 2, 16),
    ("f32_16x16x16_f16", 2, 4), ("f32_32x32x8_f16", 2, 16), ("f32_32x32x4_2b_f16", 2, 32), ("f32_16x16x4_4b_f16", 2, 16),
    ("f32_4x4x4_16b_f16", 2, 4), ("f32_16x16x16_bf16", 2, 4), ("f32_32x32x8_bf16", 2, 16), ("f32_32x32x4_2b_bf16", 2, 32),
    ("f32_16x16x4_4b_bf16", 2, 16), ("f32_4x4x4_16b_bf16", 2, 4),
    ("i32_16x16x32_i8", 2, 4), ("i32_32x32x16_i8", 2, 16), ("i32_32x32x4_2b_i8", 1, 32), ("i32_16x16x4_4b_i8", 1, 16),
    ("i32_4x4x4_16b_i8", 1, 4), ("f64_16x16x4_f64", 2, 8), ("f64_4x4x4_4b_f64", 2, 2),
] + [(f"f32_{shape}_{a}_{b}", 2, size) for shape, size in (("16x16x32", 4), ("32x32x16", 16)) for a in ("fp8", "bf8") for b in ("fp8", "bf8")]

# Name and registers of the result; A has two registers, B has four.
SPARSE = [
    ("f32_16x16x32_f16", 4), ("f32_32x32x16_f16", 16), ("f32_16x16x32_bf16", 4), ("f32_32x32x16_bf16", 16),
    ("i32_16x16x64_i8", 4), ("i32_32x32x32_i8", 16),
] + [(f"f32_{shape}_{a}_{b}", size) for shape, size in (("16x16x64", 4), ("32x32x32", 16)) for a in ("fp8", "bf8") for b in ("fp8", "bf8")]


def sparse():
    out = []
    for name, results in SPARSE:
        op = f"v_smfmac_{name}"
        for tail in ("", " abid:1", " abid:2", " abid:3", " cbsz:1 abid:1"):
            out.append(f"{op} {regs(80, results)}, v[2:3], v[4:7], v8{tail}")
        out += [f"{op} {regs(16, results, 'a')}, a[2:3], v[4:7], v8", f"{op} {regs(16, results)}, v[2:3], a[4:7], v9 abid:1"]
    return out


def candidates():
    """All lines."""
    out = sparse()
    for name, inputs, results in SHAPES:
        op = f"v_mfma_{name}"
        a, b, c, d = regs(2, inputs), regs(4, inputs), regs(8, results), regs(80, results)
        out += [f"{op} {d}, {a}, {b}, {c}", f"{op} {c}, {a}, {b}, {c}", f"{op} {d}, {a}, {b}, 0", f"{op} {d}, {a}, {b}, 1.0"]
        out += [f"{op} {regs(16, results, 'a')}, {regs(2, inputs, 'a')}, {b}, {regs(64, results, 'a')}"]
        if "_f64" in name:
            out += [f"{op} {d}, {a}, {b}, {c} neg:[{n}]" for n in ("1,0,0", "0,1,0", "0,0,1", "1,1,1")]
            continue
        for blgp in (1, 2, 3, 4, 5, 6, 7):
            if "_2b_" in name or "_4b_" in name or "_16b_" in name or blgp in (1, 4):
                out.append(f"{op} {d}, {a}, {b}, {c} blgp:{blgp}")
        blocks = 16 if "_16b_" in name else 4 if "_4b_" in name else 2 if "_2b_" in name else 1
        for cbsz, abid in ((1, 0), (1, 1), (2, 3), (3, 5), (4, 9)):
            if 1 << cbsz <= blocks:
                out.append(f"{op} {d}, {a}, {b}, {c} cbsz:{cbsz} abid:{abid}")
    return out
