# SPDX-License-Identifier: MIT OR Apache-2.0
"""The part of the plugin that a run with `--amd-sim` loads. It needs pytest 8, and other runs may have an older one."""

from __future__ import annotations

from typing import Generator

import pytest

from ._machine import Counts, Machine, synchronize

MARKER = "amd_sim_faults"


class OnTheMachine:
    """Assigns the machine's faults to tests."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._before = machine.counts()
        self._of_workers: list[list[int]] = []

    def pytest_report_header(self) -> str:
        return f"windlass: {self.machine.uri}, simulated"

    # Last, so that pytest still captures the log of work that ends in here.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._watch(item, "setup"))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._watch(item, "call"))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._watch(item, "teardown"))

    def _watch(self, item: pytest.Item, when: str) -> Generator[None, object, object]:
        try:
            result = yield
        except BaseException:
            self._show(item, when, self._faults())
            raise
        faults = self._faults()
        if faults and item.get_closest_marker(MARKER) is None:
            pytest.fail(faults, pytrace=False)
        self._show(item, when, faults)
        return result

    def _faults(self) -> str:
        """The faults since the last call. Empty if there are none."""
        synchronize(self.machine)
        before, counts = self._before, self.machine.counts()
        self._before = counts
        number = counts.faults - before.faults
        if not number:
            return ""
        lines = [f"{_count(number, 'fault')} on {self.machine.uri}, simulated:"]
        return "\n".join([*lines, *counts.reports[len(before.reports) :]])

    def _show(self, item: pytest.Item, when: str, faults: str) -> None:
        if faults:
            item.add_report_section(when, "faults", faults)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # A worker of pytest-xdist has a machine of its own.
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["windlass"] = list(self.machine.counts()[:-1])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        # A worker that crashed has none.
        counts = getattr(node, "workeroutput", {}).get("windlass")
        if counts:
            self._of_workers.append(counts)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        here, reports = self.machine.counts()[:-1], ()
        counts = Counts(*map(sum, zip(here, *self._of_workers)), reports)
        terminalreporter.write_line(f"windlass: {_summary(counts)} on {self.machine.uri}, simulated")


def _summary(counts: Counts) -> str:
    if counts.processes == 0:
        return "nothing ran: no process called HIP"
    text = f"{_count(counts.launches, 'launch', 'launches')} and {_count(counts.faults, 'fault')}"
    return text + (f", {_count(counts.refused, 'launch', 'launches')} refused" if counts.refused else "")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
