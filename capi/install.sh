#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Copies the C library, its header and a pkg-config file to a prefix.
#
#     cargo build --release -p windlass-capi && capi/install.sh PREFIX [FOLDER]
#
# FOLDER is where cargo left the library: target/release unless it is given.
set -eu
if [ $# -lt 1 ]; then
    echo "usage: $0 PREFIX [FOLDER]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
built=${2:-$here/../target/release}
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)

mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
cp "$here/include/windlass.h" "$prefix/include/"
cp "$built/libwindlass.so" "$built/libwindlass.a" "$prefix/lib/"
cat >"$prefix/lib/pkgconfig/windlass.pc" <<PC
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: windlass
Description: An async-first hardware abstraction layer for AMD GPUs
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lwindlass
Libs.private: -lpthread -ldl -lm
PC
