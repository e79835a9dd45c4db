# SPDX-License-Identifier: MIT OR Apache-2.0
"""The driver that Triton's runtime uses now."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import triton

if TYPE_CHECKING:
    from ._driver import Driver


def active() -> Driver:
    """The active driver of Triton's runtime, if it is one of Windlass."""
    driver = triton.runtime.driver.active
    if not hasattr(driver, "current_stream"):
        raise RuntimeError(
            f"Triton's active driver is {type(driver).__name__}: call "
            'triton.runtime.driver.set_active(windlass.triton.Driver("hip-sim://gfx942")) first'
        )
    return cast("Driver", driver)
