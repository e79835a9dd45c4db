# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs in a process of their own, which must end as Python does and not by a signal."""

import subprocess
import sys
import textwrap
import unittest

HEAD = """
import asyncio, atexit, ctypes, gc, os, sys, threading, time, weakref
import windlass
from windlass import *
GPU, CPU = os.environ.get("WINDLASS_TEST_GPU", "hip-sim://gfx942?memory=64M"), "local://?threads=2"

def raises(kinds, action):
    try:
        action()
    except kinds as error:
        return error
    raise AssertionError(f"no error where {kinds} was expected")

def until(condition):
    for _ in range(10_000):
        if condition():
            return
        time.sleep(0.001)
    raise AssertionError("it does not happen")
"""


class Child(unittest.TestCase):
    def run_child(self, code, wanted="", status=0, silent=True):
        program = HEAD + textwrap.dedent(code)
        ended = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-X", "dev", "-W", "error", "-c", program],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, text=True,
        )
        said = f"status {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        self.assertEqual(ended.returncode, status, said)
        self.assertIn(wanted, ended.stdout + ended.stderr)
        if status == 0 and silent:
            self.assertEqual(ended.stderr, "", said)
        return ended.stdout
