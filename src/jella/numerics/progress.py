"""Progress of long work, and the time that is left, on one line of standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

from jella.numerics.words import as_time, printable

_PAUSE = 0.1  # seconds between two updates on a terminal
_PAUSE_IN_LOGS = 15.0  # seconds between two lines in a file


class StatusLine:
    """A line that says what is being done: replaced in place on a terminal, written from time to time to a file.

    It is erased at the end. The stream is looked up at each update, so that an object that holds a line can be copied.

    Parameters
    ----------
    enabled : bool, default=True
    stream : text stream, optional
        Standard error by default.
    """

    def __init__(self, *, enabled: bool = True, stream: TextIO | None = None) -> None:
        self.enabled, self._given = enabled, stream
        self.started = self.shown = time.monotonic()
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Erase the line, also before an error message."""
        if self._drawn:
            self._write("\r\x1b[K")

    def show(self, text: str, *, at_once: bool = False) -> None:
        """Replace the line, unless the last one is very recent; with `at_once`, always on a terminal."""
        if not self.enabled or self._stream is None:
            return
        terminal = self._stream.isatty()
        pause = 0.0 if at_once and terminal else _PAUSE if terminal else _PAUSE_IN_LOGS
        if time.monotonic() - self.shown < pause:
            return
        self.shown, self._drawn = time.monotonic(), terminal
        text = printable(text)
        self._write(f"\r\x1b[K{text}" if terminal else f"{text}\n")

    @property
    def _stream(self) -> TextIO | None:
        """The stream; None if the process has none."""
        return sys.stderr if self._given is None else self._given

    def _write(self, text: str) -> None:
        """Write, unless the stream is gone or full: work goes on without its progress."""
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self.enabled = False


class ProgressLine(StatusLine):
    """A line that counts steps; at the end it says their number and the time they took.

    Parameters
    ----------
    total : int
    unit : str
        The name of what is counted, in the plural.
    enabled, stream : as for StatusLine

    Examples
    --------
    >>> with ProgressLine(2, "cells", stream=sys.stdout) as line:
    ...     line.step("first")
    ...     line.step("second")
    2 of 2 cells, 0 s
    """

    def __init__(self, total: int, unit: str, *, enabled: bool = True, stream: TextIO | None = None) -> None:
        super().__init__(enabled=enabled and total > 0, stream=stream)
        self.total, self.unit = total, unit
        self.done = self.failed = 0

    def step(self, what: str = "", *, failed: bool = False) -> None:
        """Count one more step."""
        self.done += 1
        self.failed += failed
        left = (time.monotonic() - self.started) / self.done * (self.total - self.done)
        self.show(f"{self._count()}, {as_time(left)} left  {what}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if self.enabled:
            self._write(f"{self._count()}, {as_time(time.monotonic() - self.started)}\n")

    def _count(self) -> str:
        return f"{self.done} of {self.total} {self.unit}" + (f" ({self.failed} failed)" if self.failed else "")
