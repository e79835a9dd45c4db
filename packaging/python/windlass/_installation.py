# SPDX-License-Identifier: MIT OR Apache-2.0
"""The files that the wheel installs beside this package."""

from __future__ import annotations

import functools
import shutil
import sysconfig
from importlib import metadata
from pathlib import Path

LIBRARY = "libamdhip64.so"


@functools.lru_cache(maxsize=None)
def command() -> str:
    """The path of the command `windlass`."""
    beside = Path(sysconfig.get_path("scripts"), "windlass")
    found = _installed("windlass", "bin") or (str(beside) if beside.is_file() else shutil.which("windlass"))
    if found is None:
        raise FileNotFoundError(
            f"the command `windlass` is neither among the files of the installed package, nor at {beside}, nor on PATH: "
            "install the wheel again (`pip install --force-reinstall`)"
        )
    return found


@functools.lru_cache(maxsize=None)
def library() -> str:
    """The path of the simulated libamdhip64.so. Its folder is one where programs do not look for HIP."""
    found = _installed(LIBRARY, "windlass")
    if found is not None:
        return found
    folder = Path(command()).resolve().parent
    for place in (folder / ".." / "lib" / "windlass", folder):
        if (place / LIBRARY).is_file():
            return str((place / LIBRARY).resolve())
    raise FileNotFoundError(
        f"the simulated {LIBRARY} is neither among the files of the installed package nor near {folder}: install the wheel "
        "again (`pip install --force-reinstall`)"
    )


def _installed(name: str, folder: str) -> str | None:
    """The installed file of this name in a folder of this name."""
    try:
        files = metadata.files("windlass") or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == name and file.parent.name == folder:
            path = Path(str(file.locate())).resolve()
            if path.is_file():
                return str(path)
    return None
