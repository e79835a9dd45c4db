# SPDX-License-Identifier: MIT OR Apache-2.0
"""Comparison of tensors."""

import numpy as np


def assert_close(actual, expected, atol=1e-5, rtol=1.3e-6, **_):
    np.testing.assert_allclose(actual._values().astype(np.float64), expected._values().astype(np.float64), rtol=rtol, atol=atol)
