#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stand-ins for the parts of ROCm that CuPy links and that its own kernels do not use.

    python3 simulator/interop/cupy/stand_ins.py FOLDER

FOLDER/lib gets libraries whose functions all fail (rocBLAS, hipFFT, rocTX and the like), FOLDER/bin a `hipcc` that tells the
folders of the C++ library's headers, and FOLDER/include the one header of Thrust that CuPy's complex numbers include.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

# The libraries, and how the names of their functions begin.
LIBRARIES = {
    "librocfft.so.0": "rocfft",
    "libhipfft.so.0": "hipfft",
    "libroctracer64.so.4": "roctracer",
    "libroctx64.so.4": "roctx",
    "librocblas.so.5": "rocblas",
    "libhipblas.so.3": "hipblas",
    "librocsolver.so.0": "rocsolver",
    "libhiprand.so.1": "hiprand",
    "libhipsparse.so.4": "hipsparse",
    "librccl.so.1": "nccl",
}
NAMESPACE = "#define THRUST_NAMESPACE_BEGIN namespace thrust {\n#define THRUST_NAMESPACE_END }\n"


def undefined():
    """The undefined symbols of CuPy's modules, each with its version or an empty text."""
    symbols = {}
    for package in ("cupy", "cupy_backends"):
        folder = pathlib.Path(importlib.util.find_spec(package).origin).parent
        for module in folder.rglob("*.so"):
            listed = subprocess.run(["nm", "-D", "--undefined-only", module], capture_output=True, text=True, check=True)
            for line in listed.stdout.splitlines():
                name, _, version = line.split()[-1].partition("@")
                symbols[name] = version or symbols.get(name, "")
    return symbols


def library(path, functions):
    """Builds a library with these functions, by name and version."""
    source, script = path.with_suffix(".c"), path.with_suffix(".map")
    source.write_text("".join(f"int {name}(void) {{ return 1; }}\n" for name in functions) + "static int unused;\n")
    words = ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{path.name}", "-o", path, source]
    versions = sorted(set(functions.values()) - {""})
    if versions:
        nodes = (f"{one} {{ global: {'; '.join(n for n, v in functions.items() if v == one)}; }};" for one in versions)
        script.write_text("\n".join(nodes) + "\n")
        words.append(f"-Wl,--version-script={script}")
    subprocess.run(words, check=True)
    source.unlink()
    script.unlink(missing_ok=True)


def main(folder):
    root = pathlib.Path(folder).absolute()
    clang = next(filter(None, map(shutil.which, ("clang-19", "clang"))), None) or sys.exit("there is no clang")
    for part in ("lib", "bin", "include/thrust/detail/config"):
        os.makedirs(root / part, exist_ok=True)
    (root / "include/thrust/detail/config/namespace.h").write_text(NAMESPACE)
    hipcc = root / "bin/hipcc"
    words = f"--driver-mode=g++ --cuda-device-only --offload-arch=gfx942 -nogpuinc -nogpulib -I'{root}/include'"
    hipcc.write_text(f'#!/bin/sh\nexec {clang} {words} "$@"\n')
    hipcc.chmod(0o755)
    symbols = undefined()
    for name, start in LIBRARIES.items():
        library(root / "lib" / name, {n: v for n, v in symbols.items() if re.match(start, n)})


if __name__ == "__main__":
    main(sys.argv[1])
