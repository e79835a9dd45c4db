# SPDX-License-Identifier: MIT OR Apache-2.0
"""IREE's runtime in this process, on HIP: adds two vectors. The module comes from cts/kernels/iree/add.mlir and IREE 3.13:

    iree-compile add.mlir -o add.gfx942.vmfb --iree-hal-target-device=hip --iree-rocm-target=gfx942 \
        --iree-vm-bytecode-module-strip-source-map=true --iree-vm-bytecode-module-strip-debug-ops=true
"""

import os

import iree.runtime as iree
import numpy as np

module = iree.load_vm_flatbuffer_file(os.path.join(os.path.dirname(__file__), "add.gfx942.vmfb"), driver="hip")
first, second = np.arange(1000, dtype=np.float32), np.full(1000, 0.5, np.float32)
found = module.add(first, second).to_host()
assert np.array_equal(found, first + second), found
print("IREE's runtime adds 1000 numbers")
