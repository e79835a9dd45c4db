#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Rebuilds operations.ccob, the kernels of all operations for machines without clang. With --check it builds elsewhere
# and compares. LLVM (default 19) is the suffix of clang, ld.lld and clang-offload-bundler; COMPILER names the built compiler.
set -euo pipefail
cd "$(dirname "$0")"
llvm=${LLVM-19}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=${COMPILER:-}
if [ -z "$compiler" ]; then
    # The packages of `cargo test --workspace` serve here too.
    (cd ../.. && cargo build --quiet --locked --workspace --example compiler)
    compiler=${CARGO_TARGET_DIR:-../../target}/debug/examples/compiler
fi
"$compiler" --operations >"$work/operations.hip"
ids=host-x86_64-unknown-linux inputs=(-input=/dev/null)
for target in gfx1100 gfx90a gfx942; do
    # HIP 5.2 reads code objects up to version 4, and its GPU here is the gfx90a.
    version=5
    [ $target != gfx90a ] || version=4
    "clang-$llvm" -x hip - --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O2 -ffp-contract=off -fuse-cuid=none \
        -mcode-object-version=$version --offload-arch=$target -o "$work/$target" <"$work/operations.hip"
    ids+=,hipv4-amdgcn-amd-amdhsa--$target inputs+=("-input=$work/$target")
done
"clang-offload-bundler-$llvm" -type=o -bundle-align=4096 -compress -targets="$ids" "${inputs[@]}" -output="$work/operations.ccob"
if [ "${1:-}" = --check ]; then
    cmp "$work/operations.ccob" operations.ccob
else
    cp "$work/operations.ccob" operations.ccob
fi
