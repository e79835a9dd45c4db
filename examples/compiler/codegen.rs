// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code generation: the source of kernels in HIP's C++, which clang compiles without anything of ROCm.
//!
//! All kernels have the same form of parameters: the result, its rows and columns, the depth of a reduction or product,
//! and for each operand its pointer and strides.

use std::{
    fmt::Write as _,
    io::Write as _,
    process::{Command, Stdio},
};

use crate::{
    graph::{BINARY, Elementwise, REDUCE, Reduction, UNARY, elementwise, reduction},
    kernels::{Body, Form, Kernel},
};

/// Work-items of a workgroup.
pub const BLOCK: u32 = 256;

const HEAD: &str = "\
#define KERNEL extern \"C\" __attribute__((global, amdgpu_flat_work_group_size(256, 256)))
#define OPERAND(p) const float *p, unsigned p##_across, unsigned p##_along
#define AT(p, row, column) p[(row) * p##_across + (column) * p##_along]

static __attribute__((device)) inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");
}
";

/// The source of kernels.
pub fn source(kernels: &[Kernel]) -> String {
    let mut text = HEAD.to_owned();
    for kernel in kernels {
        let operands = (0..kernel.operands.len()).map(|index| format!(", OPERAND(p{index})"));
        let parameters = operands.collect::<String>();
        let code = match kernel.form {
            Form::Map => map(&format!("out[i] = {};", expression(&kernel.body))),
            Form::Reduce(name) => reduce(name, &expression(&kernel.body)),
            Form::MatMul => map("float sum = 0.0f;
  for (unsigned k = 0; k < depth; k++) sum += AT(p0, row, k) * AT(p1, k, column);
  out[i] = sum;"),
        };
        let name = &kernel.name;
        write!(
            text,
            "\nKERNEL void {name}(float *out, unsigned rows, unsigned columns, unsigned depth{parameters}) {{\n{code}}}\n"
        )
        .expect("a String takes all text");
    }
    text
}

/// A work-item for each element.
fn map(body: &str) -> String {
    format!(
        "  unsigned i = __builtin_amdgcn_workgroup_id_x() * {BLOCK} + __builtin_amdgcn_workitem_id_x();
  if (i >= rows * columns) return;
  unsigned row = i / columns, column = i % columns;
  {body}\n"
    )
}

/// A workgroup for each row: each work-item takes every 256th element, and a tree joins their results.
fn reduce(name: &str, element: &str) -> String {
    let reduction = reduction(name);
    let (code, start) = (elementwise(&BINARY, reduction.operation).code, reduction.start_code);
    let join = |a: &str, b: &str| code.replace("A", a).replace("B", b);
    format!(
        "  static __attribute__((shared)) float part[{BLOCK}];
  unsigned row = __builtin_amdgcn_workgroup_id_x(), item = __builtin_amdgcn_workitem_id_x();
  float sum = {start};
  for (unsigned column = item; column < depth; column += {BLOCK}) {{
    float element = {element};
    sum = {};
  }}
  part[item] = sum;
  barrier();
  for (unsigned width = {BLOCK} / 2; width > 0; width /= 2) {{
    if (item < width) part[item] = {};
    barrier();
  }}
  if (item == 0) out[row] = part[0];\n",
        join("sum", "element"),
        join("part[item]", "part[item + width]")
    )
}

fn expression(body: &Body) -> String {
    match body {
        Body::Load(operand) => format!("AT(p{operand}, row, column)"),
        Body::Unary(name, a) => {
            let operation = elementwise(&UNARY, name).code;
            operation.replacen("(A)", &format!("({})", expression(a)), 1)
        }
        Body::Binary(name, a, b) => {
            let operation = elementwise(&BINARY, name).code;
            let (left, right) = operation.split_once("(B)").expect("all of them name both operands");
            left.replacen("(A)", &format!("({})", expression(a)), 1) + &format!("({})", expression(b)) + right
        }
    }
}

/// The source of a kernel for each operation, for machines without clang: `build.sh`.
pub fn operations() -> String {
    let load = |operand| Box::new(Body::Load(operand));
    let kernel = |name: &str, form, body, operands: usize| Kernel {
        node: 0,
        form,
        body,
        operands: vec![0; operands],
        name: name.to_owned(),
    };
    let mut kernels = Vec::new();
    for Elementwise { name, .. } in UNARY {
        kernels.push(kernel(name, Form::Map, Body::Unary(name, load(0)), 1));
    }
    for Elementwise { name, .. } in BINARY {
        kernels.push(kernel(name, Form::Map, Body::Binary(name, load(0), load(1)), 2));
    }
    for Reduction { name, .. } in REDUCE {
        kernels.push(kernel(name, Form::Reduce(name), Body::Load(0), 1));
    }
    kernels.push(kernel("matmul", Form::MatMul, Body::Load(0), 2));
    format!(
        "// SPDX-License-Identifier: MIT OR Apache-2.0\n// Written by the compiler: --operations.\n{}",
        source(&kernels)
    )
}

/// The name of an installed clang that compiles for AMD GPUs.
pub fn clang() -> Option<String> {
    let named = std::env::var("CLANG").ok();
    let candidates =
        named.map_or_else(|| vec!["clang-19".to_owned(), "clang".to_owned()], |named| vec![named]);
    candidates.into_iter().find(|name| compile(name, "gfx942", &source(&[])).is_ok())
}

/// Compiles source for a processor such as `gfx942`, from memory to memory.
pub fn compile(clang: &str, processor: &str, source: &str) -> Result<Vec<u8>, String> {
    let mut command = Command::new(clang);
    command.args(["-x", "hip", "-", "-o", "-", "--cuda-device-only", "--no-gpu-bundle-output"]);
    command
        .args(["-nogpuinc", "-nogpulib", "-O2", "-ffp-contract=off"])
        .arg(format!("--offload-arch={processor}"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{clang}: {error}"))?;
    let mut input = child.stdin.take().expect("it was asked for");
    // clang reads all of its input before it writes.
    input.write_all(source.as_bytes()).map_err(|error| format!("{clang}: {error}"))?;
    drop(input);
    let output = child.wait_with_output().map_err(|error| format!("{clang}: {error}"))?;
    match output.status.success() && !output.stdout.is_empty() {
        true => Ok(output.stdout),
        false => Err(format!("{clang}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}
