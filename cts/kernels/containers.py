# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the compressed bundles that the installed bundler cannot.

    python3 containers.py zlib BUNDLE OUTPUT    a CCOB of version 2 whose payload is zlib
    python3 containers.py 1 CCOB OUTPUT         the same payload under a header of version 1
    python3 containers.py 3 CCOB OUTPUT         the same payload under a header of version 3

BUNDLE is an uncompressed bundle, CCOB one of version 2.
"""

import hashlib
import struct
import sys
import zlib

MAGIC = b"CCOB"
ZLIB = 0


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
    what, source, output = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    if what == "zlib":
        digest = int.from_bytes(hashlib.md5(data).digest()[:8], "little")
        made = version2(ZLIB, len(data), digest, zlib.compress(data, 6))
    else:
        made = {"1": version1, "3": version3}[what](*read_version2(data))
    with open(output, "wb") as file:
        file.write(made)


if __name__ == "__main__":
    main()
