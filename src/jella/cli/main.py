"""The entry point of the command line: it runs a command, and turns an error into a sentence and an exit code.

Exit codes: 0 done, 1 failed unexpectedly, 2 wrong input or usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from jella._version import __version__
from jella.cli import cluster, compare, complete, info, methods, report, reproduce, transform
from jella.cli.config import apply_config
from jella.cli.limits import chosen_limits, limit_arguments
from jella.cli.words import one_sentence

#: each command is a module with HELP, arguments(parser) and run(options) -> (text, machine-readable record)
COMMANDS = {
    "info": info,
    "cluster": cluster,
    "complete": complete,
    "transform": transform,
    "compare": compare,
    "report": report,
    "methods": methods,
    "reproduce": reproduce,
}
FAILED, WRONG, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser, commands = make_parser()
    debug = "--debug" in words
    try:
        apply_config(words, commands)
        options = parser.parse_args(words)
        options.command_line = "jella " + " ".join(_quoted(word) for word in words)
        return _run(options)
    except KeyboardInterrupt:
        print("jella: interrupted before there were results to keep", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, ImportError, OSError) as error:
        if debug:
            raise
        print(f"jella: {one_sentence(error)}", file=sys.stderr)
        return WRONG
    except Exception as error:
        if debug:
            raise
        kind = type(error).__name__
        print(f"jella: failed unexpectedly ({kind}: {one_sentence(error)}); --debug shows where", file=sys.stderr)
        return FAILED


def _run(options: argparse.Namespace) -> int:
    with chosen_limits(options):
        text, record = COMMANDS[options.command].run(options)
    if options.json:
        print(json.dumps(record, indent=2))
    elif text and not options.quiet:
        print(text)
    return INTERRUPTED if record.get("interrupted") else 0


def make_parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of `jella`, and the parsers of the commands."""
    parser = argparse.ArgumentParser(
        prog="jella",
        description="Multi-view data with missing values: what is missing, clusters, imputed values, a report.",
        epilog="jella COMMAND --help says more. Exit codes: 0 done, 2 wrong input, 130 interrupted, 1 failed.",
    )
    parser.add_argument("--version", action="version", version=f"jella {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    made: dict[str, argparse.ArgumentParser] = {}
    for name, module in COMMANDS.items():
        made[name] = commands.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.arguments(made[name])
        limit_arguments(made[name])
        _shared(made[name])
    return parser, made


def _shared(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("all commands")
    group.add_argument("--seed", type=int, default=0, help="seed of everything random (default 0)")
    group.add_argument("--quiet", action="store_true", help="no progress and no summary")
    group.add_argument("--json", action="store_true", help="the summary as JSON on standard output")
    group.add_argument("--config", metavar="FILE", help="TOML file with options, by their long names")
    group.add_argument("--debug", action="store_true", help="a traceback instead of a sentence")


def _quoted(word: str) -> Any:
    import shlex

    return shlex.quote(word)
