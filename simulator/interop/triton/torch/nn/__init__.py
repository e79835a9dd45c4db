# SPDX-License-Identifier: MIT OR Apache-2.0
"""Holds `functional`."""

from . import functional
