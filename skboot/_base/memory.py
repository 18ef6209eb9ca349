"""Refuse what memory cannot hold, before any work.

An array of resamples that is too large does not fail when it is made: the system grants the pages
and ends the process when they are written.
"""

from __future__ import annotations

import os
from pathlib import Path

from .messages import fail

# Maximum size that is not checked (bytes); above it the available memory is read, in 50 us.
_ALWAYS = 1 << 28
_MEMINFO = Path("/proc/meminfo")
_LIMIT = Path("/sys/fs/cgroup/memory.max")


def check_fits(name: str, count: int, bytes_each: int) -> None:
    """Refuse a number of items, of so many bytes each, that do not fit into memory.

    Parameters
    ----------
    name : str
        Argument that says how many.
    count, bytes_each : int
        Number of items, and bytes of each.

    Raises
    ------
    ValueError
        Says how many would fit.
    """
    if count * bytes_each <= _ALWAYS:
        return
    available = available_bytes()
    if available is None or count * bytes_each <= available:
        return
    raise fail(
        name,
        f"be small enough for its results to fit into memory, here at most "
        f"{available // bytes_each}",
        f"{count}, which takes {count * bytes_each / 2**30:.3g} GiB of the "
        f"{available / 2**30:.3g} available",
        "Monte Carlo error falls only with the square root: use fewer.",
    )


def available_bytes() -> int | None:
    """Available memory without swapping, in bytes; None if the system does not report it."""
    sizes = [size for size in (_of_system(), _of_container()) if size is not None]
    return min(sizes, default=None)


def _of_system() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_container() -> int | None:
    try:
        return int(_LIMIT.read_text())
    except (OSError, ValueError):
        # There is no control group, or its limit is "max", which is none.
        return None
