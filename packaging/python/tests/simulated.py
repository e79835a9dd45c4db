# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs a program inside `windlass.simulated()`: python3 simulated.py PROGRAM [ARGUMENT...]

Fails if the program launched nothing, or faulted."""

import runpy
import sys

import windlass

with windlass.simulated() as machine:
    del sys.argv[0]
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        assert not end.code, f"exit code {end.code}"
    counts = machine.counts()
assert counts.launches > 0 and counts.faults == 0, counts
print(f"launches inside windlass.simulated(): {counts.launches}")
