# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests that pass. The fault is in conftest.py."""


def test_one(amd_sim):
    pass


def test_another(amd_sim):
    pass
