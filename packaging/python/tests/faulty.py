# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests that packaging/python/check runs under --amd-sim, and whose reports it reads."""

import os
import subprocess
import sys
import unittest

import pytest

import vector_add


def test_sums(amd_sim):
    assert vector_add.vector_add() == [3.5] * vector_add.LENGTH


def test_too_many(amd_sim):
    # Nobody waits for the kernel, so no call returns its error.
    vector_add.vector_add(1 << 20, wait=False)


def test_of_a_child(amd_sim):
    child = "import vector_add; vector_add.vector_add(1 << 20)"
    ended = subprocess.run([sys.executable, "-c", child], cwd=vector_add.__file__.rpartition("/")[0])
    assert ended.returncode == 1


@pytest.mark.amd_sim_faults
def test_of_faults(amd_sim):
    with pytest.raises(AssertionError, match="status 700"):
        vector_add.vector_add(1 << 20)


@pytest.mark.xfail
def test_that_is_known_to_fault(amd_sim):
    vector_add.vector_add(1 << 20, wait=False)


def test_that_skips_after_a_fault(amd_sim):
    vector_add.vector_add(1 << 20, wait=False)
    pytest.skip("on second thoughts")


class OfUnittest(unittest.TestCase):
    def test_that_skips_after_a_fault(self):
        if "WINDLASS_TALLY" in os.environ:
            vector_add.vector_add(1 << 20, wait=False)
        self.skipTest("on second thoughts")


def test_after_them(amd_sim):
    assert vector_add.vector_add() == [3.5] * vector_add.LENGTH
