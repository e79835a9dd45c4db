#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Copies the C library, its header with its pages, a pkg-config file and a CMake package to a prefix, which can be moved later.
#
#     cargo build --release -p windlass-capi [-p windlass-mgpu] && capi/install.sh PREFIX [FOLDER]
#
# If MLIR's GPU runtime lies there, it is copied too, with a pkg-config file of its own. It needs no header.
#
# As for other packages, DESTDIR goes before the prefix, and LIBDIR is the folder of libraries in it: lib, lib64,
# lib/x86_64-linux-gnu. Programs that use an older library meanwhile keep it.
#
# FOLDER is where cargo left the library: target/release unless it is given. WINDLASS_SONAME=libwindlass.so.0.1, for the build
# and for this script, names the shared library so, and libwindlass.so leads to it. MLIR's runtime gets the same version.
set -eu
umask 022
if [ $# -lt 1 ]; then
    echo "usage: $0 PREFIX [FOLDER]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
built=${2:-$here/../target/release}
mkdir -p "${DESTDIR:-}$1"
prefix=$(cd "${DESTDIR:-}$1" && pwd)
libdir=${LIBDIR:-lib}
lib=$prefix/$libdir
# From the folder of libraries to the prefix.
up=$(echo "$libdir" | sed 's|[^/]\{1,\}|..|g')
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)

soname=${WINDLASS_SONAME:-libwindlass.so}
mgpu=libwindlass_mgpu.so${soname#*.so}

put() { # mode, file, place: a new file, also where a program has the old one loaded
    cp "$2" "$3.new"
    chmod "$1" "$3.new"
    mv -f "$3.new" "$3"
}

mkdir -p "$prefix/include/windlass" "$lib/pkgconfig" "$lib/cmake/windlass"
for page in "$here"/include/windlass/*.h; do
    put 644 "$page" "$prefix/include/windlass/${page##*/}"
done
put 644 "$here/include/windlass.h" "$prefix/include/windlass.h"
put 644 "$built/libwindlass.a" "$lib/libwindlass.a"
put 755 "$built/libwindlass.so" "$lib/$soname"
[ "$soname" = libwindlass.so ] || ln -sf "$soname" "$lib/libwindlass.so"
if [ -e "$built/libwindlass_mgpu.so" ]; then
    put 755 "$built/libwindlass_mgpu.so" "$lib/$mgpu"
    [ "$mgpu" = libwindlass_mgpu.so ] || ln -sf "$mgpu" "$lib/libwindlass_mgpu.so"
    cat >"$lib/pkgconfig/windlass-mgpu.pc" <<PC
prefix=\${pcfiledir}/../$up
libdir=\${pcfiledir}/..

Name: windlass-mgpu
Description: MLIR's GPU runtime functions over Windlass
Version: $version
Libs: -L\${libdir} -lwindlass_mgpu
PC
fi
cat >"$lib/pkgconfig/windlass.pc" <<PC
prefix=\${pcfiledir}/../$up
libdir=\${pcfiledir}/..
includedir=\${prefix}/include

Name: windlass
Description: An async-first hardware abstraction layer for AMD GPUs
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lwindlass
Libs.private: -lpthread -ldl -lm
PC
cat >"$lib/cmake/windlass/windlass-config.cmake" <<'CMAKE'
# find_package(windlass) defines windlass::windlass, the shared library, and windlass::static. If MLIR's GPU runtime is
# installed, it is windlass::mgpu.
get_filename_component(windlass_LIBRARIES "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
# Debian has one level more between lib and the libraries.
find_path(windlass_INCLUDES windlass.h NO_DEFAULT_PATH
  PATHS "${windlass_LIBRARIES}/../include" "${windlass_LIBRARIES}/../../include")
if(NOT windlass_INCLUDES)
  set(windlass_FOUND FALSE)
  set(windlass_NOT_FOUND_MESSAGE "windlass.h is not in include, beside ${windlass_LIBRARIES}")
  return()
endif()
if(NOT TARGET windlass::windlass)
  add_library(windlass::windlass SHARED IMPORTED)
  set_target_properties(windlass::windlass PROPERTIES
    IMPORTED_LOCATION "${windlass_LIBRARIES}/libwindlass.so"
    IMPORTED_SONAME "@SONAME@"
    INTERFACE_INCLUDE_DIRECTORIES "${windlass_INCLUDES}")
  add_library(windlass::static STATIC IMPORTED)
  set_target_properties(windlass::static PROPERTIES
    IMPORTED_LOCATION "${windlass_LIBRARIES}/libwindlass.a"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m"
    INTERFACE_INCLUDE_DIRECTORIES "${windlass_INCLUDES}")
endif()
if(EXISTS "${windlass_LIBRARIES}/libwindlass_mgpu.so" AND NOT TARGET windlass::mgpu)
  add_library(windlass::mgpu SHARED IMPORTED)
  set_target_properties(windlass::mgpu PROPERTIES
    IMPORTED_LOCATION "${windlass_LIBRARIES}/libwindlass_mgpu.so"
    IMPORTED_SONAME "@MGPU@")
endif()
CMAKE
sed -i "s/@SONAME@/$soname/; s/@MGPU@/$mgpu/" "$lib/cmake/windlass/windlass-config.cmake"
# Before 1.0, programs ask for the minor version that they were written for.
cat >"$lib/cmake/windlass/windlass-config-version.cmake" <<CMAKE
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_EQUAL "$version")
  set(PACKAGE_VERSION_EXACT TRUE)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
elseif(PACKAGE_FIND_VERSION VERSION_LESS "$version" AND PACKAGE_FIND_VERSION VERSION_GREATER_EQUAL "${version%.*}")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
CMAKE
