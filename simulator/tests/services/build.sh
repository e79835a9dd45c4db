#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Compiles services.hip by clang-19, as code objects of version 4, 5 and 6. With --check compares with the files that are here.
set -eu
cd "$(dirname "$0")"
check=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() { # NAME.PART.co, options...
    local file=$1 part=${1%.co}
    part=${part#*.}
    shift
    clang-19 -O2 -nogpulib -nogpuinc -fno-ident -x hip --offload-device-only --no-gpu-bundle-output --offload-arch="$part" \
        -fuse-cuid=none -cuid=windlass_services -I../../../cts/kernels/src "$@" -o "$work/$file" services.hip
    if [ "$check" = --check ]; then cmp "$work/$file" "$file"; else cp "$work/$file" "$file"; fi
}
build services.gfx942.co -mcode-object-version=5
build services.gfx906.co -mcode-object-version=5
build print4.gfx942.co -mcode-object-version=4 -DFOURTH -DSMALL
build print6.gfx942.co -mcode-object-version=6 -DSMALL
