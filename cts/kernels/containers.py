# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the bundles that the installed bundler cannot write: it takes only one host and one header.

    python3 containers.py host BUNDLE OUTPUT ID=FILE...    these entries in place of the first one, which is empty
    python3 containers.py zstd BUNDLE OUTPUT    a CCOB of version 2 as the bundler compresses it
    python3 containers.py zlib BUNDLE OUTPUT    a CCOB of version 2 whose payload is zlib
    python3 containers.py 1 CCOB OUTPUT         the same payload under a header of version 1
    python3 containers.py 3 CCOB OUTPUT         the same payload under a header of version 3

BUNDLE is an uncompressed bundle, CCOB one of version 2.
"""

import ctypes
import hashlib
import struct
import sys
import zlib

MAGIC = b"CCOB"
ZLIB, ZSTD = 0, 1
BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
ALIGNMENT = 4096


def read_bundle(data):
    """The (id, bytes) of an uncompressed bundle."""
    at = len(BUNDLE_MAGIC) + 8
    if not data.startswith(BUNDLE_MAGIC):
        sys.exit("containers.py: not an uncompressed bundle")
    entries = []
    for _ in range(struct.unpack_from("<Q", data, len(BUNDLE_MAGIC))[0]):
        offset, size, length = struct.unpack_from("<QQQ", data, at)
        at += 24 + length
        entries.append((data[at - length : at], data[offset : offset + size]))
    return entries


def write_bundle(entries):
    """An uncompressed bundle, laid out as the bundler does with -bundle-align=4096."""
    head = BUNDLE_MAGIC + struct.pack("<Q", len(entries))
    end = len(head) + sum(24 + len(id_) for id_, _ in entries)
    placed = b""
    for id_, data in entries:
        start = -(-end // ALIGNMENT) * ALIGNMENT
        placed += bytes(start - end) + data
        end = start + len(data)
        head += struct.pack("<QQQ", start, len(data), len(id_)) + id_
    return head + placed


def with_hosts(data, added):
    (_, first), *others = read_bundle(data)
    if first:
        sys.exit("containers.py: the first entry holds something already")
    entries = []
    for argument in added:
        id_, _, path = argument.rpartition("=")
        with open(path, "rb") as file:
            entries.append((id_.encode(), file.read()))
    return write_bundle(entries + others)


def zstd(data):
    """Compressed with the bundler's parameters."""
    library = ctypes.CDLL("libzstd.so.1")
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    library.ZSTD_compressBound.restype = library.ZSTD_compress2.restype = size
    library.ZSTD_compressBound.argtypes = [size]
    library.ZSTD_createCCtx.restype = pointer
    library.ZSTD_freeCCtx.argtypes = [pointer]
    library.ZSTD_CCtx_setParameter.argtypes = [pointer, ctypes.c_int, ctypes.c_int]
    library.ZSTD_compress2.argtypes = [pointer, pointer, size, ctypes.c_char_p, size]
    context = library.ZSTD_createCCtx()
    level, long_distance_matching = (100, 3), (160, 1)
    for parameter, value in (level, long_distance_matching):
        library.ZSTD_CCtx_setParameter(context, parameter, value)
    output = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    made = library.ZSTD_compress2(context, output, len(output), data, len(data))
    library.ZSTD_freeCCtx(context)
    if made > len(output):
        sys.exit("containers.py: libzstd.so.1 could not compress a bundle")
    return output.raw[:made]


def version2(method, plain_size, digest, payload):
    return struct.pack("<4sHHIIQ", MAGIC, 2, method, 24 + len(payload), plain_size, digest) + payload


def version1(method, plain_size, digest, payload):
    return struct.pack("<4sHHIQ", MAGIC, 1, method, plain_size, digest) + payload


def version3(method, plain_size, digest, payload):
    return struct.pack("<4sHHQQQ", MAGIC, 3, method, 32 + len(payload), plain_size, digest) + payload


def read_version2(data):
    magic, version, method, size, plain_size, digest = struct.unpack_from("<4sHHIIQ", data)
    if (magic, version, size) != (MAGIC, 2, len(data)):
        sys.exit(f"containers.py: expected a CCOB of version 2 and {len(data)} bytes, found {magic}, {version}, {size}")
    return method, plain_size, digest, data[24:]


def main():
    what, source, output, *added = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    digest = int.from_bytes(hashlib.md5(data).digest()[:8], "little")
    if what == "host":
        made = with_hosts(data, added)
    elif what == "zstd":
        made = version2(ZSTD, len(data), digest, zstd(data))
    elif what == "zlib":
        made = version2(ZLIB, len(data), digest, zlib.compress(data, 6))
    else:
        made = {"1": version1, "3": version3}[what](*read_version2(data))
    with open(output, "wb") as file:
        file.write(made)


if __name__ == "__main__":
    main()
