#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Rebuilds every compiled kernel of this folder, then manifest.json and the tables of README.md.
# The same compilers give the same bytes. --check builds in another folder and compares. sums.txt has the sums of the sources for clang
# and of the bundles made of them: --unchanged compares these, without a compiler.
#
#   ./build.sh [--check] [clang] [iree] [triton]     without names: all three, skipping those that are not installed
#   ./build.sh --unchanged
#
# LLVM (default 19) is the suffix of clang, clang-offload-bundler, ld.lld, llvm-mc. LLVM 19 does not know gfx9-4-generic:
# NEWER_CLANG (default clang-22) compiles for it. The containers need libzstd.so.1, as
# LLVM itself does. IREE_COMPILE names iree-compile,
# PYTHON_WITH_TRITON a Python that can import triton (default: from PATH). A virtual environment for both:
#   python3 -m venv V && V/bin/pip install triton==3.9.0 iree-base-compiler==3.13.0 numpy
#   IREE_COMPILE=V/bin/iree-compile PYTHON_WITH_TRITON=V/bin/python ./build.sh
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1

LLVM="${LLVM-19}"
CLANG="${CLANG:-clang${LLVM:+-$LLVM}}"
NEWER_CLANG="${NEWER_CLANG:-clang-22}"
BUNDLER="${BUNDLER:-clang-offload-bundler${LLVM:+-$LLVM}}"
LINKER="${LINKER:-ld.lld${LLVM:+-$LLVM}}"
ASSEMBLER="${ASSEMBLER:-llvm-mc${LLVM:+-$LLVM}}"
PYTHON="${PYTHON:-python3}"
IREE_COMPILE="${IREE_COMPILE:-iree-compile}"
PYTHON_WITH_TRITON="${PYTHON_WITH_TRITON:-$PYTHON}"

TARGETS=(gfx10-1-generic gfx10-3-generic gfx1030 gfx11-generic gfx1100 gfx12-generic gfx1201 gfx9-4-generic gfx900 gfx906 gfx908 gfx90a gfx942)
HOSTS=(x86_64 aarch64)
# The symbols that host code may need of a process. An object that needs more does not link.
C_LIBRARY="__tls_get_addr free malloc memcpy memset"
MATH_LIBRARY="ceil ceilf exp2f expf floor floorf fma fmaf fmaxf fminf frexp frexpf ldexp ldexpf log10f log2f logf
  roundeven roundevenf sincosf sqrtf trunc truncf"
HEADERS=$(cd ../../drivers/local/include && pwd)
MAIN_TARGET=gfx942
# A raw code object larger than this stays inside its bundle.
RAW_LIMIT=12288

sums() { sha256sum build.sh containers.py host.py src/*.* src/host/* ../../drivers/local/include/* bundles/*; }

check=no
wanted=()
for argument in "$@"; do
  case "$argument" in
    --check) check=yes ;;
    --unchanged)
      sums | diff sums.txt - && exit
      echo "build.sh: these files have changed since the last build; run ./build.sh clang" >&2
      exit 1
      ;;
    clang | iree | triton) wanted+=("$argument") ;;
    *)
      echo "build.sh: unknown argument '$argument'; usage: ./build.sh [--check] [clang] [iree] [triton], or --unchanged" >&2
      exit 2
      ;;
  esac
done
explicit=${#wanted[@]}
[ "$explicit" -gt 0 ] || wanted=(clang iree triton)

# The build runs in a copy of this folder, which is then copied back or compared.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r src iree triton containers.py describe.py host.py README.md "$work/"
if [ -e manifest.json ]; then cp manifest.json "$work/"; fi
objects="$work/objects"
mkdir -p "$work/bundles" "$objects"
: >"$work/made"

need() { # need TOOL HINT
  command -v "$1" >/dev/null && return
  echo "build.sh: '$1' is not on PATH; $2" >&2
  exit 1
}

skip() { # skip WHAT WHY: an error if WHAT was asked for by name
  if [ "$explicit" -gt 0 ]; then
    echo "build.sh: cannot make the $1 kernels: $2" >&2
    exit 1
  fi
  echo "build.sh: skipping the $1 kernels, their files stay as they are: $2" >&2
}

note() { # note FIELD...: one line for describe.py
  local IFS=$'\t'
  echo "$*" >>"$work/made"
}

# The newest version that all HIPs with this target read. HIP 5.2 knows those of version 4.
code_object_version() {
  case "$1" in
    gfx900 | gfx906 | gfx908 | gfx90a*) echo 4 ;;
    *-generic) echo 6 ;;
    *) echo 5 ;;
  esac
}

compile() { # compile SOURCE TARGET OUTPUT [FLAG...]
  local source=$1 target=$2 output=$3 version flags compiler=$CLANG
  case "$target" in
    gfx9-4-generic) compiler=$NEWER_CLANG ;;
  esac
  version=$(code_object_version "$target")
  flags=(
    -O2 -mcode-object-version="$version" -nogpulib -fno-ident -ffp-contract=off -Wall -Wextra -Werror
  )
  shift 3
  case "$version $source" in
    "4 "*.hip) flags+=(-include src/device_v4.h) ;;
    # LLVM 19 warns of version 6, and has no name for that warning.
    "6 "*) flags+=(-w) ;;
  esac
  case "$source" in
    *.hip) flags+=(
      -x hip --offload-device-only --no-gpu-bundle-output --offload-arch="$target" -nogpuinc
      -munsafe-fp-atomics -fuse-cuid=none -cuid="windlass_$(basename "$source" .hip)"
    ) ;;
    *) flags+=(--target=amdgcn-amd-amdhsa -mcpu="$target") ;;
  esac
  "$compiler" "${flags[@]}" "$@" -o "$output" "$source"
}

# library HOST SONAME NAME...: a shared object that exports the names, to link against.
library() {
  local host=$1 soname=$2 name
  shift 2
  for name in "$@"; do
    printf '.globl %s\n.type %s, %%function\n%s:\n' "$name" "$name" "$name"
  done | "$ASSEMBLER" -filetype=obj -triple="$host-unknown-linux-gnu" -o "$objects/$soname.$host.o"
  "$LINKER" -shared -soname="$soname" "$objects/$soname.$host.o" -o "$objects/$soname.$host"
}

# host_code SOURCE OBJECT OUTPUT [FLAG...]: OUTPUT.HOST for each host, from a source with the code object OBJECT. No output
# if none of its kernels can run on a host.
host_code() {
  local source=$1 object=$2 output=$3 host flag words machine compiler=(
    -x c++ -std=c++17 -O2 -fPIC -ffreestanding -nostdlibinc -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables
    -ffunction-sections -fdata-sections -fno-ident -ffp-contract=off
    -Wall -Wextra -Werror -Wno-unused-function -Isrc/host -I"$HEADERS"
  ) linker=(
    -shared -z defs -z now -z noseparate-code --gc-sections --strip-all --build-id=none --hash-style=both --as-needed
    --version-script="$objects/exports"
  )
  shift 3
  for flag in "$@"; do
    case "$flag" in
      -Wl,*)
        IFS=, read -r -a words <<<"${flag#-Wl,}"
        linker+=("${words[@]}")
        ;;
      *) compiler+=("$flag") ;;
    esac
  done
  "$PYTHON" host.py "$source" "$object" >"$output.cpp"
  [ -s "$output.cpp" ] || return 0
  for host in "${HOSTS[@]}"; do
    machine=()
    # If clang finds a GCC for AArch64, it would call atomics of its libgcc.
    [ "$host" != aarch64 ] || machine=(-mno-outline-atomics)
    "$CLANG" "${compiler[@]}" "${machine[@]}" --target="$host-unknown-linux-gnu" -c -o "$output.$host.o" "$output.cpp"
    "$LINKER" "${linker[@]}" "$output.$host.o" "$objects/libm.so.6.$host" "$objects/libc.so.6.$host" -o "$output.$host"
  done
}

# bundle OUTPUT FLAGS TARGET=OBJECT...: an empty host entry and the objects.
bundle() {
  local output=$1 flags=$2 ids=host-x86_64-unknown-linux inputs=(-input=/dev/null) entry
  shift 2
  for entry in "$@"; do
    ids+=",hipv4-amdgcn-amd-amdhsa--${entry%%=*}"
    inputs+=(-input="${entry#*=}")
  done
  # shellcheck disable=SC2086
  "$BUNDLER" -type=o -bundle-align=4096 -targets="$ids" "${inputs[@]}" -output="$output" $flags
}

# bundle_with_host OUTPUT HOSTCODE TARGET=OBJECT...: the same with the output of host_code, if there is any.
bundle_with_host() {
  local output=$1 code=$2 host entries=()
  shift 2
  bundle "$output" "" "$@"
  for host in "${HOSTS[@]}"; do
    if [ -e "$code.$host" ]; then entries+=("host-$host-unknown-linux-gnu-=$code.$host"); fi
  done
  if [ "${#entries[@]}" -gt 0 ]; then "$PYTHON" containers.py host "$output" "$output" "${entries[@]}"; fi
}

# listed PATH CONTAINER TARGET...: the description of one file.
listed() {
  local path=$1 container=$2
  shift 2
  echo "$path|$container|$*"
}

# Variants of vector_add: the other headers and methods, no compression, target features, generic targets.
build_variants() {
  local flavour base=$work/bundles/vector_add plain=() features=() generic=()
  for flavour in "${TARGETS[@]}"; do plain+=("$flavour=$objects/vector_add.$flavour.co"); done
  bundle_with_host "$base.hipfb" "$objects/vector_add" "${plain[@]}"
  "$PYTHON" containers.py zlib "$base.hipfb" "$base.v2-zlib.ccob"
  "$PYTHON" containers.py 3 "$base.ccob" "$base.v3-zstd.ccob"
  "$PYTHON" containers.py 1 "$base.ccob" "$base.v1-zstd.ccob"
  for flavour in gfx90a:xnack+ gfx90a:xnack- gfx942:sramecc+:xnack-; do
    compile src/vector_add.hip "$flavour" "$objects/vector_add.$flavour.co"
    features+=("$flavour=$objects/vector_add.$flavour.co")
  done
  bundle "$base.features.ccob" -compress "${features[@]}"
  for flavour in gfx10-3-generic gfx11-generic gfx9-generic gfx1100; do
    compile src/vector_add.hip "$flavour" "$objects/vector_add.$flavour.v6.co" -mcode-object-version=6 -w
    generic+=("$flavour=$objects/vector_add.$flavour.v6.co")
  done
  bundle "$base.generic.ccob" -compress "${generic[@]}"
  variants=(
    "$(listed bundles/vector_add.hipfb "uncompressed bundle" "${HOSTS[@]/#/host-}" "${TARGETS[@]}")"
    "$(listed bundles/vector_add.v2-zlib.ccob "CCOB version 2, zlib" "${HOSTS[@]/#/host-}" "${TARGETS[@]}")"
    "$(listed bundles/vector_add.v3-zstd.ccob "CCOB version 3, zstd" "${HOSTS[@]/#/host-}" "${TARGETS[@]}")"
    "$(listed bundles/vector_add.v1-zstd.ccob "CCOB version 1, zstd" "${HOSTS[@]/#/host-}" "${TARGETS[@]}")"
    "$(listed bundles/vector_add.features.ccob "CCOB version 2, zstd" host "${features[@]%%=*}")"
    "$(listed bundles/vector_add.generic.ccob "CCOB version 2, zstd, code object version 6" host "${generic[@]%%=*}")"
    "$(listed bundles/libkernels.so "x86-64 shared object, .hip_fatbin: the CCOB above, then an uncompressed bundle of saxpy" "${HOSTS[@]/#/host-}" "${TARGETS[@]}" host gfx942)"
  )
}

# The layout that clang's linker gives two translation units: bundles at multiples of 4096 in .hip_fatbin, and a
# wrapper for each that points to it. The second bundle is not compressed.
build_library() {
  bundle "$objects/saxpy.hipfb" "" "$MAIN_TARGET=$objects/saxpy.$MAIN_TARGET.co"
  cat >"$objects/library.s" <<ASM
  .section .hip_fatbin, "a", @progbits
  .p2align 12
.Lfirst:
  .incbin "$work/bundles/vector_add.ccob"
  .p2align 12
.Lsecond:
  .incbin "$objects/saxpy.hipfb"
  .section .hipFatBinSegment, "aw", @progbits
  .p2align 3
  .long 0x48495046, 1
  .quad .Lfirst, 0
  .long 0x48495046, 1
  .quad .Lsecond, 0
ASM
  "$ASSEMBLER" -filetype=obj -triple=x86_64-unknown-linux-gnu "$objects/library.s" -o "$objects/library.o"
  "$LINKER" -shared -soname=libkernels.so --build-id=none -z max-page-size=4096 "$objects/library.o" \
    -o "$work/bundles/libkernels.so"
}

build_clang() {
  need "$CLANG" "Debian's package is clang-19; LLVM=20 ./build.sh takes another release"
  need "$NEWER_CLANG" "Debian's package is clang-22"
  need "$BUNDLER" "it comes with clang"
  need "$LINKER" "Debian's package is lld-19"
  need "$ASSEMBLER" "Debian's package is llvm-19"
  local source name target host flags entries hosts main targets version files
  version="clang $("$CLANG" -dumpversion)"
  cd "$work"
  echo '{ local: windlass_source_*; };' >"$objects/exports"
  for host in "${HOSTS[@]}"; do
    # shellcheck disable=SC2086
    library "$host" libc.so.6 $C_LIBRARY
    # shellcheck disable=SC2086
    library "$host" libm.so.6 $MATH_LIBRARY
  done
  for source in src/*.hip src/*.cl src/*.c; do
    name=$(basename "${source%.*}")
    read -r -a flags < <(sed -n 's|^// flags: ||p' "$source" | grep . || echo)
    read -r -a targets < <(sed -n 's|^// targets: ||p' "$source" | grep . || echo "${TARGETS[@]}")
    entries=()
    for target in "${targets[@]}"; do
      compile "$source" "$target" "$objects/$name.$target.co" "${flags[@]}"
      entries+=("$target=$objects/$name.$target.co")
    done
    main=$objects/$name.$MAIN_TARGET.co
    host_code "$source" "$main" "$objects/$name" "${flags[@]}"
    hosts=(host)
    if [ -e "$objects/$name.${HOSTS[0]}" ]; then hosts=("${HOSTS[@]/#/host-}"); fi
    bundle_with_host "$objects/$name.hipfb" "$objects/$name" "${entries[@]}"
    "$PYTHON" containers.py zstd "$objects/$name.hipfb" "bundles/$name.ccob"
    files=("$(listed "bundles/$name.ccob" "CCOB version 2, zstd" "${hosts[@]}" "${targets[@]}")")
    if [ "$(stat -c %s "$main")" -le "$RAW_LIMIT" ]; then
      cp "$main" bundles/
      files+=("$(listed "bundles/$name.$MAIN_TARGET.co" "code object" "$MAIN_TARGET")")
    fi
    case "$name" in
      vector_add)
        build_variants
        files+=("${variants[@]}")
        ;;
    esac
    note "$name" "$source" "$version${flags[*]:+ ${flags[*]}}" "$main" "${files[@]}"
  done
  build_library
  cd - >/dev/null
  chmod 644 "$work"/bundles/*
  made_paths+=(bundles)
}

build_iree() {
  if ! command -v "$IREE_COMPILE" >/dev/null; then
    skip iree "no '$IREE_COMPILE' on PATH; set IREE_COMPILE (pip package iree-base-compiler)"
    return
  fi
  local source name version files options=(--iree-hal-target-device=hip --iree-rocm-target="$MAIN_TARGET")
  version="IREE $("$IREE_COMPILE" --version | sed -n 's/^ *IREE compiler version \([0-9.]*\).*/\1/p')"
  cd "$work"
  for source in iree/*.mlir; do
    name=$(basename "$source" .mlir)
    mkdir "$objects/$name"
    "$IREE_COMPILE" "${options[@]}" --iree-hal-dump-executable-binaries-to="$objects/$name" \
      --iree-hal-dump-executable-sources-to="$objects/$name" "$source" -o "$objects/$name.vmfb"
    cp "$objects/$name"/*.hsaco "iree/$name.$MAIN_TARGET.hsaco"
    files=("$(listed "iree/$name.$MAIN_TARGET.hsaco" "code object" "$MAIN_TARGET")")
    if [ "$name" = add ]; then
      # The container records the path of its input.
      mv "$objects/$name"/*.mlir "iree/$name.executable.mlir"
      "$IREE_COMPILE" "${options[@]}" --compile-mode=hal-executable "iree/$name.executable.mlir" -o "iree/$name.$MAIN_TARGET.hip1"
      rm "iree/$name.executable.mlir"
      files+=("$(listed "iree/$name.$MAIN_TARGET.hip1" "IREE HIP1 container" "$MAIN_TARGET")")
    fi
    note "iree_$name" "$source" "$version" "$work/iree/$name.$MAIN_TARGET.hsaco" "${files[@]}"
  done
  cd - >/dev/null
  chmod 644 "$work"/iree/*
  made_paths+=(iree)
}

build_triton() {
  if ! "$PYTHON_WITH_TRITON" -I -c 'import triton' 2>/dev/null; then
    skip triton "'$PYTHON_WITH_TRITON' cannot import triton; set PYTHON_WITH_TRITON (pip package triton)"
    return
  fi
  local hsaco name version
  version="Triton $("$PYTHON_WITH_TRITON" -I -c 'import triton; print(triton.__version__)')"
  TRITON_CACHE_DIR="$objects/cache" TRITON_DISABLE_LINE_INFO=1 "$PYTHON_WITH_TRITON" "$work/triton/kernels.py" "$work/triton" "$MAIN_TARGET"
  for hsaco in "$work"/triton/*.hsaco; do
    name=$(basename "$hsaco" ".$MAIN_TARGET.hsaco")
    note "triton_$name" triton/kernels.py "$version" "$hsaco" \
      "$(listed "triton/$(basename "$hsaco")" "code object" "$MAIN_TARGET")"
  done
  chmod 644 "$work"/triton/*.*
  made_paths+=(triton)
}

made_paths=()
variants=()
for what in "${wanted[@]}"; do
  "build_$what"
done
"$PYTHON" "$work/describe.py" "$work/made" "$work"

if [ "$check" = yes ]; then
  status=0
  for path in "${made_paths[@]}" manifest.json README.md; do
    diff -rq "$path" "$work/$path" || status=1
  done
  [ "$status" -eq 0 ] || echo "build.sh: the committed files differ from those that the compilers here make; run ./build.sh" >&2
  exit "$status"
fi
for path in "${made_paths[@]}"; do
  rm -rf "$path"
  cp -r "$work/$path" .
done
cp "$work/manifest.json" "$work/README.md" .
[[ " ${wanted[*]} " != *" clang "* ]] || sums >sums.txt
