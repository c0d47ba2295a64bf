"""The entry point of the command line: it runs a command, and turns an error into a sentence and an exit code.

Exit codes: 0 done, 1 failed unexpectedly, 2 wrong input or usage, 130 interrupted. Signals are handled before anything
large is imported, so imports are deferred here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from jella.cli.signals import INTERRUPTED, Stopped, end_at_once, heard_signals, was_stopped

if TYPE_CHECKING:
    import argparse

FAILED, WRONG = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    try:
        with heard_signals():
            return _main(list(sys.argv[1:] if arguments is None else arguments))
    except Stopped:
        return INTERRUPTED


def _main(words: list[str]) -> int:
    debug = "--debug" in words
    try:
        return _run(_options(words))
    except (KeyboardInterrupt, Stopped) as error:
        return _interrupted(error)
    except Exception as error:
        return _interrupted(error) if was_stopped() else _failed(error, debug)


def _interrupted(error: BaseException) -> int:
    end_at_once()
    notes = getattr(error, "__notes__", ["there were no results to keep yet"])
    return _told("; ".join(["interrupted", *notes]), INTERRUPTED)


def _failed(error: Exception, debug: bool) -> int:
    if debug:
        raise error
    from jella.cli.words import one_sentence

    if isinstance(error, ValueError | ImportError | OSError | MemoryError):
        return _told(one_sentence(error), WRONG)
    kind = type(error).__name__
    return _told(f"failed unexpectedly ({kind}: {one_sentence(error)}); --debug shows where", FAILED)


def _options(words: list[str]) -> argparse.Namespace:
    import shlex

    from jella.cli.config import apply_config
    from jella.cli.parser import make_parser

    parser, commands = make_parser()
    apply_config(words, commands)
    try:
        options = parser.parse_args(words)
    except SystemExit:  # of argparse, after it printed help, the version or what is wrong
        _print([])  # so that what is printed leaves the buffer while errors are still handled
        raise
    options.command_line = "jella " + " ".join(map(shlex.quote, words))
    return options


def _run(options: argparse.Namespace) -> int:
    import json

    from jella.cli.limits import chosen_limits
    from jella.cli.parser import COMMANDS

    with chosen_limits(options):
        lines, record = COMMANDS[options.command].run(options)
    if options.json:
        _print(json.dumps(record, indent=2).split("\n"))
    elif lines and not options.quiet:
        _print(lines)
    return INTERRUPTED if record.get("interrupted") else 0


def _print(lines: Sequence[str]) -> None:
    """Print on standard output; a reader that has seen enough, such as `head`, is no error."""
    from jella.cli.words import show

    try:
        show(lines, sys.stdout)
    except OSError as error:
        with suppress(OSError, ValueError):  # so that nothing is written again when Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            error.filename = error.filename or "standard output"
            raise


def _told(what: str, code: int) -> int:
    from jella.cli.words import tell

    tell(what)
    return code
