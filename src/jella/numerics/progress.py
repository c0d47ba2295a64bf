"""Progress of long work, and the time that is left, on one line of standard error.

Whoever starts long work opens a line; what is called from there says with `doing` what it does, and knows no line.
"""

from __future__ import annotations

import sys
import time
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self, TextIO

from jella.numerics.words import as_time, printable

_PAUSE = 0.1  # seconds between two updates on a terminal
_PAUSE_IN_LOGS = 15.0  # seconds between two lines in a file


class StatusLine:
    """A line that says what is being done: replaced in place on a terminal, written from time to time to a file.

    It is erased at the end. One that is not enabled leaves the line of the caller open, if there is one. The stream is
    looked up at each update, so that an object that holds a line can be copied.

    Parameters
    ----------
    enabled : bool, default=True
    stream : text stream, optional
        Standard error by default.
    prefix : str, default=''
        Put before each text.
    """

    def __init__(self, *, enabled: bool = True, stream: TextIO | None = None, prefix: str = "") -> None:
        self.enabled, self._given, self.prefix = enabled, stream, prefix
        self.started = self.shown = time.monotonic()
        self._drawn = False
        self._outer: list[StatusLine | None] = []

    def __enter__(self) -> Self:
        outer = _open_line.get()
        self._outer.append(outer)
        _open_line.set(self if self.enabled else outer)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Erase the line, also before an error message."""
        _open_line.set(self._outer.pop())
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
        text = printable(f"{self.prefix}{text}")
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


#: the line that was opened last, in this thread
_open_line: ContextVar[StatusLine | None] = ContextVar("open line", default=None)


def open_line() -> StatusLine | None:
    """The line that was opened last and is open still."""
    return _open_line.get()


def doing(what: str) -> None:
    """Say what is being done, on the line that is open, if there is one.

    >>> with StatusLine(stream=sys.stdout) as line:
    ...     doing("this is no terminal, so nothing is shown")
    """
    line = open_line()
    if line is not None:
        line.show(what, at_once=True)


class SweepLine(StatusLine):
    """A line that is the callback of a fit: it counts sweeps."""

    def __call__(self, progress: Any) -> None:
        """Show the number of the sweep; after the last one, what follows."""
        if progress.n_iter == progress.max_iter:
            self.show("finishing: embedding, labels", at_once=True)
            return
        left = progress.seconds / progress.n_iter * (progress.max_iter - progress.n_iter)
        text = f"sweep {progress.n_iter} of at most {progress.max_iter}, objective {progress.objective:.6g}"
        self.show(f"{text}, at most {as_time(left)} left")


def show_progress() -> SweepLine:
    """A context in which all that takes long says on a line of standard error what it does.

    It is for calls that have no `progress`, such as plots, and for several calls. The line is erased at the end.

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views(200)
    >>> with jella.show_progress():
    ...     found = jella.cluster(digits.data, 10)
    ...     ax = jella.plot.embedding(found, method="tsne")
    """
    return SweepLine()


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
