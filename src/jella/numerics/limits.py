"""Limits that keep a computation from harming the machine: memory and time of a fit, what a file may unpack to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

#: a file may unpack to this many times its size, whatever the limit `unpacked`
USUAL_RATIO = 100
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
#: where the limits of containers are, with the names of limit and usage: version 2, version 1
_CGROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


@dataclass(frozen=True)
class Limits:
    """What computations may use.

    Attributes
    ----------
    memory : int, 'available' or None
        Bytes that a fit may need; 'available' asks the machine, or its container, at each fit. None: no limit.
    unpacked : int or None
        Bytes that the numbers of a file may need in memory, even if the file is small; larger files may need up to 100
        times their size. None: no limit.
    seconds : float or None
        Seconds of one core that a fit may need, by estimate. None: no limit.
    """

    memory: int | str | None = "available"
    unpacked: int | None = 2**28
    seconds: float | None = 86_400.0


_current = Limits()


def get_limits() -> Limits:
    """The limits in force."""
    return _current


def set_limits(*, memory: Any = ..., unpacked: Any = ..., seconds: Any = ...) -> None:
    """Change the limits of this process; a limit that is not named stays as it is.

    Parameters
    ----------
    memory : int, str or None
        Memory that a fit may need: bytes, a text such as '16 GiB', 'available' (the default: what the machine or its
        container has left), or None for no limit.
    unpacked : int, str or None
        Memory that the numbers of a file may need, even if the file is small (default 256 MiB): a file that declares
        more, and more than 100 times its own size, is refused. None for no limit.
    seconds : float, str or None
        Time of one core that a fit may need, by estimate: seconds, a text such as '36 h' (the default is a day), or
        None for no limit.

    Examples
    --------
    >>> import jella
    >>> jella.set_limits(memory="16 GiB")
    >>> jella.get_limits().memory
    17179869184
    >>> jella.set_limits(memory="available")
    """
    global _current
    if memory is not ...:
        _current = replace(_current, memory=memory if memory == "available" else as_bytes(memory))
    if unpacked is not ...:
        _current = replace(_current, unpacked=as_bytes(unpacked))
    if seconds is not ...:
        _current = replace(_current, seconds=as_seconds(seconds))


@contextmanager
def limits_as(limits: Limits) -> Iterator[None]:
    """Other limits inside a block."""
    global _current
    before, _current = _current, limits
    try:
        yield
    finally:
        _current = before


def as_bytes(size: int | str | None) -> int | None:
    """A size in bytes.

    >>> as_bytes("1.5 GiB"), as_bytes("200MB"), as_bytes(4096), as_bytes("none")
    (1610612736, 209715200, 4096, None)
    """
    if size is None or size == "none":
        return None
    if isinstance(size, str):
        found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d*)?)\s*([kmgt]?)(?:i?b)?\s*", size, re.IGNORECASE)
        if found and float(found[1]) > 0:
            return int(float(found[1]) * _UNITS[found[2].lower()])
    elif size > 0:
        return int(size)
    raise ValueError(f"expected a size in bytes such as '4 GiB', or none for no limit, got {size!r}; correct it")


def as_seconds(time: float | str | None) -> float | None:
    """A time in seconds.

    >>> as_seconds("1.5 h"), as_seconds("10 min"), as_seconds(30), as_seconds("none")
    (5400.0, 600.0, 30.0, None)
    """
    if time is None or time == "none":
        return None
    if isinstance(time, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(s|min|h|d|)\s*", time)
        if found and float(found[1]) > 0:
            return float(found[1]) * {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86_400}[found[2]]
    elif time > 0:
        return float(time)
    raise ValueError(f"expected a time such as '36 h' or '90 min', or none for no limit, got {time!r}; correct it")


def as_size(n_bytes: float) -> str:
    """A number of bytes as text.

    >>> as_size(3 * 2**29), as_size(2**20), as_size(70)
    ('1.5 GiB', '1.0 MiB', '70 bytes')
    """
    for unit, name in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes:.0f} bytes"


def check_unpacked(needed: float, stored: int, what: str) -> None:
    """Refuse what declares far more than it stores, before memory is allocated for it.

    Parameters
    ----------
    needed : float
        Bytes that it would take in memory.
    stored : int
        Bytes of the file.
    what : str
        Its name in the message.
    """
    most = _current.unpacked
    if most is not None and needed > max(most, USUAL_RATIO * stored):
        raise ValueError(
            f"expected {what} to need at most {as_size(max(most, USUAL_RATIO * stored))} of memory, got "
            f"{as_size(needed)} declared by a file of {as_size(stored)}; if you trust it, raise the limit with "
            "--max-unpacked SIZE (in Python, jella.set_limits(unpacked=...))"
        )


def available_memory() -> int | None:
    """Bytes that this process can still get, from the machine, its container and its own limit; None if unknown."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")))
    found += [left for root, limit, usage in _CGROUPS for left in _left_in_container(Path(root), limit, usage)]
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            found.append(max(soft - used, 0))
    return min(found) if found else _all_memory()


def _left_in_container(root: Path, limit: str, usage: str) -> list[int]:
    """What is left below each limit of the groups that this process is in."""
    groups = {root}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            own = root / line.rpartition(":")[2].lstrip("/")
            groups |= {own, *(parent for parent in own.parents if parent.is_relative_to(root))}
    left = []
    for group in groups:
        with suppress(OSError, ValueError):  # no such file, or "max"
            left.append(max(int((group / limit).read_text()) - int((group / usage).read_text()), 0))
    return left


def _all_memory() -> int | None:
    """The memory of the machine where the system does not say what is left, or None."""
    import os

    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
