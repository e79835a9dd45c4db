#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Remakes the shared objects of this folder, for two machines, with clang and lld alone.
set -eu
cd "$(dirname "$0")"
clang=${CLANG:-clang}
for machine in x86_64 aarch64; do
    for source in *.c; do
        "$clang" --target="$machine-unknown-linux-gnu" -std=c99 -Wall -Wextra -Wpedantic -O1 -fPIC -ffreestanding \
            -nostdlib -shared -fuse-ld=lld -Wl,--strip-all,--build-id=none -I../../include \
            -o "${source%.c}.$machine.so" "$source"
    done
done
