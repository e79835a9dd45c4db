#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stand-ins for the libraries of ROCm that a Python package links and that its own kernels do not use.

    python3 simulator/interop/stand_ins.py FOLDER PACKAGE... -- LIBRARY=PATTERN[=RESULT]...

FOLDER gets each LIBRARY. It has those functions that the shared objects of the packages want and whose names begin with a match of
PATTERN. All of them do nothing and return RESULT, by default 1, which is an error in all of ROCm.
"""

import importlib.util
import pathlib
import re
import subprocess
import sys


def undefined(packages):
    """The undefined symbols of the packages' shared objects, each with its version or an empty text."""
    symbols = {}
    for package in packages:
        spec = importlib.util.find_spec(package) or sys.exit(f"there is no Python package {package}")
        for folder in spec.submodule_search_locations:
            for module in pathlib.Path(folder).rglob("*.so"):
                listed = subprocess.run(["nm", "-D", "--undefined-only", module], capture_output=True, text=True, check=True)
                for line in listed.stdout.splitlines():
                    name, _, version = line.split()[-1].partition("@")
                    symbols[name] = version or symbols.get(name, "")
    return symbols


def library(path, functions, result):
    """Builds a library with these functions, by name and version."""
    source, script = path.with_suffix(".c"), path.with_suffix(".map")
    source.write_text("".join(f"int {name}(void) {{ return {result}; }}\n" for name in functions) + "static int unused;\n")
    words = ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{path.name}", "-o", path, source]
    versions = sorted(set(functions.values()) - {""})
    if versions:
        nodes = (f"{one} {{ global: {'; '.join(n for n, v in functions.items() if v == one)}; }};" for one in versions)
        script.write_text("\n".join(nodes) + "\n")
        words.append(f"-Wl,--version-script={script}")
    subprocess.run(words, check=True)
    source.unlink()
    script.unlink(missing_ok=True)


def main(folder, *words):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    end = words.index("--")
    symbols = undefined(words[:end])
    for word in words[end + 1 :]:
        name, pattern, *result = word.split("=")
        library(folder / name, {n: v for n, v in symbols.items() if re.match(pattern, n)}, *result or [1])


if __name__ == "__main__":
    main(*sys.argv[1:])
