# SPDX-License-Identifier: MIT OR Apache-2.0
"""A library without code that requires others by their names.

The loader finds a loaded library by the names under which somebody required it. LD_LIBRARY_PATH counts only when a process
starts, so a process that runs already gets the names by loading this library.
"""

from __future__ import annotations

import struct
from typing import Iterable

_HEADER, _SEGMENT, _SYMBOL = 64, 56, 24
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_READ_WRITE = 6
_PAGE = 0x10000
# Tags of the dynamic section. The loader searches RPATH, unlike RUNPATH, before LD_LIBRARY_PATH.
_NEEDED, _HASH, _STRTAB, _SYMTAB, _STRSZ, _SYMENT, _RPATH = 1, 4, 5, 6, 10, 11, 15


def library_of_names(folder: str, names: Iterable[str], header: bytes) -> bytes:
    """The library's bytes: it requires the names from `folder`. `header` begins a library for this machine."""
    texts, offsets = b"\0", []
    for text in (folder, *names):
        offsets.append(len(texts))
        texts += text.encode("utf-8", "surrogateescape") + b"\0"
    path, *needed = offsets

    dynamic_at = _HEADER + 3 * _SEGMENT
    dynamic_size = 16 * (len(needed) + 7)
    symbols_at = dynamic_at + dynamic_size
    hash_at = symbols_at + _SYMBOL
    texts_at = hash_at + 16
    size = texts_at + len(texts)
    entries = [(_RPATH, path), *((_NEEDED, name) for name in needed)]
    entries += [(_HASH, hash_at), (_STRTAB, texts_at), (_SYMTAB, symbols_at)]
    entries += [(_STRSZ, len(texts)), (_SYMENT, _SYMBOL), (0, 0)]

    machine = struct.unpack_from("<H", header, 18)[0]
    elf = b"\x7fELF\x02\x01\x01" + bytes(9)
    elf += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, _HEADER, 0, 0, _HEADER, _SEGMENT, 3, 0, 0, 0)
    for kind, offset, length, alignment in (
        (_LOAD, 0, size, _PAGE),
        (_DYNAMIC, dynamic_at, dynamic_size, 8),
        (_STACK, 0, 0, 16),
    ):
        elf += struct.pack("<IIQQQQQQ", kind, _READ_WRITE, offset, offset, offset, length, length, alignment)
    elf += b"".join(struct.pack("<QQ", *entry) for entry in entries)
    # The symbol that every table begins with, and a hash table of it alone.
    return elf + bytes(_SYMBOL) + struct.pack("<4I", 1, 1, 0, 0) + texts
