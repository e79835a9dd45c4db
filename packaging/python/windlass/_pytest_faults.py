# SPDX-License-Identifier: MIT OR Apache-2.0
"""The part of the plugin that a run with `--amd-sim` loads. It needs pytest 8, and other runs may have an older one."""

from __future__ import annotations

import unittest
from typing import Generator

import pytest

from ._machine import Counts, Machine, synchronize

MARKER = "amd_sim_faults"


class OnTheMachine:
    """Assigns the machine's faults to tests."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._before = machine.counts()
        self._of_phase = ""
        """The faults of the latest phase of a test."""
        self._outside = ""
        """The faults after the last test, which no test owns."""
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
        except BaseException as error:
            self._of_phase = self._faults()
            if _may_fault(item) or not isinstance(error, (pytest.skip.Exception, unittest.SkipTest)):
                self._show(item, when, self._of_phase)
            raise
        faults = self._of_phase = self._faults()
        if faults and not _may_fault(item):
            pytest.fail(faults, pytrace=False)
        self._show(item, when, faults)
        return result

    # First, so that the report is final: unittest's skips do not pass through the phase as exceptions.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        faults, self._of_phase = self._of_phase, ""
        if report.skipped and faults and not hasattr(report, "wasxfail") and not _may_fault(item):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            report.outcome = "failed"
            report.longrepr = f"{faults}\nafter that it was skipped: {reason}"
        return report

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

    # Last, because other hooks may still use the machine.
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # With pytest-xdist, this adds to the faults that the workers told.
        self._outside = "\n".join(filter(None, [self._outside, self._faults()]))
        # A worker of pytest-xdist has a machine of its own.
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["windlass"] = {"counts": list(self.machine.counts()[:-1]), "outside": self._outside}
        elif self._outside and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        # A worker that crashed has none.
        told = getattr(node, "workeroutput", {}).get("windlass")
        if told:
            self._of_workers.append(told["counts"])
            self._outside = "\n".join(filter(None, [self._outside, told["outside"]]))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._outside:
            terminalreporter.section("faults after the last test, which fail the run", red=True)
            terminalreporter.write_line(self._outside)
        here = self.machine.counts()[:-1]
        counts = Counts._make([*map(sum, zip(here, *self._of_workers)), ()])
        terminalreporter.write_line(f"windlass: {_summary(counts)} on {self.machine.uri}, simulated")


def _may_fault(item: pytest.Item) -> bool:
    return item.get_closest_marker(MARKER) is not None


def _summary(counts: Counts) -> str:
    if counts.processes == 0:
        return "nothing ran: no process called HIP"
    text = f"{_count(counts.launches, 'launch', 'launches')} and {_count(counts.faults, 'fault')}"
    return text + (f", {_count(counts.refused, 'launch', 'launches')} refused" if counts.refused else "")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
