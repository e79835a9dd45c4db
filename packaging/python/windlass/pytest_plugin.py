# SPDX-License-Identifier: MIT OR Apache-2.0
"""`pytest --amd-sim`: tests on a simulated GPU. A test whose work faults fails, and its report names the fault."""

from __future__ import annotations

import contextlib

import pytest

from ._machine import Machine, simulated


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("windlass")
    group.addoption(
        "--amd-sim",
        nargs="?",
        const="gfx942",
        metavar="DEVICE",
        help="run the tests on a simulated AMD GPU: gfx942 (the default), gfx950, gfx90a, gfx908, gfx906, gfx900, gfx1100, gfx1151, gfx1030, gfx1010, gfx1201, or a hip-sim:// URI",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    # Here, because conftest files may import libraries that load HIP.
    device = getattr(early_config.known_args_namespace, "amd_sim", None)
    if device is None:
        return
    if not device.startswith(("gfx", "hip-sim:")):
        raise pytest.UsageError(f"--amd-sim {device} names no GPU: write --amd-sim=gfx942 {device} if it is a path of tests")
    if getattr(pytest, "version_tuple", (0,)) < (8,):
        raise pytest.UsageError(
            f"--amd-sim={device} needs pytest 8, and this is {pytest.__version__}: pip install --upgrade pytest"
        )
    from ._pytest_faults import OnTheMachine

    stack = contextlib.ExitStack()
    try:
        machine = stack.enter_context(simulated(device))
    except (OSError, RuntimeError) as error:
        raise pytest.UsageError(f"--amd-sim={device}: {error}") from error
    early_config.add_cleanup(stack.close)
    early_config.pluginmanager.register(OnTheMachine(machine), "windlass-machine")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "amd_sim_faults: kernels of this test may fault on the simulated GPU")


@pytest.fixture
def amd_sim(request: pytest.FixtureRequest) -> Machine:
    """The simulated machine of `--amd-sim`. Without that option, tests that use this fixture are skipped."""
    plugin = request.config.pluginmanager.get_plugin("windlass-machine")
    if plugin is None:
        pytest.skip("needs a simulated GPU: pytest --amd-sim")
    return plugin.machine
