#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A `hipcc` for CuPy, which it asks for the folders of the C++ library's headers.

    python3 simulator/interop/cupy/hipcc.py FOLDER

FOLDER/bin gets the `hipcc`, and FOLDER/include the one header of Thrust that CuPy's complex numbers include.
"""

import os
import pathlib
import shutil
import sys

NAMESPACE = "#define THRUST_NAMESPACE_BEGIN namespace thrust {\n#define THRUST_NAMESPACE_END }\n"


def main(folder):
    root = pathlib.Path(folder).absolute()
    clang = next(filter(None, map(shutil.which, ("clang-19", "clang"))), None) or sys.exit("there is no clang")
    for part in ("bin", "include/thrust/detail/config"):
        os.makedirs(root / part, exist_ok=True)
    (root / "include/thrust/detail/config/namespace.h").write_text(NAMESPACE)
    hipcc = root / "bin/hipcc"
    words = f"--driver-mode=g++ --cuda-device-only --offload-arch=gfx942 -nogpuinc -nogpulib -I'{root}/include'"
    hipcc.write_text(f'#!/bin/sh\nexec {clang} {words} "$@"\n')
    hipcc.chmod(0o755)


if __name__ == "__main__":
    main(sys.argv[1])
