# SPDX-License-Identifier: MIT OR Apache-2.0
"""The programs of the suite: MLIR by name, with inputs, as in a compiler's tests."""

import re
from dataclasses import dataclass, field


@dataclass
class Module:
    """A function `f`, its inputs as (shape, type) or (shape, type, kind), the types of its outputs, and their tolerance.

    Kinds of inputs: `normal`, `unit` (0.05 to 0.95), `small` (integers of a few units), `wide` (all integers),
    `shift` (0 to 6), `nonzero`, `permutation` (indices), `sorted`, or a scalar's value.
    """

    text: str
    inputs: list
    outputs: list
    tolerance: float = 1e-5
    flags: list = field(default_factory=list)


MODULES: dict[str, Module] = {}
RESULT = re.compile(r"(\w+)>")
FLOATS = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 1e-5, "f64": 1e-12}


def add(name, text, inputs, tolerance=1e-5, flags=()):
    signature = text[text.index("func.func") :]
    types = RESULT.findall(signature[signature.index("->") : signature.index("{")])
    MODULES[name] = Module(text, inputs, types, tolerance, list(flags))


def elementwise(name, ty, kinds, operations, tolerance, shape="1003"):
    """Operations on the same inputs, each (operation, operands by number[, type of the result]); an output for each."""
    parameters = ", ".join(f"%a{number}: tensor<{shape}x{ty}>" for number in range(len(kinds)))
    lines, results = [], []
    for number, (operation, operands, *result) in enumerate(operations):
        out = f"tensor<{shape}x{result[0] if result else ty}>"
        types = f"tensor<{shape}x{ty}> to {out}" if result else out
        lines.append(f"  %r{number} = {operation} {', '.join(f'%a{operand}' for operand in operands)} : {types}")
        results.append(out)
    values = ", ".join(f"%r{number}" for number in range(len(operations)))
    text = "\n".join(lines)
    add(
        name,
        f"func.func @f({parameters}) -> ({', '.join(results)}) {{\n{text}\n  return {values} : {', '.join(results)}\n}}\n",
        [(shape, ty, kind) for kind in kinds],
        tolerance=tolerance,
    )


def elementwise_family():
    anywhere = "absf ceil cos erf exp exp2 expm1 floor round roundeven sin tanh sinh cosh atan trunc"
    inside = "tan asin acos log log1p log2 rsqrt sqrt cbrt"
    unary = [(f"math.{name}", [0]) for name in anywhere.split()] + [(f"math.{name}", [1]) for name in inside.split()]
    # The CPU's polynomials and the GPU's instructions differ in their last bits.
    for part in range(5):
        elementwise(f"math_f32_{part}", "f32", ["normal", "unit"], unary[part::5], 2e-4)
    few = [("math.exp", [0]), ("math.tanh", [0]), ("math.erf", [0]), ("math.floor", [0])]
    few += [("math.sqrt", [1]), ("math.log", [1]), ("math.rsqrt", [1])]
    elementwise("math_f16", "f16", ["normal", "unit"], few, 4e-3)
    elementwise("math_bf16", "bf16", ["normal", "unit"], few, 2e-2)
    exact = [("math.sqrt", [1]), ("math.floor", [0]), ("math.absf", [0]), ("math.ceil", [0])]
    elementwise("math_f64", "f64", ["normal", "unit"], exact, 1e-12)
    two = [(f"math.{name}", [0, 1]) for name in ("powf", "atan2", "copysign")] + [("arith.remf", [0, 1])]
    elementwise("math_two", "f32", ["unit", "unit"], two, 2e-4)
    for ty, tolerance in FLOATS.items():
        names = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf"]
        # The CPU backend compiles half precision to calls of a C library, but links its modules without it.
        names += [] if ty == "f16" else ["maxnumf", "minnumf"]
        elementwise(f"float_{ty}", ty, ["normal", "unit"], [(f"arith.{name}", [0, 1]) for name in names], tolerance)
    for ty in ("i8", "i16", "i32", "i64"):
        names = ("addi", "subi", "muli", "maxsi", "minsi", "maxui", "minui", "xori", "andi", "ori")
        operations = [(f"arith.{name}", [0, 1]) for name in names]
        elementwise(f"integer_{ty}", ty, ["wide", "wide"], operations, 0)
        operations = [(f"arith.{name}", [0, 1]) for name in ("shli", "shrsi", "shrui")]
        operations += [(f"math.{name}", [0]) for name in ("ctlz", "cttz", "ctpop")]
        elementwise(f"bits_{ty}", ty, ["wide", "shift"], operations, 0)
        operations = [(f"arith.{name}", [0, 1]) for name in ("divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi")]
        elementwise(f"division_{ty}", ty, ["wide", "nonzero"], operations, 0)
    for source, kind, conversions in [
        ("f16", "normal", "extf:f32 extf:f64 fptosi:i32"), ("bf16", "normal", "extf:f32"),
        ("f32", "normal", "truncf:f16 truncf:bf16 extf:f64 fptosi:i32 fptosi:i8 fptosi:i64"),
        ("f64", "normal", "truncf:f32 truncf:f16 fptosi:i64 fptosi:i32"), ("f32", "unit", "fptoui:i32 fptoui:i8 fptoui:i64"),
        ("i8", "wide", "sitofp:f16 sitofp:f32 uitofp:f32 extsi:i32 extui:i32 extsi:i64"),
        ("i16", "wide", "extsi:i64 extui:i32 sitofp:f32 trunci:i8"),
        ("i32", "wide", "sitofp:f32 uitofp:f32 sitofp:f64 trunci:i16 trunci:i8 extsi:i64"),
        ("i64", "wide", "sitofp:f32 uitofp:f32 sitofp:f64 uitofp:f64 trunci:i8 trunci:i32"),
    ]:
        operations = [(f"arith.{name}", [0], to) for name, to in (word.split(":") for word in conversions.split())]
        elementwise(f"convert_{source}_{kind}", source, [kind], operations, 1e-2 if "bf16" in conversions else 1e-3 if "f16" in conversions else 1e-7)


def matmul(name, m, k, n, ty, total, tolerance, batch=0, b_rows=False, kind="normal"):
    lead = f"{batch}x" if batch else ""
    zero = "0.0" if total[0] == "f" else "0"
    a, b, c = f"{lead}{m}x{k}", f"{lead}{n}x{k}" if b_rows else f"{lead}{k}x{n}", f"{lead}{m}x{n}"
    operation = "linalg.batch_matmul" if batch else "linalg.matmul"
    maps = ""
    if b_rows:
        maps = (
            " indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
            "affine_map<(m, n, k) -> (m, n)>]"
        )
    add(
        name,
        f"""func.func @f(%a: tensor<{a}x{ty}>, %b: tensor<{b}x{ty}>) -> tensor<{c}x{total}> {{
  %z = arith.constant {zero} : {total}
  %e = tensor.empty() : tensor<{c}x{total}>
  %i = linalg.fill ins(%z : {total}) outs(%e : tensor<{c}x{total}>) -> tensor<{c}x{total}>
  %r = {operation}{maps} ins(%a, %b : tensor<{a}x{ty}>, tensor<{b}x{ty}>) outs(%i : tensor<{c}x{total}>) -> tensor<{c}x{total}>
  return %r : tensor<{c}x{total}>
}}
""",
        [(a, ty, kind), (b, ty, kind)],
        tolerance=tolerance,
    )


def products():
    matmul("mm_f32", 256, 256, 256, "f32", "f32", 1e-5)
    matmul("mm_f32_odd", 100, 60, 70, "f32", "f32", 1e-5)
    matmul("mm_f32_tiny", 7, 5, 3, "f32", "f32", 1e-5)
    matmul("mm_f32_tall", 1, 512, 1000, "f32", "f32", 1e-5)
    matmul("mm_f16", 256, 256, 256, "f16", "f32", 2e-3)
    matmul("mm_f16_odd", 33, 129, 65, "f16", "f32", 2e-3)
    matmul("mm_f16_big", 2048, 1024, 2048, "f16", "f32", 2e-3)
    matmul("mm_f16_rows", 128, 256, 64, "f16", "f32", 2e-3, b_rows=True)
    matmul("mm_bf16", 512, 512, 512, "bf16", "f32", 2e-3)
    matmul("mm_i8", 256, 256, 256, "i8", "i32", 0, kind="wide")
    matmul("mm_i8_odd", 50, 70, 90, "i8", "i32", 0, kind="wide")
    matmul("mm_i32", 64, 64, 64, "i32", "i32", 0, kind="wide")
    matmul("mm_f64", 128, 128, 128, "f64", "f64", 1e-12)
    matmul("batch_f16", 64, 32, 48, "f16", "f32", 2e-3, batch=5)
    matmul("batch_f32", 20, 30, 40, "f32", "f32", 1e-5, batch=3)
    matmul("mm_f8", 64, 64, 64, "f8E4M3FNUZ", "f32", 1e-5, kind="fp8")
    add(
        "matvec",
        """func.func @f(%a: tensor<300x500xf32>, %x: tensor<500xf32>) -> tensor<300xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<300xf32>) -> tensor<300xf32>
  %r = linalg.matvec ins(%a, %x : tensor<300x500xf32>, tensor<500xf32>) outs(%i : tensor<300xf32>) -> tensor<300xf32>
  return %r : tensor<300xf32>
}
""",
        [("300x500", "f32"), ("500", "f32")],
    )
    add(
        "mlp",
        """#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<?x784xf32>, %w0: tensor<784x128xf32>, %b0: tensor<128xf32>, %w1: tensor<128x10xf32>) -> tensor<?x10xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x784xf32>
  %e0 = tensor.empty(%n) : tensor<?x128xf32>
  %i0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<?x128xf32>) -> tensor<?x128xf32>
  %m0 = linalg.matmul ins(%x, %w0 : tensor<?x784xf32>, tensor<784x128xf32>) outs(%i0 : tensor<?x128xf32>) -> tensor<?x128xf32>
  %h = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%m0, %b0 : tensor<?x128xf32>, tensor<128xf32>) outs(%e0 : tensor<?x128xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      %t = arith.maximumf %s, %z : f32
      linalg.yield %t : f32
  } -> tensor<?x128xf32>
  %e1 = tensor.empty(%n) : tensor<?x10xf32>
  %i1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<?x10xf32>) -> tensor<?x10xf32>
  %m1 = linalg.matmul ins(%h, %w1 : tensor<?x128xf32>, tensor<128x10xf32>) outs(%i1 : tensor<?x10xf32>) -> tensor<?x10xf32>
  %r = linalg.softmax dimension(1) ins(%m1 : tensor<?x10xf32>) outs(%e1 : tensor<?x10xf32>) -> tensor<?x10xf32>
  return %r : tensor<?x10xf32>
}
""",
        [("17x784", "f32", "unit"), ("784x128", "f32"), ("128", "f32"), ("128x10", "f32")],
        tolerance=1e-3,
    )


def convolutions():
    for ty, total, tolerance in (("f32", "f32", 1e-5), ("f16", "f32", 2e-3), ("i8", "i32", 0)):
        zero = "0.0" if total[0] == "f" else "0"
        add(
            f"conv2d_{ty}",
            f"""func.func @f(%x: tensor<2x18x18x16x{ty}>, %w: tensor<3x3x16x32x{ty}>) -> tensor<2x16x16x32x{total}> {{
  %z = arith.constant {zero} : {total}
  %e = tensor.empty() : tensor<2x16x16x32x{total}>
  %i = linalg.fill ins(%z : {total}) outs(%e : tensor<2x16x16x32x{total}>) -> tensor<2x16x16x32x{total}>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x18x18x16x{ty}>, tensor<3x3x16x32x{ty}>) outs(%i : tensor<2x16x16x32x{total}>) -> tensor<2x16x16x32x{total}>
  return %r : tensor<2x16x16x32x{total}>
}}
""",
            [("2x18x18x16", ty, "wide" if ty == "i8" else "normal"), ("3x3x16x32", ty, "wide" if ty == "i8" else "normal")],
            tolerance=tolerance,
        )
    add(
        "conv2d_strided_nchw",
        """func.func @f(%x: tensor<1x8x33x33xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x16x16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x16x16xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x8x33x33xf32>, tensor<16x8x3x3xf32>) outs(%i : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %r : tensor<1x16x16x16xf32>
}
""",
        [("1x8x33x33", "f32"), ("16x8x3x3", "f32")],
    )
    add(
        "depthwise",
        """func.func @f(%x: tensor<1x14x14x24xf32>, %w: tensor<3x3x24xf32>) -> tensor<1x12x12x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x12x12x24xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x12x12x24xf32>) -> tensor<1x12x12x24xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %w : tensor<1x14x14x24xf32>, tensor<3x3x24xf32>) outs(%i : tensor<1x12x12x24xf32>) -> tensor<1x12x12x24xf32>
  return %r : tensor<1x12x12x24xf32>
}
""",
        [("1x14x14x24", "f32"), ("3x3x24", "f32")],
    )
    for kind in ("max", "sum"):
        add(
            f"pooling_{kind}",
            f"""func.func @f(%x: tensor<1x20x20x8xf32>) -> tensor<1x10x10x8xf32> {{
  %z = arith.constant {"0xFF800000" if kind == "max" else "0.0"} : f32
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x10x10x8xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x10x8xf32>) -> tensor<1x10x10x8xf32>
  %r = linalg.pooling_nhwc_{kind} {{strides = dense<2> : tensor<2xi64>}} ins(%x, %w : tensor<1x20x20x8xf32>, tensor<2x2xf32>) outs(%i : tensor<1x10x10x8xf32>) -> tensor<1x10x10x8xf32>
  return %r : tensor<1x10x10x8xf32>
}}
""",
            [("1x20x20x8", "f32")],
        )


def reductions():
    def reduce(name, rows, columns, ty, operation, start, tolerance, kind="normal"):
        add(
            name,
            f"""func.func @f(%x: tensor<{rows}x{columns}x{ty}>) -> tensor<{rows}x{ty}> {{
  %z = arith.constant {start} : {ty}
  %e = tensor.empty() : tensor<{rows}x{ty}>
  %i = linalg.fill ins(%z : {ty}) outs(%e : tensor<{rows}x{ty}>) -> tensor<{rows}x{ty}>
  %r = linalg.reduce ins(%x : tensor<{rows}x{columns}x{ty}>) outs(%i : tensor<{rows}x{ty}>) dimensions = [1]
    (%p: {ty}, %q: {ty}) {{
      %s = arith.{operation} %p, %q : {ty}
      linalg.yield %s : {ty}
    }}
  return %r : tensor<{rows}x{ty}>
}}
""",
            [(f"{rows}x{columns}", ty, kind)],
            tolerance=tolerance,
        )

    # The compiler chooses the order of a sum.
    reduce("sum_f32", 128, 4096, "f32", "addf", "0.0", 1e-4, "unit")
    reduce("sum_f32_odd", 13, 777, "f32", "addf", "0.0", 1e-4, "unit")
    reduce("sum_f16", 16, 256, "f16", "addf", "0.0", 2e-2, "unit")
    reduce("sum_f64", 16, 1000, "f64", "addf", "0.0", 1e-12, "unit")
    reduce("sum_i32", 64, 1000, "i32", "addi", "0", 0, "wide")
    reduce("sum_i64", 16, 500, "i64", "addi", "0", 0, "wide")
    reduce("max_f32", 64, 1000, "f32", "maximumf", "0xFF800000", 0)
    reduce("min_i8", 64, 100, "i8", "minsi", "127", 0, "wide")
    reduce("xor_i32", 8, 333, "i32", "xori", "0", 0, "wide")
    add(
        "sum_all",
        """func.func @f(%x: tensor<100000xf32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce ins(%x : tensor<100000xf32>) outs(%i : tensor<f32>) dimensions = [0]
    (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    }
  return %r : tensor<f32>
}
""",
        [("100000", "f32", "unit")],
        tolerance=1e-3,
    )
    add(
        "argmax",
        """func.func @f(%x: tensor<33x500xf32>) -> (tensor<33xf32>, tensor<33xi32>) {
  %z = arith.constant 0xFF800000 : f32
  %zi = arith.constant 0 : i32
  %e = tensor.empty() : tensor<33xf32>
  %ei = tensor.empty() : tensor<33xi32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
  %fi = linalg.fill ins(%zi : i32) outs(%ei : tensor<33xi32>) -> tensor<33xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<33x500xf32>) outs(%f, %fi : tensor<33xf32>, tensor<33xi32>) {
    ^bb0(%a: f32, %m: f32, %i: i32):
      %j = linalg.index 1 : index
      %jj = arith.index_cast %j : index to i32
      %mx = arith.maximumf %a, %m : f32
      %c = arith.cmpf ogt, %a, %m : f32
      %k = arith.select %c, %jj, %i : i32
      linalg.yield %mx, %k : f32, i32
  } -> (tensor<33xf32>, tensor<33xi32>)
  return %r#0, %r#1 : tensor<33xf32>, tensor<33xi32>
}
""",
        [("33x500", "f32")],
    )
    for ty, rows, columns, tolerance in (("f32", 64, 1000, 1e-5), ("f32", 3, 5, 1e-5)):
        shape = f"{rows}x{columns}x{ty}"
        add(
            f"softmax_{rows}x{columns}_{ty}",
            f"""func.func @f(%x: tensor<{shape}>) -> tensor<{shape}> {{
  %e = tensor.empty() : tensor<{shape}>
  %r = linalg.softmax dimension(1) ins(%x : tensor<{shape}>) outs(%e : tensor<{shape}>) -> tensor<{shape}>
  return %r : tensor<{shape}>
}}
""",
            [(f"{rows}x{columns}", ty)],
            tolerance=tolerance,
        )
    for ty, tolerance in (("f32", 1e-4), ("f16", 4e-3)):
        add(
            f"layernorm_{ty}",
            f"""#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%x16: tensor<32x768x{ty}>) -> tensor<32x768xf32> {{
  %z = arith.constant 0.0 : f32
  %n = arith.constant 768.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<32x768xf32>
  %x = linalg.generic {{indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%x16 : tensor<32x768x{ty}>) outs(%e : tensor<32x768xf32>) {{
    ^bb0(%a: {ty}, %o: f32):
      {"%w = arith.extf %a : f16 to f32" if ty == "f16" else "%w = arith.addf %a, %z : f32"}
      linalg.yield %w : f32
  }} -> tensor<32x768xf32>
  %er = tensor.empty() : tensor<32xf32>
  %zr = linalg.fill ins(%z : f32) outs(%er : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.reduce ins(%x : tensor<32x768xf32>) outs(%zr : tensor<32xf32>) dimensions = [1]
    (%a: f32, %b: f32) {{ %t = arith.addf %a, %b : f32 linalg.yield %t : f32 }}
  %c = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %s : tensor<32x768xf32>, tensor<32xf32>) outs(%e : tensor<32x768xf32>) {{
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.divf %b, %n : f32
      %d = arith.subf %a, %m : f32
      linalg.yield %d : f32
  }} -> tensor<32x768xf32>
  %v = linalg.reduce ins(%c : tensor<32x768xf32>) outs(%zr : tensor<32xf32>) dimensions = [1]
    (%a: f32, %b: f32) {{ %q = arith.mulf %a, %a : f32 %t = arith.addf %q, %b : f32 linalg.yield %t : f32 }}
  %r = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%c, %v : tensor<32x768xf32>, tensor<32xf32>) outs(%e : tensor<32x768xf32>) {{
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.divf %b, %n : f32
      %m2 = arith.addf %m, %eps : f32
      %rs = math.rsqrt %m2 : f32
      %d = arith.mulf %a, %rs : f32
      linalg.yield %d : f32
  }} -> tensor<32x768xf32>
  return %r : tensor<32x768xf32>
}}
""",
            [("32x768", ty)],
            tolerance=tolerance,
        )
    for ty, batch, queries, keys, width in (("f16", 2, 64, 128, 32), ("f16", 1, 256, 256, 64), ("f32", 2, 32, 48, 16)):
        q, k, o = f"{batch}x{queries}x{width}x{ty}", f"{batch}x{keys}x{width}x{ty}", f"{batch}x{queries}x{width}x{ty}"
        add(
            f"attention_{ty}_{queries}x{keys}",
            f"""func.func @f(%q: tensor<{q}>, %k: tensor<{k}>, %v: tensor<{k}>) -> tensor<{o}> {{
  %scale = arith.constant 0.25 : {ty}
  %e = tensor.empty() : tensor<{o}>
  %r = iree_linalg_ext.attention <{{indexing_maps = [
      affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
      affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,
      affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}}>
    ins(%q, %k, %v, %scale : tensor<{q}>, tensor<{k}>, tensor<{k}>, {ty}) outs(%e : tensor<{o}>) {{
    ^bb0(%s: f32):
      iree_linalg_ext.yield %s : f32
  }} -> tensor<{o}>
  return %r : tensor<{o}>
}}
""",
            [(q.rsplit("x", 1)[0], ty), (k.rsplit("x", 1)[0], ty), (k.rsplit("x", 1)[0], ty)],
            tolerance=5e-3,
        )


def movement():
    for ty in ("f32", "f16", "i8", "i64"):
        add(
            f"transpose_{ty}",
            f"""func.func @f(%x: tensor<130x257x{ty}>) -> tensor<257x130x{ty}> {{
  %e = tensor.empty() : tensor<257x130x{ty}>
  %r = linalg.transpose ins(%x : tensor<130x257x{ty}>) outs(%e : tensor<257x130x{ty}>) permutation = [1, 0]
  return %r : tensor<257x130x{ty}>
}}
""",
            [("130x257", ty, "wide" if ty[0] == "i" else "normal")],
            tolerance=0,
        )
    add(
        "transpose_4d",
        """func.func @f(%x: tensor<3x17x5x29xf32>) -> tensor<5x3x29x17xf32> {
  %e = tensor.empty() : tensor<5x3x29x17xf32>
  %r = linalg.transpose ins(%x : tensor<3x17x5x29xf32>) outs(%e : tensor<5x3x29x17xf32>) permutation = [2, 0, 3, 1]
  return %r : tensor<5x3x29x17xf32>
}
""",
        [("3x17x5x29", "f32")],
        tolerance=0,
    )
    add(
        "gather",
        """func.func @f(%x: tensor<64x32xf32>, %i: tensor<20xi32>) -> tensor<20x32xf32> {
  %e = tensor.empty() : tensor<20x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%i : tensor<20xi32>) outs(%e : tensor<20x32xf32>) {
    ^bb0(%a: i32, %o: f32):
      %k = arith.index_cast %a : i32 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %x[%k, %j] : tensor<64x32xf32>
      linalg.yield %v : f32
  } -> tensor<20x32xf32>
  return %r : tensor<20x32xf32>
}
""",
        [("64x32", "f32"), ("20", "i32", "permutation")],
        tolerance=0,
    )
    add(
        "scatter",
        """func.func @f(%old: tensor<64x16xf32>, %i: tensor<20x1xi32>, %u: tensor<20x16xf32>) -> tensor<64x16xf32> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
    ins(%u, %i : tensor<20x16xf32>, tensor<20x1xi32>) outs(%old : tensor<64x16xf32>) {
    ^bb0(%new: f32, %was: f32):
      iree_linalg_ext.yield %new : f32
  } -> tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}
""",
        [("64x16", "f32"), ("20x1", "i32", "permutation"), ("20x16", "f32")],
        tolerance=0,
    )
    for ty, compare in (("i32", "arith.cmpi slt"), ("f32", "arith.cmpf olt"), ("i64", "arith.cmpi sgt"), ("i8", "arith.cmpi ult")):
        add(
            f"sort_{ty}",
            f"""func.func @f(%x: tensor<7x50x{ty}>) -> tensor<7x50x{ty}> {{
  %r = iree_linalg_ext.sort dimension(1) outs(%x : tensor<7x50x{ty}>) {{
    ^bb0(%a: {ty}, %b: {ty}):
      %c = {compare}, %a, %b : {ty}
      iree_linalg_ext.yield %c : i1
  }} -> tensor<7x50x{ty}>
  return %r : tensor<7x50x{ty}>
}}
""",
            [("7x50", ty, "wide" if ty[0] == "i" else "normal")],
            tolerance=0,
        )
    add(
        "topk",
        """func.func @f(%x: tensor<6x100xf32>, %i: tensor<6x100xi32>) -> (tensor<6x5xf32>, tensor<6x5xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  %ev = tensor.empty() : tensor<6x5xf32>
  %ei = tensor.empty() : tensor<6x5xi32>
  %fv = linalg.fill ins(%low : f32) outs(%ev : tensor<6x5xf32>) -> tensor<6x5xf32>
  %fi = linalg.fill ins(%none : i32) outs(%ei : tensor<6x5xi32>) -> tensor<6x5xi32>
  %r:2 = iree_linalg_ext.topk dimension(1) ins(%x, %i : tensor<6x100xf32>, tensor<6x100xi32>)
      outs(%fv, %fi : tensor<6x5xf32>, tensor<6x5xi32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.cmpf ogt, %a, %b : f32
      iree_linalg_ext.yield %c : i1
  } -> tensor<6x5xf32>, tensor<6x5xi32>
  return %r#0, %r#1 : tensor<6x5xf32>, tensor<6x5xi32>
}
""",
        [("6x100", "f32"), ("6x100", "i32", "wide")],
        tolerance=0,
    )
    for inclusive in ("true", "false"):
        for ty, tolerance in (("f32", 1e-4), ("i32", 0)):
            add(
                f"scan_{ty}_{'inclusive' if inclusive == 'true' else 'exclusive'}",
                f"""func.func @f(%x: tensor<4x300x{ty}>, %start: tensor<4x{ty}>) -> tensor<4x300x{ty}> {{
  %e = tensor.empty() : tensor<4x300x{ty}>
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive({inclusive})
    ins(%x : tensor<4x300x{ty}>) outs(%e, %start : tensor<4x300x{ty}>, tensor<4x{ty}>) {{
    ^bb0(%p: {ty}, %q: {ty}):
      %s = arith.add{ty[0]} %p, %q : {ty}
      iree_linalg_ext.yield %s : {ty}
  }} -> tensor<4x300x{ty}>, tensor<4x{ty}>
  return %r#0 : tensor<4x300x{ty}>
}}
""",
                [("4x300", ty, "unit" if ty == "f32" else "small"), ("4", ty, "unit" if ty == "f32" else "small")],
                tolerance=tolerance,
            )
    add(
        "pad_slice_concat",
        """func.func @f(%x: tensor<30x40xf32>, %y: tensor<12x48xf32>) -> tensor<20x96xf32> {
  %z = arith.constant 1.5 : f32
  %p = tensor.pad %x low[1, 3] high[2, 5] {
    ^bb0(%i: index, %j: index):
      tensor.yield %z : f32
  } : tensor<30x40xf32> to tensor<33x48xf32>
  %s = tensor.extract_slice %p[4, 0] [20, 48] [1, 1] : tensor<33x48xf32> to tensor<20x48xf32>
  %t = tensor.pad %y low[0, 0] high[8, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %z : f32
  } : tensor<12x48xf32> to tensor<20x48xf32>
  %r = tensor.concat dim(1) %s, %t : (tensor<20x48xf32>, tensor<20x48xf32>) -> tensor<20x96xf32>
  return %r : tensor<20x96xf32>
}
""",
        [("30x40", "f32"), ("12x48", "f32")],
        tolerance=0,
    )
    add(
        "select",
        """func.func @f(%x: tensor<777xf32>, %y: tensor<777xf32>, %i: tensor<777xi64>) -> (tensor<777xf32>, tensor<777xi64>) {
  %zero = arith.constant dense<0> : tensor<777xi64>
  %c = arith.cmpf olt, %x, %y : tensor<777xf32>
  %d = arith.cmpi sgt, %i, %zero : tensor<777xi64>
  %m = arith.andi %c, %d : tensor<777xi1>
  %r = arith.select %m, %x, %y : tensor<777xi1>, tensor<777xf32>
  %n = arith.subi %zero, %i : tensor<777xi64>
  %a = arith.select %d, %i, %n : tensor<777xi1>, tensor<777xi64>
  return %r, %a : tensor<777xf32>, tensor<777xi64>
}
""",
        [("777", "f32"), ("777", "f32"), ("777", "i64", "wide")],
        tolerance=0,
    )


def dynamic():
    add(
        "dynamic_add",
        """func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = arith.addf %a, %b : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
""",
        [("37x129", "f32"), ("37x129", "f32")],
        tolerance=0,
    )
    add(
        "dynamic_matmul",
        """func.func @f(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
""",
        [("50x64", "f16"), ("64x70", "f16")],
        tolerance=2e-3,
    )
    add(
        "dynamic_sum",
        """func.func @f(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce ins(%x : tensor<?x?xf32>) outs(%i : tensor<?xf32>) dimensions = [1]
    (%p: f32, %q: f32) {
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    }
  return %r : tensor<?xf32>
}
""",
        [("19x333", "f32", "unit")],
        tolerance=1e-4,
    )


elementwise_family()
products()
convolutions()
reductions()
movement()
dynamic()
