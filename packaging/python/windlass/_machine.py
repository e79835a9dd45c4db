# SPDX-License-Identifier: MIT OR Apache-2.0
"""Simulated machines: the variables by which programs find them, and their counts."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import re
import reprlib
import subprocess
import sys
import tempfile
import threading
from typing import Any, Iterator, NamedTuple

if sys.platform == "linux":
    import fcntl

from ._installation import LIBRARY, command, left_out
from ._names import library_of_names


class Counts(NamedTuple):
    """Work on a simulated machine so far, by all processes that used it."""

    processes: int
    """Processes that called HIP."""
    launches: int
    """Kernels that ran, failed ones included."""
    faults: int
    """Kernels, copies and fills that failed."""
    refused: int
    """Launches whose call returned an error."""
    reports: tuple[str, ...]
    """A text for each fault: the kernel, the instruction, the lane and the address."""


class Machine:
    """A simulated machine: a folder with the names of HIP, which `windlass exec --print-env` keeps until this process ends."""

    def __init__(self, device: str = "gfx942", **options: object) -> None:
        if sys.platform != "linux":
            raise RuntimeError(f"cannot simulate {device} for programs on {sys.platform}: `windlass exec` needs Linux")
        self.uri = _uri(device, options)
        self._process = os.getpid()
        # In a session of its own, because Ctrl-C ends this process only after its last question.
        self._holder: Any = subprocess.Popen(
            [command(), "exec", "--device", self.uri, "--print-env"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._lock = threading.Lock()
        # Forked children share the pipes. A lock of this kind belongs to a process.
        self._between_processes = tempfile.TemporaryFile()
        self._questions = 0
        self._reports: list[str] = []
        answer: dict[str, str | None] = self._answer()
        # The answer is UTF-8, also where this process's locale is another.
        self.variables = {name: os.fsdecode((value or "").encode()) for name, value in answer.items()}
        """The variables by which programs find this machine. An empty one counts as unset."""
        atexit.register(self._end)

    @property
    def library(self) -> str:
        """The path of the machine's libamdhip64.so."""
        return self.variables["WINDLASS_HIP_LIBRARY"]

    def counts(self) -> Counts:
        """The counts so far."""
        with self._lock:
            fcntl.lockf(self._between_processes, fcntl.LOCK_EX)
            try:
                self._questions += 1
                question = f"{os.getpid()} {self._questions}"
                with contextlib.suppress(BrokenPipeError, ValueError):
                    self._holder.stdin.write(f"{question}\n".encode())
                    self._holder.stdin.flush()
                while True:
                    answer = self._answer()
                    self._reports += answer.pop("reports")
                    # An exception in a signal handler, such as a test's timeout, leaves an answer unread.
                    if answer.pop("question") == question:
                        return Counts(**answer, reports=tuple(self._reports))
            finally:
                fcntl.lockf(self._between_processes, fcntl.LOCK_UN)

    def _answer(self) -> Any:
        line = self._holder.stdout.readline() if not self._holder.stdout.closed else b""
        if not line:
            said = b"" if self._holder.stderr.closed else self._holder.stderr.read()
            reason = said.decode(errors="replace").strip().removeprefix("error: ")
            advice = left_out()
            raise RuntimeError(
                f"cannot simulate {self.uri}: {reason or '`windlass exec --print-env`, which holds it, was ended from outside'}"
                + (f"\n{advice}" if advice else "")
            )
        return json.loads(line)

    def _end(self) -> None:
        if os.getpid() != self._process:
            return
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._holder.stdin.close()
            # Children that go on hold its standard input open. It removes its folder after them.
            self._holder.wait(timeout=2)


# Guards the variables below and os.environ. Reentrant, because a signal handler may start a machine too.
_lock = threading.RLock()
_environments: dict[tuple[object, ...], Machine] = {}
_here: Machine | None = None
_entries = 0
"""The number of `simulated` that are entered now, by all threads. They share the environment of this process."""
_before: dict[str, str | None] = {}
"""The variables before the first of these entries."""


def _renew_lock() -> None:
    # A thread that does not exist in the child may hold the old one.
    global _lock
    _lock = threading.RLock()
    for machine in [*_environments.values(), _here]:
        if machine:
            machine._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def env(device: str = "gfx942", **options: object) -> dict[str, str]:
    """The variables by which a child process finds a simulated HIP: subprocess.run(..., env={**os.environ, **env()}).

    `device` is a GPU or a hip-sim:// URI; options are keys of that URI, such as devices=2 or seed=7. The variables serve
    until this process ends.
    """
    names = ("LD_LIBRARY_PATH", "ROCM_PATH", "WINDLASS_SIM", "TMPDIR")
    uri = _uri(device, options)
    with _lock:
        key = (os.getpid(), uri, *map(os.environ.get, names))
        if key not in _environments:
            _environments[key] = Machine(device, **options)
        return dict(_environments[key].variables)


@contextlib.contextmanager
def simulated(device: str = "gfx942", **options: object) -> Iterator[Machine]:
    """Makes this process and the children that it starts find a simulated HIP.

    Enter this before the first library loads HIP. At its end, the environment is as before; the library stays loaded in
    this process, as every HIP does, so that a later `simulated` must name the same machine. Several threads may enter it;
    the end of the last one restores the environment.
    """
    global _entries
    with _lock:
        machine = _of_this_process(device, options)
        if _entries == 0:
            _before.update((name, os.environ.get(name)) for name in machine.variables)
            os.environ.update(machine.variables)
        _entries += 1
    try:
        yield machine
    finally:
        with _lock:
            _entries -= 1
            if _entries == 0:
                _restore()


def _restore() -> None:
    for name, value in _before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    _before.clear()


def _uri(device: str, options: dict[str, object]) -> str:
    if not isinstance(device, str):
        raise TypeError(
            f'a device is a text such as "gfx942" or "hip-sim://gfx942?devices=2", and this one is {reprlib.repr(device)} of type '
            f"{type(device).__name__}"
        )
    uri = device if "://" in device else f"hip-sim://{device}"
    for key, value in options.items():
        uri += f"{'&' if '?' in uri else '?'}{key}={value}"
    return uri


def _of_this_process(device: str, options: dict[str, object]) -> Machine:
    global _here
    uri = _uri(device, options)
    if _here is not None:
        if _here.uri == uri:
            return _here
        raise RuntimeError(
            f"cannot simulate {uri} in this process, which has loaded the HIP of {_here.uri}: start another process with the "
            "variables of windlass.env()"
        )
    loaded = _loaded()
    if loaded:
        raise RuntimeError(
            f"cannot simulate {uri} in this process, which has loaded {loaded[0]}: enter windlass.simulated() before the "
            "first import that loads HIP, or start another process with the variables of windlass.env()"
        )
    machine = Machine(device, **options)
    _load(machine)
    _here = machine
    return machine


def _loaded() -> list[str]:
    """The files of HIP that this process has loaded."""
    with open("/proc/self/maps", "rb") as maps:
        paths = {line.rstrip(b"\n").split(None, 5)[-1] for line in maps if b"/" in line}
    return sorted(os.fsdecode(path) for path in paths if os.path.basename(path).startswith(LIBRARY.encode()))


def _load(machine: Machine) -> None:
    """Loads the machine's library, under each name by which programs ask for HIP."""
    mode = os.RTLD_NOW | os.RTLD_GLOBAL
    ctypes.CDLL(machine.library, mode=mode)
    folder, first = os.path.split(machine.library)
    names = sorted(name for name in os.listdir(folder) if re.fullmatch(re.escape(first) + r"(\.\d+)?", name))
    with open(machine.library, "rb") as library:
        header = library.read(20)
    path = os.path.join(machine.variables["ROCM_PATH"], "windlass-names.so")
    with open(path, "wb") as file:
        file.write(library_of_names(folder, names, header))
    ctypes.CDLL(path)


def synchronize(machine: Machine) -> None:
    """Waits for the work of this process on the machine, if it has used it."""
    # The library maps the file of counts at its first call. A call from here would be the first one otherwise, after
    # which forked processes could not use HIP.
    with open("/proc/self/maps", "rb") as maps:
        if machine is not _here or os.fsencode(machine.variables["WINDLASS_TALLY"]) not in maps.read():
            return
    hip = ctypes.CDLL(machine.library)
    current, count = ctypes.c_int(), ctypes.c_int()
    if hip.hipGetDevice(ctypes.byref(current)) != 0 or hip.hipGetDeviceCount(ctypes.byref(count)) != 0:
        return
    for device in range(count.value):
        hip.hipSetDevice(device)
        hip.hipDeviceSynchronize()
    hip.hipSetDevice(current)
