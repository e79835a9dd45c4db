# SPDX-License-Identifier: MIT OR Apache-2.0
"""The driver under Triton: `--device URI` is that of Windlass, without it Triton's own one for AMD GPUs."""

import os
import sys
import tempfile

_cache = tempfile.TemporaryDirectory()
os.environ.setdefault("TRITON_CACHE_DIR", _cache.name)


def use(device):
    if device is None:
        return
    import triton
    import windlass.triton

    triton.runtime.driver.set_active(windlass.triton.Driver(device))


def take_device(arguments):
    """Takes `--device URI` from a list of arguments."""
    if "--device" in arguments:
        at = arguments.index("--device")
        device = arguments[at + 1] if at + 1 < len(arguments) else sys.exit("--device needs a URI, such as hip-sim://gfx942")
        del arguments[at : at + 2]
        return device
    return None
