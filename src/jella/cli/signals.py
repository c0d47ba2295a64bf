"""Ctrl-C, SIGTERM and SIGHUP: all three end a command in the same way.

In a fit the first one is a KeyboardInterrupt: the fit keeps its last accepted sweep, and the results are written.
Elsewhere, and as the second one, it is `Stopped`, which no fit keeps: the command cleans up and ends. One more ends the
process at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

INTERRUPTED = 130
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Stopped(BaseException):
    """The command was asked to end."""


class _State:
    """How far the process was asked to end, and what the next signal does."""

    heard = 0  # 0: not at all; 1: end the fit; 2: end the command
    last = 0, 0  # `heard` before the last signal, and its number
    in_fit = False
    held = False  # signals wait until a step that must not be cut is over
    waiting = False


def _handle(number: int, frame: FrameType | None) -> None:
    if _State.held:
        _State.waiting = True
        return
    if _State.heard >= 2:
        os._exit(INTERRUPTED)
    _State.last = _State.heard, number
    if _State.in_fit and _State.heard == 0:
        _State.heard = 1
        raise KeyboardInterrupt
    _State.heard = 2
    raise Stopped


def _raise_later(told: Callable[[Any], Any], unraisable: Any) -> None:
    """Raise again what Python swallowed because it came while an object was deleted; print other errors as before."""
    if not isinstance(unraisable.exc_value, Stopped | KeyboardInterrupt):
        told(unraisable)
        return
    _State.heard, number = _State.last
    threading.Timer(0.01, os.kill, (os.getpid(), number)).start()


@contextmanager
def heard_signals() -> Iterator[None]:
    """Handle the signals, except those that the process was started to ignore; as before at the end."""
    before, told = {}, sys.unraisablehook
    if threading.current_thread() is threading.main_thread():
        _State.heard, _State.in_fit, _State.held, _State.waiting = 0, False, False, False
        for one in _SIGNALS:
            if signal.getsignal(one) not in (signal.SIG_IGN, None):
                before[one] = signal.signal(one, _handle)
        sys.unraisablehook = partial(_raise_later, told)
    try:
        yield
    finally:
        sys.unraisablehook = told
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def in_fit() -> Iterator[None]:
    """A fit, which keeps its last sweep at the first signal."""
    _State.in_fit = True
    try:
        yield
    finally:
        _State.in_fit = False


@contextmanager
def held_signals() -> Iterator[None]:
    """A short step that must not be cut; a signal is handled after it."""
    _State.held = True
    try:
        yield
    finally:
        _State.held = False
        if _State.waiting:
            _State.waiting = False
            _handle(signal.SIGINT, None)


def was_stopped() -> bool:
    """Whether the command was asked to end; an import that this cuts short ends with an error of its own."""
    return _State.heard >= 2


def end_at_once() -> None:
    """Let the next signal end the process: nothing is left to clean up."""
    _State.heard = 2


@contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Ignore Ctrl-C, also in processes that are started meanwhile; other signals wait."""
    with held_signals():
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
