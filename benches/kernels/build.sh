#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Compiles the kernels of benches/simulated_kernels.rs for gfx942. The same compiler gives the same bytes: --check builds
# in another folder and compares. The files matmul.GPU.hsaco are Triton's, of its kernel in cts/kernels/triton/kernels.py for other
# GPUs than gfx942: `python cts/kernels/triton/kernels.py FOLDER GPU`, with Triton 3.9.
#
#   ./build.sh [--check]
#
# LLVM (default 19) is the suffix of clang; clang also needs ld.lld.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C

LLVM="${LLVM-19}"
CLANG="${CLANG:-clang${LLVM:+-$LLVM}}"
made=waits.gfx942.co

case "${1-}" in
  "" | --check) ;;
  *)
    echo "build.sh: unknown argument '$1'; usage: ./build.sh [--check]" >&2
    exit 2
    ;;
esac
command -v "$CLANG" >/dev/null || {
  echo "build.sh: '$CLANG' is not on PATH; Debian's packages are clang-19 and lld-19; LLVM=20 ./build.sh takes another release" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$CLANG" -x hip --offload-device-only --no-gpu-bundle-output --offload-arch=gfx942 -nogpuinc -nogpulib -O3 \
  -mcode-object-version=5 -fno-ident -fuse-cuid=none -cuid=windlass_waits -Wall -Wextra -Werror \
  -I../../cts/kernels/src -o "$work/$made" waits.hip
chmod 644 "$work/$made"
if [ "${1-}" = --check ]; then
  cmp "$work/$made" "$made" || {
    echo "build.sh: the committed file differs from the one that the compiler here makes; run ./build.sh" >&2
    exit 1
  }
else
  cp "$work/$made" "$made"
fi
