"""Texts that a command prints while it works, and when it fails."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from jella.numerics.words import printable

if TYPE_CHECKING:
    import argparse


def one_sentence(error: BaseException) -> str:
    """The message of an error, on one line, and what was noted on it; file errors name the file."""
    return "; ".join([_message(error), *getattr(error, "__notes__", ())])


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        name = f" {error.filename!r}" if error.filename else " a file"
        return f"cannot use{name}: {error.strerror.lower()}"
    if isinstance(error, MemoryError):
        needs = f" ({error})" if str(error) else ""
        return f"expected enough memory, got less{needs}; use a larger machine, fewer samples or features, or --dask"
    return " ".join(str(error).split()) or type(error).__name__


def show(lines: Iterable[str], stream: TextIO | None) -> None:
    """Print lines, each of which stays one line and controls no terminal."""
    if stream is not None:
        encoding = getattr(stream, "encoding", None) or "utf-8"
        text = "".join(f"{printable(line)}\n" for line in lines)
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()


def tell(what: str) -> None:
    """Print a sentence on standard error; one that is closed or full is no reason to stop."""
    with suppress(OSError, ValueError):
        show([f"jella: {what}"], sys.stderr)


def say(options: argparse.Namespace, what: str) -> None:
    """Print on a terminal what is being done, before a step that may take long."""
    if not options.quiet and sys.stderr is not None and sys.stderr.isatty():
        with suppress(OSError, ValueError):
            show([f"{what} ..."], sys.stderr)
