"""Texts that a command prints while it works, and when it fails."""

from __future__ import annotations

import argparse
import sys


def one_sentence(error: BaseException) -> str:
    """The message of an error, on one line; file errors name the file."""
    if isinstance(error, OSError) and error.strerror:
        name = f" {error.filename!r}" if error.filename else ""
        return f"cannot use{name}: {error.strerror.lower()}"
    return " ".join(str(error).split()) or type(error).__name__


def say(options: argparse.Namespace, what: str) -> None:
    """Print on a terminal what is being done, before a step that may take long."""
    if not options.quiet and sys.stderr.isatty():
        print(f"{what} ...", file=sys.stderr, flush=True)
