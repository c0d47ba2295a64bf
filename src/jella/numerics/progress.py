"""How far a long piece of work is, and how long the rest may take, on one line of standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

_QUIET = 0.1  # seconds between two drawings on a terminal
_QUIET_IN_LOGS = 15.0  # and between two lines elsewhere


class ProgressLine:
    """Counts steps; drawn over itself on a terminal, a line now and then elsewhere.

    Parameters
    ----------
    total : int
    unit : str
        What is counted, in the plural.
    enabled : bool, default=True
    stream : text stream, optional
        Standard error by default.

    Examples
    --------
    >>> with ProgressLine(2, "cells", stream=sys.stdout) as line:
    ...     line.step("first")
    ...     line.step("second")
    2 of 2 cells, 0 s
    """

    def __init__(self, total: int, unit: str, *, enabled: bool = True, stream: TextIO | None = None) -> None:
        self.total, self.unit, self.stream = total, unit, sys.stderr if stream is None else stream
        self.enabled = enabled and total > 0
        self.terminal = self.stream.isatty()
        self.done = self.failed = 0
        self.started = self.shown = time.monotonic()

    def __enter__(self) -> ProgressLine:
        return self

    def step(self, what: str = "", *, failed: bool = False) -> None:
        """One more is done."""
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        if self.enabled and now - self.shown >= (_QUIET if self.terminal else _QUIET_IN_LOGS):
            self.shown = now
            left = (now - self.started) / self.done * (self.total - self.done)
            self._say(f"{self._count()}, {as_time(left)} left  {what}", last=False)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.enabled:
            self._say(f"{self._count()}, {as_time(time.monotonic() - self.started)}", last=True)

    def _count(self) -> str:
        return f"{self.done} of {self.total} {self.unit}" + (f" ({self.failed} failed)" if self.failed else "")

    def _say(self, text: str, *, last: bool) -> None:
        start, end = ("\r\x1b[K", "\n" if last else "") if self.terminal else ("", "\n")
        self.stream.write(f"{start}{text}{end}")
        self.stream.flush()


def as_time(seconds: float) -> str:
    """Seconds, minutes or hours, whichever reads best."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
