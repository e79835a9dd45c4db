# SPDX-License-Identifier: MIT OR Apache-2.0
"""The files that the wheel installs beside this package."""

from __future__ import annotations

import functools
import shutil
import sysconfig
from importlib import metadata
from pathlib import Path

LIBRARY = "libamdhip64.so"
RUNTIME = "libwindlass.so"


@functools.lru_cache(maxsize=None)
def command() -> str:
    """The path of the command `windlass`."""
    beside = Path(sysconfig.get_path("scripts"), "windlass")
    found = _installed("windlass", "bin") or _below_package("bin", "windlass")
    found = found or (str(beside) if beside.is_file() else shutil.which("windlass"))
    if found is None:
        raise FileNotFoundError(
            f"the command `windlass` is neither among the files of the installed package, nor at {beside}, nor on PATH: "
            "install the wheel again (`pip install --force-reinstall`)"
        )
    return found


@functools.lru_cache(maxsize=None)
def library() -> str:
    """The path of the simulated libamdhip64.so. Its folder is one where programs do not look for HIP."""
    found = _installed(LIBRARY, "windlass") or _below_package("lib", "windlass", LIBRARY)
    if found is not None:
        return found
    folder = Path(command()).resolve().parent
    for place in (folder / ".." / "lib" / "windlass", folder):
        if (place / LIBRARY).is_file():
            return str((place / LIBRARY).resolve())
    advice = left_out() or "install the wheel again (`pip install --force-reinstall`)"
    raise FileNotFoundError(
        f"the simulated {LIBRARY} is neither among the files of the installed package nor near {folder}: {advice}"
    )


@functools.lru_cache(maxsize=None)
def runtime() -> str:
    """The path of libwindlass.so, which the wheel installs beside the simulator's libraries."""
    found = _installed(RUNTIME, "windlass") or _below_package("lib", "windlass", RUNTIME)
    if found is None:
        raise FileNotFoundError(
            f"{RUNTIME} is not among the files of the installed package: "
            + (left_out() or "install the wheel, or build it in a checkout (`cargo build --release -p windlass-capi`)")
            + f", or set WINDLASS_LIBRARY to the path of a {RUNTIME}"
        )
    return found


def left_out() -> str | None:
    """The cause and the remedy, if pip has not installed the libraries of the wheel."""
    listed = [file for file in _files() if file.name == LIBRARY and file.parent.name == "windlass"]
    if not listed or _installed(LIBRARY, "windlass") or _below_package("lib", "windlass", LIBRARY):
        return None
    return (
        f"the wheel's lib/windlass is not installed, because `pip install --target` leaves a wheel's `lib` out (the package lies "
        f"in {_PLACE}): install the wheel into a virtual environment, or with `pip install --prefix FOLDER`"
    )


_PLACE = Path(__file__).resolve().parent.parent
"""The folder that holds this package: site-packages, or the folder of `pip install --target`."""


def _below_package(*parts: str) -> str | None:
    """A file where installers with a target folder put it: below the folder that holds this package."""
    path = _PLACE.joinpath(*parts)
    return str(path) if path.is_file() else None


def _files() -> list[metadata.PackagePath]:
    try:
        return metadata.files("windlass") or []
    except metadata.PackageNotFoundError:
        return []


def _installed(name: str, folder: str) -> str | None:
    """The installed file of this name in a folder of this name."""
    for file in _files():
        if file.name == name and file.parent.name == folder:
            path = Path(str(file.locate())).resolve()
            if path.is_file():
                return str(path)
    return None
