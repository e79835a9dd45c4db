#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Remakes every compiled kernel of this folder, and manifest.json and the table in README.md from them.
# The same compilers give the same bytes: `./build.sh --check` builds aside and compares.
#
#   ./build.sh [--check] [clang] [iree] [triton]     without names: all three, skipping what is not installed
#
# LLVM (default 19) chooses the suffix of clang, clang-offload-bundler, ld.lld, llvm-objcopy.
# IREE_COMPILE and PYTHON_WITH_TRITON name the other two compilers (default: from PATH).
set -euo pipefail
cd "$(dirname "$0")"

LLVM="${LLVM-19}"
CLANG="${CLANG:-clang${LLVM:+-$LLVM}}"
BUNDLER="${BUNDLER:-clang-offload-bundler${LLVM:+-$LLVM}}"
LINKER="${LINKER:-ld.lld${LLVM:+-$LLVM}}"
OBJCOPY="${OBJCOPY:-llvm-objcopy${LLVM:+-$LLVM}}"
IREE_COMPILE="${IREE_COMPILE:-iree-compile}"
PYTHON="${PYTHON:-python3}"
PYTHON_WITH_TRITON="${PYTHON_WITH_TRITON:-$PYTHON}"
export ZSTD_CLEVEL= LC_ALL=C

TARGETS=(gfx1100 gfx90a gfx942)
RAW_TARGET=gfx942

check=no
wanted=()
for argument in "$@"; do
  case "$argument" in
    --check) check=yes ;;
    clang | iree | triton) wanted+=("$argument") ;;
    *) echo "build.sh: unknown argument '$argument'; usage: ./build.sh [--check] [clang] [iree] [triton]" >&2; exit 2 ;;
  esac
done
explicit=${#wanted[@]}
[ "$explicit" -gt 0 ] || wanted=(clang iree triton)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bundles" "$work/iree" "$work/triton" "$work/objects"

# missing WHAT TOOL HINT: true if the tool is absent, after saying so. Asking for WHAT by name makes it an error.
missing() {
  command -v "$2" >/dev/null && return 1
  if [ "$1" = clang ] || [ "$explicit" -gt 0 ]; then
    echo "build.sh: $1 needs '$2', which is not on PATH; $3" >&2
    exit 1
  fi
  echo "build.sh: skipping $1: no '$2' on PATH; $3" >&2
}

# compile SOURCE TARGET OUTPUT [FLAG...]
compile() {
  local source=$1 target=$2 output=$3 name
  shift 3
  name=$(basename "${source%.*}")
  "$CLANG" -x hip --offload-device-only --no-gpu-bundle-output --offload-arch="$target" -nogpuinc -nogpulib \
    -O2 -mcode-object-version=5 -munsafe-fp-atomics -fno-ident -fuse-cuid=none -cuid="windlass_$name" \
    -Wall -Wextra -Werror "$@" -o "$output" "$source"
}

# bundle OUTPUT NAME FLAG...: the objects of one source, with an empty host entry, as one bundle.
bundle() {
  local output=$1 name=$2 ids=host-x86_64-unknown-linux-- inputs=(-input=/dev/null) target
  shift 2
  for target in "${TARGETS[@]}"; do
    ids+=",hipv4-amdgcn-amd-amdhsa--$target"
    inputs+=(-input="$work/objects/$name.$target.co")
  done
  "$BUNDLER" -type=o -bundle-align=4096 -targets="$ids" "${inputs[@]}" -output="$output" "$@"
}

build_clang() {
  missing clang "$CLANG" "Debian's package is clang-19; LLVM=20 picks another release" || true
  missing clang "$BUNDLER" "it comes with clang" || true
  missing clang "$LINKER" "Debian's package is lld-19" || true
  missing clang "$OBJCOPY" "Debian's package is llvm-19" || true
  local source name target flags
  for source in src/*.hip src/*.cl src/*.c; do
    [ -e "$source" ] || continue
    name=$(basename "${source%.*}")
    read -r -a flags < <(sed -n 's|^// flags: ||p' "$source" | head -1; echo)
    for target in "${TARGETS[@]}"; do
      compile "$source" "$target" "$work/objects/$name.$target.co" "${flags[@]}"
    done
    cp "$work/objects/$name.$RAW_TARGET.co" "$work/bundles/"
    bundle "$work/bundles/$name.ccob" "$name" -compress
  done
}

for what in "${wanted[@]}"; do
  "build_$what"
done

install -d bundles
chmod 644 "$work"/bundles/*
cp "$work"/bundles/* bundles/
