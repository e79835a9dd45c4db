# SPDX-License-Identifier: MIT OR Apache-2.0
"""A kernel faults after the last test, in each worker of pytest-xdist."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))


def pytest_sessionfinish(session):
    if not session.config.pluginmanager.has_plugin("dsession"):
        import vector_add

        vector_add.vector_add(1 << 20, wait=False)
