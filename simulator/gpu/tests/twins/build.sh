#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Compiles the kernels of src/ twice. For the host, to run them: that makes inputs.bin, expected.bin and kernels.txt.
# For each simulated GPU, without optimisation and with: that makes kernels.O0.ccob and kernels.O3.ccob.
# The same compilers give the same bytes: --check builds in another folder and compares. sums.txt has the sums of the sources and of the
# files made of them: --unchanged compares these, without a compiler.
#
#   ./build.sh [--check | --unchanged]
#
# LLVM (default 19) is the suffix of clang, clang-offload-bundler and ld.lld. The host is x86-64 with glibc.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C

LLVM="${LLVM-19}"
CLANG="${CLANG:-clang${LLVM:+-$LLVM}}"
BUNDLER="${BUNDLER:-clang-offload-bundler${LLVM:+-$LLVM}}"
LINKER="${LINKER:-ld.lld${LLVM:+-$LLVM}}"

sums() { sha256sum build.sh src/* *.bin *.ccob kernels.txt; }

case "${1-}" in
  "" | --check) ;;
  --unchanged)
    sums | diff sums.txt - && exit
    echo "build.sh: these files have changed since the last build; run ./build.sh" >&2
    exit 1
    ;;
  *)
    echo "build.sh: unknown argument '$1'; usage: ./build.sh [--check | --unchanged]" >&2
    exit 2
    ;;
esac
for tool in "$CLANG" "$BUNDLER" "$LINKER"; do
  command -v "$tool" >/dev/null || {
    echo "build.sh: '$tool' is not on PATH; Debian's packages are clang-19 and lld-19; LLVM=20 ./build.sh takes another release" >&2
    exit 1
  }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r src "$work/"
mkdir "$work/made"

# Results must not depend on the compiler's freedom: no contraction, no wider intermediate results, wrapping integers,
# accesses through any type.
common=(
  -std=gnu17 -ffp-contract=off -Xclang -ffloat16-excess-precision=none -fwrapv -fno-strict-aliasing -fno-ident
  -Wall -Wextra -Werror -Wno-unused-parameter -Wno-unused-function -Wno-atomic-alignment
)
cd "$work/src"
"$CLANG" "${common[@]}" -O1 -o "$work/host" host.c kernels.c -lm
"$work/host" "$work/made"
triple=hipv4-amdgcn-amd-amdhsa-
for level in O0 O3; do
  # For all but gfx942, the version of code objects that HIP 5.2 accepts, and the current one.
  [ "$level" = O0 ] && older=4 || older=5
  targets=host-x86_64-unknown-linux inputs=(-input=/dev/null)
  for gpu in gfx942:5 gfx90a:$older gfx908:$older gfx906:$older gfx900:$older gfx1100:5 gfx1150:5 gfx1030:$older gfx1010:$older gfx1201:5; do
    "$CLANG" --target=amdgcn-amd-amdhsa "-mcpu=${gpu%:*}" "-mcode-object-version=${gpu#*:}" -nogpulib "${common[@]}" \
      "-$level" kernels.c -o "$work/$level.${gpu%:*}.co"
    targets+=,$triple-${gpu%:*}
    inputs+=("-input=$work/$level.${gpu%:*}.co")
  done
  "$BUNDLER" -type=o -bundle-align=4096 -compress "-targets=$targets" "${inputs[@]}" -output="$work/made/kernels.$level.ccob"
  # The same in waves of 64 lanes, where a GPU has both sizes.
  targets=host-x86_64-unknown-linux inputs=(-input=/dev/null)
  for gpu in gfx1100 gfx1150 gfx1030 gfx1010 gfx1201; do
    "$CLANG" --target=amdgcn-amd-amdhsa -mcpu=$gpu -mwavefrontsize64 -mcode-object-version=5 -nogpulib "${common[@]}" \
      "-$level" kernels.c -o "$work/$level.$gpu.wave64.co"
    targets+=,$triple-$gpu
    inputs+=("-input=$work/$level.$gpu.wave64.co")
  done
  "$BUNDLER" -type=o -bundle-align=4096 -compress "-targets=$targets" "${inputs[@]}" \
    -output="$work/made/kernels.$level.wave64.ccob"
done
cd - >/dev/null
chmod 644 "$work"/made/*

if [ "${1-}" = --check ]; then
  status=0
  for file in "$work"/made/*; do
    cmp "$file" "$(basename "$file")" || status=1
  done
  [ "$status" -eq 0 ] || echo "build.sh: the committed files differ from those that the compilers here make; run ./build.sh" >&2
  exit "$status"
fi
cp "$work"/made/* .
sums >sums.txt
