# SPDX-License-Identifier: MIT OR Apache-2.0
"""A software AMD GPU behind HIP's API. Importing this package changes nothing.

    with windlass.simulated():          # this process and its children find the simulated HIP
        ...
    subprocess.run(program, env={**os.environ, **windlass.env()})       # the child alone finds it
"""

from ._installation import command, library
from ._machine import Counts, Machine, env, simulated

__all__ = ["Counts", "Machine", "command", "env", "library", "simulated"]
